"""Keys that hold categories, levels and dates: what is counted of them, and releases broken on purpose."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import microagg
from microagg.engines.release import Release
from microagg.errors import UnsafeRelease
from microagg.model import Microdata, Origin, StatisticalLabels
from microagg.verdict import Verdict
from microagg.verify import check_source, verify_protected
from microagg.verify.categories import (
    moved_shares,
    new_combinations,
    not_in_source,
    wrong_dates,
    wrong_median_levels,
    wrong_modes,
    wrong_nearest_codes,
)
from microagg.verify.classes import Classes
from microagg.verify.key_readings import key_readings
from microagg.verify.linking import indicators, linked_shares
from tests.unit.verify.releases import put

N = 60
LEVELS = ["low", "middle", "high"]
DAYS = [date(1999, 12, 20) + timedelta(days=37 * at % 900) for at in range(N)]
HOURS = [datetime(2020, 2, 27, 5, tzinfo=UTC) + timedelta(hours=31 * at % 2000) for at in range(N)]


def drawn(values: list[Any], seed: int) -> list[Any]:
    return [values[at] for at in np.random.default_rng(seed).integers(0, len(values), N)]


def ordered(values: list[str]) -> pa.Array:
    codes = pa.array([LEVELS.index(value) for value in values], pa.int8())
    return pa.DictionaryArray.from_arrays(codes, pa.array(LEVELS), ordered=True)


SOURCE = pa.table(
    {
        "region": drawn(["north", "south", "east, far", "", "007"], 1),
        "school": ordered(drawn(LEVELS, 2)),
        "sector": pa.array(drawn([3, 7, 9_007_199_254_740_993, 9_007_199_254_740_992], 3), pa.int64()),
        "married": drawn([True, False, None], 4),
        "retired": pa.array(drawn([0, 1], 5), pa.int8()),
        "born": pa.array(DAYS, pa.date32()),
        "seen": pa.array(HOURS, pa.timestamp("ms", "Europe/Berlin")),
        "note": [f"{at % 7}" for at in range(N)],
    }
)
KEYS = [name for name in SOURCE.column_names if name != "note"]
KINDS = {
    "nominal": ("region", "sector", "married", "retired"),
    "ordinal": ("school",),
    "date": ("born", "seen"),
}


@pytest.fixture(scope="module")
def release() -> Release:
    return microagg.protect(
        SOURCE,
        4,
        keys=KEYS,
        nominal=["region", "sector"],
        resolution={"born": "month"},
        rest="pass",
        keep_order=True,
    )


def verdict_on(release: Release, released: pa.Table) -> Verdict:
    return verify_protected(check_source(release.source), released, release.rows, release.protection)


def with_class_changed(release: Release, name: str, change: Any) -> pa.Table:
    """The value of the first record's class made another, in all of its records."""
    table = release.data
    rows = table.select(KEYS).to_pylist()
    values = table.column(name).to_pylist()
    new = [change(value) if row == rows[0] else value for row, value in zip(rows, values, strict=True)]
    kind = table.schema.field(name).type
    if pa.types.is_dictionary(kind):
        return put(table, name, ordered(new))
    return put(table, name, pa.array(new, kind))


def other(name: str) -> Any:
    """Another value of the source."""
    values = sorted({value for value in SOURCE.column(name).to_pylist() if value is not None})
    return lambda value: next(each for each in reversed(values) if each != value)


def rules(verdict: Verdict) -> set[str]:
    return {each.rule for each in verdict.failures}


def test_the_release_is_safe_and_counted(release: Release) -> None:
    verdict = verdict_on(release, release.data)
    assert verdict.safe
    found = verdict.category_changes
    assert found is not None
    assert found.columns == ("region", "school", "sector", "married", "retired")
    sides = [table.select(found.columns).to_pylist() for table in (SOURCE, release.data)]
    known, released = ({tuple(row.items()) for row in rows} for rows in sides)
    assert (found.combinations, found.new) == (len(released), len(released - known))
    assert found.new_records == sum(tuple(row.items()) not in known for row in sides[1])
    same = sum(old[name] == new[name] for old, new in zip(*sides, strict=True) for name in found.columns)
    assert (found.unchanged, found.cells) == (same, 5 * N)
    for name, share in found.margins.items():
        before, after = ([row[name] for row in rows] for rows in sides)
        moved = sum(abs(before.count(value) - after.count(value)) for value in set(before)) / (2 * N)
        assert share == pytest.approx(moved)
    assert verdict.as_dict()["counted"]["category_changes"]["new"] == found.new
    assert verdict.changes.kinds == {name: kind for kind, names in KINDS.items() for name in names}
    noted = {each.rule: each for each in verdict.notes}
    assert noted["unchanged_categories"].figures["records"] == same
    assert set(noted["unchanged"].columns) <= {"born", "seen"}


def test_a_swapped_category(release: Release) -> None:
    for name in KINDS["nominal"]:
        assert rules(verdict_on(release, with_class_changed(release, name, other(name)))) == {
            "not_the_mode"
        }, name


def test_a_level_that_is_not_the_median(release: Release) -> None:
    found = rules(verdict_on(release, with_class_changed(release, "school", other("school"))))
    assert found == {"not_the_median_level"}


@pytest.mark.parametrize(
    ("name", "by"),
    [
        ("born", timedelta(days=31)),
        ("born", timedelta(days=-31)),
        ("seen", timedelta(hours=2)),
        ("seen", timedelta(hours=-2)),
    ],
    ids=str,
)
def test_a_shifted_date(release: Release, name: str, by: timedelta) -> None:
    def shifted(value: Any) -> Any:
        moved = value + by
        return moved.replace(day=1) if name == "born" else moved

    assert rules(verdict_on(release, with_class_changed(release, name, shifted))) == {"not_the_date"}


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("region", "west", "new_category"),
        ("region", "NORTH", "new_category"),
        ("sector", 9_007_199_254_740_994, "new_category"),
        ("retired", 2, "new_category"),
        ("retired", None, "new_category"),
        ("born", date(2000, 1, 2), "date_too_exact"),
        ("seen", datetime(2020, 3, 1, 0, 30, tzinfo=UTC), "date_too_exact"),
        ("seen", datetime(2020, 3, 1, 0, 0, 0, 5000, tzinfo=UTC), "date_too_exact"),
        ("born", None, "values_vanished"),
    ],
)
def test_a_value_that_cannot_be(release: Release, name: str, value: Any, rule: str) -> None:
    assert rule in rules(verdict_on(release, with_class_changed(release, name, lambda _: value)))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("region", pa.large_string()),
        ("school", pa.string()),
        ("school", pa.dictionary(pa.int8(), pa.string())),
        ("sector", pa.float64()),
        ("married", pa.string()),
        ("retired", pa.int64()),
        ("born", pa.timestamp("s")),
        ("seen", pa.timestamp("ms")),
        ("seen", pa.timestamp("ms", "UTC")),
    ],
    ids=str,
)
def test_another_type(release: Release, name: str, kind: pa.DataType) -> None:
    column = release.data.column(name)
    if pa.types.is_dictionary(kind):
        other = pa.chunked_array([pa.array(column.to_pylist()).dictionary_encode().cast(kind)])
    else:
        other = column.cast(kind, safe=False)
    assert rules(verdict_on(release, put(release.data, name, other))) == {"column_retyped"}


def test_levels_in_another_order(release: Release) -> None:
    """What a column's dictionary says does not count: the source's does."""
    released = release.data.column("school").combine_chunks()
    texts = pa.array(["high", "low", "middle"])
    codes = pa.array([texts.to_pylist().index(value) for value in released.to_pylist()], pa.int8())
    turned = pa.DictionaryArray.from_arrays(codes, texts, ordered=True)
    assert verdict_on(release, put(release.data, "school", turned)).safe


# --- how columns are read ------------------------------------------------------------------------


def test_codes_of_a_labelled_file_are_categories() -> None:
    labels = StatisticalLabels(value_labels={"sex": {1.0: "m", 2.0: "f"}, "age": {99.0: "unknown"}})
    table = pa.table({"sex": [1.0, 2.0] * 6, "age": [float(at) for at in range(12)]})
    made = microagg.protect(
        Microdata(table, Origin("frame", "test", labels=labels)), 3, keys=["sex", "age"]
    )
    checked = check_source(made.source)
    readings = key_readings(checked.table, made.protection, checked.notation)
    assert list(readings) == ["sex"]
    assert readings["sex"].kind == "nominal"


# --- what classes publish ------------------------------------------------------------------------


def classes(labels: list[int]) -> Classes:
    return Classes(np.array(labels), max(labels) + 1)


def doubles(*values: float) -> Any:
    return np.array(values, dtype=np.float64)


def test_modes_with_ties_and_weights() -> None:
    before, two = doubles(0, 1, 2, 2, 1, 0), classes([0, 0, 0, 1, 1, 1])
    assert wrong_modes(before, doubles(0, 0, 0, 0, 0, 0), two, None) == 0  # the first of those that tie
    assert wrong_modes(before, doubles(2, 2, 2, 0, 0, 0), two, None) == 1
    heavy = doubles(1, 1, 1.5, 1, 1, 1)
    assert wrong_modes(before, doubles(2, 2, 2, 2, 2, 2), two, heavy) == 0  # 2 has most weight overall
    assert wrong_modes(before, doubles(2, 2, 2, 0, 0, 0), two, heavy) == 1


def test_median_levels_with_weights() -> None:
    before, one = doubles(0, 1, 2, 3), classes([0, 0, 0, 0])
    assert wrong_median_levels(before, doubles(1, 1, 1, 1), one, None) == 0
    assert wrong_median_levels(before, doubles(2, 2, 2, 2), one, None) == 1
    assert wrong_median_levels(before, doubles(2, 2, 2, 2), one, doubles(1, 1, 1, 2)) == 0


@pytest.mark.parametrize(("resolution", "right"), [("day", 2), ("month", 0), ("year", 0), ("hour", 1.5)])
def test_means_of_dates(resolution: str, right: float) -> None:
    day, one = 86_400.0, classes([0, 0])
    before = doubles(0, 3 * day)
    for shift in (-31, 0, 31):
        after = np.full(2, (right + shift) * day)
        assert wrong_dates(before, after, one, None, resolution, "mean") == (shift != 0)


def test_combinations_and_shares() -> None:
    gap = float("nan")
    before, after = (
        [doubles(0, 0, 1, gap), doubles(0, 1, 1, 1)],
        [doubles(0, 1, gap, gap), doubles(1, 0, 1, 0)],
    )
    assert new_combinations(before, after) == (4, 2, 2)
    assert moved_shares(before[0], after[0], None, None) == pytest.approx(0.25)
    assert moved_shares(doubles(0, 1), doubles(0, 0), doubles(3, 1), doubles(3, 1)) == pytest.approx(0.25)


def test_combinations_of_records_that_lack_a_key_are_looked_for_too() -> None:
    gap = float("nan")
    before = [doubles(0, 1, 1), doubles(0, 1, gap), doubles(0, 0, 1)]
    assert not_in_source(before, [doubles(0, 1), doubles(gap, gap), doubles(0, 1)]) == 0
    assert not_in_source(before, [doubles(0, 0), doubles(gap, gap), doubles(0, 1)]) == 1
    assert not_in_source(before, [doubles(0, 1), doubles(1, 1), doubles(0, 1)]) == 2


TREE = {"1": "", "2": "", "11": "1", "12": "1", "21": "2", "22": "2", "111": "11", "112": "11", "211": "21"}


def test_codes_that_are_not_the_nearest_in_a_taxonomy() -> None:
    random = np.random.default_rng(4)
    lines = ((0, 2, 5), (0, 2, 6), (0, 3, 3), (1, 4, 7), (1, 1, 1))
    apart = (np.array(lines)[:, np.newaxis] != np.array(lines)).sum(axis=2)
    for trial in range(60):
        n = int(random.integers(4, 60))
        labels = np.unique(random.integers(0, 9, n), return_inverse=True)[1].astype(np.int64)
        classes = Classes(labels, int(labels.max()) + 1)
        before = random.integers(0, 5, n)
        weights = random.integers(1, 3, n) * 0.1 if trial % 2 else None
        weight = np.ones(n) if weights is None else weights
        overall = np.bincount(before, weight, 5)
        after = np.zeros(n)
        for label in range(classes.count):
            sums = apart[:, before[labels == label]] @ weight[labels == label]
            places = [(round(sums[code], 9), round(-overall[code], 9), code) for code in range(5)]
            after[labels == label] = min(places[code] for code in set(before[labels == label].tolist()))[2]
        assert wrong_nearest_codes(before.astype(float), after, classes, weights, lines) == 0, trial
        wrong = np.where(labels == 0, (after + 1) % 5, after)
        assert wrong_nearest_codes(before.astype(float), wrong, classes, weights, lines) == 1, trial


def test_a_release_with_a_taxonomy() -> None:
    codes = [*TREE, None]
    table = pa.table(
        {"x": np.arange(N) % 17, "job": pa.array(drawn(codes, 7)), "pay": drawn([1.5, 2.0, 3.0], 9)}
    )
    release: Any = microagg.protect(
        table, 4, keys=["x", "job"], nominal="job", taxonomy={"job": TREE}, pass_="pay", keep_order=True
    )
    reading = key_readings(table, release.protection, check_source(release.source).notation)["job"]
    by_code = dict(zip(reading.places, reading.taxonomy, strict=True))
    apart = {
        (one, other): sum(a != b for a, b in zip(by_code[one], by_code[other], strict=True))
        for one in codes
        for other in codes
    }
    others = ("111", "112", "11", "12", "1", "2", None)
    assert [apart["111", each] for each in others] == [0, 1, 1, 2, 2, 3, 3]
    before, after = (each["job"].to_pylist() for each in (table, release.data))
    distance = sum(apart[old, new] / 3 for old, new in zip(before, after, strict=True))
    column = release.losses.columns["job"]
    assert column.distance == pytest.approx(distance)
    one_for_all = min(sum(apart[code, old] / 3 for old in before) for code in codes)
    assert column.percent == pytest.approx(100.0 * distance / one_for_all)
    assert verdict_on(release, release.data).safe
    assert release.verdict.changes.kinds == {"job": "taxonomy"}
    rows = release.data.select(["x", "job"]).to_pylist()
    assert rows[0]["job"] != "22"
    swapped = pa.array(["22" if row == rows[0] else row["job"] for row in rows])
    assert rules(verdict_on(release, put(release.data, "job", swapped))) == {"not_the_nearest_code"}


# --- what other columns tell ---------------------------------------------------------------------


def survey(**more: Any) -> pa.Table:
    random = np.random.default_rng(3)
    n = 300
    days = [date(1940, 1, 1) + timedelta(days=int(day)) for day in random.integers(0, 22_000, n)]
    codes = random.integers(0, 5, n)
    made = {
        name: [make(at, day) for at, day in zip(codes, days, strict=True)] for name, make in more.items()
    }
    return pa.table({"region": [f"r{at}" for at in codes], "born": days, **made})


@pytest.mark.parametrize(
    ("make", "key", "kind", "action"),
    [
        (lambda code, _: 10 * int(code) + 7, "region", "code", "refuse"),
        (lambda code, _: "snowy"[code], "region", "code", "refuse"),
        (lambda code, _: f"R{code}", "region", "equal", "refuse"),
        (lambda _, day: day.strftime("%d.%m.%Y"), "born", "equal", "refuse"),
        (lambda _, day: day + timedelta(days=30), "born", "affine", "refuse"),
        (lambda _, day: day.year, "born", "year", "decide"),
        (lambda _, day: 2020 - day.year, "born", "year", "decide"),
        (lambda _, day: day.strftime("%Y-%m"), "born", "month", "decide"),
    ],
)
def test_columns_that_give_a_masked_key_back(make: Any, key: str, kind: str, action: str) -> None:
    with pytest.raises(UnsafeRelease) as caught:
        microagg.protect(survey(other=make), 5, keys=["region", "born"], pass_=["other"], effort="fast")
    (found,) = caught.value.findings
    assert (found.rule, found.columns, found.figures["kind"], found.action) == (
        "derived",
        (key,),
        kind,
        action,
    )


def test_columns_that_do_not_give_a_key_back() -> None:
    random = np.random.default_rng(4)
    table = survey(other=lambda *_: int(random.integers(7)), late=lambda *_: DAYS[random.integers(N)])
    release = microagg.protect(table, 5, keys=["region", "born"], pass_=["other", "late"], effort="fast")
    assert not release.verdict.accepted


def test_a_confidential_category_that_follows_from_the_keys() -> None:
    labels = np.arange(200) // 4
    keys = [np.tile([0.0, 1.0, 2.0, 3.0], 50)]
    follows = pa.array([f"c{at % 4}" for at in range(200)])
    random = np.random.default_rng(5)
    chance = pa.array([f"c{at}" for at in random.integers(0, 4, 200)])
    points = [each for key in keys for each in indicators(key)]
    found = linked_shares(points, labels, {"follows": follows, "chance": chance})
    assert found["follows"] == 1.0
    assert found["chance"] < 0.5
