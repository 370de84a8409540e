"""Excel workbooks: one visible sheet of cells, whose types and styles follow from the values."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.types as kinds

from microagg.verdict import Finding, refuse
from microagg.verify.values import as_doubles, is_numeric, is_text, missing, plain
from microagg.verify.workbook import MAIN, SHARED_TEXTS, WORKBOOK, Cell, CellKind, Workbook

if TYPE_CHECKING:
    from microagg.verify.files import WrittenFile

_SHEET = "xl/worksheets/sheet1.xml"
_STYLES = "xl/styles.xml"
_TIMES = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")

_ATTRIBUTES = {
    "worksheet": set(),
    "sheetPr": set(),
    "outlinePr": {"summaryBelow", "summaryRight"},
    "pageSetUpPr": set(),
    "dimension": {"ref"},
    "sheetViews": set(),
    "sheetView": {"workbookViewId"},
    "selection": {"activeCell", "sqref"},
    "sheetFormatPr": {"baseColWidth", "defaultRowHeight"},
    "sheetData": set(),
    "row": {"r", "spans"},
    "c": {"r", "s", "t"},
    "v": set(),
    "is": set(),
    "t": {"{http://www.w3.org/XML/1998/namespace}space"},
    "pageMargins": {"left", "right", "top", "bottom", "header", "footer"},
}
"""Of a sheet: the elements that it may have, and their attributes."""


def excel_findings(file: WrittenFile) -> list[Finding]:
    try:
        with file.path.open("rb") as opened:
            book = Workbook(opened)
            return [*_unexpected_parts(book, file), *_sheet(book), *_cells(book, file)]
    except (ValueError, LookupError, zipfile.BadZipFile, OSError):
        return [refuse("written_unreadable")]


def _unexpected_parts(book: Workbook, file: WrittenFile) -> list[Finding]:
    """All but cells and styles is what an empty workbook with a sheet of that name has."""
    sheets = book.sheets()
    title = file.origin.layout.sheet
    if len(sheets) != 1 or sheets[0].state != "visible" or sheets[0].part != _SHEET:
        return [refuse("written_parts")]
    if sheets[0].title != (title or sheets[0].title):
        return [refuse("written_parts")]
    expected = zipfile.ZipFile(_empty_workbook(title))
    archive = book.archive
    entries = archive.infolist()
    names = [each.filename for each in entries]
    own = {_SHEET, _STYLES, SHARED_TEXTS}
    same = {*expected.namelist()} - own
    if (
        archive.comment
        or any(each.comment or each.extra for each in entries)
        or len(set(names)) != len(names)
        or not same <= set(names) <= same | own
        or _beyond_entries(archive, entries)
    ):
        return [refuse("written_metadata")]
    for name in same:
        if _TIMES.sub(b"", archive.read(name)) != _TIMES.sub(b"", expected.read(name)):
            return [refuse("written_metadata")]
    return _styles(book, expected)


def _beyond_entries(archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo]) -> bool:
    """Whether there are bytes between the parts of the archive, or before the first one."""
    end = 0
    for each in sorted(entries, key=lambda entry: entry.header_offset):
        if each.header_offset != end:
            return True
        header = 30 + len(each.filename.encode()) + len(each.extra)
        described = 0 if not each.flag_bits & 8 else 16
        end = each.header_offset + header + each.compress_size + described
    return end != archive.start_dir


def _empty_workbook(title: str | None) -> io.BytesIO:
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    book.create_sheet(title)
    made = io.BytesIO()
    book.save(made)
    return made


def _styles(book: Workbook, expected: zipfile.ZipFile) -> list[Finding]:
    """Styles differ from those of an empty workbook only in the formats of dates."""
    from xml.etree import ElementTree

    found = book.xml(_STYLES)
    plain_ones = ElementTree.fromstring(expected.read(_STYLES))
    for own in found.iter(f"{MAIN}cellXfs"):
        for each in own:
            plain_look = all(
                each.get(name, "0") == "0" for name in ("fontId", "fillId", "borderId", "xfId")
            )
            if not plain_look or not set(each.keys()) <= _FORMAT_ATTRIBUTES or not _is_bare(each):
                return [refuse("written_look")]
    for own in found.iter(f"{MAIN}numFmt"):
        if not re.fullmatch(r"[-yYmMdDhHsS:.\[\] ]*", own.get("formatCode", "")):
            return [refuse("written_look")]
    for tree in (found, plain_ones):
        for tag in ("numFmts", "cellXfs"):
            for part in tree.findall(f"{MAIN}{tag}"):
                tree.remove(part)
    same = ElementTree.tostring(found) == ElementTree.tostring(plain_ones)
    return [] if same else [refuse("written_look")]


_FORMAT_ATTRIBUTES = {
    "numFmtId",
    "fontId",
    "fillId",
    "borderId",
    "xfId",
    "applyNumberFormat",
    "applyAlignment",
    "pivotButton",
    "quotePrefix",
}
"""Of a style of cells."""


def _is_bare(style: Any) -> bool:
    """Whether a style says nothing on alignment and protection."""
    return all(not child.attrib and not len(child) for child in style)


def _sheet(book: Workbook) -> list[Finding]:
    """No element or attribute that a sheet of plain cells does not need: nothing is hidden or marked."""
    content = book.archive.read(_SHEET)
    if b"<!" in content or content.count(b"<?") > content.startswith(b"<?xml"):
        return [refuse("written_metadata")]
    for element in book.elements(_SHEET):
        tag = element.tag.removeprefix(MAIN)
        if tag not in _ATTRIBUTES or not set(element.keys()) <= _ATTRIBUTES[tag]:
            return [refuse("written_look", tag) if tag in _ATTRIBUTES else refuse("written_metadata")]
        if tag == "row":
            element.clear()
        elif tag not in ("t", "v") and (element.text or "").strip():
            return [refuse("written_metadata")]
        if (element.tail or "").strip():
            return [refuse("written_metadata")]
    return []


def _cells(book: Workbook, file: WrittenFile) -> list[Finding]:
    """Every cell has the value, the type and the style that its column has in the verified table."""
    table = file.released
    if _SHEET not in book.archive.namelist() or WORKBOOK not in book.archive.namelist():
        return [refuse("written_unreadable")]
    by_place: dict[int, dict[int, Cell]] = {at: {} for at in range(table.num_columns)}
    sheets = book.sheets()
    for cell in book.cells(sheets[0]):
        if cell.column not in by_place or cell.row > table.num_rows or cell.row in by_place[cell.column]:
            return [refuse("written_metadata")]
        by_place[cell.column][cell.row] = cell
    found = []
    for at, name in enumerate(table.column_names):
        cells = by_place[at]
        header = cells.pop(0, None)
        if header is None or header.kind != "text" or header.text != name or header.style:
            found.append(refuse("written_type", name))
        found += _column_findings(name, plain(table.column(name)), cells)
    return found


def _column_findings(name: str, array: Any, cells: dict[int, Cell]) -> list[Finding]:
    values, kind = _values_and_kind(array)
    if any(cell.kind != kind for cell in cells.values()):
        return [refuse("written_type", name)]
    if len({cell.style for cell in cells.values()}) > 1:
        return [refuse("written_look", name)]
    for row, value in enumerate(values, 1):
        cell = cells.get(row)
        if (cell is None or cell.text == "") != (value is None or value == ""):
            return [refuse("written_gaps", name)]
        if cell is not None and cell.text and not _holds(cell, value):
            return [refuse("written_type", name)]
    return []


def _values_and_kind(array: Any) -> tuple[list[Any], CellKind]:
    if kinds.is_temporal(array.type):
        gone = missing(array)
        days = [None if none else _days(value) for value, none in zip(array.to_pylist(), gone, strict=True)]
        return days, "number"
    if kinds.is_boolean(array.type):
        return array.to_pylist(), "truth"
    if is_numeric(array.type):
        if kinds.is_decimal(array.type) or kinds.is_uint64(array.type):
            array = as_doubles(array)
        found = array.to_pylist()
        return [None if value != value else value for value in found], "number"
    if is_text(array.type) or kinds.is_null(array.type):
        return array.to_pylist(), "text"
    return array.cast(pa.large_string()).to_pylist(), "text"


def _days(value: Any) -> timedelta:
    """Since the day from which Excel counts."""
    if hasattr(value, "hour") and not hasattr(value, "year"):
        return timedelta(
            hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond
        )
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    return moment.replace(tzinfo=None) - datetime(1899, 12, 30)


def _holds(cell: Cell, value: Any) -> bool:
    if isinstance(value, bool):
        return cell.text == str(int(value))
    if isinstance(value, timedelta):
        early = timedelta(days=1) if float(cell.text) < 60 else timedelta()
        off = abs(timedelta(days=float(cell.text)) - value)
        return min(off, abs(off - early)) <= timedelta(milliseconds=1)
    if isinstance(value, int):
        return cell.text == str(value) or float(cell.text) == value
    if isinstance(value, float):
        return float(cell.text) == value
    return bool(cell.text == value)
