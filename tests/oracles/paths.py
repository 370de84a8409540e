"""Paths through the data (VLDBJ06 section 4.2) and the best partition along them (MHM)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .basics import (
    Counts,
    Floats,
    Labels,
    Rows,
    as_points,
    centroid_of,
    count,
    distances_to,
    farthest,
    farthest_of_matrix,
    nearest,
    nearest_first,
    pairwise_distances,
    without,
)
from .objective import group_sse, labels_of


def farthest_from_centroid(points: Floats, counter: Counts | None = None) -> int:
    """The record farthest from the mean record; the lowest row if several are."""
    table = as_points(points)
    rows = np.arange(len(table))
    if len(rows) == 1:
        return 0
    return farthest(rows, distances_to(table, rows, centroid_of(table), counter))


def farthest_pair(points: Floats, counter: Counts | None = None) -> tuple[int, int]:
    """The two records farthest from each other, (r, s) with r < s; ties: lowest r, lowest s."""
    table = as_points(points)
    n = len(table)
    if n < 2:
        raise ValueError("a pair needs two records")
    count(counter, n * (n - 1) // 2)
    return farthest_of_matrix(pairwise_distances(table))


def nearest_next(points: Floats, counter: Counts | None = None) -> Rows:
    """Nearest point next (section 4.2.1): the rows in the order of the path.

    It begins at the record farthest from the centroid; each further record is the nearest of
    those not yet visited to the one visited last. The last record needs no distance.
    """
    table = as_points(points)
    return _nearest_next_from(table, farthest_from_centroid(table, counter), counter)


def nearest_next_from_pair(points: Floats) -> Rows:
    """Nearest point next from the first of the two records farthest from each other.

    The text (section 4.2.1) calls its start at the record farthest from the centroid a faster variant
    of what the authors had proposed before; the printed values are nearer to this one.
    """
    table = as_points(points)
    first = farthest_pair(table)[0] if len(table) > 1 else 0
    return _nearest_next_from(table, first, None)


def _nearest_next_from(points: Floats, first: int, counter: Counts | None) -> Rows:
    path = [first]
    left = without(np.arange(len(points)), path)
    while len(left) > 1:
        path.append(nearest(left, distances_to(points, left, points[path[-1]], counter)))
        left = without(left, path[-1:])
    path += left.tolist()
    return np.array(path, dtype=np.intp)


def group_tour(points: Floats, labels: ArrayLike, first_row: int, counter: Counts | None = None) -> Rows:
    """The point-level path along a partition: steps 5-6 of section 4.2.2, 6-7 of 4.2.3.

    Groups are visited by nearest point next over their centroids (ties: the lowest label),
    beginning with the group of ``first_row``. Every group has a first record: ``first_row`` in
    the first group and in each other group the record nearest to the centroid of the group
    before it. The records of a group come sorted by (distance to its first record, row).
    """
    table = as_points(points)
    groups = np.asarray(labels)
    names = np.unique(groups)
    members = [np.flatnonzero(groups == name) for name in names]
    middles = np.array([centroid_of(table[rows]) for rows in members])
    start = int(np.flatnonzero(names == groups[first_row])[0])

    path: list[int] = []
    before: int | None = None
    for group in _nearest_next_from(middles, start, counter).tolist():
        rows = members[group]
        if before is None:
            first = first_row
        elif len(rows) == 1:
            first = int(rows[0])
        else:
            first = nearest(rows, distances_to(table, rows, middles[before], counter))
        others = without(rows, [first])
        from_first = distances_to(table, others, table[first], counter)
        path += [first, *nearest_first(others, from_first).tolist()]
        before = group
    return np.array(path, dtype=np.intp)


def mhm(points: Floats, order: ArrayLike, k: int) -> Labels:
    """The best partition into runs of a path: VLDBJ06 section 4.1.

    A shortest path over the positions 0..n of the path, where an arc from i to j, with
    k <= j - i < 2k, stands for the group of the records at positions i + 1 .. j and is as long as
    its sum of squares. Of several equally good predecessors the one with the smallest group
    (the last position) is kept. With fewer than 2k records there is one group.
    """
    table = as_points(points)
    rows = _checked_order(order, len(table), k)
    if len(rows) < 2 * k:
        return np.zeros(len(rows), dtype=np.int32)
    groups, _ = _shortest_path(table, rows, k)
    return labels_of(groups, len(table))


def tour_to_assignment(points: Floats, order: ArrayLike, k: int) -> Labels:
    """The best partition into runs of a closed tour: ICSM15 section 4.2, Tour2Assignment.

    A group may also run over the end of the path into its beginning. No group has more than
    2k - 1 records, so one of any 2k - 1 consecutive places of the tour is a boundary: solving
    the open path from each of the first 2k - 1 records and keeping the best is enough (ties:
    the earliest record). The open path itself is the first of them.
    """
    table = as_points(points)
    rows = _checked_order(order, len(table), k)
    if len(rows) < 2 * k:
        return np.zeros(len(rows), dtype=np.int32)
    solutions = [_shortest_path(table, np.roll(rows, -shift), k) for shift in range(2 * k - 1)]
    groups, _ = min(solutions, key=lambda solution: solution[1])
    return labels_of(groups, len(table))


def _checked_order(order: ArrayLike, n: int, k: int) -> Rows:
    rows = np.asarray(order, dtype=np.intp)
    if k < 1:
        raise ValueError("k must be at least 1")
    if n == 0 or sorted(rows.tolist()) != list(range(n)):
        raise ValueError("order must hold every row once")
    return rows


def _shortest_path(points: Floats, rows: Rows, k: int) -> tuple[list[Rows], float]:
    """The groups along the path and their total sum of squares, for at least k records."""
    n = len(rows)
    length = [0.0] + [np.inf] * n
    came_from = [-1] * (n + 1)
    for end in range(k, n + 1):
        for size in _sizes(k, end):
            start = end - size
            if np.isinf(length[start]):
                continue
            candidate = length[start] + group_sse(points[rows[start:end]])
            if candidate < length[end]:
                length[end] = candidate
                came_from[end] = start
    groups: list[Rows] = []
    end = n
    while end > 0:
        groups.append(rows[came_from[end] : end])
        end = came_from[end]
    return groups[::-1], length[n]


def _sizes(k: int, available: int) -> Sequence[int]:
    return range(k, min(2 * k - 1, available) + 1)
