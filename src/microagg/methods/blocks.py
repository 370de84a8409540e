"""Coarse cuts of the data into blocks of near records, for `Within(by=…)`.

Blocks are a convenience, not a constraint: a later refinement may move records across them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from microagg import _core
from microagg.methods import memory_needs
from microagg.methods.run import Run
from microagg.methods.stage import refuse_bad_settings, rows_of_groups
from microagg.model import Labels, Partition, Problem, Rows

BLOCK_RECORDS = 4_096
"""Block size for initial methods, whose time grows with its square."""

ONE_BLOCK_RECORDS = 6_000
"""Records that are annealed as one block: they about fit into a core's own cache."""

BLOCKWISE_FROM_RECORDS = 200_000
"""With more records, even cheap steps are done in blocks, in parallel."""

CACHE_BLOCK_RECORDS = 64

_EACH_ONE = np.empty(0, dtype=np.int64)
"""Weights of the kernel; none: every item counts as one."""


@dataclass(frozen=True, slots=True)
class KdBlocks:
    """Halves of halves along principal axes, until no block has more than `size` records. O(n log n).

    Each cut leaves a multiple of k records on one side, so that fixed-size methods lose little.
    """

    size: int = BLOCK_RECORDS

    def __post_init__(self) -> None:
        refuse_bad_settings(self)

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Labels:
        """The block of each record; each block has at least 2k records, if there are as many in all."""
        k = problem.k
        largest = max(self.size, 4 * k)
        return run.call(
            lambda: _core.kd_blocks(
                problem.points, _EACH_ONE, largest, k, False, 0, run.threads, run.watch
            ),
            needs=memory_needs.of_blocks(problem.points),
        )


def is_one_block(problem: Problem) -> bool:
    """Whether a search takes all records at once."""
    return len(problem.points) <= max(ONE_BLOCK_RECORDS, 4 * problem.k)


def blocks_of_groups(
    problem: Problem, labels: Labels, seed: int, run: Run, size: int = ONE_BLOCK_RECORDS
) -> Labels:
    """Blocks of whole groups, of at most `size` records (or 4k), cut by centroids; another seed cuts
    elsewhere. `Cancelled` if the run was, unless one block holds all.
    """
    largest = max(size, 4 * problem.k)
    if len(labels) <= largest:
        return np.zeros_like(labels)

    def cut() -> Labels:
        centroids = _core.group_means(problem.points, labels)
        sizes = _core.group_sizes(labels)
        of_group = _core.kd_blocks(centroids, sizes, largest, 1, True, seed, run.threads, run.watch)
        return np.ascontiguousarray(of_group[labels])

    return run.call(cut)


def rows_of_blocks(blocks: Labels, order: Rows) -> list[Rows]:
    """The records of each block, as they stand in `order`."""
    return [order[places] for places in rows_of_groups(np.ascontiguousarray(blocks[order]))]


Kernel = Callable[[Rows, Labels, Rows, Run], Labels]
"""Improves a block, given its rows, their labels, and the place of every record in its block."""


def solve_blocks(problem: Problem, labels: Labels, parts: list[Rows], kernel: Kernel, run: Run) -> Labels:
    """The kernel on each part in parallel, put together. The parts hold all records, each with the whole
    of its group. Parts that the deadline leaves no time for stay as they are.
    """
    place = np.empty_like(labels)
    for rows in parts:
        place[rows] = np.arange(len(rows), dtype=np.int32)

    def solve_part(rows: Rows, child: Run) -> Labels:
        own = _core.by_first_appearance(np.ascontiguousarray(labels[rows]))
        return own if run.overdue else child.call(lambda: kernel(rows, own, place, child))

    together = np.empty_like(labels)
    free = 0
    for rows, found in zip(parts, run.map(solve_part, parts), strict=True):
        together[rows] = free + found
        free += len(rows) // problem.k
    return _core.by_first_appearance(together)


def near_in_memory(problem: Problem, run: Run) -> Rows:
    """All records, near ones side by side, so a search finds them in the cache; computed once a run."""

    def compute() -> Rows:
        blocks = KdBlocks(CACHE_BLOCK_RECORDS)(problem, Partition(np.empty(0, np.int32), 0.0), run)
        return _core.rows_by_group(blocks)

    return run.remember(problem.points, "near in memory", compute)
