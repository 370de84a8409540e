"""The method for a user who does not want to choose one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from microagg import errors
from microagg.methods.anneal import Anneal
from microagg.methods.assignment import FEWEST_RECORDS, LARGER_GROUPS, Adaptive
from microagg.methods.blocks import BLOCK_RECORDS, BLOCKWISE_FROM_RECORDS, ONE_BLOCK_RECORDS, KdBlocks
from microagg.methods.cooling import first_level, seconds_beside, seconds_of_mdav, steps_of_run
from microagg.methods.exact import (
    MOST_RECORDS_EXHAUSTIVE,
    MOST_RECORDS_PRICED,
    NODES_BY_EFFORT,
    WORK_BY_EFFORT,
    Exact,
    Exhaustive,
)
from microagg.methods.fixed_size import Mdav
from microagg.methods.local_search import BLOCK_OF_DESCENT, Descent, descent_of
from microagg.methods.published import Published, steps_in_seconds
from microagg.methods.published import steps_of_published as published_steps
from microagg.methods.relocate import Relocate, steps_of_relocation
from microagg.methods.run import Run
from microagg.methods.sorting import OptimalUnivariate
from microagg.methods.stage import Chain, Initial, Stage, Within, chain, solve
from microagg.model import Partition, Problem

MOST_FOR_MDAV = BLOCKWISE_FROM_RECORDS
"""Records for which MDAV takes seconds; with more, it runs inside blocks."""
FEWEST_STEPS_ON_LARGE = 200
"""Per record; with fewer, descent in blocks of BLOCK_OF_DESCENT records gains more than annealing."""

RECORDS_PRICED_PER_SECOND = {2: 420, 3: 420, 4: 60, 5: 20}
"""Records, by k, for which column generation needs a second of one core to find its first partitions; with
less time it does not pay.
"""
STEPS_TO_RELOCATE_FROM_K = {15: 60_000, 25: 5_000}
"""From each of these k on, groups are relocated if there are at least this many steps per record: moves of
single records hardly ever bring a large group to another place. With fewer steps annealing ends lower.
"""
ANNEAL_SHARE_BEFORE_PROOF = 0.3
"""Share of the work that annealing gets where column generation follows."""
MOST_RECORDS_OF_PROOF = {
    2: (400, 400),
    3: (400, 300),
    4: (200, 150),
    5: (100, 100),
    6: (30, 30),
    7: (30, 30),
    8: (30, 30),
}
FEW_ATTRIBUTES = 4
"""Most records, by k, for which a proof is tried at the balanced effort too: the first number for at most
FEW_ATTRIBUTES, the second for more. Most proofs succeed in seconds, and better groups are kept in any case.
"""
SECONDS_OF_PROOF, WORK_PER_SECOND = 2.0, 30_000_000
"""Time that all problems of a run share for these proofs, and the work of column generation in a second of
one core, so that its work and not the clock ends it.
"""
SECONDS_PER_STEP = 1e-7
"""Of annealing, at most, on so few records."""
LEAST_SECONDS_PER_RECORD = 0.001
"""With less time a proof is not tried: hardly any would succeed."""

_IN_BLOCKS = Within(Mdav(), by=KdBlocks())


@dataclass(frozen=True, slots=True)
class Choice:
    """A stage, the recipe that makes it, and why it was chosen."""

    stage: Stage
    recipe: str
    reason: str


def choose(problem: Problem, run: Run, of: int = 0, prove: bool = True) -> Choice:
    """Choose by the number of records and attributes, k, and the run's effort and seconds; with `prove`,
    column generation where it is worth its time.

    If the problem is a part of `of` records, it gets its share of the work for all of them.
    """
    n, p = problem.points.shape
    if problem.categories is not None and n >= 2 * problem.k:
        return _choose_for_categories(problem, run, of)
    if p == 1:
        return Choice(OptimalUnivariate(), "univariate", "one attribute: the optimum can be computed")
    if n < 2 * problem.k:
        return Choice(Mdav(), "mdav", f"{n:,} records are fewer than 2k: they can only form one group")
    if n <= MOST_RECORDS_EXHAUSTIVE:
        return Choice(Exhaustive(), "exhaustive", f"{n} records: every partition can be tried")
    start = _choose_start(problem, run)
    steps = steps_of_relocation(problem, run, of)
    relocates = any(problem.k >= k and steps >= least * n for k, least in STEPS_TO_RELOCATE_FROM_K.items())
    if not relocates:
        steps = steps_of_run(problem, run, of)
    too_short = f"{start.reason}; too little time to anneal"
    if max(n, of) > BLOCKWISE_FROM_RECORDS and steps < FEWEST_STEPS_ON_LARGE * n:
        recipe = f"{start.recipe}+descent:size={BLOCK_OF_DESCENT}"
        return Choice(chain(start.stage, Descent(BLOCK_OF_DESCENT)), recipe, too_short)
    if steps < n:
        return Choice(chain(start.stage, Descent()), f"{start.recipe}+descent", too_short)
    budget = _budget(run)
    before_proof = int(ANNEAL_SHARE_BEFORE_PROOF * steps) if run.effort == "best" else steps
    work = _work_of_proof(problem, run, of, before_proof) if prove else 0
    if work:
        steps = before_proof
    search = _choose_search(problem, steps, relocates)
    recipe = f"{start.recipe}+{search.recipe}"
    reason = f"{start.reason}; {steps / n:,.0f} {search.reason}"
    if not work:
        return Choice(chain(start.stage, search.stage), recipe, f"{reason} for {budget}")
    nodes = NODES_BY_EFFORT["balanced"]
    return Choice(
        chain(start.stage, search.stage, Exact(0.0, nodes, work)),
        f"{recipe}+exact:nodes={nodes}:work={work}",
        f"{reason}, then column generation, which may prove the optimum, for {budget}",
    )


def _choose_for_categories(problem: Problem, run: Run, of: int) -> Choice:
    """Descent, then annealing of what is really published."""
    n = len(problem.points)
    everybody = max(n, of)
    start, descent = _choose_start(problem, run), descent_of(everybody)
    steps = published_steps(everybody, run.effort)
    if run.seconds is not None:
        steps = min(steps, steps_in_seconds(problem, run.seconds - seconds_beside(problem)))
    steps = steps * n // everybody
    recipe = f"{start.recipe}+descent" + (f":size={descent.size}" if descent.size else "")
    stage = chain(start.stage, descent)
    if steps < n:
        return Choice(stage, recipe, f"{start.reason}; too little time to anneal")
    return Choice(
        chain(stage, Published(steps)),
        f"{recipe}+published:steps={steps}",
        f"{start.reason}; {steps / n:,.0f} steps of annealing what is published a record for "
        f"{_budget(run)}",
    )


def _budget(run: Run) -> str:
    return f"{run.effort} effort" if run.seconds is None else f"{run.effort} effort in {run.seconds:g} s"


def _choose_start(problem: Problem, run: Run) -> Choice:
    n = len(problem.points)
    if n > MOST_FOR_MDAV:
        reason = f"{n:,} records, over {MOST_FOR_MDAV:,}: mdav inside blocks to start from"
        return Choice(_IN_BLOCKS, "blocks", reason)
    if n > BLOCK_RECORDS and run.seconds is not None and seconds_of_mdav(problem) > run.seconds:
        reason = f"{n:,} records: mdav would take all the time, mdav inside blocks to start from"
        return Choice(_IN_BLOCKS, "blocks", reason)
    return Choice(Mdav(), "mdav", f"{n:,} records: mdav is quick enough to start from")


def _choose_search(problem: Problem, steps: int, relocates: bool) -> Choice:
    """The refinement after the start; its reason completes "12 …"."""
    n = len(problem.points)
    if relocates:
        reason = "steps of annealing and of relocating groups a record"
        return Choice(Relocate(steps), f"relocate:steps={steps}", reason)
    if n >= FEWEST_RECORDS and problem.k in LARGER_GROUPS:
        reason = "steps of annealing a record (or assignment rounds)"
        return Choice(Adaptive(steps), f"adaptive:steps={steps}", reason)
    reason = "steps of annealing a record"
    if ONE_BLOCK_RECORDS < n <= BLOCKWISE_FROM_RECORDS:
        warm = first_level(n, steps)
        recipe = f"descent+anneal:steps={steps}" + (f":first={warm}" if warm else "")
        return Choice(chain(Descent(), Anneal(steps, warm)), recipe, reason)  # smaller data descend anyway
    return Choice(Anneal(steps), f"anneal:steps={steps}", reason)


def _work_of_proof(problem: Problem, run: Run, of: int, steps: int) -> int:
    """How much column generation may do after the steps of annealing; 0 where it would not get far. The
    problems of a run share it by their records, but at the best effort each has enough for itself. Where
    seconds are given, it gets most of what annealing leaves.
    """
    if _can_price(problem, run):
        return WORK_BY_EFFORT["balanced"]
    n, p = problem.points.shape
    if run.effort == "fast" or n > MOST_RECORDS_OF_PROOF.get(problem.k, (0, 0))[p > FEW_ATTRIBUTES]:
        return 0
    seconds = SECONDS_OF_PROOF * min(run.share, n / max(n, of))
    if run.seconds is not None:
        seconds = min(seconds, 0.8 * (run.seconds - SECONDS_PER_STEP * steps))
    return int(seconds * WORK_PER_SECOND) if seconds >= LEAST_SECONDS_PER_RECORD * n else 0


def _can_price(problem: Problem, run: Run) -> bool:
    """Whether column generation is worth its time: at the best effort, for small k and moderate n."""
    rate = RECORDS_PRICED_PER_SECOND.get(problem.k)
    if run.effort != "best" or rate is None or len(problem.points) > MOST_RECORDS_PRICED:
        return False
    return run.seconds is None or len(problem.points) <= rate * run.seconds


class _MdavTooSlow(Exception):  # noqa: N818 (never seen by a user)
    """MDAV did not end within the seconds of the run."""


def _solve_in_time(stage: Stage, problem: Problem, start: Partition, run: Run) -> Partition:
    """As `solve`, but MDAV at the beginning is given up when the seconds of the run are over, where blocks
    would have been quicker.
    """
    stages = stage.stages if isinstance(stage, Chain) else (stage,)
    if run.seconds is None or stages[0] != Mdav() or len(problem.points) <= BLOCK_RECORDS:
        return solve(stage, problem, start, run)
    try:
        found = solve(stages[0], problem, start, run.for_part(max(run.watch.seconds_left, 0.0)))
    except errors.Cancelled:
        if run.overdue and not run.watch.cancelled:
            raise _MdavTooSlow from None
        run.cancel()
        raise
    run.note(found.sse)
    return solve(Chain(stages[1:]), problem, found, run) if len(stages) > 1 else found


@dataclass(frozen=True, slots=True)
class Auto(Initial):
    """Chooses a method from the number of records and attributes, k, effort and seconds. `recipe` is the
    method, `reason` why; that recipe with the same seed gives the same groups. Up to 200,000
    records never worse than descent from the same start in the same time, unless MDAV had to be given up
    for lack of time, and, without a limit of time, never worse than MDAV.
    """

    uses_effort: ClassVar[bool] = True
    of: int = 0
    """If the problem is a part of more records, which share the work of one run: their number; else 0."""
    prove: bool = True
    """Column generation, which can prove the optimum, where it is worth its time."""

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        choice = choose(problem, run, self.of, self.prove)
        try:
            found = _solve_in_time(choice.stage, problem, start, run)
        except _MdavTooSlow:
            n = len(problem.points)
            reason = (
                f"{n:,} records: mdav did not end in {run.seconds:g} s, mdav inside blocks took its place"
            )
            choice = Choice(_IN_BLOCKS, "blocks", reason)
            found = replace(solve(choice.stage, problem, start, run), truncated=True)
        only = len(problem.points) < 2 * problem.k
        return replace(
            found,
            recipe=choice.recipe,
            reason=choice.reason,
            bound=found.sse if only else found.bound,
        )
