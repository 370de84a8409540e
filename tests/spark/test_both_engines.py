"""What both engines promise: each test runs in memory and on Spark, and asserts the same."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import microagg
from microagg import errors
from microagg.verdict import note
from microagg.wording import message_of
from tests.refusals import has, refusal, rules
from tests.spark.conftest import rows_of
from tests.spark.test_protect import KEYS, people, with_gaps

Engine = Callable[..., Any]


@pytest.fixture(params=["memory", "Spark"])
def protect(request: pytest.FixtureRequest) -> Engine:
    """`microagg.protect` of a table by one of the engines."""
    if request.param == "memory":
        return microagg.protect
    session = request.getfixturevalue("session")
    return lambda table, *args, **words: microagg.protect(session.createDataFrame(table), *args, **words)


def small(n: int = 24) -> pa.Table:
    """Two keys in four clusters, a confidential column, weights and a stratum."""
    random = np.random.default_rng(3)
    centres = np.repeat([10.0, 50.0, 90.0, 130.0], n // 4)
    return pa.table(
        {
            "a": centres + random.integers(0, 9, n),
            "b": random.integers(0, 99, n).astype(float),
            "illness": random.integers(0, 40, n).astype(str),
            "weight": np.round(random.uniform(0.8, 1.2, n), 2),
            "region": np.repeat(["N", "S"], n // 2),
        }
    )


def put(table: pa.Table, **columns: Any) -> pa.Table:
    """The table with these columns, new ones or in the place of those it has."""
    return pa.table({**{name: table[name] for name in table.column_names}, **columns})


# --- roles and values that are refused before records are grouped --------------------------------


def test_columns_that_may_identify_need_a_role(protect: Engine) -> None:
    numbers = np.repeat(np.arange(40), 3)
    names = ("nr", "household", "fcode", "name", "admitted")
    table = pa.table(
        {
            "a": np.random.default_rng(1).normal(size=120),
            **dict.fromkeys(names[:3], numbers),
            "name": [f"P{at}" for at in range(120)],
            "admitted": pa.array(np.arange(120) * 10**9, pa.timestamp("us")),
        }
    )
    with refusal(errors.SettingsError, "needs_role", columns=names):
        protect(table, 3, rest="pass", keys=["a"])


def test_columns_without_a_role(protect: Engine) -> None:
    with refusal(errors.SettingsError, "columns_without_role"):
        protect(small(), 3, keys=["a", "b"])


def test_refused_before_records_are_grouped(protect: Engine) -> None:
    table = small()
    a = table["a"].to_numpy()
    for kind, data, words in (
        ("missing_keys", put(table, a=pa.array([None, *a[1:]], pa.float64())), {}),
        ("infinite_values", put(table, a=np.r_[np.inf, a[1:]]), {}),
        ("unusable_key", put(table, illness=[b"ill"] * 24), {"keys": ["a", "illness"]}),
        ("as_many_categories_as_records", put(table, illness=NAMES), {"keys": ["a", "illness"]}),
        ("levels_missing", table, {"keys": ["a", "region"], "ordinal": {"region": ["N", "E"]}}),
        ("levels_not_given", table, {"keys": ["a", "region"], "ordinal": {"region": []}}),
        ("not_for_kind", table, {"keys": ["a", "region"], "decimals": {"region": 1}}),
        ("not_for_kind", table, {"resolution": {"a": "day"}}),
        ("bad_weights", put(table, weight=np.r_[-1.0, np.ones(23)]), {"weight": "weight"}),
        ("strata_too_small", table, {"k": 13, "strata": ["region"]}),
        ("unknown_columns", table, {"keys": ["a", "nobody"]}),
    ):
        with pytest.raises((errors.DataError, errors.SettingsError)) as refused:
            protect(data, **{"k": 3, "keys": ["a", "b"], "rest": "pass", **words})
        assert message_of(refused.value).kind == kind, refused.value


NAMES = [f"{letter}{other}" for letter in "abcd" for other in "uvwxyz"]


# --- rules: what must not be released, or is to be decided ---------------------------------------

HEAVY = np.where(np.arange(24) % 6 == 0, 1000.0, 1.0)
RULES: tuple[tuple[dict[str, Any], dict[str, Any], set[tuple[str, tuple[str, ...]]]], ...] = (
    ({}, {"k": 2}, {("pairs", ())}),
    (
        {
            "illness": ["none"] * 24, "double": 2.0 * small()["a"].to_numpy() + 1.0,
            "owner": np.repeat(np.arange(8), 3), "weight": HEAVY,
        },
        {"confidential": ["illness"], "pass_": ["double"], "respondent": "owner", "weight": "weight"},
        {
            ("distinct", ("illness",)), ("derived", ("a",)), ("respondents", ("owner",)),
            ("dominated", ("weight",)),
        },
    ),
    (
        {}, {"aggregate": "median", "keys": [["a"], ["b"]]}, {("real_values", ()), ("partial", ())},
    ),
)  # fmt: skip


@pytest.mark.parametrize(("columns", "words", "broken"), RULES)
def test_rules(
    protect: Engine,
    columns: dict[str, Any],
    words: dict[str, Any],
    broken: set[tuple[str, tuple[str, ...]]],
) -> None:
    given = {"k": 3, "keys": ["a", "b"], "rest": "pass", "method": "mdav", **words}
    with pytest.raises(errors.UnsafeRelease) as refused:
        protect(put(small(), **columns), **given)
    found = {(each.rule, tuple(each.columns)) for each in refused.value.findings}
    assert found == broken, refused.value.findings


def test_amounts_that_can_be_estimated(protect: Engine) -> None:
    amounts = np.where(np.arange(24) % 6 == 0, 1e6, small()["a"].to_numpy())
    with pytest.raises(errors.UnsafeRelease) as refused:
        protect(
            put(small(), a=amounts), 3, rest="pass", keys=["a", "b"], amounts=["a"], p_percent=20,
            method="mdav",
        )  # fmt: skip
    assert "dominated" in rules(refused.value.findings)


# --- what a release is ---------------------------------------------------------------------------


def test_verdict_and_record(protect: Engine) -> None:
    table = with_gaps(people(120))
    release = protect(
        table, 3, rest="pass", keys=KEYS, drop=["illness"], missing="by-pattern", method="mdav",
        weight="weight",
    )  # fmt: skip
    verdict, record = release.verdict, release.record
    assert verdict.safe
    assert verdict.records == 120
    assert verdict.subsets[0].smallest >= 3
    assert [each.column for each in verdict.not_counted] == ["weight", "region"]
    assert has(verdict.findings, note("values_given_up"))
    assert {each.column for each in verdict.mean_changes} == set(KEYS)
    assert release.groups == sum(task["groups"] for task in record["tasks"])
    assert (release.claims.k, release.bound_loss) == (3, None)
    assert record["plan"]["keys"] == [KEYS]
    assert record["input"]["records"] == 120
    assert record["verdict"] == verdict.as_dict()
    assert 0.0 < release.information_loss < 100.0
    assert rows_of(release.data.select(["region"])) == rows_of(table.select(["region"]))
    assert "illness" not in rows_of(release.data)


EDUCATION = ["none", "school", "college", "university"]
DATES = ["born", "seen"]
MIXED = ["age", "sex", "married", "education", "born", "seen", "region", "owner"]


def mixed(n: int = 90) -> pa.Table:
    """Keys of every kind, some of them missing; `nr` says which record it is."""
    random = np.random.default_rng(5)
    moments = random.integers(0, 10**9, n) * 60
    region = [None if each == "-" else each for each in random.choice(list("NSEW-"), n)]
    return pa.table(
        {
            "age": random.integers(18, 90, n).astype(float),
            "sex": random.choice(["f", "m"], n),
            "married": pa.array(random.integers(0, 2, n) == 1),
            "education": random.choice(EDUCATION, n, p=[0.1, 0.5, 0.2, 0.2]),
            "born": pa.array(random.integers(-9_000, 9_000, n).astype(np.int32), pa.date32()),
            "seen": pa.array(moments * 1_000_000, pa.timestamp("us")),
            "region": region,
            "owner": random.integers(0, 2, n),
            "weight": np.round(random.uniform(0.8, 1.2, n), 2),
            "part": random.choice(["1", "2"], n),
            "nr": np.arange(n),
        }
    )


def most_frequent(rows: list[int], values: list[Any], weights: list[float]) -> Any:
    """Of equally frequent ones that which is more frequent in all records, then the first; None is last."""
    own, overall = (
        {each: round(sum(weights[row] for row in some if values[row] == each), 9) for each in set(values)}
        for some in (rows, range(len(values)))
    )
    in_order = sorted(own, key=lambda each: (each is None, each if each is not None else 0))
    return max(in_order, key=lambda each: (own[each], overall[each], -in_order.index(each)))


def median_level(values: list[str], weights: list[float]) -> str:
    below = 0.0
    for level in EDUCATION:
        below += sum(weight for value, weight in zip(values, weights, strict=True) if value == level)
        if below >= sum(weights) / 2 - 1e-9:
            return level
    raise AssertionError


KINDS: dict[str, dict[str, Any]] = {
    "all": {"keys": MIXED, "method": "mdav"},
    "weights, strata": {
        "keys": MIXED, "weight": "weight", "strata": ["part"], "importance": {"sex": 3.0}, "effort": "fast",
        "resolution": {"born": "month", "seen": "day"},
    },
    "categories": {"keys": ["sex", "married", "region", "owner"], "effort": "fast"},
}  # fmt: skip


def as_days(moment: Any) -> float:
    return float(np.datetime64(str(moment)[:19]).astype("datetime64[s]").astype(float)) / 86_400


@pytest.mark.parametrize("policy", KINDS)
def test_keys_of_any_kind(protect: Engine, policy: str) -> None:
    words = KINDS[policy]
    keys, strata = words["keys"], words.get("strata", [])
    table = mixed().select([*keys, "weight", "part", "nr"])
    ordinal = {"education": EDUCATION} if "education" in keys else {}
    release = protect(table, 3, **{"rest": "pass", "pass_": ["nr"], "ordinal": ordinal, "seed": 3, **words})
    data = release.data if isinstance(release.data, pa.Table) else release.data.toArrow()
    for name in keys:
        kind = str(data[name].type).removeprefix("large_").replace(", tz=UTC", "")
        assert kind == str(table[name].type), name
    before, after = table.to_pydict(), data.sort_by("nr").to_pydict()
    weights = before["weight"] if "weight" in words else [1.0] * len(table)
    classes: dict[Any, list[int]] = {}
    for row, combination in enumerate(zip(*(after[name] for name in [*strata, *keys]), strict=True)):
        classes.setdefault(combination, []).append(row)
    assert min(map(len, classes.values())) >= 3
    for rows in classes.values():
        own = [weights[row] for row in rows]
        for name in keys:
            values, published = [before[name][row] for row in rows], after[name][rows[0]]
            if name == "education":
                assert published == median_level(values, own)
            elif name == "age":
                assert published == pytest.approx(np.average(values, weights=own), abs=0.006)
            elif name in DATES:
                off = np.average([as_days(value) for value in values], weights=own) - as_days(published)
                low, high = (0.0, 31.0) if words.get("resolution", {}).get(name) == "month" else (-0.5, 0.5)
                assert low - 1e-6 <= off <= high + 1e-6, name
            else:
                assert published == most_frequent(rows, before[name], weights), name
    losses = release.losses.columns
    assert set(losses) == set(keys)
    for name in keys:
        if name not in ("age", "education", *DATES) and "weight" not in words:
            pairs = zip(before[name], after[name], strict=True)
            assert losses[name].changed == sum(one != other for one, other in pairs), name


def types(n: int = 60) -> pa.Table:
    """Keys of types that are rare, and of values for which Arrow has several."""
    random = np.random.default_rng(6)
    days, moments = random.integers(0, 3, n), random.integers(0, 4, n) * 10**6
    is_one = random.integers(0, 2, n) == 1
    return pa.table(
        {
            "price": pa.array(map(Decimal, random.integers(0, 10**6, n).tolist()), pa.decimal128(12, 2)),
            "owner": pa.array(is_one.astype(float)).cast(pa.decimal128(12, 2)),
            "zeros": np.where(is_one, 1.0, np.where(random.integers(0, 2, n) == 1, -0.0, 0.0)),
            "visit": pa.array([None if day == 2 else day for day in days.tolist()], pa.date32()),
            "round": pa.array(days.astype(np.int32), pa.date32()),
            "moment": pa.array(moments, pa.timestamp("us", "UTC")),
            "nobody": pa.array([None] * n, pa.string()),
        }
    )


@pytest.mark.parametrize("categories", ["mode", "existing"])
def test_keys_of_rare_types(protect: Engine, categories: str) -> None:
    table = types()
    release = protect(
        table, 3, keys=table.column_names, nominal=["visit", "moment"], categories=categories,
        method="mdav", ordinal={"round": ["1970-01-01", "1970-01-02", "1970-01-03"]},
    )  # fmt: skip
    data = release.data if isinstance(release.data, pa.Table) else release.data.toArrow()
    assert data.schema.types[1:] == table.schema.types[1:]
    before, after = ([*map(tuple, rows_of(each.drop_columns(["price"])))] for each in (table, data))
    assert min(Counter(rows_of(data)).values()) >= 3
    for values, published in zip(zip(*before, strict=True), zip(*after, strict=True), strict=True):
        assert set(published) <= set(values)
    assert release.losses.columns["zeros"].changed < len(table) / 2


def test_strata_that_are_no_numbers_are_counted(protect: Engine) -> None:
    table = put(small(), region=np.repeat([1.0, np.nan], 12))
    with pytest.raises(errors.DataError, match="is NaN in 12 records"):
        protect(table, 3, keys=["a", "b"], strata=["region"], rest="drop")


def test_taxonomies(protect: Engine) -> None:
    """A group publishes the one of its codes from which the others are least apart."""
    random = np.random.default_rng(8)
    parents = {"A": "", "B": "", **{f"{top}{at}": top for top in "AB" for at in range(6)}}
    work = [f"{random.choice(['A', 'B'])}{random.integers(0, 6)}" for _ in range(60)]
    table = pa.table({"age": random.normal(size=60), "work": work, "nr": np.arange(60)})
    release = protect(
        table, 5, keys=["age", "work"], pass_=["nr"], taxonomy={"work": parents}, method="mdav"
    )
    data = release.data if isinstance(release.data, pa.Table) else release.data.toArrow()
    after = data.sort_by("nr").to_pydict()
    groups: dict[Any, list[int]] = {}
    for row, combination in enumerate(zip(after["age"], after["work"], strict=True)):
        groups.setdefault(combination, []).append(row)
    apart = lambda one, other: (one[0] != other[0]) + (one != other)  # noqa: E731
    for (_, published), rows in groups.items():
        own = [work[row] for row in rows]
        totals = {code: sum(apart(code, other) for other in own) for code in own}
        assert totals[published] == min(totals.values())
    distance = sum(apart(one, other) for one, other in zip(work, after["work"], strict=True)) / 2.0
    assert release.losses.columns["work"].distance == pytest.approx(distance)


def test_missing_keys_of_any_kind(protect: Engine) -> None:
    """Missing is a category of nominal keys; other kinds go by pattern."""
    table = mixed().select([*MIXED, "nr"])
    gaps = [row % 4 == 0 for row in range(len(table))]
    for name in ("age", "education", "born"):
        pairs = zip(gaps, table[name].to_pylist(), strict=True)
        own = [None if gap else value for gap, value in pairs]
        table = put(table, **{name: pa.array(own, table[name].type)})
    words: dict[str, Any] = {"ordinal": {"education": EDUCATION}, "method": "mdav"}
    with refusal(errors.DataError, "missing_keys"):
        protect(table, 3, keys=["education", "sex"], rest="drop", **words)
    release = protect(table, 3, keys=MIXED, pass_=["nr"], missing="by-pattern", **words)
    data = release.data if isinstance(release.data, pa.Table) else release.data.toArrow()
    after = data.sort_by("nr").to_pydict()
    for name in ("age", "education", "born"):
        assert [value is None for value in after[name]] == gaps, name
    assert None in after["region"]
    assert release.verdict.subsets[0].smallest >= 3
    assert {each.column for each in release.verdict.mean_changes} == {"age"}


def test_writing(protect: Engine, tmp_path: Path) -> None:
    release = protect(small(), 3, rest="pass", keys=["a", "b"], drop=["illness"], method="mdav")
    out = tmp_path / "out.parquet"
    record = release.save(out)
    assert rows_of(parquet.read_table(out)) == rows_of(release.data)
    assert json.loads(record.read_text())["output"]["name"] == "out.parquet"
    assert record.parent == tmp_path / "microagg-internal"
    assert {path.name for path in tmp_path.iterdir()} == {"out.parquet", "microagg-internal"}
    with refusal(errors.SettingsError, "output_exists"):
        release.save(out)
    release.save(out, force=True)
    with refusal(errors.SettingsError, "no_output_folder"):
        release.save(tmp_path / "nowhere" / "out.parquet")
    with refusal(errors.SettingsError, "internal_beside_release"):
        release.save(tmp_path / "other.parquet", record=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"out.parquet", "microagg-internal"}
