"""Microaggregation along a minimum spanning tree (reference [15] of TFRP07, its section 2.3)."""

import numpy as np

from .basics import Floats, Labels, Rows, nearest, squared_distances
from .objective import labels_of
from .peel import _checked, _single_group, centroid, diameter
from .tfrp import Resplit

Edge = tuple[int, int]


def spanning_tree(points: Floats) -> tuple[list[Edge], list[float]]:
    """Prim's tree from row 0: edges (record in the tree, new record) as added, and their lengths.

    The next record is the one nearest to the tree, the lowest row of several; it is tied to the
    record that came that near to it first. Lengths are squared, which does not change their order.
    """
    outside = np.arange(1, len(points))
    distance = squared_distances(points, points[0])
    parent = np.zeros(len(points), dtype=np.intp)
    edges: list[Edge] = []
    lengths: list[float] = []
    while len(outside) > 0:
        new = nearest(outside, distance[outside])
        edges.append((int(parent[new]), new))
        lengths.append(float(distance[new]))
        outside = outside[outside != new]
        from_new = squared_distances(points, points[new])
        closer = from_new < distance
        distance = np.where(closer, from_new, distance)
        parent = np.where(closer, new, parent)
    return edges, lengths


def mst_cut(points: Floats, k: int) -> Labels:
    """The trees left when edges are removed, longest first, wherever both sides keep k records.

    Among edges of equal length the one that Prim's algorithm added first is tried first. Every edge
    is tried once: a side with fewer than k records can only lose more. Groups may be large.
    """
    table = _checked(points, k)
    n = len(table)
    if n < 2 * k:
        return _single_group(n)
    edges, lengths = spanning_tree(table)
    neighbours: list[set[int]] = [set() for _ in range(n)]
    for one, other in edges:
        neighbours[one].add(other)
        neighbours[other].add(one)
    for position in np.argsort(-np.array(lengths), kind="stable"):
        one, other = edges[position]
        neighbours[one].remove(other)
        neighbours[other].remove(one)
        if len(_tree_of(neighbours, one)) < k or len(_tree_of(neighbours, other)) < k:
            neighbours[one].add(other)
            neighbours[other].add(one)
    trees: list[Rows] = []
    seen: set[int] = set()
    for row in range(n):
        if row not in seen:
            tree = _tree_of(neighbours, row)
            seen |= tree
            trees.append(np.array(sorted(tree)))
    return labels_of(trees, n)


def m_d(points: Floats, k: int) -> Labels:
    """M-d: trees with 2k records or more are partitioned by the Diameter method."""
    return _split_trees(points, k, diameter)


def m_c(points: Floats, k: int) -> Labels:
    """M-c: trees with 2k records or more are partitioned by the Centroid method."""
    return _split_trees(points, k, centroid)


def _split_trees(points: Floats, k: int, method: Resplit) -> Labels:
    table = _checked(points, k)
    labels = mst_cut(table, k)
    groups: list[Rows] = []
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        parts = method(table[rows], k)  # one group if fewer than 2k
        groups += [rows[parts == part] for part in np.unique(parts)]
    return labels_of(groups, len(table))


def _tree_of(neighbours: list[set[int]], start: int) -> set[int]:
    found = {start}
    todo = [start]
    while todo:
        for row in neighbours[todo.pop()] - found:
            found.add(row)
            todo.append(row)
    return found
