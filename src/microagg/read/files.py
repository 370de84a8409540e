"""A file -> Table or Microdata, in the format that the ending of its name stands for."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from microagg import wording
from microagg.formats.format import Content, Source
from microagg.formats.table import ENDINGS, FIRST_BYTES, FORMATS, detect_format, without_effect
from microagg.model import Layout, Microdata, Origin, Table
from microagg.process import is_shortage
from microagg.read.in_memory import table_of
from microagg.read.numbers import (
    cast_to_schema,
    numbers_from_text,
    require_numeric_columns,
    without_missing_codes,
)
from microagg.read.select import select_columns

STANDARD_INPUT = Path("-")
"""Stands for CSV from standard input."""

_ANY_LAYOUT = Layout()
_OPEN_FILES = Path("/proc/self/fd")


def table_from_file(
    path: Path,
    columns: Sequence[str] | None = None,
    layout: Layout = _ANY_LAYOUT,
) -> Table:
    """The named columns of a file (default: all) as a Table; `-` is CSV from standard input.

    What `layout` leaves open is detected; what has no effect on files of this format is refused.
    """
    with _open_source(path, layout) as source:
        content = _read_content(source, origin_of(path).format)
    table = content.table
    if content.labels is not None:
        table = without_missing_codes(table, content.labels)
    table = select_columns(table, columns, content.header_row)
    if content.csv is not None:
        table = numbers_from_text(table, content.csv, layout.decimal)
    require_numeric_columns(table)
    return table_of(table)


def microdata_from_file(path: Path, layout: Layout = _ANY_LAYOUT) -> Microdata:
    """All columns of a file, whatever they hold; `-` is CSV from standard input.

    What `layout` leaves open is detected; what has no effect on files of this format is refused.
    """
    origin = origin_of(path)
    with _open_source(path, layout) as source:
        content = _read_content(source, origin.format)
        origin = replace(
            origin,
            csv=content.csv,
            labels=content.labels,
            digest=_digest_of_bytes(source.file),
            mode=None if source.path is None else stat.S_IMODE(os.fstat(source.file.fileno()).st_mode),
            layout=layout,
            notes=content.notes,
            csv_look=content.csv_look,
        )
    table = select_columns(content.table, None, content.header_row)
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
            source = Source(file, path, like.name, Layout(header="yes"), like.csv)
            table = select_columns(_read_content(source, like.format).table, None)
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
    known = ENDINGS.get(path.suffix.lower())
    if known is None:
        raise wording.unknown_format(str(path), list(ENDINGS))
    return Origin(known.name, str(path), path)


@contextmanager
def _open_source(path: Path, layout: Layout) -> Iterator[Source]:
    """Open the file, check that it begins as its format does, and that nobody changes it meanwhile."""
    origin = origin_of(path)
    if unused := without_effect(layout, origin.format):
        raise wording.not_csv(origin.name, origin.format, unused)
    if path == STANDARD_INPUT:
        if sys.stdin is None:  # it was closed before Python began
            raise wording.no_standard_input()
        source = Source(io.BytesIO(sys.stdin.buffer.read()), None, origin.name, layout)
        _refuse_other_content(source, origin.format)
        yield source
        return
    try:
        with path.open("rb") as file:
            before = _size_and_time(file)
            source = Source(file, _reopenable_path(file, path), origin.name, layout)
            _refuse_other_content(source, origin.format)
            yield source
            if _size_and_time(file) != before:
                raise wording.changed_while_read(origin.name)
    except OSError as error:
        raise wording.cannot_read(origin.name, error) from None


def _reopenable_path(file: BinaryIO, path: Path) -> Path:
    place = _OPEN_FILES / str(file.fileno())
    return place if place.exists() else path


def _size_and_time(file: BinaryIO) -> tuple[int, int]:
    """Size and time of the last change."""
    found = os.fstat(file.fileno())
    return found.st_size, found.st_mtime_ns


def _read_content(source: Source, kind: str) -> Content:
    try:
        return FORMATS[kind].read(source)
    except MemoryError:  # Arrow's is one of its own exceptions too, but does not concern the file
        raise
    except pa.ArrowException as refusal:
        if is_shortage(refusal):
            raise MemoryError from None
        raise wording.unreadable_content(source.name, kind) from None
    except OSError as error:
        if error.errno is not None:
            raise
        # Without a number it is Arrow's error for content that ends too early.
        raise wording.unreadable_content(source.name, kind) from None


def _digest_of_bytes(file: BinaryIO) -> str:
    file.seek(0)
    return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"  # type: ignore[arg-type]


def _refuse_other_content(source: Source, kind: str) -> None:
    """`DataError` for an empty file, and for one whose first bytes are those of another format."""
    source.file.seek(0)
    beginning = source.file.read(FIRST_BYTES)
    if not beginning:
        raise wording.no_records()
    found = detect_format(beginning)
    if found in (None, kind) or (kind, found) == ("Excel", "Office"):
        return
    endings = FORMATS[found].endings if found in FORMATS else ()
    raise wording.other_content(source.name, kind, "text" if found == "CSV" else found, endings)
