"""The first row of a CSV file or a sheet is judged as a row: a record is never taken for names."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from benchmarks.headers import PACKAGES, measured

import microagg
from microagg import DataError, SettingsError, read
from microagg.formats.first_row import looks_like_record
from microagg.model import Layout
from microagg.plan.file_format import file_options
from microagg.plan.plan_file import read_plan
from tests.refusals import refusal

Rows = list[list[object]]

DRAW = random.Random(3)
NORTH = ("North", "South", "East", "West")


def people(count: int = 60) -> Rows:
    return [
        [
            DRAW.choice("FM"),
            DRAW.choice(NORTH),
            DRAW.randrange(18, 90),
            DRAW.randrange(800, 9000),
            DRAW.choice(("HIV", "asthma", "none")),
        ]
        for _ in range(count)
    ]


def wide(first: int = 1998, years: int = 4) -> tuple[list[str], Rows]:
    """A table with a column for each year."""
    names = ["country", *(str(first + at) for at in range(years))]
    return names, [[f"C{at}", *(DRAW.random() for _ in range(years))] for at in range(20)]


def answers() -> Rows:
    return [[at + 1, *(DRAW.randrange(1, 6) for _ in range(6))] for at in range(40)]


HONEST: dict[str, tuple[list[str], Rows]] = {
    "people": (["sex", "region", "age", "income", "illness"], people()),
    "numbers": (["x", "y"], [[DRAW.random(), DRAW.random()] for _ in range(9)]),
    "years": wide(),
    "years backwards": (["country", "2001", "2000", "1999"], [[f"C{at}", 1, 2.5, at] for at in range(9)]),
    "years and others": (["id", "age", "2019", "2020"], [[at, 3, 4, 5] for at in range(9)]),
    "years below years of other centuries": (["2019", "2020"], [[at, 5000 + at] for at in range(9)]),
    "questions": (["id", *(f"q{at}" for at in range(6))], answers()),
    "a few numbers beside names": (["id", "a", "b", "12"], [[at, 3, 4, 5] for at in range(9)]),
    "text": (["name", "town"], [[f"N{at}", DRAW.choice(NORTH)] for at in range(9)]),
    "one name among its own values": (["sex", "other"], [["f", DRAW.choice(("none", "other"))]] * 5),
    "dates as names of numbers": (["region", "2020-01-22", "2020-01-23"], [["a", 1, 2]] * 5),
    "missing first record": (["a", "b", "c"], [["", "", ""], *([[1, 2, 3]] * 4)]),
    "one column": (["amount"], [[at] for at in range(5)]),
}

RECORDS: dict[str, Rows] = {
    "people": people(),
    "values of all kinds": [["F", "North", 93, 9120, "HIV"], *people()],
    "numbers": [[DRAW.random(), DRAW.random()] for _ in range(9)],
    "answers": answers(),
    "years of birth": [[1984, 1985], *([DRAW.randrange(1940, 2000) for _ in "ab"] for _ in range(20))],
    "codes": [[at % 2, at % 5, at % 7] for at in range(50)],
    "categories": [[DRAW.choice("FM"), DRAW.choice(NORTH)] for _ in range(30)],
    "names, days of birth and regions": [
        [f"Ann{at} Smith", f"19{40 + at}-02-03", DRAW.choice(NORTH)] for at in range(30)
    ],
    "one column of numbers": [[at * 3] for at in range(9)],
    "decimal commas": [[f"{at},5", "x"] for at in range(9)],
    "large numbers among text": [["Ann", 98765], ["Bob", "unknown"], ["Eve", 3]],
    "numbers above text": [[1, 2], ["a", "b"], ["c", "d"]],
}
RECORDS["with missing values"] = [["F", "", 9120, ""]] + [["FM"[at % 2], at, at * 7, 5] for at in range(9)]


def as_text(rows: Rows) -> list[list[str]]:
    return [["" if value is None else str(value) for value in row] for row in rows]


def write(path: Path, rows: Rows) -> Path:
    """CSV or Excel, by the name."""
    if path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append([None if value == "" else value for value in row])
        book.save(path)
    else:
        text = io.StringIO()
        csv.writer(text, delimiter=";", lineterminator="\n").writerows(rows)
        path.write_text(text.getvalue())
    return path


WRITTEN = {
    "amounts with gaps": ["1750", *("-" if at % 6 == 0 else str(900 + 37 * at) for at in range(30))],
    "dollars": ["$2,100", *(f"${at + 1},{100 + 7 * at}" for at in range(30))],
    "points between thousands": ["1.234,56", *(f"{at + 1}.{100 + 7 * at},50" for at in range(30))],
    "spaces between thousands": ["1 234", *(f"{at + 1} {100 + 7 * at}" for at in range(30))],
    "a currency behind": ["2100 EUR", *(f"{1000 + at} EUR" for at in range(30))],
    "brackets": ["(100)", *(f"({100 + at})" for at in range(30))],
    "times": ["12:30", *(f"{at % 24}:{10 + at}" for at in range(30))],
    "blood pressures": ["120/80", *(f"{100 + at}/{60 + at}" for at in range(30))],
    "days in words": ["1 Jan 1950", *(f"{at + 1} Feb {1950 + at}" for at in range(30))],
    "moments": ["2001-01-01T00:00+01:00", *(f"2001-01-{10 + at}T00:00+01:00" for at in range(20))],
    "mail": ["ann@example.org", *(f"p{at}@example.org" for at in range(30))],
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_record_is_known_by_how_its_values_are_written(kind: str) -> None:
    first, *others = WRITTEN[kind]
    assert looks_like_record(["Ann", first], [[f"Person {at}", text] for at, text in enumerate(others)])
    assert not looks_like_record(["name", "value"], [[f"P {at}", text] for at, text in enumerate(others)])


@pytest.mark.parametrize("kind", HONEST)
def test_names_are_no_record(kind: str) -> None:
    names, rows = HONEST[kind]
    assert not looks_like_record(names, as_text(rows))


@pytest.mark.parametrize("kind", RECORDS)
def test_a_record_is_one(kind: str) -> None:
    first, *rows = as_text(RECORDS[kind])
    assert looks_like_record(first, rows)


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
@pytest.mark.parametrize("kind", RECORDS)
def test_a_file_without_header_is_refused_without_its_values(
    tmp_path: Path, kind: str, ending: str
) -> None:
    rows = RECORDS[kind]
    path = write(tmp_path / f"data{ending}", rows)
    for readable in (read.microdata_from_file, read.table_from_file):
        with refusal(DataError, "first_row_is_a_record") as told:
            readable(path)
        words = str(told.value).replace(str(path), "").replace("column1, column2", "").split()
        assert not {str(value) for value in rows[0] if value != ""} & {word.strip(".,'") for word in words}
    if ending == ".xlsx" and kind == "decimal commas":
        return
    found = read.microdata_from_file(path, layout=Layout(header="no")).table
    assert found.column_names == [f"column{at + 1}" for at in range(len(rows[0]))][: found.num_columns]
    assert found.num_rows == len(rows)


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_names_that_look_like_a_record_can_be_confirmed(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path / f"data{ending}", [[10, 20, 30], [1, 2, 3], [4, 5, 6]])
    with pytest.raises(DataError, match="looks like a record"):
        read.table_from_file(path)
    assert read.table_from_file(path, layout=Layout(header="yes")).columns == ("10", "20", "30")
    table = read.table_from_file(path, layout=Layout(header="no"))
    assert table.columns == ("column1", "column2", "column3")
    assert table.values.tolist() == [[10, 20, 30], [1, 2, 3], [4, 5, 6]]
    again = read.table_from_file(path, ["column2"], layout=Layout(header="no"))
    assert again.values.tolist() == [[20], [2], [5]]


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_what_microagg_called_columns_are_names(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path / f"data{ending}", [["column2", "column5"], [1, 2], [3, 4]])
    assert read.table_from_file(path, layout=Layout(header="no")).values.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".dta", ".sav"])
def test_other_formats_are_never_asked(tmp_path: Path, ending: str) -> None:
    frame = pd.DataFrame({f"v{at}": [at, at + 1.5, at] for at in range(3)})
    if ending in (".parquet", ".feather"):
        frame.columns = ["93", "9120", "7"]
    path = tmp_path / f"data{ending}"
    if ending == ".sav":
        import pyreadstat

        pyreadstat.write_sav(frame, path)
    else:
        {".parquet": frame.to_parquet, ".feather": frame.to_feather, ".dta": frame.to_stata}[ending](path)
    assert read.microdata_from_file(path).table.num_rows == 3
    for said in (Layout(header="yes"), Layout(sheet="a"), Layout(header_row=2)):
        with pytest.raises(SettingsError, match="would have no effect"):
            read.microdata_from_file(path, layout=said)
    with pytest.raises(SettingsError, match="header would have no effect"):
        microagg.protect(frame, 3, rest="pass", keys=list(frame.columns), header="yes")


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"header": "maybe"}, "header is 'maybe'"),
        ({"header_row": 0}, "header_row is 0"),
        ({"header_row": True}, "header_row is True"),
        ({"header_row": "2"}, "header_row is '2'"),
        ({"sheet": ""}, "sheet must be"),
        ({"header": "no", "header_row": 2}, "Keep one"),
    ],
)
def test_what_cannot_be_said(said: dict[str, object], says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        file_options(dict(said))


def test_a_sheet_has_no_effect_on_csv(tmp_path: Path) -> None:
    path = write(tmp_path / "data.csv", [["a", "b"], [1, 2]])
    with pytest.raises(SettingsError, match=r"sheet would have no effect: .*format CSV\. Leave it out"):
        read.microdata_from_file(path, layout=Layout(sheet="Data"))


# --- titles above the names -------------------------------------------------------------------

TITLED = "Table 1: Women\n\nage,income\n30,1000\n40,2000\n50,2500\n"


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"], ids=repr)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_titles_above_a_csv_header(tmp_path: Path, ends: str, encoding: str) -> None:
    path = tmp_path / "titled.csv"
    path.write_bytes(TITLED.replace("Women", "Mädchen").replace("\n", ends).encode(encoding))
    with refusal(DataError, "title_above_names", row=3):
        read.microdata_from_file(path)
    layout = Layout(header_row=3)
    assert read.table_from_file(path, layout=layout).values.tolist() == [[30, 1000], [40, 2000], [50, 2500]]
    assert read.microdata_from_file(path, layout=layout).table.to_pydict() == {
        "age": ["30", "40", "50"],
        "income": ["1000", "2000", "2500"],
    }
    with pytest.raises(DataError, match="nothing in row 9"):
        read.microdata_from_file(path, layout=Layout(header_row=9))


@pytest.mark.parametrize(
    "text",
    ["amount\n0,5\n1,5\n", "name\nSmith, John\nDoe, Jane\n", "address\nMain St, 5\nHigh St, 7\n"],
    ids=["decimal commas", "commas in text", "text and numbers"],
)
def test_one_column_with_commas_has_no_title(tmp_path: Path, text: str) -> None:
    path = tmp_path / "one.csv"
    path.write_text(text)
    assert read.microdata_from_file(path).table.num_columns == 1


def test_titles_in_the_shape_of_the_table(tmp_path: Path) -> None:
    path = tmp_path / "titled.csv"
    path.write_text("Table 1,,\nage,income,size\n30,1000,1\n40,2000,2\n")
    with refusal(DataError, "unnamed_column", place=2) as told:
        read.microdata_from_file(path)
    assert "--columns" not in str(told.value)
    assert "pandas" not in str(told.value)
    found = read.microdata_from_file(path, layout=Layout(header_row=2)).table
    assert found.column_names == ["age", "income", "size"]
    path.write_text("Table 1, by sex\nage,income,size\n30,1000,1\n40,2000,2\n")
    with refusal(DataError, "uneven_rows"):
        read.microdata_from_file(path)
    path.write_text("Table 1\nF,North,30,1000\nM,South,40,2000\nF,South,50,100\nM,North,20,300\n")
    with pytest.raises(DataError, match="looks like a record"):
        read.microdata_from_file(path, layout=Layout(header_row=2))


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
@pytest.mark.parametrize("first", [0, 1])
def test_row_numbers_without_a_name(tmp_path: Path, ending: str, first: int) -> None:
    """As R and pandas write them: a column that needs a role, read by the verifier in the same way."""
    path = tmp_path / f"numbered{ending}"
    frame = pd.DataFrame({"age": [31, 31, 33, 44, 45, 52], "sex": list("fmfmfm")})
    frame.index += first
    frame.to_csv(path) if ending == ".csv" else frame.to_excel(path)
    assert read.microdata_from_file(path).table.column_names == ["column1", "age", "sex"]
    with refusal(SettingsError, "columns_without_role"):
        microagg.protect(path, k=3, keys=["age", "sex"])
    release = microagg.protect(path, k=3, keys=["age", "sex"], drop=["column1"], effort="fast")
    assert release.data.column_names == ["age", "sex"]


@pytest.mark.parametrize(
    "text", [",age\na,30\nb,40\n", ",age\n1,30\n3,40\n", ",column1\n1,30\n2,40\n", ",age\n1,30\n,40\n"]
)
def test_other_columns_without_a_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "unnamed.csv"
    path.write_text(text)
    with refusal(DataError, "unnamed_column", place=1):
        read.microdata_from_file(path)


# --- through Python, plans and records --------------------------------------------------------


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_a_file_without_header_from_end_to_end(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path / f"data{ending}", RECORDS["people"])
    roles = {"keys": ["column3", "column4"], "pass_": ["column1", "column2"], "drop": ["column5"]}
    with pytest.raises(DataError, match="looks like a record"):
        microagg.protect(path, 3, **roles)  # type: ignore[arg-type]
    release = microagg.protect(path, 3, header="no", keep_order=True, **roles)  # type: ignore[arg-type]
    output = tmp_path / f"out{ending}"
    release.save(output)
    written = read.microdata_from_file(output).table
    assert written.column_names == ["column1", "column2", "column3", "column4"]
    assert written.num_rows == 60
    plan = tmp_path / "microagg-internal" / f"{output.name}.plan.toml"
    assert read_plan(plan)["header"] == "no"
    assert microagg.protect(plan=plan).verdict.records == 60
    keys = ["column3", "column4"]
    for header in ("no", ("no", "yes"), ("no", None)):
        judged = microagg.assess(path, output, keys=keys, k=3, header=header, measures="k_anonymity")
        assert judged.failures == ()
    with pytest.raises(SettingsError, match="one for both files, or two"):
        microagg.assess(path, output, keys=keys, header=("no", "yes", "no"))
    compared = microagg.compare(path, 3, "mdav", keys=keys, header="no")
    assert len(compared.frame) == 1


def test_the_layout_of_files_that_have_none(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": range(9), "b": range(9)})
    path = write(tmp_path / "data.csv", [["a", "b"], *frame.to_numpy().tolist()])
    with pytest.raises(SettingsError, match="header would have no effect: neither of the two"):
        microagg.assess(frame, frame, keys=["a"], header="yes")
    with refusal(SettingsError, "no_effect_on_either", option="sheet"):
        microagg.assess(frame, path, keys=["a"], sheet="Data")
    assert microagg.assess(frame, path, keys=["a"], header="yes", measures="il").failures


def test_decimal_commas_and_other_dialects_without_header(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes("1,5;ä\n2,5;ö\n3,5;ü\n".encode("latin-1"))
    table = read.table_from_file(path, ["column1"], Layout(encoding="latin-1", header="no"))
    assert table.values.tolist() == [[1.5], [2.5], [3.5]]


# --- tables of others -------------------------------------------------------------------------


@pytest.mark.parametrize("package", PACKAGES)
def test_public_tables_are_read_and_refused_without_their_header(package: str) -> None:
    pytest.importorskip(package, reason=f"{package} is not installed: NOT TESTED on its tables")
    found = measured((package,))
    assert len(found) > 10
    # Its columns are called 142.24, 144.78, …: heights in centimetres.
    assert [each.name for each in found if each.with_header and "crimtab" not in each.name] == []
    assert sum(each.without_header for each in found) >= 0.95 * len(found)
