"""A file -> Table or Microdata, in the format that the ending of its name stands for."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from microagg import wording
from microagg.model import (
    FORMATS,
    CsvFormat,
    CsvLook,
    Layout,
    Microdata,
    Origin,
    StatisticalLabels,
    Table,
)
from microagg.process import is_shortage
from microagg.read.columns import NUMBERS_AMONG_TEXT, require_numeric_columns, select_columns
from microagg.read.content import FIRST_BYTES, detect_format
from microagg.read.csv import read_csv, read_csv_again, read_csv_as_text
from microagg.read.excel import read_excel
from microagg.read.memory import table_of
from microagg.read.numbers import cast_to_schema
from microagg.read.statistical import read_statistical, without_missing_codes
from microagg.verdict import Finding, note

STANDARD_INPUT = Path("-")
"""Stands for CSV from standard input."""

_ANY_FORMAT = CsvFormat()
_ANY_LAYOUT = Layout()
_BLOCK = 1 << 20
_OPEN_FILES = Path("/proc/self/fd")


def table_from_file(
    path: Path,
    columns: Sequence[str] | None = None,
    csv_format: CsvFormat = _ANY_FORMAT,
    layout: Layout = _ANY_LAYOUT,
) -> Table:
    """The named columns of a file (default: all) as a Table; `-` is CSV from standard input.

    What `csv_format` leaves open is detected; it is refused for files that are not CSV, as is `layout` for
    those that are neither CSV nor Excel.
    """
    with _open_source(path, csv_format, layout) as source:
        if source.kind == "CSV":
            return table_of(read_csv(source.file, source.place, source.name, columns, csv_format, layout))
        typed = _read_typed(source.file, source.place or path, source.name, source.kind, layout)
        known = without_missing_codes(typed.table, typed.labels or StatisticalLabels())
        table = select_columns(known, columns, typed.header_row)
    require_numeric_columns(table)
    return table_of(table)


def microdata_from_file(
    path: Path, csv_format: CsvFormat = _ANY_FORMAT, layout: Layout = _ANY_LAYOUT
) -> Microdata:
    """All columns of a file, whatever they hold; `-` is CSV from standard input.

    What `csv_format` leaves open is detected; it is refused for files that are not CSV, as is `layout` for
    those that are neither CSV nor Excel.
    """
    with _open_source(path, csv_format, layout) as source:
        csv, look = None, CsvLook()
        if source.kind == "CSV":
            table, csv, look = read_csv_as_text(source.file, source.place, source.name, csv_format, layout)
            typed = _FileContent(table)
        else:
            typed = _read_typed(source.file, source.place or path, source.name, source.kind, layout)
        origin = Origin(
            source.kind,
            source.name,
            source.path,
            csv,
            typed.labels,
            digest=_digest(source.file),
            mode=None if source.path is None else stat.S_IMODE(os.fstat(source.file.fileno()).st_mode),
            layout=layout,
            notes=typed.notes,
            csv_look=look,
        )
    table = select_columns(typed.table, None, typed.header_row)
    if table.num_rows == 0:
        raise wording.no_records()
    return Microdata(table, origin)


def read_back(path: Path, like: Origin, schema: pa.Schema | None = None) -> pa.Table:
    """Read a file that was just written as `like` describes it, whatever its name and first bytes.

    With the schema of what was written, columns are cast to the types that the format does not keep, where
    that is possible.
    """
    try:
        with path.open("rb") as file:
            if like.csv is not None:
                table = read_csv_again(file, path, like.name, like.csv)
            else:
                like_written = Layout(header="yes")
                table = select_columns(
                    _read_typed(file, path, like.name, like.format, like_written).table, None
                )
    except OSError as error:
        raise wording.cannot_read(like.name, error) from None
    return table if schema is None else cast_to_schema(Microdata(table, like), schema)


def origin_of(path: Path) -> Origin:
    """Format and name of a file; `DataError` if there is no such file, or its ending is not known."""
    if path == STANDARD_INPUT:
        return Origin("CSV", "standard input")
    if path.is_dir():
        raise wording.is_a_folder(str(path))
    if not path.exists():
        raise wording.no_such_file(str(path))
    if not path.is_file():
        raise wording.input_is_no_file(str(path))
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        raise wording.unknown_format(str(path), list(FORMATS))
    return Origin(kind, str(path), path)


@dataclass(frozen=True, slots=True)
class _Source:
    file: BinaryIO
    path: Path | None
    place: Path | None
    """Where libraries can open this very file, even if `path` has become another file's name."""
    name: str
    kind: str


@contextmanager
def _open_source(path: Path, csv_format: CsvFormat, layout: Layout) -> Iterator[_Source]:
    """Open the file, check that it begins as its format does, and that nobody changes it meanwhile."""
    kind = origin_of(path).format
    unused = [*(csv_format.given() if kind != "CSV" else []), *layout.without_effect_on(kind)]
    if unused:
        raise wording.not_csv("standard input" if path == STANDARD_INPUT else str(path), kind, unused)
    if path == STANDARD_INPUT:
        if sys.stdin is None:  # it was closed before Python began
            raise wording.no_standard_input()
        source = _Source(io.BytesIO(sys.stdin.buffer.read()), None, None, "standard input", "CSV")
        _refuse_other_content(source)
        yield source
        return
    try:
        with path.open("rb") as file:
            before = _size_and_time(file)
            source = _Source(file, path, _reopenable_path(file, path), str(path), kind)
            _refuse_other_content(source)
            yield source
            if _size_and_time(file) != before:
                raise wording.changed_while_read(str(path))
    except OSError as error:
        raise wording.cannot_read(str(path), error) from None


def _reopenable_path(file: BinaryIO, path: Path) -> Path:
    place = _OPEN_FILES / str(file.fileno())
    return place if place.exists() else path


def _size_and_time(file: BinaryIO) -> tuple[int, int]:
    """Size and time of the last change."""
    found = os.fstat(file.fileno())
    return found.st_size, found.st_mtime_ns


@dataclass(frozen=True, slots=True)
class _FileContent:
    table: pa.Table
    labels: StatisticalLabels | None = None
    notes: tuple[Finding, ...] = ()
    header_row: int | None = None
    """The row of the names, where it can be chosen."""


def _read_typed(file: BinaryIO, path: Path, name: str, kind: str, layout: Layout) -> _FileContent:
    """Read a file in a format that has types; `name` is what messages call it."""
    try:
        if kind == "Excel":
            table, notes = read_excel(file, name, layout)
            mixed = [field.name for field in table.schema if NUMBERS_AMONG_TEXT in (field.metadata or {})]
            notes += (note("mixed_cells", *mixed),) if mixed else ()
            return _FileContent(table, notes=notes, header_row=layout.header_row or 1)
        if kind == "Parquet":
            from pyarrow import parquet  # slow to import, and most files are CSV

            return _FileContent(parquet.read_table(path, partitioning=None))
        if kind == "Arrow":
            from pyarrow import feather

            return _FileContent(feather.read_table(path))
        return _FileContent(*read_statistical(path, name, kind))
    except MemoryError:  # Arrow's is one of its own exceptions too, but does not concern the file
        raise
    except pa.ArrowException as refusal:
        if is_shortage(refusal):
            raise MemoryError from None
        raise wording.unreadable_content(name, kind) from None
    except OSError as error:
        if error.errno is not None:
            raise
        # Without a number it is Arrow's error for content that ends too early.
        raise wording.unreadable_content(name, kind) from None


def _digest(file: BinaryIO) -> str:
    file.seek(0)
    digest = hashlib.sha256()
    while block := file.read(_BLOCK):
        digest.update(block)
    return f"sha256:{digest.hexdigest()}"


def _refuse_other_content(source: _Source) -> None:
    """`DataError` for an empty file, and for one whose first bytes are those of another format."""
    source.file.seek(0)
    beginning = source.file.read(FIRST_BYTES)
    if not beginning:
        raise wording.no_records()
    found = detect_format(beginning)
    if found in (None, source.kind) or (source.kind, found) in (("CSV", "text"), ("Excel", "Office")):
        return
    known = "CSV" if found == "text" else found
    raise wording.other_content(
        source.name, source.kind, found, [end for end, format_ in FORMATS.items() if format_ == known]
    )
