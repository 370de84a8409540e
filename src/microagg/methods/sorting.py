"""Methods that sort the records along one axis (CMP98, section 2; VLDBJ06, section 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from microagg import _core, wording
from microagg.methods.run import Run
from microagg.methods.stage import Initial, evaluate
from microagg.model import Labels, Partition, Points, Problem

Values = NDArray[np.float64]


def proven_optimal(problem: Problem, found: Partition, bound: float) -> Partition:
    """An optimal partition with its proof, and the bound that was known before.

    An optimum found in floating point is proven up to rounding: costs are sums of at most n/k terms, each
    of at most 2k, none negative, so that their relative error is below 4·(n/k + 2k) units in the last
    place. The bound lies below the SSE by that, at least by 1e-12 of it.
    """
    terms = len(found.labels) / problem.k + 2 * problem.k
    slack = max(1e-12, 4.0 * terms * np.finfo(np.float64).eps)
    return replace(found, bound=max(bound, found.sse * (1.0 - slack)))


@dataclass(frozen=True, slots=True)
class OptimalUnivariate(Initial):
    """The optimum for one attribute: Hansen and Mukherjee's shortest path over the sorted values
    (VLDBJ06, section 2). O(n) sorting and O(n) search in practice, O(nk) at worst.
    """

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        n, p = problem.points.shape
        if p != 1:
            raise wording.univariate_only("univariate", p)
        values = problem.points.reshape(n)
        labels, sse = run.call(lambda: _core.optimal_univariate(values, problem.k, run.watch))
        return proven_optimal(problem, Partition(labels, sse), start.bound)


class Axis(Protocol):
    """What records are sorted by."""

    def values(self, points: Points) -> list[Values]:
        """One value per record; several arrays when several axes are to be tried."""
        ...


@dataclass(frozen=True, slots=True)
class ByColumn:
    """A particular attribute (PV), counted from 1; `None`: each of them."""

    column: int | None = None

    def values(self, points: Points) -> list[Values]:
        p = points.shape[1]
        if self.column is None:
            return [np.ascontiguousarray(points[:, at]) for at in range(p)]
        if not 1 <= self.column <= p:
            needed = f"a whole number from 1 to {p}, the number of columns"
            raise wording.bad_number("column", self.column, needed)
        return [np.ascontiguousarray(points[:, self.column - 1])]


@dataclass(frozen=True, slots=True)
class ByZScores:
    """The sum of the attributes' z-scores (SZ)."""

    def values(self, points: Points) -> list[Values]:
        """The sum, attributes added left to right."""
        scores = _core.standardise(points, _core.Scale.ZSCORE)[0]
        total = np.zeros(len(points))
        for column in scores.T:
            total += column
        return [total]


@dataclass(frozen=True, slots=True)
class ByComponent:
    """The first principal component of the z-scored attributes (FPC).

    Its sign is fixed: the weight of largest size (the first of several) is positive.
    """

    def values(self, points: Points) -> list[Values]:
        scores = _core.standardise(points, _core.Scale.ZSCORE)[0]
        weights = np.linalg.eigh(scores.T @ scores)[1][:, -1]
        # Rounded, so that attributes of the same weight are the same on every machine.
        weights = weights * np.sign(weights[np.argmax(np.round(np.abs(weights), 9))])
        return [np.ascontiguousarray(scores @ weights)]


def best_along(
    axes: list[Values], form: Callable[[Values], Labels], problem: Problem, start: Partition
) -> Partition:
    """The best of what is formed along each of some axes (ties: the first)."""
    found = [evaluate(problem, form(values), start.bound) for values in axes]
    return min(found, key=lambda partition: partition.sse)


@dataclass(frozen=True, slots=True)
class FixedRuns(Initial):
    """Univariate fixed-size microaggregation (UFS; CMP98, section 2.1): groups of k successive records
    along an axis, the last group with the rest. If the axis offers several, the best is kept. O(n log n).
    """

    axis: Axis
    descending: bool = False

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        return best_along(
            self.axis.values(problem.points),
            lambda values: _core.fixed_runs(values, problem.k, self.descending),
            problem,
            start,
        )
