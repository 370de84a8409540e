"""Methods that prove how good their result is, and that optimise parts of the data to the end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from microagg import _core, errors, wording
from microagg.methods.anneal import Anneal
from microagg.methods.blocks import blocks_of_groups
from microagg.methods.exact.bound import record_shares
from microagg.methods.exact.column_generation import ColumnGeneration, Proof
from microagg.methods.exact.group_columns import NO_CUTS, Prices
from microagg.methods.exact.pricing import Node, repair
from microagg.methods.run import Run
from microagg.methods.sorting import proven_optimal
from microagg.methods.stage import (
    Initial,
    Refinement,
    Within,
    better_of,
    evaluate,
    refuse_bad_settings,
    solve,
)
from microagg.model import Effort, Labels, Partition, Problem

MOST_RECORDS_EXHAUSTIVE = 16


@dataclass(frozen=True, slots=True)
class Exhaustive(Initial):
    """The optimum of a tiny problem by looking at every partition. O(3ⁿ), at most 16 records."""

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        n = len(problem.points)
        if n > MOST_RECORDS_EXHAUSTIVE:
            raise wording.too_many_records("exhaustive", n, MOST_RECORDS_EXHAUSTIVE, "auto")
        labels = run.call(lambda: _core.exhaustive(problem.points, problem.k, run.watch))
        return proven_optimal(problem, evaluate(problem, labels), start.bound)


MOST_RECORDS_PRICED = 6_000
"""With more records, column generation would need over 300 MB for the distances."""
NODES_BY_EFFORT: dict[Effort, int] = {"fast": 1, "balanced": 200, "best": 10_000}
"""Most nodes of the tree."""
WORK_BY_EFFORT: dict[Effort, int] = {"fast": 10**9, "balanced": 10**10, "best": 10**12}
"""Candidates that pricing may look at: about ten seconds, two minutes, hours."""
WORK_IN_NEIGHBOURHOOD = 2 * 10**8
OTHER_STARTS, STEPS_OF_OTHERS = 3, 1_000
"""Short anneals whose groups are further columns to begin with, and their steps a record."""


def prove(problem: Problem, start: Partition, target: float, nodes: int, work: int, run: Run) -> Proof:
    """The best partition that column generation finds from `start`, and the proof of a bound for it: until
    the gap is at most `target` (a share), the tree has `nodes` nodes, `work` is done, or the run is
    overdue.

    More than 6,000 records: the bound of `record_shares` alone.
    """
    n, k = len(problem.points), problem.k
    shares = record_shares(problem, run)

    def by_shares(found: Partition) -> Proof:
        root = Node(repair(problem, Prices(shares, np.empty(0)), NO_CUTS, np.zeros(n)))
        bound = found.sse if n < 2 * k else max(found.bound, min(root.duals.value, found.sse))
        return Proof(replace(found, bound=bound), NO_CUTS, (), (root,), 0, 1)

    if n < 2 * k or n > MOST_RECORDS_PRICED or start.sse == 0.0 or run.overdue:
        return by_shares(start)

    def search(_: int, child: Run) -> Proof:
        others = [
            solve(Anneal(STEPS_OF_OTHERS * n), problem, start, child.with_seed(place))
            for place in range(OTHER_STARTS)
        ]
        best = min([start, *others], key=lambda partition: partition.sse)
        if best.sse == 0.0 or run.overdue:
            return by_shares(best)
        labels = [other.labels for other in others]
        generation = None
        try:
            generation = ColumnGeneration(problem, best, labels, shares, work, child, report)
            generation.solve(target, nodes)
        except (errors.DeadlinePassed, errors.Cancelled):
            pass  # what was found and proven until then stands
        return by_shares(best) if generation is None else generation.proof()

    def report(generation: ColumnGeneration) -> None:
        if run.outermost:
            run.note(generation.best.sse)
            run.bound = generation.bound
            run.detail = (
                f"{len(generation.master.columns):,} columns, {len(generation.cuts):,} cuts, "
                f"{generation.nodes:,} nodes"
            )

    return run.map(search, [0])[0]


@dataclass(frozen=True, slots=True)
class Exact(Refinement):
    """Column generation with cuts and branching (after CGS22, section 4): the optimum with proof, or the
    best partition found with a bound. It ends when the gap is at most `gap` percent, when its tree has
    `nodes` or its pricing has done its `work` (by effort unless given), or at the deadline. Moderate n and
    k of at most about 5; up to 6,000 records, beyond it only bounds.
    """

    uses_effort: ClassVar[bool] = True
    gap: float = 0.0
    nodes: int | None = None
    work: int | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.gap < 100.0:
            raise wording.bad_number("gap", self.gap, "a number of percent from 0 to below 100")
        refuse_bad_settings(self)

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        nodes = NODES_BY_EFFORT[run.effort] if self.nodes is None else self.nodes
        work = WORK_BY_EFFORT[run.effort] if self.work is None else self.work
        found = prove(problem, start, self.gap / 100.0, nodes, work, run).partition
        return replace(found, truncated=start.truncated or run.overdue)


@dataclass(frozen=True, slots=True)
class Neighbourhoods(Refinement):
    """Large-neighbourhood search: the groups are cut into compact blocks of about `size` records (by k
    unless given), each block is optimised by column generation from its groups, with `work` as in `Exact`,
    then they are cut elsewhere, until `patience` rounds in a row bring nothing. Blocks go in parallel.
    """

    size: int | None = None
    patience: int = 3
    work: int = WORK_IN_NEIGHBOURHOOD

    def __post_init__(self) -> None:
        refuse_bad_settings(self)

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        best, idle, number = start, 0, 0
        size = max(4 * problem.k, RECORDS_TIMES_K // problem.k) if self.size is None else self.size
        while idle < self.patience and not run.overdue:
            seed = run.with_seed(number).seed
            found = solve(Within(Exact(0.0, 1, self.work), _Recut(size, seed)), problem, best, run)
            idle = 0 if found.sse < best.sse * (1.0 - 1e-12) else idle + 1
            best, number = better_of(best, found), number + 1
        return replace(best, truncated=start.truncated or run.overdue)


RECORDS_TIMES_K = 900
"""Blocks of 300 records for k = 3, and of fewer for larger k, where pricing takes longer."""


@dataclass(frozen=True, slots=True)
class _Recut:
    """Blocks of whole groups, elsewhere for another seed."""

    size: int
    seed: int

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Labels:
        return blocks_of_groups(problem, start.labels, self.seed, run, self.size)
