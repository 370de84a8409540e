"""Excel -> Arrow table, by openpyxl."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, BinaryIO

from microagg import errors
from microagg.read.columns import NUMBERS_AMONG_TEXT, refuse_values_as_names
from microagg.read.content import FIRST_BYTES, kind_of

if TYPE_CHECKING:
    import pyarrow as pa


def read_excel(file: BinaryIO, source: str) -> pa.Table:
    """The first sheet; its first row names the columns. Formulas count as the values saved with them.

    Columns of both numbers and something else come as text.
    """
    try:
        import openpyxl
    except ImportError:
        raise errors.needs_extra("Reading Excel files", "openpyxl", "formats") from None
    import pyarrow as pa

    file.seek(0)
    if kind_of(file.read(FIRST_BYTES)) == "Office":
        # The names of the streams inside are in UTF-16.
        locked = "EncryptedPackage".encode("utf-16-le") in file.read()
        raise errors.password_protected(source) if locked else errors.old_excel(source)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and validation, which are not read
            book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
            rows = _rows(book.worksheets[0]) if book.worksheets else []
    except (MemoryError, OSError):
        raise
    except Exception:  # whatever a broken file makes of the parser, in words that may quote values
        raise errors.unreadable_content(source, "Excel") from None
    if not rows:
        raise errors.empty_sheet(source)
    columns = [column for column in zip_longest(*rows) if any(value is not None for value in column)]
    names = ["" if column[0] is None else str(column[0]).strip() for column in columns]
    refuse_values_as_names(names, source)
    if len(rows) == 1:
        raise errors.no_records()
    typed = [_column(name, column[1:]) for name, column in zip(names, columns, strict=True)]
    return pa.Table.from_arrays(
        [array for _, array in typed], schema=pa.schema([field for field, _ in typed])
    )


def _rows(sheet: Any) -> list[tuple[Any, ...]]:
    """The rows down to the last that is not empty, without empty cells at their ends."""
    sheet.reset_dimensions()  # some programs write wrong ones
    rows = [_trimmed(row) for row in sheet.iter_rows(values_only=True)]
    while rows and not rows[-1]:
        rows.pop()
    return rows


def _trimmed(row: Sequence[Any]) -> tuple[Any, ...]:
    end = len(row)
    while end and row[end - 1] is None:
        end -= 1
    return tuple(row[:end])


def _column(name: str, values: Sequence[Any]) -> tuple[pa.Field[Any], pa.Array[Any]]:
    import pyarrow as pa

    kinds = {type(value) for value in values} - {type(None)}
    if len(kinds) <= 1 or kinds == {int, float}:
        try:
            array = pa.array(values, pa.float64() if kinds == {int, float} else None)
            return pa.field(name, array.type), array
        except (pa.ArrowException, OverflowError):  # whole numbers beyond 64 bits
            array = pa.array([None if value is None else float(value) for value in values])
            return pa.field(name, array.type), array
    numbers = sum(type(value) in (int, float) for value in values)
    array = pa.array([None if value is None else str(value) for value in values])
    return pa.field(name, array.type, metadata={NUMBERS_AMONG_TEXT: str(numbers).encode()}), array
