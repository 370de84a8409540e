"""Excel workbooks, by zip and XML."""

from __future__ import annotations

import zipfile
from collections import defaultdict
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.types as kinds

from microagg.model import Microdata
from microagg.verify.second_reading.csv_cells import names_of
from microagg.verify.second_reading.differences import Differences
from microagg.verify.values import is_text, plain
from microagg.verify.workbook import Cell, Sheet, Workbook

_Column = Mapping[int, Cell]
"""By row."""

_LEAST = timedelta(milliseconds=1)
"""A cell holds a date as a number of days, whose fraction is a time but for so much."""


def compare_excel(file: BinaryIO, source: Microdata) -> Differences:
    try:
        return _compared(Workbook(file), source)
    except (ValueError, LookupError, zipfile.BadZipFile):
        return Differences(rows=(source.table.num_rows, 0))


def _compared(book: Workbook, source: Microdata) -> Differences:
    table, layout = source.table, source.origin.layout
    above = (layout.header_row or 1) - 1
    columns = _filled_columns(book, _sheet_to_read(book, layout.sheet), above)
    first = names_of([_as_name(columns[at].get(above)) for at in sorted(columns)])
    start = above + 1
    if first != table.column_names:
        if layout.header != "no" or table.column_names != [f"column{at + 1}" for at in range(len(first))]:
            return Differences(names=True)
        start = above
    records = max((max(cells, default=0) for cells in columns.values()), default=0) + 1 - start
    if records != table.num_rows:
        return Differences(rows=(table.num_rows, records))
    found = Differences()
    for name, at in zip(table.column_names, sorted(columns), strict=True):
        array = plain(table.column(name))
        cells = [columns[at].get(row) for row in range(start, start + records)]
        same = _Sameness(array.type, book.counts_from_1904)
        found.cells[name] = sum(not same(*pair) for pair in zip(_values(array), cells, strict=True))
    return found


def _sheet_to_read(book: Workbook, title: str | None) -> Sheet:
    """`LookupError` unless there is one sheet to read."""
    if title is not None:
        return next(each for each in book.sheets() if each.title == title)
    filled = [each for each in book.sheets() if next(book.cells(each), None) is not None]
    if len(filled) != 1:
        raise LookupError
    return filled[0]


def _filled_columns(book: Workbook, sheet: Sheet, above: int) -> dict[int, dict[int, Cell]]:
    columns: dict[int, dict[int, Cell]] = defaultdict(dict)
    for cell in book.cells(sheet):
        if cell.row >= above:
            columns[cell.column][cell.row] = cell
    return columns


def _as_name(cell: Cell | None) -> str:
    return "" if cell is None else (_number_as_text(cell) or cell.text).strip()


def _values(array: Any) -> list[Any]:
    """Dates and times as microseconds: Python has fewer dates than Arrow."""
    if kinds.is_temporal(array.type):
        array = array.cast(_microseconds(array.type)).cast(pa.int64())
    values: list[Any] = array.to_pylist()
    return values


def _microseconds(kind: Any) -> Any:
    if kinds.is_time(kind):
        return pa.time64("us")
    return pa.duration("us") if kinds.is_duration(kind) else pa.timestamp("us")


def _number_as_text(cell: Cell) -> str | None:
    """As Python shows the number, where a column holds others than numbers too."""
    if cell.kind == "truth":
        return str(cell.text not in ("0", "false"))
    if cell.kind != "number":
        return None
    return str(float(cell.text)) if set(cell.text) & set(".eE") else str(int(cell.text))


class _Sameness:
    """Whether a value of a column is what a cell holds."""

    def __init__(self, kind: Any, counts_from_1904: bool) -> None:
        self.kind = kind
        self.origin = datetime(1904, 1, 1) if counts_from_1904 else datetime(1899, 12, 30)

    def __call__(self, value: Any, cell: Cell | None) -> bool:
        if value is None or cell is None:
            return value is None and cell is None
        if is_text(self.kind):
            return self._same_text(value, cell)
        if kinds.is_boolean(self.kind):
            return cell.kind == "truth" and value == (cell.text not in ("0", "false"))
        if kinds.is_temporal(self.kind):
            return self._same_moment(value, cell)
        if cell.kind != "number":
            return False
        is_whole = cell.text.lstrip("-").isdigit()  # perhaps too large for a double
        return bool(value == (int(cell.text) if is_whole else float(cell.text)))

    def _same_text(self, value: str, cell: Cell) -> bool:
        if cell.kind == "text":
            return value == cell.text
        if cell.kind == "moment":
            return value == str(datetime.fromisoformat(cell.text))
        return value == _number_as_text(cell) or self._shows_moment(value, cell)

    def _shows_moment(self, value: str, cell: Cell) -> bool:
        """Whether text shows the date or time that a number stands for, among other values."""
        for read in (datetime.fromisoformat, time.fromisoformat):
            try:
                found = read(value)
            except ValueError:
                continue
            moment = self._moment(float(cell.text))
            shown = found if isinstance(found, datetime) else datetime.combine(self.origin.date(), found)
            return abs(shown - moment) <= _LEAST
        return False

    def _moment(self, days: float) -> datetime:
        # Excel takes 1900 for a leap year, so that its first 59 days are one too early.
        early = self.origin.year == 1899 and 1.0 <= days < 60.0
        return self.origin + timedelta(days=days + early)

    def _same_moment(self, value: int, cell: Cell) -> bool:
        if cell.kind == "moment":
            found = datetime.fromisoformat(cell.text)
            return timedelta(microseconds=value) == found - datetime(1970, 1, 1)
        if cell.kind != "number":
            return False
        days = float(cell.text)
        since = timedelta(days=days)
        if kinds.is_timestamp(self.kind) or kinds.is_date(self.kind):
            since = self._moment(days) - datetime.combine(date(1970, 1, 1), time())
        return abs(timedelta(microseconds=value) - since) <= _LEAST
