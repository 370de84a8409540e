"""Groups as columns: the variables of set partitioning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg import _core
from microagg.model import Labels, Points, Rows


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
    def limits(self) -> NDArray[np.float64]:
        """(|S| − 1)/2 of each."""
        return (self.sizes - 1) / 2

    def first(self, count: int) -> Cuts:
        """The first `count` of them."""
        return Cuts(self.rows[: self.sizes[:count].sum()], self.sizes[:count])

    def sets(self) -> list[tuple[int, ...]]:
        """The records of each."""
        ends = np.cumsum(self.sizes)
        return [tuple(self.rows[e - m : e].tolist()) for e, m in zip(ends, self.sizes, strict=True)]


NO_CUTS = Cuts(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64))


def cuts_of_sets(sets: list[tuple[int, ...]]) -> Cuts:
    """Cuts from the records of each."""
    rows = [row for rows in sets for row in rows]
    return Cuts(np.array(rows, dtype=np.int32), np.array([len(rows) for rows in sets], dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Groups one after the other: `members` ascending in each, `sizes`, and `costs`, their SSEs."""

    members: Rows
    sizes: NDArray[np.int64]
    costs: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each column begins in `members`."""
        return np.cumsum(self.sizes) - self.sizes

    def take(self, which: NDArray[np.int64]) -> Columns:
        """These columns only."""
        sizes = self.sizes[which]
        ends = np.cumsum(sizes)
        inside = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
        return Columns(
            self.members[np.repeat(self.starts[which], sizes) + inside], sizes, self.costs[which]
        )

    def cut_entries(self, n: int, cuts: Cuts) -> NDArray[np.int64]:
        """Column, cut and coefficient ⌊|C∩S|/2⌋ of all that are not zero, one a row."""
        return _core.columns_of_cuts(n, self.members, self.sizes, cuts.rows, cuts.sizes)

    def reduced_costs(
        self, prices: NDArray[np.float64], cuts: Cuts, multipliers: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """w_C − Σ prices of its records + Σ multipliers of the cuts · ⌊|C∩S|/2⌋."""
        if not len(self):
            return np.empty(0)
        reduced = self.costs - np.add.reduceat(prices[self.members], self.starts)
        if len(cuts):
            column, cut, times = self.cut_entries(len(prices), cuts).T
            reduced += np.bincount(column, weights=multipliers[cut] * times, minlength=len(self))
        return reduced

    def obey(self, apart: Rows, together: Rows) -> NDArray[np.bool_]:
        """Which columns hold at most one record of each pair of `apart` and both or none of `together`."""
        allowed = np.ones(len(self), dtype=np.bool_)
        of_member = np.repeat(np.arange(len(self)), self.sizes)
        for pairs, forbidden in ((apart, 2), (together, 1)):
            for pair in pairs:
                hits = np.bincount(of_member[np.isin(self.members, pair)], minlength=len(self))
                allowed &= hits != forbidden
        return allowed


def columns_of_labels(points: Points, labels: Labels) -> Columns:
    """The groups of a partition."""
    members = np.argsort(labels, kind="stable").astype(np.int32)
    return costed(points, members, np.bincount(labels).astype(np.int64))


def costed(points: Points, members: Rows, sizes: NDArray[np.int64]) -> Columns:
    """Columns with their costs."""
    return Columns(members, sizes, _core.column_costs(points, members, sizes))


class Pool:
    """Columns that are different from each other."""

    def __init__(self, points: Points) -> None:
        self._points = points
        self._known: set[bytes] = set()

    def new(self, members: Rows, sizes: NDArray[np.int64]) -> Columns:
        """Those of the columns that were not here before; now they are."""
        fresh, place = [], 0
        for number, size in enumerate(sizes.tolist()):
            key = members[place : place + size].tobytes()
            place += size
            if key not in self._known:
                self._known.add(key)
                fresh.append(number)
        which = np.array(fresh, dtype=np.int64)
        chosen = Columns(members, sizes, np.zeros(len(sizes))).take(which)
        return costed(self._points, chosen.members, chosen.sizes)


def joined(parts: list[Columns]) -> Columns:
    """Columns of several blocks in one."""
    return Columns(
        np.concatenate([part.members for part in parts]),
        np.concatenate([part.sizes for part in parts]),
        np.concatenate([part.costs for part in parts]),
    )
