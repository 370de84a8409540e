"""What prevents a run on Spark."""

from __future__ import annotations

from microagg.errors import DataError
from microagg.wording.message import use
from microagg.wording.phrases import count
from microagg.wording.template import data_error, missing_extra, output_error, settings_error

no_java = missing_extra()("""
    The engine spark needs Java 17 or newer, and none was found. Install it (Debian: apt install
    default-jre-headless), or set the environment variable JAVA_HOME to its folder.""")
not_on_spark = settings_error("option", "reason")("{option:option} is not possible on Spark: {reason}")
without_spark = settings_error("option")("""
    {option} has an effect only with {--engine spark}. Leave it out, or add that option.""")
unusable_on_spark = data_error("column", "kind")("""
    Column '{column}' holds values of type {kind}, which Spark can neither compare nor hash. Convert it, or
    leave it out ({--drop}).""")
collated = data_error("column", "collation")("""
    Column '{column}' holds text with the collation {collation}: Spark would count different spellings as
    one, while the files keep them apart. Use the collation UTF8_BINARY, or leave the column out
    ({--drop}).""")


def no_numbers_in_text(column: str, rows: int, n: int) -> DataError:
    return DataError(
        f"Column '{column}' holds something other than numbers in {rows} of {count(n, 'row')}. If these "
        f"are numbers with decimal commas, give {use('decimal', ',')} (points are then refused); if they "
        f"mean missing, name them with {use('missing_codes', {column: 'TEXT'})}; otherwise correct them, "
        "or give the column another role."
    )


negative_zeros = data_error("column", "zeros")("""
    Column '{column}' has {zeros:negative zero} (-0.0), which would make a stratum apart from zero. Replace
    them, or convert the column to integers or text.""")
too_many_strata = data_error("found", "most")("""
    The strata columns have {found:,} combinations; at most {most:,} are possible. Use coarser strata, or
    fewer of them.""")
too_many_categories = data_error("column", "most")("""
    Column '{column}' has more than {most:,} different values, too many for categories. Use a coarser code,
    or leave it out ({--drop}).""")
too_many_keys = settings_error("found", "most")("""
    A subset has {found} keys; on Spark it can have at most {most} with {--missing by-pattern} or {--zeros
    apart}. Use smaller subsets.""")
block_too_small = settings_error("least", "k")("""
    spark.microagg.blockRecords must be a whole number of at least {least} if k is {k}, as a block holds
    many groups.""")
not_cut = data_error("records", "target")("""
    A part of {records:record} could not be cut into blocks of at most {target}: too many records have the
    same keys. Use larger blocks (spark.microagg.blockRecords), or coarser strata.""")
source_changed = data_error()("""
    The source gives other records than when they were counted: either it is being written to, or it is
    computed again each time with another result. Nothing is released. Store the source first, and protect
    what was stored.""")
spark_failed = output_error("what", "reason")("""
    Spark could not finish {what} ({reason}). Nothing is released. The logs of Spark's executors have more
    details; they may hold values of respondents, so do not pass them on.""")
no_such_input = data_error("path")("""
    There is no folder or file {path}, and no table of that name that Spark can read. Give a folder of
    Parquet or CSV files, or a table.""")
unknown_folder_format = data_error("path")("""
    {path} holds neither Parquet nor CSV files, by the endings of their names (.parquet, .csv). Give a
    folder or file of one of these formats.""")
record_needs_folder = settings_error("path")("""
    {path} is not on this machine, but the internal record must be: give its folder with {--record}.""")
closed = settings_error()("""
    The release is closed: the verified records are gone. Save it before you close it, or protect again.""")
columns_not_on_spark = settings_error("columns")("""
    Columns {columns:quoted} have names that differ only in capitals, which Spark cannot tell apart. Rename
    them.""")
