"""CGS22's decomposition: groups of a quick method are put together to blocks, and column generation solves
each block.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from microagg import _core, errors
from microagg.methods.exact import MOST_RECORDS_PRICED
from microagg.methods.exact.bound import record_shares
from microagg.methods.exact.column_generation import ColumnGeneration
from microagg.methods.fixed_size import Mdav
from microagg.methods.run import Run
from microagg.methods.stage import (
    Initial,
    Stage,
    Within,
    better_of,
    cheapest_labels,
    evaluate,
    refuse_bad_settings,
    solve,
)
from microagg.methods.variable_size import Vmdav
from microagg.model import Labels, Partition, Problem

WORK_IN_BLOCKS = 10**9
"""Candidates that pricing may look at, in all blocks together."""
MOST_GROUP_COLUMNS = 3_000
"""The paper's limit."""


@dataclass(frozen=True, slots=True)
class RestrictedMaster:
    """CGS22, section 4: the linear program over groups of k to 2k−1 records by column generation, then the
    integer program over the groups that were generated. Without cuts, branching or annealing; pricing looks
    at no more than `work` candidates.

    It begins with the groups of the start and never ends above it; with `keep=False`, as in the paper, it
    begins with the groups of MDAV and may end above the start.
    """

    uses_effort: ClassVar[bool] = False
    work: int = WORK_IN_BLOCKS
    keep: bool = True

    def __post_init__(self) -> None:
        refuse_bad_settings(self)

    @property
    def needs_start(self) -> bool:
        return self.keep

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        n = len(problem.points)
        first = start if self.keep else solve(Mdav(), problem, start, run)
        if n < 2 * problem.k or n > MOST_RECORDS_PRICED or first.sse == 0.0 or run.overdue:
            return replace(first, truncated=first.truncated or run.overdue)
        shares = record_shares(problem, run)
        generation = None

        def search(_: int, child: Run) -> Partition:
            nonlocal generation
            generation = ColumnGeneration(problem, first, [], shares, self.work, child, lambda _: None)
            generation.solve_restricted(MOST_GROUP_COLUMNS)
            return generation.best

        try:
            found = run.map(search, [0])[0]
        except (errors.DeadlinePassed, errors.Cancelled):
            found = first if generation is None else generation.best
        return replace(better_of(first, found), bound=start.bound, truncated=start.truncated or run.overdue)


@dataclass(frozen=True, slots=True)
class Decomposition(Initial):
    """CGS22, section 2, steps 2 to 6: the better of MDAV and V-MDAV; two-swap, if `first_swap`; blocks of
    whole groups, `s` of them at most; `inside` in each block.

    `order`: groups are put together as they were formed, as in the paper, or from the outside inwards, by
    the distance of their centroids from the mean.
    """

    inside: Stage
    s: int = 5
    first_swap: bool = True
    order: Literal["formed", "inwards"] = "formed"

    def __post_init__(self) -> None:
        refuse_bad_settings(self)

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        groups = cheapest_labels(problem, [Mdav().formed(problem, run), Vmdav().formed(problem, run)])
        if self.first_swap and not run.overdue:
            kept = _core.Numbering.KEPT
            groups, _ = run.call(lambda: _core.two_swap(problem.points, groups, run.watch, kept))
        found = evaluate(problem, _core.by_first_appearance(groups), start.bound)
        if run.overdue:
            return replace(found, truncated=True)
        blocks = self.blocks(problem, groups)
        return solve(Within(self.inside, by=lambda *_: blocks), problem, found, run)

    def blocks(self, problem: Problem, groups: Labels) -> Labels:
        """The block of each record. Groups are added to a block until it has n / s records; the last block
        may have fewer.
        """
        sizes = _core.group_sizes(groups)
        order = np.arange(len(sizes))
        if self.order == "inwards":
            centroids = _core.group_means(problem.points, groups)
            offsets = ((centroids - problem.points.mean(axis=0)) ** 2).sum(axis=1)
            # Equal offsets: the group with the lowest row first.
            _, first_rows = np.unique(groups, return_index=True)
            order = np.lexsort((first_rows, -offsets))
        enough = max(round(len(problem.points) / self.s), 1)
        block_of = np.empty(len(sizes), dtype=np.int32)
        block, records = 0, 0
        for group in order:
            block_of[group] = block
            records += int(sizes[group])
            if records >= enough:
                block, records = block + 1, 0
        return np.ascontiguousarray(block_of[groups])
