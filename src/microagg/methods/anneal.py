"""Simulated annealing: the lowest information loss for the time one is willing to spend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from microagg import _core, errors, wording
from microagg.methods.blocks import (
    BLOCKWISE_FROM_RECORDS,
    blocks_of_groups,
    is_one_block,
    rows_of_blocks,
    solve_blocks,
)
from microagg.methods.cooling import (
    LEVELS,
    MOST_STEPS_GIVEN,
    Schedule,
    lengths_of_anneals,
    rounds_of,
    schedule,
    steps_of_run,
)
from microagg.methods.local_search import Descent, descend, descend_in_blocks
from microagg.methods.neighbours import list_length, near_lists
from microagg.methods.pace import Pace
from microagg.methods.run import Run
from microagg.methods.stage import Refinement, better_of, evaluate, refined, solve
from microagg.model import Labels, Partition, Problem, Rows

GRACE_SECONDS = 0.2
"""Seconds that the last descent may take after the deadline."""

REGIONAL_SHARE = 0.3
"""Share of the steps for regions of the best partition."""
REGIONS = ((LEVELS // 2, 300), (0, 600))
"""In turn: the level at which the anneal of a region begins, and the records of the region. From half of
the cooling on, much is kept, and a small region soon improves; from the first level on, outliers change
groups again, which needs a larger region.
"""
LARGEST_REGION = 1 / 4
"""Share of all records; annealing more of them from the first level on is an ordinary anneal."""
STEPS_PER_RECORD_AND_VISIT, FEWEST_VISITS = 5_000, 5
"""Steps each time a region is annealed, and the fewest such times for which it is begun."""
CLOSING_STEPS_PER_RECORD = 60
"""The last descent of large data takes as long as this many steps."""


@dataclass(frozen=True, slots=True)
class Anneal(Refinement):
    """Descent, then simulated annealing over neighbour lists: random migrations, exchanges, chains and
    rotations of records between near groups, each O(p), and now and then groups disbanded and founded,
    accepted while they cost less than an exponential variate of the falling temperature; then descent
    again.

    Work is counted in steps: given by `steps`, or by the run's effort and limited by its seconds at
    a fixed rate, and spent on complete anneals, the best of which is kept, and then, if there are many, on
    its regions one by one. So the same seed and steps give the same groups on any machine, and the clock
    only guards. Large data are annealed in blocks, cut elsewhere again and again, in parallel. Memory
    O(n·list) a thread.

    `first`: the level at which anneals of large data begin, for a start that is good already; there is then
    one anneal only.
    """

    uses_effort: ClassVar[bool] = True
    steps: int | None = None
    first: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.first < LEVELS:
            raise wording.bad_number("first", self.first, f"a whole number from 0 to {LEVELS - 1}")
        if self.steps is not None and not 1 <= self.steps <= MOST_STEPS_GIVEN:
            raise wording.bad_number("steps", self.steps, f"a whole number from 1 to {MOST_STEPS_GIVEN:,}")

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        n = len(problem.points)
        steps = steps_of_run(problem, run) if self.steps is None else self.steps
        whole = is_one_block(problem)
        descended = start
        if whole or steps < n or _core.group_sizes(start.labels).max() >= 2 * problem.k:
            # On large data that takes as long as a short anneal, which forgets it.
            descended = solve(Descent(), problem, start, run)
            run.stage = type(self).__name__
        if run.overdue:
            return replace(descended, truncated=True)
        if n < 2 * problem.k or descended.sse == 0.0 or steps < n:
            return descended
        try:
            lists = near_lists(problem, list_length(n, problem.k), run)
        except errors.DeadlinePassed:
            return replace(descended, truncated=True)
        if _core.group_sizes(descended.labels).max() >= 2 * problem.k:
            return descended
        regional = int(REGIONAL_SHARE * steps)
        if not whole or regional < FEWEST_VISITS * STEPS_PER_RECORD_AND_VISIT * n:
            regional = 0
        if self.first > 0 and not whole:
            anneals = [(self.first, steps)]
        else:
            anneals = [(0, length) for length in lengths_of_anneals(steps - regional, n, whole)]
        run.watch.expect_work(sum(length for _, length in anneals) + regional)
        try:
            found = anneal_each(problem, descended, lists, descended.sse, anneals, run.outermost, run)
            best = better_of(descended, min(found, key=lambda partition: partition.sse))
            if regional and not run.overdue:
                own = run.with_seed(len(anneals))
                best = _by_regions(problem, best, lists, descended.sse, regional, own)
        finally:
            run.watch.expect_work(0)
        late = run.overdue
        if not whole:
            best = polish(problem, best, lists, run.with_grace(GRACE_SECONDS))
        truncated = (
            best.truncated or any(partition.truncated for partition in found) or (late and not whole)
        )
        return replace(best, truncated=truncated)


def polish(problem: Problem, best: Partition, lists: Rows, run: Run) -> Partition:
    """Descend after the anneals of large data; in blocks where a descent of all would take too long."""
    if len(problem.points) <= BLOCKWISE_FROM_RECORDS:
        return solve(Descent(), problem, best, run)
    try:
        labels, cut_short = descend_in_blocks(problem, best.labels, lists, BLOCKWISE_FROM_RECORDS, run)
    except errors.Cancelled:
        return replace(best, truncated=True)
    return refined(problem, best, labels, cut_short)


def anneal_each(
    problem: Problem,
    start: Partition,
    lists: Rows,
    sse: float,
    anneals: list[tuple[int, int]],
    report: bool,
    run: Run,
) -> list[Partition]:
    """Anneals from one start in parallel or, of large data, one after the other, the blocks of each in
    parallel. Each has a first level and a number of steps; `sse` is that of a local optimum.
    """

    def anneal(item: tuple[int, int], child: Run) -> Partition:
        first, steps = item
        if steps < 1:
            return start
        if child.overdue:
            return replace(start, truncated=True)
        cooling = schedule(problem, lists, sse, steps, first)
        return anneal_once(problem, start, lists, cooling, report, child)

    if is_one_block(problem):
        return run.map(anneal, anneals)
    return [anneal(item, run.with_seed(place)) for place, item in enumerate(anneals)]


Kernel = Callable[..., tuple[Labels, bool]]
"""Anneals a block: rows, labels, k, lists, place, temperatures, active, steps, seed, report, watch."""


def anneal_once(
    problem: Problem, start: Partition, lists: Rows, cooling: Schedule, report: bool, run: Run
) -> Partition:
    """One anneal; for small data, with its final descent. At the deadline, its result so far."""
    labels, truncated = anneal_in_rounds(problem, start.labels, lists, cooling, report, run)
    if is_one_block(problem):
        labels, cut_short = descend_labels(problem, labels, lists, run)
        truncated = truncated or cut_short
    found = evaluate(problem, labels, start.bound)
    if report:
        run.watch.report_best(found.sse)
    return replace(better_of(start, found), truncated=truncated)


def anneal_in_rounds(
    problem: Problem,
    labels: Labels,
    lists: Rows,
    cooling: Schedule,
    report: bool,
    run: Run,
    kernel: Kernel | None = None,
) -> tuple[Labels, bool]:
    """All levels of an anneal of the SSE, or by another kernel: small data as a whole, others in blocks
    that each round cuts elsewhere. At the deadline, the labels so far; and whether time did not suffice.
    """
    whole = is_one_block(problem)
    truncated = False
    levels_a_round = LEVELS if whole else LEVELS // rounds_of(cooling)
    pace, share = Pace(run), 1.0
    for number, first in enumerate(range(0, LEVELS, levels_a_round)):
        if run.overdue:
            break
        if not cooling.steps[first : first + levels_a_round].any():
            continue
        own = run.with_seed(number)
        levels = slice(first, first + levels_a_round)
        try:
            blocks = blocks_of_groups(problem, labels, own.seed, own)
        except errors.Cancelled:
            break
        if not whole:
            share = _share_in_time(cooling, first, pace)
            pace.begin()
        labels, late = anneal_levels(
            problem,
            labels,
            blocks,
            lists,
            cooling,
            levels,
            own,
            report=report and whole,
            share=share,
            kernel=kernel,
        )
        truncated = truncated or late or share < 1.0
        done = share * float(cooling.steps[levels].sum())
        if done >= len(labels):  # in fewer steps other things take most of the time
            pace.add(done)
    return labels, truncated or run.overdue


def _share_in_time(cooling: Schedule, first: int, pace: Pace) -> float:
    """Share of the steps from this level on for which there is time before the last descent. Colder levels
    are assumed to be quicker, so that an anneal is not shortened too early.
    """
    to_come = float(cooling.steps[first:].sum())
    quicker = 1.0 + 0.7 * to_come / float(cooling.steps.sum())
    return pace.share_in_time(to_come + CLOSING_STEPS_PER_RECORD * len(cooling.order), quicker)


def descend_labels(problem: Problem, labels: Labels, lists: Rows, run: Run) -> tuple[Labels, bool]:
    """Descend to a local optimum, with a short time even after the deadline: it gains much."""
    return descend(problem, labels, lists, run.with_grace(GRACE_SECONDS).watch, run)


def _by_regions(
    problem: Problem, best: Partition, lists: Rows, sse: float, steps: int, run: Run
) -> Partition:
    """Anneal small regions again, in rounds that cut them elsewhere, and keep each that improves: progress
    in one region is not lost while another is tried.
    """
    rounds = steps // (STEPS_PER_RECORD_AND_VISIT * len(problem.points))
    largest = LARGEST_REGION * len(problem.points)
    kinds = [kind for kind in REGIONS if kind[0] > 0 or max(kind[1], 4 * problem.k) <= largest]
    coolings = [schedule(problem, lists, sse, steps // rounds, first) for first, _ in kinds]
    labels, truncated = best.labels, best.truncated
    for number in range(rounds):
        if run.overdue:
            break
        own = run.with_seed(number)
        kind = number % len(kinds)
        first, records = kinds[kind]
        try:
            blocks = blocks_of_groups(problem, labels, own.seed, own, records)
        except errors.Cancelled:
            break
        levels = slice(first, LEVELS)
        labels, late = anneal_levels(
            problem, labels, blocks, lists, coolings[kind], levels, own, only_if_better=True
        )
        truncated = truncated or late
        if run.outermost:
            run.watch.report_best(_core.sse(problem.points, labels))
    truncated = truncated or run.overdue
    labels, cut_short = descend_labels(problem, labels, lists, run)
    found = evaluate(problem, labels, best.bound)
    return replace(better_of(best, found), truncated=truncated or cut_short)


def anneal_levels(
    problem: Problem,
    labels: Labels,
    blocks: Labels,
    lists: Rows,
    cooling: Schedule,
    levels: slice,
    run: Run,
    only_if_better: bool = False,
    report: bool = False,
    share: float = 1.0,
    kernel: Kernel | None = None,
) -> tuple[Labels, bool]:
    """The labels after these levels, each block by itself, and whether time did not suffice. A level's
    steps, or the given share of them, are shared out by the records that are drawn. `only_if_better` is
    judged after a descent.
    """
    kernel = kernel or partial(_core.anneal, problem.points)
    temperatures = np.ascontiguousarray(cooling.temperatures[levels])
    all_active = cooling.active[levels]

    def anneal_block(rows: Rows, own: Labels, place: Rows, child: Run) -> Labels:
        active = np.searchsorted(cooling.place[rows], all_active).astype(np.int64)
        steps = cooling.steps[levels] * active // all_active
        if share < 1.0:
            steps = (share * steps).astype(np.int64)
        found, truncated = kernel(
            rows, own, problem.k, lists, place, temperatures, active, steps, child.seed, report, child.watch
        )
        late.append(truncated)
        if only_if_better:
            found, _ = _core.descent(
                problem.points, rows, found, problem.k, lists, place, None, child.watch
            )
            found = _core.by_first_appearance(found)
            points = np.ascontiguousarray(problem.points[rows])
            return found if _core.sse(points, found) < _core.sse(points, own) else own
        return found

    late: list[bool] = []
    found = solve_blocks(problem, labels, rows_of_blocks(blocks, cooling.order), anneal_block, run)
    return found, any(late)
