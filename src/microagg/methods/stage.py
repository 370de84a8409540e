"""The protocol of all methods, and the four ways to combine them.

A stage takes a problem and a partition to start from, and returns a partition. Its contract, checked
for every stage and every catalogue entry by tests/contract:

1. every group has at least k records, every record one group;
2. same problem, start, seed and settings give the same labels on any number of threads, unless the
   deadline struck: then `truncated` is true;
3. inputs are not changed;
4. a refinement's SSE is never above that of its start (where there are categories, `Published` lowers
   what their groups cost when they are published, and may raise the SSE);
5. `bound` never falls along a chain and is at most SSE·(1 + 1e-12);
6. a refinement honours the deadline and cancellation and returns the best so far; initial stages heed
   cancellation only, and have nothing to return then.

Stages are frozen dataclasses holding only their own settings: they print as the expression that makes
them, compare, and pickle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any, ClassVar, Literal, Protocol, get_args, get_origin, get_type_hints, runtime_checkable

import numpy as np

from microagg import _core, errors, wording
from microagg.methods.objective import sse, sse_of_parts, sst
from microagg.methods.run import Run
from microagg.model import Labels, Partition, Problem, Rows


@runtime_checkable
class Stage(Protocol):
    """One step of a method."""

    @property
    def needs_start(self) -> bool:
        """False: an initial method, which ignores its start. True: a refinement of its start."""
        ...

    @property
    def uses_effort(self) -> bool:
        """Whether the run's effort changes what it does, apart from the stages among its settings."""
        ...

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        """Solve, or improve on `start`."""
        ...


class Initial:
    """A stage that ignores its start and does the same at every effort, unless it says otherwise."""

    __slots__ = ()
    needs_start: ClassVar[bool] = False
    uses_effort: ClassVar[bool] = False


class Refinement:
    """A stage that improves on its start and does the same at every effort, unless it says otherwise."""

    __slots__ = ()
    needs_start: ClassVar[bool] = True
    uses_effort: ClassVar[bool] = False


class Order(Protocol):
    """A path through the records."""

    @property
    def needs_start(self) -> bool:
        """True when the path follows the groups of `start`."""
        ...

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Rows:
        """All rows, each once."""
        ...


Blocks = Callable[[Problem, Partition, Run], Labels]
"""A coarse cut of the records: a block number for each."""


def evaluate(problem: Problem, labels: Labels, bound: float = 0.0, *, truncated: bool = False) -> Partition:
    return Partition(labels, sse(problem.points, labels), bound, truncated=truncated)


def cheapest_labels(problem: Problem, several: list[Labels]) -> Labels:
    """The groups with the lowest SSE (ties: the first)."""
    return min(several, key=lambda labels: sse(problem.points, labels))


def one_group(problem: Problem) -> Partition:
    """The partition everything can start from."""
    return Partition(np.zeros(len(problem.points), dtype=np.int32), sst(problem.points))


def rows_of_groups(labels: Labels) -> list[Rows]:
    """The rows of each group, in order."""
    parts = np.split(_core.rows_by_group(labels), np.cumsum(_core.group_sizes(labels))[:-1])
    return [rows for rows in parts if len(rows)]


def solve(stage: Stage, problem: Problem, start: Partition, run: Run) -> Partition:
    """Run a stage and hold it to points 1, 4 and 5 of the contract. A refinement that is cancelled where it
    has nothing of its own yet leaves its start.
    """
    run.stage = type(stage).__name__
    try:
        found = stage(problem, start, run)
    except errors.Cancelled:
        if not stage.needs_start:
            raise
        found = replace(start, truncated=True)
    sizes = _core.group_sizes(found.labels)
    if len(found.labels) != len(problem.points) or sizes.min() < min(problem.k, len(found.labels)):
        raise wording.contract_broken(repr(stage), "a group is smaller than k")
    if found.bound < start.bound:
        raise wording.contract_broken(repr(stage), "the proven bound fell")
    if found.bound > found.sse * (1 + 1e-12):
        raise wording.contract_broken(repr(stage), "the bound exceeds the SSE")
    if stage.needs_start and problem.categories is None and found.sse > start.sse:
        raise wording.contract_broken(repr(stage), "the result is worse than its start")
    run.note(found.sse)
    return found


def better_of(start: Partition, found: Partition) -> Partition:
    """`found` where it improves on `start`, else `start`."""
    return found if found.sse < start.sse else start


def refined(problem: Problem, start: Partition, labels: Labels, cut_short: bool = False) -> Partition:
    """What a refinement returns that has found these groups: they, where they improve on `start`, else
    `start`; truncated if either was.
    """
    found = better_of(start, evaluate(problem, labels, start.bound))
    return replace(found, truncated=start.truncated or cut_short)


def chain(*stages: Stage) -> Stage:
    """Stages one after the other, each starting from what the one before it returned."""
    flat: list[Stage] = []
    for stage in stages:
        flat.extend(stage.stages if isinstance(stage, Chain) else [stage])
    if not flat:
        raise wording.nothing_to_combine("A chain")
    for before, stage in pairwise(flat):
        if not stage.needs_start:
            raise wording.initial_after_start(repr(stage), repr(before))
    return flat[0] if len(flat) == 1 else Chain(tuple(flat))


@dataclass(frozen=True, slots=True)
class Chain:
    """Left to right, the contract checked after each stage. Made by `chain`."""

    uses_effort: ClassVar[bool] = False
    stages: tuple[Stage, ...]

    @property
    def needs_start(self) -> bool:
        """As its first stage."""
        return self.stages[0].needs_start

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        """Run the stages in turn; once the deadline has passed, refinements are skipped."""
        for stage in self.stages:
            if stage.needs_start and run.overdue:
                return replace(start, truncated=True)
            start = solve(stage, problem, start, run)
        return start

    def __repr__(self) -> str:
        return f"chain({', '.join(map(repr, self.stages))})"


@dataclass(frozen=True, slots=True)
class Within:
    """The stage inside each part of the data: an independent problem for each.

    The parts are the groups of `start` with at least 2k records, or the coarse blocks of `by`
    (each of at least k records and, for a refining stage, made of whole groups of `start`). Records
    outside any part keep their groups. The bound is that of `start`: bounds of parts do not add up to
    one of the whole.
    """

    uses_effort: ClassVar[bool] = False
    stage: Stage
    by: Blocks | None = None

    @property
    def needs_start(self) -> bool:
        """Groups of a start are needed unless `by` cuts and the stage starts afresh."""
        return self.by is None or self.stage.needs_start

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        """Solve the parts by `run.map` and put them together."""
        part_of = start.labels if self.by is None else self.by(problem, start, run)
        part_of = np.ascontiguousarray(part_of, dtype=np.int32)
        if part_of.min() < 0:
            raise wording.contract_broken(repr(self.by), "the number of a block is negative")
        parts = rows_of_groups(part_of)
        if self.by is not None and self.stage.needs_start:
            if len(np.unique(np.stack([start.labels, part_of]), axis=1).T) > start.labels.max() + 1:
                raise wording.contract_broken(repr(self.by), "a block cuts through a group to be refined")
        elif self.by is None:
            parts = [rows for rows in parts if len(rows) >= 2 * problem.k]

        def solve_part(rows: Rows, child: Run) -> tuple[Partition, tuple[float, float]]:
            own = problem.part(rows)
            labels = _core.by_first_appearance(np.ascontiguousarray(start.labels[rows]))
            part = evaluate(own, labels)
            if self.needs_start and run.overdue:
                found = replace(part, truncated=True)
            elif run.watch.cancelled:
                raise errors.Cancelled("The run was cancelled.")
            else:
                found = solve(self.stage, own, part, child)
            return found, _core.sse_and_rest(own.points, found.labels)

        solved = run.map(solve_part, parts)
        found = [partition for partition, _ in solved]
        labels = start.labels.copy()
        free = int(labels.max()) + 1
        for rows, partition in zip(parts, found, strict=True):
            labels[rows] = free + partition.labels
            free += int(partition.labels.max()) + 1
        truncated = start.truncated or any(partition.truncated for partition in found)
        labels = _core.by_first_appearance(labels)
        # Blocks are all there is, and were in the cache; here every record would have to be looked up.
        costs = [cost for _, cost in solved]
        cost = sse(problem.points, labels) if self.by is None else sse_of_parts(costs)
        combined = Partition(labels, cost, start.bound, truncated=truncated)
        # A stage that starts afresh may lose against the groups it was given to re-split; where it costs
        # the same, as on equal records, the smaller groups are preferred.
        lost = self.needs_start and combined.sse > start.sse
        return replace(start, truncated=truncated) if lost else combined


@dataclass(frozen=True, slots=True, init=False)
class Best:
    """All stages from the same start; the lowest SSE wins (ties: the first)."""

    uses_effort: ClassVar[bool] = False
    stages: tuple[Stage, ...]

    def __init__(self, *stages: Stage) -> None:
        if not stages:
            raise wording.nothing_to_combine("Best")
        object.__setattr__(self, "stages", stages)

    @property
    def needs_start(self) -> bool:
        """True when all are refinements: then none can lose against the start."""
        return all(stage.needs_start for stage in self.stages)

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        """Run all; bounds hold for the problem, so the largest is kept."""
        found = [solve(stage, problem, start, run) for stage in self.stages]
        winner = min(found, key=lambda partition: partition.sse)
        return replace(
            winner,
            bound=max(partition.bound for partition in found),
            truncated=any(partition.truncated for partition in found),
        )

    def __repr__(self) -> str:
        return f"Best({', '.join(map(repr, self.stages))})"


@dataclass(frozen=True, slots=True)
class Escalate(Refinement):
    """Refinements of rising effort: the first while it improves, then the next, and back to the first
    after each improvement; ends when none improves or after `rounds` improvements.
    """

    stages: tuple[Stage, ...]
    rounds: int = 1_000_000

    def __post_init__(self) -> None:
        if not self.stages:
            raise wording.nothing_to_combine("Escalate")
        for stage in self.stages:
            if not stage.needs_start:
                raise wording.initial_after_start(repr(stage), "the start")

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        for _ in range(self.rounds):
            before = start.sse
            for stage in self.stages:
                if run.overdue:
                    return replace(start, truncated=True)
                start = solve(stage, problem, start, run)
                if start.sse < before:
                    break
            else:
                break
        return start


def parts_of(stage: object) -> Iterator[Stage]:
    """The stage and every stage among its settings."""
    if isinstance(stage, Stage):
        yield stage
    if is_dataclass(stage):
        for field in fields(stage):
            value = getattr(stage, field.name)
            for inner in value if isinstance(value, tuple) else (value,):
                yield from parts_of(inner)


def refuse_bad_settings(stage: Any) -> None:
    """`SettingsError` for a setting that is none of the choices of its `Literal`, or an int below 1."""
    kind: Any = type(stage)
    for setting, kinds in _annotations(kind).items():
        value = getattr(stage, setting)
        choices = [choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]
        if choices and value not in choices:
            raise wording.no_such_choice(setting, value, choices)
        if int in kinds and value is not None and value < 1:
            raise wording.bad_number(setting, value, "a whole number of at least 1")


@cache
def _annotations(stage: Any) -> dict[str, tuple[Any, ...]]:
    """By setting: its type, or those of its union."""
    hints = get_type_hints(stage)
    return {each.name: (hints[each.name], *get_args(hints[each.name])) for each in fields(stage)}
