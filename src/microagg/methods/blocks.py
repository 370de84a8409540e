"""Coarse cuts of the data into blocks of near records, for `Within(by=…)`.

Blocks are a convenience, not a constraint: a later refinement may move records across them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microagg import _core, errors
from microagg.methods.run import Run
from microagg.model import Labels, Partition, Problem

BLOCK_RECORDS = 4_096
"""A block of this size fits into the cache nearest to a core that is large enough for it."""


@dataclass(frozen=True, slots=True)
class KdBlocks:
    """Halves of halves along principal axes, until no block has more than `size` records. O(n log n).

    Each cut leaves a multiple of k records on one side, so that fixed-size methods lose little.
    """

    size: int = BLOCK_RECORDS

    def __post_init__(self) -> None:
        if self.size < 1:
            raise errors.bad_number("size", self.size, "a whole number of at least 1")

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Labels:
        """The block of each record; at least 2k records in each where there are so many."""
        n, k = len(problem.points), problem.k
        ones = np.ones(n, dtype=np.int64)
        largest = max(self.size, 4 * k)
        return run.call(lambda: _core.kd_blocks(problem.points, ones, largest, k, False, 0, run.watch))


def blocks_of_groups(problem: Problem, labels: Labels, size: int, seed: int, run: Run) -> Labels:
    """Blocks of whole groups, cut by their centroids; another seed cuts elsewhere."""
    centroids = _core.group_means(problem.points, labels)
    sizes = _core.group_sizes(labels)
    of_group = run.call(lambda: _core.kd_blocks(centroids, sizes, size, 1, True, seed, run.watch))
    return np.ascontiguousarray(of_group[labels])
