"""Regressions of numbers on each other, against exact arithmetic."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from math import sqrt

import numpy as np
import pytest

from microagg.measure import UTILITY
from microagg.measure.pair import MeasureResult, Pair

RANDOM = np.random.default_rng(4)
COLUMNS = ("a", "b", "kind", "c")
BEFORE = RANDOM.integers(0, 9, (12, 4)).astype(float)
AFTER = BEFORE.reshape(3, 4, 4).mean(axis=1).round().repeat(4, axis=0)
SECRET = RANDOM.integers(0, 30, 12)
WEIGHTS = RANDOM.integers(1, 4, 12)
PAIR = Pair(
    columns=COLUMNS,
    original=BEFORE,
    masked=AFTER + RANDOM.integers(0, 2, (12, 4)),
    subsets=((0, 1, 2, 3),),
    groups=np.arange(12) // 4,
    strata=np.zeros(12, dtype=np.int64),
    weights=WEIGHTS.astype(float),
    kinds={"kind": "nominal"},
    confidential={"secret": SECRET, "illness": SECRET % 2},
    numbers={"secret": SECRET.astype(float), "free": np.arange(12.0)},
)
Exact = list[Fraction]


def found(name: str, pair: Pair = PAIR) -> MeasureResult:
    return UTILITY[name].compute(pair)


def solved(matrix: list[Exact], right: Exact) -> Exact:
    """By elimination; whole numbers stay exact."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for at in range(len(rows)):
        pivot = next(row for row in rows[at:] if row[at])
        rows.remove(pivot)
        rows.insert(at, pivot)
        for row in rows:
            if row is not pivot:
                factor = row[at] / pivot[at]
                row[:] = [value - factor * own for value, own in zip(row, pivot, strict=True)]
    return [row[-1] / row[at] for at, row in enumerate(rows)]


def coefficients(columns: dict[str, list[int]], weights: list[int]) -> dict[tuple[str, str], Fraction]:
    """By response and term, of normal equations."""
    constant = [1] * len(weights)

    def product(one: list[int], other: list[int]) -> Fraction:
        return Fraction(sum(a * b * w for a, b, w in zip(one, other, weights, strict=True)))

    slopes = {}
    for response, values in columns.items():
        terms = {name: own for name, own in columns.items() if name != response}
        design = [constant, *terms.values()]
        matrix = [[product(one, other) for other in design] for one in design]
        fit = solved(matrix, [product(one, values) for one in design])
        slopes |= {(response, name): slope for name, slope in zip(terms, fit[1:], strict=True)}
    return slopes


def deviation(values: list[int], weights: list[int]) -> float:
    mean = Fraction(sum(v * w for v, w in zip(values, weights, strict=True)), sum(weights))
    return sqrt(sum((v - mean) ** 2 * w for v, w in zip(values, weights, strict=True)) / sum(weights))


def whole(pair: Pair, side: str) -> dict[str, list[int]]:
    values = getattr(pair, side)
    numbers = {name: values[:, at] for at, name in enumerate(COLUMNS) if name != "kind"}
    return {name: [int(v) for v in own] for name, own in (numbers | {"secret": SECRET}).items()}


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_every_coefficient_by_exact_arithmetic(weights: np.ndarray | None) -> None:
    """Numbers among keys and confidential columns; others that are released take no part."""
    pair = replace(PAIR, weights=None if weights is None else weights.astype(float))
    own = [1] * 12 if weights is None else weights.tolist()
    before, after = whole(pair, "original"), whole(pair, "masked")
    slopes = [coefficients(side, own) for side in (before, after)]
    units = {name: deviation(values, own) for name, values in before.items()}
    changes = {
        (y, x): abs(float(slopes[1][y, x] - slopes[0][y, x])) * units[x] / units[y]
        for y, x in permutations(before, 2)
    }
    result = found("regressions", pair)
    assert result.value == pytest.approx(max(changes.values()))
    assert result.parts == pytest.approx(
        {
            "mean change": sum(changes.values()) / 12,
            **{f"of {y}": max(changes[y, x] for x in before if x != y) for y in before},
        }
    )
    correlated = found("largest_correlation_change", pair)
    assert list(correlated.parts) == ["a", "b", "c", "secret"]
    tables = [np.array([*side.values()]) for side in (before, after)]
    covariances = [np.cov(table, fweights=own) for table in tables]
    matrices = [each / np.sqrt(np.outer(np.diag(each), np.diag(each))) for each in covariances]
    assert correlated.value == pytest.approx(np.abs(matrices[1] - matrices[0]).max())


def test_confidential_numbers_that_were_changed() -> None:
    """With noise, for example: as if they were a key."""
    noisy = SECRET + np.random.default_rng(1).normal(size=12)
    changed = replace(PAIR, numbers={}, changed_numbers={"secret": (SECRET.astype(float), noisy)})
    as_key = replace(
        PAIR,
        columns=(*COLUMNS, "secret"),
        original=np.column_stack((PAIR.original, SECRET)),
        masked=np.column_stack((PAIR.masked, noisy)),
        confidential={},
    )
    for name in ("regressions", "largest_correlation_change"):
        assert found(name, changed).parts == pytest.approx(found(name, as_key).parts)
    tables = found("two_way_tables", replace(changed, confidential={"secret": SECRET}))
    assert tables.parts == pytest.approx(found("two_way_tables", as_key).parts)


def test_a_column_that_others_give_is_left_out() -> None:
    """After masking it is rounded, so that it would be none of the kind."""
    pair = replace(PAIR, kinds={})
    original, masked = pair.original.copy(), pair.masked.copy()
    original[:, 3] = 2 * original[:, 0] - original[:, 1] + 5
    alone = replace(pair, columns=COLUMNS[:3], original=original[:, :3], masked=masked[:, :3])
    result = found("regressions", replace(pair, original=original, masked=masked))
    assert result.value == pytest.approx(found("regressions", alone).value)
    assert result.parts.keys() == found("regressions", alone).parts.keys()
    assert "c" in result.note.split()


def test_columns_that_masking_makes_constant_or_dependent() -> None:
    """Then the smallest coefficients that fit are taken: none for a constant."""
    constant, twice = PAIR.masked.copy(), PAIR.masked.copy()
    constant[:, 0] = 4.0
    twice[:, 0] = 2.0 * twice[:, 1]
    for masked in (constant, twice):
        pair = replace(PAIR, masked=masked)
        assert np.isfinite(found("regressions", pair).value)
        assert 0.0 < found("largest_correlation_change", pair).value <= 2.0


def test_means_and_covariances_that_are_kept_keep_every_regression() -> None:
    """Other records with the same moments: mirrored at the mean."""
    pair = replace(PAIR, masked=2.0 * np.average(BEFORE, axis=0, weights=WEIGHTS) - BEFORE, confidential={})
    assert found("regressions", pair).value == pytest.approx(0.0, abs=1e-12)
    assert found("largest_correlation_change", pair).value == pytest.approx(0.0, abs=1e-12)
    assert found("il", pair).value > 10.0
