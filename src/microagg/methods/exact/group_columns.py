"""Groups as columns of a linear program: the variables of set partitioning."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg import _core
from microagg.model import Doubles, Labels, Points, Rows

LARGEST_CUT, MOST_CUTS, MOST_CUTS_A_RECORD, LEAST_VIOLATION = 9, 150, 5, 0.05
"""Records of a cut; cuts a round; and by how much a cut must be violated."""


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """Odd sets S of records, one after the other. No partition has more than (|S| − 1)/2 disjoint pairs of
    S in its groups: Σ_C ⌊|C∩S|/2⌋ x_C ≤ (|S| − 1)/2.
    """

    rows: Rows
    sizes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def limits(self) -> Doubles:
        """(|S| − 1)/2 of each."""
        return (self.sizes - 1) / 2

    def first(self, count: int) -> Cuts:
        return Cuts(self.rows[: self.sizes[:count].sum()], self.sizes[:count])

    def sets(self) -> list[tuple[int, ...]]:
        ends = np.cumsum(self.sizes)
        return [tuple(self.rows[e - m : e].tolist()) for e, m in zip(ends, self.sizes, strict=True)]


NO_CUTS = Cuts(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64))


def cuts_of_sets(sets: list[tuple[int, ...]]) -> Cuts:
    rows = [row for rows in sets for row in rows]
    return Cuts(np.array(rows, dtype=np.int32), np.array([len(rows) for rows in sets], dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """Prices of the records, multipliers of the first cuts, and a charge on every group, not negative: the
    multiplier of the count cut. Every group has at least k records, so that no partition has more than
    ⌊n/k⌋ of them: Σ_C x_C ≤ ⌊n/k⌋.
    """

    records: Doubles
    multipliers: Doubles
    charge: float = 0.0

    def towards(self, other: Prices, share: float) -> Prices:
        """Between these and others, which know all cuts: at them for a share of 1."""
        known = np.zeros(len(other.multipliers))
        known[: len(self.multipliers)] = self.multipliers
        return Prices(
            (1.0 - share) * self.records + share * other.records,
            (1.0 - share) * known + share * other.multipliers,
            (1.0 - share) * self.charge + share * other.charge,
        )


@dataclass(frozen=True, slots=True, eq=False)
class GroupColumns:
    """Groups one after the other: `members` ascending in each, `sizes`, and `costs`, their SSEs."""

    members: Rows
    sizes: NDArray[np.int64]
    costs: Doubles

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each column begins in `members`."""
        return np.cumsum(self.sizes) - self.sizes

    def take(self, which: NDArray[np.int64]) -> GroupColumns:
        sizes = self.sizes[which]
        ends = np.cumsum(sizes)
        inside = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
        return GroupColumns(
            self.members[np.repeat(self.starts[which], sizes) + inside], sizes, self.costs[which]
        )

    def cut_entries(self, n: int, cuts: Cuts) -> NDArray[np.int64]:
        """Column, cut and coefficient ⌊|C∩S|/2⌋ of all that are not zero, one a row."""
        return _core.columns_of_cuts(n, self.members, self.sizes, cuts.rows, cuts.sizes)

    def reduced_costs(self, prices: Prices, cuts: Cuts) -> Doubles:
        """w_C − Σ prices of its records + Σ multipliers of the cuts · ⌊|C∩S|/2⌋ + the charge."""
        if not len(self):
            return np.empty(0)
        reduced = self.costs - np.add.reduceat(prices.records[self.members], self.starts)
        first = cuts.first(len(prices.multipliers))
        if len(first):
            column, cut, times = self.cut_entries(len(prices.records), first).T
            reduced += np.bincount(column, weights=prices.multipliers[cut] * times, minlength=len(self))
        return reduced + prices.charge

    def obey(self, apart: Rows, together: Rows) -> NDArray[np.bool_]:
        """Which columns hold at most one record of each pair of `apart` and both or none of `together`."""
        allowed = np.ones(len(self), dtype=np.bool_)
        of_member = np.repeat(np.arange(len(self)), self.sizes)
        for pairs, forbidden in ((apart, 2), (together, 1)):
            for pair in pairs:
                hits = np.bincount(of_member[np.isin(self.members, pair)], minlength=len(self))
                allowed &= hits != forbidden
        return allowed


def columns_of_labels(points: Points, labels: Labels) -> GroupColumns:
    return with_costs(points, _core.rows_by_group(labels), _core.group_sizes(labels))


def with_costs(points: Points, members: Rows, sizes: NDArray[np.int64]) -> GroupColumns:
    return GroupColumns(members, sizes, _core.column_costs(points, members, sizes))


class ColumnPool:
    """Columns that are different from each other."""

    def __init__(self, points: Points) -> None:
        self._points = points
        self._known: set[bytes] = set()

    def new(self, members: Rows, sizes: NDArray[np.int64]) -> GroupColumns:
        """Those of the columns that were not here before; now they are."""
        fresh, place = [], 0
        for number, size in enumerate(sizes.tolist()):
            key = members[place : place + size].tobytes()
            place += size
            if key not in self._known:
                self._known.add(key)
                fresh.append(number)
        which = np.array(fresh, dtype=np.int64)
        chosen = GroupColumns(members, sizes, np.zeros(len(sizes))).take(which)
        return with_costs(self._points, chosen.members, chosen.sizes)


def concatenate_columns(parts: list[GroupColumns]) -> GroupColumns:
    return GroupColumns(
        np.concatenate([part.members for part in parts]),
        np.concatenate([part.sizes for part in parts]),
        np.concatenate([part.costs for part in parts]),
    )


def violated_cuts(columns: GroupColumns, values: Doubles, known: Cuts) -> Cuts:
    """Cuts that the values violate, most violated first, no record in too many of them."""
    undecided = np.flatnonzero((values > 1e-6) & (values < 1.0 - 1e-6))
    few = columns.take(undecided)
    n = int(columns.members.max(initial=0)) + 1
    found = Cuts(
        *_core.odd_sets(
            n, few.members, few.sizes, values[undecided], LARGEST_CUT, 1.0 - 2.0 * LEAST_VIOLATION
        )
    )
    seen = set(known.sets())
    used: dict[int, int] = defaultdict(int)
    chosen: list[tuple[int, ...]] = []
    for rows in found.sets():
        if len(chosen) < MOST_CUTS and rows not in seen and max(used[r] for r in rows) < MOST_CUTS_A_RECORD:
            chosen.append(rows)
            for row in rows:
                used[row] += 1
    return cuts_of_sets(chosen)


def cheapest_of_each(columns: GroupColumns, reduced: Doubles, n: int, few: int) -> NDArray[np.int64]:
    """Columns that are among the cheapest few of one of their records."""
    taken = np.zeros(n, dtype=np.int64)
    chosen = []
    starts = columns.starts
    for column in np.argsort(reduced, kind="stable"):
        members = columns.members[starts[column] : starts[column] + columns.sizes[column]]
        if taken[members].min() < few:
            chosen.append(column)
            taken[members] += 1
    return np.sort(np.array(chosen, dtype=np.int64))


def undecided_pairs(columns: GroupColumns, values: Doubles) -> dict[tuple[int, int], float]:
    """How much of each pair of records the columns hold that are neither chosen nor not."""
    pairs: dict[tuple[int, int], float] = defaultdict(float)
    undecided = np.flatnonzero((values > 1e-6) & (values < 1.0 - 1e-6))
    for column, start in zip(undecided, columns.starts[undecided], strict=True):
        group = columns.members[start : start + columns.sizes[column]].tolist()
        for pair in itertools.combinations(group, 2):
            pairs[pair] += float(values[column])
    return pairs
