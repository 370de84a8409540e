"""Problems handed to methods: one, or all tasks of a release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from microagg import errors, wording
from microagg.methods.auto import MOST_FOR_MDAV
from microagg.methods.exact import NODES_BY_EFFORT, WORK_BY_EFFORT, prove
from microagg.methods.objective import information_loss
from microagg.methods.recipe import MethodPlan, stage_of
from microagg.methods.run import Progress, Run, Watcher, derived_seed
from microagg.methods.stage import one_group, solve
from microagg.model import Partition, Problem, gap_above, is_optimal
from microagg.settings.declared import SECONDS_OF_PROOF

PARALLEL_BELOW = 20_000
"""Problems with fewer records, or of one attribute, are solved in parallel with one thread each; larger
ones one after the other, each with all threads.
"""

_Answer = TypeVar("_Answer")


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
    """A partition by the plan's method from `one_group`, with a proven bound if the plan has `certify`."""
    run = run_of(plan, plan.seconds, progress, start.sse)
    found = solve(plan.stage, problem, start, run)
    if not plan.certify or run.watch.cancelled:
        return found
    again = run_of(plan, plan.seconds or SECONDS_OF_PROOF, progress, start.sse)
    again.note(found.sse)
    return _proven(problem, found, again)


def solve_all(
    problems: Sequence[Problem],
    plan: MethodPlan,
    progress: Watcher | None,
    sst: float = 0.0,
    *,
    strata: Sequence[int] = (),
    finish_when_stopped: bool = False,
) -> list[Partition]:
    """A partition for each problem; they share the plan's seconds by their records.

    Each has a seed of its own, so that neither threads nor their pace can change an answer. A problem
    without columns has one group. `sst` is that of all problems together: with it, progress has the loss
    as soon as each of them has a partition; `strata` are the strata of the problems, for progress too.

    When `progress` asks to stop, problems that are done keep their groups and those under way the best so
    far. With `finish_when_stopped` all others get groups quickly; without, `Cancelled` is raised.
    """
    places = [place for place, problem in enumerate(problems) if problem.points.shape[1]]
    tally = _Tally(problems, places, strata, sst, progress)
    if len(problems) == 1 and places:
        watch = None if progress is None else tally.report
        try:
            return [solve_one(problems[0], one_group(problems[0]), plan, watch)]
        except errors.Cancelled:
            if not (finish_when_stopped and tally.stopped):
                raise
            return [found for _, found in _quickly(problems, places, plan, tally)]
    found = _solve_several(problems, places, plan, tally, finish_when_stopped)
    if plan.certify and not tally.stopped and not tally.cancelled:
        again = run_of(plan, plan.seconds or SECONDS_OF_PROOF, progress)
        prove_one = lambda place, child: _proven(problems[place], found[place], child)  # noqa: E731
        for place, partition in _each(prove_one, places, problems, again):
            found[place] = partition
    return found


def _solve_several(
    problems: Sequence[Problem],
    places: Sequence[int],
    plan: MethodPlan,
    tally: _Tally,
    finish_when_stopped: bool,
) -> list[Partition]:
    records = sum(len(problem.points) for problem in problems)
    run = run_of(plan, plan.seconds, None if tally.progress is None else tally.watch)

    def find(place: int, child: Run) -> Partition | None:
        problem = problems[place]
        child.seed = derived_seed(plan.seed, place)
        child.noted = lambda sse: tally.note(place, sse)
        child.share = len(problem.points) / records
        if child.seconds is not None:
            child.seconds *= child.share
        if tally.stopped and finish_when_stopped:
            return None
        tally.begun.add(place)
        try:
            partition = solve(plan.stage, problem, one_group(problem), child)
        except errors.Cancelled:
            if not (finish_when_stopped and tally.stopped):
                raise
            return None
        tally.finished.add(place)
        return partition

    found = [Partition(np.zeros(len(problem.points), dtype=np.int32), 0.0) for problem in problems]
    without = []
    for place, partition in _each(find, places, problems, run):
        if partition is None:
            without.append(place)
        else:
            found[place] = partition
    if without:
        for place, quick in _quickly(problems, without, plan, tally):
            found[place] = quick
    tally.cancelled = run.watch.cancelled
    return found


def _quickly(
    problems: Sequence[Problem], places: Sequence[int], plan: MethodPlan, tally: _Tally
) -> list[tuple[int, Partition]]:
    """Groups for problems that a run was stopped before: the optimum of one attribute, else MDAV's, inside
    blocks where there are many records. Progress goes on, for that can still be interrupted.
    """

    def find(place: int, child: Run) -> Partition:
        problem = problems[place]
        n, p = problem.points.shape
        recipe = "univariate" if p == 1 else "blocks" if n > MOST_FOR_MDAV else "mdav"
        found = solve(stage_of(recipe), problem, one_group(problem), child)
        tally.note(place, found.sse)
        return replace(found, recipe=recipe, reason=wording.stopped_before_this(), truncated=True)

    return _each(find, places, problems, run_of(plan, None, tally.after_the_stop))


class _Tally:
    """What is known of all problems while they are solved: the best cost of each so far, as one loss; how
    many are done; and whether the run was asked to stop.
    """

    def __init__(
        self,
        problems: Sequence[Problem],
        places: Sequence[int],
        strata: Sequence[int],
        sst: float,
        progress: Watcher | None,
    ) -> None:
        self._records = {place: len(problems[place].points) for place in places}
        self._strata = [strata[place] if strata else 0 for place in places]
        self._first: dict[int, float] = {}
        self._best: dict[int, float] = {}
        self.begun: set[int] = set()
        self.finished: set[int] = set()
        self._done = 0.0
        self._sst = sst
        self.progress = progress
        self.stopped = False
        self.cancelled = False

    def note(self, place: int, sse: float) -> None:
        self._first.setdefault(place, sse)
        self._best[place] = min(sse, self._best.get(place, sse))

    def report(self, progress: Progress) -> object:
        assert self.progress is not None
        answer = self.progress(progress)
        self.stopped = self.stopped or answer is True
        return answer

    def watch(self, progress: Progress) -> object:
        return self.report(self._of_all(progress))

    def after_the_stop(self, progress: Progress) -> None:
        """There is nothing more to stop; what is raised ends the run."""
        if self.progress is not None:
            self.progress(replace(self._of_all(progress), stage=wording.finishing_quickly()))

    def _of_all(self, progress: Progress) -> Progress:
        first, best = list(self._first.values()), list(self._best.values())
        loss = improvement = None
        if len(best) == len(self._records) and self._sst > 0.0:
            loss = information_loss(sum(best), self._sst)
            improvement = 100.0 * (1.0 - sum(best) / sum(first)) if sum(first) > 0.0 else 0.0
        return replace(
            progress,
            done=self._share_done(progress.done),
            information_loss=loss,
            improvement=improvement,
            part=self._part(),
            finished=len(self.finished),
            has_groups=bool(best),
        )

    def _share_done(self, of_those_at_work: float) -> float:
        finished = sum(self._records[place] for place in self.finished.copy())
        at_work = sum(self._records[place] for place in self.begun.copy() - self.finished)
        share = (finished + of_those_at_work * at_work) / max(sum(self._records.values()), 1)
        self._done = max(self._done, min(share, 1.0))
        return self._done

    def _part(self) -> str:
        """The first stratum that is not done yet, or the first problem if all are of one stratum."""
        finished = self.finished.copy()
        done, of = len(finished), len(self._records)
        if len(set(self._strata)) > 1:
            undone = {
                stratum
                for place, stratum in zip(self._records, self._strata, strict=True)
                if place not in finished
            }
            of = len(set(self._strata))
            return wording.stratum_of(min(of - len(undone) + 1, of), of)
        return wording.part_of(min(done + 1, of), of) if of > 1 else ""


def _each(
    work: Callable[[int, Run], _Answer], places: Sequence[int], problems: Sequence[Problem], run: Run
) -> list[tuple[int, _Answer]]:
    large = [place for place in places if _is_large(problems[place])]
    small = [place for place in places if not _is_large(problems[place])]
    done = [(place, work(place, run.with_seed(place))) for place in large]
    return done + list(zip(small, run.map(work, small), strict=True))


def _is_large(problem: Problem) -> bool:
    return len(problem.points) >= PARALLEL_BELOW and problem.points.shape[1] > 1


def _proven(problem: Problem, found: Partition, run: Run) -> Partition:
    if is_optimal(gap_above(found.bound, found.sse)):
        return found
    proven = prove(
        problem, found, 0.0, NODES_BY_EFFORT["balanced"], WORK_BY_EFFORT["balanced"], run
    ).partition.bound
    return replace(found, bound=max(found.bound, min(proven, found.sse)))
