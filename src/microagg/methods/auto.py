"""The method for a user who does not want to choose one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from microagg.methods.anneal import Anneal
from microagg.methods.assignment import FEWEST_RECORDS, LARGER_GROUPS, Adaptive
from microagg.methods.blocks import BLOCK_RECORDS, BLOCKWISE_FROM_RECORDS, ONE_BLOCK_RECORDS, KdBlocks
from microagg.methods.cooling import first_level, seconds_of_mdav, steps_of_run
from microagg.methods.exact import MOST_PRICED, MOST_RECORDS, NODES, WORK, Exact, Exhaustive
from microagg.methods.fixed_size import Mdav
from microagg.methods.local_search import BLOCK_OF_DESCENT, Descent
from microagg.methods.relocate import Relocate, steps_of_relocation
from microagg.methods.run import Run
from microagg.methods.sorting import OptimalUnivariate
from microagg.methods.stage import Stage, Within, chain, solve
from microagg.model import Partition, Problem

MOST_FOR_MDAV = BLOCKWISE_FROM_RECORDS
"""Up to so many records MDAV takes seconds; beyond, it runs inside blocks."""
FEWEST_STEPS_ON_LARGE = 200
"""A record: with fewer, descent in blocks of BLOCK_OF_DESCENT records gains more than annealing."""

RECORDS_A_SECOND = {2: 420, 3: 420, 4: 60, 5: 20}
"""Column generation pays where, for this k, the seconds are enough for so many records each: by then it has
found its first partitions. Measured on one core.
"""
LARGE_K = 15
"""From this k on, groups are relocated: moves of single records hardly ever bring one to another place."""
SHARE_OF_ANNEAL = 0.3
"""Of the work, where column generation follows."""
MOST_TRIED = {
    2: (400, 400),
    3: (400, 300),
    4: (200, 150),
    5: (100, 100),
    6: (30, 30),
    7: (30, 30),
    8: (30, 30),
}
FEW_ATTRIBUTES = 4
"""Up to so many records, by k and for few or more attributes, a proof is tried at the balanced effort too:
most succeed in seconds, and what is found is kept in any case.
"""
SECONDS_OF_PROOF, WORK_A_SECOND = 2.0, 30_000_000
"""What all problems of a run share for these proofs, and how much column generation does in a second of
one core, so that its work and not the clock ends it.
"""
SECONDS_A_STEP = 1e-7
"""An annealing step takes no more on so few records."""
LEAST_SECONDS_A_RECORD = 0.001
"""A proof is not tried with less: hardly any would succeed."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A stage, the recipe that makes it, and why it was chosen."""

    stage: Stage
    recipe: str
    reason: str


def choose(problem: Problem, run: Run, of: int = 0, prove: bool = True) -> Choice:
    """What suits the number of records and attributes, k, and the run's effort and seconds; with `prove`,
    column generation where it is worth its time.

    A part of `of` records gets its share of the work that all of them would.
    """
    n, p = problem.points.shape
    if p == 1:
        return Choice(OptimalUnivariate(), "univariate", "one attribute: the optimum can be computed")
    if n < 2 * problem.k:
        return Choice(Mdav(), "mdav", f"{n:,} records are fewer than 2k: they can only form one group")
    if n <= MOST_RECORDS:
        return Choice(Exhaustive(), "exhaustive", f"{n} records: every partition can be tried")
    start: Stage = Mdav()
    first, size = "mdav", f"{n:,} records: mdav is quick enough to start from"
    if n > MOST_FOR_MDAV:
        start = _IN_BLOCKS
        first, size = "blocks", f"{n:,} records, over {MOST_FOR_MDAV:,}: mdav inside blocks to start from"
    elif n > BLOCK_RECORDS and run.seconds is not None and seconds_of_mdav(problem) > run.seconds:
        start = _IN_BLOCKS
        first, size = (
            "blocks",
            f"{n:,} records: mdav would take all the time, mdav inside blocks to start from",
        )
    large_groups = problem.k >= LARGE_K
    steps = (steps_of_relocation if large_groups else steps_of_run)(problem, run, of)
    if max(n, of) > BLOCKWISE_FROM_RECORDS and steps < FEWEST_STEPS_ON_LARGE * n:
        return Choice(
            chain(start, Descent(BLOCK_OF_DESCENT)),
            f"{first}+descent:size={BLOCK_OF_DESCENT}",
            f"{size}; too little time to anneal",
        )
    if steps < n:
        return Choice(chain(start, Descent()), f"{first}+descent", f"{size}; too little time to anneal")
    budget = f"{run.effort} effort" if run.seconds is None else f"{run.effort} effort in {run.seconds:g} s"
    before_proof = int(SHARE_OF_ANNEAL * steps) if run.effort == "best" else steps
    work = _work_of_proof(problem, run, of, before_proof) if prove else 0
    if work:
        steps = before_proof
    search: tuple[Stage, ...] = (Anneal(steps),)
    name, what = f"anneal:steps={steps}", "steps of annealing a record"
    if large_groups:
        search = (Relocate(steps),)
        name, what = f"relocate:steps={steps}", "steps of annealing and of relocating groups a record"
    elif n >= FEWEST_RECORDS and problem.k in LARGER_GROUPS:
        search = (Adaptive(steps),)
        name, what = f"adaptive:steps={steps}", "steps of annealing a record (or assignment rounds)"
    elif ONE_BLOCK_RECORDS < n <= BLOCKWISE_FROM_RECORDS:
        warm = first_level(n, steps)
        search = (Descent(), Anneal(steps, warm))  # smaller data descend anyway
        name = f"descent+{name}" + (f":first={warm}" if warm else "")
    if work:
        nodes = NODES["balanced"]
        return Choice(
            chain(start, *search, Exact(0.0, nodes, work)),
            f"{first}+{name}+exact:nodes={nodes}:work={work}",
            f"{size}; {steps / n:,.0f} {what}, then column generation, which may prove the optimum, for "
            f"{budget}",
        )
    return Choice(chain(start, *search), f"{first}+{name}", f"{size}; {steps / n:,.0f} {what} for {budget}")


def _work_of_proof(problem: Problem, run: Run, of: int, steps: int) -> int:
    """How much column generation may do after the steps of annealing; 0 where it would not get far. The
    problems of a run share it by their records, but at the best effort each has enough for itself. Where
    seconds are given, it gets most of what annealing leaves.
    """
    if _can_price(problem, run):
        return WORK["balanced"]
    n, p = problem.points.shape
    if run.effort == "fast" or n > MOST_TRIED.get(problem.k, (0, 0))[p > FEW_ATTRIBUTES]:
        return 0
    seconds = SECONDS_OF_PROOF * min(run.share, n / max(n, of))
    if run.seconds is not None:
        seconds = min(seconds, 0.8 * (run.seconds - SECONDS_A_STEP * steps))
    return int(seconds * WORK_A_SECOND) if seconds >= LEAST_SECONDS_A_RECORD * n else 0


def _can_price(problem: Problem, run: Run) -> bool:
    """Whether column generation is worth its time: at the best effort, for small k and moderate n."""
    rate = RECORDS_A_SECOND.get(problem.k)
    if run.effort != "best" or rate is None or len(problem.points) > MOST_PRICED:
        return False
    return run.seconds is None or len(problem.points) <= rate * run.seconds


_IN_BLOCKS = Within(Mdav(), by=KdBlocks())


@dataclass(frozen=True, slots=True)
class Auto:
    """Chooses a method from the number of records and attributes, k, effort and seconds, and says which
    and why in `recipe` and `reason`; that recipe with the same seed gives the same groups. Up to 200,000
    records never worse than descent from the same start in the same time and, without a limit of time,
    never worse than MDAV.
    """

    needs_start: ClassVar[bool] = False
    uses_effort: ClassVar[bool] = True
    of: int = 0
    """The problem is a part of so many records, which share the work of one run; 0: it is all of them."""
    prove: bool = True
    """Column generation, which can prove the optimum, where it is worth its time."""

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        """Choose, then run what was chosen."""
        choice = choose(problem, run, self.of, self.prove)
        found = solve(choice.stage, problem, start, run)
        only = len(problem.points) < 2 * problem.k
        return replace(
            found,
            recipe=choice.recipe,
            reason=choice.reason,
            bound=found.sse if only else found.bound,
        )
