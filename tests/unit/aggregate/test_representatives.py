"""Which categories and numbers groups publish so that margins, tables or combinations are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from microagg import protect
from microagg.aggregate import masking, tables
from microagg.aggregate.tables import Coding, TableColumn
from microagg.errors import SettingsError, UnsafeRelease
from microagg.verify.two_way import allowed
from tests.refusals import rules

KEYS = ["age", "region", "school", "married"]
LEVELS = ["low", "middle", "high"]


def survey(n: int = 600, seed: int = 3) -> pa.Table:
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n)
    place = np.argsort(np.argsort(hidden + rng.normal(size=n))) / n
    return pa.table(
        {
            "age": np.clip(np.round(40 + 12 * hidden + 4 * rng.normal(size=n)), 18, 90).astype(int),
            "region": [f"r{code}" for code in (place**2 * 12).astype(int)],
            "school": [LEVELS[code] for code in rng.choice(3, n, p=[0.6, 0.3, 0.1])],
            "married": (hidden + rng.normal(size=n) > 0.3).astype(int),
            "vote": [f"party {code}" for code in rng.integers(0, 5, n)],
            "weight": rng.uniform(0.5, 3.0, n),
        }
    )


def release(how: str, source: pa.Table | None = None, **more: Any) -> Any:
    given = {
        "keys": KEYS,
        "confidential": "vote",
        "rest": "drop",
        "respondent": "none",
        "ordinal": {"school": LEVELS},
        "method": "mdav",
        "keep_order": True,
        "accept": ["distinct", "predicted"],
        **more,
    }
    return protect(survey() if source is None else source, 5, categories=how, **given)


def shares(column: Any, weights: Any = None) -> dict[Any, float]:
    values = np.array(column.to_pylist(), dtype=object).astype(str)
    weight = np.ones(len(values)) if weights is None else np.asarray(weights)
    return {value: float(weight[values == value].sum() / weight.sum()) for value in np.unique(values)}


def distance(one: dict[Any, float], other: dict[Any, float]) -> float:
    return 0.5 * sum(abs(one.get(cell, 0.0) - other.get(cell, 0.0)) for cell in {*one, *other})


def pair_distance(before: pa.Table, after: pa.Table, one: str, other: str) -> float:
    joined = []
    for table in (before, after):
        columns = (texts(table[name]) for name in (one, other))
        joined.append(pa.array([" and ".join(cell) for cell in zip(*columns, strict=True)]))
    return distance(shares(joined[0]), shares(joined[1]))


def texts(column: Any) -> list[str]:
    """37.0 is 37."""
    return [f"{value:g}" if isinstance(value, float) else str(value) for value in column.to_pylist()]


def test_margins_are_kept() -> None:
    before = survey()
    by_mode, kept = release("mode").data, release("margins").data
    for name in ("region", "school", "married"):
        far = distance(shares(before[name]), shares(kept[name]))
        assert far <= distance(shares(before[name]), shares(by_mode[name]))
        assert far < 0.02
    assert kept["age"].equals(by_mode["age"])


def test_margins_are_kept_with_weights() -> None:
    before, kept = (
        survey(),
        release(
            "margins", weight="weight", rest="pass", accept=["distinct", "predicted", "dominated"]
        ).data,
    )
    weights = before["weight"].to_numpy()
    for name in ("region", "school", "married"):
        assert distance(shares(before[name], weights), shares(kept[name], weights)) < 0.02


def test_tables_are_kept() -> None:
    before = survey()
    by_mode, kept = release("mode"), release("tables")
    pairs = [(one, other) for at, one in enumerate(KEYS) for other in [*KEYS[at + 1 :], "vote"]]
    old, new = (
        np.mean([pair_distance(before, found.data, *pair) for pair in pairs]) for found in (by_mode, kept)
    )
    assert new < 0.5 * old
    changes = kept.verdict.category_changes
    assert changes is not None
    assert changes.two_way is not None
    assert changes.two_way < changes.two_way_of_middles
    assert kept.information_loss > by_mode.information_loss, "what is really published is measured"
    # Numbers are those of the source's grid, and their mean hardly moves.
    ages = kept.data["age"].to_numpy()
    assert set(ages.tolist()) <= set(before["age"].to_pylist())
    assert abs(ages.mean() - before["age"].to_numpy().mean()) < 0.3


def test_tiny_files_may_have_tables_farther_away_by_chance() -> None:
    """One group of five is a third of all records."""
    more = {"weight": "weight", "rest": "pass", "accept": ["distinct", "predicted", "dominated"]}
    changes = release("tables", survey(15, seed=20), method="cbfs", **more).verdict.category_changes
    assert changes is not None
    assert changes.two_way > changes.two_way_of_middles + 0.01, "otherwise nothing is tested"
    assert allowed(5, 15.0) > allowed(5, 30.0) > allowed(5, 100.0) == allowed(3, 1e6)


def test_numbers_of_records_that_are_left_out_are_between_no_others() -> None:
    """All of them lie where the released ones have no number."""
    rng = np.random.default_rng(0)
    kept = rng.choice([*range(40), *range(60, 100)], 400)
    left_out = 40.0 + 20.0 * rng.random(500).round(3)
    source = pa.table(
        {
            "x": np.concatenate([kept, left_out]),
            "c": rng.choice(list("abcd"), 900),
            "part": ["large"] * 400 + [f"part {at // 2}" for at in range(500)],
        }
    )
    given = {"keys": ["x", "c"], "strata": "part", "small_strata": "suppress"}
    for k in (3, 5, 10):
        protect(source, k, **given, categories="tables", method="mdav", respondent="none")


@pytest.mark.parametrize("unit", [1e300, 1.0, 1e-300])
def test_numbers_and_weights_of_any_size_follow_tables(unit: float) -> None:
    source = survey()
    ages = pa.array(source["age"].to_numpy() * unit)
    source = source.set_column(0, "age", ages).append_column(
        "pay", pa.array(np.random.default_rng(1).normal(size=600) * unit)
    )
    source = source.set_column(5, "weight", pa.array(source["weight"].to_numpy() * 1e-80))
    found = release(
        "tables",
        source,
        keys=["age", "pay", "region"],
        ordinal=None,
        weight="weight",
        accept=["distinct", "predicted", "dominated"],
    )
    assert set(found.data["age"].to_pylist()) <= set(ages.to_pylist())
    # And confidential numbers of any size are kept with them.
    release("tables", source, keys=["region", "married"], ordinal=None, confidential="pay")


def test_numbers_by_category_are_kept() -> None:
    before = survey(1500)
    by_mode, kept = (release(how, before).data for how in ("mode", "tables"))

    def means(table: pa.Table) -> dict[str, float]:
        ages, regions = table["age"].to_numpy(), np.array(table["region"].to_pylist())
        return {region: float(ages[regions == region].mean()) for region in np.unique(regions)}

    common = means(by_mode).keys() & means(kept).keys()
    far = [
        np.mean([abs(means(before)[region] - means(table)[region]) for region in common])
        for table in (by_mode, kept)
    ]
    assert far[1] < 1.0


def test_existing_combinations() -> None:
    before = survey(100, seed=4)
    names = ["region", "school", "married"]
    known = set(zip(*(before[name].to_pylist() for name in names), strict=True))
    released = {how: release(how, before).data for how in ("mode", "existing")}
    combinations = {
        how: set(zip(*(table[name].to_pylist() for name in names), strict=True))
        for how, table in released.items()
    }
    assert combinations["mode"] - known, "otherwise nothing is tested"
    assert combinations["existing"] <= known


def test_every_way_with_gaps_strata_and_subsets() -> None:
    source = survey()
    ages = [None if at % 7 == 0 else age for at, age in enumerate(source["age"].to_pylist())]
    source = source.set_column(0, "age", pa.array(ages))
    schools = [None if at % 5 == 0 else level for at, level in enumerate(source["school"].to_pylist())]
    source = source.set_column(2, "school", pa.array(schools))
    parts = {f"r{code}": f"part {code // 4}" for code in range(12)}
    parts |= {f"part {part}": "" for part in range(3)}
    for how in ("margins", "tables", "existing"):
        release(how, source, missing="by-pattern")
        release(how, strata="married", keys=["age", "region", "school"])
        release(
            how,
            keys=[["age", "region"], ["school", "married"]],
            accept=["distinct", "predicted", "partial"],
        )
        release(how, aggregate="median", accept=["distinct", "predicted", "real-values"])
        release(how, taxonomy={"region": parts})


def test_without_categories_it_is_refused() -> None:
    with pytest.raises(SettingsError) as refused:
        release("tables", keys=["age", "weight"], ordinal=None)
    assert "categories" in str(refused.value)


def test_too_many_categories_for_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST_CATEGORIES", 5)
    with pytest.raises(SettingsError):
        release("tables")


def test_rows_of_tables() -> None:
    few = Coding.of_numbers(np.array([17.5, 22.0, np.nan, 27.0]))
    assert few.codes(np.array([18.0, 24.0, 99.0, np.nan])).tolist() == [0, 1, 2, 3]
    many = Coding.of_numbers(np.arange(1000.0))
    assert np.bincount(many.codes(np.arange(1000.0))).max() <= 1000 // tables.BANDS + 1
    rare = Coding.of_categories(np.repeat(np.arange(900.0), 2))
    assert rare.rows == tables.MOST_ROWS
    assert rare.codes(np.array([np.nan])).tolist() == [rare.rows - 1]


def test_wide_rows_of_tables_of_three() -> None:
    """Numbers stand in bands, rare categories in one row, missing values in one of their own."""
    numbers = np.arange(1000.0)
    coding = Coding.of_numbers(numbers)
    codes = coding.codes(np.append(numbers, np.nan))
    wide = coding.wide(codes, np.ones(1001))
    counts = np.bincount(wide[codes])
    assert (len(counts), counts[-1]) == (tables.ROWS_OF_WIDE_TABLES, 1)
    assert counts[:-1].max() <= 1.5 * 1000 / (tables.ROWS_OF_WIDE_TABLES - 1)
    assert (np.diff(wide) >= 0).all()
    labels = np.repeat(np.arange(40.0), np.arange(40, 0, -1))
    coding = Coding.of_categories(labels)
    wide = coding.wide(coding.codes(labels), np.ones(len(labels)))
    assert wide[: tables.ROWS_OF_WIDE_TABLES - 1].tolist() == list(range(tables.ROWS_OF_WIDE_TABLES - 1))
    assert set(wide[tables.ROWS_OF_WIDE_TABLES - 1 : -1].tolist()) == {tables.ROWS_OF_WIDE_TABLES - 2}
    assert wide[-1] == tables.ROWS_OF_WIDE_TABLES - 1
    few = Coding.of_categories(np.arange(3.0))
    assert few.wide(few.codes(np.arange(3.0)), np.ones(3)).tolist() == [0, 1, 2, 3]


def test_wide_rows_where_all_numbers_are_missing() -> None:
    """As in a task of Spark: its rows are those of all records, none of which it has."""
    coding = Coding.of_numbers(np.arange(1000.0))
    codes = coding.codes(np.full(5, np.nan))
    assert set(coding.wide(codes, np.ones(5))[codes]) == {tables.ROWS_OF_WIDE_TABLES - 1}


def test_tables_of_three_are_those_that_are_far() -> None:
    """Of very many; none with two columns that are not chosen."""
    rng = np.random.default_rng(3)
    coding = Coding.of_categories(np.arange(3.0))
    before = rng.integers(0, 3, (5, 600)).astype(np.int32)
    after = before.copy()
    after[[0, 2]] = 0
    columns = [TableColumn(*both, coding) for both in zip(before, after, strict=True)]
    wide = [np.arange(4, dtype=np.int32)] * 5
    assert len(tables._tables_of_three(wide, columns, 5, 10)) == 10
    assert len(tables._tables_of_three(wide, columns, 4, 10)) == 10
    assert len(tables._tables_of_three(wide, columns, 3, 10)) == 1 + 2 * 3
    assert tables._tables_of_three(wide, columns, 5, 0).shape == (0, 3)
    assert {tuple(own) for own in tables._tables_of_three(wide, columns, 5, 3)} == {
        (0, 1, 2), (0, 2, 3), (0, 2, 4)
    }  # fmt: skip


# --- broken on purpose ---------------------------------------------------------------------------------


def broken(monkeypatch: pytest.MonkeyPatch, how: str, change: Any) -> list[str]:
    real = masking.chosen

    def patched(grouped: Any, *others: Any) -> Any:
        published = real(grouped, *others)
        change(grouped, published)
        return published

    monkeypatch.setattr(masking, "chosen", patched)
    with pytest.raises(UnsafeRelease) as refused:
        release(how)
    return rules(refused.value.findings)


def test_a_category_that_nobody_in_the_group_has(monkeypatch: pytest.MonkeyPatch) -> None:
    def change(grouped: Any, published: Any) -> None:
        at = grouped.columns.index("region")
        own = set(grouped.values["region"][grouped.group == 0].tolist())
        published[0, at] = next(code for code in range(12) if code not in own)

    assert "not_in_the_group" in broken(monkeypatch, "tables", change)


def test_a_number_far_from_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    def change(grouped: Any, published: Any) -> None:
        at = grouped.columns.index("age")
        ages = grouped.values["age"]
        published[np.argmin(published[:, at]), at] = ages.max()

    assert "not_near_the_mean" in broken(monkeypatch, "tables", change)


def test_a_combination_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    def change(grouped: Any, published: Any) -> None:
        names = ["region", "school", "married"]
        places = [grouped.columns.index(name) for name in names]
        known = set(zip(*(grouped.values[name].tolist() for name in names), strict=True))
        new = next(
            (a, b, c) for a in range(12) for b in range(3) for c in range(2) if (a, b, c) not in known
        )
        published[0, places] = new

    assert "combination_not_in_source" in broken(monkeypatch, "existing", change)


def test_tables_of_other_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each group publishes the rarest of its categories: its own, but tables are far away."""

    def change(grouped: Any, published: Any) -> None:
        for at, name in enumerate(grouped.columns[1:], 1):
            codes = grouped.values[name].astype(int)
            counts = np.bincount(codes)
            for group in range(len(published)):
                own = codes[grouped.group == group]
                published[group, at] = own[np.argmin(counts[own])]

    assert "tables" in broken(monkeypatch, "tables", change)
