"""Groups as columns: their costs, reduced costs and the odd-set inequalities, by looking at every group.

A table of groups has one row per group and one column per record, 1 where the group holds the record.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from .basics import Floats, pairwise_distances

Group = tuple[int, ...]
Pairs = Sequence[tuple[int, int]]
Bools = NDArray[np.bool_]


def groups_of_sizes(n: int, k: int) -> list[Group]:
    """Every group of k to 2k - 1 of n records, rows ascending."""
    return [group for size in range(k, min(2 * k - 1, n) + 1) for group in combinations(range(n), size)]


def table_of(groups: Iterable[Group], n: int) -> Floats:
    """The table of these groups."""
    listed = list(groups)
    table = np.zeros((len(listed), n))
    for row, group in zip(table, listed, strict=True):
        row[list(group)] = 1.0
    return table


@cache
def whole_table(n: int, k: int) -> Floats:
    """The table of every group of k to 2k - 1; not to be written to."""
    table = table_of(groups_of_sizes(n, k), n)
    table.setflags(write=False)
    return table


def costs_of(table: Floats, points: Floats) -> Floats:
    """w_C of each group: squared distances of its pairs, added and divided by its size."""
    sums = ((table @ pairwise_distances(points)) * table).sum(axis=1) / 2.0
    return sums / np.maximum(table.sum(axis=1), 1.0)


def pairs_in_cuts(table: Floats, cuts: Sequence[Group]) -> Floats:
    """floor(|C ∩ S| / 2) of each group C (row) and each set S (column)."""
    return np.floor(table @ table_of(cuts, table.shape[1]).T / 2.0)


def obeying(table: Floats, apart: Pairs, together: Pairs) -> Bools:
    """Which groups hold at most one of every pair `apart` and both or none of every pair `together`."""
    kept = np.ones(len(table), dtype=bool)
    for one, other in apart:
        kept &= table[:, one] + table[:, other] < 2.0
    for one, other in together:
        kept &= table[:, one] == table[:, other]
    return kept


@dataclass(frozen=True)
class Priced:
    """Reduced costs of the rows of a table, and the sums of the absolute values of their terms."""

    table: Floats
    costs: Floats
    terms: Floats

    def least(self, allowed: Bools, slack: Floats) -> Floats:
        """min(0, (rc(C) + slack of C) / |C|) over the allowed groups that hold each record."""
        shares = (self.costs + slack) / self.table.sum(axis=1)
        held = np.where((self.table > 0.0) & allowed[:, None], shares[:, None], 0.0)
        return np.minimum(held.min(axis=0, initial=0.0), 0.0)


def priced(
    table: Floats,
    points: Floats,
    prices: Floats,
    cuts: Sequence[Group],
    multipliers: Floats,
    charge: float = 0.0,
) -> Priced:
    """rc(C) = w_C - the prices of its records + multiplier * floor(|C ∩ S| / 2) of every set S + charge."""
    costs = costs_of(table, points)
    charges = pairs_in_cuts(table, cuts) @ multipliers + charge
    return Priced(
        table,
        costs - table @ prices + charges,
        costs + table @ np.abs(prices) + np.abs(charges),
    )


def exact_reduced_costs(
    points: Floats,
    k: int,
    prices: Floats,
    cuts: Sequence[Group],
    multipliers: Floats,
    charge: float = 0.0,
) -> list[Fraction]:
    """rc of every group of k to 2k - 1, in rational arithmetic on the floating-point inputs."""
    n = len(points)
    records = [[Fraction(value) for value in record] for record in points.tolist()]
    between = {
        (one, other): sum(
            ((a - b) ** 2 for a, b in zip(records[one], records[other], strict=True)), Fraction(0)
        )
        for one, other in combinations(range(n), 2)
    }
    # Over one denominator all sums are sums of integers.
    rates = [Fraction(price) for price in prices.tolist()]
    charges = [Fraction(multiplier) for multiplier in multipliers.tolist()]
    on_each = Fraction(charge)
    unit = max(x.denominator for x in (*between.values(), *rates, *charges, on_each))
    distances = {pair: int(x * unit) for pair, x in between.items()}
    rates_in_units = [int(x * unit) for x in rates]
    charges_in_units = [int(x * unit) for x in charges]
    on_each_in_units = int(on_each * unit)
    sets = [frozenset(cut) for cut in cuts]
    found = []
    for group in groups_of_sizes(n, k):
        cost = sum(distances[pair] for pair in combinations(group, 2))
        rest = on_each_in_units - sum(rates_in_units[row] for row in group)
        for of_cut, cut in zip(charges_in_units, sets, strict=True):
            rest += of_cut * (len(cut.intersection(group)) // 2)
        found.append(Fraction(cost + len(group) * rest, len(group) * unit))
    return found


def exact_value(
    prices: Floats, cuts: Sequence[Group], multipliers: Floats, charge: float, k: int
) -> Fraction:
    """The bound that these prove: sum of prices - multiplier * (|S| - 1) / 2 - charge * floor(n / k)."""
    total = sum((Fraction(price) for price in prices.tolist()), Fraction(0))
    total -= Fraction(charge) * (len(prices) // k)
    for multiplier, cut in zip(multipliers.tolist(), cuts, strict=True):
        total -= Fraction(multiplier) * ((len(cut) - 1) // 2)
    return total


def best_bound(points: Floats, k: int, count_cut: bool) -> tuple[float, Floats, float]:
    """The linear program over all groups of k to 2k - 1: the largest sum of prices - charge * floor(n / k)
    such that no group's prices less the charge exceed its cost; the prices, and the charge (0 without the
    count cut).
    """
    n = len(points)
    table = whole_table(n, k)
    costs = costs_of(table, points)
    unit = max(float(np.median(costs)), 1e-300)
    solved = linprog(
        np.append(-np.ones(n), n // k),
        np.column_stack([table, -np.ones(len(table))]),
        costs / unit,
        bounds=[(None, None)] * n + [(0.0, None if count_cut else 0.0)],
        method="highs",
    )
    assert solved.success, solved.message
    return -solved.fun * unit, solved.x[:n] * unit, float(solved.x[n]) * unit


def odd_weight(groups: Sequence[Group], values: Sequence[Fraction], rows: Group) -> Fraction:
    """The values of the groups that hold an odd number of the rows."""
    chosen = set(rows)
    return sum(
        (x for group, x in zip(groups, values, strict=True) if len(chosen.intersection(group)) % 2),
        Fraction(0),
    )


def pairs_held(groups: Sequence[Group], values: Sequence[Fraction], rows: Group) -> Fraction:
    """The left side of the odd-set inequality: floor(|C ∩ S| / 2) * x_C over the groups."""
    chosen = set(rows)
    return sum(
        (x * (len(chosen.intersection(group)) // 2) for group, x in zip(groups, values, strict=True)),
        Fraction(0),
    )
