"""Excel -> Arrow table, by openpyxl."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, BinaryIO

import pyarrow as pa

from microagg import errors, wording
from microagg.model import Layout
from microagg.read.columns import NUMBERS_AMONG_TEXT
from microagg.read.content import FIRST_BYTES, detect_format
from microagg.read.header import ROWS_COMPARED, are_numbered_names, numbered_names, refuse_record_as_names
from microagg.verdict import Finding, note

_BLOCK = 1 << 20
_MAY_HIDE = re.compile(rb"""hidden|\b(?:ht|width)\s*=\s*["']0""")
# In the XML of a sheet < stands only before tags.
_TAG = re.compile(rb"<(?:\w+:)?(row|col)\b([^>]*)>")
_ATTRIBUTE = re.compile(rb"""\b(r|min|max|hidden|ht|width)\s*=\s*["']([^"']*)["']""")


def read_excel(file: BinaryIO, source: str, layout: Layout) -> tuple[pa.Table, tuple[Finding, ...]]:
    """Read a sheet, the only one unless one is chosen; and notes about it.

    Its first row, unless another is chosen, names the columns. Formulas count as their saved values.
    Columns of numbers and other values are read as text. `DataError` for hidden sheets, rows and columns,
    unless the sheet was chosen: then it is read with all that it holds.
    """
    try:
        import openpyxl
    except ImportError:
        raise wording.needs_extra("Reading Excel files", "openpyxl", "formats") from None
    _refuse_old_or_locked(file, source)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and validation, which are not read
            book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
            sheet = _chosen_sheet(book.worksheets, source, layout)
            rows = [] if sheet is None else _rows(sheet)
            hidden = _Hidden.of(sheet) if rows else _Hidden()
    except (MemoryError, OSError, errors.DataError):
        raise
    except Exception:  # a broken file may raise anything, with a message that quotes values
        raise wording.unreadable_content(source, "Excel") from None
    if not rows:
        raise wording.empty_sheet(source)
    above = (layout.header_row or 1) - 1
    rows = rows[above:]
    if not rows:
        raise wording.no_such_row(source, above + 1)
    columns = {
        at: column
        for at, column in enumerate(zip_longest(*rows))
        if any(value is not None for value in column)
    }
    notes = hidden.refuse_or_note(list(columns), rows, above, source, sheet.title, layout)
    return _to_table(list(columns.values()), len(rows), source, layout), notes


def _refuse_old_or_locked(file: BinaryIO, source: str) -> None:
    file.seek(0)
    if detect_format(file.read(FIRST_BYTES)) == "Office":
        # The names of the streams inside are in UTF-16.
        locked = "EncryptedPackage".encode("utf-16-le") in file.read()
        raise wording.password_protected(source) if locked else wording.old_excel(source)


def _to_table(columns: Sequence[Sequence[Any]], rows: int, source: str, layout: Layout) -> pa.Table:
    """The cells as a table; `rows` is their number with that of the names, if there is one."""
    first = [_text(column[0]) for column in columns]
    named = layout.header != "no" or are_numbered_names(first)
    if layout.header is None:
        records = (
            [_text(value) for value in row]
            for row in zip(*(column[1 : ROWS_COMPARED + 1] for column in columns), strict=True)
        )
        refuse_record_as_names(first, records, source)
    if rows < (2 if named else 1):
        raise wording.no_records()
    names = first if named else numbered_names(len(first))
    typed = [
        _typed_column(name, column[1:] if named else column)
        for name, column in zip(names, columns, strict=True)
    ]
    return pa.Table.from_arrays(
        [array for _, array in typed], schema=pa.schema([field for field, _ in typed])
    )


def _chosen_sheet(sheets: Sequence[Any], source: str, layout: Layout) -> Any:
    """The sheet with that name, or the only one that holds cells; None if none does."""
    if layout.sheet is not None:
        named = [sheet for sheet in sheets if sheet.title == layout.sheet]
        if not named:
            raise wording.no_such_sheet(source, layout.sheet, [sheet.title for sheet in sheets])
        return named[0]
    filled = [sheet for sheet in sheets if _holds_cells(sheet)]
    visible = [sheet.title for sheet in filled if sheet.sheet_state == "visible"]
    hidden = [sheet.title for sheet in filled if sheet.sheet_state != "visible"]
    if hidden:
        raise wording.hidden_sheets(source, hidden, visible)
    if len(visible) > 1:
        raise wording.several_sheets(source, visible)
    return filled[0] if filled else None


def _holds_cells(sheet: Any) -> bool:
    sheet.reset_dimensions()  # some programs write wrong ones
    return any(value is not None for row in sheet.iter_rows(values_only=True) for value in row)


class _Hidden:
    """Hidden rows of a sheet, and hidden columns as ranges, counted from 1."""

    def __init__(self) -> None:
        self.rows: set[int] = set()
        self.columns: list[tuple[int, int]] = []

    @classmethod
    def of(cls, sheet: Any) -> _Hidden:
        """Read the sheet's XML: openpyxl does not show this in its mode that saves memory."""
        found = cls()
        row = 0
        for kind, attributes in _tags(sheet):
            unseen = attributes.get(b"hidden") in (b"1", b"true")
            if kind == b"row":
                row = int(attributes.get(b"r", row + 1))
                if unseen or _is_zero(attributes.get(b"ht")):
                    found.rows.add(row)
            elif unseen or _is_zero(attributes.get(b"width")):
                found.columns.append((int(attributes[b"min"]), int(attributes[b"max"])))
        return found

    def refuse_or_note(
        self,
        columns: Sequence[int],
        rows: Sequence[Sequence[Any]],
        above: int,
        source: str,
        sheet: str,
        layout: Layout,
    ) -> tuple[Finding, ...]:
        """`DataError` if something that is read is hidden; a note instead if the sheet was chosen."""
        from openpyxl.utils import get_column_letter

        letters = [
            get_column_letter(at + 1)
            for at in columns
            if any(first <= at + 1 <= last for first, last in self.columns)
        ]
        count = sum(bool(row) and at in self.rows for at, row in enumerate(rows, above + 1))
        if not letters and not count:
            return ()
        if layout.sheet is None:
            raise wording.hidden_cells(source, sheet, letters, count)
        return (note("hidden_cells_read", *letters, sheet=sheet, rows=count),)


def _tags(sheet: Any) -> Iterator[tuple[bytes, dict[bytes, bytes]]]:
    """The rows and columns in the XML of a sheet, if anything in it may be hidden."""
    with sheet._get_source() as xml:
        if not any(_MAY_HIDE.search(text) for text in _overlapping(xml)):
            return
    with sheet._get_source() as xml:
        left = b""
        while block := xml.read(_BLOCK):
            text = left + block
            end = text.rfind(b"<")
            left = text[end:] if end >= 0 else text
            for kind, attributes in _TAG.findall(text[:end] if end >= 0 else b""):
                yield kind, dict(_ATTRIBUTE.findall(attributes))


def _overlapping(xml: BinaryIO) -> Iterator[bytes]:
    """The text in blocks, each with the end of the one before."""
    last = b""
    while block := xml.read(_BLOCK):
        yield last + block
        last = block[-16:]


def _is_zero(number: bytes | None) -> bool:
    return number is not None and float(number) == 0.0


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _rows(sheet: Any) -> list[tuple[Any, ...]]:
    """Rows up to the last that is not empty, without empty cells at their ends."""
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


def _typed_column(name: str, values: Sequence[Any]) -> tuple[pa.Field[Any], pa.Array[Any]]:
    kinds = {type(value) for value in values} - {type(None)}
    if len(kinds) <= 1 or kinds == {int, float}:
        try:
            array = pa.array(values, pa.float64() if kinds == {int, float} else None)
            return pa.field(name, array.type), array
        except (pa.ArrowException, OverflowError):  # integers beyond 64 bits
            array = pa.array([None if value is None else float(value) for value in values])
            return pa.field(name, array.type), array
    numbers = sum(type(value) in (int, float) for value in values)
    array = pa.array([None if value is None else str(value) for value in values])
    return pa.field(name, array.type, metadata={NUMBERS_AMONG_TEXT: str(numbers).encode()}), array
