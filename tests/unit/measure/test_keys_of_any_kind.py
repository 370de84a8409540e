"""Measures of keys that are numbers, dates, ordered levels and categories, computed by hand."""

from __future__ import annotations

from dataclasses import replace
from math import log2, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from microagg.errors import SettingsError
from microagg.measure import MEASURES
from microagg.measure.cross_tables import BANDS, count_queries, margins
from microagg.measure.linkage import linkage_distance, linkage_groups, linkage_noisy, linkage_subsets
from microagg.measure.models import compare_models
from microagg.measure.pair import MeasureResult, Pair
from microagg.measure.probabilistic_linkage import linkage_probabilistic

AGE, LEVEL, SEX = [20.0, 22, 24, 60, 61, 65], [0.0, 1, 1, 2, 2, 0], [0.0, 0, 1, 1, 1, 0]
PAIR = Pair(
    columns=("age", "education", "sex"),
    original=np.array([AGE, LEVEL, SEX]).T,
    masked=np.array([[22.0] * 3 + [62.0] * 3, [1.0] * 3 + [2.0] * 3, [0.0] * 3 + [1.0] * 3]).T,
    subsets=((0, 1, 2),),
    groups=np.array([0, 0, 0, 1, 1, 1]),
    strata=np.zeros(6, dtype=np.int64),
    kinds={"education": "ordinal", "sex": "nominal"},
    yes_no=frozenset({"sex"}),
)
LOSSES = {"age": 22 / 2422, "education": 3 / 4, "sex": 2 / 3}
"""Squares, changed levels and changed cells, as shares of those if all records published one value."""


def found(name: str, pair: Pair = PAIR) -> MeasureResult:
    return MEASURES[name].compute(pair)


def test_the_loss_is_the_mean_of_those_of_the_columns() -> None:
    result = found("il")
    assert result.parts == pytest.approx({name: 100 * loss for name, loss in LOSSES.items()})
    assert result.value == pytest.approx(100 * sum(LOSSES.values()) / 3)
    heavy = found("il", replace(PAIR, importance={"sex": 2.0}))
    assert heavy.value == pytest.approx(100 * (sum(LOSSES.values()) + LOSSES["sex"]) / 4)
    assert heavy.parts == pytest.approx(result.parts)
    by_subset = found("il_subsets", replace(PAIR, subsets=((0, 1), (2,)))).parts
    assert by_subset == pytest.approx({"age+education": 50 * (22 / 2422 + 3 / 4), "sex": 200 / 3})


def test_the_loss_of_strata_is_beside_one_value_for_each() -> None:
    strata = np.array([0, 0, 0, 1, 1, 1])
    assert found("il_strata", replace(PAIR, strata=strata)).parts == pytest.approx(
        {"stratum 0": 100.0, "stratum 1": 100.0}
    )
    kept = replace(PAIR, strata=strata, masked=PAIR.original)
    assert found("il_strata", kept).value == 0.0


def test_weights_of_categories_are_repetitions() -> None:
    times = np.array([1, 3, 2, 1, 1, 4])
    weighted = replace(PAIR, weights=times.astype(float))
    again = {name: np.repeat(getattr(PAIR, name), times, axis=0) for name in ("original", "masked")}
    many = {name: np.repeat(getattr(PAIR, name), times) for name in ("groups", "strata")}
    repeated = replace(PAIR, **again, **many)
    for name in ("il", "il_subsets", "il_strata", "margins", "two_way_tables", "cramers_v", "entropy"):
        assert found(name, weighted).parts == pytest.approx(found(name, repeated).parts), name


def test_cells() -> None:
    changed = found("changed_cells")
    assert changed.parts == pytest.approx({"age": 500 / 6, "education": 200 / 6, "sex": 200 / 6})
    assert changed.value == pytest.approx(100 * 9 / 18)
    error = found("cell_error")
    assert error.parts == pytest.approx({"age": 100 * 10 / 45 / 6, "education": 25.0, "sex": 100 / 3})
    assert error.value == pytest.approx(np.mean(list(error.parts.values())))


def test_tables() -> None:
    one_way = found("margins")
    assert one_way.parts == pytest.approx({"age": 200 / 3, "education": 100 / 3, "sex": 0.0})
    assert one_way.value == pytest.approx(100 / 3)
    two_way = found("two_way_tables").parts
    assert two_way["education × sex"] == pytest.approx(50.0)
    assert list(two_way.values()) == sorted(two_way.values(), reverse=True)
    association = found("cramers_v").parts
    assert association["education × sex: before"] == pytest.approx(sqrt(2 / 3))
    assert association["education × sex: after"] == pytest.approx(1.0)
    assert association["largest change"] == pytest.approx(
        max(abs(association[f"{pair}: after"] - association[f"{pair}: before"]) for pair in two_way)
    )
    bits = found("entropy")
    assert bits.parts == pytest.approx(
        {
            "age: before": log2(6), "age: after": 1.0,
            "education: before": log2(3), "education: after": 1.0,
            "sex: before": 1.0, "sex: after": 1.0,
        }
    )  # fmt: skip
    assert bits.value == pytest.approx((log2(6) + log2(3) - 2) / 3)


def test_confidential_columns_are_in_tables_as_they_are_released() -> None:
    vote = np.array([0, 1, 0, 1, 0, 1])
    kept = replace(PAIR, confidential={"vote": vote})
    assert set(found("two_way_tables", kept).parts) >= {"age × vote", "education × vote", "sex × vote"}
    assert "vote" not in found("margins", kept).parts
    alone = replace(kept, masked=PAIR.original)
    assert found("two_way_tables", alone).value == 0.0
    moved = replace(alone, changed_confidential={"vote": (vote, np.zeros(6, dtype=np.int64))})
    assert found("two_way_tables", moved).parts["sex × vote"] == pytest.approx(50.0)


def test_numbers_of_many_values_are_in_bands_of_equal_counts() -> None:
    x = np.random.default_rng(0).lognormal(size=(400, 1))
    pair = Pair(("x",), x, x, ((0,),), np.zeros(400, dtype=np.int64), np.zeros(400, dtype=np.int64))
    assert found("entropy", pair).parts["x: before"] == pytest.approx(log2(BANDS))
    lowest = replace(pair, masked=np.full_like(x, x.min()))
    assert margins(lowest).value == pytest.approx(100 * (1 - 1 / BANDS))
    gone = replace(pair, masked=np.full_like(x, np.nan))
    assert margins(gone).value == 100.0


def test_a_query_counts_what_two_attributes_ask_for() -> None:
    """Of two yes/no columns a query names one value each: the relative error is one of four."""
    pair = Pair(
        columns=("a", "b"),
        original=np.repeat([[0.0, 0.0], [0, 1], [1, 0], [1, 1]], 25, axis=0),
        masked=np.repeat([[0.0, 0.0], [0, 1], [1, 0], [1, 0]], 25, axis=0),
        subsets=((0, 1),),
        groups=np.repeat([0, 1, 2, 2], 25),
        strata=np.zeros(100, dtype=np.int64),
        kinds={"a": "nominal", "b": "nominal"},
    )
    result = count_queries(pair, queries=4000)
    assert list(result.parts) == ["2 to 3 attributes", "2 attributes"]
    assert result.value == pytest.approx(50.0, abs=4.0)  # 1 of 25 doubles, another one vanishes
    assert count_queries(pair, queries=50).value == count_queries(pair, queries=50).value
    for wrong in ({"most_records": 0}, {"queries": 0}):
        with pytest.raises(SettingsError):
            count_queries(pair, **wrong)
    sampled = count_queries(pair, queries=50, most_records=40)
    assert "40 of 100" in sampled.note


def test_what_supposes_numbers_takes_numbers_and_dates_only() -> None:
    assert found("means").parts.keys() == {"age"}
    assert "education and sex" in found("means").note
    dates = replace(PAIR, kinds={"age": "date", "education": "ordinal", "sex": "nominal"})
    assert found("means", dates).value == found("means").value
    assert np.isnan(found("dominance", dates).value)
    assert found("dominance").parts["age: largest share"] == pytest.approx(24 / 66)


@pytest.mark.parametrize("name", MEASURES)
def test_keys_that_are_all_categories_are_ordinary(name: str) -> None:
    columns = [1, 2]
    pair = replace(
        PAIR,
        columns=("education", "sex"),
        original=PAIR.original[:, columns],
        masked=PAIR.masked[:, columns],
        subsets=((0, 1),),
        confidential={"vote": np.array([0, 1, 0, 1, 0, 1])},
    )
    result = found(name, pair)
    is_defined = np.isfinite(result.value)
    assert is_defined or result.note
    assert is_defined == (
        not MEASURES[name].numbers_only
        and name not in ("dominance", "confidential_range", "key_confidential")
    )


# --- taxonomies ---------------------------------------------------------------------------------------

JOBS = np.array([0.0, 0, 1, 2, 2, 3])
"""Of four codes: 0 and 1 are below one node, 2 and 3 below another."""
TAXONOMY = np.array([[0, 2], [0, 3], [1, 4], [1, 5]], dtype=np.int32)
OF_JOBS = Pair(
    columns=("job",),
    original=JOBS[:, None],
    masked=np.array([0.0, 0, 0, 2, 2, 0])[:, None],
    subsets=((0,),),
    groups=np.array([0, 0, 0, 1, 1, 0]),
    strata=np.zeros(6, dtype=np.int64),
    kinds={"job": "nominal"},
    paths={"job": TAXONOMY},
)


def test_near_codes_of_a_taxonomy_lose_less() -> None:
    """Changed are 1 to 0, by one of two levels, and 3 to 0, by both; all as 0 or as 2 would change 3.5."""
    assert found("il", OF_JOBS).value == pytest.approx(100 * 1.5 / 3.5)
    assert found("il", replace(OF_JOBS, paths={})).value == pytest.approx(100 * 2 / 4)
    strata = replace(OF_JOBS, strata=np.array([0, 0, 0, 1, 1, 1]))
    assert found("il_strata", strata).parts == pytest.approx(
        {"stratum 0": 100 * 0.5 / 0.5, "stratum 1": 100 * 1.0 / 0.5}
    )
    assert found("changed_cells", OF_JOBS).value == pytest.approx(100 * 2 / 6)


def test_near_codes_of_a_taxonomy_are_linked_first() -> None:
    """Released are 0 and 3: who knows a record of 1 takes those of 0 for it, and not those of 3."""
    masked = np.array([0.0, 0, 0, 3, 3, 3])[:, None]
    pair = replace(OF_JOBS, masked=masked, groups=np.array([0, 0, 0, 1, 1, 1]))
    assert linkage_groups(pair).value == 1.0
    assert linkage_groups(replace(pair, paths={})).value == pytest.approx((3 + 3 * 0.5) / 6)


# --- record linkage: nearest by the mixed distance --------------------------------------------------

RANDOM = np.random.default_rng(5)
BEFORE = np.column_stack(
    [
        RANDOM.normal(size=90),
        RANDOM.integers(0, 4, 90),
        RANDOM.integers(0, 5, 90),
        RANDOM.integers(0, 2, 90),
    ]
).astype(float)
AFTER = np.repeat(BEFORE[RANDOM.permutation(90)[:30]], 3, axis=0)
KINDS = {"b": "ordinal", "c": "nominal", "d": "nominal"}
MIXED = Pair(
    columns=("a", "b", "c", "d"),
    original=BEFORE,
    masked=AFTER,
    subsets=((0, 1, 2, 3),),
    groups=np.unique(AFTER, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64),
    strata=np.zeros(90, dtype=np.int64),
    kinds=KINDS,
)


def distances(columns: list[int]) -> NDArray[np.float64]:
    """Of each original to each released record."""
    total = np.zeros((90, 90))
    for at in columns:
        x, y = BEFORE[:, at], AFTER[:, at]
        if KINDS.get("abcd"[at]) == "nominal":
            shares = np.bincount(x.astype(int)) / 90
            total += 2.0 / (1.0 - (shares**2).sum()) * (x[:, None] != y[None, :])
        else:
            total += ((x[:, None] - y[None, :]) / x.std()) ** 2
    return total


def linked(columns: list[int]) -> float:
    near = distances(columns)
    own = np.diag(near)
    tied = (np.abs(near - own[:, None]) < 1e-9).sum(axis=1)
    return float(np.mean([0.0 if (near[i] < own[i] - 1e-9).any() else 1 / tied[i] for i in range(90)]))


def test_linkage_is_by_the_mixed_distance() -> None:
    assert linkage_distance(MIXED).value == pytest.approx(linked([0, 1, 2, 3]))
    assert linkage_groups(MIXED).value >= linkage_distance(MIXED).value
    by_subset = linkage_subsets(MIXED).parts
    for columns in ([0], [2], [1, 3], [0, 2, 3], [1, 2, 3]):
        name = " + ".join("abcd"[at] for at in columns)
        assert by_subset[name] == pytest.approx(linked(columns)), name


def test_noise_leaves_categories_alone() -> None:
    only = replace(
        MIXED,
        columns=("c", "d"),
        original=BEFORE[:, 2:],
        masked=AFTER[:, 2:],
        subsets=((0, 1),),
    )
    assert set(linkage_noisy(only).parts.values()) == {linkage_distance(only).value}


def test_probabilistic_linkage_does_not_take_neighbours_for_matches() -> None:
    """Of a few yes/no columns: whoever has all of a record's values is not farther than who has another."""
    values = np.random.default_rng(3).integers(0, 2, (600, 5)).astype(float)
    groups = np.unique(values, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    names = tuple("abcde")
    pair = Pair(
        names, values, values, ((0, 1, 2, 3, 4),), groups, np.zeros(600, dtype=np.int64),
        kinds=dict.fromkeys(names, "nominal"),
    )  # fmt: skip
    assert linkage_probabilistic(pair).value == pytest.approx(linkage_distance(pair).value, rel=0.5)


def test_many_categories_are_about_equally_far_apart() -> None:
    codes = np.arange(200.0)[:, None]
    pair = Pair(
        ("c",), codes, codes, ((0,),), np.arange(200), np.zeros(200, dtype=np.int64), kinds={"c": "nominal"}
    )
    assert linkage_distance(pair).value == 1.0


# --- models -----------------------------------------------------------------------------------------


def test_a_model_takes_yes_and_no_as_numbers() -> None:
    model = compare_models(PAIR, "age ~ sex")
    slope = model.coefficients[1].before
    ages, answers = np.array(AGE), np.array(SEX)
    assert slope == pytest.approx(ages[answers == 1].mean() - ages[answers == 0].mean())
    with pytest.raises(SettingsError):
        compare_models(PAIR, "age ~ education", not_numeric=["education"])


def test_a_missing_answer_of_yes_or_no_is_left_out_of_a_model() -> None:
    values: Any = PAIR.original.copy()
    values[0, 2] = 2.0
    assert compare_models(replace(PAIR, original=values), "age ~ sex").left_out == 1
