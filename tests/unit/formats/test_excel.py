"""Workbooks: what is hidden is named and refused unless chosen, and so is one of several sheets."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import microagg
from microagg import DataError, read
from microagg.model import Layout
from microagg.plan.plan_file import read_plan

ROWS = [
    ["age", "income", "name"],
    *([20 + at, 1000 + 7 * at, "Ann" if at % 2 else "Bob"] for at in range(12)),
]


def book_with(path: Path, change: Callable[[Any], object], rows: list[list[Any]] = ROWS) -> Path:
    """A workbook whose first sheet, Data, holds the rows; changed as is said."""
    book = openpyxl.Workbook()
    book.active.title = "Data"
    for row in rows:
        book.active.append(row)
    change(book)
    book.save(path)
    return path


def nothing(_book: Any) -> None:
    pass


def other_sheet(
    state: str = "visible", at: int | None = None, filled: bool = True
) -> Callable[[Any], None]:
    def change(book: Any) -> None:
        sheet = book.create_sheet("Notes", at)
        sheet.sheet_state = state
        if filled:
            sheet.append(["some"])
            sheet.append(["words"])

    return change


def refusal(path: Path) -> str:
    said = set()
    for readable in (read.microdata_from_file, read.table_from_file):
        with pytest.raises(DataError) as told:
            readable(path)
        said.add(str(told.value))
    [message] = said
    assert "Ann" not in message
    return message


def test_one_of_several_sheets_must_be_chosen(tmp_path: Path) -> None:
    path = book_with(tmp_path / "book.xlsx", other_sheet(at=0))
    message = refusal(path)
    assert "several sheets that are not empty: 'Notes', 'Data'. Choose one by the option sheet" in message
    assert "by the option sheet" in message
    assert read.microdata_from_file(path, layout=Layout(sheet="Data")).table.num_rows == 12
    assert read.microdata_from_file(path, layout=Layout(sheet="Notes")).table.column_names == ["some"]
    with pytest.raises(
        DataError, match=r"no sheet 'data' \(did you mean Data\?\)\. The sheets are: 'Notes', 'Data'"
    ):
        read.microdata_from_file(path, layout=Layout(sheet="data"))


def test_empty_sheets_do_not_count(tmp_path: Path) -> None:
    for state in ("visible", "hidden"):
        path = book_with(tmp_path / "book.xlsx", other_sheet(state, 0, filled=False))
        assert read.microdata_from_file(path).table.num_rows == 12


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
@pytest.mark.parametrize("at", [0, 1])
def test_a_hidden_sheet_is_named_and_refused(tmp_path: Path, state: str, at: int) -> None:
    def change(book: Any) -> None:
        other_sheet(state, at)(book)
        book.active = 1 - at

    path = book_with(tmp_path / "book.xlsx", change)
    assert "a hidden sheet, 'Notes' beside 'Data'. Choose the sheet that you want with sheet" in refusal(
        path
    )
    chosen = read.microdata_from_file(path, layout=Layout(sheet="Data"))
    assert chosen.table.num_rows == 12
    assert chosen.origin.notes == ()


def hide_columns(book: Any) -> None:
    for letter in "BC":
        book.active.column_dimensions[letter].hidden = True


def hide_rows(book: Any) -> None:
    for row in (3, 4, 9):
        book.active.row_dimensions[row].hidden = True


def filter_rows(book: Any) -> None:
    """As a spreadsheet program writes it: rows that do not match are hidden."""
    book.active.auto_filter.ref = "A1:C13"
    book.active.auto_filter.add_filter_column(2, ["Bob"])
    for row in range(3, 14, 2):
        book.active.row_dimensions[row].hidden = True


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (hide_columns, "the hidden columns B, C"),
        (hide_rows, "3 hidden rows"),
        (filter_rows, "6 hidden rows"),
        (lambda book: (hide_columns(book), hide_rows(book)), "the hidden columns B, C and 3 hidden rows"),
    ],
    ids=["columns", "rows", "filtered rows", "both"],
)
def test_hidden_cells_are_named_and_refused(
    tmp_path: Path, change: Callable[[Any], object], what: str
) -> None:
    path = book_with(tmp_path / "book.xlsx", change)
    assert f"Sheet 'Data' of {path} has {what}, which would be released" in refusal(path)
    chosen = read.microdata_from_file(path, layout=Layout(sheet="Data"))
    assert chosen.table.num_rows == 12
    assert chosen.table.column_names == ["age", "income", "name"]
    [note] = chosen.origin.notes
    assert str(note).startswith(f"Sheet 'Data' has {what}, which ")


def test_hidden_cells_in_another_spelling_of_xml(tmp_path: Path) -> None:
    """Other programs write single quotes, 'true', rows without numbers, and columns of no width."""
    path = book_with(tmp_path / "book.xlsx", nothing)
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    sheet = next(name for name in parts if "sheets/sheet" in name)
    parts[sheet] = parts[sheet].replace(b'<row r="2"', b"<row hidden = 'true' ", 1)
    columns = b'<cols><col min="1" max="1" width="0.0" customWidth="1"/></cols><sheetData>'
    parts[sheet] = parts[sheet].replace(b"<sheetData>", columns, 1)
    with zipfile.ZipFile(path, "w") as new:
        for name, content in parts.items():
            new.writestr(name, content)
    assert "the hidden column A and 1 hidden row," in refusal(path)


def test_what_is_hidden_but_empty_does_not_count(tmp_path: Path) -> None:
    def change(book: Any) -> None:
        book.active.row_dimensions[200].hidden = True
        book.active.column_dimensions["Z"].hidden = True

    path = book_with(tmp_path / "book.xlsx", change)
    assert read.microdata_from_file(path).table.num_rows == 12


def test_titles_above_a_sheet(tmp_path: Path) -> None:
    path = book_with(tmp_path / "book.xlsx", nothing, [["Table 1: Women"], [], *ROWS])
    message = refusal(path)
    assert "Column 2 of the file has no name. If there are titles above the names" in message
    assert "header_row" in message
    assert "--columns" not in message
    assert "pandas" not in message
    found = read.microdata_from_file(path, layout=Layout(header_row=3))
    assert found.table.column_names == ["age", "income", "name"]
    assert found.table.num_rows == 12
    with pytest.raises(DataError, match="nothing in row 99"):
        read.microdata_from_file(path, layout=Layout(header_row=99))


def test_a_hidden_title_is_not_read(tmp_path: Path) -> None:
    def change(book: Any) -> None:
        book.active.row_dimensions[1].hidden = True

    path = book_with(tmp_path / "book.xlsx", change, [["Table 1"], *ROWS])
    assert read.microdata_from_file(path, layout=Layout(header_row=2)).origin.notes == ()


def test_a_chosen_sheet_from_end_to_end(tmp_path: Path) -> None:
    """The note about what is hidden is told with the release; its sheet has the same name."""

    def change(book: Any) -> None:
        other_sheet("hidden")(book)
        hide_rows(book)

    path = book_with(tmp_path / "book.xlsx", change, [["Title"], *ROWS])
    said: dict[str, Any] = {"keys": ["age", "income"], "pass_": ["name"], "sheet": "Data", "header_row": 2}
    release = microagg.protect(path, 3, keep_order=True, **said)
    assert "Sheet 'Data' has 3 hidden rows, which are read like the others" in str(release)
    output = tmp_path / "out.xlsx"
    release.save(output)
    assert openpyxl.load_workbook(output).sheetnames == ["Data"]
    plan = read_plan(tmp_path / "microagg-internal" / "out.xlsx.plan.toml")
    assert (plan["sheet"], plan["header_row"]) == ("Data", 2)
    rows = (2, 1)
    judged = microagg.assess(
        path, output, keys=["age", "income"], k=3, sheet="Data", header_row=rows, measures="k_anonymity"
    )
    assert judged.failures == ()
