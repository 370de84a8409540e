"""Sums and differences of several columns that give a key, such as a total and its parts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg.model import Doubles
from microagg.verify.derived.chance import log_choices
from microagg.verify.derived.pairs import WIDE
from microagg.verify.derived.relations import Linear, Rule
from microagg.verify.derived.sample import LEAST_SAMPLED_SHARE, Sample, half_unit

MOST_TERMS = 12
MORE_RECORDS = 20
"""So many records more than columns are needed: fewer have a sum of any columns."""
MOST_COLUMNS = 200
"""Of more columns, those that vary most with the key are looked at."""
_LEAST_ROWS = 2000
_ROWS_A_COLUMN = 5
_DEPENDENT = 1e-7
"""What is left of a column that is a combination of others, relative to its size."""
_NEAR_ONE = 0.2
_ROUNDS = 40
_PATIENCE = 10
"""After so many rounds at least half of what was left in the first must be gone."""
_MOST = 0.8
"""The share of the records in which little must be left: exceptions, and some more."""
_NOTHING = 1e-10
_IN_SPAN = 0.05
"""What remains of the key in most records, relative to its spread, if it is a combination of columns."""
_ORDERS = 4


@dataclass(frozen=True, slots=True, eq=False)
class _Terms:
    """Columns of numbers that may be added, by name and reading."""

    names: list[tuple[str, str]]
    numbers: Doubles
    """A row for each record, a column for each name; 0 where missing."""


@np.errstate(all="ignore")  # what overflows is no sum
def sum_of_columns(sample: Sample, names: Sequence[str]) -> list[tuple[int, Rule]]:
    """A sum of 2 to `MOST_TERMS` columns, each with a sign, and a constant, which gives the key.

    The key is expressed by independent columns so that the absolute differences are smallest, which
    ignores exceptions; if the weights are 1 and -1, the sum is tried. The constant makes columns that add
    up to one, as those of a code do, dependent, so that they are not added to other sums. Which
    columns are taken for dependent depends on their order: some orders are tried.
    """
    key = sample.numbers
    if key is None or sample.classes.count < 2:
        return []
    terms = _terms(sample, key, names)
    if len(terms.names) < 2:
        return []
    rows = max(_LEAST_ROWS, _ROWS_A_COLUMN * len(terms.names))
    matrix, target = terms.numbers[:rows], key[:rows]
    if (target == target[0]).all():
        return []
    matrix, units = _in_units(matrix)
    target, unit = _in_units(target)
    best: list[tuple[int, Rule]] = []
    for order in _orders(len(terms.names)):
        chosen, basis = _independent(matrix, order)
        weights, in_span = _best_weights(matrix[:, chosen], basis, target)
        if not in_span:
            break  # nor is it in any other order
        weights = weights * (unit / units[chosen])
        signs = np.rint(weights)
        used = np.flatnonzero(signs)
        if not (np.all(np.abs(weights - signs) <= _NEAR_ONE) and np.all(np.abs(signs) <= 1)):
            continue
        if not 2 <= len(used) <= MOST_TERMS:
            continue
        columns = sorted(used, key=lambda at: chosen[at])
        found = _tried(sample, terms, [chosen[at] for at in columns], signs[columns])
        best += found
        if any(right == sample.n for right, _ in found):
            break
    return sorted(best, key=lambda each: -each[0])[:1]


def _terms(sample: Sample, key: Doubles, names: Sequence[str]) -> _Terms:
    found: list[tuple[str, str]] = []
    columns: list[Doubles] = []
    for name in names:
        field = sample.others.table.schema.field(name)
        for reading in sample.others.readings(name)[:1]:
            numbers = sample.others.numbers(name, reading)
            given = ~np.isnan(numbers)
            if reading != "number" and given.mean() < LEAST_SAMPLED_SHARE:
                continue
            values = np.where(given, numbers, 0.0)
            is_time = str(field.type).startswith(("date", "time", "duration"))
            if np.isfinite(values).all() and (values != values[0]).any() and not is_time:
                found.append((name, reading))
                columns.append(values)
    most = min(MOST_COLUMNS, sample.n - MORE_RECORDS)
    if len(found) > most > 0:
        alike = [abs(_correlation(key, values)) for values in columns]
        kept = sorted(np.argsort(alike)[-most:].tolist())
        found, columns = [found[at] for at in kept], [columns[at] for at in kept]
    if most <= 0 or not found:
        return _Terms([], np.empty((sample.n, 0)))
    return _Terms(found, np.column_stack(columns))


def _correlation(one: Doubles, other: Doubles) -> float:
    with np.errstate(all="ignore"):
        one, other = one - one.mean(), other - other.mean()
        found = float(one @ other / math.sqrt((one @ one) * (other @ other) or 1.0))
    return found if math.isfinite(found) else 0.0


def _orders(columns: int) -> Iterator[NDArray[np.int64]]:
    forward = np.arange(columns)
    yield forward
    yield forward[::-1]
    random = np.random.default_rng(0)
    for _ in range(_ORDERS - 2):
        yield random.permutation(columns)


def _in_units(values: Doubles) -> tuple[Doubles, Doubles]:
    """From the middle of each column's range and in units of half of it, so that squares neither overflow
    nor vanish, and offsets cost no digits; and these units.
    """
    low, high = values.min(axis=0), values.max(axis=0)
    units = high / 2.0 - low / 2.0
    return (values - (low / 2.0 + high / 2.0)) / np.where(units > 0.0, units, 1.0), units


def _independent(matrix: Doubles, order: NDArray[np.int64]) -> tuple[list[int], Doubles]:
    """Columns that are no combination of a constant and those before them, by Gram and Schmidt; and
    orthogonal columns with the same combinations, a constant one first.
    """
    n = len(matrix)
    basis = np.ones((n, 1))
    chosen: list[int] = []
    for at in order:
        column = matrix[:, at]
        size = float(np.linalg.norm(column - column.mean()))
        for _ in range(2):  # once is not enough in floating point
            column = column - basis @ (basis.T @ column) / n
        rest = float(np.linalg.norm(column))
        if rest > _DEPENDENT * size and len(chosen) < n - MORE_RECORDS:
            basis = np.column_stack([basis, column / rest * math.sqrt(n)])
            chosen.append(int(at))
    return chosen, basis


def _best_weights(columns: Doubles, basis: Doubles, key: Doubles) -> tuple[Doubles, bool]:
    """Of the combination of columns with a constant whose absolute differences from the key are smallest,
    and whether that leaves next to nothing in most records.

    Found by weighted least squares in rounds, in the coordinates of the orthogonal basis. Each record
    counts in proportion to its size, so that no large value decides alone.
    """
    n, size = len(key), float(key.std())
    target = (key - key.mean()) / size
    lengths = np.sqrt((basis**2).sum(axis=1) + target**2)
    scaled, goal = basis / lengths[:, None], target / lengths
    importance = np.ones(n)
    first = np.inf
    for round_ in range(_ROUNDS):
        weighted = scaled * importance[:, None]
        found = np.linalg.lstsq(weighted.T @ scaled, weighted.T @ goal, rcond=None)[0]
        off = np.abs(scaled @ found - goal)
        left = float(np.quantile(off * lengths, _MOST))
        first = min(first, left) if round_ else left
        if left < _NOTHING or (round_ == _PATIENCE and left > _IN_SPAN and left > 0.5 * first):
            break
        importance = 1.0 / np.maximum(off, 1e-3 * float(np.median(off)) + 1e-14)
    spread = columns.std(axis=0)
    triangle = basis[:, 1:].T @ (columns / spread) / n
    return np.linalg.solve(triangle, found[1:]) * size / spread, left <= _IN_SPAN


def _tried(sample: Sample, terms: _Terms, columns: list[int], signs: Doubles) -> list[tuple[int, Rule]]:
    """The sum of these columns: exactly or, in keys that vary widely, up to the rounding of all terms."""
    key = sample.numbers
    assert key is not None
    left = key - terms.numbers[:, columns] @ signs
    units = [sample.half_unit, *(half_unit(terms.numbers[:, at]) for at in columns)]
    constant = float(np.median(left))
    if all(units):
        constant = float(np.round(constant, round(-math.log10(2.0 * min(units)))))
    if abs(constant) <= max(sum(units), 1e-9 * float(np.abs(key).max())) and not _is_better(left, constant):
        constant = 0.0
    slacks = [0.0] + ([sum(units)] if WIDE * sum(units) <= key.std() else [])
    names, readings = zip(*(terms.names[at] for at in columns), strict=True)
    signed = tuple(signs.tolist())
    # Any of the columns, with any signs, and a constant by which one record fits.
    count = len(columns)
    log_rules = log_choices(len(terms.names), count) + count * math.log(2) + math.log(len(sample.values))
    found: list[tuple[int, Rule]] = []
    for slack in dict.fromkeys(slacks):
        rule = Linear("sum", sample.key, names, readings, signed, constant, (0.0,) * count, slack)
        if right := sample.right(rule, log_rules):
            found.append((right, rule))
    return found


def _is_better(left: Doubles, constant: float) -> bool:
    """Whether a constant explains more of what is left than 0 does."""
    size = 1e-9 * float(np.abs(left).max())
    return int((np.abs(left - constant) <= size).sum()) > int((np.abs(left) <= size).sum())
