"""Arrow table -> Excel, by openpyxl."""

from __future__ import annotations

import io
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from pyarrow import compute

from microagg import wording
from microagg.arrow_values import scalar, to_numpy
from microagg.write.columns import to_basic_type

MOST_ROWS = 1_048_576  # the header is one
MOST_COLUMNS = 16_384
_MOST_LETTERS_OF_CELL = 32_767
_ROWS_AT_ONCE = 1 << 14


def write_excel(
    table: pa.Table, file: BinaryIO, path: str, sheet_file: Path, title: str | None = None
) -> None:
    """Write one sheet, whose first row names the columns. Text is never a formula.

    `sheet_file` holds the sheet until it is packed: openpyxl's own temporary file would have a name, and
    stay in the temporary folder if the process is killed. `title`: of the sheet, if the source's was
    chosen by its name. `DataError` for more than a sheet can hold.
    """
    try:
        import openpyxl
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.utils.exceptions import IllegalCharacterError
        from openpyxl.worksheet._writer import WorksheetWriter
    except ImportError:
        raise wording.needs_extra("Writing Excel files", "openpyxl", "formats") from None

    table = _to_cell_types(table)
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet(title)
    writer = WorksheetWriter(sheet, str(sheet_file))
    writer.cleanup = lambda: None  # it would remove the file, which is ours
    writer.write_top()
    sheet._writer = writer

    def to_cell(value: Any) -> Any:
        text_and_type = _text_and_type(value)
        if text_and_type is None:
            return value
        cell = WriteOnlyCell(sheet, text_and_type[0])
        cell.data_type = text_and_type[1]
        return cell

    try:
        sheet.append([to_cell(name) for name in table.column_names])
        for batch in table.to_batches(_ROWS_AT_ONCE):
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                sheet.append([to_cell(value) for value in row])
        content = io.BytesIO()
        book.save(content)
    except IllegalCharacterError:  # its message quotes the value
        raise wording.refused_by_writer(path, "Excel") from None
    finally:
        # openpyxl leaves unfinished files to the garbage collector, which would print warnings.
        for unfinished in (sheet._rows, writer.xf):
            with suppress(Exception):
                unfinished.close()
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
    if table.num_columns > MOST_COLUMNS:
        raise wording.too_many_for("Excel", "columns", table.num_columns, MOST_COLUMNS)
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
    return table
