"""Methods that prove their result optimal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from microagg import _core, errors
from microagg.methods.run import Run
from microagg.methods.sorting import proven_optimal
from microagg.model import Partition, Problem

MOST_RECORDS = 16


@dataclass(frozen=True, slots=True)
class Exhaustive:
    """The optimum of a tiny problem by looking at every partition. O(3ⁿ), at most 16 records."""

    needs_start: ClassVar[bool] = False

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        """Solve; the result carries its own proof."""
        n = len(problem.points)
        if n > MOST_RECORDS:
            raise errors.too_many_records("exhaustive", n, MOST_RECORDS, "auto")
        labels = run.call(lambda: _core.exhaustive(problem.points, problem.k, run.watch))
        return proven_optimal(problem, labels, start.bound)
