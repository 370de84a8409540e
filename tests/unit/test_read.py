"""Files and data in memory become a Table, or a DataError that a statistician can act on."""

from __future__ import annotations

import contextlib
import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from microagg import read
from microagg.errors import DataError, SettingsError
from microagg.model import Table
from tests.bad_files import (
    BAD_FILES,
    GOOD_NAMES,
    OTHER_GOOD_NAMES,
    SECRET,
    BadFile,
    bad_file_id,
    csv_of,
    good_table,
    leaks,
    write_good,
)

X = np.random.default_rng(5).normal(size=(12, 2))
PANDAS = pd.DataFrame(X, columns=["a", "b"])
POLARS = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
ARROW = pa.table({"a": X[:, 0], "b": X[:, 1]})

# --- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GOOD_NAMES + OTHER_GOOD_NAMES)
def test_good_file(tmp_path: Path, name: str) -> None:
    table = read.table_from_file(write_good(tmp_path / name))
    assert table.columns == ("income", "age")
    np.testing.assert_array_equal(table.values, np.column_stack(list(good_table().to_pydict().values())))


@pytest.mark.parametrize("bad", BAD_FILES, ids=bad_file_id)
def test_bad_file(tmp_path: Path, bad: BadFile) -> None:
    with pytest.raises(DataError) as caught:
        read.table_from_file(bad.write(tmp_path))
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


DAY = datetime.date(2020, 1, 31)


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
    with pytest.raises(
        DataError, match=r"'?c'? holds something other than numbers.*--columns a,b"
    ) as caught:
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
