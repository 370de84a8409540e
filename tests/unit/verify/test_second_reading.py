"""A source that was read wrongly on purpose: a second reading, by other code, must show every fault."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest

from microagg import protect, read
from microagg.engines import local
from microagg.formats.table import FORMATS
from microagg.model import Layout, Microdata
from microagg.verdict import refuse
from microagg.verify import check_source
from tests.refusals import rules, unsafe

N = 40
ENDINGS = (".csv", ".xlsx", ".dta")


def frame() -> Any:
    random = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "size": random.integers(1, 1000, N),
            "share": random.normal(size=N).round(4),
            "gaps": [None if at % 6 == 0 else float(at % 9) for at in range(N)],
            "town": [f"Müller {at % 7}" for at in range(N)],
            "day": [datetime.datetime(2020, 2, at % 28 + 1) for at in range(N)],
        }
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("sources")
    made = frame()
    paths = {ending: folder / f"people{ending}" for ending in ENDINGS}
    made.to_csv(paths[".csv"], index=False)
    made.to_excel(paths[".xlsx"], index=False)
    made.to_stata(paths[".dta"], write_index=False, version=118, convert_dates={"day": "td"})
    return paths


def put(table: pa.Table, name: str, values: Any) -> pa.Table:
    field = table.schema.field(name)
    return table.set_column(table.column_names.index(name), field, pa.array(values, field.type))


def one_percent_off(table: pa.Table) -> pa.Table:
    def off(value: Any) -> Any:
        return str(float(value) * 1.01) if isinstance(value, str) else value * 1.01

    return put(table, "share", [off(value) for value in table.column("share").to_pylist()])


def with_cell(name: str, row: int, change: Callable[[Any], Any]) -> Callable[[pa.Table], pa.Table]:
    def changed(table: pa.Table) -> pa.Table:
        values = table.column(name).to_pylist()
        values[row] = change(values[row])
        return put(table, name, values)

    return changed


def exchanged(name: str) -> Callable[[pa.Table], pa.Table]:
    def changed(table: pa.Table) -> pa.Table:
        values = table.column(name).to_pylist()
        return put(table, name, [values[1], values[0], *values[2:]])

    return changed


READERS: dict[str, tuple[Callable[[pa.Table], pa.Table], str]] = {
    "one percent off": (one_percent_off, "source_cells_differ"),
    "two records mixed up": (lambda table: table.take([1, 0, *range(2, N)]), "source_cells_differ"),
    "two cells exchanged": (exchanged("share"), "source_cells_differ"),
    "another order": (lambda table: table.take(list(range(N))[::-1]), "source_cells_differ"),
    "a whole number off by one": (
        with_cell("size", 7, lambda value: str(int(value) + 1) if isinstance(value, str) else value + 1),
        "source_cells_differ",
    ),
    "the last digit": (
        with_cell(
            "share",
            9,
            lambda value: value + "1" if isinstance(value, str) else float(np.nextafter(value, np.inf)),
        ),
        "source_cells_differ",
    ),
    "a gap filled": (
        with_cell("gaps", 0, lambda value: "0"),
        "source_cells_differ",
    ),
    "a value lost": (with_cell("gaps", 1, lambda value: None), "source_cells_differ"),
    "letters of another encoding": (
        with_cell("town", 3, lambda value: value.replace("ü", "Ã¼")),
        "source_cells_differ",
    ),
    "text cut off": (with_cell("town", 3, lambda value: value[:-1]), "source_cells_differ"),
    "another day": (
        with_cell(
            "day",
            5,
            lambda value: (
                value[:-1] + "9" if isinstance(value, str) else value + datetime.timedelta(days=1)
            ),
        ),
        "source_cells_differ",
    ),
    "a record lost": (lambda table: table.slice(1), "source_rows_differ"),
    "the last record lost": (lambda table: table.slice(0, N - 1), "source_rows_differ"),
    "a record twice": (lambda table: table.take([*range(N), 0]), "source_rows_differ"),
    "another name": (
        lambda table: table.rename_columns(["Size", *table.column_names[1:]]),
        "source_names_differ",
    ),
    "two columns exchanged": (
        lambda table: table.select([1, 0, 2, 3, 4]).rename_columns(table.column_names),
        "source_cells_differ",
    ),
    "a column lost": (lambda table: table.drop_columns(["gaps"]), "source_names_differ"),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_readers_that_change_something(ending: str, files: dict[str, Path]) -> None:
    source = read.microdata_from_file(files[ending])
    checked = check_source(source)
    assert (checked.reading, checked.findings) == ("other code", ())
    assert checked.table is source.table
    for name, (change, rule) in READERS.items():
        if name == "a gap filled" and ending != ".csv":
            change = with_cell("gaps", 0, lambda value: 0)
        broken = Microdata(change(source.table), source.origin)
        assert broken.table.equals(source.table) is False, name
        assert rule in rules(check_source(broken).findings), name


@pytest.mark.parametrize("ending", ENDINGS)
def test_nothing_is_released_of_a_source_that_was_read_wrongly(
    ending: str, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    words: dict[str, Any] = {"keys": ["size", "share"], "rest": "pass", "pass_": ["day"]}
    assert protect(files[ending], 3, **words).verdict.source_reading == "other code"
    kind = {".csv": "CSV", ".xlsx": "Excel", ".dta": "Stata"}[ending]
    real = FORMATS[kind]

    def off(source: Any) -> Any:
        content = real.read(source)
        return replace(content, table=one_percent_off(content.table))

    monkeypatch.setitem(FORMATS, kind, replace(real, read=off))
    with unsafe(refuse("source_cells_differ", "share")):
        protect(files[ending], 3, **words)


def test_a_source_that_changes_while_it_is_protected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "people.csv"
    real = local.prepare
    words: dict[str, Any] = {"keys": ["size", "share"], "rest": "pass", "pass_": ["day"]}
    for rule, change in {
        "source_changed": lambda: path.write_text(path.read_text() + "1,1,1,x,2020-02-02\n"),
        "source_gone": path.unlink,
    }.items():
        frame().to_csv(path, index=False)

        def patched(*args: Any, change: Any = change) -> Any:
            found = real(*args)
            change()
            return found

        monkeypatch.setattr(local, "prepare", patched)
        with unsafe(refuse(rule)):
            protect(path, 3, **words)


def test_how_other_sources_were_read(tmp_path: Path) -> None:
    words: dict[str, Any] = {"keys": ["size", "share"], "rest": "pass", "pass_": ["day"]}
    release = protect(frame(), 3, **words)
    assert release.verdict.source_reading == "in memory"
    frame().to_parquet(tmp_path / "people.parquet")
    found = protect(tmp_path / "people.parquet", 3, **words)
    assert found.verdict.source_reading == "same library"
    assert found.verdict.as_dict()["source_reading"]["second"] == "same library"


CSV_FILES: dict[str, tuple[bytes, Layout]] = {
    "quotes and breaks": (b'a,b\n1,"x ""y"", z"\n2,"two\nlines"\n3,""\n', Layout()),
    "quotes in the middle": (b'a,b\n1,x "y" z\n2,"p"q\n3,r\n', Layout()),
    "line ends of Windows": (b"a,b\r\n1,x\r\n2,y\r\n", Layout()),
    "line ends of old computers": (b"a,b\r1,x\r2,y\r", Layout()),
    "blank lines": (b"\n\na,b\n\n1,x\n\n\n2,y\n\n", Layout()),
    "no last line end": (b"a,b\n1,x\n2,y", Layout()),
    "a byte order mark": (b"\xef\xbb\xbfa,b\n1,x\n2,y\n", Layout()),
    "two bytes a letter": ("a;b\n1;ü\n2;y\n".encode("utf-16"), Layout()),
    "another encoding": ("a;b\n1,5;ü\n2;y\n".encode("cp1252"), Layout()),
    "names with blanks": (b" a , b\n1, x\n2,y \n", Layout()),
    "a title": (b"title\na,b\n1,x\n2,y\n", Layout(header_row=2)),
    "no names": (b"1,x\n2,y\n", Layout(header="no")),
    "numbered names": (b"column1,column2\n1,x\n2,y\n", Layout(header="no")),
    "one column": (b'a\n1\n""\n3\n', Layout()),
    "a long field": (
        b"a,b\n" + b"1,x\n" * 3000 + b"2," + b"y" * 200_000 + b"\n",
        Layout(header="yes"),
    ),
    "empty fields": (b"a,b,c\n1,,\n,,x\n", Layout()),
    "blanks around quotes": (b'a,b\n1, "x"\n2,"y" \n', Layout()),
}


def test_csv_files_of_all_kinds(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    for name, (content, layout) in CSV_FILES.items():
        path.write_bytes(content)
        source = read.microdata_from_file(path, layout)
        assert check_source(source).findings == (), name
        table = source.table.set_column(
            0, source.table.column_names[0], pa.array(["7"] * len(source.table))
        )
        assert check_source(Microdata(table, source.origin)).findings != (), name


def test_workbooks_of_all_kinds(tmp_path: Path) -> None:
    path = tmp_path / "people.xlsx"
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (
        ["a", "mixed", None, "when", "flag", "text", "hours"],
        [1, "x", None, datetime.datetime(2020, 1, 2, 3, 4, 5), True, "_x000D_", datetime.time(1, 2, 3)],
        [2.5, 7, None, datetime.datetime(1900, 1, 5), False, "  blanks ", datetime.time(4, 5)],
        [None, 1.5, None, None, None, None, None],
        [10**17, True, None, datetime.datetime(1999, 12, 31, 23, 59, 59), True, "ü", datetime.time(23, 59)],
        [
            3,
            datetime.datetime(2020, 1, 2),
            None,
            datetime.datetime(2020, 1, 2),
            True,
            "=1",
            datetime.time(),
        ],
    ):
        sheet.append(row)
    sheet["F6"].data_type = "s"
    book.save(path)
    assert check_source(read.microdata_from_file(path)).findings == ()
    other = book.create_sheet("other")
    other.append(["b"])
    other.append([5])
    book.save(path)
    source = read.microdata_from_file(path, layout=Layout(sheet="other"))
    assert check_source(source).findings == ()
