"""What prevents a run on Spark."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.errors import DataError, MissingExtra, OutputError, SettingsError
from microagg.wording.message import option_name, use
from microagg.wording.phrases import count, quoted


def no_spark() -> MissingExtra:
    return MissingExtra("The engine spark needs PySpark: pip install 'microagg[spark]'")


def no_java() -> MissingExtra:
    return MissingExtra(
        "The engine spark needs Java 17 or newer, and none was found. Install it (Debian: apt install "
        "default-jre-headless), or set the environment variable JAVA_HOME to its folder."
    )


def not_on_spark(option: str, reason: str) -> SettingsError:
    return SettingsError(f"{option_name(option)} is not possible on Spark: {reason}")


def without_spark(option: str) -> SettingsError:
    return SettingsError(
        f"{option} has an effect only with {use('engine', 'spark')}. Leave it out, or add that option."
    )


def unusable_on_spark(column: str, kind: str) -> DataError:
    return DataError(
        f"Column '{column}' holds values of type {kind}, which Spark can neither compare nor hash. Convert "
        f"it, or leave it out ({use('drop')})."
    )


def collated(column: str, collation: str) -> DataError:
    return DataError(
        f"Column '{column}' holds text with the collation {collation}: Spark would count different "
        "spellings as one, while the files keep them apart. Use the collation UTF8_BINARY, or leave the "
        f"column out ({use('drop')})."
    )


def no_numbers_in_text(column: str, rows: int, n: int) -> DataError:
    return DataError(
        f"Column '{column}' holds something other than numbers in {rows} of {count(n, 'row')}. If these "
        f"are numbers with decimal commas, give {use('decimal', ',')} (points are then refused); if they "
        f"mean missing, name them with {use('missing_codes', {column: 'TEXT'})}; otherwise correct them, "
        "or give the column another role."
    )


def negative_zeros(column: str, zeros: int) -> DataError:
    return DataError(
        f"Column '{column}' has {count(zeros, 'negative zero')}, which as a stratum would be another code "
        "than zero. Replace them, or convert the column to integers or text."
    )


def too_many_strata(found: int, most: int) -> DataError:
    return DataError(
        f"The strata columns have {found:,} combinations; at most {most:,} are possible. Use coarser "
        "strata, or fewer of them."
    )


def too_many_keys(found: int, most: int) -> SettingsError:
    return SettingsError(
        f"A subset has {found} keys; on Spark it can have at most {most} with "
        f"{use('missing', 'by-pattern')} or {use('zeros', 'apart')}. Use smaller subsets."
    )


def block_too_small(least: int, k: int) -> SettingsError:
    return SettingsError(
        f"spark.microagg.blockRecords must be a whole number of at least {least} if k is {k}, as a block "
        "holds many groups."
    )


def not_cut(records: int, target: int) -> DataError:
    return DataError(
        f"A part of {count(records, 'record')} could not be cut into blocks of at most {target}: too "
        "many records have the same keys. Use larger blocks (spark.microagg.blockRecords), or coarser "
        "strata."
    )


def source_changed() -> DataError:
    return DataError(
        "The source gives other records than when they were counted: either it is being written to, or it "
        "is computed again each time with another result. Nothing is released. Store the source first, and "
        "protect what was stored."
    )


def spark_failed(what: str, reason: str) -> OutputError:
    # Spark's own message may quote values: only the kind of failure is passed on.
    return OutputError(
        f"Spark could not finish {what} ({reason}). Nothing is released. The logs of Spark's executors "
        "have more details; they may hold values of respondents, so do not pass them on."
    )


def no_such_input(path: str) -> DataError:
    return DataError(
        f"There is no folder or file {path}, and no table of that name that Spark can read. Give a folder "
        "of Parquet or CSV files, or a table."
    )


def unknown_folder_format(path: str) -> DataError:
    return DataError(
        f"{path} holds neither Parquet nor CSV files, by the endings of their names (.parquet, .csv). Give "
        "a folder or file of one of these formats."
    )


def folder_exists(path: str) -> SettingsError:
    return SettingsError(
        f"{path} exists already. Choose another name, or overwrite it with {use('force', True)}."
    )


def record_needs_folder(path: str) -> SettingsError:
    return SettingsError(
        f"{path} is not on this machine, but the internal record must be: give its folder with "
        f"{use('record')}."
    )


def closed() -> SettingsError:
    return SettingsError(
        "The release is closed: the verified records are gone. Save it before you close it, or protect "
        "again."
    )


def columns_not_on_spark(columns: Sequence[str]) -> SettingsError:
    return SettingsError(
        f"Columns {quoted(columns)} have names that differ only in capitals, which Spark cannot tell "
        "apart. Rename them."
    )
