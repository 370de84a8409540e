"""Two fixed reference points: TFRP07, both phases (algorithms 1 and 2, appendices A and C).

All 96 losses in table 2 come out to the last digit printed. That needs one thing the text leaves open: the
leftovers of phase I are taken in the order of the list read last (by decreasing distance from the reference
point that the last group was formed from), and centroids follow from one leftover to the next. With fixed
centroids, or in any other order that was tried, some of the seven cases with many leftovers differ.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from .basics import (
    Floats,
    Labels,
    Rows,
    as_points,
    centroid_of,
    farthest,
    squared_distances,
    without,
)
from .objective import canonical, group_sse, labels_of
from .peel import _checked, _grow, _single_group

Resplit = Callable[[Floats, int], Labels]


def tfrp_1(points: Floats, k: int) -> Labels:
    """Phase I: every group is the record farthest from a reference point and its k - 1 nearest.

    All attributes of the first reference point are the least value in the table (of whatever
    attribute), all of the second the greatest; they are used in turns, the first one first.
    Fewer than k leftovers, by decreasing distance from the reference point used last, go each to
    the group with the nearest centroid (ties: the first), which then moves. One group if n < 2k.
    """
    table = _checked(points, k)
    n = len(table)
    if n < 2 * k:
        return _single_group(n)
    references = [np.full(table.shape[1], extreme) for extreme in (table.min(), table.max())]
    groups: list[Rows] = []
    remaining = np.arange(n)
    while len(remaining) >= k:
        reference = references[len(groups) % 2]
        r = farthest(remaining, squared_distances(table[remaining], reference))
        group = _grow(table, r, without(remaining, [r]), k, "seed", None)
        groups.append(group)
        remaining = without(remaining, group)
    reference = references[(len(groups) - 1) % 2]
    while len(remaining) > 0:
        row = farthest(remaining, squared_distances(table[remaining], reference))
        centroids = np.array([centroid_of(table[group]) for group in groups])
        nearest = int(np.argmin(squared_distances(centroids, table[row])))
        groups[nearest] = np.append(groups[nearest], row)
        remaining = without(remaining, [row])
    return labels_of(groups, n)


def dissolve(points: Floats, labels: ArrayLike, k: int, resplit: Resplit) -> Labels:
    """Phase II, written "+" after the name of a method.

    Groups are looked at once, in decreasing order of the sum of squares they had at the outset
    (ties: the lowest label), except those that have 2k members or more by then. The members of
    a group, by row, go provisionally to the nearest centroid of another group (centroids without
    any of them; ties: the lowest label); a group with 4k - 1 members, those provisional included, is
    passed over. If the total sum of squares falls the group is gone for good, otherwise, or if
    some member finds no place, it stays. At the end ``resplit`` partitions every group of 2k
    members or more.
    """
    table = as_points(points)
    groups = [np.flatnonzero(np.asarray(labels) == label) for label in np.unique(labels)]
    errors = [group_sse(table[rows]) for rows in groups]
    present = dict(enumerate(groups))
    middles = {number: centroid_of(table[rows]) for number, rows in present.items()}
    for number in sorted(present, key=lambda number: (-errors[number], number)):
        if len(present[number]) >= 2 * k:
            continue
        changed = _scatter(table, present, middles, number, k)
        if changed is None:
            continue
        before = group_sse(table[present[number]]) + sum(group_sse(table[present[i]]) for i in changed)
        after = sum(group_sse(table[rows]) for rows in changed.values())
        if after < before:
            del present[number], middles[number]
            for other, rows in changed.items():
                present[other], middles[other] = rows, centroid_of(table[rows])

    final: list[Rows] = []
    for rows in present.values():
        if len(rows) < 2 * k:
            final.append(rows)
        else:
            parts = resplit(table[rows], k)
            final += [rows[parts == part] for part in np.unique(parts)]
    return labels_of(final, len(table))


def tfrp(points: Floats, k: int) -> Labels:
    """Both phases; groups that became too large are partitioned by phase I."""
    return canonical(dissolve(points, tfrp_1(points, k), k, tfrp_1))


def _scatter(
    points: Floats, present: dict[int, Rows], middles: dict[int, Floats], number: int, k: int
) -> dict[int, Rows] | None:
    """The groups that would receive members of one group, as they would be then."""
    others = sorted(set(present) - {number})
    if not others:
        return None
    places = np.array([middles[other] for other in others])
    changed: dict[int, Rows] = {}
    for row in present[number]:
        distances = squared_distances(places, points[row])
        for position in np.argsort(distances, kind="stable"):
            other = others[position]
            members = changed.get(other, present[other])
            if len(members) < 4 * k - 1:
                changed[other] = np.sort(np.append(members, row))
                break
        else:
            return None
    return changed
