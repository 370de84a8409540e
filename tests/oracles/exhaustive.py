"""The true optimum of a handful of records, by looking at every partition."""

from collections.abc import Iterator
from itertools import combinations

from .basics import Floats, Labels, as_points
from .objective import group_sse, labels_of, sse

LARGEST = 12

Group = tuple[int, ...]


def partitions(rows: Group, k: int) -> Iterator[list[Group]]:
    """All partitions of the rows into groups of k to 2k - 1, each exactly once.

    The first row's group is chosen in every possible way, smaller groups and lower rows first;
    the rest is partitioned in the same manner. Groups within these sizes are enough for the
    optimum (VLDBJ06 section 2).
    """
    if not rows:
        yield []
        return
    first, others = rows[0], rows[1:]
    for size in range(k, min(2 * k - 1, len(rows)) + 1):
        if 0 < len(rows) - size < k:
            continue
        for companions in combinations(others, size - 1):
            rest = tuple(row for row in others if row not in companions)
            for tail in partitions(rest, k):
                yield [(first, *companions), *tail]


def exhaustive(points: Floats, k: int) -> tuple[Labels, float]:
    """The best partition (the first found of several) and its sum of squares.

    At most 12 records. Fewer than k records form one group, being all there is.
    """
    table = as_points(points)
    n = len(table)
    if k < 1:
        raise ValueError("k must be at least 1")
    if not 0 < n <= LARGEST:
        raise ValueError(f"between 1 and {LARGEST} records are needed, not {n}")
    everything = tuple(range(n))
    if n < k:
        labels = labels_of([list(everything)], n)
        return labels, sse(table, labels)

    cost: dict[Group, float] = {}
    best: list[Group] = []
    least = float("inf")
    for partition in partitions(everything, k):
        total = 0.0
        for group in partition:
            if group not in cost:
                cost[group] = group_sse(table[list(group)])
            total += cost[group]
        if total < least:
            least, best = total, partition
    labels = labels_of([list(group) for group in best], n)
    return labels, sse(table, labels)
