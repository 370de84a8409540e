"""All columns of a file, whatever they hold; numbers where they are asked for."""

from __future__ import annotations

import datetime
import hashlib
import io
import sys
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from pyarrow import feather, parquet

from microagg import read
from microagg.errors import ContractError, DataError, SettingsError
from microagg.model import CsvFormat, Layout, Microdata, Origin, Verified
from microagg.verdict import note
from tests.bad_files import GOOD_NAMES, SECRET, good_table, leaks, write_excel, write_good
from tests.refusals import refusal


def written(folder: Path, content: str | bytes, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def columns_of(microdata: Microdata) -> dict[str, list[object]]:
    return dict(microdata.table.to_pydict())


# --- CSV ---------------------------------------------------------------------------------------


def test_csv_columns_are_text_as_it_stands_there(tmp_path: Path) -> None:
    text = 'id,price,day,flag,note\n007,1.50,2020-01-31,true,"a, ""b""\nc"\n'
    text += '042,,31.1.2020,FALSE,\n1,NA,,x,""\n'
    microdata = read.microdata_from_file(written(tmp_path, text))
    assert columns_of(microdata) == {
        "id": ["007", "042", "1"],
        "price": ["1.50", None, "NA"],
        "day": ["2020-01-31", "31.1.2020", None],
        "flag": ["true", "FALSE", "x"],
        "note": ['a, "b"\nc', None, None],
    }
    assert set(microdata.table.schema.types) == {pa.large_string()}


def test_origin_of_a_csv_file(tmp_path: Path) -> None:
    path = written(tmp_path, "a;b\n1,5;x\n2,5;y\n")
    path.chmod(0o640)
    origin = read.microdata_from_file(path).origin
    assert origin == Origin(
        "CSV",
        str(path),
        path,
        CsvFormat(";", "utf-8", ","),
        digest=f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}",
        mode=0o640,
    )


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"a,b\n1,x\n2,y\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    microdata = read.microdata_from_file(Path("-"))
    assert columns_of(microdata) == {"a": ["1", "2"], "b": ["x", "y"]}
    assert (microdata.origin.name, microdata.origin.path, microdata.origin.mode) == (
        "standard input",
        None,
        None,
    )
    assert microdata.origin.digest == f"sha256:{hashlib.sha256(content).hexdigest()}"


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("a,ü\n1,é\n2,x\n".encode(), "utf-8"),
        ("a,ü\n1,é\n2,x\n".encode("utf-8-sig"), "utf-8-sig"),
        ("a,ü\n1,é\n2,x\n".encode("cp1252"), "cp1252"),
        ("a,ü\n1,é\n2,x\n".encode("utf-16"), "utf-16"),
    ],
)
def test_encodings_are_found(tmp_path: Path, content: bytes, encoding: str) -> None:
    microdata = read.microdata_from_file(written(tmp_path, content))
    assert columns_of(microdata) == {"a": ["1", "2"], "ü": ["é", "x"]}
    assert microdata.origin.csv == CsvFormat(",", encoding, ".")


@pytest.mark.parametrize("encoding", ["utf-16-le", "cp500", "latin-1"])
def test_line_breaks_in_quotes_in_encodings_that_are_given(tmp_path: Path, encoding: str) -> None:
    path = written(tmp_path, 'a,b\n1,"x\ny"\n2,z\n'.encode(encoding))
    microdata = read.microdata_from_file(path, Layout(encoding=encoding))
    assert columns_of(microdata)["b"] == ["x\ny", "z"]


def test_a_quote_far_behind_any_sample(tmp_path: Path) -> None:
    rows = "".join(f"{number},plain\n" for number in range(200_000))
    microdata = read.microdata_from_file(written(tmp_path, f'n,text\n{rows}9,"two\nlines"\n'))
    assert microdata.table.num_rows == 200_001
    assert microdata.table.column("text")[-1].as_py() == "two\nlines"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize(
    "end",
    ['1,"2.5', '1,"2.5\n', '1,"2.5\r\n\r\n', '1,"', '1,"é""', '1,"""', '1,"é\n2,3\n4,5\n', '1,5"\n2,"3'],
)
def test_a_file_that_ends_inside_quotes_is_refused(tmp_path: Path, end: str, encoding: str) -> None:
    path = written(tmp_path, f"a,ü\n0,é\n{end}".encode(encoding))
    with refusal(DataError, "unclosed_quote"):
        read.microdata_from_file(path)


def test_a_single_column_that_ends_inside_quotes_is_refused(tmp_path: Path) -> None:
    for end in ('"2.5', '"2.5\n', '"'):
        with refusal(DataError, "unclosed_quote"):
            read.microdata_from_file(written(tmp_path, f"a\n1.5\n{end}"))
    assert columns_of(read.microdata_from_file(written(tmp_path, 'a\n1.5\n"2.5"\n'))) == {
        "a": ["1.5", "2.5"]
    }


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ('"2"', "2"),
        ('""', None),
        ('""""', '"'),
        ('""""""', '""'),
        ('","""', ',"'),
        ('"\n"', "\n"),
        ('5"', '5"'),
        ('"a"b', "ab"),
        ('"a""b,c"', 'a"b,c'),
    ],
)
def test_a_quote_that_is_closed_at_the_end_of_the_file(
    tmp_path: Path, field: str, value: str | None, encoding: str
) -> None:
    for line_end in ("", "\n", "\r\n", "\n\n"):
        path = written(tmp_path, f"a,b\n0,x\n1,{field}{line_end}".encode(encoding))
        assert columns_of(read.microdata_from_file(path))["b"] == ["x", value]


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        ("a;b\n1,5;x\n", ","),
        ("a;b\n1.5;x\n", "."),
        ("a;b\n1;2\n", "."),
        ("answers;x\n1,2;0.5\n2,3;1.25\n", "."),  # a list of codes beside decimal points
        ("a;b\n1.234;1,5\n7;2,5\n", ","),  # thousands beside decimal commas
        ("a;b\n1,234;1\n2;3\n", "."),  # may be thousands
        ("a,b\n1.5,2\n", "."),
    ],
)
def test_the_decimal_sign_of_the_file(tmp_path: Path, text: str, decimal: str) -> None:
    origin = read.microdata_from_file(written(tmp_path, text)).origin
    assert origin.csv is not None
    assert origin.csv.decimal == decimal


@pytest.mark.parametrize(
    "content", ["", "a,b\n", "1.5,2.5\n3,4\n", "a,a\n1,2\n", "a,b\n1,2\n1,2,3\n", ",b\n1,2\n"]
)
def test_what_is_no_table_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(DataError):
        read.microdata_from_file(written(tmp_path, content))


# --- numbers -----------------------------------------------------------------------------------


def numbers(folder: Path, text: str, column: str, *codes: float, **options: str) -> list[float | None]:
    microdata = read.microdata_from_file(written(folder, text), Layout(**options))
    values = read.numbers_of(microdata, column, codes)
    assert values.dtype == np.float64
    assert values.flags.c_contiguous
    return [None if np.isnan(value) else float(value) for value in values]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x,y\n1,a\n2.5,b\n-3e2,c\n", [1.0, 2.5, -300.0]),
        ("x,y\n007,a\n 5 ,b\n+1,c\n", [7.0, 5.0, 1.0]),
        ("x,y\n1,a\n,b\nNA,c\nNaN,d\nnull,e\n#N/A,f\n", [1.0, None, None, None, None, None]),
        ('x,y\n"1",a\n"",b\n', [1.0, None]),
        ("x,y\n,a\n,b\n", [None, None]),
        ("x;y\n1,5;a\n2;b\n,5;c\nNA;d\n", [1.5, 2.0, 0.5, None]),
        ("x;y\n1.5;1,5\n7;,5\n", [1.5, 7.0]),
    ],
)
def test_numbers_of_text(tmp_path: Path, text: str, expected: list[float | None]) -> None:
    assert numbers(tmp_path, text, "x") == expected


def test_missing_codes(tmp_path: Path) -> None:
    assert numbers(tmp_path, "x\n1\n9\n99\n9.5\n", "x", 9, 99) == [1.0, None, None, 9.5]


def test_a_decimal_sign_that_is_given(tmp_path: Path) -> None:
    assert numbers(tmp_path, "x;y\n1,234;a\n2,345;b\n", "x", decimal=",") == [1.234, 2.345]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x,y\nAnn,1\nBob,2\n", "'x' holds something other than numbers"),
        (f"x,y\n{SECRET},1\nmuch,2\n", "1 number and 1 text"),
        ("x,y\n2020-01-31,1\n", "dates"),
        ("x,y\n31.1.2020,1\n", "dates"),
        ("x,y\ninf,1\n", "1 infinite value"),
        ('x,y\n"1,234.5",1\n2,2\n', "thousands separators"),
        ('x,y\n"1,5",1\n2,2\n', "decimal comma in 1 of 2 rows, while the delimiter is a comma"),
        ("x;y\n1.234;1,5\n7;2,5\n", "thousands separators"),
        ("x;y\n98,765;1\n2;3\n", "decimal commas or thousands separators"),
        ("x;y\n1,5;0.25\n2;1.5\n", "decimal comma in 1 of 2 rows.*the point"),
        ("x,y\ntrue,1\nfalse,2\n", "other than numbers"),
        ("x,y\n0x1F,1\n", "other than numbers"),
    ],
)
def test_what_is_no_number_is_refused(tmp_path: Path, text: str, says: str) -> None:
    microdata = read.microdata_from_file(written(tmp_path, text))
    with pytest.raises(DataError, match=says) as caught:
        read.numbers_of(microdata, "x")
    assert not leaks(str(caught.value))
    assert "1,5" not in str(caught.value)


def test_an_unknown_column_is_refused(tmp_path: Path) -> None:
    microdata = read.microdata_from_file(written(tmp_path, "income,age\n1,2\n"))
    with pytest.raises(DataError, match="did you mean income"):
        read.numbers_of(microdata, "incone")


@pytest.mark.parametrize("name", GOOD_NAMES)
def test_numbers_of_every_format(tmp_path: Path, name: str) -> None:
    microdata = read.microdata_from_file(write_good(tmp_path / name))
    for column, expected in zip(microdata.table.column_names, good_table().columns, strict=True):
        np.testing.assert_array_equal(read.numbers_of(microdata, column), expected.to_numpy())


def test_numbers_of_typed_columns() -> None:
    table = pa.table(
        {
            "whole": pa.array([1, None, 3], pa.int32()),
            "large": pa.array([2**60, 1, 2], pa.uint64()),
            "decimal": pa.array([1, None, 2], pa.int64()).cast(pa.decimal128(30, 2)),
            "float": pa.array([1.5, float("nan"), None], pa.float32()),
            "nothing": pa.nulls(3),
            "text": ["1", "2", "3"],
            "truth": [True, False, None],
            "day": [datetime.date(2020, 1, 1)] * 3,
        }
    )
    microdata = read.microdata_of(table)
    expected = {
        "whole": [1, np.nan, 3],
        "large": [2.0**60, 1, 2],
        "decimal": [1, np.nan, 2],
        "float": [1.5, np.nan, np.nan],
        "nothing": [np.nan] * 3,
    }
    for column, values in expected.items():
        np.testing.assert_array_equal(read.numbers_of(microdata, column), values)
    for column, says in {"text": "stored as text", "truth": "other than numbers", "day": "dates"}.items():
        with pytest.raises(DataError, match=says):
            read.numbers_of(microdata, column)


def test_numbers_belong_to_the_caller() -> None:
    microdata = read.microdata_of(pa.table({"a": [1.0, 2.0]}))
    read.numbers_of(microdata, "a")[0] = 7
    assert microdata.table.column("a").to_pylist() == [1.0, 2.0]


# --- other formats -----------------------------------------------------------------------------

TYPED = pa.table(
    {
        "id": ["007", None, "x"],
        "income": [1.5, None, 3.0],
        "count": pa.array([1, None, 3], pa.int16()),
        "flag": [True, None, False],
        "day": pa.array([datetime.date(2020, 1, 31), None, datetime.date(1999, 1, 1)]),
        "region": pa.array(["a", "b", "a"]).dictionary_encode(),
    }
)


@pytest.mark.parametrize("name", ["typed.parquet", "typed.feather", "typed.arrow"])
def test_columnar_files_keep_their_types(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    (parquet.write_table if name.endswith("parquet") else feather.write_feather)(TYPED, path)
    microdata = read.microdata_from_file(path)
    assert microdata.table.equals(TYPED)
    assert microdata.origin.csv is None


def test_a_folder_that_looks_like_a_partition_adds_no_column(tmp_path: Path) -> None:
    (tmp_path / "year=2020").mkdir()
    path = tmp_path / "year=2020" / "a.parquet"
    parquet.write_table(TYPED, path)
    assert read.microdata_from_file(path).table.column_names == TYPED.column_names


def test_excel(tmp_path: Path) -> None:
    day = datetime.datetime(2020, 1, 31)
    path = write_excel(
        tmp_path / "a.xlsx", [["x", "s", "d", "m"], [1, "01", day, 5], [2.5, None, day, "n"]]
    )
    microdata = read.microdata_from_file(path)
    assert columns_of(microdata) == {"x": [1.0, 2.5], "s": ["01", None], "d": [day, day], "m": ["5", "n"]}
    assert len(microdata.origin.notes) == 1
    assert microdata.origin.notes[0] == note("mixed_cells", "m")
    with pytest.raises(DataError, match="1 number and 1 text"):
        read.numbers_of(microdata, "m")


def test_options_of_csv_files_are_refused_for_others(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="delimiter would have no effect"):
        read.microdata_from_file(write_good(tmp_path / "good.parquet"), Layout(delimiter=";"))


# --- statistical files -------------------------------------------------------------------------

SURVEY = pd.DataFrame(
    {
        "region": [1, 2, 9, 1],
        "income": [1.5, np.nan, 99.0, 3.0],
        "name": ["x", "", "yé", "z"],
        "day": [datetime.date(2020, 1, 31), None, datetime.date(1899, 1, 1), datetime.date(2020, 2, 29)],
        "moment": pd.to_datetime(
            ["2020-01-01 10:11:12.5", None, "1950-01-01", "2020-02-29"], format="ISO8601"
        ),
        "clock": [datetime.time(1, 2, 3), None, datetime.time(0), datetime.time(23, 59, 59)],
    }
)


def test_spss_codes_for_missing_values_are_kept_and_count_as_missing(tmp_path: Path) -> None:
    path = tmp_path / "a.sav"
    pyreadstat.write_sav(
        SURVEY,
        path,
        missing_ranges={"region": [9], "income": [{"lo": 90, "hi": 99}], "name": ["z"]},
        column_labels={"region": "Where"},
        variable_value_labels={"region": {1: "north", 9: "refused"}, "name": {"x": "ex"}},
        variable_measure={"region": "nominal"},
        file_label="A survey",
        note="Handle with care",
    )
    microdata = read.microdata_from_file(path)
    assert microdata.table.column("region").to_pylist() == [1, 2, 9, 1]
    np.testing.assert_array_equal(read.numbers_of(microdata, "region"), [1, 2, np.nan, 1])
    np.testing.assert_array_equal(read.numbers_of(microdata, "income"), [1.5, np.nan, np.nan, 3])
    labels = microdata.origin.labels
    assert labels is not None
    assert labels.file_label == "A survey"
    assert labels.column_labels == {"region": "Where"}
    assert labels.value_labels == {"region": {1: "north", 9: "refused"}, "name": {"x": "ex"}}
    assert labels.measures["region"] == "nominal"
    assert list(labels.notes) == ["Handle with care"]


def test_extended_missing_values_of_stata_become_plain_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "a.dta"
    frame = pd.DataFrame({"a": [1, "c", 3], "b": [1.5, 2.5, np.nan]})
    labels = {"a": {1: "one", "c": "refused"}}
    pyreadstat.write_dta(frame, path, missing_user_values={"a": ["c"]}, variable_value_labels=labels)
    microdata = read.microdata_from_file(path)
    assert microdata.table.column("a").to_pylist() == [1, None, 3]
    assert len(microdata.origin.notes) == 1
    assert microdata.origin.notes[0] == note("extended_missing", "a")


@pytest.mark.parametrize("ending", [".dta", ".sav", ".xpt"])
def test_dates_and_times(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    writers = {".dta": pyreadstat.write_dta, ".sav": pyreadstat.write_sav, ".xpt": pyreadstat.write_xport}
    writers[ending](SURVEY, path)
    table = read.microdata_from_file(path).table
    assert table.column("day").to_pylist() == SURVEY["day"].to_list()
    assert table.column("clock").to_pylist() == SURVEY["clock"].to_list()
    moments = [None if moment is pd.NaT else moment.to_pydatetime() for moment in SURVEY["moment"]]
    assert table.column("moment").to_pylist() == moments
    assert table.column("name").to_pylist() == ["x", "", "yé", "z"]
    for column in ("day", "moment", "clock"):
        with pytest.raises(DataError, match="dates or times"):
            read.numbers_of(Microdata(table, Origin("Stata", "a")), column)


@pytest.mark.parametrize(
    ("ending", "shown"),
    [(".dta", "%tm"), (".dta", "%tC"), (".sav", "MOYR8"), (".dta", "%td"), (".sav", "DATE11")],
)
def test_dates_that_are_no_dates_of_arrow_stay_numbers_but_are_no_keys(
    tmp_path: Path, ending: str, shown: str
) -> None:
    path = tmp_path / f"a{ending}"
    frame = pd.DataFrame({"month": [700.25, 1e14, 702.5], "x": [1.0, 2.0, 3.0]})
    write = pyreadstat.write_dta if ending == ".dta" else pyreadstat.write_sav
    write(frame, path, variable_format={"month": shown})
    microdata = read.microdata_from_file(path)
    assert microdata.table.column("month").to_pylist() == [700.25, 1e14, 702.5]
    with pytest.raises(DataError, match="dates or times"):
        read.numbers_of(microdata, "month")
    with pytest.raises(DataError, match="dates or times"):
        read.table_from_file(path, ["month"])


# --- what is read back, what may be written ----------------------------------------------------


def test_read_back_guesses_nothing(tmp_path: Path) -> None:
    """One column of text in which there are signs that would be taken for delimiters."""
    path = written(tmp_path, "x\n1;2\n3;4\n", "no ending")
    table = read.read_back(path, Origin("CSV", "release", csv=CsvFormat(",", "utf-8", ".")))
    assert table.to_pydict() == {"x": ["1;2", "3;4"]}


def test_read_back_in_the_types_that_were_written(tmp_path: Path) -> None:
    path = written(tmp_path, "x;n;day;flag;s\n1,5;2;2020-01-31;true;a\n;;;;\n7;3;2021-01-01;false;b\n", "a")
    origin = Origin("CSV", "release", csv=CsvFormat(";", "utf-8", ","))
    schema = pa.schema(
        {"x": pa.float64(), "n": pa.int32(), "day": pa.date32(), "flag": pa.bool_(), "s": pa.float64()}
    )
    table = read.read_back(path, origin, schema)
    assert table.schema.types == [pa.float64(), pa.int32(), pa.date32(), pa.bool_(), pa.large_string()]
    assert table.column("x").to_pylist() == [1.5, None, 7.0]
    assert table.column("day").to_pylist() == [datetime.date(2020, 1, 31), None, datetime.date(2021, 1, 1)]


class Verdict:
    def __init__(self, safe: object) -> None:
        self.safe = safe


@pytest.mark.parametrize("safe", [False, None, 1, "yes"])
def test_nothing_is_verified_without_a_verdict_that_says_so(safe: object) -> None:
    microdata = Microdata(TYPED, Origin("frame", "the data frame"))
    with refusal(ContractError, "not_verified"):
        Verified(microdata, Verdict(safe))  # type: ignore[arg-type]
    assert Verified(microdata, Verdict(True)).microdata is microdata  # type: ignore[arg-type]


def test_a_workbook_without_records(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(DataError, match="no records"):
        read.microdata_from_file(tmp_path / "a.xlsx")
