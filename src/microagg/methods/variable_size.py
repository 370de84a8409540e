"""Methods that choose the size of their groups: V-MDAV, the spanning tree, k-Ward, the genetic methods."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from microagg import _core, wording
from microagg.methods import memory_needs
from microagg.methods.run import Run
from microagg.methods.sorting import Axis, ByComponent, Values, best_along
from microagg.methods.stage import Initial, cheapest_labels, evaluate
from microagg.model import Labels, Partition, Problem


@dataclass(frozen=True, slots=True)
class Vmdav(Initial):
    """V-MDAV (named in CGS22, section 2): a group around the record farthest from the centroid of all
    takes further records while they are near enough. O(n²p) for each γ.

    A group of k is extended, up to 2k−1, by the record nearest to any of its members while that squared
    distance is below γ times the record's squared distance to its own nearest neighbour outside.
    `gamma=None` tries 0, 0.1, … 2.0 and keeps the best.
    """

    gamma: float | None = None

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        return evaluate(problem, _core.by_first_appearance(self.formed(problem, run)), start.bound)

    def formed(self, problem: Problem, run: Run) -> Labels:
        """The groups, numbered in the order in which they are formed."""
        gammas = [step / 10 for step in range(21)] if self.gamma is None else [self.gamma]

        def solve_one(gamma: float, child: Run) -> Labels:
            return child.call(
                lambda: _core.v_mdav(
                    problem.points, problem.k, gamma, child.watch, numbering=_core.Numbering.KEPT
                ),
                needs=memory_needs.of_search(problem.points, 2 * len(problem.points), problem.k),
            )

        return cheapest_labels(problem, run.map(solve_one, gammas))


@dataclass(frozen=True, slots=True)
class MstCut(Initial):
    """The minimum spanning tree cut at its longest edges while both parts keep k records
    (Laszlo and Mukherjee; TFRP07, section 2.3). Groups may be large: re-split them by `Within`. O(n²p).
    """

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        labels = run.call(lambda: _core.mst_cut(problem.points, problem.k, run.watch))
        return evaluate(problem, labels, start.bound)


@dataclass(frozen=True, slots=True)
class KWard(Initial):
    """k-Ward (CMP98, Algorithm 1): from two extreme groups of k, Ward's joins of the cheapest pair, never
    of two groups that both have k, until all have; groups of 2k or more are split in the same way. O(n²p).

    `axis` orders the records and the extremes are its first and last k; `None` takes the two most distant
    records with their groups grown towards the centroid, the second of them first with `swap`. With
    `drawn`, that is chosen anew at every split: by the run's seed each record draws one bit, and the
    second comes first where the bits of the two differ. `projected` joins by distance on the axis alone
    (the univariate method).
    """

    axis: Axis | None = None
    projected: bool = False
    swap: bool = False
    drawn: bool = False

    def __post_init__(self) -> None:
        if self.axis is None and self.projected:
            raise wording.bad_number("axis", self.axis, "given where projected is set")
        if self.drawn and self.swap:
            raise wording.no_effect("swap", "KWard", "drawn chooses at every split.")

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        bits = np.zeros(0, dtype=np.int32)
        if self.axis is None:
            extremes = _core.Extremes.DISTANCE_SWAP if self.swap else _core.Extremes.DISTANCE
            if self.drawn:
                extremes = _core.Extremes.DISTANCE_DRAWN
                bits = np.random.default_rng(run.seed).integers(0, 2, len(problem.points), dtype=np.int32)
            axes = [np.zeros(0)]
        else:
            extremes = _core.Extremes.VALUES
            axes = self.axis.values(problem.points)

        def join(values: Values) -> Labels:
            points = values.reshape(-1, 1) if self.projected else problem.points
            return run.call(lambda: _core.k_ward(points, values, extremes, bits, problem.k, run.watch))

        return best_along(axes, join, problem, start)


@dataclass(frozen=True, slots=True)
class Genetic(Initial):
    """A genetic search over the cuts of an order, a partition being a string of bits (CMP98, section 2.2).

    `axis` orders the records; where it offers several orders, the best result is kept. Individual sorting,
    the paper's other way, is this method on each attribute by itself: `partition_each`.
    """

    generations: int = 1_000
    axis: Axis = field(default_factory=ByComponent)

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        def search(values: Values) -> Labels:
            order = np.argsort(values, kind="stable").astype(np.int32)
            return run.call(
                lambda: _core.genetic(
                    problem.points, order, problem.k, self.generations, run.seed, run.watch
                )
            )

        return best_along(self.axis.values(problem.points), search, problem, start)


@dataclass(frozen=True, slots=True)
class GeneticGroups(Initial):
    """A genetic search over group labels: children inherit whole groups and are repaired. Ours, where CMP98
    (section 3.2) names the difficulty.
    """

    generations: int = 2_000

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        labels = run.call(
            lambda: _core.genetic_groups(problem.points, problem.k, self.generations, run.seed, run.watch)
        )
        return evaluate(problem, labels, start.bound)
