"""Assignment rounds: one record of each group is given away and put back where that costs least."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from microagg import _core, errors, wording
from microagg.methods.anneal import Anneal
from microagg.methods.blocks import (
    blocks_of_groups,
    is_one_block,
    near_in_memory,
    rows_of_blocks,
    solve_blocks,
)
from microagg.methods.cooling import (
    LEVELS,
    falling_temperatures,
    first_level,
    neighbourhood_widths,
    part_of_record,
    steps_of_run,
)
from microagg.methods.local_search import descent_of
from microagg.methods.neighbours import list_length, near_lists
from microagg.methods.pace import Pace
from microagg.methods.run import Run
from microagg.methods.stage import Refinement, better_of, evaluate, solve
from microagg.model import Labels, Partition, Problem, Rows

STEPS_A_ROUND = 3
"""A round takes as long as this many annealing steps per record."""
MOST_ROUNDS_GIVEN = 10**9

REACH, REACH_OF_K = 16, 2
"""A record is offered to the groups of its 16 nearest records, or 2k if that is more."""
SKIPPED_SHARE_OF_GROUPS = 0.1
"""Share of the groups that could grow and give no record away."""
ASSIGNMENT_BLOCK_RECORDS = 15_000
"""If there are more records, they are cut into blocks of at most this size: shortest paths stay short."""
ROUNDS_A_CUT = 20
"""Rounds before the blocks are cut elsewhere, the plan is made again and progress is reported."""

SAFE_ROUNDS = 60
"""The first rounds are without noise: each of them improves, however soon the time ends."""
FEWEST_ANNEALED_ROUNDS = 200
"""Fewer rounds are all without noise."""
HOT_SHARE, HOT_SHARE_IF_LONG, LONG_FROM_ROUNDS = 0.1, 0.3, 1_000
"""The first temperature, as a share of a record's average part of the SSE: higher for many rounds."""
COLD_SHARE = 0.01
"""The last temperature, as the same share."""
COOLED_SHARE_OF_ROUNDS = 0.85
"""The share of the rounds after the safe ones that have noise."""
FEWEST_COOLED_ROUNDS = 100
"""If there is time for fewer rounds of cooling, it is not begun."""


@dataclass(frozen=True, slots=True)
class Assignment(Refinement):
    """Rounds of assignment over neighbour lists. In a round every group gives one of its records away,
    drawn at random, and all of them are put back at once where that costs least: an assignment problem,
    solved exactly. A group changes by one record at most, so its cost is exact too, and long chains of
    moves are found that pay only together. The number of groups stays; sizes stay within k and 2k−1.

    Rounds that do not lower the SSE are not kept, so every prefix is an improvement. With 200 rounds or
    more, those after the first 60 have costs disturbed by falling noise, and the better of before and
    after is kept. Descent comes last. `rounds`: as many as given, or by the run's effort and seconds.
    Large data are done in blocks of whole groups, cut elsewhere again and again, in parallel.
    """

    uses_effort: ClassVar[bool] = True
    rounds: int | None = None

    def __post_init__(self) -> None:
        if self.rounds is not None and not 1 <= self.rounds <= MOST_ROUNDS_GIVEN:
            raise wording.bad_number(
                "rounds", self.rounds, f"a whole number from 1 to {MOST_ROUNDS_GIVEN:,}"
            )

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        n, k = len(problem.points), problem.k
        if n < 2 * k or start.sse == 0.0:
            return start
        if _core.group_sizes(start.labels).max() >= 2 * k:
            start = solve(descent_of(n), problem, start, run)  # which splits large groups first
            run.stage = type(self).__name__
        if run.overdue:
            return replace(start, truncated=True)
        if _core.group_sizes(start.labels).max() >= 2 * k:
            return start
        rounds = (
            rounds_of_steps(problem, steps_of_run(problem, run)) if self.rounds is None else self.rounds
        )
        try:
            lists = near_lists(problem, list_length(n, k), run)
            found = _improved_by_assignment(problem, start, lists, rounds, run)
        except errors.DeadlinePassed:
            return replace(start, truncated=True)
        if run.overdue:
            return replace(found, truncated=True)
        return replace(solve(descent_of(n), problem, found, run), truncated=found.truncated)


def rounds_of_steps(problem: Problem, steps: int) -> int:
    """How many rounds take as long as these steps of annealing."""
    return max(1, steps // (STEPS_A_ROUND * len(problem.points)))


def temperatures_of(rounds: int, part: float) -> NDArray[np.float64]:
    """The temperature of each round; 0: without noise. `part`: a record's average part of the SSE."""
    if rounds < FEWEST_ANNEALED_ROUNDS:
        return np.zeros(rounds)
    hot = HOT_SHARE if rounds < LONG_FROM_ROUNDS else HOT_SHARE_IF_LONG
    levels = falling_temperatures(hot * part, COLD_SHARE / hot)
    cooled = int(COOLED_SHARE_OF_ROUNDS * (rounds - SAFE_ROUNDS))
    temperatures = np.zeros(rounds)
    temperatures[SAFE_ROUNDS : SAFE_ROUNDS + cooled] = levels[np.arange(cooled) * LEVELS // cooled]
    return temperatures


def _improved_by_assignment(
    problem: Problem, start: Partition, lists: Rows, rounds: int, run: Run
) -> Partition:
    """The best partition from rounds without noise, after all rounds or at the deadline."""
    widths = neighbourhood_widths(problem, lists)
    to_come = temperatures_of(rounds, part_of_record(widths, problem.k, start.sse))
    order = near_in_memory(problem, run)
    best, labels, truncated = start, start.labels, False
    pace = Pace(run)
    run.watch.expect_work(rounds * (int(start.labels.max()) + 1))
    try:
        for number in range(rounds):
            if run.overdue or not len(to_come):
                break
            planned = planned_again(to_come, pace)
            truncated = truncated or planned is not to_come
            now, to_come = planned[:ROUNDS_A_CUT], planned[ROUNDS_A_CUT:]
            if now[0] == 0.0 and now.any():  # noise begins here, and may spoil what is good
                now, to_come = now[now == 0.0], np.concatenate([now[now > 0.0], to_come])
            elif now[0] > 0.0 and best is start:
                best = better_of(start, evaluate(problem, labels, start.bound))
            pace.begin()
            try:
                labels = _some_rounds(problem, labels, lists, order, now, run.with_seed(number))
            except errors.Cancelled:
                break
            pace.add(len(now))
    finally:
        run.watch.expect_work(0)
    found = better_of(best, evaluate(problem, labels, start.bound))
    return replace(found, truncated=start.truncated or truncated or run.overdue)


def planned_again(to_come: NDArray[np.float64], pace: Pace) -> NDArray[np.float64]:
    """The temperatures of the rounds to come, fewer of them where there is no time for all. Cooling that
    would be too quick to be of use is not begun.
    """
    if not to_come.any():
        return to_come  # any prefix will do
    share = pace.share_in_time(len(to_come), quicker=1.4)
    if share == 1.0:
        return to_come
    fitting = int(share * len(to_come))
    if to_come[0] == 0.0 and fitting < FEWEST_COOLED_ROUNDS:
        return np.zeros(len(to_come))
    return to_come[np.arange(fitting) * len(to_come) // max(fitting, 1)]


def _some_rounds(
    problem: Problem,
    labels: Labels,
    lists: Rows,
    order: Rows,
    temperatures: NDArray[np.float64],
    run: Run,
) -> Labels:
    """The labels after these rounds, in blocks where there are many records."""
    n, k = len(problem.points), problem.k
    whole = n <= max(ASSIGNMENT_BLOCK_RECORDS, 4 * k)
    blocks = blocks_of_groups(problem, labels, run.seed, run, ASSIGNMENT_BLOCK_RECORDS)
    temperatures = np.ascontiguousarray(temperatures)

    def kernel(rows: Rows, own: Labels, place: Rows, child: Run) -> Labels:
        return _core.assignment_rounds(
            problem.points, rows, own, k, lists, place, max(REACH, REACH_OF_K * k), SKIPPED_SHARE_OF_GROUPS,
            temperatures, child.seed, whole and run.outermost, child.watch,
        )[0]  # fmt: skip

    return solve_blocks(problem, labels, rows_of_blocks(blocks, order), kernel, run)


FEWEST_RECORDS = 3_000
"""For fewer records annealing is better."""
LARGER_GROUPS = {3: 0.05, 4: 0.02}
"""For these k, the largest share of groups with more than k records after a descent at which assignment
rounds are the better search: they keep the number of groups and nearly keep their sizes.
"""


def suits_assignment(problem: Problem, descended: Partition) -> bool:
    """Whether assignment rounds will end lower than annealing, judged by the groups after a descent."""
    limit = LARGER_GROUPS.get(problem.k)
    if limit is None or len(problem.points) < FEWEST_RECORDS:
        return False
    return float((_core.group_sizes(descended.labels) > problem.k).mean()) <= limit


@dataclass(frozen=True, slots=True)
class Adaptive(Refinement):
    """Descent, then the search that suits the data: assignment rounds where descent leaves nearly all
    groups with just k records, as in smooth data of many attributes, and annealing elsewhere. `steps`: of
    annealing, or rounds that take as long; as many as given, or by the run's effort and seconds.
    """

    uses_effort: ClassVar[bool] = True
    steps: int | None = None

    def __post_init__(self) -> None:
        Anneal(self.steps)  # checks the number

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        steps = steps_of_run(problem, run) if self.steps is None else self.steps
        descended = solve(descent_of(len(problem.points)), problem, start, run)
        if run.overdue:
            return replace(descended, truncated=True)
        if suits_assignment(problem, descended):
            return solve(Assignment(rounds_of_steps(problem, steps)), problem, descended, run)
        first = 0 if is_one_block(problem) else first_level(len(problem.points), steps)
        return solve(Anneal(steps, first), problem, descended, run)
