"""The method for a user who does not want to choose one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from microagg.methods.anneal import Anneal, first_level, seconds_of_mdav, steps_of_run
from microagg.methods.assignment import BLOCK_OF_DESCENT, FEWEST_RECORDS, LARGER_GROUPS, Adaptive
from microagg.methods.blocks import BLOCK_RECORDS, LARGE, WHOLE, KdBlocks
from microagg.methods.exact import MOST_PRICED, MOST_RECORDS, NODES, WORK, Exact, Exhaustive
from microagg.methods.fixed_size import Mdav
from microagg.methods.local_search import Descent
from microagg.methods.run import Run
from microagg.methods.sorting import OptimalUnivariate
from microagg.methods.stage import Stage, Within, chain, solve
from microagg.model import Partition, Problem

MOST_FOR_MDAV = LARGE
"""Up to so many records MDAV takes seconds; beyond, it runs inside blocks."""
FEWEST_STEPS_ON_LARGE = 200
"""A record: with fewer, descent in blocks of BLOCK_OF_DESCENT records gains more than annealing."""

RECORDS_A_SECOND = {2: 420, 3: 420, 4: 60, 5: 20}
"""Column generation pays where, for this k, the seconds are enough for so many records each: by then it has
found its first partitions. Measured on one core.
"""
SHARE_OF_ANNEAL = 0.3
"""Of the work, where column generation follows."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A stage, the recipe that makes it, and why it was chosen."""

    stage: Stage
    recipe: str
    reason: str


def choose(problem: Problem, run: Run, of: int = 0) -> Choice:
    """What suits the number of records and attributes, k, and the run's effort and seconds.

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
    steps = steps_of_run(problem, run, of)
    if max(n, of) > LARGE and steps < FEWEST_STEPS_ON_LARGE * n:
        return Choice(
            chain(start, Descent(BLOCK_OF_DESCENT)),
            f"{first}+descent:size={BLOCK_OF_DESCENT}",
            f"{size}; too little time to anneal",
        )
    if steps < n:
        return Choice(chain(start, Descent()), f"{first}+descent", f"{size}; too little time to anneal")
    budget = f"{run.effort} effort" if run.seconds is None else f"{run.effort} effort in {run.seconds:g} s"
    can_price = _can_price(problem, run)
    if can_price:
        steps = int(SHARE_OF_ANNEAL * steps)
    search: tuple[Stage, ...] = (Anneal(steps),)
    name, what = f"anneal:steps={steps}", "steps of annealing a record"
    if n >= FEWEST_RECORDS and problem.k in LARGER_GROUPS:
        search = (Adaptive(steps),)
        name, what = f"adaptive:steps={steps}", "steps of annealing a record (or assignment rounds)"
    elif WHOLE < n <= LARGE:
        warm = first_level(n, steps)
        search = (Descent(), Anneal(steps, warm))  # smaller data descend anyway
        name = f"descent+{name}" + (f":first={warm}" if warm else "")
    if can_price:
        nodes, work = NODES["balanced"], WORK["balanced"]
        return Choice(
            chain(start, *search, Exact(0.0, nodes, work)),
            f"{first}+{name}+exact:nodes={nodes}:work={work}",
            f"{size}; {steps / n:,.0f} {what}, then column generation, for {budget}",
        )
    return Choice(chain(start, *search), f"{first}+{name}", f"{size}; {steps / n:,.0f} {what} for {budget}")


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

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        """Choose, then run what was chosen."""
        choice = choose(problem, run, self.of)
        found = solve(choice.stage, problem, start, run)
        only = len(problem.points) < 2 * problem.k
        return replace(
            found,
            recipe=choice.recipe,
            reason=choice.reason,
            bound=found.sse if only else found.bound,
        )
