"""Refinements that change groups where that lowers the SSE."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from microagg import _core, errors
from microagg.methods import memory_needs
from microagg.methods.blocks import (
    BLOCKWISE_FROM_RECORDS,
    blocks_of_groups,
    near_in_memory,
    rows_of_blocks,
    solve_blocks,
)
from microagg.methods.fixed_size import Mdav, Tfrp
from microagg.methods.neighbours import FEW_LEAVES, list_length, near_lists
from microagg.methods.run import Run, derived_seed
from microagg.methods.stage import (
    Refinement,
    Stage,
    Within,
    better_of,
    evaluate,
    refined,
    refuse_bad_settings,
    solve,
)
from microagg.model import Labels, Partition, Problem, Rows


@dataclass(frozen=True, slots=True)
class Dissolve(Refinement):
    """Phase II of TFRP (TFRP07, section 3.2): groups in order of decreasing SSE are scattered over the
    nearest other groups where that pays; groups of 2k records or more are then re-split. O(n²p/k).

    `resplit`: the first phase that splits them; TFRP's own, or that of the method this follows.
    """

    resplit: Stage = field(default_factory=Tfrp)

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        labels, cut_short = run.call(
            lambda: _core.dissolve(problem.points, start.labels, problem.k, run.watch)
        )
        truncated = start.truncated or cut_short
        scattered = evaluate(problem, labels, start.bound, truncated=truncated)
        found = solve(Within(self.resplit), problem, scattered, run)
        return replace(better_of(start, found), truncated=found.truncated)


@dataclass(frozen=True, slots=True)
class TwoSwap(Refinement):
    """Two-swapping (CGS22, section 3): the exchange of two records that lowers the SSE most, again and
    again. The paper sweeps all pairs each time, O(n²p); here every record remembers its best partner,
    which finds the same exchanges. Anytime.
    """

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        found = run.call(lambda: _core.two_swap(problem.points, start.labels, run.watch))
        return refined(problem, start, *found)


@dataclass(frozen=True, slots=True)
class Descent(Refinement):
    """Descent to a local optimum over neighbour lists: a record migrates, two change places, one pushes
    another on, a group is disbanded or founded, wherever that lowers the SSE. `descent.hpp` states the
    neighbourhood; sizes stay within k and 2k−1. Groups of 2k records or more are first re-split.
    About O(np) a sweep, a few sweeps. Anytime.

    With `size`, for very large data: in parallel blocks of about that many records, cut twice in
    different places, with shorter lists; groups across the last borders are not improved.
    """

    size: int | None = None

    def __post_init__(self) -> None:
        refuse_bad_settings(self)

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        n, k = len(problem.points), problem.k
        if n < 2 * k:
            return start
        if _core.group_sizes(start.labels).max() >= 2 * k:
            start = solve(Within(Mdav()), problem, start, run)
            run.stage = type(self).__name__
        if run.overdue:
            return replace(start, truncated=True)
        if start.sse == 0.0 or _core.group_sizes(start.labels).max() >= 2 * k:
            return start  # rounding made the re-split look worse: nothing to gain here
        try:
            if self.size is None:
                lists = near_lists(problem, list_length(n, k), run)
                found = descend(problem, start.labels, lists, run.watch, run)
            else:
                lists = near_lists(problem, min(max(10, 2 * k), n - 1), run, FEW_LEAVES)
                found = descend_in_blocks(problem, start.labels, lists, self.size, run)
        except errors.DeadlinePassed:
            return replace(start, truncated=True)
        return refined(problem, start, *found)


BLOCK_OF_DESCENT = 30_000
"""Records in a block where a descent of very many records is done in blocks."""


def descent_of(n: int) -> Descent:
    """Descent of all n records, in blocks if they are very many."""
    return Descent(BLOCK_OF_DESCENT if n > BLOCKWISE_FROM_RECORDS else None)


def descend(
    problem: Problem, labels: Labels, lists: Rows, watch: _core.Watch, run: Run
) -> tuple[Labels, bool]:
    """A local optimum below `labels`, and whether the watch's deadline came first."""
    rows = near_in_memory(problem, run)
    place = np.empty_like(rows)
    place[rows] = np.arange(len(rows), dtype=np.int32)
    own = _core.by_first_appearance(np.ascontiguousarray(labels[rows]))
    found, cut_short = run.call(
        lambda: _core.descent(problem.points, rows, own, problem.k, lists, place, None, watch),
        needs=memory_needs.of_descent(problem.points, problem.k, lists.shape[1]),
    )
    return _core.by_first_appearance(np.ascontiguousarray(found[place])), cut_short


BLOCK_ROUNDS = 2


def descend_in_blocks(
    problem: Problem, labels: Labels, lists: Rows, size: int, run: Run
) -> tuple[Labels, bool]:
    """A local optimum inside blocks of whole groups, cut elsewhere in each round, and whether the deadline
    came first.
    """
    order = near_in_memory(problem, run)
    blocks = np.empty(0, dtype=np.int32)
    unseen = np.ones(len(labels), dtype=bool)

    def kernel(rows: Rows, own: Labels, place: Rows, child: Run) -> Labels:
        begin = np.flatnonzero(unseen[rows]).astype(np.int32)
        return _core.descent(problem.points, rows, own, problem.k, lists, place, begin, child.watch)[0]

    for number in range(BLOCK_ROUNDS):
        if run.overdue:
            break
        if number > 0:
            # What lay inside a block of the last round has been seen, but for records near its borders.
            unseen = run.call(partial(_is_near_a_border, blocks, lists))
        blocks = blocks_of_groups(problem, labels, run.with_seed(number).seed, run, size)
        labels = solve_blocks(problem, labels, rows_of_blocks(blocks, order), kernel, run)
    return labels, run.overdue


def _is_near_a_border(blocks: Labels, lists: Rows) -> NDArray[np.bool_]:
    """Whether each record's list leads into another block; in parts, to save memory."""
    near = np.empty(len(blocks), dtype=bool)
    for first in range(0, len(blocks), 100_000):
        part = slice(first, first + 100_000)
        near[part] = (blocks[lists[part]] != blocks[part, np.newaxis]).any(axis=1)
    return near


EXACT_RECORDS = 5_000
"""Up to this number of records, the steps of ICSM look at every group, as the paper does."""

PAPER_POOL = 100

LIST_LENGTH = 30
"""With more records, a record is offered only to the groups of this many nearest records."""


def _lists(problem: Problem, wanted: bool, run: Run) -> Rows:
    """Every record's nearest records; no rows where all groups are looked at."""
    if not wanted or len(problem.points) <= EXACT_RECORDS:
        return np.empty((0, 0), dtype=np.int32)
    return near_lists(problem, LIST_LENGTH, run)


@dataclass(frozen=True, slots=True)
class Pool(Refinement):
    """One pass of 1-opt and 2-opt changes (ICSM15, Algorithm 3): up to `size` improving migrations and
    exchanges are collected in the order of the records, then applied, the best first, to groups not yet
    touched. Group sizes stay within k and 2k−1. O(n²p). Beyond 5,000 records only the groups of the 30
    records nearest to a record are looked at, unless `lists` is false, and the pool holds n/20 changes if
    `size` is not given.
    """

    size: int | None = None
    lists: bool = True

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        n = len(problem.points)
        size = self.size or (PAPER_POOL if n <= EXACT_RECORDS else n // 20)
        return _improved(
            problem,
            start,
            self.lists,
            run,
            lambda lists: _core.pool_pass(problem.points, start.labels, problem.k, size, lists, run.watch),
        )


@dataclass(frozen=True, slots=True)
class Cycle(Refinement):
    """The n-opt step (ICSM15, Algorithm 4): the most improving cyclic shift of records over groups that
    starts at the group of lowest score and visits groups by their distance from it, found as a shortest
    path; the best one is applied. Where the paper stops if there is none, the groups of next lowest score
    are tried, `tries` in all. O(n²p); beyond 5,000 records a record is only offered to the groups of the
    30 records nearest to it, unless `lists` is false.
    """

    tries: int = 3
    lists: bool = True

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        return _improved(
            problem,
            start,
            self.lists,
            run,
            lambda lists: _core.best_cycle(
                problem.points, start.labels, problem.k, self.tries, lists, run.watch
            ),
        )


def _improved(
    problem: Problem, start: Partition, with_lists: bool, run: Run, kernel: Callable[[Rows], Labels]
) -> Partition:
    """What a kernel finds, or `start` where that is no better or the deadline struck first."""
    try:
        lists = _lists(problem, with_lists, run)
        labels = run.call(lambda: kernel(lists))
    except errors.DeadlinePassed:
        return replace(start, truncated=True)
    return refined(problem, start, labels)


@dataclass(frozen=True, slots=True)
class Restarts(Refinement):
    """A refinement from the start and from perturbed copies of it; the best result is kept
    (ICSM15, section 5.3). A copy has the groups of up to `records` random records permuted among them,
    so that group sizes stay. Restarts run in parallel; ties go to the earliest.
    """

    stage: Stage
    starts: int = 1_600
    records: int = 20

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        """Refine every start; those that the deadline leaves no time for are skipped."""

        def refine(place: int, child: Run) -> Partition:
            if place == 0:
                return solve(self.stage, problem, start, child)
            if run.overdue:
                return replace(start, truncated=True)
            labels = start.labels.copy()
            random = np.random.default_rng(derived_seed(run.seed, place))
            rows = random.permutation(len(labels))[: self.records]
            labels[rows] = labels[random.permutation(rows)]
            shaken = evaluate(problem, _core.by_first_appearance(labels), start.bound)
            return solve(self.stage, problem, shaken, child)

        found = run.map(refine, range(self.starts))
        truncated = start.truncated or any(partition.truncated for partition in found)
        best = min(found, key=lambda partition: partition.sse)
        return replace(better_of(start, best), truncated=truncated)
