"""Coordinates that follow from what was counted over all records are those of a table in memory."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from microagg.model import Table
from microagg.prepare.coordinates import coordinates_of
from microagg.prepare.exact_sums import sums_of, units_of
from microagg.prepare.key_columns import KeyColumn
from microagg.prepare.spaces import Space
from microagg.prepare.units import Units

NAMES = ("age", "level", "town")
KINDS = (
    None,
    KeyColumn("ordinal", pa.array(["a", "b", "c"])),
    KeyColumn("nominal", pa.array(list("NSEW"))),
)
IMPORTANCE = (1.0, 2.0, 3.0)


def values() -> np.ndarray:
    random = np.random.default_rng(1)
    found = np.column_stack(
        [random.normal(size=200), random.integers(0, 3, 200), random.integers(0, 4, 200)]
    ).astype(np.float64)
    found[:20, 0] = found[10:30, 1] = np.nan
    return found


def space(numbers: np.ndarray) -> Space:
    low, high = np.nanmin(numbers, axis=0), np.nanmax(numbers, axis=0)
    ranges = Units.from_ranges(low.tolist(), high.tolist())
    units = units_of("zscore", ranges, high, sums_of(numbers, ranges))
    counts = [np.bincount(column[~np.isnan(column)].astype(np.int64)) for column in numbers.T[1:]]
    return Space.of(units, KINDS, IMPORTANCE, [None, *counts])


def test_some_records_have_the_coordinates_that_they_have_among_all() -> None:
    numbers = values()
    kinds = {name: kind for name, kind in zip(NAMES, KINDS, strict=True) if kind is not None}
    importance = dict(zip(NAMES, IMPORTANCE, strict=True))
    whole = coordinates_of(Table(NAMES, numbers), kinds, importance, "zscore", by_pattern=True)
    rows = np.arange(50, 90)
    part = space(numbers).coordinates(NAMES, numbers[rows])
    for here, there in zip(part.attributes, whole.attributes, strict=True):
        np.testing.assert_allclose(here.points, there.points[rows], atol=1e-9)
        np.testing.assert_allclose(here.unit_cost, there.unit_cost)
    problem, same = part.problem(np.arange(40), (0, 1, 2), 3), whole.problem(rows, (0, 1, 2), 3)
    np.testing.assert_allclose(problem.points, same.points, atol=1e-9)
    assert problem.categories is not None
    assert same.categories is not None
    np.testing.assert_array_equal(problem.categories.codes, same.categories.codes)


def test_missing_values_have_no_coordinates() -> None:
    numbers = values()
    points = space(numbers).points(numbers)
    assert points.shape == (200, 2 + 3)
    np.testing.assert_array_equal(np.isnan(points[:, :2]), np.isnan(numbers[:, :2]))
    assert not np.isnan(points[:, 2:]).any()


def test_a_part_of_the_columns() -> None:
    numbers = values()
    own = space(numbers).part([2, 0])
    assert own.numbers == (False, True)
    assert not own.is_plain
    np.testing.assert_array_equal(
        own.points(numbers[:, [2, 0]])[:, 3], space(numbers).points(numbers)[:, 0]
    )
    assert own.total(0, np.array([5, 5, 0, 0])) > 0.0
