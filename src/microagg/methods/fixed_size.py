"""Fixed-size methods: groups of k peeled off the outside of the data (`peel.hpp`).

They share one loop and differ in three rules: around which record a group is formed (pivot), which
records join it (growth), and when the loop stops. Distances are squared Euclidean; ties go to the lowest
row. What the stop rule leaves: k to 2k−1 records form a last group, fewer go each to the group with
the nearest centroid.

Settings named `leftovers`, `first`, `shared` and `divisor` are other readings of VLDBJ06, which its printed
figures speak for; the defaults follow its text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from microagg import _core, wording
from microagg.methods import memory_needs
from microagg.methods.run import Run
from microagg.methods.stage import Initial, evaluate, refuse_bad_settings
from microagg.model import Labels, Partition, Problem


class _Peel(Initial):
    """The loop; subclasses name their rules."""

    __slots__ = ()
    pivot: ClassVar[_core.Pivot]
    growth: ClassVar[_core.Growth] = _core.Growth.SEED
    rounds_while: ClassVar[int]
    """Rounds go on while this many times k records remain."""

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        return evaluate(problem, _core.by_first_appearance(self.formed(problem, run)), start.bound)

    def formed(self, problem: Problem, run: Run) -> Labels:
        """The groups, numbered in the order in which they are formed."""
        queries = _core.peel_queries(len(problem.points), problem.k, self.pivot, self.growth)
        return run.call(
            lambda: _core.peel(
                problem.points,
                problem.k,
                self.pivot,
                self.growth,
                self._rounds_while(),
                run.watch,
                numbering=_core.Numbering.KEPT,
                **self._reading(),
            ),
            needs=memory_needs.of_search(problem.points, queries, problem.k),
        )

    def _rounds_while(self) -> int:
        return self.rounds_while

    def _reading(self) -> dict[str, Any]:
        """Arguments of the kernel that differ from its own defaults."""
        return {}


@dataclass(frozen=True, slots=True)
class Mdav(_Peel):
    """MDAV, maximum distance to average vector (VLDBJ06, section 4.2.3). O(n²p/k).

    Each round: the centroid of what remains; the record r farthest from it; r's group, r with its k−1
    nearest; the record s farthest from r outside that group; s's group likewise.

    `stop="3k"`: rounds while 3k records remain, then one more group if 2k remain, the rest is the last.
    `stop="2k"`: rounds while 2k remain. The paper's text has the 2k rule, its figures the 3k rule,
    which other tools use too.

    `leftovers="jointly"`, with `stop="2k"`: fewer than k records left all join the group whose centroid is
    nearest to their own (step 5 of the text).

    `first="earlier"`: records stand in an array, those with a group at its front; a record that gets one
    changes places with the first that has none. Of r and s, here the record farthest from r of all, the
    earlier one in the array has its group first; the other is not taken into it. Where the 3k rule forms
    one more group, it is that of the earlier.
    """

    pivot: ClassVar[_core.Pivot] = _core.Pivot.CENTROID_OPPOSITE
    stop: Literal["3k", "2k"] = "3k"
    leftovers: Literal["each", "jointly"] = "each"
    first: Literal["farthest", "earlier"] = "farthest"

    def __post_init__(self) -> None:
        refuse_bad_settings(self)
        if self.leftovers == "jointly" and self.stop == "3k":
            raise wording.no_effect("leftovers=jointly", "mdav", "with stop=3k no records are left over.")

    def _rounds_while(self) -> int:
        return int(self.stop[0])

    def _reading(self) -> dict[str, Any]:
        leftovers = _core.Leftovers.JOINTLY if self.leftovers == "jointly" else _core.Leftovers.EACH
        return {"leftovers": leftovers, "earlier_first": self.first == "earlier"}


@dataclass(frozen=True, slots=True)
class MaximumDistance(_Peel):
    """MD (VLDBJ06, section 4.2.2): groups around the two most distant remaining records.

    The search for that pair remembers upper bounds: each record asks for its farthest partner a few times,
    so that the paper's O(n³/k) is a worst case that no data we know come near.

    `shared="in-turns"`: the two groups take their records in turns, r's first, instead of all of r's before
    those of s; it decides who gets a record that both want. `leftovers="record"`: a record left over joins
    the group of the nearest record, instead of that with the nearest centroid.
    """

    pivot: ClassVar[_core.Pivot] = _core.Pivot.PAIR
    rounds_while: ClassVar[int] = 2
    shared: Literal["first", "in-turns"] = "first"
    leftovers: Literal["centroid", "record"] = "centroid"

    def __post_init__(self) -> None:
        refuse_bad_settings(self)

    def _reading(self) -> dict[str, Any]:
        leftovers = _core.Leftovers.BY_RECORD if self.leftovers == "record" else _core.Leftovers.EACH
        return {"leftovers": leftovers, "in_turns": self.shared == "in-turns"}


@dataclass(frozen=True, slots=True)
class Cbfs(_Peel):
    """CBFS (VLDBJ06, section 4.2.3): one group a round, around the record farthest from the centroid.

    `divisor="all"`: the sum of the remaining records is divided by the number of all records, so that the
    point which r is farthest from moves towards the origin.
    """

    pivot: ClassVar[_core.Pivot] = _core.Pivot.CENTROID
    rounds_while: ClassVar[int] = 1
    divisor: Literal["remaining", "all"] = "remaining"

    def __post_init__(self) -> None:
        refuse_bad_settings(self)

    def _reading(self) -> dict[str, Any]:
        return {"divide_by_all": self.divisor == "all"}


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


@dataclass(frozen=True, slots=True)
class MdavGeneric(Initial):
    """MDAV-generic (Domingo-Ferrer and Torra 2005): MDAV with the 3k rule over attributes of any kind.

    The average record has the mean of numbers, the median of ordered levels and the most frequent
    category. Distances add squared differences of numbers and levels, and 1 for each category that differs:
    a category counts the same whether it is rare or common. O(n²p/k). Without categories it is MDAV.
    """

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        categories = problem.categories
        if categories is None:
            return Mdav()(problem, start, run)
        if len(problem.points) < 2 * problem.k:
            return start
        numbers, first = int(categories.starts[0]), categories.starts[:-1]
        levels = first[categories.ordered].tolist()
        values = np.ascontiguousarray(problem.points[:, [*range(numbers), *levels]])
        ordered = np.arange(values.shape[1]) >= numbers
        codes = np.ascontiguousarray(categories.codes[:, ~categories.ordered])
        labels = run.call(lambda: _core.mdav_generic(values, ordered, codes, problem.k, run.watch))
        return evaluate(problem, _core.by_first_appearance(labels), start.bound)
