"""Paths through the records, and the best partition along a path (VLDBJ06, section 4)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from microagg import _core, errors, wording
from microagg.methods import memory_needs
from microagg.methods.run import Run
from microagg.methods.stage import Order, Stage, evaluate, refined, refuse_bad_settings
from microagg.model import Partition, Problem, Rows


@dataclass(frozen=True, slots=True)
class NearestNext:
    """NPN, nearest point next: from the record farthest from the centroid, always on to the nearest
    record not yet visited (VLDBJ06, section 4.2.1). O(n²p).

    `first="pair"`: from the first of the two most distant records.
    """

    needs_start: ClassVar[bool] = False
    uses_effort: ClassVar[bool] = False
    first: Literal["centroid", "pair"] = "centroid"

    def __post_init__(self) -> None:
        refuse_bad_settings(self)

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Rows:
        deadline = _core.Deadline.IGNORE

        def walk() -> Rows:
            first = _first_record(problem, self.first, deadline, run)
            return _core.nearest_next(problem.points, first, deadline, run.watch)

        return run.call(walk, needs=memory_needs.of_search(problem.points, len(problem.points), 1))


def _first_record(problem: Problem, first: str, deadline: _core.Deadline, run: Run) -> int:
    if first == "centroid":
        return _core.farthest_from_centroid(problem.points)
    return _core.farthest_pair(problem.points, deadline, run.watch)[first == "second of pair"]


@dataclass(frozen=True, slots=True)
class GroupTour:
    """A path that visits the groups of a partition one by one (VLDBJ06, sections 4.2.2 and 4.2.3).

    Groups follow each other by nearest centroid. A group begins at its record nearest to the centroid
    before it; the others follow by their distance to that record.

    `first`: the path begins at the record farthest from the centroid (MDAV, CBFS), or at the first
    or the second of the two most distant records (MD). `groups` and `k` make a partition of their own to
    walk, for a path whose k differs from that of the cut; by default the groups of the start are walked.
    """

    uses_effort: ClassVar[bool] = False
    first: Literal["centroid", "pair", "second of pair"] = "centroid"
    groups: Stage | None = None
    k: int | None = None

    def __post_init__(self) -> None:
        refuse_bad_settings(self)

    @property
    def needs_start(self) -> bool:
        """True unless it makes its own groups."""
        return self.groups is None

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Rows:
        deadline = _core.Deadline.HEED if self.needs_start else _core.Deadline.IGNORE
        if self.groups is not None:
            k = problem.k if self.k is None else self.k
            if not 1 <= k <= len(problem.points):
                n = len(problem.points)
                needed = f"a whole number from 1 to {n} (the data have {n} records)"
                raise wording.bad_number("path_k", k, needed)
            start = self.groups(Problem(problem.points, k), start, run)
        labels = start.labels

        def walk() -> Rows:
            first = _first_record(problem, self.first, deadline, run)
            return _core.group_tour(problem.points, labels, first, deadline, run.watch)

        return run.call(walk)


@dataclass(frozen=True, slots=True)
class PathCut:
    """MHM: the best partition into groups of k to 2k−1 neighbours on a path (VLDBJ06, section 4.1).

    `cyclic` closes the path to a tour, so that its ends may share a group (Tour2Assignment of ICSM15,
    section 4.2). Never returns worse than its start. O(nkp) beside the path, cyclic O(nkp + nk²).
    """

    uses_effort: ClassVar[bool] = False
    order: Order = field(default_factory=GroupTour)
    cyclic: bool = False

    @property
    def needs_start(self) -> bool:
        """As its path."""
        return self.order.needs_start

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        deadline = _core.Deadline.HEED if self.needs_start else _core.Deadline.IGNORE
        try:
            order = self.order(problem, start, run)
            labels = run.call(
                lambda: _core.path_cut(problem.points, order, problem.k, self.cyclic, deadline, run.watch)
            )
        except errors.DeadlinePassed:
            return replace(start, truncated=True)
        if self.needs_start:
            return refined(problem, start, labels)
        return evaluate(problem, labels, start.bound, truncated=start.truncated)
