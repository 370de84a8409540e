"""Excel workbooks by zip and XML alone: what their parts hold, cell by cell."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal, NamedTuple
from xml.etree import ElementTree

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
WORKBOOK = "xl/workbook.xml"
RELATIONS = "xl/_rels/workbook.xml.rels"
SHARED_TEXTS = "xl/sharedStrings.xml"

CellKind = Literal["number", "text", "truth", "moment"]
_KINDS: dict[str, CellKind] = {"b": "truth", "d": "moment", "n": "number"}
_PLACE = re.compile(r"([A-Z]+)(\d+)")


class Cell(NamedTuple):
    """A cell that is not empty; row and column count from 0."""

    row: int
    column: int
    kind: CellKind
    text: str
    """As it stands in the file; texts of cells that share one are looked up."""
    style: int


@dataclass(frozen=True, slots=True)
class Sheet:
    title: str
    state: str
    part: str
    """Its place in the archive."""


class Workbook:
    """`ValueError`, `KeyError` or `zipfile.BadZipFile` for what is no workbook."""

    def __init__(self, file: BinaryIO) -> None:
        self.archive = zipfile.ZipFile(file)
        self.root = self.xml(WORKBOOK)
        properties = self.root.find(f"{MAIN}workbookPr")
        given = None if properties is None else properties.get("date1904")
        self.counts_from_1904 = given in ("1", "true")
        shared = self.xml(SHARED_TEXTS).iter(f"{MAIN}si") if SHARED_TEXTS in self.archive.namelist() else ()
        self._shared = [_joined_text(each) for each in shared]

    def xml(self, part: str) -> Any:
        try:
            return ElementTree.fromstring(self.archive.read(part))
        except ElementTree.ParseError:  # its message may quote values
            raise ValueError(part) from None

    def sheets(self) -> list[Sheet]:
        targets = {each.get("Id"): each.get("Target") for each in self.xml(RELATIONS)}
        return [
            Sheet(
                each.get("name"), each.get("state", "visible"), self._absolute(targets[each.get(RELATION)])
            )
            for each in self.root.iter(f"{MAIN}sheet")
        ]

    def cells(self, sheet: Sheet) -> Iterator[Cell]:
        """In the order of the file."""
        row = -1
        for element in self.elements(sheet.part):
            if element.tag == f"{MAIN}row":
                row = int(element.get("r", row + 2)) - 1
                yield from self._cells_of_row(element, row)
                element.clear()

    def elements(self, part: str) -> Iterator[Any]:
        """Every element of a part when it is complete."""
        with self.archive.open(part) as file:
            try:
                for _, element in ElementTree.iterparse(file):
                    yield element
            except ElementTree.ParseError:
                raise ValueError(part) from None

    def _cells_of_row(self, row: Any, at: int) -> Iterator[Cell]:
        column = -1
        for cell in row.iter(f"{MAIN}c"):
            place = _PLACE.fullmatch(cell.get("r", ""))
            column = column + 1 if place is None else column_number(place[1])
            kind = cell.get("t", "n")
            text = self._text(cell, kind)
            if text is not None:
                yield Cell(at, column, _KINDS.get(kind, "text"), text, int(cell.get("s", 0)))

    def _text(self, cell: Any, kind: str) -> str | None:
        if kind == "inlineStr":
            inside = cell.find(f"{MAIN}is")
            return None if inside is None else _joined_text(inside)
        value = cell.findtext(f"{MAIN}v") or None
        return value if value is None or kind != "s" else self._shared[int(value)]

    def _absolute(self, target: str) -> str:
        return target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"xl/{target}")


def column_number(letters: str) -> int:
    """A is 0."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _joined_text(element: Any) -> str:
    """A text with the parts that have a format of their own, without hints on how it is spoken."""
    texts = [each.text or "" for each in element.findall(f"{MAIN}t")]
    texts += [each.text or "" for each in element.findall(f"{MAIN}r/{MAIN}t")]
    return "".join(texts).replace("_x005F_", "_")
