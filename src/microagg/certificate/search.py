"""Finds all groups of small reduced cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg import wording
from microagg.certificate.clock import Tick, no_limit
from microagg.certificate.duals import Cuts, Duals, Groups, RowPair, rounding
from microagg.model import Doubles, Problem, Rows

MOST_GROUPS = 5_000_000
"""Groups kept at a time. An honest certificate leads to far fewer."""


class Search:
    """Finds every group with rc(C) < t.

    For groups of m records, let ω_ij = d_ij − c(π_i + π_j) with c = m/(m − 1). Here d_ij is the squared
    distance and, for each cut S that holds i and j, m·μ_S/a with the largest odd a ≤ |S|, m: a group
    with b records of S has b(b − 1)/2 such pairs, together at most m·μ_S⌊b/2⌋. So the sum over the pairs
    of C,

        Σω(C) ≤ m·(rc(C) − F)

    Two facts bound the search for all C with Σω(C) < m·t; for rc(C) < t' that is t = t' − F.

    *Good beginnings.* Every pair is in the same number of the sets that leave out one record of C, so
    leaving out the record with the largest star (the sum of its ω) does not raise the mean of ω. Hence C
    is reached from a pair by adding records one by one, such that the mean never exceeds that of C,
    which is below 2t/(m − 1), and each has the largest star when it is added.

    *Completion.* If P is in C and r records R are to come, then Σω(C) is Σω(P), the stars of R in P, and
    the pairs inside R. Of such a pair, each of the two is given its own price and a share of d, in
    proportion to weights. (Any will do; dear records are far from all others, so weights near the prices
    give sharp bounds.) The r − 1 least shares of a record, less c(r − 1)π, are the least that it can be
    given, its `end`. So Σω(C) ≥ Σω(P) + Σ_R (star + end).

    Rounding: prices are raised by 2kρ|π|, which lowers Σω(C) by more than all that is computed of C and
    its beginnings can be wrong by. Groups that are found too many do no harm.
    """

    CELLS = 2**21
    """Beginnings times candidates handled together, which bounds the memory."""

    LONGEST_CUT = 99
    """Records of a cut; longer cuts have too many pairs and are ignored, which the search may do."""

    def __init__(self, problem: Problem, cuts: Cuts, tick: Tick = no_limit) -> None:
        self._tick = tick
        self._problem = problem
        self._cuts = cuts
        self._margin = 2 * problem.k * rounding(problem, cuts)

    def groups(self, duals: Duals, below: float, progress: Callable[[float], object]) -> list[Groups]:
        """All admitted groups with rc < below, and some others; one entry a size."""
        n, k = len(self._problem.points), self._problem.k
        prices = duals.prices + self._margin * np.abs(duals.prices)
        sizes = [
            _Size(m, prices, self._widened(m * (below - duals.charge)), *self._surcharges(duals, m))
            for m in range(k, min(2 * k - 1, n) + 1)
        ]
        found: list[list[Rows]] = [[] for _ in sizes]
        kept = 0
        weights = np.maximum(prices, 1e-3 * np.abs(prices).mean()) + 1e-300
        shares = self._least_shares(weights)
        for record in range(n):
            self._tick()
            row = self._distances(np.array([record]), slice(None))[0]
            candidates = [self._candidates(record, row, size, shares) for size in sizes]
            near = np.concatenate([[record], np.flatnonzero(np.logical_or.reduce(candidates))])
            distances = self._distances(near, near)
            for size, parts, able in zip(sizes, found, candidates, strict=True):
                for members in self._around(near, distances, able[near], size, weights):
                    parts.append(members)
                    kept += len(members)
                    if kept > MOST_GROUPS:
                        raise wording.certificate_too_wide(MOST_GROUPS)
            progress((record + 1) / n)
        groups = []
        for size, parts in zip(sizes, found, strict=True):
            members = np.concatenate([np.empty((0, size.m), dtype=np.int32), *parts])
            part = Groups.of(self._problem.points, self._cuts, members[_firsts(members)])
            groups.append(part.take(duals.admit(part, self._tick)))
        return groups

    def _widened(self, limit: float) -> float:
        return limit + self._margin * abs(limit)

    def _distances(self, rows: Any, others: Any) -> Doubles:
        """Squared distances of some records to others, computed without cancellation."""
        points = self._problem.points
        left, right = points[rows], points[others]
        total = np.zeros((len(left), len(right)))
        for a in range(points.shape[1]):
            difference = left[:, a, None] - right[None, :, a]
            total += difference * difference
        return total

    def _least_shares(self, weights: Doubles) -> Doubles:
        """Σ of the j least shares of each record in its distances to others, j = 0 to 2k − 2 (row j)."""
        n, most = len(weights), min(2 * self._problem.k - 2, len(weights) - 1)
        least = np.empty((most + 1, n))
        step = max(1, self.CELLS // n)
        for start in range(0, n, step):
            self._tick()
            rows = np.arange(start, min(start + step, n))
            distances = self._distances(rows, slice(None))
            distances[np.arange(len(rows)), rows] = np.inf
            least[:, rows] = _sums_of_least(distances * _share(weights[rows], weights), most)
        return least

    def _surcharges(self, duals: Duals, m: int) -> tuple[Rows, Rows, Doubles]:
        """What the cuts add to d of pairs of records; pairs that must be apart are infinitely far."""
        extra: dict[RowPair, float] = {}
        for rows, multiplier in zip(self._cuts.sets, duals.multipliers.tolist(), strict=False):
            self._tick()
            if len(rows) > self.LONGEST_CUT:
                continue
            largest = min(len(rows), m - 1 + m % 2)
            for i in rows:
                for j in rows:
                    if i != j:
                        extra[i, j] = extra.get((i, j), 0.0) + m * multiplier / largest
        for i, j in duals.apart:
            extra[i, j] = extra[j, i] = math.inf
        pairs = np.array(list(extra), dtype=np.int32).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1], np.array(list(extra.values()), dtype=np.float64)

    def _candidates(self, record: int, row: Doubles, size: _Size, shares: Doubles) -> NDArray[np.bool_]:
        """Which records groups that begin with this one can have; none if it begins no pair."""
        m, c = size.m, size.m / (size.m - 1)
        omega = row - c * (size.prices[record] + size.prices)
        omega[record] = np.inf
        ends = shares[m - 2] - c * (m - 2) * size.prices
        able = _can_complete(np.zeros(1), (omega + ends)[None, :], m - 1, size.limit)[0]
        begins = able[record:] & (omega[record:] < self._widened(size.mean))
        return able if begins.any() else np.zeros(len(row), dtype=np.bool_)

    def _around(
        self,
        near: NDArray[np.int64],
        near_distances: Doubles,
        able: NDArray[np.bool_],
        size: _Size,
        weights: Doubles,
    ) -> Iterator[Rows]:
        """Groups that begin with the first of `near` and a later record; the others are `able`."""
        m, c = size.m, size.m / (size.m - 1)
        before = math.inf
        while m - 1 <= (count := int(able.sum())) < 0.9 * before:
            before = count
            here = np.concatenate([[0], np.flatnonzero(able)])
            local, distances = near[here], near_distances[np.ix_(here, here)]
            size.add_surcharges(distances, local)
            np.fill_diagonal(distances, np.inf)
            prices = size.prices[local]
            omega = distances - c * (prices[:, None] + prices)
            # The first is not to come.
            shares = distances[:, 1:] * _share(weights[local], weights[local[1:]])
            coming = np.arange(m - 1)[:, None]
            ends = _sums_of_least(shares, m - 2) - c * coming * prices
            can = _can_complete(np.zeros(1), (omega[0] + ends[m - 2])[None, :], m - 1, size.limit)[0]
            able = np.zeros(len(near), dtype=np.bool_)
            able[here[can]] = True
        if count < m - 1:
            return
        later = np.flatnonzero(can & (local > local[0]) & (omega[0] < self._widened(size.mean)))
        members = np.column_stack([np.zeros(len(later), dtype=np.int64), later])
        level = (members, omega[0, later], np.repeat(omega[0, later, None], 2, axis=1))
        for found in self._grow(omega, ends, np.abs(prices), size, *level):
            yield np.sort(local[found], axis=1).astype(np.int32)

    def _grow(
        self,
        omega: Doubles,
        ends: Doubles,
        prices: Doubles,
        size: _Size,
        members: NDArray[np.int64],
        totals: Doubles,
        stars: Doubles,
    ) -> Iterator[NDArray[np.int64]]:
        """All groups that begin with one of `members`, which have these Σω and stars."""
        count, s = members.shape
        coming = size.m - s
        if not coming:
            if count:
                yield members
            return
        most = self._widened((s + 1) * s / 2 * size.mean)
        step = max(1, self.CELLS // len(omega))
        for start in range(0, count, step):
            self._tick()
            of = slice(start, start + step)
            star = omega[members[of, 0]]
            for place in range(1, s):
                star += omega[members[of, place]]
            fits = totals[of, None] + star < most
            if coming > 1:
                fits &= _can_complete(totals[of], star + ends[coming - 1], coming, size.limit)
            at, new = np.nonzero(fits)
            new_star, at = star[at, new], at + start
            old_stars = stars[at] + omega[members[at], new[:, None]]
            terms = prices[members[at]].sum(axis=1) + prices[new] + max(size.limit, 0.0)
            slack = self._margin * size.m * terms
            largest = (old_stars <= (new_star + slack)[:, None]).all(axis=1)
            tied = (old_stars >= (new_star - slack)[:, None]).any(axis=1)
            grown = np.column_stack([members[at], new])
            if (tied & largest).any():
                # Equal stars lead to the same set in several ways; one is enough.
                largest[largest] = _firsts(np.sort(grown[largest], axis=1))
            yield from self._grow(
                omega,
                ends,
                prices,
                size,
                grown[largest],
                (totals[at] + new_star)[largest],
                np.column_stack([old_stars, new_star])[largest],
            )


@dataclass(frozen=True, slots=True, eq=False)
class _Size:
    """Groups of m records with Σω below `limit`, so a mean of ω below `mean`; `extra` is what d has
    beside the distance of records `left` and `right`.
    """

    m: int
    prices: Doubles
    limit: float
    left: Rows
    right: Rows
    extra: Doubles

    @property
    def mean(self) -> float:
        return self.limit / (self.m * (self.m - 1) / 2)

    def add_surcharges(self, distances: Doubles, local: NDArray[np.int64]) -> None:
        """Add `extra` to the distances among the records `local`."""
        place = np.full(len(self.prices), -1)
        place[local] = np.arange(len(local))
        left, right = place[self.left], place[self.right]
        here = (left >= 0) & (right >= 0)
        distances[left[here], right[here]] += self.extra[here]


def _can_complete(totals: Doubles, worth: Doubles, coming: int, limit: float) -> NDArray[np.bool_]:
    """Per beginning and candidate: whether it and the `coming` − 1 best others stay below the limit."""
    least = np.partition(worth, coming - 1, axis=1)[:, :coming]
    others = totals + least[:, : coming - 1].sum(axis=1)
    return np.asarray(others[:, None] + np.maximum(worth, least[:, -1:]) < limit)


def _share(weights: Doubles, others: Doubles) -> Doubles:
    """What the first of each pair takes of its distance; the second takes the rest."""
    return np.asarray(weights[:, None] / (weights[:, None] + others))


def _sums_of_least(rows: Doubles, most: int) -> Doubles:
    """Σ of the j smallest of each row, j = 0 to `most`; one line a j."""
    sums = np.zeros((most + 1, len(rows)))
    if most:
        np.cumsum(np.sort(np.partition(rows, most - 1, axis=1)[:, :most], axis=1).T, axis=0, out=sums[1:])
    return sums


def _firsts(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Marks one of each set of equal rows."""
    order = np.lexsort(rows.T)
    ordered = rows[order]
    first = np.ones(len(rows), dtype=np.bool_)
    first[order[1:]] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return first
