"""Tables of counts against plain counting: mixed keys, a confidential column, weights, missing values."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from microagg.measure import cross_tables
from microagg.measure.pair import Pair

RANDOM = np.random.default_rng(9)
RECORDS = 60
AGES = RANDOM.choice([20.0, 25, 31, 48, 70], RECORDS)
AGES[:2] = np.nan
LEVELS, REGIONS = (RANDOM.integers(0, 4, RECORDS) * 1.0 for _ in range(2))
ILLNESS = RANDOM.integers(0, 3, RECORDS)
WEIGHTS = RANDOM.integers(1, 5, RECORDS).astype(float)
BEFORE = np.column_stack((AGES, LEVELS, REGIONS))
AFTER = np.column_stack((AGES + RANDOM.integers(-9, 9, RECORDS), LEVELS // 2, RANDOM.permutation(REGIONS)))
PAIR = Pair(
    columns=("age", "level", "region"),
    original=BEFORE,
    masked=AFTER,
    subsets=((0, 1, 2),),
    groups=np.arange(RECORDS) // 3,
    strata=np.zeros(RECORDS, dtype=np.int64),
    weights=WEIGHTS,
    kinds={"level": "ordinal", "region": "nominal"},
    confidential={"illness": ILLNESS},
)
Record = tuple[Any, ...]


def nearest_age(age: float) -> object:
    if age != age:
        return "missing"
    return min((abs(age - known), known) for known in (20, 25, 31, 48, 70))[1]


def records(side: np.ndarray) -> list[Record]:
    """Ages as those that occur in the original, of equals the lower."""
    return [
        (nearest_age(age), level, region, illness)
        for (age, level, region), illness in zip(side.tolist(), ILLNESS.tolist(), strict=True)
    ]


def test_two_way_tables() -> None:
    names = (*PAIR.columns, "illness")
    distances = {}
    for one, other in combinations(range(4), 2):
        table: dict[Record, float] = defaultdict(float)
        for before, after, weight in zip(records(BEFORE), records(AFTER), WEIGHTS, strict=True):
            table[before[one], before[other]] -= weight
            table[after[one], after[other]] += weight
        moved = sum(abs(difference) for difference in table.values())
        distances[f"{names[one]} × {names[other]}"] = 50 * moved / WEIGHTS.sum()
    result = cross_tables.two_way_tables(PAIR)
    assert result.parts == pytest.approx(distances)
    assert result.value == pytest.approx(sum(distances.values()) / 6)


def test_cell_error() -> None:
    total = WEIGHTS.sum()
    known = [
        abs(before - after) / 50 * weight
        for before, after, weight in zip(AGES.tolist(), AFTER[:, 0].tolist(), WEIGHTS, strict=True)
        if before == before
    ]
    levels = sum(abs(LEVELS - AFTER[:, 1]) / 3 * WEIGHTS)
    regions = sum(
        weight for one, other, weight in zip(REGIONS, AFTER[:, 2], WEIGHTS, strict=True) if one != other
    )
    parts = {
        "age": 100 * sum(known) / (total - WEIGHTS[:2].sum()),
        "level": 100 * levels / total,
        "region": 100 * regions / total,
    }
    result = cross_tables.cell_error(PAIR)
    assert result.parts == pytest.approx(parts)
    assert result.value == pytest.approx(sum(parts.values()) / 3)


def test_count_queries_of_two_three_and_four_attributes() -> None:
    """The same queries, each counted record by record; a record counts by its weight, 1 on average."""
    attributes = cross_tables._attributes(PAIR)
    weights = (WEIGHTS / WEIGHTS.mean()).tolist()
    sides = [
        list(zip(*(side.tolist() for side in codes), strict=True))
        for codes in ([each.before for each in attributes], [each.after for each in attributes])
    ]
    expected = {}
    for (least, most), seed in cross_tables.SEEDS_OF_QUERIES.items():
        name = f"{least} attributes" if least == most else f"{least} to {most} attributes"
        errors = []
        drawn = cross_tables._queries(
            attributes, np.random.default_rng(seed), 100 if least < most else 35, least, most
        )
        for query in drawn:
            assert least <= len(query) <= most
            before, after = (
                sum(
                    weight
                    for record, weight in zip(side, weights, strict=True)
                    if all(wanted[record[at]] for at, wanted in query.items())
                )
                for side in sides
            )
            errors.append(100 * abs(after - before) / max(before, 10))
        expected[name] = sum(errors) / len(errors)
    result = cross_tables.count_queries(PAIR, queries=100)
    assert list(result.parts) == ["2 to 3 attributes", "2 attributes", "3 attributes", "4 attributes"]
    assert result.parts == pytest.approx(expected)
    assert result.value == result.parts["2 to 3 attributes"] > 0
