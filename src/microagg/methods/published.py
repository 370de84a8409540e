"""The cost that is really published, where some attributes publish one of their values instead of a mean.

Most stages lower the SSE of the points, in which categories are corners of simplices. What is published is
the mode or median of a category: `Published` anneals that cost itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from microagg import _core, errors, wording
from microagg.methods.anneal import anneal_in_rounds
from microagg.methods.blocks import BLOCKWISE_FROM_RECORDS, is_one_block
from microagg.methods.cooling import (
    LEVELS,
    MOST_STEPS_GIVEN,
    Schedule,
    lengths_of_anneals,
    schedule,
)
from microagg.methods.local_search import descent_of
from microagg.methods.neighbours import FEW_LEAVES, LEAVES, list_length, near_lists
from microagg.methods.run import Run
from microagg.methods.stage import Refinement, evaluate, solve
from microagg.model import Doubles, Effort, Labels, Partition, Problem, Rows

STEPS_PER_RECORD: dict[Effort, int] = {"fast": 1_000, "balanced": 10_000, "best": 60_000}
STEPS_FOR_MANY: dict[Effort, int] = {"fast": 6_000_000, "balanced": 60_000_000, "best": 600_000_000}
STEPS_PER_RECORD_OF_MANY: dict[Effort, int] = {"fast": 60, "balanced": 200, "best": 1_000}
"""Steps by effort: so many for each record, but no more than the second number or, where that is more, the
third for each record.
"""
HOTTEST_SHARE = 0.1
"""The first temperature, as a share of the sixth widest neighbourhood."""
SETTLING_STEPS_PER_RECORD = 40
"""Of the steps, so many, or a fifth, at last accept nothing that costs more."""
NO_TEMPERATURE = 1e-300
WARM_LEVEL, WARM_BELOW_STEPS_PER_RECORD = LEVELS // 2, 200
"""With fewer steps an anneal begins at this level: hotter ones would undo more than they gain."""


@dataclass(frozen=True, slots=True)
class Published(Refinement):
    """Simulated annealing of what the groups cost when they are published: squared differences of numbers
    to the mean, changed cells of categories, changes of ordered levels to the median. Moves and cooling as
    in `Anneal`, each move O(attributes); groups of 2k records or more are first re-split. It may raise the
    SSE, and leaves problems without categories as they are.

    `steps`: by effort unless given. The same steps and seed give the same groups on any number of threads.
    """

    uses_effort: ClassVar[bool] = True
    steps: int | None = None

    def __post_init__(self) -> None:
        if self.steps is not None and not 1 <= self.steps <= MOST_STEPS_GIVEN:
            raise wording.bad_number("steps", self.steps, f"a whole number from 1 to {MOST_STEPS_GIVEN:,}")

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        n, k = len(problem.points), problem.k
        if problem.categories is None or n < 2 * k or k == 1 or run.overdue:
            return start
        steps = steps_of_published(n, run.effort) if self.steps is None else self.steps
        split = start
        if _core.group_sizes(start.labels).max() >= 2 * k:
            split = solve(descent_of(n), problem, start, run)
            run.stage = type(self).__name__
        before = float(published_cost(problem, start.labels).sum())
        if before == 0.0 or run.overdue or _core.group_sizes(split.labels).max() >= 2 * k:
            return start
        try:
            labels, late = _Search.of(problem, run).best_of_anneals(split.labels, steps, run)
        except (errors.DeadlinePassed, errors.Cancelled):
            return replace(start, truncated=True)
        if float(published_cost(problem, labels).sum()) >= before:
            return replace(start, truncated=start.truncated or late)
        return evaluate(problem, labels, start.bound, truncated=start.truncated or late)


def published_cost(problem: Problem, labels: Labels) -> Doubles:
    """What the groups cost when they are published, in the unit of squared distances: all numbers, then
    each attribute of the categories.
    """
    if problem.categories is None:
        return np.array([_core.sse(problem.points, labels)])
    return _core.published_cost(*_kernel_arguments(problem), labels)


def bound_on_published(problem: Problem, bound: float) -> float:
    """What no groups of the problem can cost less than when they are published, if none has a smaller SSE
    than `bound`.

    In a group of m records, the cells that the mode changes are at least half of m − Σ n_c²/m; and the sum
    of changes to the median level is at least the SSE of the levels divided by their largest difference.
    """
    categories = problem.categories
    if categories is None or bound == 0.0:
        return bound
    shares = [1.0] if categories.starts[0] > 0 else []
    for at, (start, end) in enumerate(pairwise(categories.starts.tolist())):
        codes, first = np.unique(categories.codes[:, at], return_index=True)
        if len(codes) < 2:
            continue
        corners = problem.points[first, start:end]
        squares = ((corners[1:] - corners[0]) ** 2).sum(axis=1)
        share = float(categories.cost[at] / squares[-1])
        if categories.ordered[at]:
            share *= float(codes[-1] - codes[0])
        elif categories.paths[at] is not None or len(codes) > end - start + 1 or np.ptp(squares) > 1e-9:
            return 0.0  # distances of the points are not exactly those of the codes
        shares.append(share)
    return bound * min(shares, default=0.0)


def steps_of_published(n: int, effort: Effort) -> int:
    """Steps for n records where no seconds are given."""
    return min(
        STEPS_PER_RECORD[effort] * n, max(STEPS_FOR_MANY[effort], STEPS_PER_RECORD_OF_MANY[effort] * n)
    )


def steps_in_seconds(problem: Problem, seconds: float) -> int:
    """Steps for which there is time on a core of 2024, at least."""
    categories = 0 if problem.categories is None else len(problem.categories.ordered)
    return int(seconds / (1e-9 * (60.0 + 12.0 * categories + 10.0 * min(problem.k, 20))))


_Integers = NDArray[np.int32]
_KernelArguments = tuple[Doubles, _Integers, NDArray[np.bool_], Doubles, _Integers, list[_Integers | None]]


def _kernel_arguments(problem: Problem) -> _KernelArguments:
    """A problem with categories as the kernels of the published cost take it."""
    categories = problem.categories
    assert categories is not None
    numbers = np.ascontiguousarray(problem.points[:, : int(categories.starts[0])])
    levels = (categories.codes.max(axis=0) + 1).astype(np.int32)
    return numbers, categories.codes, categories.ordered, categories.cost, levels, list(categories.paths)


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """Anneals of the published cost of a problem."""

    problem: Problem
    lists: Rows
    kernel: partial[tuple[Labels, bool]]

    @classmethod
    def of(cls, problem: Problem, run: Run) -> _Search:
        n, k = len(problem.points), problem.k
        if n > BLOCKWISE_FROM_RECORDS:
            lists = near_lists(problem, min(max(10, 2 * k), n - 1), run, FEW_LEAVES)
        else:
            lists = near_lists(problem, list_length(n, k), run, LEAVES)
        return cls(problem, lists, partial(_core.anneal_published, *_kernel_arguments(problem)))

    def cost(self, labels: Labels) -> float:
        return float(published_cost(self.problem, labels).sum())

    def best_of_anneals(self, labels: Labels, steps: int, run: Run) -> tuple[Labels, bool]:
        """The best groups of some anneals that share the steps, and whether time did not suffice. Large
        data have one anneal, whose blocks go in parallel.
        """
        n = len(labels)
        run.watch.expect_work(steps)
        try:
            if not is_one_block(self.problem):
                return self._annealed(labels, steps, run)
            lengths = [length for length in lengths_of_anneals(steps, n, True) if length >= n]
            found = run.map(lambda length, child: self._annealed(labels, length, child), lengths or [steps])
        finally:
            run.watch.expect_work(0)
        return min((own for own, _ in found), key=self.cost), any(late for _, late in found)

    def _annealed(self, labels: Labels, steps: int, run: Run) -> tuple[Labels, bool]:
        n = len(labels)
        settling = min(SETTLING_STEPS_PER_RECORD * n, steps // 5)
        first = WARM_LEVEL if steps < WARM_BELOW_STEPS_PER_RECORD * n else 0
        cooling = schedule(
            self.problem, self.lists, self.cost(labels), steps - settling, first, HOTTEST_SHARE
        )
        report = run.outermost
        labels, late = anneal_in_rounds(self.problem, labels, self.lists, cooling, report, run, self.kernel)
        of_level = np.zeros_like(cooling.steps)
        of_level[-1] = settling
        everybody = np.full_like(cooling.active, n)
        cold = Schedule(cooling.order, cooling.place, np.full(LEVELS, NO_TEMPERATURE), everybody, of_level)
        labels, cut_short = anneal_in_rounds(
            self.problem, labels, self.lists, cold, report, run.with_seed(LEVELS), self.kernel
        )
        return labels, late or cut_short
