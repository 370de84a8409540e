"""Relocation of groups: for large k, where single records cannot bring a group to where it is needed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from microagg import _core, errors, wording
from microagg.methods.anneal import anneal_each, anneal_levels, descend_labels, polish
from microagg.methods.blocks import (
    ONE_BLOCK_RECORDS,
    blocks_of_groups,
    is_one_block,
    rows_of_blocks,
    solve_blocks,
)
from microagg.methods.cooling import (
    LEVELS,
    MOST_STEPS_GIVEN,
    neighbourhood_widths,
    planned_steps,
    schedule,
    seconds_of_mdav,
)
from microagg.methods.local_search import Cycle, Descent, descent_of
from microagg.methods.neighbours import list_length, near_lists
from microagg.methods.run import Run
from microagg.methods.stage import Escalate, Refinement, better_of, chain, evaluate, solve
from microagg.model import Labels, Partition, Problem, Rows

HOT_SHARE, MOST_HOT_SHARE, HOT_STEPS_A_RECORD = 0.2, 0.7, 16_000
"""Share of the steps for an anneal that begins at the first level: larger if it had fewer steps per record
and there are at least FEW_GROUPS.
"""
FEW_GROUPS = 30
"""With fewer, a hot anneal often ends above a warm one, and relocations gain more than both."""
WARM_LEVEL, WARM_SHARE, WARM_ANNEALS = 40, 0.07, 3
"""Warm anneals begin at this level; one is enough where the hot one needs more than its share. A hot anneal
forgets its start, a warm one keeps much of it. Either may end far above the other, and which is not known
beforehand.
"""
LAST_LEVEL, LAST_SHARE = 64, 0.08
"""A last anneal of the best begins at this level: it settles what the short anneals of regions left."""
MOST_CYCLES, PAIRS_OF_CYCLES = 8, 8_000_000
"""Cyclic shifts over few large groups at the end, each followed by a descent: no more than so many, and
than so many pairs of records looked at in all.
"""
LIKELY_CYCLES = 2
"""They end with the first that improves nothing, mostly after one or two: time is kept for so many."""

GROUPS_OF_REGION, GROUPS_OF_REGION_IF_MANY, MANY_GROUPS = 16, 8, 50
"""Groups of a region, and of one where there are more groups than this."""
STEPS_PER_RECORD_OF_REGION = 150
MOST_RELATIVE_RISE = 1e-4
"""A region is kept if its SSE has grown by less than this share of it, times an exponential variate."""

BLOCK_GROUPS = 24
"""Fewest groups of a block; with more than 6,000 records, blocks are searched in parallel."""
ROUNDS_IN_BLOCKS = 4
"""How often blocks are cut, each time elsewhere."""

SHARE_OF_PACE, PACE_OF_ALL = 0.01, 0.75
"""Where seconds are given, the pace is measured by an anneal with this share of the steps. All steps
together take this share of its time for each, since those of regions are quicker.
"""
DESCENTS_TO_COME = 3
"""Time of all later descents, as a multiple of the first: they begin near a local optimum."""


def shares_of_anneals(problem: Problem, steps: int) -> list[tuple[int, float]]:
    """The first level of each anneal, and its share of the steps."""
    n, hot = len(problem.points), HOT_SHARE
    if n // problem.k >= FEW_GROUPS:
        hot = min(max(HOT_STEPS_A_RECORD * n / steps, HOT_SHARE), MOST_HOT_SHARE)
    warm = WARM_ANNEALS if hot == HOT_SHARE else 1
    return [(0, hot), *[(WARM_LEVEL, WARM_SHARE)] * warm]


def steps_of_relocation(problem: Problem, run: Run, of: int = 0) -> int:
    """Steps for the run's effort, and no more than its seconds allow at a fixed rate.

    Where the problem is a part of `of` records, its share of the steps for all of them.
    """
    return planned_steps(problem, run, of, _seconds_beside(problem), _seconds_a_relocation(problem) / 0.9)


# A core of 2024 served as measure, as for annealing.


def _seconds_a_relocation(problem: Problem) -> float:
    p, k = float(problem.points.shape[1]), problem.k
    in_blocks = 1.5 if len(problem.points) > ONE_BLOCK_RECORDS else 1.0
    return 1e-9 * (45.0 + 0.9 * p + 0.1 * min(k, 300)) * in_blocks


def _seconds_beside(problem: Problem) -> float:
    """Time of MDAV, neighbour lists and all descents on one core."""
    n, p, k = len(problem.points), float(problem.points.shape[1]), problem.k
    cycles = 5e-8 * min(cycles_of(problem), LIKELY_CYCLES) * n * n
    return seconds_of_mdav(problem) + cycles + (2e-5 * n + 6e-6 * n * min(k, 300)) * max(1.0, p / 13.0)


def cycles_of(problem: Problem) -> int:
    """How many cyclic shifts are tried at the end: only where groups are few."""
    n = len(problem.points)
    return min(MOST_CYCLES, PAIRS_OF_CYCLES // (n * n)) if n // problem.k < FEW_GROUPS else 0


@dataclass(frozen=True, slots=True)
class Relocate(Refinement):
    """Descent; a hot anneal and three warm ones, each from there, of which the best is kept; then
    relocations of groups: a region around a record that is far from its centroid loses a group elsewhere
    and gains one at that record (or only loses or gains one), is arranged by k-means with sizes of at
    least k and annealed for a short while, and stays so where that paid; a last anneal and descent, and
    where groups are few, cyclic shifts of records over them.

    Work is counted in steps, as for `Anneal`. With `anneals` false there are only relocations between the
    two descents.
    """

    uses_effort: ClassVar[bool] = True
    steps: int | None = None
    anneals: bool = True

    def __post_init__(self) -> None:
        if self.steps is not None and not 1 <= self.steps <= MOST_STEPS_GIVEN:
            raise wording.bad_number("steps", self.steps, f"a whole number from 1 to {MOST_STEPS_GIVEN:,}")

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        n, k = len(problem.points), problem.k
        steps = steps_of_relocation(problem, run) if self.steps is None else self.steps
        begun = run.watch.seconds
        descended = solve(descent_of(n), problem, start, run)
        for_descents = DESCENTS_TO_COME * (run.watch.seconds - begun)
        run.stage = type(self).__name__
        if run.overdue:
            return replace(descended, truncated=True)
        if n < 2 * k or descended.sse == 0.0 or steps < n:
            return descended
        if _core.group_sizes(descended.labels).max() >= 2 * k:
            return descended
        try:
            lists = near_lists(problem, list_length(n, k), run)
        except errors.DeadlinePassed:
            return replace(descended, truncated=True)
        return _Relocations(problem, descended, lists, run).run(steps, self.anneals, for_descents)


class _Relocations:
    """One call of `Relocate`, from its local optimum on."""

    def __init__(self, problem: Problem, descended: Partition, lists: Rows, run: Run) -> None:
        self.problem = problem
        self.descended = descended
        self.best = descended
        self.lists = lists
        self.own_run = run
        self.late = False
        self.place = 0
        self.whole = is_one_block(problem)

    def run(self, steps: int, anneals: bool, for_descents: float) -> Partition:
        """Run all parts; `for_descents` seconds are kept for descents."""
        run = self.own_run
        shares = shares_of_anneals(self.problem, steps) if anneals else []
        last = LAST_SHARE if anneals else 0.0
        relocating = 1.0 - sum(share for _, share in shares) - last
        run.watch.expect_work(steps)
        try:
            planned, steps = steps, self._in_time(steps, for_descents)
            hot_and_warm = [(first, int(share * steps)) for first, share in shares]
            begun = run.watch.seconds
            found = self._anneal_all(self.descended, hot_and_warm)
            self._keep(min(found, key=lambda partition: partition.sse, default=self.descended))
            if not run.overdue:
                self._relocate(int(relocating * steps))
            if steps < planned and not run.overdue:
                pace = (run.watch.seconds - begun) / max(1, steps)
                kept_back = last * steps * pace + for_descents / DESCENTS_TO_COME
                more = min(int((run.watch.seconds_left - kept_back) / pace), planned - steps)
                if more >= len(self.problem.points):
                    self._relocate(more)
            if last and not run.overdue:
                self._keep(*self._anneal_all(self.best, [(LAST_LEVEL, int(last * steps))]))
        finally:
            run.watch.expect_work(0)
        cycles = cycles_of(self.problem)
        if anneals and cycles and not run.overdue:
            shifted = solve(Escalate((chain(Cycle(), Descent()),), cycles), self.problem, self.best, run)
            self.late = self.late or shifted.truncated
            self._keep(shifted)
        if not self.whole and not run.overdue:
            self._keep(polish(self.problem, self.best, self.lists, run))
        return replace(self.best, truncated=self.late or run.overdue)

    def _keep(self, *found: Partition) -> None:
        for partition in found:
            self.best = better_of(self.best, partition)
            if self.own_run.outermost:
                self.own_run.watch.report_best(self.best.sse)

    def _next_run(self) -> Run:
        self.place += 1
        return self.own_run.with_seed(self.place)

    def _in_time(self, steps: int, for_descents: float) -> int:
        """The steps that there is time for: all, unless a short anneal, whose groups are not kept, shows
        that the machine is slower than the rate by which they were counted.
        """
        run, n = self.own_run, len(self.problem.points)
        first = int(SHARE_OF_PACE * steps)
        if run.seconds is None or first < n or run.overdue:
            return steps
        cooling = schedule(self.problem, self.lists, self.descended.sse, first, WARM_LEVEL)
        own = run.with_seed(0)  # no other part's, so that the clock does not change their seeds
        begun = run.watch.seconds
        try:
            blocks = blocks_of_groups(self.problem, self.descended.labels, own.seed, own)
        except errors.Cancelled:
            return steps
        anneal_levels(
            self.problem, self.descended.labels, blocks, self.lists, cooling, slice(0, LEVELS), own
        )
        pace = PACE_OF_ALL * (run.watch.seconds - begun) / first
        left = max(run.watch.seconds_left - for_descents, 0.1 * run.watch.seconds_left)
        if pace * (steps - first) <= left:
            return steps
        self.late = True
        return max(0, int(left / pace))

    def _anneal_all(self, start: Partition, anneals: list[tuple[int, int]]) -> list[Partition]:
        found = anneal_each(
            self.problem, start, self.lists, self.descended.sse, anneals, False, self._next_run()
        )
        self.late = self.late or any(partition.truncated for partition in found)
        return found

    def _relocate(self, steps: int) -> None:
        """Relocations, from the best groups on: in all data, or in blocks that are cut again and again."""
        problem, labels = self.problem, self.best.labels
        widths = neighbourhood_widths(problem, self.lists)
        size = max(ONE_BLOCK_RECORDS, BLOCK_GROUPS * problem.k)
        n = len(problem.points)
        rounds = 1 if n <= size else ROUNDS_IN_BLOCKS

        def relocate(rows: Rows, own: Labels, _: Rows, child: Run) -> Labels:
            many = len(rows) > MANY_GROUPS * problem.k
            found, late = _core.relocate(
                problem.points, rows, own, problem.k, self.lists, widths,
                GROUPS_OF_REGION_IF_MANY if many else GROUPS_OF_REGION, STEPS_PER_RECORD_OF_REGION,
                MOST_RELATIVE_RISE, steps * len(rows) // (rounds * n), child.seed,
                report and rounds == 1, child.watch,
            )  # fmt: skip
            self.late = self.late or late
            return found

        report = self.own_run.outermost
        for _ in range(rounds):
            own = self._next_run()
            if own.overdue:
                break
            try:
                blocks = blocks_of_groups(problem, labels, own.seed, own, size)
            except errors.Cancelled:
                break
            order = np.arange(n, dtype=np.int32)
            labels = solve_blocks(problem, labels, rows_of_blocks(blocks, order), relocate, own)
        if self.whole:
            labels, cut_short = descend_labels(problem, labels, self.lists, self.own_run)
            self.late = self.late or cut_short
        self._keep(evaluate(problem, labels, self.best.bound))
