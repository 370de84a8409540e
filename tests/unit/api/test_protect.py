"""`microagg.protect`: every policy, every kind of frame, and an independent count of what is released."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import microagg
from microagg import protect, read
from microagg.errors import DataError, DecisionNeeded, SettingsError, UnsafeRelease
from microagg.plan.plan_file import read_plan
from microagg.verdict import decide, note, refuse
from microagg.wording import kind_of
from tests.refusals import has, refusal, rules, unsafe

N = 40


def survey(n: int = N, seed: int = 1) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "region": np.array(["north", "south"])[np.arange(n) % 2],
            "age": random.integers(18, 90, n),
            "income": np.round(random.lognormal(8, 1, n), 2),
            "rent": np.round(random.lognormal(6, 1, n), 2),
            "weight": random.uniform(1.0, 2.0, n),
            "disease": np.array(list("abcd"))[random.integers(0, 4, n)],
            "note": np.array(list("xyz"))[np.arange(n) % 3],
        }
    )


PASSED = ["weight"]
"""Nearly all of its values are distinct."""


def protected(frame: Any = None, k: int = 3, **words: Any) -> microagg.Release:
    words = {"keys": ["age", "income"], "pass_": ["weight", "rent"], "rest": "pass", **words}
    return protect(survey() if frame is None else frame, k, **words)


def count(frame: pd.DataFrame, *columns: str) -> int:
    """Records of the rarest combination; missing values are a value."""
    return min(Counter(frame[list(columns)].astype(object).fillna("-").itertuples(index=False)).values())


def unchanged(source: pd.DataFrame, released: pd.DataFrame, *columns: str) -> None:
    for column in columns:
        pd.testing.assert_series_equal(source[column], released[column])


# --- what comes back -------------------------------------------------------------------------------


def test_a_release() -> None:
    source = survey()
    release = protected(source, keep_order=True)
    assert isinstance(release.data, pd.DataFrame)
    assert list(release.data.columns) == list(source.columns)
    assert count(release.data, "age", "income") >= 3
    unchanged(source, release.data, "region", "rent", "weight", "disease", "note")
    assert release.verdict.safe
    assert release.verdict.k == 3
    assert 0.0 < release.information_loss < 100.0
    assert str(release).startswith(f"{N} records in {release.groups} groups (k = 3)")
    assert release.verdict.sentence in str(release)


def test_the_partitions_are_those_of_the_release() -> None:
    release = protected(strata=["region"], keep_order=True)
    assert [task.stratum for task in release.partitions] == [0, 1]
    assert sorted(np.concatenate([task.rows for task in release.partitions])) == list(range(N))
    for task in release.partitions:
        assert task.columns == ("age", "income")
        assert len(set(release.data["region"].to_numpy()[task.rows])) == 1
        for group in range(task.labels.max() + 1):
            rows = task.rows[task.labels == group]
            assert len(rows) >= 3
            assert len(release.data.iloc[rows][["age", "income"]].drop_duplicates()) == 1


@pytest.mark.parametrize(
    "convert",
    [
        lambda frame: frame,
        pl.from_pandas,
        lambda frame: pl.from_pandas(frame).lazy(),
        lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
        lambda frame: pa.RecordBatch.from_pandas(frame, preserve_index=False),
        lambda frame: duckdb.from_df(frame),  # the function itself would outlive its library
        lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    ],
    ids=["pandas", "polars", "lazy polars", "Arrow table", "record batch", "DuckDB", "pandas on Arrow"],
)
def test_the_same_kind_of_frame_comes_back(convert: Any) -> None:
    frame = convert(survey())
    release = protected(frame, strata="region", keep_order=True)
    assert type(release.data) is type(frame)
    expected = protected(strata="region", keep_order=True).data
    found = release.data
    if isinstance(found, pl.LazyFrame):
        found = found.collect()
    if not isinstance(found, pd.DataFrame):
        found = found.df() if isinstance(found, duckdb.DuckDBPyRelation) else found.to_pandas()
    assert list(found.columns) == list(expected.columns)
    for column in expected.columns:
        assert found[column].tolist() == expected[column].tolist()


def test_pandas_keeps_its_column_names_but_not_its_row_labels() -> None:
    source = survey()[["age", "income"]].set_index(np.arange(N) * 10).rename(columns={"age": 7})
    release = protect(source, 3, rest="pass", keys=["7", "income"])
    assert list(release.data.columns) == [7, "income"]
    assert release.data.index.equals(pd.RangeIndex(N)), "labels may be names, and are not counted"


STRANGE = {
    "views of text": pa.array(["x", None, "y"] * 4, pa.string_view()),
    "views of bytes": pa.array([b"x", None, b"y"] * 4, pa.binary_view()),
    "categories of views": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, None] * 4), pa.array(["x", "y"], pa.string_view())
    ),
    "half precision": pa.array([0.5, None, 2.0] * 4, pa.float16()),
    "run ends": pa.RunEndEncodedArray.from_arrays(pa.array([5, 12], pa.int32()), pa.array(["x", "y"])),
    "an extension": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, None, 0] * 4, pa.int8())),
    "intervals": pa.array([pa.MonthDayNano([1, 2, 3]), None] * 6),
    "lists of categories": pa.ListArray.from_arrays(
        pa.array(range(13), pa.int32()), pa.array(["x", "y", "z"] * 4).dictionary_encode()
    ),
    "unions": pa.UnionArray.from_sparse(
        pa.array([0, 1] * 6, pa.int8()), [pa.array(range(12)), pa.array(["x"] * 12)]
    ),
}


NO_STRATA = {"intervals", "lists of categories"}
NOT_IN_CSV_FILES = {"views of bytes", "intervals", "lists of categories"}


@pytest.mark.parametrize("role", ["pass_", "confidential", "strata", "drop"])
@pytest.mark.parametrize("kind", STRANGE)
def test_types_for_which_arrow_has_few_functions(kind: str, role: str, tmp_path: Path) -> None:
    """Released unchanged, or refused in our own words."""
    source = pa.table({"a": np.arange(12.0), "other": STRANGE[kind]})
    words = {role: "other"} | ({"small_strata": "suppress"} if role == "strata" else {})
    words |= {"accept": ["distinct"]} if role == "confidential" else {}
    if kind == "unions" or (role == "strata" and kind in NO_STRATA):
        with pytest.raises(DataError, match="of type"):
            protect(source, 3, rest="pass", keys="a", **words)
        return
    release = protect(source, 3, rest="pass", keys="a", **words)
    release.save(tmp_path / "released.feather")
    if role != "drop":
        expected = source["other"].to_pylist()
        assert release.data["other"].to_pylist() == [expected[row] for row in release.rows]
    if role != "drop" and kind in NOT_IN_CSV_FILES:
        with pytest.raises(DataError, match="of type"):
            release.save(tmp_path / "released.csv")
    else:
        release.save(tmp_path / "released.csv")


@pytest.mark.parametrize("ending", ["csv", "xlsx", "dta", "sav", "xpt", "parquet", "feather"])
def test_single_precision_and_nan_can_be_written(tmp_path: Path, ending: str) -> None:
    shares = pa.array([0.1, float("nan"), None, 2.7] * 3, pa.float32())
    table = pa.table({"x": np.arange(12.0), "share": shares, "other": shares.cast(pa.float64())})
    release = protect(table, 3, rest="pass", keys="x", confidential="share", keep_order=True)
    release.save(tmp_path / f"released.{ending}")
    found = read.microdata_from_file(tmp_path / f"released.{ending}")
    values = read.numbers_of(found, "share").astype(np.float32)
    np.testing.assert_array_equal(values, shares.to_numpy(zero_copy_only=False))


@pytest.mark.parametrize("ending", ["csv", "xlsx", "dta", "sav", "parquet"])
def test_decimals_are_the_numbers_nearest_to_them(tmp_path: Path, ending: str) -> None:
    """Arrow's own cast is off by a bit in one of ten."""
    cents = np.random.default_rng(1).integers(0, 1_000_000, 90).tolist()
    prices = pa.array([Decimal(each) / 100 for each in cents], pa.decimal128(12, 2))
    table = pa.table({"x": np.arange(90.0), "price": prices})
    release = protect(table, 3, rest="pass", keys="x", keep_order=True)
    release.save(tmp_path / f"released.{ending}")
    found = read.microdata_from_file(tmp_path / f"released.{ending}")
    assert read.numbers_of(found, "price").tolist() == [each / 100 for each in cents]
    means = protect(table, 3, keys="price", drop="x").data["price"].to_pylist()
    assert means == [round(mean, 4) for mean in means]


def test_numbers_of_numpy_are_settings_too(tmp_path: Path) -> None:
    release = protected(
        k=np.int64(3), seed=np.int64(3), threads=np.int32(1), seconds=np.float32(5.0),
        decimals={"age": np.int8(1)}, missing_codes={"age": [np.int64(-9), np.float32(0.5)]},
        confidential="rent", pass_="weight", confidential_as="noise", noise=np.float32(0.5),
    )  # fmt: skip
    record = json.loads(release.save(tmp_path / "released.csv").read_text())
    assert record["plan"]["missing_codes"] == {"age": [-9, 0.5]}
    assert (record["seed"], record["plan"]["threads"], record["plan"]["seconds"]) == (3, 1, 5.0)
    plan = read_plan(tmp_path / "microagg-internal" / "released.csv.plan.toml")
    assert (plan["seed"], plan["noise"]) == (3, 0.5)
    with pytest.raises(SettingsError, match="plan must be the path"):
        protected(plan=5)


def test_noise_that_rounding_undoes_is_refused_or_told() -> None:
    source = survey(200).assign(children=np.arange(200) % 4)
    words = {"confidential": "children", "confidential_as": "noise", "accept": "distinct"}
    words["keep_order"] = True
    for more in ({}, {"decimals": {"children": 0}}):
        with unsafe(refuse("noise_undone", "children", values=200, of=200)):
            protected(source, **words, **more)
    release = protected(source, **words, noise=1.0)
    undone = int((release.data["children"].round() == source["children"]).sum())
    assert 0.05 * 200 < undone < 0.5 * 200
    assert has(release.verdict.notes, note("noise_partly_undone", "children", values=undone, of=200))
    larger = protected(source, **words, noise=5000.0)
    assert "noise_partly_undone" not in rules(larger.verdict.notes)


def test_strata_that_are_an_enumeration() -> None:
    codes = pl.Series(["A"] * 6 + ["C", "C", "D"], dtype=pl.Enum(["A", "B", "C", "D"]))
    frame = pl.DataFrame({"x": np.arange(9.0), "code": codes, "kind": codes})
    release = protect(frame, 3, rest="pass", keys="x", strata="code", small_strata="nearest", pass_="kind")
    assert sorted(release.data["code"]) == ["A"] * 9
    assert release.data.schema["code"] == pl.Enum(["A"])
    assert release.data.schema["kind"] == pl.Enum(["A", "C", "D"])


def test_a_proof_that_was_asked_for_and_not_found_is_told() -> None:
    columns = ["age", "income", "rent"]
    release = protected(survey(400), rest="pass", keys=columns, pass_="weight", certify=True, seconds=1e-6)
    assert release.bound_loss is None
    assert "%, no bound proven, by" in str(release)
    assert "bound" not in str(
        protected(survey(400), rest="pass", keys=columns, pass_="weight", effort="fast")
    )


def test_categories_that_no_released_record_has(tmp_path: Path) -> None:
    codes = pa.array(["A"] * 6 + ["secret"])
    table = pa.table({"x": np.arange(7.0), "code": codes.dictionary_encode()})
    parquet.write_table(table, tmp_path / "source.parquet")
    for source in (table, tmp_path / "source.parquet"):
        release = protect(source, 3, rest="pass", keys="x", strata="code", small_strata="suppress")
        assert release.data["code"].chunk(0).dictionary.to_pylist() == ["A"]


@pytest.mark.parametrize("ending", ["dta", "sav"])
def test_labels_of_codes_that_suppressed_records_alone_had(tmp_path: Path, ending: str) -> None:
    frame = pd.DataFrame({"x": np.arange(7.0), "code": [1] * 6 + [2], "kind": [1, 2] * 3 + [3]})
    texts = {"code": {1: "A", 2: "secret"}, "kind": {1: "a", 2: "b", 3: "secret", 9: "refused"}}
    write = {"dta": pyreadstat.write_dta, "sav": pyreadstat.write_sav}[ending]
    write(frame, str(tmp_path / f"source.{ending}"), variable_value_labels=texts)
    release = protect(
        tmp_path / f"source.{ending}", 3, rest="pass", keys="x", strata="code", small_strata="suppress"
    )
    release.save(tmp_path / f"released.{ending}")
    assert b"secret" not in (tmp_path / f"released.{ending}").read_bytes()
    found = read.microdata_from_file(tmp_path / f"released.{ending}").origin.labels
    assert found is not None
    assert found.value_labels == {"code": {1: "A"}, "kind": {1: "a", 2: "b", 9: "refused"}}
    whole = protect(tmp_path / f"source.{ending}", 3, rest="pass", keys="x", pass_="code")
    whole.save(tmp_path / f"whole.{ending}")
    assert b"secret" in (tmp_path / f"whole.{ending}").read_bytes()


def test_categories_do_not_tell_the_order_of_shuffled_records(tmp_path: Path) -> None:
    jobs = [f"job {(5 * at) % 12:02d}" for at in range(12)]
    column = pa.array([*jobs, None]).dictionary_encode()
    table = pa.table({"x": np.arange(13.0), "job": column})
    release = protect(table, 3, rest="pass", keys="x", pass_="job")
    release.save(tmp_path / "shuffled.parquet")
    for found in (release.data, parquet.read_table(tmp_path / "shuffled.parquet")):
        assert found["job"].chunk(0).dictionary.to_pylist() == sorted(jobs)
        assert Counter(found["job"].to_pylist()) == Counter([*jobs, None])
    frame = protect(table.to_pandas(), 3, rest="pass", keys="x", pass_="job").data
    assert list(frame["job"].cat.categories) == sorted(jobs)
    # an order that was declared is one of meaning
    ordered = table.set_column(
        1, "job", pa.DictionaryArray.from_arrays(column.indices, column.dictionary, ordered=True)
    )
    release = protect(ordered, 3, rest="pass", keys="x", pass_="job")
    assert release.data["job"].chunk(0).dictionary.to_pylist() == jobs
    kept = protect(table, 3, rest="pass", keys="x", pass_="job", keep_order=True).data
    assert kept["job"].chunk(0).dictionary.to_pylist() == jobs


def test_save_writes_what_is_in_the_data(tmp_path: Path) -> None:
    release = protected()
    where = release.save(tmp_path / "out.parquet", labels=True)
    assert where == tmp_path / "microagg-internal" / "out.parquet.microagg.json"
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out.parquet"), release.data)
    record = json.loads(where.read_text())
    assert {key: record[key] for key in release.record} == json.loads(json.dumps(release.record))
    assert record["input"]["name"] == "the data frame"
    with pytest.raises(SettingsError, match="exists already"):
        release.save(tmp_path / "out.parquet")
    release.save(tmp_path / "out.parquet", force=True)
    release.save(tmp_path / "other.csv", record=tmp_path / "secrets")
    assert (tmp_path / "secrets" / "other.csv.plan.toml").exists()


def test_a_path_and_a_plan(tmp_path: Path) -> None:
    survey().to_csv(tmp_path / "survey.csv", index=False)
    release = protect(
        tmp_path / "survey.csv",
        3,
        rest="pass",
        keys=["age", "income"],
        pass_=["weight", "rent"],
        seed=4,
        keep_order=True,
    )
    release.save(tmp_path / "out.csv")
    plan = tmp_path / "microagg-internal" / "out.csv.plan.toml"
    again = protect(plan=plan)
    assert again.data.equals(release.data)
    assert again.record["plan"] == release.record["plan"] == {
        "k": 3,
        "keys": [["age", "income"]],
        "pass": ["weight", "rent"],
        "rest": "pass",
        "keep_order": True,
        "seed": 4,
    }  # fmt: skip
    assert protect(plan=plan, k=5).verdict.subsets[0].smallest >= 5
    assert read_plan(plan)["delimiter"] == ","


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "data is not given"),
        (np.zeros((9, 2)), "with column names"),
        ({"a": [1, 2]}, "with column names"),
        (pd.DataFrame({"a": []}), "no records"),
        (pd.DataFrame(), "no columns"),
        (Path("/nowhere/file.csv"), "There is no file"),
    ],
    ids=["nothing", "array", "dictionary", "no records", "no columns", "no file"],
)
def test_what_is_no_data(data: Any, message: str) -> None:
    with pytest.raises((DataError, SettingsError), match=message):
        protect(data, 3, rest="pass", keys=["a"])


# --- strata ----------------------------------------------------------------------------------------


def with_strata(sizes: dict[Any, int]) -> pd.DataFrame:
    codes = [code for code, size in sizes.items() for _ in range(size)]
    values = np.random.default_rng(2).integers(0, 50, len(codes))
    return pd.DataFrame({"code": pd.Series(codes, dtype=object), "x": values})


def test_groups_never_cross_strata() -> None:
    release = protected(strata=["region", "note"], small_strata="refuse")
    assert count(release.data, "region", "note", "age", "income") >= 3
    assert release.verdict.subsets[0].columns == ("region", "note", "age", "income")
    means = survey().groupby(["region", "note"])["income"].mean()
    assert np.allclose(release.data.groupby(["region", "note"])["income"].mean(), means)


def test_small_strata_are_refused_by_their_number_not_their_code() -> None:
    with pytest.raises(SettingsError, match="1 of 3 strata") as caught:
        protect(with_strata({"big": 6, "large": 6, "rare": 2}), 3, rest="pass", keys="x", strata="code")
    assert "rare" not in str(caught.value)


@pytest.mark.parametrize(
    "sizes",
    [
        {"A": 6, "C": 2, "D": 1},
        {"A": 6, "B": 9, "C": 2},
        {1: 6, 2: 2, 3: 2},
        {"A": 6, None: 2, "B": 1},
        {None: 6, "B": 1},
        {True: 6, False: 2},
    ],
)
def test_records_of_small_strata_join_the_nearest_group(sizes: dict[Any, int]) -> None:
    frame = with_strata(sizes)
    if None not in sizes:
        frame["code"] = frame["code"].infer_objects()
    release = protect(frame, 3, rest="pass", keys="x", strata="code", small_strata="nearest")
    large = {code for code, records in sizes.items() if records >= 3}
    assert {None if pd.isna(code) else code for code in release.data["code"]} == large
    assert len(release.data) == sum(sizes.values())
    if None not in sizes:
        assert release.data["code"].dtype == frame["code"].dtype
    assert count(release.data, "code", "x") >= 3
    moved = sum(records for records in sizes.values() if records < 3)
    assert has(release.verdict.notes, note("recoded", "code", cells={"code": moved}, k=3))
    assert release.losses.columns["code"].changed == moved


def test_small_strata_are_suppressed() -> None:
    frame = with_strata({"A": 6, "C": 2, "D": 1})
    release = protect(frame.assign(kind=frame["code"].astype("category")), 3, rest="pass",
    keys="x", strata="code",
                      small_strata="suppress")  # fmt: skip
    assert list(release.data["code"]) == ["A"] * 6
    assert list(release.data.index) == list(range(6))
    assert list(release.data["kind"].cat.categories) == ["A"], "categories would tell of the others"
    assert release.verdict.suppressed == 3
    with pytest.raises(SettingsError, match="would leave nothing"):
        protect(
            with_strata({"A": 2, "B": 2}), 3, rest="pass", keys="x", strata="code", small_strata="suppress"
        )


def test_decimals_are_those_of_the_whole_source() -> None:
    frame = pd.DataFrame({"x": [0.0, 0.0, 1.0, 1.5], "code": [*"vvv", "u"]})
    release = protect(frame, 3, keys="x", strata="code", small_strata="suppress")
    assert list(release.data["x"]) == [0.333] * 3


def test_strata_of_any_type() -> None:
    days = pd.to_datetime(["2020-01-01", "2021-01-01"])
    for values in (["a", None], [1, 2], [0.5, -0.0], [True, False], days, pd.Categorical(["u", "v"])):
        frame = pd.DataFrame({"s": pd.Series(list(values) * 6), "x": np.arange(12) % 7})
        if isinstance(values, pd.Categorical):
            frame["s"] = frame["s"].astype("category")
        release = protect(frame, 3, rest="pass", keys="x", strata="s", keep_order=True)
        unchanged(frame, release.data, "s")
        assert count(release.data, "s", "x") >= 3


@pytest.mark.parametrize(
    ("strata", "message"),
    [
        (pa.array([[1], [2]] * 6), "cannot be strata"),
        (pa.array([{"a": 1}, {"a": 2}] * 6), "cannot be strata"),
        (pa.array([float("nan"), 1.0] * 6), "is NaN in 6 records"),
    ],
    ids=["lists", "structures", "NaN"],
)
def test_strata_that_cannot_be(strata: pa.Array, message: str) -> None:
    with pytest.raises(DataError, match=message):
        protect(pa.table({"s": strata, "x": range(12)}), 3, rest="pass", keys="x", strata="s")


@pytest.mark.parametrize("kind", [pa.time32("s"), pa.duration("s"), pa.binary()], ids=str)
def test_strata_of_rare_types_join_groups(kind: pa.DataType) -> None:
    values = [b"u"] * 11 + [b"v"] if kind == pa.binary() else [1] * 11 + [2]
    table = pa.table({"s": pa.array(values, kind), "x": range(12)})
    release = protect(table, 3, rest="pass", keys="x", strata="s", small_strata="nearest")
    assert release.data.column("s").type == kind
    assert release.data.column("s").unique().to_pylist() == table.column("s")[:1].to_pylist()


def test_many_small_strata_join_groups_in_one_pass() -> None:
    n = 30_000
    table = pa.table({"s": np.where(np.arange(n) < n - 40, np.arange(n) // 2, n), "x": np.arange(n) % 97})
    release = protect(
        table, 4, rest="pass", keys="x", strata="s", small_strata="nearest", method="mdav", keep_order=True
    )
    assert release.data.column("s").unique().to_pylist() == [n]
    assert release.verdict.subsets[0].smallest >= 4


# --- missing values and zeros -------------------------------------------------------------------------


def with_gaps(seed: int, n: int = 60, share: float = 0.2) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(random.normal(size=(n, 3)).round(3), columns=["a", "b", "c"])
    return frame.mask(random.uniform(size=frame.shape) < share)


def rests_on_k_observed(source: pd.DataFrame, released: pd.DataFrame, columns: list[str], k: int) -> None:
    """Every released value, counted by hand."""
    classes = released[columns].astype(object).fillna("-").apply(tuple, axis=1)
    for column in columns:
        shown = released[column].notna()
        assert source[column].notna()[shown].all()
        observed = source[column].notna().groupby(classes).sum()
        assert (classes[shown].map(observed) >= k).all()


def test_missing_values_are_refused_unless_they_go_by_pattern() -> None:
    with refusal(DataError, "missing_keys", column="a", n=60):
        protect(with_gaps(1), 3, rest="pass", keys=["a", "b", "c"])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [3, 5])
def test_every_released_value_rests_on_k_observed_ones(seed: int, k: int) -> None:
    source = with_gaps(seed, share=[0.02, 0.1, 0.2, 0.4, 0.05, 0.3][seed])
    try:
        release = protect(
            source, k, rest="pass", keys=["a", "b", "c"], missing="by-pattern", keep_order=True
        )
    except DataError as error:
        assert kind_of(error) == "too_few_without_keys"  # noqa: PT017
        return
    assert count(release.data, "a", "b", "c") >= k
    rests_on_k_observed(source, release.data, ["a", "b", "c"], k)
    lost = int((source.notna() & release.data.isna()).sum().sum())
    assert bool(lost) == ("values_given_up" in rules(release.verdict.notes))


def test_a_record_whose_pattern_only_overlaps_others_is_released() -> None:
    """It can join no pattern and no pattern can join it: both give up cells, as few as it takes."""
    gap = None
    source = pd.DataFrame({"a": [1.0] + [gap] * 9, "b": [2.0, *range(9)], "c": [gap, *range(9)]})
    release = protect(source, 3, rest="pass", keys=["a", "b", "c"], missing="by-pattern", keep_order=True)
    assert release.data["a"].isna().all()
    assert release.data["b"].notna().all()
    assert release.data["c"].notna().sum() == 7
    rests_on_k_observed(source, release.data, ["a", "b", "c"], 3)


def test_records_without_any_key_are_one_class_or_refused() -> None:
    source = pd.DataFrame({"a": [None] * 3 + list(range(9))})
    released = protect(source, 3, rest="pass", keys="a", missing="by-pattern", keep_order=True).data
    assert released["a"].isna().tolist() == [True] * 3 + [False] * 9
    filled = protect(source.iloc[2:], 3, rest="pass", keys="a", missing="by-pattern").data
    assert filled["a"].isna().sum() == 3, "the records nearest to the mean fill the class up"
    with pytest.raises(DataError, match="would be missing in 1 record, fewer than k"):
        protect(
            source.iloc[2:].assign(b=source["a"]), 3, rest="pass", keys=["a", "b"], missing="by-pattern"
        )


def test_missing_codes() -> None:
    source = survey().assign(age=lambda frame: frame["age"].where(np.arange(N) % 4 > 0, 999))
    codes = {"age": [99, 999]}
    release = protected(source, missing_codes=codes, missing="by-pattern", keep_order=True)
    assert release.data["age"].isna().tolist() == (np.arange(N) % 4 == 0).tolist()
    assert release.data["age"].max() < 99
    with pytest.raises(DataError, match="10 missing values"):
        protected(source, missing_codes=codes)


def test_zeros_apart() -> None:
    random = np.random.default_rng(3)
    rent = np.where(np.arange(N) % 4 == 0, 0.0, random.normal(50, 5, N).round(1))
    source = survey().assign(rent=rent)
    apart = protected(
        source,
        rest="pass",
        keys=["age", "rent"],
        zeros="apart",
        pass_=["weight", "income"],
        keep_order=True,
    ).data
    assert (apart["rent"] == 0.0).tolist() == (rent == 0.0).tolist()
    rare = source.assign(rent=np.where(np.arange(N) < 2, 0.0, 9.0 + np.arange(N)))
    release = protected(rare, rest="pass", keys=["age", "rent"], zeros="apart", pass_=["weight", "income"])
    assert has(release.verdict.notes, note("zeros_mixed", records=2))


# --- weights, aggregates, decimals ---------------------------------------------------------------------


def test_weighted_totals_are_kept() -> None:
    source = survey()
    released = protected(source, 4, weight="weight", pass_=["rent"], keep_order=True).data
    for column in ("age", "income"):
        before, after = (float((frame["weight"] * frame[column]).sum()) for frame in (source, released))
        assert after == pytest.approx(before, rel=1e-4)
    assert released["income"].mean() != pytest.approx(source["income"].mean(), rel=1e-6)
    unchanged(source, released, "weight")


def test_a_dominant_weight_is_refused() -> None:
    source = survey().assign(weight=np.where(np.arange(N) == 7, 1000.0, 1.0))
    with unsafe(decide("dominated", "weight")):
        protected(source, weight="weight", pass_=["rent"])


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.nan, np.inf, 1e200])
def test_weights_are_above_zero(wrong: float) -> None:
    source = survey().assign(weight=np.where(np.arange(N) == 7, wrong, 1.0))
    with pytest.raises(DataError, match="'weight'"):
        protected(source, weight="weight", pass_=["rent"])


def test_medians() -> None:
    with pytest.raises(UnsafeRelease, match=r"accept=.real-values"):
        protected(aggregate="median")
    release = protected(aggregate="median", accept="real-values", keep_order=True)
    [task] = release.partitions
    groups = survey()[["age", "income"]].groupby(task.labels).median().to_numpy()
    assert np.allclose(release.data[["age", "income"]].to_numpy(), groups[task.labels])
    assert all(change.tolerance is None for change in release.verdict.mean_changes)


def test_decimals() -> None:
    source = survey()
    usual = protected(source).data
    assert np.array_equal(usual["age"].round(2), usual["age"])
    assert np.array_equal(usual["income"].round(4), usual["income"])
    released = protected(source, decimals={"age": 0, "income": 1}).data
    assert released["age"].dtype == np.int64
    assert abs(released["age"].sum() - source["age"].sum()) <= 2
    assert np.array_equal(released["income"].round(1), released["income"])
    assert released["income"].mean() == pytest.approx(source["income"].mean(), abs=0.05)


def test_totals_of_whole_numbers_are_kept() -> None:
    """Groups of different sizes leave half a unit of the total at most."""
    for seed in range(20):
        values = np.random.default_rng(seed).integers(0, 1000, 101)
        released = protect(pd.DataFrame({"x": values}), 3, rest="pass", keys="x", decimals={"x": 0}).data
        sizes = set(Counter(released["x"]).values())
        if len(sizes) > 1 and np.gcd.reduce(list(sizes)) == 1:
            assert abs(int(released["x"].sum()) - int(values.sum())) <= 1


@pytest.mark.parametrize("size", [1e300, 1.7e308, 1e-300, 5e-324, 2.0**62])
def test_values_of_any_size(size: float, tmp_path: Path) -> None:
    source = pd.DataFrame({"x": [size * (1 - at / 20) * (-1) ** at for at in range(12)], "y": range(12)})
    release = protect(source, 3, rest="pass", keys=["x", "y"])
    assert count(release.data, "x", "y") >= 3
    assert np.isfinite(release.data["x"]).all()
    for name in ("out.csv", "out.parquet"):
        record = json.loads(release.save(tmp_path / name).read_text())
        assert record["verdict"]["safe"] is True


def test_huge_values_with_weights_and_medians() -> None:
    source = pd.DataFrame({"x": [1.7e308, -1.7e308] * 6, "w": [2.0] * 12})
    assert np.isfinite(protect(source, 3, rest="pass", keys="x", weight="w").data["x"]).all()
    assert protect(
        source.drop(columns="w"), 3, rest="pass", keys="x", aggregate="median", accept="real-values"
    )


def test_whole_numbers_beyond_those_of_doubles(tmp_path: Path) -> None:
    source = pa.table({"x": [2**62 + at * 1_000_003 for at in range(12)]})
    release = protect(source, 3, rest="pass", keys="x", decimals={"x": 0})
    release.save(tmp_path / "out.csv")
    assert release.verdict.subsets[0].smallest >= 3


# --- several subsets, confidential columns ----------------------------------------------------------------


def test_several_subsets() -> None:
    words = {"keys": [["age"], ["income", "rent"]], "pass_": ["weight"]}
    with pytest.raises(UnsafeRelease, match="NOT jointly"):
        protected(**words)
    release = protected(**words, accept="partial")
    assert count(release.data, "age") >= 3
    assert count(release.data, "income", "rent") >= 3
    unique = Counter(release.data[["age", "income", "rent"]].itertuples(index=False)).values()
    assert release.verdict.joint is not None
    assert release.verdict.joint.unique == sum(times == 1 for times in unique)
    assert release.verdict.sentence.startswith("k-anonymous per subset, NOT jointly")


def test_each_column_by_itself() -> None:
    release = protect(
        survey(), 3, rest="pass", each=["age", "income"], pass_=["weight", "rent"], accept="partial"
    )
    assert [task.columns for task in release.partitions] == [("age",), ("income",)]
    assert count(release.data, "age") >= 3
    assert count(release.data, "income") >= 3
    [optimum] = microagg.partition_each(survey()[["age"]], 3).results
    assert release.partitions[0].sse == pytest.approx(optimum.sse)


def distinct(release: microagg.Release, column: str) -> int:
    return int(release.data.groupby(["age", "income"])[column].nunique(dropna=False).min())


def test_confidential_values_are_several_in_each_group() -> None:
    source = survey().assign(disease=np.where(np.arange(N) < 36, "a", "b"))
    with pytest.raises(UnsafeRelease, match="Confidential column 'disease' has fewer than 2"):
        protected(source, confidential="disease")
    accepted = protected(source, confidential="disease", accept="distinct")
    assert rules(accepted.verdict.accepted) == ["distinct"]
    assert accepted.record["plan"]["accept"] == ["distinct"]
    assert distinct(protected(confidential="disease", k=8, min_distinct=3), "disease") >= 3


def test_retry_looks_for_other_groups() -> None:
    found = 0
    for seed in range(6):
        source = survey(seed=seed)
        try:
            protected(source, 4, confidential="note", effort="fast", seed=seed)
        except UnsafeRelease:
            try:
                release = protected(source, 4, confidential="note", effort="fast", seed=seed, retry=True)
            except UnsafeRelease as error:
                assert "after 15 attempts" in str(error)  # noqa: PT017
                continue
            found += 1
            assert distinct(release, "note") >= 2
            assert "retried" in rules(release.verdict.notes)
    assert found


def test_confidential_columns_as_a_subset() -> None:
    words = {"confidential": ["rent", "weight"], "confidential_as": "subset", "pass_": ["region"]}
    release = protected(**words, k=6)
    assert count(release.data, "rent", "weight") >= 6
    assert [task.columns for task in release.partitions] == [("age", "income"), ("rent", "weight")]
    assert [counted.columns for counted in release.verdict.own_subsets] == [("rent", "weight")]


@pytest.mark.parametrize("kind", ["noise", "correlated-noise"])
def test_noise(kind: str) -> None:
    n = 4000
    random = np.random.default_rng(8)
    x = random.normal(100, 10, n)
    source = pd.DataFrame({"key": random.integers(0, 50, n), "x": x, "y": 3 * x + random.normal(0, 5, n)})
    source.loc[::7, "y"] = np.nan
    words = {"keys": "key", "confidential": ["x", "y"], "confidential_as": kind, "noise": 0.5}
    words["keep_order"] = True
    first, second = (protect(source, 3, **words, seed=1, method="mdav").data for _ in range(2))
    assert not np.allclose(first["x"], second["x"]), "the seed must not give the noise away"
    assert first["y"].isna().equals(source["y"].isna())
    moved = first["x"] - source["x"]
    both = source["y"].notna()
    together = np.corrcoef(moved[both], (first["y"] - source["y"])[both])[0, 1]
    if kind == "noise":
        assert moved.std() == pytest.approx(5.0, rel=0.1)
        assert abs(together) < 0.1
    else:
        assert first[["x", "y"]].cov().to_numpy() == pytest.approx(
            source[["x", "y"]].cov().to_numpy(), rel=0.1
        )
        assert together > 0.9
    assert first["x"].mean() == pytest.approx(source["x"].mean(), abs=0.5)


def test_correlated_noise_where_no_record_is_complete() -> None:
    """There is nothing to take correlations from; there must be noise all the same."""
    values = np.random.default_rng(6).normal(size=400)
    source = pd.DataFrame({"key": np.arange(400) % 9, "x": values, "y": values})
    source.loc[::2, "x"] = np.nan
    source.loc[1::2, "y"] = np.nan
    words = {"keys": "key", "confidential": ["x", "y"], "confidential_as": "correlated-noise", "noise": 1.0}
    released = protect(source, 3, keep_order=True, **words).data
    # Values are drawn towards the mean by a factor of √2; what else moves them is noise.
    rest = (released["x"] - source["x"] / np.sqrt(2.0)).std()
    assert rest == pytest.approx(source["x"].std() / np.sqrt(2.0), rel=0.2)


@pytest.mark.parametrize(
    "values", [[None] * 12, [5.0] * 12, [5.0, *[None] * 11]], ids=["missing", "one", "single"]
)
def test_noise_needs_spread(values: list[float | None]) -> None:
    source = pd.DataFrame({"key": range(12), "x": pd.Series(values, dtype=float)})
    with pytest.raises(DataError, match="fewer than two different values"):
        protect(source, 3, rest="pass", keys="key", confidential="x", confidential_as="noise")


# --- order, pairs, repetition ----------------------------------------------------------------------------


def test_records_are_shuffled_and_never_by_the_seed() -> None:
    first, second = (protected(seed=1) for _ in range(2))
    assert sorted(first.data["rent"]) == sorted(survey()["rent"])
    assert first.data["rent"].tolist() != second.data["rent"].tolist()
    assert list(first.data.index) == list(range(N)), "row labels would tell the order"
    kept = protected(seed=1, keep_order=True)
    assert kept.rows.tolist() == list(range(N))
    assert kept.data["rent"].tolist() == survey()["rent"].tolist()
    pd.testing.assert_frame_equal(first.data, kept.data.iloc[first.rows].reset_index(drop=True))
    assert "source_order" in rules(kept.verdict.notes)
    assert "source_order" not in rules(first.verdict.notes)


def test_pairs() -> None:
    with pytest.raises(DecisionNeeded, match=r"accept=.pairs"):
        protected(k=2)
    release = protected(k=2, accept="pairs")
    assert count(release.data, "age", "income") >= 2
    assert rules(release.verdict.accepted) == ["pairs"]


def test_threads_never_change_the_release() -> None:
    n = 3000
    random = np.random.default_rng(9)
    table = pa.table(
        {
            "stratum": np.arange(n) % 100,
            "a": random.normal(size=n),
            "b": random.normal(size=n),
        }
    )
    words = {"keys": ["a", "b"], "strata": "stratum", "effort": "fast", "keep_order": True}
    first, second, third = (
        protect(table, 3, seed=seed, threads=threads, **words) for seed, threads in ((7, 1), (7, 2), (8, 1))
    )
    assert first.data.equals(second.data)
    assert not first.data.equals(third.data)
    assert len(first.partitions) == 100


def test_nested_and_dictionary_columns_come_out_as_they_were(tmp_path: Path) -> None:
    table = pa.table(
        {
            "x": range(12),
            "list": [[place % 2] for place in range(12)],
            "struct": [{"u": place % 3, "v": None} for place in range(12)],
            "kind": pa.array(["a", "b", None] * 4).dictionary_encode(),
        }
    )
    release = protect(table, 3, rest="pass", keys="x", pass_=["list", "struct"], keep_order=True)
    assert release.data.select(["list", "struct", "kind"]).equals(table.select(["list", "struct", "kind"]))
    release.save(tmp_path / "out.parquet")
    with pytest.raises(DataError, match="cannot be written to CSV"):
        release.save(tmp_path / "out.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["microagg-internal", "out.parquet"]


def test_small_and_constant_data() -> None:
    assert list(protect(pd.DataFrame({"x": [1, 2, 6]}), 3, rest="pass", keys="x").data["x"]) == [3, 3, 3]
    assert list(protect(pd.DataFrame({"x": [5] * 9}), 3, rest="pass", keys="x").data["x"]) == [5] * 9
    assert protect(pd.DataFrame({"x": [5] * 9}), 3, rest="pass", keys="x").information_loss == 0.0
    assert not np.signbit(
        protect(pd.DataFrame({"x": [-0.0, 0.0] * 6}), 3, rest="pass", keys="x").data["x"]
    ).any()
    with pytest.raises(SettingsError, match="1 record"):
        protect(pd.DataFrame({"x": [1]}), 3, rest="pass", keys="x")
    flags = protect(pd.DataFrame({"x": [True, False] * 6}), 3, rest="pass", keys="x").data["x"]
    assert (flags.dtype, int(flags.sum())) == (np.dtype(bool), 6)
    with pytest.raises(DataError, match="infinite"):
        protect(pd.DataFrame({"x": [np.inf, *range(9)]}), 3, rest="pass", keys="x")


# --- anything at all ------------------------------------------------------------------------------------


@st.composite
def tables(draw: Any) -> tuple[pd.DataFrame, int, dict[str, Any]]:
    n = draw(st.integers(1, 30))
    numbers = st.one_of(
        st.integers(-3, 3).map(float),
        st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 2)),
        st.sampled_from([0.0, -0.0, 1e15, 1e300, -1e-300, 0.1]),
    )
    gaps = draw(st.booleans())
    cells = st.one_of(st.none(), numbers) if gaps else numbers

    def column(values: Any) -> list[Any]:
        return draw(st.lists(values, min_size=n, max_size=n))

    frame = pd.DataFrame(
        {
            "a": pd.Series(column(cells), dtype=float),
            "b": pd.Series(column(cells), dtype=float),
            "s": pd.Series(column(st.sampled_from(["u", "v", None])), dtype=object),
            "t": pd.Series(column(st.text(max_size=2)), dtype=object),
        }
    )
    words: dict[str, Any] = {"pass_": ["t"], "strata": "s"}
    words["keys"] = draw(st.sampled_from([["a", "b"], ["a"], [["a"], ["b"]]]))
    if words["keys"] == ["a"]:
        words["drop"] = "b"
    if words["keys"] == [["a"], ["b"]]:
        words["accept_partial"] = True
    words["small_strata"] = draw(st.sampled_from(["refuse", "nearest", "suppress"]))
    words["missing"] = draw(st.sampled_from(["by-pattern", "refuse"]))
    words["zeros"] = draw(st.sampled_from(["together", "apart"]))
    words["keep_order"] = draw(st.booleans())
    words["method"] = draw(st.sampled_from(["mdav", "mdav-mhm", "cbfs"]))
    words["scale"] = draw(st.sampled_from(["zscore", "rank", "range"]))
    if draw(st.booleans()):
        words["decimals"] = {"a": draw(st.integers(0, 3))}
    return frame, draw(st.integers(3, 6)), words


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(tables())
def test_a_release_is_k_anonymous_or_refused_in_our_own_words(drawn: Any) -> None:
    frame, k, words = drawn
    try:
        release = protect(frame, k, **words)
    except (SettingsError, DataError) as error:
        assert str(error).endswith(".")  # noqa: PT017
        return
    released = release.data
    subsets = words["keys"] if isinstance(words["keys"][0], list) else [words["keys"]]
    for subset in subsets:
        assert count(released, "s", *subset) >= k
    source = frame.iloc[release.rows].reset_index(drop=True)
    released = released.reset_index(drop=True)
    assert released["t"].tolist() == source["t"].tolist()
    for column in {name for subset in subsets for name in subset}:
        kept = released[column].notna()
        if set(frame[column].dropna()) == {0.0, 1.0}:  # yes or no
            assert set(released[column].dropna()) <= {0.0, 1.0}
            continue
        assert source[column].notna()[kept].all()
        places = words.get("decimals", {}).get(column)
        # A whole number may move by half of the largest group, others by half of their last digit.
        most = max(Counter(released[column][kept]).values(), default=0)
        slack = 0.01 * kept.sum() if places is None else most if places == 0 else kept.sum() * 10.0**-places
        size = source[column][kept].abs().max() if kept.any() else 0.0
        difference = sum(released[column][kept] / 32) - sum(source[column][kept] / 32)
        assert abs(difference) * 32 <= slack + 1e-9 * size * max(kept.sum(), 1)
