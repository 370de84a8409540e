"""Coarse cuts of records that are nowhere together: a tree of splitters, found from a sample.

The tree is small and is sent to wherever the records are; there, each record finds its leaf by itself, and
the same record finds the same leaf in any company. Sizes of leaves are counted, not estimated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from microagg.model import Doubles, Points, Whole

MOST_AXES = 8
_FEWEST_IN_SAMPLE = 8
"""Records of the sample on each side of a cut, at least: with fewer, its size would be a guess."""

_GRID = 2.0**20
"""Axes are rounded to its inverse: linear algebra libraries differ in the last digits."""


@dataclass(frozen=True, slots=True, eq=False)
class Axes:
    """Principal axes of some points, those of largest variance first, as columns."""

    vectors: Doubles

    @classmethod
    def of(cls, points: Points) -> Axes:
        """NaN, a missing value, counts as the mean, which is 0 or near it in any scale."""
        filled = np.where(np.isnan(points), 0.0, points)
        centred = filled - filled.mean(axis=0)
        _, vectors = np.linalg.eigh(centred.T @ centred)
        vectors = vectors[:, ::-1][:, :MOST_AXES]
        largest = vectors[np.argmax(np.abs(vectors), axis=0), np.arange(vectors.shape[1])]
        return cls(np.rint(vectors * np.sign(largest) * _GRID) / _GRID)

    def coordinates(self, points: Points) -> Doubles:
        """Of each record, by sums from left to right: a matrix product's order depends on its size."""
        found = np.zeros((len(points), self.vectors.shape[1]))
        for weights, column in zip(self.vectors, points.T, strict=True):
            found += np.where(np.isnan(column), 0.0, column)[:, None] * weights
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Cuts: a record goes left where its coordinate on the node's axis is below the threshold.

    Children are numbers of nodes; leaf i is -1 - i. Leaves are numbered from left to right, so that
    neighbours lie beside each other.
    """

    axis: Whole
    threshold: Doubles
    left: Whole
    right: Whole
    leaves: int
    root: int

    @classmethod
    def grown(cls, coordinates: Doubles, weights: Doubles, most: float, share: float = 0.5) -> Tree:
        """Halves of halves along the widest axis, until no leaf weighs more than `most`, or none of its
        halves would hold enough of the sample. Another `share` than a half goes left where borders shall
        lie elsewhere.
        """
        nodes: list[tuple[int, float, int, int]] = []
        leaves = 0

        def grow(rows: Whole) -> int:
            nonlocal leaves
            cut = None
            if float(weights[rows].sum()) > most:
                cut = _cut(coordinates[rows], weights[rows], share)
            if cut is None:
                leaves += 1
                return -leaves
            axis, threshold = cut
            at = len(nodes)
            nodes.append((axis, threshold, 0, 0))
            below = coordinates[rows, axis] < threshold
            left = grow(rows[below])
            nodes[at] = (axis, threshold, left, grow(rows[~below]))
            return at

        root = grow(np.arange(len(coordinates)))
        axes, thresholds, left, right = zip(*nodes, strict=True) if nodes else ((), (), (), ())
        return cls(
            np.array(axes, dtype=np.int64),
            np.array(thresholds, dtype=np.float64),
            np.array(left, dtype=np.int64),
            np.array(right, dtype=np.int64),
            leaves,
            root,
        )

    def leaf_of(self, coordinates: Doubles) -> Whole:
        node = np.full(len(coordinates), self.root, dtype=np.int64)
        open_ = np.flatnonzero(node >= 0)
        while len(open_):
            at = node[open_]
            below = coordinates[open_, self.axis[at]] < self.threshold[at]
            node[open_] = np.where(below, self.left[at], self.right[at])
            open_ = open_[node[open_] >= 0]
        return -1 - node

    def with_cut_leaves(self, cuts: dict[int, Tree]) -> tuple[Tree, Whole]:
        """This tree with other trees in the place of some leaves; and for each of the new leaves the old
        one that it is, or is a part of.
        """
        came_from: list[int] = []
        parts = [self]
        offset = {-1: 0}
        count = len(self.axis)
        for leaf, tree in cuts.items():
            offset[leaf] = count
            count += len(tree.axis)
            parts.append(tree)
        first: dict[int, int] = {}
        for leaf in range(self.leaves):
            first[leaf] = len(came_from)
            came_from += [leaf] * (cuts[leaf].leaves if leaf in cuts else 1)

        def moved(child: int, of: int) -> int:
            if child >= 0:
                return child + offset[of]
            leaf = -1 - child
            if of >= 0:
                return -1 - (first[of] + leaf)
            if leaf in cuts:
                return moved(cuts[leaf].root, leaf)
            return -1 - first[leaf]

        owners = [-1, *cuts]
        sides = [
            np.array(
                [
                    moved(int(child), of)
                    for of, tree in zip(owners, parts, strict=True)
                    for child in getattr(tree, side)
                ],
                dtype=np.int64,
            )
            for side in ("left", "right")
        ]
        grown = replace(
            self,
            axis=np.concatenate([tree.axis for tree in parts]),
            threshold=np.concatenate([tree.threshold for tree in parts]),
            left=sides[0],
            right=sides[1],
            leaves=len(came_from),
            root=moved(self.root, -1),
        )
        return grown, np.array(came_from, dtype=np.int64)


def _cut(coordinates: Doubles, weights: Doubles, share: float) -> tuple[int, float] | None:
    """Axis and threshold that leave this share of the records on the left, as far as equal coordinates
    allow; None if none does.
    """
    spread = coordinates.var(axis=0)
    for axis in np.argsort(-spread, kind="stable"):
        order = np.argsort(coordinates[:, axis], kind="stable")
        ordered = coordinates[order, axis]
        below = np.cumsum(weights[order])
        borders = np.flatnonzero(ordered[1:] > ordered[:-1])
        enough = min(_FEWEST_IN_SAMPLE, len(ordered) // 2)
        borders = borders[(borders + 1 >= enough) & (len(ordered) - borders - 1 >= enough)]
        if len(borders):
            best = borders[np.argmin(np.abs(below[borders] - below[-1] * share))]
            return int(axis), float(ordered[best + 1])
    return None


def join_small_leaves(sizes: Whole, least: int, most: int) -> Whole:
    """For each leaf the lowest of those it is joined with, so that none that holds anything holds fewer
    than `least`: with the smaller of its neighbours, unless the two were more than `most` together and
    the other neighbour's were not. Leaves without records have no part in it.
    """
    target = np.arange(len(sizes))
    total = sizes.astype(np.int64).copy()
    while True:
        alive = np.flatnonzero((target == np.arange(len(sizes))) & (total > 0))
        small = alive[total[alive] < least]
        if len(small) == 0 or len(alive) == 1:
            return target
        leaf = small[np.argmin(total[small])]
        place = int(np.searchsorted(alive, leaf))
        beside = [alive[at] for at in (place - 1, place + 1) if 0 <= at < len(alive)]
        with_it = min(beside, key=lambda other: (total[other] + total[leaf] > most, total[other]))
        low, high = min(leaf, with_it), max(leaf, with_it)
        total[low] += total[high]
        total[high] = 0
        target[target == high] = low
