"""Records grouped by which keys they have: patterns of missing values, and of zeros.

A group can only be published as one combination of values if its members have the same keys. Records with a
pattern that fewer than k share give up further cells, or others give up theirs, whichever loses less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg import wording
from microagg.prepare.strata import Positions

Observed = frozenset[int]
"""Columns of a subset that are not missing."""


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """Records that keep the same columns and lose the others, if they had them."""

    rows: Positions
    columns: tuple[int, ...]


def by_missing(points: NDArray[np.float64], rows: Positions, k: int) -> list[Pattern]:
    """These rows of the points by the columns they keep, k at least with each pattern.

    Step by step the rarest pattern that is too rare is mended in the way that costs fewest cells: it loses
    cells to become a pattern that k share; or it and the nearest records of another pattern, or all of
    them if few would remain, become what they have in common. A pattern that has nothing in common with
    any other loses all, and fewer than k without any key are refused; but where there is a single key, the
    records nearest to its mean lose theirs to fill them up.
    """
    patterns = _observed_patterns(points, rows)
    while True:
        rare = [columns for columns, members in patterns.items() if len(members) < k and columns]
        if not rare:
            break
        columns = min(rare, key=lambda each: (len(patterns[each]), sorted(each)))
        _mend(points, patterns, columns, k)
    if points.shape[1] == 1:
        _fill_up(points, patterns, k)
    without = patterns.get(frozenset(), np.empty(0, dtype=np.int64))
    if 0 < len(without) < k:
        raise wording.too_few_without_keys(len(without), k)
    ordered = sorted(patterns, key=lambda columns: (-len(columns), sorted(columns)))
    return [Pattern(np.sort(patterns[columns]), tuple(sorted(columns))) for columns in ordered]


def _observed_patterns(points: NDArray[np.float64], rows: Positions) -> dict[Observed, Positions]:
    observed = ~np.isnan(points[rows])
    if observed.all():
        return {frozenset(range(points.shape[1])): rows}
    packed = np.packbits(observed, axis=1)
    distinct, of = np.unique(packed, axis=0, return_inverse=True)
    order = np.argsort(of.ravel(), kind="stable")
    cuts = np.cumsum(np.bincount(of.ravel(), minlength=len(distinct)))[:-1]
    return {
        frozenset(np.flatnonzero(observed[members[0]]).tolist()): rows[members]
        for members in np.split(order, cuts)
    }


def _mend(points: NDArray[np.float64], patterns: dict[Observed, Positions], rare: Observed, k: int) -> None:
    """Merge the rare pattern into another one, or bring it to k records."""
    members = patterns[rare]
    best: tuple[bool, int, int, list[int]] | None = None
    action: tuple[Observed, int] = (frozenset(), 0)
    for other, theirs in patterns.items():
        common = rare & other
        if other == rare or not common:
            continue
        there = 0 if common in (rare, other) else len(patterns.get(common, ()))
        lacking = max(k - len(members) - there, 0)
        if other < rare and len(theirs) >= k:
            recruits = 0
        else:
            recruits = lacking if len(theirs) >= k + lacking else len(theirs)
        cost = len(members) * len(rare - common) + recruits * len(other - common)
        too_few = len(members) + there + (len(theirs) if other == common else recruits) < k
        choice = (too_few, cost, recruits, sorted(other))
        if best is None or choice < best:
            best, action = choice, (other, recruits)
    other, recruits = action
    target = rare & other
    moving = [patterns.pop(rare)]
    if recruits:
        theirs = patterns.pop(other)
        nearest = _nearest_rows(points, theirs, members, sorted(target))[:recruits]
        taken = np.isin(theirs, nearest)
        moving.append(theirs[taken])
        if not taken.all():
            patterns[other] = theirs[~taken]
    patterns[target] = np.concatenate([*([patterns[target]] if target in patterns else []), *moving])


def _fill_up(points: NDArray[np.float64], patterns: dict[Observed, Positions], k: int) -> None:
    """Bring the records without the only key to k, if at least k remain with it."""
    nothing, only = frozenset[int](), frozenset({0})
    without, others = patterns.get(nothing, ()), patterns.get(only, np.empty(0, dtype=np.int64))
    lacking = k - len(without)
    if 0 < lacking < k and len(others) >= k + lacking:
        nearest = _nearest_rows(points, others, others, [0])[:lacking]
        patterns[nothing] = np.concatenate([patterns[nothing], nearest])
        patterns[only] = others[~np.isin(others, nearest)]


def _nearest_rows(
    points: NDArray[np.float64], candidates: Positions, members: Positions, columns: list[int]
) -> Positions:
    """The candidates by their distance from the members' mean."""
    centre = points[members][:, columns].mean(axis=0)
    distances = ((points[candidates][:, columns] - centre) ** 2).sum(axis=1)
    return candidates[np.argsort(distances, kind="stable")]


def by_zeros(values: NDArray[np.float64], rows: Positions, k: int) -> tuple[list[Positions], int]:
    """These rows by which of their values are zero, and how many of them are grouped with records whose
    zeros are elsewhere, as theirs is a pattern that fewer than k share: they go to the most alike.
    """
    zero = values[rows] == 0.0
    distinct, of = np.unique(zero, axis=0, return_inverse=True)
    of = of.ravel()
    sizes = np.bincount(of)
    common = np.flatnonzero(sizes >= k)
    rare = np.flatnonzero(sizes < k)
    if len(common) == 0:
        return [rows], len(rows) if len(sizes) > 1 else 0
    target = np.arange(len(sizes))
    for pattern in rare:
        differing = (distinct[common] != distinct[pattern]).sum(axis=1)
        target[pattern] = common[np.lexsort((-sizes[common], differing))[0]]
    return [rows[target[of] == pattern] for pattern in common], int(sizes[rare].sum())
