"""Folders of Parquet or CSV files on any file system that Spark knows: read, written, renamed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from microagg import wording
from microagg.formats.csv_writer import DEFAULT_CSV_FORMAT
from microagg.formats.first_row import ROWS_COMPARED, numbered_names, refuse_record_as_names
from microagg.formats.table import without_effect
from microagg.model import CSV_OPTIONS, CsvFormat, Layout, Origin

_ENDINGS = {".parquet": "Parquet", ".csv": "CSV", ".csv.gz": "CSV"}
WRITTEN_BY_SPARK = (".parquet", ".csv")


@dataclass(frozen=True, slots=True, eq=False)
class FrameSource:
    """A frame of Spark and where it comes from; `origin.csv` is set where all its columns are text."""

    frame: DataFrame
    origin: Origin

    @property
    def columns(self) -> list[str]:
        return list(self.frame.columns)

    def kind(self, name: str) -> str:
        """What Spark calls the type of a column."""
        return str(self.frame.schema.fields[self.columns.index(name)].dataType.typeName())

    def at(self, name: str) -> int:
        return self.columns.index(name)

    @property
    def numbered(self) -> DataFrame:
        """The frame with its columns called by number."""
        return self.frame.toDF(*(f"c{at}" for at in range(len(self.columns))))

    @property
    def is_text(self) -> bool:
        """Whether numbers are text, as in CSV files."""
        return self.origin.csv is not None


@dataclass(frozen=True, slots=True, eq=False)
class Folder:
    """A path on a file system of Spark's."""

    session: SparkSession
    path: str

    @property
    def _jvm(self) -> Any:
        jvm = getattr(self.session, "_jvm", None)
        if jvm is None:
            raise wording.not_on_spark(
                "a folder", "this session is one of Spark Connect. Use its own reader."
            )
        return jvm

    @property
    def _at(self) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self.path)

    @property
    def _system(self) -> Any:
        return self._at.getFileSystem(self.session.sparkContext._jsc.hadoopConfiguration())

    @property
    def _whole_path(self) -> Any:
        """With the name of the file system."""
        return self._system.makeQualified(self._at)

    @property
    def parent(self) -> Folder:
        return Folder(self.session, self._whole_path.getParent().toString())

    def beside(self, name: str) -> Folder:
        """The path with another name in the same folder."""
        path = self._jvm.org.apache.hadoop.fs.Path(self._whole_path.getParent(), name)
        return Folder(self.session, path.toString())

    @property
    def local(self) -> Path | None:
        """On this machine's own file system; None elsewhere."""
        is_local = self._whole_path.toUri().getScheme() == "file"
        return Path(self._at.toUri().getPath()).absolute() if is_local else None

    def holds(self, file: str) -> bool:
        """Whether a file, by its address as Spark gives it, is this path or in this folder."""
        path, own = str(self._jvm.java.net.URI(file).getPath()), str(self._whole_path.toUri().getPath())
        return path == own or path.startswith(f"{own}/")

    def exists(self) -> bool:
        """Whether there is anything of that name."""
        return bool(self._system.exists(self._at))

    def rename(self, to: Folder) -> None:
        """Rename in one step, where the file system can."""
        if not self._system.rename(self._at, to._at):
            raise wording.cannot_write(to.path, "renaming failed")

    def remove(self) -> None:
        """Remove the folder with all files in it."""
        self._system.delete(self._at, True)

    def files(self) -> Iterator[str]:
        """Names of all files in it, or its own."""
        found = self._system.listFiles(self._at, True)
        while found.hasNext():
            yield str(found.next().getPath().getName())

    def digests(self) -> dict[str, str]:
        """Of all files in it, by their place in the folder.

        Where a file system keeps checksums of whole files, as HDFS does, nothing is read.
        """
        system, digest = self._system, self._jvm.org.apache.commons.codec.digest.DigestUtils
        own, found, files = self._whole_path.toUri(), {}, self._system.listFiles(self._at, True)
        while files.hasNext():
            path = files.next().getPath()
            known = system.getFileChecksum(path)
            if known is None:
                with closing(system.open(path)) as stream:
                    text = str(digest.sha256Hex(stream))
            else:
                text = str(known.toString())
            found[str(own.relativize(path.toUri()).getPath())] = text
        return found


def source_of(session: SparkSession, name: str, layout: Layout) -> FrameSource:
    """A folder or file of Parquet or CSV, or a table of the session's catalogue."""
    folder = Folder(session, name)
    if folder.exists():
        files = [file.lower() for file in folder.files()]
        kinds = [kind for file in files for end, kind in _ENDINGS.items() if file.endswith(end)]
        if not kinds:
            raise wording.unknown_folder_format(name)
        kind = kinds[0]
    elif _is_table(session, name):
        kind = "table"
    else:
        raise wording.no_such_input(name)
    if kind == "CSV":
        _check_layout(layout, name)
        given = {option: value for option, value in layout.given().items() if option in CSV_OPTIONS}
        known = replace(DEFAULT_CSV_FORMAT, **given)
        return FrameSource(
            read_csv(session, name, known, layout), Origin(kind, name, csv=known, layout=layout)
        )
    if unused := list(layout.given()):
        raise wording.not_csv(name, kind, unused)
    frame = session.read.parquet(name) if kind == "Parquet" else session.read.table(name)
    return FrameSource(frame, Origin(kind, name))


def _check_layout(layout: Layout, name: str) -> None:
    unused = without_effect(layout, "CSV")
    if unused:
        raise wording.not_csv(name, "CSV", unused)
    if layout.header_row is not None:
        raise wording.not_on_spark(
            "header_row", "lines above the names cannot be skipped in every file of a folder. Remove them."
        )


def _is_table(session: SparkSession, name: str) -> bool:
    try:
        return session.catalog.tableExists(name)
    except Exception:  # what cannot be the name of a table
        return False


def read_csv(session: SparkSession, path: str, csv: CsvFormat, layout: Layout) -> DataFrame:
    """All columns as text, null where a field is empty; rows of another length are refused.

    Unless `header` is given, the first rows of files are judged, from the beginning of one of them.
    """
    reader = session.read.options(**_options(csv)).option("mode", "FAILFAST")
    # Spark neither reads nor checks columns that are not selected.
    reader = reader.option("columnPruning", "false")
    if layout.header == "no":
        frame = reader.option("header", "false").csv(path)
        return frame.toDF(*numbered_names(len(frame.columns)))
    if layout.header is None:
        _refuse_records_as_names(session, path, csv)
    return reader.option("enforceSchema", "false").csv(path)


def _refuse_records_as_names(session: SparkSession, path: str, csv: CsvFormat) -> None:
    """Names as they stand there: Spark would change those that are empty or not unique."""
    reader = session.read.options(**_options(csv)).option("header", "false")
    rows = [[field or "" for field in row] for row in reader.csv(path).limit(ROWS_COMPARED + 1).collect()]
    if not rows:
        return
    first, *others = rows
    for _ in range(sum(1 for _ in Folder(session, path).files()) - 1):  # every file has a header of its own
        if first in others:
            others.remove(first)
    refuse_record_as_names(first, others, path)


def _options(csv: CsvFormat) -> dict[str, Any]:
    return {
        "header": "true",
        "sep": csv.delimiter or ",",
        "encoding": csv.encoding or "utf-8",
        "escape": '"',
        "inferSchema": "false",
        "ignoreLeadingWhiteSpace": "false",
        "ignoreTrailingWhiteSpace": "false",
    }


def write(frame: DataFrame, folder: Folder, csv: CsvFormat | None) -> None:
    """As Parquet, or as CSV; a CSV frame is one of text."""
    if csv is None:
        frame.write.parquet(folder.path)
    else:
        frame.write.options(**_options(csv)).csv(folder.path)


def read_again(session: SparkSession, folder: Folder, frame: DataFrame, csv: CsvFormat | None) -> DataFrame:
    """What was written just now, by its own names and types."""
    if csv is None:
        return session.read.parquet(folder.path)
    reader = session.read.options(**_options(csv)).option("mode", "FAILFAST").schema(frame.schema)
    return reader.csv(folder.path)


def as_text(frame: DataFrame, csv: CsvFormat, masked: frozenset[str]) -> list[Column]:
    """Every column as text of a CSV file; masked numbers with the file's decimal sign."""
    columns = []
    for name in frame.columns:
        text = F.col("`" + name.replace("`", "``") + "`").cast("string")
        if csv.decimal == "," and name in masked:
            text = F.replace(text, F.lit("."), F.lit(","))
        columns.append(text.alias(name))
    return columns


@contextmanager
def staging(target: Folder, name: str) -> Iterator[Folder]:
    """A hidden folder beside the target, which is gone at the end unless it was renamed."""
    folder = target.beside(name)
    try:
        yield folder
    finally:
        if folder.exists():
            folder.remove()


def check_ending(path: str) -> str:
    """That of an output: Parquet, CSV, or none."""
    ending = Path(path).suffix.lower()
    if ending not in ("", *WRITTEN_BY_SPARK):
        raise wording.unknown_output_format(path, list(WRITTEN_BY_SPARK))
    return ending


def csv_format_of_output(path: str, source: FrameSource) -> CsvFormat | None:
    """How to write: None for Parquet. By the ending of the name; without one, as the source is."""
    ending = check_ending(path)
    is_csv = ending == ".csv" or (not ending and source.origin.csv is not None)
    return (source.origin.csv or DEFAULT_CSV_FORMAT) if is_csv else None
