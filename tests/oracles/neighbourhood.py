"""Every partition in the neighbourhood of a partition, by brute force.

The neighbourhood is that of a partition into groups of k to 2k-1 records, given for every record
the records near to it, nearest first (``lists``). Its partitions again have groups of k to 2k-1
records. They are of five kinds: migrate, swap, chain, disband and found, each defined in the function
of that name below. The near groups of a record are the groups of the records in its list.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .basics import (
    Floats,
    as_points,
    centroid_of,
    nearest_first,
    pairwise_distances,
    squared_distances,
    without,
)
from .objective import squared_deviations

Groups = NDArray[np.int64]
Lists = NDArray[np.int64]


def neighbours(points: Floats, labels: ArrayLike, k: int, lists: ArrayLike) -> Iterator[tuple[str, Groups]]:
    """The kind and the labels, a fresh array, of every neighbour of the partition.

    The labels are those of the given partition, with one more or one less when a group was founded or
    disbanded; they are not renumbered. The same neighbour may come several times. Groups of a single
    record (k = 1) have swaps only, which leave the partition as it is.
    """
    table = as_points(points)
    groups = np.array(labels, dtype=np.int64)
    near = np.array(lists, dtype=np.int64)
    if groups.shape != (len(table),):
        raise ValueError("one label per record is needed")
    if near.ndim != 2 or len(near) != len(table):
        raise ValueError("one list per record is needed")
    if any(not k <= _size(groups, group) <= 2 * k - 1 for group in groups):
        raise ValueError("the groups must have k to 2k-1 records")
    if np.any(near == np.arange(len(table))[:, None]):
        raise ValueError("a record is in its own list")
    for neighbour in migrate(groups, k, near):
        yield "migrate", neighbour
    for neighbour in swap(groups, near):
        yield "swap", neighbour
    for neighbour in chain(groups, k, near):
        yield "chain", neighbour
    for neighbour in disband(table, groups, k, near):
        yield "disband", neighbour
    for neighbour in found(groups, k, near):
        yield "found", neighbour


def best_neighbour(points: Floats, labels: ArrayLike, k: int, lists: ArrayLike) -> tuple[float, str]:
    """The lowest SSE of all neighbours and the (first) kind that has it; (inf, "") if there are none.

    The SSE is that of ``objective.sse`` for the labels of the neighbour, to the last bit: the squared
    deviations of a group are kept for the next neighbour with a group of the same members.
    """
    table = as_points(points)
    known: dict[tuple[int, ...], list[float]] = {}
    best, best_kind = math.inf, ""
    for kind, groups in neighbours(table, labels, k, lists):
        terms: list[float] = []
        for members in _members(groups):
            if members not in known:
                known[members] = squared_deviations(table[list(members)])
            terms += known[members]
        total = math.fsum(terms)
        if total < best:
            best, best_kind = total, kind
    return best, best_kind


def nearest_lists(points: Floats, length: int) -> NDArray[np.int32]:
    """For every record the ``length`` nearest others, by (squared distance, row)."""
    table = as_points(points)
    rows = np.arange(len(table))
    if not 0 <= length < max(len(rows), 1):
        raise ValueError("a list cannot be longer than the number of other records")
    lists = np.empty((len(rows), length), dtype=np.int32)
    for i, distances in enumerate(pairwise_distances(table)):
        others = without(rows, [i])
        lists[i] = nearest_first(others, distances[others])[:length]
    return lists


def migrate(groups: Groups, k: int, lists: Lists) -> Iterator[Groups]:
    """Record i goes to another group, one of its near groups.

    Its own group must have more than k records, the other fewer than 2k-1.
    """
    for i, own in enumerate(groups):
        for other in _near_groups(groups, lists[i]):
            if other != own and _size(groups, own) > k and _size(groups, other) < 2 * k - 1:
                neighbour = groups.copy()
                neighbour[i] = other
                yield neighbour


def swap(groups: Groups, lists: Lists) -> Iterator[Groups]:
    """Record i changes places with any member of another group, one of i's near groups."""
    for i, own in enumerate(groups):
        for other in _near_groups(groups, lists[i]):
            if other == own:
                continue
            for member in np.flatnonzero(groups == other):
                neighbour = groups.copy()
                neighbour[i], neighbour[member] = other, own
                yield neighbour


def chain(groups: Groups, k: int, lists: Lists) -> Iterator[Groups]:
    """Record i of A goes to B, one of its near groups, and any member of B to C, a near group of it.

    A, B and C are three groups. A must have more than k records, C fewer than 2k-1; B keeps its size.
    """
    for i, first in enumerate(groups):
        if _size(groups, first) <= k:
            continue
        for second in _near_groups(groups, lists[i]):
            if second == first:
                continue
            for member in np.flatnonzero(groups == second):
                for third in _near_groups(groups, lists[member]):
                    if third not in (first, second) and _size(groups, third) < 2 * k - 1:
                        neighbour = groups.copy()
                        neighbour[i], neighbour[member] = second, third
                        yield neighbour


def disband(points: Floats, groups: Groups, k: int, lists: Lists) -> Iterator[Groups]:
    """The members of a group go, in ascending order of row, each to the best of its near groups.

    Only other groups that have fewer than 2k-1 records at that moment can take a member. The best of
    them is the one whose sum of squares grows least, ties: the first in the order of the list. A group
    of m records grows by m/(m+1) |x - centroid|². Sizes, centroids and near groups are those after the
    earlier members were placed. If a member finds no group, the group cannot be disbanded.
    """
    for group in np.unique(groups):
        neighbour = groups.copy()
        for member in np.flatnonzero(groups == group):
            open_groups = [
                other
                for other in _near_groups(neighbour, lists[member])
                if other != group and _size(neighbour, other) < 2 * k - 1
            ]
            if not open_groups:
                break
            growths = [_growth(points[neighbour == other], points[member]) for other in open_groups]
            neighbour[member] = open_groups[int(np.argmin(growths))]
        else:
            yield neighbour


def found(groups: Groups, k: int, lists: Lists) -> Iterator[Groups]:
    """Record i and the first k-1 records of its list that can leave their groups form a new group.

    A record can leave if its group has more than k records after those already taken have left; this
    holds for i too. If fewer than k records come together, there is no such neighbour.
    """
    new = int(groups.max(initial=-1)) + 1
    for i, own in enumerate(groups):
        if _size(groups, own) <= k:
            continue
        neighbour = groups.copy()
        neighbour[i] = new
        for record in lists[i]:
            if _size(neighbour, new) == k:
                break
            if neighbour[record] != new and _size(neighbour, neighbour[record]) > k:
                neighbour[record] = new
        if _size(neighbour, new) == k:
            yield neighbour


def _size(groups: Groups, group: int) -> int:
    """The number of records of a group."""
    return int(np.count_nonzero(groups == group))


def _near_groups(groups: Groups, near: Lists) -> list[int]:
    """The groups of the records of one list, each once, in the order of the list."""
    return list(dict.fromkeys(groups[near].tolist()))


def _growth(members: Floats, point: Floats) -> float:
    """By how much the sum of squares of a group grows when it takes one more point."""
    size = len(members)
    return size / (size + 1) * float(squared_distances(point[None, :], centroid_of(members))[0])


def _members(groups: Groups) -> list[tuple[int, ...]]:
    """The rows of every group, ascending."""
    rows: dict[int, list[int]] = {}
    for row, group in enumerate(groups.tolist()):
        rows.setdefault(group, []).append(row)
    return [tuple(members) for members in rows.values()]
