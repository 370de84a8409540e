"""Methods for data with one attribute, where sorting solves half of the problem."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from microagg import _core, errors
from microagg.methods.run import Run
from microagg.methods.stage import evaluated
from microagg.model import Labels, Partition, Problem

PROOF_SLACK = 1e-12
"""An optimum found in floating point is proven up to this relative error: the bound lies below by it."""


def proven_optimal(problem: Problem, labels: Labels, bound: float) -> Partition:
    """An optimal partition with its proof."""
    found = evaluated(problem, labels)
    return replace(found, bound=max(bound, found.sse * (1.0 - PROOF_SLACK)))


@dataclass(frozen=True, slots=True)
class OptimalUnivariate:
    """The optimum for one attribute: Hansen and Mukherjee's shortest path over the sorted values
    (VLDBJ06, section 2). O(n) sorting and O(n) search in practice, O(nk) at worst.
    """

    needs_start: ClassVar[bool] = False

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        """Solve; the result carries its own proof."""
        n, p = problem.points.shape
        if p != 1:
            raise errors.univariate_only("univariate", p)
        values = problem.points.reshape(n)
        labels = run.call(lambda: _core.optimal_univariate(values, problem.k, run.watch))
        return proven_optimal(problem, labels, start.bound)
