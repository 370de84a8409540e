"""Prices of the records and what they prove. (1) and V are those of the package's docstring."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from microagg.certificate.clock import Tick, no_limit
from microagg.model import Doubles, Points, Problem, Rows

RowPair = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """Odd sets of records. `cut` lists the cuts that hold record 0, then 1, …, which begin at `starts`."""

    sets: tuple[tuple[int, ...], ...]
    cut: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, sets: Sequence[tuple[int, ...]], n: int) -> Cuts:
        record = np.array([row for rows in sets for row in rows], dtype=np.int64)
        cut = np.repeat(np.arange(len(sets)), [len(rows) for rows in sets])
        counts = np.bincount(record, minlength=n)
        return cls(
            tuple(sets), cut[np.argsort(record, kind="stable")], np.concatenate([[0], np.cumsum(counts)])
        )

    @property
    def most(self) -> int:
        """The largest number of cuts that hold the same record."""
        return int(np.diff(self.starts).max())

    def limits(self, count: int) -> Doubles:
        """(|S| − 1)/2 of the first `count`."""
        return np.array([(len(rows) - 1) // 2 for rows in self.sets[:count]], dtype=np.float64)

    def met(self, members: Rows) -> NDArray[np.int64]:
        """Group, cut and ⌊|C∩S|/2⌋, where that is not zero, of the groups in the rows of `members`."""
        records = members.ravel()
        times = np.diff(self.starts)[records]
        group = np.repeat(np.repeat(np.arange(len(members)), members.shape[1]), times)
        place = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
        cut = self.cut[np.repeat(self.starts[records], times) + place]
        each, counts = np.unique(group * max(len(self.sets), 1) + cut, return_counts=True)
        twice = counts >= 2
        group, cut = np.divmod(each[twice], max(len(self.sets), 1))
        return np.stack([group, cut, counts[twice] // 2])


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Groups of one size, a row each, their costs w_C, and the cuts that they meet (see `Cuts.met`)."""

    members: Rows
    costs: Doubles
    met: NDArray[np.int64]

    @classmethod
    def of(cls, points: Points, cuts: Cuts, members: Rows) -> Groups:
        """Squared distances are added pair by pair, so that nothing cancels."""
        costs = np.zeros(len(members))
        for a in range(members.shape[1]):
            for b in range(a):
                difference = points[members[:, a]] - points[members[:, b]]
                costs += np.einsum("ij,ij->i", difference, difference)
        return cls(members, costs / members.shape[1], cuts.met(members))

    def take(self, which: NDArray[np.bool_]) -> Groups:
        group, cut, times = self.met[:, which[self.met[0]]]
        number = np.cumsum(which) - 1
        return Groups(self.members[which], self.costs[which], np.stack([number[group], cut, times]))


@dataclass(frozen=True, slots=True, eq=False)
class Duals:
    """Prices of the records, multipliers of the first cuts, the charge on every group, and the pairs of a
    leaf.
    """

    prices: Doubles
    multipliers: Doubles
    charge: float = 0.0
    apart: tuple[RowPair, ...] = ()
    together: tuple[RowPair, ...] = ()

    def reduced(self, groups: Groups) -> Doubles:
        """The reduced cost, by (1), of each group."""
        group, cut, times = groups.met[:, groups.met[1] < len(self.multipliers)]
        added = np.bincount(group, weights=self.multipliers[cut] * times, minlength=len(groups.costs))
        return np.asarray(groups.costs - self.prices[groups.members].sum(axis=1) + added + self.charge)

    def admit(self, groups: Groups, tick: Tick = no_limit) -> NDArray[np.bool_]:
        """Which groups the leaf admits."""
        admitted = np.ones(len(groups.members), dtype=np.bool_)
        for pairs, forbidden in ((self.apart, 2), (self.together, 1)):
            for i, j in pairs:
                tick()
                admitted &= ((groups.members == i) | (groups.members == j)).sum(axis=1) != forbidden
        return admitted


def rounding(problem: Problem, cuts: Cuts) -> float:
    """ρ: no sum of ours over a group is wrong by ρ/4 times the sum of its terms' sizes.

    A sum of N terms, each the result of M roundings, is wrong by less than (N + M)·2⁻⁵³ (and a little) of
    that. A group has fewer than 2k² pairs, whose squared distances took p + 2 roundings, and fewer than 2k
    prices; fewer than k times `most` cuts hold two of its records; and there is one charge.
    """
    k, p = problem.k, problem.points.shape[1]
    return 4.0 * float(2 * k * k + 2 * k + k * cuts.most + p + 9) * 2.0**-53


def repair(problem: Problem, cuts: Cuts, duals: Duals, groups: list[Groups]) -> tuple[Duals, float]:
    """Prices for which no admitted group has rc < 0, in exact arithmetic, and V, which they prove.

    `groups` has all admitted groups that have rc < 0. Each π_i is lowered by the largest −rc(C)/|C| of
    the groups that hold i: then Σ_{i∈C} π_i falls by −rc(C) at least. A negative rc is wrong by less
    than ρ/2·Σ_{i∈C} |π_i|, for its positive terms are less than its prices; so each price falls by
    another ρ|π_i|. (The last term is for squares that are too small for a double.)
    """
    lower = np.zeros(len(duals.prices))
    for part in groups:
        size = part.members.shape[1]
        share = np.minimum(duals.reduced(part), 0.0) / size
        np.minimum.at(lower, part.members.ravel(), np.repeat(share, size))
    rho = rounding(problem, cuts)
    prices = duals.prices + lower - rho * (np.abs(duals.prices) + np.abs(lower)) - 1e-300
    most_groups = len(problem.points) // problem.k
    paid = math.fsum(prices)
    owed = math.fsum(
        [*(duals.multipliers * cuts.limits(len(duals.multipliers))), duals.charge * most_groups]
    )
    value = paid - owed - 4.0 * 2.0**-53 * (abs(paid) + owed)
    return replace(duals, prices=prices), value


def may_be_cheaper(
    problem: Problem, cuts: Cuts, duals: Duals, groups: Groups, room: float
) -> NDArray[np.bool_]:
    """Which groups have rc ≤ room, or nearly: wrong by less than ρ/2 of the prices and the room."""
    terms = np.abs(duals.prices)[groups.members].sum(axis=1) + abs(room)
    return np.asarray(duals.reduced(groups) <= room + rounding(problem, cuts) * terms)
