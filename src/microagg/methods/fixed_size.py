"""Fixed-size methods: groups of k peeled off the outside of the data (`peel.hpp`).

They share one loop and differ in three rules: around which record a group is formed (pivot), which
records join it (growth), and when the loop stops. Distances are squared Euclidean; ties go to the lowest
row. What the stop rule leaves: k to 2k−1 records form a last group, fewer go each to the group with
the nearest centroid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from microagg import _core, errors
from microagg.methods import memory
from microagg.methods.run import Run
from microagg.methods.stage import evaluated
from microagg.model import Partition, Problem


class _Peel:
    """The loop; subclasses name their rules."""

    __slots__ = ()
    needs_start: ClassVar[bool] = False
    pivot: ClassVar[_core.Pivot]
    growth: ClassVar[_core.Growth] = _core.Growth.SEED
    rounds_while: ClassVar[int]
    """Rounds go on while this many times k records remain."""

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        """Partition from scratch; the start is not looked at."""
        labels = run.call(
            lambda: _core.peel(
                problem.points, problem.k, self.pivot, self.growth, self._rounds_while(), run.watch
            ),
            needs=memory.of_search(problem.points),
        )
        return evaluated(problem, labels, start.bound)

    def _rounds_while(self) -> int:
        return self.rounds_while


@dataclass(frozen=True, slots=True)
class Mdav(_Peel):
    """MDAV, maximum distance to average vector (VLDBJ06, section 4.2.3). O(n²p/k).

    Each round: the centroid of what remains; the record r farthest from it; r's group, r with its k−1
    nearest; the record s farthest from r outside that group; s's group likewise.

    `stop="3k"`: rounds while 3k records remain, then one more group if 2k remain, the rest is the last.
    `stop="2k"`: rounds while 2k remain. The paper's text has the 2k rule, its figures the 3k rule,
    which other tools use too.
    """

    pivot: ClassVar[_core.Pivot] = _core.Pivot.CENTROID_OPPOSITE
    stop: Literal["3k", "2k"] = "3k"

    def __post_init__(self) -> None:
        if self.stop not in ("3k", "2k"):
            raise errors.no_such_choice("stop", self.stop, ["3k", "2k"])

    def _rounds_while(self) -> int:
        return int(self.stop[0])


@dataclass(frozen=True, slots=True)
class MaximumDistance(_Peel):
    """MD (VLDBJ06, section 4.2.2): groups around the two most distant remaining records.

    The search for that pair remembers upper bounds: each record asks for its farthest partner a few times,
    so that the paper's O(n³/k) is a worst case that no data we know come near.
    """

    pivot: ClassVar[_core.Pivot] = _core.Pivot.PAIR
    rounds_while: ClassVar[int] = 2


@dataclass(frozen=True, slots=True)
class Cbfs(_Peel):
    """CBFS (VLDBJ06, section 4.2.3): one group a round, around the record farthest from the centroid."""

    pivot: ClassVar[_core.Pivot] = _core.Pivot.CENTROID
    rounds_while: ClassVar[int] = 1


@dataclass(frozen=True, slots=True)
class Tfrp(_Peel):
    """Phase I of TFRP (TFRP07, section 3.1): groups around the record farthest from one of two fixed
    reference points in turns, all coordinates of which are the data's smallest, respectively largest,
    value. O(n²p/k).
    """

    pivot: ClassVar[_core.Pivot] = _core.Pivot.REFERENCES
    rounds_while: ClassVar[int] = 1


@dataclass(frozen=True, slots=True)
class Diameter(_Peel):
    """Diameter (TFRP07, section 2.2; MFS_MD of CMP98): MD whose groups grow towards their centroid."""

    pivot: ClassVar[_core.Pivot] = _core.Pivot.PAIR
    growth: ClassVar[_core.Growth] = _core.Growth.CENTROID
    rounds_while: ClassVar[int] = 2


@dataclass(frozen=True, slots=True)
class Centroid(_Peel):
    """Centroid (TFRP07, section 2.2): CBFS whose groups grow towards their centroid."""

    pivot: ClassVar[_core.Pivot] = _core.Pivot.CENTROID
    growth: ClassVar[_core.Growth] = _core.Growth.CENTROID
    rounds_while: ClassVar[int] = 1
