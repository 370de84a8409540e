"""Checks a lower-bound certificate by its own arithmetic: NumPy alone, nothing of the search that wrote it.

A partition into groups of at least k records can be split into groups of k to 2k − 1 without raising its
cost, so only those count. Group C costs w_C: the sum of the squared distances between its records,
divided by |C|. For prices π of the records and multipliers μ ≥ 0 of cuts (odd sets S of records), let

    rc(C) = w_C − Σ_{i∈C} π_i + Σ_S μ_S ⌊|C∩S|/2⌋                                               (1)

Disjoint groups hold at most (|S| − 1)/2 disjoint pairs of S. So, added over the groups of any partition,

    Σ_C rc(C) ≤ cost − V    with    V = Σπ − Σ_S μ_S (|S| − 1)/2                                (2)

and where no group that is admitted has a negative rc, no partition into such groups costs less than V. Any
prices can be lowered until that is so (`repaired`): hence nothing in a certificate has to be believed.

A *leaf* admits the groups that hold at most one record of each pair `apart` and both or none of each pair
`together`; the leaves' decisions are those of a tree, so that each partition belongs to one of them. A
*screen* leaves out groups that a partition cheaper than the one at hand cannot have: those with rc above
SSE − V, by (2), V being what the screen's own prices prove of the groups that the screens before it left.
What is proven is the least V of the leaves, or the SSE if that is less.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg import errors
from microagg.model import Labels, Points, Problem, Rows, ScaleName

FORMAT, VERSION = "microagg certificate", 1

TOLERANCE = 1e-9
"""Relative: how far figures of the certificate may be from ours."""

NOTHING = 1e-20
"""Of the SST: what means of equal records may leave."""

PROVED = 1e-6
"""Percent: a smaller gap is the solver's tolerance."""

LARGEST_FILE = 2**30
"""Bytes."""

MOST_GROUPS = 5_000_000
"""That are kept at a time. An honest certificate leads to far fewer."""

LARGEST = 1e280
"""Beyond it sums could overflow."""

Doubles = NDArray[np.float64]
Pair = tuple[int, int]
Dual = tuple[ArrayLike, ArrayLike]
Leaf = tuple[Sequence[Sequence[int]], Sequence[Sequence[int]], ArrayLike, ArrayLike]


@dataclass(frozen=True, slots=True)
class Checked:
    """What a certificate proves.

    No partition of the data into groups of at least k has a smaller SSE than `bound`. `sse`, `sst` are
    those of the data in the certificate's scale; `screens`, `leaves`: how many there were.
    """

    bound: float
    sse: float
    sst: float
    screens: int
    leaves: int

    @property
    def information_loss(self) -> float:
        """Of the partition, in percent."""
        return _percent(self.sse, self.sst)

    @property
    def bound_loss(self) -> float:
        """No partition loses less, in percent."""
        return _percent(self.bound, self.sst)

    @property
    def gap(self) -> float:
        """By how much a partition could be better, in percent."""
        return _percent(self.sse - self.bound, self.sse)

    @property
    def proved(self) -> bool:
        """None is better."""
        return self.gap < PROVED


def _percent(part: float, whole: float) -> float:
    return 100.0 * part / whole if whole > 0.0 else 0.0


def check(
    certificate: Mapping[str, Any],
    values: NDArray[np.float64],
    *,
    progress: Callable[[float], object] | None = None,
) -> Checked:
    """What the certificate proves about the table's values; CertificateError if it is not as it claims.

    The proof is about the scaled values as doubles. `progress` is called with the share done, 0 to 1.
    """
    claim = _Claim.read(certificate)
    table = np.ascontiguousarray(values, dtype=np.float64)
    if table.shape != (claim.n, claim.p) or _digest_of_values(table) != claim.data_digest:
        raise errors.certificate_of_other_data()
    problem = Problem(_scaled(table, claim.scale), claim.k)
    sse, sst = _partition_cost(problem, claim), _spread(problem.points)
    for name, ours, theirs in (("sse", sse, claim.sse), ("sst", sst, claim.sst)):
        if not abs(ours - theirs) <= TOLERANCE * ours + NOTHING * sst:
            raise errors.certificate_figure_differs(name)
    bound = min(sse, max(0.0, _proven(problem, claim, progress or (lambda _: None))))
    if not claim.bound <= bound + TOLERANCE * bound + NOTHING * sst:
        raise errors.certificate_proves_less(_percent(claim.bound, sst), _percent(bound, sst))
    return Checked(bound, sse, sst, len(claim.screens), len(claim.leaves))


def _proven(problem: Problem, claim: _Claim, progress: Callable[[float], object]) -> float:
    """No partition costs less."""
    cuts = Cuts.of(claim.cuts, len(problem.points))
    search = Search(problem, cuts)
    passes = 2 if claim.screens else len(claim.leaves)
    done = iter(range(passes))

    def every(duals: Duals, below: float) -> list[Groups]:
        before = next(done)
        return search.groups(duals, below, lambda share: progress((before + share) / passes))

    listed: list[Groups] | None = None
    for proposed in claim.screens:
        screen, value = repaired(problem, cuts, proposed, listed or every(proposed, 0.0))
        room = claim.sse - value
        listed = listed or every(screen, room)
        listed = [part.take(_may_be_cheaper(problem, cuts, screen, part, room)) for part in listed]
    values = [claim.sse]
    for leaf in claim.leaves:
        groups = every(leaf, 0.0) if listed is None else [part.take(leaf.admit(part)) for part in listed]
        values.append(repaired(problem, cuts, leaf, groups)[1])
    return min(values)


# --- prices and what they prove ---


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """Odd sets of records; `cut` has those that hold record 0, then 1, …, which begin at `starts`."""

    sets: tuple[tuple[int, ...], ...]
    cut: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, sets: Sequence[tuple[int, ...]], n: int) -> Cuts:
        """From the records of each."""
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
        """Some of them."""
        group, cut, times = self.met[:, which[self.met[0]]]
        number = np.cumsum(which) - 1
        return Groups(self.members[which], self.costs[which], np.stack([number[group], cut, times]))


@dataclass(frozen=True, slots=True, eq=False)
class Duals:
    """Prices of the records, multipliers of the first cuts, and the pairs of a leaf."""

    prices: Doubles
    multipliers: Doubles
    apart: tuple[Pair, ...] = ()
    together: tuple[Pair, ...] = ()

    def reduced(self, groups: Groups) -> Doubles:
        """(1) of each group."""
        group, cut, times = groups.met[:, groups.met[1] < len(self.multipliers)]
        added = np.bincount(group, weights=self.multipliers[cut] * times, minlength=len(groups.costs))
        return np.asarray(groups.costs - self.prices[groups.members].sum(axis=1) + added)

    def admit(self, groups: Groups) -> NDArray[np.bool_]:
        """Which groups the leaf admits."""
        admitted = np.ones(len(groups.members), dtype=np.bool_)
        for pairs, forbidden in ((self.apart, 2), (self.together, 1)):
            for i, j in pairs:
                admitted &= ((groups.members == i) | (groups.members == j)).sum(axis=1) != forbidden
        return admitted


def _rounding(problem: Problem, cuts: Cuts) -> float:
    """ρ: no sum of ours over a group is wrong by ρ/4 times the sum of its terms' sizes.

    A sum of N terms, each the result of M roundings, is wrong by less than (N + M)·2⁻⁵³ (and a little) of
    that. A group has fewer than 2k² pairs, whose squared distances took p + 2 roundings, and fewer than 2k
    prices; fewer than k times `most` cuts hold two of its records.
    """
    k, p = problem.k, problem.points.shape[1]
    return 4.0 * float(2 * k * k + 2 * k + k * cuts.most + p + 8) * 2.0**-53


def repaired(problem: Problem, cuts: Cuts, duals: Duals, groups: list[Groups]) -> tuple[Duals, float]:
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
    rho = _rounding(problem, cuts)
    prices = duals.prices + lower - rho * (np.abs(duals.prices) + np.abs(lower)) - 1e-300
    paid, owed = math.fsum(prices), math.fsum(duals.multipliers * cuts.limits(len(duals.multipliers)))
    value = paid - owed - 4.0 * 2.0**-53 * (abs(paid) + owed)
    return Duals(prices, duals.multipliers, duals.apart, duals.together), value


def _may_be_cheaper(
    problem: Problem, cuts: Cuts, duals: Duals, groups: Groups, room: float
) -> NDArray[np.bool_]:
    """Which groups have rc ≤ room, or nearly: wrong by less than ρ/2 of the prices and the room."""
    terms = np.abs(duals.prices)[groups.members].sum(axis=1) + abs(room)
    return np.asarray(duals.reduced(groups) <= room + _rounding(problem, cuts) * terms)


# --- all groups of small reduced cost ---


class Search:
    """Finds every group with rc(C) < t.

    For groups of m records, let ω_ij = d_ij − c(π_i + π_j) with c = m/(m − 1). Here d_ij is the squared
    distance and, for each cut S that holds i and j, m·μ_S/a with the largest odd a ≤ |S|, m: a group
    with b records of S has b(b − 1)/2 such pairs, together at most m·μ_S⌊b/2⌋. So the sum over the pairs
    of C,

        Σω(C) ≤ m·rc(C)

    Two facts bound the search for all C with Σω(C) < m·t.

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
    """Beginnings times candidates looked at together: bounds the memory."""

    LONGEST_CUT = 99
    """Longer ones have too many pairs; the search may leave out what a cut adds."""

    def __init__(self, problem: Problem, cuts: Cuts) -> None:
        self._problem = problem
        self._cuts = cuts
        self._margin = 2 * problem.k * _rounding(problem, cuts)

    def groups(self, duals: Duals, below: float, progress: Callable[[float], object]) -> list[Groups]:
        """All admitted groups with rc < below, and some others; one entry a size."""
        n, k = len(self._problem.points), self._problem.k
        prices = duals.prices + self._margin * np.abs(duals.prices)
        sizes = [
            _Size(m, prices, self._widened(m * below), *self._surcharges(duals, m))
            for m in range(k, min(2 * k - 1, n) + 1)
        ]
        found: list[list[Rows]] = [[] for _ in sizes]
        kept = 0
        weights = np.maximum(prices, 1e-3 * np.abs(prices).mean()) + 1e-300
        shares = self._least_shares(weights)
        for record in range(n):
            row = self._distances(np.array([record]), slice(None))[0]
            candidates = [self._candidates(record, row, size, shares) for size in sizes]
            near = np.concatenate([[record], np.flatnonzero(np.logical_or.reduce(candidates))])
            distances = self._distances(near, near)
            for size, parts, able in zip(sizes, found, candidates, strict=True):
                for members in self._around(near, distances, able[near], size, weights):
                    parts.append(members)
                    kept += len(members)
                    if kept > MOST_GROUPS:
                        raise errors.certificate_too_wide(MOST_GROUPS)
            progress((record + 1) / n)
        groups = []
        for size, parts in zip(sizes, found, strict=True):
            members = np.concatenate([np.empty((0, size.m), dtype=np.int32), *parts])
            part = Groups.of(self._problem.points, self._cuts, _distinct(members))
            groups.append(part.take(duals.admit(part)))
        return groups

    def _widened(self, limit: float) -> float:
        return limit + self._margin * abs(limit)

    def _distances(self, rows: Any, others: Any) -> Doubles:
        """Squared, of some records to others, without cancellation."""
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
            rows = np.arange(start, min(start + step, n))
            distances = self._distances(rows, slice(None))
            distances[np.arange(len(rows)), rows] = np.inf
            least[:, rows] = _sums_of_least(distances * _share(weights[rows], weights), most)
        return least

    def _surcharges(self, duals: Duals, m: int) -> tuple[Rows, Rows, Doubles]:
        """What the cuts add to d of pairs of records; pairs that must be apart are infinitely far."""
        extra: dict[Pair, float] = {}
        for rows, multiplier in zip(self._cuts.sets, duals.multipliers.tolist(), strict=False):
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
        """To the distances among the records `local`."""
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


def _distinct(rows: Rows) -> Rows:
    return rows[_firsts(rows)]


# --- the leaves ---


def _complete(leaves: Sequence[Duals]) -> bool:
    """Whether the decisions are those of a tree: a pair that all leaves have decided, both ways, splits
    them into two halves of which the same holds, down to single leaves without further decisions. Which
    of several such pairs comes first does not matter: if all leaves of a tree have decided a pair, then
    those that decided it one way are, without it, the leaves of a tree.
    """
    waiting = [[dict.fromkeys(leaf.apart, False) | dict.fromkeys(leaf.together, True) for leaf in leaves]]
    while waiting:
        part = waiting.pop()
        if len(part) == 1 and not part[0]:
            continue
        common = (pair for pair in part[0] if all(pair in leaf for leaf in part))
        pair = next((pair for pair in common if len({leaf[pair] for leaf in part}) == 2), None)
        if pair is None:
            return False
        halves: tuple[list[dict[Pair, bool]], list[dict[Pair, bool]]] = ([], [])
        for leaf in part:
            halves[leaf.pop(pair)].append(leaf)
        waiting.extend(halves)
    return True


# --- the data ---


def _digest_of_values(values: NDArray[np.float64]) -> str:
    return hashlib.sha256(np.ascontiguousarray(values, dtype="<f8").tobytes()).hexdigest()


def _digest_of_labels(labels: Labels) -> str:
    return hashlib.sha256(labels.astype("<i4").tobytes()).hexdigest()


def _scaled(values: NDArray[np.float64], scale: ScaleName) -> Points:
    """In common units; a constant column becomes 0.

    zscore: from the mean, in population standard deviations; range: from 0 to 1; robust: from the
    median, in median absolute deviations; rank: average ranks, less a half, divided by n.
    """
    if not np.isfinite(values).all():
        raise errors.certificate_data_unusable()
    points = np.column_stack([_scaled_column(column, scale) for column in values.T])
    spread = np.ptp(points, axis=0)
    varies = values.min(axis=0) < values.max(axis=0)
    if (varies & ((spread < 1e-140) | (np.abs(points).max(axis=0) > 1e140))).any():
        raise errors.certificate_data_unusable()
    return np.ascontiguousarray(points)


def _scaled_column(column: Doubles, scale: ScaleName) -> Doubles:
    if scale == "none":
        return column
    low, high = column.min(), column.max()
    if low == high:
        return np.zeros(len(column))
    if scale == "rank":
        _, which, counts = np.unique(column, return_inverse=True, return_counts=True)
        return (np.cumsum(counts) - counts / 2)[which] / len(column)
    if scale == "robust":
        half = column / 2  # so that no difference overflows
        distance = half - np.median(half)
        spread = np.median(np.abs(distance))
        return distance / spread if spread > 0.0 else np.zeros(len(column))
    # In units near half the range, from its middle: nothing overflows, and far columns keep their digits.
    middle = low / 2 + high / 2
    unit = np.ldexp(1.0, min(-int(np.frexp(max(high - middle, middle - low))[1]), 1000))
    inside = (column - middle) * unit
    if scale == "range":
        inside = inside - inside.min()
        return np.asarray(inside / inside.max())
    inside = inside - math.fsum(inside) / len(inside)
    return np.asarray(inside / math.sqrt(math.fsum(inside * inside) / len(inside)))


def _spread(points: Points) -> float:
    """Sum of squares about the mean, taken from the first record so that the mean keeps its digits."""
    near = points - points[0]
    return math.fsum(((near - near.mean(axis=0)) ** 2).ravel())


def _partition_cost(problem: Problem, claim: _Claim) -> float:
    if _digest_of_labels(claim.labels) != claim.partition_digest:
        raise errors.certificate_of_other_partition()
    sizes = np.bincount(claim.labels)
    if sizes.min() < claim.k:
        raise errors.certificate_group_too_small(int(sizes.min()), claim.k)
    groups = np.split(np.argsort(claim.labels, kind="stable"), np.cumsum(sizes)[:-1])
    return math.fsum(_spread(problem.points[rows]) for rows in groups)


# --- the file ---

FIELDS = (
    "format", "version", "records", "attributes", "k", "scale", "data_digest", "partition_digest", "labels",
    "sse", "sst", "bound", "cuts", "screens", "leaves", "digest",
)  # fmt: skip


def document(
    values: NDArray[np.float64],
    k: int,
    scale: ScaleName,
    labels: Labels,
    sse: float,
    sst: float,
    bound: float,
    cuts: Sequence[Sequence[int]],
    screens: Sequence[Dual],
    leaves: Sequence[Leaf],
) -> dict[str, Any]:
    """The certificate of these figures, ready for `json.dump`. Labels are numbered by first appearance; a
    screen is (prices, multipliers), a leaf (apart, together, prices, multipliers).
    """
    plain = {
        "format": FORMAT,
        "version": VERSION,
        "records": len(values),
        "attributes": values.shape[1],
        "k": int(k),
        "scale": scale,
        "data_digest": _digest_of_values(values),
        "partition_digest": _digest_of_labels(np.asarray(labels)),
        "labels": [int(label) for label in labels],
        "sse": float(sse),
        "sst": float(sst),
        "bound": float(bound),
        "cuts": [_integers(rows) for rows in cuts],
        "screens": [_plain_duals(*screen) for screen in screens],
        "leaves": [
            {
                "apart": [_integers(pair) for pair in apart],
                "together": [_integers(pair) for pair in together],
            }
            | _plain_duals(prices, multipliers)
            for apart, together, prices, multipliers in leaves
        ],
    }
    return plain | {"digest": _digest_of_fields(plain)}


def _integers(rows: Sequence[int]) -> list[int]:
    return [int(row) for row in rows]


def _plain_duals(prices: ArrayLike, multipliers: ArrayLike) -> dict[str, Any]:
    return {"prices": np.asarray(prices).tolist(), "multipliers": np.asarray(multipliers).tolist()}


def _digest_of_fields(fields: Mapping[str, Any]) -> str:
    """Of all fields but the digest itself, in the one way to write them."""
    plain = {name: value for name, value in fields.items() if name != "digest"}
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def load(path: str | Path) -> dict[str, Any]:
    """The certificate in a file: one JSON object, no NaN, no name twice. `check` says what it is worth."""
    file = Path(path)
    if file.is_dir():
        raise errors.is_a_folder(str(file))
    try:
        if file.stat().st_size > LARGEST_FILE:
            raise errors.certificate_too_large(str(file), LARGEST_FILE)
        text = file.read_bytes()
    except FileNotFoundError:
        raise errors.no_such_file(str(file)) from None
    except OSError as reason:
        raise errors.cannot_read(str(file), reason.strerror or "unknown reason") from None
    try:
        found = json.loads(text.decode(), parse_constant=_refuse, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        raise errors.certificate_unreadable(str(file)) from None
    if not isinstance(found, dict):
        raise errors.certificate_unreadable(str(file))
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Claim:
    """The fields of a certificate, each of the right kind and length."""

    n: int
    p: int
    k: int
    scale: ScaleName
    data_digest: str
    partition_digest: str
    labels: Labels
    sse: float
    sst: float
    bound: float
    cuts: tuple[tuple[int, ...], ...]
    screens: tuple[Duals, ...]
    leaves: tuple[Duals, ...]

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> _Claim:
        if not isinstance(fields, Mapping) or fields.get("format") != FORMAT:
            raise errors.not_a_certificate(FORMAT)
        if type(fields.get("version")) is not int or fields["version"] != VERSION:
            raise errors.certificate_of_other_version(VERSION)
        _names(fields, FIELDS, "certificate")
        n = _integer(fields["records"], "records", 2, 2**31 - 1)
        p = _integer(fields["attributes"], "attributes", 1, 2**31 - 1)
        k = _integer(fields["k"], "k", 2, n)
        if fields["scale"] not in get_args(ScaleName):
            raise errors.certificate_field("scale", f"one of {', '.join(get_args(ScaleName))}")
        cuts = tuple(_rows(rows, "cuts", n) for rows in _list(fields["cuts"], "cuts"))
        for rows in cuts:
            if len(rows) < 3 or len(rows) % 2 == 0:
                raise errors.certificate_field("cuts", "sets of 3, 5, 7, … records")
        claim = cls(
            n,
            p,
            k,
            fields["scale"],
            _text(fields["data_digest"], "data_digest"),
            _text(fields["partition_digest"], "partition_digest"),
            _labels(fields["labels"], n),
            _number(fields["sse"], "sse"),
            _number(fields["sst"], "sst"),
            _number(fields["bound"], "bound"),
            cuts,
            tuple(_duals(entry, "screens", n, len(cuts)) for entry in _list(fields["screens"], "screens")),
            tuple(_duals(entry, "leaves", n, len(cuts)) for entry in _list(fields["leaves"], "leaves")),
        )
        if _digest_of_fields(fields) != _text(fields["digest"], "digest"):
            raise errors.certificate_altered()
        if not claim.leaves or not _complete(claim.leaves):
            raise errors.certificate_leaves_incomplete()
        return claim


def _names(fields: Mapping[str, Any], needed: Sequence[str], where: str) -> None:
    missing = [name for name in needed if name not in fields]
    unknown = [str(name) for name in fields if name not in needed]
    if missing or unknown:
        raise errors.certificate_fields(where, missing, unknown)


def _list(found: Any, name: str) -> list[Any]:
    if not isinstance(found, list):
        raise errors.certificate_field(name, "a list")
    return found


def _text(found: Any, name: str) -> str:
    if not isinstance(found, str):
        raise errors.certificate_field(name, "text")
    return found


def _integer(found: Any, name: str, least: int, most: int) -> int:
    if type(found) is not int or not least <= found <= most:
        raise errors.certificate_field(name, f"a whole number from {least} to {most}")
    return found


def _numbers(found: Any, name: str, length: int | None = None, least: float = -LARGEST) -> Doubles:
    entries = _list(found, name)
    fits = all(type(entry) in (int, float) and least <= entry <= LARGEST for entry in entries)
    if not fits or (length is not None and len(entries) != length):
        kind = "finite numbers" if least < 0.0 else "finite numbers of at least 0"
        raise errors.certificate_field(name, kind if length is None else f"{kind}, {length} of them")
    return np.array(entries, dtype=np.float64)


def _number(found: Any, name: str) -> float:
    return float(_numbers([found], name, 1, least=0.0)[0])


def _rows(found: Any, name: str, n: int) -> tuple[int, ...]:
    rows = tuple(_integer(row, name, 0, n - 1) for row in _list(found, name))
    if len(set(rows)) < len(rows):
        raise errors.certificate_field(name, "without a record twice")
    return rows


def _labels(found: Any, n: int) -> Labels:
    labels = [_integer(label, "labels", 0, n - 1) for label in _list(found, "labels")]
    if len(labels) != n or list(dict.fromkeys(labels)) != list(range(len(set(labels)))):
        raise errors.certificate_field("labels", f"{n} groups' numbers, counted by first appearance")
    return np.array(labels, dtype=np.int32)


def _duals(found: Any, name: str, n: int, cuts: int) -> Duals:
    pairs = ("apart", "together") if name == "leaves" else ()
    if not isinstance(found, dict):
        raise errors.certificate_field(name, "a list of objects")
    _names(found, (*pairs, "prices", "multipliers"), name)
    multipliers = _numbers(found["multipliers"], "multipliers", least=0.0)
    if len(multipliers) > cuts:
        raise errors.certificate_field("multipliers", f"at most {cuts}, one a cut")
    decisions = [tuple(_pair(pair, side, n) for pair in _list(found[side], side)) for side in pairs]
    decided = [pair for side in decisions for pair in side]
    if len(set(decided)) < len(decided):
        raise errors.certificate_field(name, "without a pair decided twice")
    return Duals(_numbers(found["prices"], "prices", n), multipliers, *decisions)


def _pair(found: Any, name: str, n: int) -> Pair:
    rows = _rows(found, name, n)
    if len(rows) != 2:
        raise errors.certificate_field(name, "pairs of records")
    return min(rows), max(rows)
