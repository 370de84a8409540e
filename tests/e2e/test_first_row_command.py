"""A file without a header on every command: refused without a word of its first record, or read."""

from __future__ import annotations

import json
from pathlib import Path

import openpyxl
import pytest

from microagg.plan.plan_file import read_plan
from tests.bad_files import write_excel
from tests.e2e.protecting import protected, refused, rows_of

RECORDS = [["Ann Smith", "North", 34, 2100], ["Bob Jones", "South", 47, 3900]] + [
    [f"Eve Hill {at}", "NS"[at % 2] + "orth", 30 + at, 2000 + 17 * at] for at in range(20)
]
CSV = "\n".join(",".join(map(str, row)) for row in RECORDS) + "\n"
ROLES = ("--keys", "column3,column4", "--drop", "column1", "--pass", "column2")


def source(folder: Path, ending: str) -> Path:
    path = folder / f"data{ending}"
    if ending == ".csv":
        path.write_text(CSV)
    else:
        write_excel(path, RECORDS)
    return path


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("protect", ("-k", 3, "--keys", "age")),
        ("protect", ("-k", 3, *ROLES)),
        ("plan", ()),
        ("plan", ("-o", "-", "--json")),
        ("compare", ("--keys", "age")),
        ("assess", ("--keys", "age")),
        ("partition", ("-k", 3)),
        ("partition", ("-k", 3, "--columns", "age,income")),
        ("bound", ("-k", 3)),
    ],
)
def test_no_command_shows_the_first_record(
    tmp_path: Path, ending: str, command: str, options: tuple[object, ...]
) -> None:
    path = source(tmp_path, ending)
    files = (path, path) if command == "assess" else (path,)
    message = refused(2, tmp_path, *files, *options, command=command)
    assert "looks like a record instead of column names" in message
    assert "--header no" in message
    for value in ("Ann", "Smith", "North", "34", "2100"):
        assert value not in message.replace(str(path), "")


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_header_no_on_every_command(tmp_path: Path, ending: str) -> None:
    path = source(tmp_path, ending)
    no = ("--header", "no")
    plan = tmp_path / "plan.toml"
    shown = protected(path, *no, "-o", plan, command="plan")
    assert "column3" in shown
    assert "Smith" not in shown + plan.read_text()
    assert read_plan(plan)["header"] == "no"
    output = tmp_path / f"out{ending}"
    protected(path, "-k", 3, *ROLES, *no, "--keep-order", "-o", output)
    protected("--plan", plan, "-o", tmp_path / f"planned{ending}")
    if ending == ".csv":
        assert list(rows_of(output)[0]) == ["column2", "column3", "column4"]
        assert len(rows_of(output)) == len(RECORDS)
    keys = ("--keys", "column3,column4")
    protected(path, output, *keys, *no, "-k", 3, "--measures", "k_anonymity", command="assess")
    protected(path, output, *keys, *no, "--header", "yes", "--measures", "il", command="assess")
    protected(path, *keys, *no, "-k", 3, "--methods", "mdav", command="compare")
    columns = ("--columns", "column3,column4")
    shown = protected(path, "-k", 3, *columns, *no, "--json", command="partition")
    assert json.loads(shown)["records"] == len(RECORDS)
    proof = tmp_path / "proof.json"
    protected(path, "-k", 3, *columns, *no, "--certificate", proof, command="bound")
    assert "holds" in protected(proof, path, *columns, *no, command="verify-certificate")


def test_header_is_refused_where_it_has_no_effect(tmp_path: Path) -> None:
    from tests.bad_files import write_good

    path = write_good(tmp_path / "data.parquet")
    for option in (("--header", "no"), ("--sheet", "a"), ("--header-row", "2")):
        message = refused(2, tmp_path, path, "-k", 3, "--keys", "age", *option)
        assert "would have no effect" in message
    message = refused(2, tmp_path, path, path, "--keys", "age", "--header", "no", command="assess")
    assert "neither of the two files is a CSV or Excel file" in message


def test_sheet_and_header_row_on_the_command_line(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["Notes"])
    data = book.create_sheet("Data")
    for row in (["Table 1"], [], ["age", "income"], *([30 + at, 2000 + 7 * at] for at in range(12))):
        data.append(row)
    data.row_dimensions[7].hidden = True
    path = tmp_path / "book.xlsx"
    book.save(path)
    words = ("-k", 3, "--keys", "age,income")
    assert "--sheet" in refused(2, tmp_path, path, *words)
    assert "--header-row" in refused(2, tmp_path, path, *words, "--sheet", "Data")
    where = ("--sheet", "Data", "--header-row", 3)
    shown = protected(path, *words, *where)
    assert "Sheet 'Data' has 1 hidden row, which is read like the others." in shown
    release = tmp_path / "book-protected.xlsx"
    again = ("--sheet", "Data", "--header-row", 3, "--header-row", 1)
    shown = protected(path, release, *words, *again, "--measures", "k_anonymity", command="assess")
    for command in ("partition", "bound"):
        found = protected(path, "-k", 3, *where, "--json", command=command)
        assert json.loads(found)["columns"] == ["age", "income"]
    plan = tmp_path / "plan.toml"
    protected(path, *where, "-o", plan, command="plan")
    assert (read_plan(plan)["sheet"], read_plan(plan)["header_row"]) == ("Data", 3)
    protected("--plan", plan, "-o", tmp_path / "again.xlsx")
