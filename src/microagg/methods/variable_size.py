"""Methods that choose the size of their groups: V-MDAV, the spanning tree, k-Ward, the genetic methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from microagg import _core, errors
from microagg.methods import memory
from microagg.methods.run import Run
from microagg.methods.sorting import Axis, ByComponent
from microagg.methods.stage import evaluated
from microagg.model import Partition, Problem


@dataclass(frozen=True, slots=True)
class Vmdav:
    """V-MDAV (named in CGS22, section 2): a group around the record farthest from the centroid of all
    takes further records while they are near enough. O(n²p) for each γ.

    A group of k is extended, up to 2k−1, by the record nearest to any of its members while that squared
    distance is below γ times the record's squared distance to its own nearest neighbour outside.
    `gamma=None` tries 0, 0.1, … 2.0 and keeps the best.
    """

    needs_start: ClassVar[bool] = False
    gamma: float | None = None

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        """Partition from scratch; the start is not looked at."""
        gammas = [step / 10 for step in range(21)] if self.gamma is None else [self.gamma]

        def solve_one(gamma: float, child: Run) -> Partition:
            labels = child.call(
                lambda: _core.v_mdav(problem.points, problem.k, gamma, child.watch),
                needs=memory.of_search(problem.points),
            )
            return evaluated(problem, labels, start.bound)

        return min(run.map(solve_one, gammas), key=lambda found: found.sse)


@dataclass(frozen=True, slots=True)
class MstCut:
    """The minimum spanning tree cut at its longest edges while both parts keep k records
    (Laszlo and Mukherjee; TFRP07, section 2.3). Groups may be large: re-split them by `Within`. O(n²p).
    """

    needs_start: ClassVar[bool] = False

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        """Partition from scratch; the start is not looked at."""
        labels = run.call(lambda: _core.mst_cut(problem.points, problem.k, run.watch))
        return evaluated(problem, labels, start.bound)


@dataclass(frozen=True, slots=True)
class KWard:
    """k-Ward (CMP98, Algorithm 1): from two extreme groups of k, Ward's joins of the cheapest pair, never
    of two groups that both have k, until all have; groups of 2k or more are split in the same way. O(n²p).

    `axis` orders the records and the extremes are its first and last k; `None` takes the two most distant
    records with their groups grown towards the centroid (the second of them first, with `swap`).
    `projected` joins by distance on the axis alone (the univariate method).
    """

    needs_start: ClassVar[bool] = False
    axis: Axis | None = None
    projected: bool = False
    swap: bool = False

    def __post_init__(self) -> None:
        if self.axis is None and self.projected:
            raise errors.bad_number("axis", self.axis, "given where projected is set")

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        """Partition from scratch; the start is not looked at."""
        if self.axis is None:
            extremes = _core.Extremes.DISTANCE_SWAP if self.swap else _core.Extremes.DISTANCE
            axes = [np.zeros(0)]
        else:
            extremes = _core.Extremes.VALUES
            axes = self.axis.values(problem.points)
        found = []
        for values in axes:
            points = values.reshape(-1, 1) if self.projected else problem.points
            labels = run.call(
                lambda points=points, values=values: _core.k_ward(  # type: ignore[misc]
                    points, values, extremes, problem.k, run.watch
                )
            )
            found.append(evaluated(problem, labels, start.bound))
        return min(found, key=lambda partition: partition.sse)


@dataclass(frozen=True, slots=True)
class Genetic:
    """A genetic search over the cuts of the first component's order, a partition being a string of bits
    (CMP98, section 2.2).
    """

    needs_start: ClassVar[bool] = False
    generations: int = 1_000

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        """Partition from scratch; the start is not looked at."""
        values = ByComponent().values(problem.points)[0]
        order = np.argsort(values, kind="stable").astype(np.int32)
        labels = run.call(
            lambda: _core.genetic(problem.points, order, problem.k, self.generations, run.seed, run.watch)
        )
        return evaluated(problem, labels, start.bound)


@dataclass(frozen=True, slots=True)
class GeneticGroups:
    """A genetic search over group labels: children inherit whole groups and are repaired. Ours, where CMP98
    (section 3.2) names the difficulty.
    """

    needs_start: ClassVar[bool] = False
    generations: int = 2_000

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        """Partition from scratch; the start is not looked at."""
        labels = run.call(
            lambda: _core.genetic_groups(problem.points, problem.k, self.generations, run.seed, run.watch)
        )
        return evaluated(problem, labels, start.bound)
