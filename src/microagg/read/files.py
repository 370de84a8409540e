"""A file -> Table, or all of its columns, by the ending of its name."""

from __future__ import annotations

import hashlib
import io
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from microagg import errors
from microagg.model import FORMATS, CsvFormat, Microdata, Origin, StatisticalLabels, Table
from microagg.read.columns import NUMBERS_AMONG_TEXT, chosen, refuse_what_is_no_number
from microagg.read.content import FIRST_BYTES, kind_of
from microagg.read.csv import read_csv, read_csv_again, read_csv_as_text
from microagg.read.excel import read_excel
from microagg.read.memory import table_of
from microagg.read.numbers import retyped
from microagg.read.statistical import read_statistical, without_missing_codes

if TYPE_CHECKING:
    import pyarrow as pa

STANDARD_INPUT = Path("-")
"""In place of a file: CSV from there."""

_ANY_FORMAT = CsvFormat()
_BLOCK = 1 << 20


def table_from_file(
    path: Path, columns: Sequence[str] | None = None, csv_format: CsvFormat = _ANY_FORMAT
) -> Table:
    """The named columns of a file (default: all) as a Table; `-` is CSV from standard input.

    What `csv_format` leaves open is found out; it is refused for files that are not CSV.
    """
    with _opened(path, csv_format) as source:
        if source.kind == "CSV":
            return table_of(read_csv(source.file, source.path, source.name, columns, csv_format))
        typed = _typed(source.file, path, source.kind)
        table = chosen(without_missing_codes(typed.table, typed.labels or StatisticalLabels()), columns)
    refuse_what_is_no_number(table)
    return table_of(table)


def microdata_from_file(path: Path, csv_format: CsvFormat = _ANY_FORMAT) -> Microdata:
    """All columns of a file, whatever they hold; `-` is CSV from standard input.

    What `csv_format` leaves open is found out; it is refused for files that are not CSV.
    """
    with _opened(path, csv_format) as source:
        csv = None
        if source.kind == "CSV":
            table, csv = read_csv_as_text(source.file, source.path, source.name, csv_format)
            typed = _Typed(table)
        else:
            typed = _typed(source.file, path, source.kind)
        origin = Origin(
            source.kind,
            source.name,
            source.path,
            csv,
            typed.labels,
            digest=_digest(source.file),
            mode=None if source.path is None else stat.S_IMODE(source.path.stat().st_mode),
            notes=typed.notes,
        )
    table = chosen(typed.table, None)
    if table.num_rows == 0:
        raise errors.no_records()
    return Microdata(table, origin)


def read_back(path: Path, like: Origin, schema: pa.Schema | None = None) -> pa.Table:
    """A file that was written just now, read as `like` says: by neither its name nor its first bytes.

    With the schema of what was written, columns get back the types that the format does not keep; those
    that cannot have them stay as they were read.
    """
    try:
        with path.open("rb") as file:
            if like.csv is not None:
                table = read_csv_again(file, path, like.name, like.csv)
            else:
                table = chosen(_typed(file, path, like.format).table, None)
    except OSError as error:
        raise errors.cannot_read(like.name, error.strerror or "reading failed") from None
    return table if schema is None else retyped(Microdata(table, like), schema)


def origin_of(path: Path) -> Origin:
    """What the name of a file says; `DataError` if there is no such file, or it is of no format we know."""
    if path == STANDARD_INPUT:
        return Origin("CSV", "standard input")
    if path.is_dir():
        raise errors.is_a_folder(str(path))
    if not path.exists():
        raise errors.no_such_file(str(path))
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        raise errors.unknown_format(str(path), list(FORMATS))
    return Origin(kind, str(path), path)


@dataclass(frozen=True, slots=True)
class _Source:
    file: BinaryIO
    path: Path | None
    name: str
    kind: str


@contextmanager
def _opened(path: Path, csv_format: CsvFormat) -> Iterator[_Source]:
    """The file, opened, if it is of a format that we know and begins like one."""
    if path == STANDARD_INPUT:
        source = _Source(io.BytesIO(sys.stdin.buffer.read()), None, "standard input", "CSV")
        _refuse_other_content(source)
        yield source
        return
    kind = origin_of(path).format
    if kind != "CSV" and csv_format.given():
        raise errors.not_csv(str(path), kind, csv_format.given())
    try:
        with path.open("rb") as file:
            source = _Source(file, path, str(path), kind)
            _refuse_other_content(source)
            yield source
    except OSError as error:
        raise errors.cannot_read(str(path), error.strerror or "reading failed") from None


@dataclass(frozen=True, slots=True)
class _Typed:
    """The content of a file."""

    table: pa.Table
    labels: StatisticalLabels | None = None
    notes: tuple[str, ...] = ()


def _typed(file: BinaryIO, path: Path, kind: str) -> _Typed:
    """The content of a file in a format that has types."""
    import pyarrow as pa

    try:
        if kind == "Excel":
            table = read_excel(file, str(path))
            mixed = [field.name for field in table.schema if NUMBERS_AMONG_TEXT in (field.metadata or {})]
            return _Typed(table, notes=(errors.mixed_cells_note(mixed),) if mixed else ())
        if kind == "Parquet":
            from pyarrow import parquet

            return _Typed(parquet.read_table(path, partitioning=None))
        if kind == "Arrow":
            from pyarrow import feather

            return _Typed(feather.read_table(path))
        return _Typed(*read_statistical(path, kind))
    except MemoryError:  # Arrow's is one of its own exceptions too, but no word about the file
        raise
    except pa.ArrowException:
        raise errors.unreadable_content(str(path), kind) from None
    except OSError as error:
        if error.errno is not None:
            raise
        # Not the operating system's, but Arrow's word for content that ends too early.
        raise errors.unreadable_content(str(path), kind) from None


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
        raise errors.no_records()
    found = kind_of(beginning)
    if found in (None, source.kind) or (source.kind, found) in (("CSV", "text"), ("Excel", "Office")):
        return
    known = "CSV" if found == "text" else found
    raise errors.other_content(
        source.name, source.kind, found, [end for end, format_ in FORMATS.items() if format_ == known]
    )
