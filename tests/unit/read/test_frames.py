"""Data frames of every kind are taken, and come back as the same kind."""

from __future__ import annotations

import datetime
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from microagg import protect, read
from microagg.arrow_types import remove_unused_categories
from microagg.errors import DataError

DAY = datetime.date(2020, 1, 31)
COLUMNS: dict[str, list[Any]] = {
    "income": [1, 2, 3, 4],
    "name": ["a", None, "c", "d"],
    "share": [0.5, 1.5, None, 2.5],
    "day": [DAY, DAY, None, DAY],
}
MASKED = [1.5, 1.5, 3.5, 3.5]
ALL = np.arange(4)


def duckdb_relation() -> Any:
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: its relations go untested")
    return duckdb.from_arrow(pa.table(COLUMNS))


FRAMES: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pa.table(COLUMNS).to_pandas(),
    "pandas with Arrow": lambda: pa.table(COLUMNS).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars lazy": lambda: pl.LazyFrame(COLUMNS),
    "Arrow": lambda: pa.table(COLUMNS),
    "Arrow batch": lambda: pa.table(COLUMNS).to_batches()[0],
    "DuckDB": duckdb_relation,
}


def content_of(frame: Any) -> dict[str, list[Any]]:
    """The values of a frame of any kind, None where they are missing."""
    table = read.microdata_of(frame).table
    return {name: table.column(name).to_pylist() for name in table.column_names}


def masked(microdata: Any, rows: np.ndarray[Any, Any]) -> pa.Table:
    values = pa.array(np.array(MASKED)[rows])
    return microdata.table.take(rows).set_column(0, "income", values)


@pytest.mark.parametrize("kind", FRAMES)
class TestEveryKind:
    def test_all_columns_are_taken(self, kind: str) -> None:
        microdata = read.microdata_of(FRAMES[kind]())
        assert microdata.table.to_pydict() == COLUMNS
        assert (microdata.origin.format, microdata.origin.name) == ("frame", "the data frame")
        np.testing.assert_array_equal(read.numbers_of(microdata, "share"), [0.5, 1.5, np.nan, 2.5])

    @pytest.mark.parametrize(
        "rows", [[0, 1, 2, 3], [0, 1, 3], [3, 0, 1, 2]], ids=["all", "fewer", "shuffled"]
    )
    def test_the_same_kind_comes_back(self, kind: str, rows: list[int]) -> None:
        native = FRAMES[kind]()
        microdata = read.microdata_of(native)
        released = masked(microdata, np.array(rows))
        frame = read.frame_like(microdata, released, np.array(rows))
        assert type(frame) is type(native)
        expected = {name: [values[row] for row in rows] for name, values in COLUMNS.items()}
        assert content_of(frame) == {**expected, "income": [MASKED[row] for row in rows]}

    def test_a_dropped_column(self, kind: str) -> None:
        microdata = read.microdata_of(FRAMES[kind]())
        released = microdata.table.drop_columns(["name"])
        frame = read.frame_like(microdata, released, ALL)
        assert list(content_of(frame)) == ["income", "share", "day"]

    def test_the_source_is_left_alone(self, kind: str) -> None:
        native = FRAMES[kind]()
        microdata = read.microdata_of(native)
        read.frame_like(microdata, masked(microdata, ALL), ALL)
        assert content_of(native) == COLUMNS


def test_pandas_keeps_types_and_names() -> None:
    native = pd.DataFrame(
        {
            "income": pd.array([1, 2, None, 4], "Int64"),
            "region": pd.Categorical(["n", "s", "n", "w"], categories=["w", "n", "s"], ordered=True),
            "flag": pd.array([True, None, False, True], "boolean"),
            "small": np.array([1, 2, 3, 4], np.int8),
            7: ["1", 2, None, 4.5],
            "moment": pd.date_range("2020-01-01", periods=4, tz="Europe/Vienna"),
        },
        index=pd.Index(["p", "q", "r", "s"], name="who"),
    )
    native.columns.name = "attribute"
    microdata = read.microdata_of(native)
    released = microdata.table.set_column(0, "income", pa.array([1.5, 1.5, None, 4.0]))
    frame = read.frame_like(microdata, released, ALL)
    expected = native.assign(income=pd.array([1.5, 1.5, None, 4.0], "Float64")).reset_index(drop=True)
    pd.testing.assert_frame_equal(frame, expected)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"Column '7' holds numbers stored as text in 1 of 4 rows"):
        read.numbers_of(microdata, "7")


def test_keys_of_pandas_keep_their_types() -> None:
    random = np.random.default_rng(4)
    ages = pd.Series(random.integers(18, 90, 30))
    moments = pd.Series(pd.Timestamp("1961-03-05 10:30") + pd.to_timedelta(ages * 200, unit="D"))
    frame = pd.DataFrame(
        {
            "band": pd.cut(ages, [0, 30, 50, 100]),
            "share": pd.cut(random.random(30) / 3, 4).as_unordered(),
            "year": moments.dt.to_period("Y").where(ages > 30).astype("category"),
            "born": moments.dt.date.astype(pd.ArrowDtype(pa.date32())),
            "seen": moments.astype(pd.ArrowDtype(pa.timestamp("ms"))),
            "age": ages.astype("int8[pyarrow]"),
        }
    )
    kept = {"rest": "drop", "respondent": "none", "missing": "by-pattern", "method": "mdav"}
    released = protect(frame, 3, keys=list(frame), **kept).data
    for name in ("band", "share", "year"):
        own, new = frame[name].cat.categories, released[name].cat.categories
        assert own.dtype == new.dtype
        assert set(new) <= set(own)
        assert frame[name].cat.ordered == released[name].cat.ordered
    assert all(released[name].dtype == frame[name].dtype for name in ("born", "seen"))
    others = ["band", "share", "year"]
    unchanged = protect(frame, 3, keys=["age"], pass_=others, keep_order=True, **kept).data
    for name in others:
        assert unchanged[name].equals(frame[name].cat.remove_unused_categories())


def test_row_labels_of_pandas_are_not_released() -> None:
    native = pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=pd.Index(["Ann", "Bob", "Bob"], name="who"))
    microdata = read.microdata_of(native)
    for rows in ([0, 1, 2], [0, 2], [2, 0]):
        frame: Any = read.frame_like(microdata, microdata.table.take(rows), np.array(rows))
        assert frame.index.equals(pd.RangeIndex(len(rows)))
        assert frame.index.name is None
        assert frame["a"].tolist() == native["a"].iloc[rows].tolist()


def test_categories_of_suppressed_records_are_not_told() -> None:
    native = pd.DataFrame({"c": pd.Categorical(["x", "secret", "x"]), "a": [1.0, 2.0, 3.0]})
    arrow = pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))
    for data in (native, native.astype({"c": arrow}), pa.Table.from_pandas(native)):
        microdata = read.microdata_of(data)
        table = remove_unused_categories(microdata.table.take([0, 2]))
        frame: Any = read.frame_like(microdata, table, np.array([0, 2]))
        if isinstance(frame, pd.DataFrame):
            assert frame["c"].dtype == (pd.CategoricalDtype(["x"]) if data is native else arrow)
            found = pa.chunked_array(pa.array(frame["c"]))
        else:
            found = frame.column("c")
        assert found.chunk(0).dictionary.to_pylist() == ["x"]


def test_polars_enumerations_lose_categories_of_suppressed_records() -> None:
    kind = pl.Enum(["y", "secret", "x"])
    native = pl.DataFrame({"c": pl.Series(["x", "secret", "y"], dtype=kind), "a": [1.0, 2.0, 3.0]})
    microdata = read.microdata_of(native)
    table = remove_unused_categories(microdata.table.take([0, 2]))
    frame: Any = read.frame_like(microdata, table, np.array([0, 2]))
    assert frame.schema["c"] == pl.Enum(["y", "x"])
    assert frame["c"].to_list() == ["x", "y"]


def test_polars_keeps_no_text_of_suppressed_records_and_no_order() -> None:
    texts = [f"a long text, number {at}" for at in range(4)]
    native = pl.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "text": texts, "list": [[text] for text in texts]})
    microdata = read.microdata_of(native)
    rows = np.array([3, 0, 1])
    frame: Any = read.frame_like(microdata, microdata.table.take(rows), rows)
    assert frame.equals(native[rows])
    content = pickle.dumps(frame)
    assert texts[2].encode() not in content
    places = [content.index(texts[row].encode()) for row in rows]
    assert places == sorted(places)


def test_polars_keeps_its_types() -> None:
    native = pl.DataFrame(
        {
            "a": [1, 2, 3],
            "c": pl.Series(["x", "y", "x"], dtype=pl.Categorical),
            "e": pl.Series(["x", "y", "x"], dtype=pl.Enum(["y", "x"])),
            "t": pl.Series([1, 2, 3], dtype=pl.Time),
            "l": [[1], [2, 3], []],
        }
    )
    microdata = read.microdata_of(native)
    released = microdata.table.set_column(0, "a", pa.array([1.5, 1.5, 3.0]))
    frame: Any = read.frame_like(microdata, released, np.arange(3))
    assert frame.schema == {**native.schema, "a": pl.Float64}
    assert frame.drop("a").equals(native.drop("a"))


def test_a_lazy_frame_is_computed_once() -> None:
    times = 0

    def count(frame: pl.DataFrame) -> pl.DataFrame:
        nonlocal times
        times += 1
        return frame

    microdata = read.microdata_of(pl.LazyFrame(COLUMNS).map_batches(count))
    frame: Any = read.frame_like(microdata, masked(microdata, ALL), ALL)
    assert frame.collect()["income"].to_list() == MASKED
    assert times == 1


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (np.ones((3, 2)), "The data are of type ndarray; give the path of a file, or a data frame"),
        ([[1, 2]], "The data are of type list"),
        ("file.csv", "The data are of type str"),
        (None, "The data are of type NoneType"),
        (pd.DataFrame({"a": []}), "no records"),
        (pd.DataFrame(index=[1, 2]), "no columns"),
        (
            pd.DataFrame({"a": pd.Series(["secret \ud800", "b"], dtype=object)}),
            "Column 'a' holds text that is not",
        ),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "more than once"),
        (pa.table([[1], [2]], names=["a", "a"]), "more than once"),
    ],
)
def test_what_is_no_data_frame(data: object, says: str) -> None:
    with pytest.raises(DataError, match=says):
        read.microdata_of(data)
