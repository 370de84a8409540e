"""What stands against a run on Spark."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.errors import DataError, MissingExtra, OutputError, SettingsError
from microagg.wording.phrases import counted, quoted


def no_spark() -> MissingExtra:
    """PySpark is not installed."""
    return MissingExtra("The engine spark needs PySpark: pip install 'microagg[spark]'")


def no_java() -> MissingExtra:
    """Spark is a Java program."""
    return MissingExtra(
        "The engine spark needs Java 17 or newer, and none was found. Install one (Debian: apt install "
        "default-jre-headless), or say where it is by the environment variable JAVA_HOME."
    )


def not_on_spark(word: str, reason: str) -> SettingsError:
    """A word that only the local engine can honour."""
    return SettingsError(f"{word} is not possible on Spark: {reason}")


def without_spark(word: str) -> SettingsError:
    """A word that only Spark needs."""
    return SettingsError(f"{word} has an effect only with --engine spark. Leave it out, or add that.")


def unusable_on_spark(column: str, kind: str) -> DataError:
    """Values that Spark cannot compare."""
    return DataError(
        f"Column '{column}' holds values of type {kind}, which Spark can neither compare nor hash. Convert "
        "it, or leave it out (--drop)."
    )


def collated(column: str, collation: str) -> DataError:
    """Text of which Spark takes different spellings for the same."""
    return DataError(
        f"Column '{column}' holds text with the collation {collation}: Spark would count different "
        "spellings as one, while the files keep them apart. Use UTF8_BINARY, or leave it out (--drop)."
    )


def no_numbers_in_text(column: str, count: int, n: int) -> DataError:
    """Text among numbers, in a folder of CSV files."""
    return DataError(
        f"Column '{column}' holds something other than numbers in {count} of {counted(n, 'row')}. If they "
        "have decimal commas, say so by --decimal , (points are then refused); if they mean missing, name "
        f"them by --missing-codes {column}=TEXT; and otherwise clean them or give the column another role."
    )


def negative_zeros(column: str, count: int) -> DataError:
    """Two ways to write nought, which Spark takes for one."""
    return DataError(
        f"Column '{column}' has {counted(count, 'negative zero')}, which as a stratum would be another "
        "code than zero. Replace them, or convert the column to whole numbers or text."
    )


def too_many_strata(found: int, most: int) -> DataError:
    """The list of strata would not fit into the driver's memory."""
    return DataError(
        f"The strata columns have more than {most:,} combinations ({found:,}). Use coarser strata, or "
        "fewer of them."
    )


def too_many_keys(found: int, most: int) -> SettingsError:
    """Patterns are kept in the bits of one number."""
    return SettingsError(
        f"A subset has {found} keys; with --missing by-pattern or --zeros apart it can have {most} at most "
        "on Spark. Use smaller subsets."
    )


def block_too_small(least: int, k: int) -> SettingsError:
    """Blocks that could not be cut into groups."""
    return SettingsError(
        f"spark.microagg.blockRecords must be a whole number of at least {least} where k is {k}: a block "
        "holds many groups."
    )


def not_cut(records: int, target: int) -> DataError:
    """Records that no cut tells apart, though not all of them are the same."""
    return DataError(
        f"A part of {counted(records, 'record')} could not be cut into blocks of at most {target}: too "
        "many records have the same keys. Use larger blocks (spark.microagg.blockRecords), or coarser "
        "strata."
    )


def source_changed() -> DataError:
    """The second look at the source found other records than the first."""
    return DataError(
        "The source gives other records than when they were counted: it is being written to, or it is "
        "computed anew each time with another result. Nothing is released. Store it first, and protect "
        "what was stored."
    )


def spark_failed(what: str, reason: str) -> OutputError:
    """Spark gave up. Its own words may quote values, so that only the kind of failure is told."""
    return OutputError(
        f"Spark could not finish {what} ({reason}). Nothing is released. The logs of Spark's executors "
        "say more; they may hold values and are not for others."
    )


def no_such_input(path: str) -> DataError:
    """Neither files nor a table."""
    return DataError(
        f"There is neither a folder or file {path} nor a table of that name that Spark can read. Folders "
        "of Parquet or CSV files, and tables, can be read."
    )


def unknown_folder_format(path: str) -> DataError:
    """A folder of other files."""
    return DataError(
        f"{path} holds neither Parquet nor CSV files, by the endings of their names (.parquet, .csv); give "
        "a folder or file of one of these."
    )


def folder_exists(path: str) -> SettingsError:
    """The output is there already."""
    return SettingsError(f"{path} exists already. Choose another name, or overwrite it with --force.")


def record_needs_folder(path: str) -> SettingsError:
    """The record is no file of the cluster's."""
    return SettingsError(
        f"{path} is not on this machine, but the internal record is: say where by --record FOLDER."
    )


def written_by_spark_differs() -> str:
    """The files do not hold the records that were verified."""
    return (
        "The written files hold other records than were verified. The source may have changed since, and "
        "Spark have computed a part again; otherwise this is a bug in microagg: please report it with the "
        "settings."
    )


def closed() -> SettingsError:
    """What was verified is forgotten."""
    return SettingsError(
        "The release is closed: what was verified is gone. Save it before, or protect again."
    )


def records_differ(found: int, needed: int) -> str:
    """Records were lost, added or changed on the way."""
    return (
        f"What was masked are not the source's records ({found} of {needed}, or other values in columns "
        "that were to stay as they are). The source may have changed meanwhile; otherwise this is a bug in "
        "microagg: please report it with the settings."
    )


def note_no_order() -> str:
    """Spark's frames have no order."""
    return (
        "records are not in the order of the source; within each file they are ordered by a hash of what "
        "is released (--shuffle draws another order, over all files)"
    )


def columns_not_on_spark(columns: Sequence[str]) -> SettingsError:
    """Names that differ only in capitals, which Spark takes for one."""
    return SettingsError(f"Columns {quoted(columns)} have names that Spark cannot tell apart. Rename them.")
