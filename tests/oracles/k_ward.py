"""The k-Ward algorithm of CMP98 (algorithm 1), univariate and multivariate.

Ward's method joins, step after step, the two groups whose union increases the sum of squares
least. k-Ward begins with two groups of k records from both ends of the data and never joins two
groups that both have k records already; groups that end up with 2k records or more are treated
again by themselves. Data-oriented univariate microaggregation is k-Ward on the sorting values
as a table with one attribute.
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
    farthest_of_matrix,
    pairwise_distances,
    squared_distances,
    without,
)
from .objective import labels_of
from .peel import _checked, _grow, _single_group

Extremes = Callable[[Rows], tuple[Rows, Rows]]


def extremes_by_values(values: ArrayLike, k: int) -> Extremes:
    """The first and the last k of the given rows, sorted by (value, row)."""
    column = np.asarray(values, dtype=np.float64)

    def extremes(rows: Rows) -> tuple[Rows, Rows]:
        ordered = rows[np.lexsort((rows, column[rows]))]
        return ordered[:k], ordered[len(ordered) - k :]

    return extremes


def extremes_by_distance(
    points: Floats, k: int, swap: bool = False, drawn: ArrayLike | None = None
) -> Extremes:
    """The maximum-distance criterion (MD): groups around the two most distant records r < s.

    Each grows by one record at a time, the nearest to its centroid so far: first that of r,
    which never takes s, then that of s; with ``swap`` the roles are exchanged. The paper leaves
    open which comes first in each instance of step 1: with ``drawn``, a bit for each record, the
    roles are exchanged where the bits of r and s differ.
    """
    table = as_points(points)
    matrix = pairwise_distances(table)

    def extremes(rows: Rows) -> tuple[Rows, Rows]:
        ordered = np.sort(rows)
        low, high = farthest_of_matrix(matrix[np.ix_(ordered, ordered)])
        r, s = int(ordered[low]), int(ordered[high])
        if swap or (drawn is not None and np.asarray(drawn)[r] != np.asarray(drawn)[s]):
            r, s = s, r
        first = _grow(table, r, without(ordered, [r, s]), k, "centroid", None)
        last = _grow(table, s, without(without(ordered, first), [s]), k, "centroid", None)
        return first, last

    return extremes


def k_ward(points: Floats, k: int, extremes: Extremes) -> Labels:
    """Algorithm 1 of CMP98 with the given way to find the first and the last k records.

    Of several unions with the least increase the one with the lowest row in it is made and,
    if still several, the one whose other group begins with the lower row. One group if n < 2k.
    """
    table = _checked(points, k)
    n = len(table)
    if n < 2 * k:
        return _single_group(n)
    finished: list[Rows] = []
    waiting = [np.arange(n)]
    while waiting:
        rows = waiting.pop()
        for group in _one_level(table, rows, k, extremes):
            (finished if len(group) < 2 * k else waiting).append(group)
    return labels_of(finished, n)


def _one_level(points: Floats, rows: Rows, k: int, extremes: Extremes) -> list[Rows]:
    """Steps 1 and 2 on some rows, in ascending order: groups of at least k, two at the least.

    A group lives in the slot of its lowest row, so the first least entry of the matrix of
    increases (rows before columns, only above the diagonal) is the union to make.
    """
    first, last = extremes(rows)
    if len(first) != k or len(last) != k or len(np.union1d(first, last)) != 2 * k:
        raise ValueError("the two extreme groups must have k records each, none in both")
    slot_of = {row: slot for slot, row in enumerate(rows.tolist())}
    groups: list[Rows | None] = [np.array([row]) for row in rows]
    for group in (first, last):
        for row in group.tolist():
            groups[slot_of[row]] = None
        groups[slot_of[int(group.min())]] = np.sort(group)

    sizes = np.array([0 if group is None else len(group) for group in groups])
    middles = np.array([points[0] if group is None else centroid_of(points[group]) for group in groups])
    cost = np.full((len(rows), len(rows)), np.inf)
    for slot in range(len(rows)):
        _update_costs(cost, slot, sizes, middles, k)
    while np.any((sizes > 0) & (sizes < k)):
        a, b = (int(slot) for slot in np.unravel_index(np.argmin(cost), cost.shape))
        union = np.sort(np.append(groups[a], groups[b]))
        groups[a], groups[b] = union, None
        sizes[a], sizes[b] = len(union), 0
        middles[a] = centroid_of(points[union])
        _update_costs(cost, a, sizes, middles, k)
        _update_costs(cost, b, sizes, middles, k)
    return [group for group in groups if group is not None]


def _update_costs(cost: Floats, slot: int, sizes: Rows, middles: Floats, k: int) -> None:
    """Increases of SSE for unions with the group in one slot; infinite where there is none to make."""
    size = sizes[slot]
    allowed = (sizes > 0) & (size > 0) & ~((sizes >= k) & (size >= k))
    allowed[slot] = False
    weight = sizes * size / np.maximum(sizes + size, 1)
    increase = np.where(allowed, weight * squared_distances(middles, middles[slot]), np.inf)
    cost[slot, slot + 1 :] = increase[slot + 1 :]
    cost[:slot, slot] = increase[:slot]
