"""Problems handed to methods: one, or all tasks of a release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from microagg.methods.exact import NODES, WORK, prove
from microagg.methods.objective import information_loss
from microagg.methods.run import Progress, Run, derived_seed
from microagg.methods.stage import one_group, solve
from microagg.model import Partition, Problem
from microagg.plan.method import MethodPlan

SECONDS_OF_PROOF = 60.0
"""For a bound, where no seconds are given."""

LARGE = 20_000
"""Problems with so many records use all threads and are solved one after the other; others, and those of
one attribute, whose optimum takes one thread, in parallel.
"""

Watcher = Callable[[Progress], object]


def run_of(plan: MethodPlan, seconds: float | None, progress: Watcher | None, sst: float = 0.0) -> Run:
    """A run with the plan's seed, effort and threads."""
    return Run(
        seed=plan.seed,
        seconds=seconds,
        threads=plan.threads,
        effort=plan.effort,
        sst=sst,
        progress=progress,
    )


def solve_one(problem: Problem, start: Partition, plan: MethodPlan, progress: Watcher | None) -> Partition:
    """A partition by the plan's method from `one_group`, with a proven bound if the plan says so."""
    run = run_of(plan, plan.seconds, progress, start.sse)
    found = solve(plan.stage, problem, start, run)
    if not plan.certify or run.watch.cancelled:
        return found
    again = run_of(plan, plan.seconds or SECONDS_OF_PROOF, progress, start.sse)
    again.note(found.sse)
    return _proven(problem, found, again)


def solve_all(
    problems: Sequence[Problem], plan: MethodPlan, progress: Watcher | None, sst: float = 0.0
) -> list[Partition]:
    """A partition for each problem; they share the plan's seconds by their records.

    Each has a seed of its own, so that neither threads nor their pace can change an answer. A problem
    without columns has one group. `sst` is that of all problems together: with it, progress has the loss
    as soon as each of them has a partition.
    """
    if len(problems) == 1 and problems[0].points.shape[1]:
        return [solve_one(problems[0], one_group(problems[0]), plan, progress)]
    records = sum(len(problem.points) for problem in problems)
    places = [place for place, problem in enumerate(problems) if problem.points.shape[1]]
    tally = _Tally(len(places), sst, progress)

    def find(place: int, child: Run) -> Partition:
        problem = problems[place]
        child.seed = derived_seed(plan.seed, place)
        child.noted = lambda sse: tally.note(place, sse)
        if child.seconds is not None:
            child.seconds *= len(problem.points) / records
        return solve(plan.stage, problem, one_group(problem), child)

    found = [Partition(np.zeros(len(problem.points), dtype=np.int32), 0.0) for problem in problems]
    run = run_of(plan, plan.seconds, None if progress is None else tally.watch)
    for place, partition in _each(find, places, problems, run):
        found[place] = partition
    if plan.certify and not run.watch.cancelled:
        again = run_of(plan, plan.seconds or SECONDS_OF_PROOF, progress)
        prove_one = lambda place, child: _proven(problems[place], found[place], child)  # noqa: E731
        for place, partition in _each(prove_one, places, problems, again):
            found[place] = partition
    return found


class _Tally:
    """The best cost of each problem so far, as one loss."""

    def __init__(self, problems: int, sst: float, progress: Watcher | None) -> None:
        self._best: dict[int, float] = {}
        self._problems = problems
        self._sst = sst
        self._progress = progress

    def note(self, place: int, sse: float) -> None:
        self._best[place] = min(sse, self._best.get(place, sse))

    def watch(self, progress: Progress) -> object:
        assert self._progress is not None
        best = list(self._best.values())
        if len(best) == self._problems and self._sst > 0.0:
            progress = replace(progress, information_loss=information_loss(sum(best), self._sst))
        return self._progress(progress)


def _each(
    work: Callable[[int, Run], Partition], places: Sequence[int], problems: Sequence[Problem], run: Run
) -> list[tuple[int, Partition]]:
    large = [place for place in places if _is_large(problems[place])]
    small = [place for place in places if not _is_large(problems[place])]
    done = [(place, work(place, run.with_seed(place))) for place in large]
    return done + list(zip(small, run.map(work, small), strict=True))


def _is_large(problem: Problem) -> bool:
    return len(problem.points) >= LARGE and problem.points.shape[1] > 1


def _proven(problem: Problem, found: Partition, run: Run) -> Partition:
    proven = prove(problem, found, 0.0, NODES["balanced"], WORK["balanced"], run).partition.bound
    return replace(found, bound=max(found.bound, min(proven, found.sse)))
