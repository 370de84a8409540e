"""The page of data: files whose names or sheets are in doubt, and the box that describes the file."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from microagg.plan.plan_file import parsed_plan
from microagg.web.jobs import Limits, Queue
from microagg.web.project import ChosenFile, Project
from microagg.web.routes import ACTIONS, _toml
from microagg.web.step_pages import page
from tests.web.serving import eventually

RECORDS = [["F", "North", 93, 9120, "HIV"]] + [
    ["FM"[at % 2], ("North", "South")[at % 3 > 1], 30 + at % 19, 2000 + at % 23, ("HIV", "none")[at % 2]]
    for at in range(30)
]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    queue = Queue(Limits(2**32, 5.0))
    yield Project(tmp_path, queue)
    queue.close()


def opened(project: Project, name: str, write: Callable[[Path], object]) -> str:
    """The page once the file was looked at."""
    place = project.new_place()
    write(place / name)
    project.open(ChosenFile(name, name, place))
    return looked_at(project)


def looked_at(project: Project) -> str:
    eventually(lambda: project.jobs["look"].over.is_set())
    return html.unescape(page(project, "data"))


def read_again(project: Project, **fields: Any) -> str:
    ACTIONS["reread"][1](project, fields)
    return looked_at(project)


def write_csv(path: Path) -> None:
    path.write_text("\n".join(",".join(map(str, row)) for row in RECORDS) + "\n")


def write_book(path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    book.active.append(["Made by hand"])
    sheet = book.create_sheet("Data")
    for row in (["Table 1"], ["sex", "region", "age", "income", "illness"], *RECORDS):
        sheet.append(row)
    sheet.column_dimensions["E"].hidden = True
    book.save(path)


def test_a_file_without_header_leads_to_the_box(project: Project) -> None:
    shown = opened(project, "data.csv", write_csv)
    assert "looks like a record instead of column names" in shown
    assert "“First row: a record: there are no names”" in shown
    assert "“First row: names of the columns”" in shown
    assert "in Python" not in shown
    assert "--header" not in shown
    assert "9120" not in shown
    assert 'class="folded" open><summary>Names or values look wrong?' in shown
    assert '<input type="hidden" name="header" value="no">' in shown  # a button that settles it
    for control in ("delimiter", "encoding", "decimal", "header", "header_row"):
        assert f'id="{control}"' in shown
    shown = read_again(project, header="no")
    assert "column5" in shown
    assert project.found is not None
    assert project.found["records"] == 31


def test_what_describes_the_file_is_in_the_plan(project: Project) -> None:
    opened(project, "data.csv", write_csv)
    read_again(project, header="no")
    project.run()
    eventually(lambda: project.release)
    assert project.release is not None
    plan = bytes(_toml(project.release.source, project.release.answer["asked"]).body).decode()
    assert parsed_plan(plan, "the plan")["header"] == "no"


def test_a_workbook_of_several_sheets_leads_to_the_box(project: Project) -> None:
    shown = opened(project, "book.xlsx", write_book)
    assert "several sheets that are not empty: 'Notes', 'Data'" in shown
    assert ">Read the sheet Data</button>" in shown
    assert "Choose one by the option “Sheet”" in shown
    for control in ("sheet", "header", "header_row"):
        assert f'id="{control}"' in shown
    assert 'id="delimiter"' not in shown
    shown = read_again(project, sheet="Data", more="1")
    assert "“Row with the names: 2”" in shown
    shown = read_again(project, header_row="2", more="1")
    assert "the hidden column E" in shown
    assert 'value="Data"' in shown
    assert project.found is not None
    assert project.found["columns"][0]["name"] == "sex"
    assert project.source is not None
    assert project.source.csv == {"sheet": "Data", "header_row": 2}
    shown = read_again(project, sheet="Data", header_row="two")
    assert "“Row with the names” is" in shown
