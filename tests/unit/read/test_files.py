"""Files and data in memory become a Table, or a DataError that a statistician can act on."""

from __future__ import annotations

import contextlib
import csv
import datetime
import io
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyreadstat
import pytest
from pyarrow import feather, parquet

from microagg import read, wording
from microagg.cli import entry as cli
from microagg.errors import DataError, MissingExtra, SettingsError
from microagg.model import Layout, Table
from microagg.plan.file_format import file_options
from tests.bad_files import (
    BAD_FILES,
    GOOD_NAMES,
    OTHER_GOOD_NAMES,
    SECRET,
    WRITERS,
    BadFile,
    bad_file_id,
    csv_of,
    good_table,
    leaks,
    write_excel,
    write_good,
)
from tests.refusals import refusal

X = np.random.default_rng(5).normal(size=(12, 2))
PANDAS = pd.DataFrame(X, columns=["a", "b"])
POLARS = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
ARROW = pa.table({"a": X[:, 0], "b": X[:, 1]})
DAY = datetime.date(2020, 1, 31)

# --- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GOOD_NAMES + OTHER_GOOD_NAMES)
def test_good_file(tmp_path: Path, name: str) -> None:
    table = read.table_from_file(write_good(tmp_path / name))
    assert tuple(map(str.lower, table.columns)) == ("income", "age")  # SPSS portable has capitals only
    np.testing.assert_array_equal(table.values, np.column_stack(list(good_table().to_pydict().values())))


@pytest.mark.parametrize("bad", BAD_FILES, ids=bad_file_id)
def test_bad_file(tmp_path: Path, bad: BadFile) -> None:
    with pytest.raises(DataError) as caught:
        read.table_from_file(bad.write(tmp_path))
    with wording.shown_by(wording.on_command_line):
        message = str(caught.value)
    assert not leaks(message)
    for part in bad.says:
        assert part in message


@pytest.mark.parametrize(
    ("change", "columns"),
    [
        (lambda text: b"\xef\xbb\xbf" + text, ("income", "age")),
        (lambda text: text.replace(b"\n", b"\r\n"), ("income", "age")),
        (lambda text: text + b"\n\n", ("income", "age")),
        (lambda text: text.replace(b"income", b'"income, net"'), ("income, net", "age")),
        (lambda text: text.replace(b"income", b'"in;co;me"'), ("in;co;me", "age")),
    ],
    ids=["byte order mark", "CRLF", "blank lines at the end", "quoted comma", "quoted semicolons"],
)
def test_csv_dialects(tmp_path: Path, change: object, columns: tuple[str, ...]) -> None:
    path = tmp_path / "dialect.csv"
    path.write_bytes(change(csv_of()))  # type: ignore[operator]
    table = read.table_from_file(path)
    assert table.columns == columns
    assert table.values.shape == (12, 2)


def test_named_columns_only(tmp_path: Path) -> None:
    path = tmp_path / "text.csv"
    path.write_bytes(b"name,x,y\nA,1,2\nB,3,4\n")
    table = read.table_from_file(path, ["y", "x"])
    assert table.columns == ("y", "x")
    assert table.values.tolist() == [[2, 1], [4, 3]]


def test_spaces_around_column_names_do_not_matter(tmp_path: Path) -> None:
    """`x, y` in the first line is common, and the command line strips what --columns names."""
    path = tmp_path / "spaces.csv"
    path.write_bytes(b"x, y\n1, 2\n3, 4\n")
    assert read.table_from_file(path, ["x", "y"]).values.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("columns", "kind", "says"),
    [
        (["incone"], DataError, ("'incone'", "did you mean income?", "age")),
        (["income", "incme", "ag"], DataError, ("'incme'", "'ag'", "did you mean age?")),
        (["zzz"], DataError, ("'zzz'", "income, age")),
        (["age", "age"], SettingsError, ("'age'", "twice")),
        ([], DataError, ("no columns",)),
    ],
)
def test_wrong_column_names(
    tmp_path: Path, columns: list[str], kind: type[Exception], says: tuple[str, ...]
) -> None:
    path = write_good(tmp_path / "good.csv")
    with pytest.raises(kind) as caught:
        read.table_from_file(path, columns)
    for part in says:
        assert part in str(caught.value)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There is no file"):
        read.table_from_file(tmp_path / "nothing.csv")
    with pytest.raises(DataError, match="is a folder"):
        read.table_from_file(tmp_path)


def test_unreadable_file_is_an_os_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = write_good(tmp_path / "good.csv")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(OSError, match=r"cannot be opened: Permission denied. Check its permissions"):
        read.table_from_file(path)


# --- CSV: found, or given ----------------------------------------------------------------------


def written(folder: Path, content: str | bytes, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"], ids=["comma", "semicolon", "tab", "bar"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("given", [False, True], ids=["found", "given"])
def test_delimiters_and_encodings(tmp_path: Path, delimiter: str, encoding: str, given: bool) -> None:
    text = "größe,Gewicht [€]\n1.5,2\n3,-4e1\n".replace(",", delimiter)
    path = written(tmp_path, text.encode(encoding))
    options = Layout(delimiter, encoding) if given else Layout()
    table = read.table_from_file(path, layout=options)
    assert table.columns == ("größe", "Gewicht [€]")
    assert table.values.tolist() == [[1.5, 2.0], [3.0, -40.0]]


def test_a_long_line_is_no_long_field(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    names = [f"{'name' * 25}{at:05}" for at in range(1_300)]
    assert len(";".join(names)) > csv.field_size_limit()
    for delimiter in ",;\t|":
        lines = [delimiter.join(names), *[delimiter.join(["1"] * len(names))] * 3]
        path.write_text("\n".join(lines))
        for given in (None, delimiter):
            content = read.microdata_from_file(path, Layout(delimiter=given))
            assert content.table.column_names == names
            assert content.table.num_rows == 3
        with refusal(DataError, "wrong_delimiter"):
            read.microdata_from_file(path, Layout(delimiter="," if delimiter == ";" else ";"))
        path.write_text("\n".join(["A title", *lines]))
        with refusal(DataError, "title_above_names"):
            read.microdata_from_file(path, Layout())


@pytest.mark.parametrize("mark", [b"\xff\xfe", b""], ids=["mark", "no mark"])
def test_utf_16_with_its_byte_order_given(tmp_path: Path, mark: bytes) -> None:
    path = written(tmp_path, mark + "a,b\n1,2\n3,4\n".encode("utf-16-le"))
    assert read.table_from_file(path, layout=Layout(encoding="utf-16-le")).columns == ("a", "b")


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@pytest.mark.parametrize("decimal", [None, ","], ids=["found", "given"])
def test_decimal_commas(tmp_path: Path, delimiter: str, decimal: str | None) -> None:
    path = written(tmp_path, "a;b;c\n1,5;2;-3,25e1\n;3;,5\n7;4;8\n".replace(";", delimiter))
    table = read.table_from_file(path, ["b", "c"], Layout(decimal=decimal))
    assert table.values.tolist() == [[2.0, -32.5], [3.0, 0.5], [4.0, 8.0]]


@pytest.mark.parametrize(
    ("text", "options", "values"),
    [
        ("x\n1,5\n2,25\n", {}, [[1.5], [2.25]]),
        ("x\n1.5\n2.25\n", {"decimal": "."}, [[1.5], [2.25]]),
        ("x\n1\n2\n", {"decimal": ","}, [[1.0], [2.0]]),
        ("a;b\n1,234;1\n2,345;2\n", {"decimal": ","}, [[1.234, 1.0], [2.345, 2.0]]),
        ("a;b\n1,234;1,5\n2,345;2\n", {}, [[1.234, 1.5], [2.345, 2.0]]),
        ("a;b\n0,234;1\n2,345;2\n", {}, [[0.234, 1.0], [2.345, 2.0]]),
        ("a,b;c,d\n1,5;2,5\n3,5;4,5\n", {}, [[1.5, 2.5], [3.5, 4.5]]),
        ("a:b\n1:2\n3:4\n", {"delimiter": ":"}, [[1.0, 2.0], [3.0, 4.0]]),
        ("a\tb\n1\t2\n3\t4\n", {"delimiter": r"\t"}, [[1.0, 2.0], [3.0, 4.0]]),
        ('a,"b\nc"\n"1",2\n3,"4"\n', {}, [[1.0, 2.0], [3.0, 4.0]]),
        ("region,2019,2020\n1,2,3\n4,5,6\n", {}, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    ],
)
def test_csv_that_is_easily_misread(
    tmp_path: Path, text: str, options: dict[str, str], values: list[list[float]]
) -> None:
    table = read.table_from_file(written(tmp_path, text), layout=file_options(dict(options)))
    assert table.values.tolist() == values


def test_commas_in_a_column_that_is_not_used_do_not_matter(tmp_path: Path) -> None:
    path = written(tmp_path, "answers;x\n1,2;0.5\n2,3;1.5\n")
    assert read.table_from_file(path, ["x"]).values.tolist() == [[0.5], [1.5]]


def test_an_encoding_that_begins_late(tmp_path: Path) -> None:
    """The first letter that is not ASCII stands far behind any sample."""
    rows = "1,x\n" * 200_000
    path = written(tmp_path, ("a,b\n" + rows + "2,é\n").encode("cp1252"))
    assert read.table_from_file(path, ["a"]).values[-1].tolist() == [2.0]
    with refusal(DataError, "wrong_encoding", name="utf-8"):
        read.table_from_file(path, ["a"], Layout(encoding="utf-8"))


def test_a_type_that_changes_late(tmp_path: Path) -> None:
    path = written(tmp_path, "a;b\n" + "1;2\n" * 600_000 + "1,5;2\n")
    assert read.table_from_file(path).values[-1].tolist() == [1.5, 2.0]
    path = written(tmp_path, "a;b\n" + "1;2\n" * 600_000 + "x;2\n")
    with pytest.raises(DataError, match=r"'a'.*600,000 numbers and 1 text"):
        read.table_from_file(path)


@pytest.mark.parametrize(
    ("options", "kind", "says"),
    [
        ({"delimiter": ";"}, DataError, ("no semicolons", "but commas")),
        ({"delimiter": ";;"}, SettingsError, ("';;'", "one character")),
        ({"delimiter": ""}, SettingsError, ("one character",)),
        ({"delimiter": "é"}, SettingsError, ("one character",)),
        ({"delimiter": "5"}, SettingsError, ("one character",)),
        ({"encoding": "utf-99"}, SettingsError, ("'utf-99'", "latin-1")),
        ({"encoding": "base64"}, SettingsError, ("'base64'", "latin-1")),
        ({"encoding": "utf-16"}, DataError, ("not encoded in utf-16", "leave out encoding")),
        ({"decimal": "x"}, SettingsError, ("decimal", "., ,")),
        ({"decimal": ","}, SettingsError, ("both the delimiter and the decimal sign",)),
        ({"decimal": ",", "delimiter": ","}, SettingsError, ("both the delimiter and the decimal sign",)),
    ],
    ids=str,
)
def test_wrong_csv_options(
    tmp_path: Path, options: dict[str, str], kind: type[Exception], says: tuple[str, ...]
) -> None:
    path = write_good(tmp_path / "good.csv")
    with pytest.raises(kind) as caught:
        read.table_from_file(path, layout=file_options(dict(options)))
    assert not leaks(str(caught.value))
    for part in says:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("decimal", "text", "says"),
    [
        (".", "a;b\n1,5;2\n2;3\n", r"'a'.*decimal comma in 1 of 2 rows.*given as a point"),
        (".", "a;b\n1,234;2\n2;3\n", r"'a'.*thousands separators.*in 1 of 2 rows"),
        (",", "a;b\n1.5;2\n2;3\n", r"'a'.*decimal point in 1 of 2 rows"),
        (",", "a;b\n1.234;2\n2;3\n", r"'a'.*thousands separators.*in 1 of 2 rows"),
    ],
)
def test_a_decimal_sign_that_is_not_the_files(tmp_path: Path, decimal: str, text: str, says: str) -> None:
    with pytest.raises(DataError, match=says):
        read.table_from_file(written(tmp_path, text), layout=Layout(decimal=decimal))


@pytest.mark.parametrize("name", [name for name in GOOD_NAMES if not name.endswith(("csv", "tsv"))])
def test_csv_options_are_refused_for_other_formats(tmp_path: Path, name: str) -> None:
    path = write_good(tmp_path / name)
    with pytest.raises(SettingsError, match=r"encoding, decimal would have no effect.*not CSV"):
        read.table_from_file(path, layout=Layout(encoding="utf-8", decimal="."))


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def feed(content: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    feed(csv_of())
    assert read.table_from_file(Path("-"), ["age"]).values.shape == (12, 1)
    feed("é;b\n1,5;2\n2;3\n".encode("latin-1"))
    assert read.table_from_file(Path("-")).columns == ("é", "b")
    feed(b"")
    with pytest.raises(DataError, match="no records"):
        read.table_from_file(Path("-"))
    feed(b"PAR1" + csv_of())
    with pytest.raises(DataError, match="standard input cannot be read as CSV"):
        read.table_from_file(Path("-"))


# --- formats with types ------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in GOOD_NAMES if not name.endswith(("csv", "tsv"))])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.9999])
def test_a_file_that_was_cut_short(tmp_path: Path, name: str, share: float) -> None:
    path = write_good(tmp_path / name)
    content = path.read_bytes()
    if path.suffix == ".por":  # whose last line is filled up
        content = content[: content.index(b"ZZ")]
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(DataError, match=r"cannot be read as .*Check that it is complete") as caught:
        read.table_from_file(path)
    assert not leaks(str(caught.value))


@pytest.mark.parametrize("name", [name for name in GOOD_NAMES if not name.endswith(("csv", "tsv"))])
def test_a_file_under_a_wrong_name(tmp_path: Path, name: str) -> None:
    path = write_good(tmp_path / name)
    for ending in {".csv", ".parquet", ".xlsx", ".sav"} - {path.suffix, path.suffix.replace("z", "")}:
        with pytest.raises(DataError, match=rf"cannot be read as .*ends? in .*{path.suffix}"):
            read.table_from_file(path.rename(path.with_suffix(ending)))
        path.with_suffix(ending).rename(path)


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".xlsx", *WRITERS])
def test_an_empty_file_or_table(tmp_path: Path, ending: str) -> None:
    with pytest.raises(DataError, match="no records"):
        read.table_from_file(written(tmp_path, b"", f"nothing{ending}"))
    frame = pd.DataFrame({"a": [1.0], "b": [2.0]}).iloc[:0]
    path = tmp_path / f"header{ending}"
    if ending == ".xlsx":
        write_excel(path, [["a", "b"]])
    elif ending in WRITERS:
        WRITERS[ending](frame, path)
    else:
        write = parquet.write_table if ending == ".parquet" else feather.write_feather
        write(pa.Table.from_pandas(frame), path)
    with pytest.raises(DataError, match="no records"):
        read.table_from_file(path)


TYPED = {
    "number": [1.0, 2.0, 3.0],
    "missing": [1.0, None, 3.0],
    "digits": ["1", "2.5", "3"],
    "grouped": ["1,234.5", "2", "3"],
    "some": ["1", "x", "3"],
    "text": ["x", "y", "z"],
    "day": [DAY, DAY, DAY],
}


def write_typed(path: Path) -> Path:
    """Columns of all kinds in the format of the path's ending."""
    if path.suffix == ".xlsx":
        return write_excel(path, [list(TYPED), *zip(*TYPED.values(), strict=True)])
    if path.suffix in WRITERS:
        WRITERS[path.suffix](pd.DataFrame(TYPED), path)
    else:
        write = parquet.write_table if path.suffix == ".parquet" else feather.write_feather
        write(pa.table(TYPED), path)
    return path


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".xlsx", *WRITERS])
@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (["missing"], r"has 1 missing value in 3 records"),
        (["digits"], r"numbers stored as text in 3 of 3 rows\. Convert"),
        (["number", "grouped"], r"thousands separators .*in 1 of 3 rows\. Save"),
        (["some"], r"some of 3 rows: 2 numbers and 1 text\. Replace"),
        (["number", "text"], r"something other than numbers\. Use only .*\(number\)"),
        (["number", "day"], r"dates or times in 3 rows.*\(number\)"),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)
def test_columns_that_are_no_numbers(tmp_path: Path, ending: str, columns: list[str], says: str) -> None:
    path = write_typed(tmp_path / f"typed{ending}")
    if ending == ".por":  # which has capitals only
        columns = [name.upper() for name in columns]
        says = says.replace("(number", "(NUMBER")
    assert read.table_from_file(path, ["NUMBER" if ending == ".por" else "number"]).values.shape == (3, 1)
    with pytest.raises(DataError, match=f"'{columns[-1]}'.*{says}"):
        read.table_from_file(path, columns)


def test_labels_do_not_replace_values_and_missing_codes_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "labelled.sav"
    frame = pd.DataFrame({"sex": [1.0, 2.0, 1.0], "income": [5.0, 99.0, 7.0]})
    pyreadstat.write_sav(
        frame,
        path,
        variable_value_labels={"sex": {1: "male", 2: "female"}},
        missing_ranges={"income": [99]},
    )
    assert read.table_from_file(path, ["sex"]).values.tolist() == [[1.0], [2.0], [1.0]]
    with pytest.raises(DataError, match=r"'income' has 1 missing value in 3 records"):
        read.table_from_file(path)


def test_categories_of_text(tmp_path: Path) -> None:
    path = tmp_path / "categories.parquet"
    parquet.write_table(pa.table({"a": pa.array(["1", "2", "1"]).dictionary_encode()}), path)
    with pytest.raises(DataError, match=r"'a' holds numbers stored as text in 3 of 3 rows"):
        read.table_from_file(path)


# --- Excel -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "values"),
    [
        ([["a", "b"], [1, 2.5], [3, 4]], [[1.0, 2.5], [3.0, 4.0]]),
        ([["a", "b"], [1, 2], [3, 4], [None, None], [None]], [[1.0, 2.0], [3.0, 4.0]]),
        ([["a", None, " b "], [1, None, 2], [3, None, 4]], [[1.0, 2.0], [3.0, 4.0]]),
        ([["a", "b"], [10**30, 2], [3, 4]], [[1e30, 2.0], [3.0, 4.0]]),
    ],
    ids=["plain", "empty rows at the end", "empty column", "huge"],
)
def test_excel(tmp_path: Path, rows: list[list[object]], values: list[list[float]]) -> None:
    path = write_excel(tmp_path / "book.xlsx", rows, [["other"], ["sheet"]])
    table = read.table_from_file(path, layout=Layout(sheet="Sheet"))
    assert table.columns == ("a", "b")
    assert table.values.tolist() == values


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([], r"sheet of .* is empty.*no records"),
        ([["a", "b"]], r"no records"),
        ([[SECRET, 2], [1, 2]], r"first row .*instead of column names"),
        ([["a", None], [1, 2]], r"Column 2 of the file has no name"),
        ([["a", None, None], [1, 2, 3]], r"Column 2 of the file has no name"),
        ([["a", "a"], [1, 2]], r"more than once: 'a'"),
        ([["a", "b"], [1], [2, 3]], r"'b' has 1 missing value in 2 records"),
        ([["a"], [1], ["2"], ["3"]], r"'a' holds numbers stored as text in 2 of 3 rows"),
        ([["a"], [1], [f"{SECRET}x"], [3]], r"'a' holds.*2 numbers and 1 text"),
        ([["a"], [1], [DAY], [3]], r"'a' holds.*2 numbers and 1 date"),
        ([["a"], [1], [True], [3]], r"'a' holds.*2 numbers and 1 text"),
        ([["a", "b"], [1, True], [3, False]], r"'b' holds something other than numbers"),
    ],
)
def test_excel_refused(tmp_path: Path, rows: list[list[object]], says: str) -> None:
    path = write_excel(tmp_path / "book.xlsx", rows)
    with pytest.raises(DataError, match=says) as caught:
        read.table_from_file(path)
    assert not leaks(str(caught.value))


@pytest.mark.parametrize(
    ("inside", "says"),
    [("EncryptedPackage", "protected by a password"), ("Workbook", "older Office format")],
)
def test_excel_in_another_wrapping(tmp_path: Path, inside: str, says: str) -> None:
    content = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1024) + inside.encode("utf-16-le") + bytes(512)
    with pytest.raises(DataError, match=says):
        read.table_from_file(written(tmp_path, content, "book.xlsx"))
    with pytest.raises(DataError, match=r"cannot be read as CSV: it begins like .*Office"):
        read.table_from_file(written(tmp_path, content, "book.csv"))


@pytest.mark.parametrize(
    ("ending", "package"), [(".xlsx", "openpyxl"), *((ending, "pyreadstat") for ending in WRITERS)]
)
def test_formats_without_their_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, package: str
) -> None:
    path = write_good(tmp_path / f"good{ending}")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"needs {package}: pip install 'microagg\[formats\]'"):
        read.table_from_file(path)


def test_a_missing_extra_is_no_internal_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_good(tmp_path / "good.sav")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    monkeypatch.setattr("sys.argv", ["microagg", "partition", str(path), "-k", "3"])
    assert cli.run(lambda: None) == cli.USAGE
    assert "pip install 'microagg[formats]'" in capsys.readouterr().err


# --- data in memory: taken ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "columns"),
    [
        (X.tolist(), ("1", "2")),
        (tuple(map(tuple, X)), ("1", "2")),
        (list(X), ("1", "2")),
        (X, ("1", "2")),
        (np.asfortranarray(X), ("1", "2")),
        (np.repeat(X, 2, axis=0)[::2], ("1", "2")),
        (X.astype(">f8"), ("1", "2")),
        (X.astype(object), ("1", "2")),
        (np.ma.array(X, mask=False), ("1", "2")),
        (Table(("a", "b"), X), ("a", "b")),
        (Table(("a", "b"), np.asfortranarray(X)), ("a", "b")),
        (PANDAS, ("a", "b")),
        (PANDAS.astype("Float64"), ("a", "b")),
        (PANDAS.convert_dtypes(dtype_backend="pyarrow"), ("a", "b")),
        (PANDAS.set_index(PANDAS.index[::-1]), ("a", "b")),
        (pd.DataFrame(X), ("0", "1")),
        (pd.DataFrame(X, columns=["a", 0]), ("a", "0")),
        (POLARS, ("a", "b")),
        (POLARS.lazy(), ("a", "b")),
        (ARROW, ("a", "b")),
        (ARROW.to_batches()[0], ("a", "b")),
    ],
    ids=[
        "lists",
        "tuples",
        "list of arrays",
        "array",
        "Fortran order",
        "strided",
        "big endian",
        "objects",
        "masked without mask",
        "Table",
        "Table in Fortran order",
        "pandas",
        "pandas Float64",
        "pandas on Arrow",
        "pandas with an index",
        "pandas without names",
        "pandas with a number as name",
        "polars",
        "polars lazy",
        "Arrow",
        "Arrow record batch",
    ],
)
def test_equal_data_of_any_kind(data: object, columns: tuple[str, ...]) -> None:
    table = read.table_of(data)
    assert table.columns == columns
    np.testing.assert_array_equal(table.values, X)
    assert table.values.dtype == np.float64
    assert table.values.flags.c_contiguous


@pytest.mark.parametrize(
    "data",
    [
        np.arange(6),
        range(6),
        list(range(6)),
        np.arange(6, dtype=np.uint8),
        np.arange(6, dtype=np.float16),
        np.arange(6, dtype=np.longdouble),
        np.array([Decimal(i) for i in range(6)]),
        np.array([Fraction(2 * i, 2) for i in range(6)]),
        pd.Series(range(6), dtype="Int64"),
        pl.Series(range(6)),
        pa.array(range(6)),
        pd.DataFrame({"x": pd.array(range(6), dtype="Int64")}),
        pl.DataFrame({"x": range(6)}).cast(pl.Decimal(10, 2)),
        pa.table({"x": pa.array(range(6), pa.uint8())}),
    ],
    ids=lambda data: f"{type(data).__module__}.{type(data).__name__}",
)
def test_one_attribute(data: object) -> None:
    assert read.table_of(data).values.tolist() == [[i] for i in range(6)]


@pytest.mark.parametrize("make", [pa.table, pl.DataFrame, pd.DataFrame], ids=["Arrow", "polars", "pandas"])
def test_integers_beyond_the_doubles_fare_as_in_numpy(make: object) -> None:
    """Long identifiers, for instance; NumPy rounds them to the nearest double."""
    values = np.array([2**53 + 1 + 2 * i for i in range(6)])
    expected = read.table_of(values).values
    found = read.table_of(make({"x": values}))  # type: ignore[operator]
    np.testing.assert_array_equal(found.values, expected)


@pytest.mark.parametrize("data", [X, PANDAS, POLARS, ARROW], ids=["array", "pandas", "polars", "Arrow"])
def test_data_are_not_changed(data: object) -> None:
    before = np.array(data) if not isinstance(data, pa.Table) else np.column_stack(data.columns)
    read.table_of(data)
    after = np.array(data) if not isinstance(data, pa.Table) else np.column_stack(data.columns)
    np.testing.assert_array_equal(before, after)


# --- data in memory: refused -------------------------------------------------------------------


def holes(dtype: str | None = None) -> pd.DataFrame:
    """A frame with two missing values in its second column."""
    frame = PANDAS.copy() if dtype is None else PANDAS.round().astype(dtype)
    frame.iloc[[3, 5], 1] = None
    return frame


HIDDEN = np.ma.array(X, mask=False)
HIDDEN[[3, 5], 1] = np.ma.masked


@pytest.mark.parametrize(
    ("data", "column"),
    [
        (holes(), "b"),
        (holes("Int64"), "b"),
        (holes("Float64"), "b"),
        (holes("int64[pyarrow]"), "b"),
        (pl.from_pandas(holes()), "b"),
        (pl.from_pandas(holes(), nan_to_null=False), "b"),
        (pa.Table.from_pandas(holes(), preserve_index=False), "b"),
        (holes().to_numpy(), "2"),
        (holes().to_numpy().tolist(), "2"),
        (np.where(np.isnan(holes()), None, X), "2"),
        (holes("Int64").to_numpy(dtype=object), "2"),
        (HIDDEN, "2"),
    ],
    ids=[
        "pandas NaN",
        "pandas Int64",
        "pandas Float64",
        "pandas on Arrow",
        "polars null",
        "polars NaN",
        "Arrow null",
        "array",
        "lists",
        "None among objects",
        "NA among objects",
        "masked array",
    ],
)
def test_missing_values_are_counted_by_column(data: object, column: str) -> None:
    with pytest.raises(DataError, match=f"Column '?{column}'? has 2 missing values in 12 records"):
        read.table_of(data)


@pytest.mark.parametrize(
    "data", [PANDAS.assign(c=None), POLARS.with_columns(c=None)], ids=["pandas", "polars"]
)
def test_a_column_of_nothing_is_missing_not_text(data: object) -> None:
    with pytest.raises(DataError, match=r"Column '?c'? has 12 missing values"):
        read.table_of(data)


@pytest.mark.parametrize("number", [np.inf, -np.inf])
def test_infinite_values(number: float) -> None:
    with pytest.raises(DataError, match=r"Column '?b'? has 12 infinite values.*Replace or remove"):
        read.table_of(PANDAS.assign(b=number))


@pytest.mark.parametrize(
    "data",
    [
        PANDAS.assign(c=str(SECRET)),
        PANDAS.assign(c=PANDAS.a > 0),
        PANDAS.assign(c=(PANDAS.a > 0).astype("boolean")),
        PANDAS.assign(c=pd.Timestamp(DAY)),
        PANDAS.assign(c=pd.Timedelta("1s")),
        PANDAS.assign(c=pd.Categorical([1, 2] * 6)),
        PANDAS.assign(c=1j),
        POLARS.with_columns(c=pl.lit(str(SECRET))),
        POLARS.with_columns(c=pl.col("a") > 0),
        POLARS.with_columns(c=pl.lit(DAY)),
        POLARS.lazy().with_columns(c=pl.lit(str(SECRET))),
        ARROW.append_column("c", [[str(SECRET)] * 12]),
        ARROW.append_column("c", [[DAY] * 12]),
    ],
    ids=[
        "pandas text",
        "pandas bool",
        "pandas boolean",
        "pandas timestamp",
        "pandas duration",
        "pandas category",
        "pandas complex",
        "polars text",
        "polars bool",
        "polars date",
        "polars lazy text",
        "Arrow text",
        "Arrow date",
    ],
)
def test_columns_without_numbers(data: object) -> None:
    with refusal(DataError, "not_numeric", columns=("c",), numeric=("a", "b")) as caught:
        read.table_of(data)
    assert not leaks(str(caught.value))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (X > 0, "bool"),
        (X.astype(complex), "complex"),
        (np.array([[str(SECRET)]] * 6), "text|str"),
        ([[str(SECRET), 1]] * 6, "text|str"),
        (np.array([[1, str(SECRET)]] * 6, dtype=object), "str"),
        (np.array([[1, True]] * 6, dtype=object), "bool"),
        (np.array([[1, np.True_]] * 6, dtype=object), "bool"),
        (np.array(["2020-01-01"] * 6, dtype="M8[D]"), "date"),
        (np.array([[pd.Timestamp(DAY), 1]] * 6, dtype=object), "Timestamp"),
        ([[1, 2], [3]], "different lengths"),
        (np.zeros((3, 2, 2)), "3 dimensions"),
        (5.0, "0 dimensions|float"),
        ([], "no records"),
        (np.empty((0, 3)), "no records"),
        (PANDAS.iloc[:0], "no records"),
        (POLARS.clear(), "no records"),
        (np.empty((5, 0)), "no columns"),
        (PANDAS[[]], "no columns"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_data_that_are_no_table_of_numbers(data: object, says: str) -> None:
    with pytest.raises(DataError, match=says) as caught:
        read.table_of(data)
    assert not leaks(str(caught.value))


def nested() -> np.ndarray:
    """An array of objects with an array in one cell."""
    cells = np.empty((6, 2), dtype=object)
    cells[:] = 1.0
    cells[2, 1] = np.array([1.0, 2.0])
    return cells


@pytest.mark.parametrize(
    "data",
    [nested(), [[10**400, i] for i in range(6)], np.array([[10**400, i] for i in range(6)])],
    ids=["arrays in cells", "huge integers in lists", "huge integers"],
)
def test_objects_that_are_no_doubles(data: object) -> None:
    with pytest.raises(DataError):
        read.table_of(data)


@pytest.mark.parametrize("data", ["people.csv", Path("people.csv"), {"a": [1, 2, 3]}, None])
def test_a_file_name_or_mapping_is_named_as_such(data: object) -> None:
    """'0 dimensions' would tell a newcomer nothing; the kind of what was passed does."""
    with pytest.raises(DataError, match=r"str|Path|dict|None|file"):
        read.table_of(data)


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame(X, columns=["a", "a"]),
        pd.DataFrame(X, columns=[1.5, 1.5]),
        pd.DataFrame(X, columns=[1, "1"]),
        pa.table([X[:, 0], X[:, 1]], names=["a", "a"]),
    ],
    ids=["pandas", "pandas numbers", "pandas 1 and '1'", "Arrow"],
)
def test_equal_column_names(data: object) -> None:
    with pytest.raises(DataError, match=r"more than once: .*Rename"):
        read.table_of(data)


def test_two_levels_of_column_names() -> None:
    names = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])
    with contextlib.suppress(DataError):  # taken or refused, in words of our own
        assert read.table_of(pd.DataFrame(X, columns=names)).values.shape == X.shape


def test_blank_lines_before_the_header(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("\n\na,b\n1,2\n3,4\n")
    assert read.table_from_file(path).columns == ("a", "b")


def test_a_long_text_among_the_rows_that_the_header_is_compared_with(tmp_path: Path) -> None:
    long = "x" * 200_000
    rows = [f"{at},{at * at},{long if at == 300 else 'short'}" for at in range(400)]
    path = written(tmp_path, "\n".join(["a,b,note", *rows]))
    table = read.microdata_from_file(path).table
    assert table.column_names == ["a", "b", "note"]
    assert table["note"][300].as_py() == long
    with pytest.raises(DataError):  # names that are a record are seen all the same
        read.microdata_from_file(written(tmp_path, "\n".join(["401,7,short", *rows])))
