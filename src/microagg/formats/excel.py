"""Excel workbooks, by openpyxl."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import zip_longest
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from pyarrow import compute

from microagg import errors, wording
from microagg.arrow_types import NUMBERS_AMONG_TEXT, to_basic_type
from microagg.arrow_values import scalar, to_numpy
from microagg.formats.first_row import (
    ROWS_COMPARED,
    are_numbered_names,
    numbered_names,
    refuse_record_as_names,
)
from microagg.formats.format import Content, Format, Output, Source
from microagg.model import Layout
from microagg.verdict import Finding, note

OLD_OR_LOCKED = re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
"""Office before 2007; also the container of a workbook with a password."""
MOST_ROWS = 1_048_576  # the header is one
MOST_SHEET_COLUMNS = 16_384
_MOST_LETTERS_OF_CELL = 32_767
_ROWS_AT_ONCE = 1 << 14
_BLOCK = 1 << 20
_MAY_HIDE = re.compile(rb"""hidden|\b(?:ht|width)\s*=\s*["']0""")
# In the XML of a sheet < stands only before tags.
_TAG = re.compile(rb"<(?:\w+:)?(row|col)\b([^>]*)>")
_ATTRIBUTE = re.compile(rb"""\b(r|min|max|hidden|ht|width)\s*=\s*["']([^"']*)["']""")


def read(source: Source) -> Content:
    """Read a sheet, the only one unless one is chosen.

    Its first row, unless another is chosen, names the columns. Formulas count as their saved values.
    Columns of numbers and other values are read as text. `DataError` for hidden sheets, rows and columns,
    unless the sheet was chosen: then it is read with all that it holds.
    """
    try:
        import openpyxl
    except ImportError:
        raise wording.needs_extra("Reading Excel files", "openpyxl", "formats") from None
    name, layout = source.name, source.layout
    _refuse_old_or_locked(source)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and validation, which are not read
            book = openpyxl.load_workbook(source.file, read_only=True, data_only=True, keep_links=False)
            sheet = _chosen_sheet(book.worksheets, name, layout)
            rows = [] if sheet is None else _rows(sheet)
            hidden = _Hidden.of(sheet) if rows else _Hidden()
    except (MemoryError, OSError, errors.DataError):
        raise
    except Exception:  # a broken file may raise anything, with a message that quotes values
        raise wording.unreadable_content(name, "Excel") from None
    if not rows:
        raise wording.empty_sheet(name)
    above = (layout.header_row or 1) - 1
    rows = rows[above:]
    if not rows:
        raise wording.no_such_row(name, above + 1)
    columns = {
        at: column
        for at, column in enumerate(zip_longest(*rows))
        if any(value is not None for value in column)
    }
    notes = hidden.refuse_or_note(list(columns), rows, above, name, sheet.title, layout)
    table = _to_table(list(columns.values()), len(rows), name, layout)
    mixed = [field.name for field in table.schema if NUMBERS_AMONG_TEXT in (field.metadata or {})]
    notes += (note("mixed_cells", *mixed),) if mixed else ()
    return Content(table, notes=notes, header_row=above + 1)


def _refuse_old_or_locked(source: Source) -> None:
    source.file.seek(0)
    content = source.file.read(8)
    if OLD_OR_LOCKED.match(content):
        # The names of the streams inside are in UTF-16.
        locked = "EncryptedPackage".encode("utf-16-le") in source.file.read()
        raise wording.password_protected(source.name) if locked else wording.old_excel(source.name)


def _to_table(columns: Sequence[Sequence[Any]], rows: int, source: str, layout: Layout) -> pa.Table:
    """The cells as a table; `rows` is their number with that of the names, if there is one."""
    first = [_cell_text(column[0]) for column in columns]
    named = layout.header != "no" or are_numbered_names(first)
    if layout.header is None:
        records = (
            [_cell_text(value) for value in row]
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


def _cell_text(value: Any) -> str:
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


def write(table: pa.Table, output: Output) -> None:
    """Write one sheet, whose first row names the columns. Text is never a formula.

    Its title is that of the source's sheet, if that was chosen by its name. `DataError` for more than a
    sheet can hold.
    """
    try:
        import openpyxl
    except ImportError:
        raise wording.needs_extra("Writing Excel files", "openpyxl", "formats") from None

    table = _to_cell_types(table)
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet(output.source.layout.sheet)

    def to_cell(value: Any) -> Any:
        text_and_type = _text_and_type(value)
        if text_and_type is None:
            return value
        cell = openpyxl.cell.WriteOnlyCell(sheet, text_and_type[0])
        cell.data_type = text_and_type[1]
        return cell

    # openpyxl's own temporary file would have a name, and stay if the process is killed.
    with output.scratch() as sheet_file:
        writer = openpyxl.worksheet._writer.WorksheetWriter(sheet, str(sheet_file))
        writer.cleanup = lambda: None  # it would remove the file, which is ours
        writer.write_top()
        sheet._writer = writer
        content = io.BytesIO()
        try:
            sheet.append([to_cell(name) for name in table.column_names])
            for batch in table.to_batches(_ROWS_AT_ONCE):
                for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    sheet.append([to_cell(value) for value in row])
            book.save(content)
        except openpyxl.utils.exceptions.IllegalCharacterError:  # its message quotes the value
            raise wording.refused_by_writer(output.name, "Excel") from None
        finally:
            # openpyxl leaves unfinished files to the garbage collector, which would print warnings.
            for unfinished in (sheet._rows, writer.xf):
                with suppress(Exception):
                    unfinished.close()
    with output.path.open("wb") as file:
        file.write(content.getbuffer())


def _text_and_type(value: Any) -> tuple[str, str] | None:
    """A cell's text and type, where openpyxl would write something else than the value."""
    if isinstance(value, str) and value[:1] in ("=", "#"):  # formulas and error values to openpyxl
        return value, "s"
    if isinstance(value, float) and float(f"{value:.16g}") != value:  # it writes 16 of up to 17 digits
        return repr(value), "n"
    return None


def _to_cell_types(table: pa.Table) -> pa.Table:
    if table.num_rows + 1 > MOST_ROWS:
        raise wording.too_many_for("Excel", "records", table.num_rows, MOST_ROWS - 1)
    if table.num_columns > MOST_SHEET_COLUMNS:
        raise wording.too_many_for("Excel", "columns", table.num_columns, MOST_SHEET_COLUMNS)
    for at, field in enumerate(table.schema):
        column = to_basic_type(table.column(at), field.name, "Excel")
        if pa.types.is_large_string(column.type):
            longest = compute.max(compute.utf8_length(column)).as_py() or 0
            if longest > _MOST_LETTERS_OF_CELL:
                raise wording.text_too_long_for("Excel", field.name, _MOST_LETTERS_OF_CELL)
        elif pa.types.is_floating(column.type):
            # A sheet has neither NaN nor infinity.
            column = compute.if_else(compute.is_nan(column), scalar(None, column.type), column)
            if np.isinf(to_numpy(column)).any():
                raise wording.infinite_values(field.name, int(np.isinf(to_numpy(column)).sum()))
        table = table.set_column(at, field.name, column)
    blank = np.logical_and.reduce([to_numpy(column.is_null()) for column in table.columns])
    if blank.any():
        raise wording.blank_records_in_excel(int(blank.sum()))
    return table


FORMATS = (
    Format(
        "Excel",
        re.compile(rb"PK\x03\x04|PK\x05\x06"),
        read,
        write,
        options=("header", "sheet", "header_row"),
    ),
)
