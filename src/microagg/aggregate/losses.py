"""What is lost by publishing groups: one figure for a release, and its parts by column.

The loss of a column is what its groups cost, as a share of what one published value for all records would
cost: squared differences of numbers and dates, changes of level of ordered categories, changed cells of
others. The loss of a release is the mean over its columns, weighted by their importance. Strata count where
records have joined a group with other codes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from microagg import wording
from microagg.methods.objective import information_loss, sse
from microagg.methods.published import bound_on_published, published_cost
from microagg.model import Categories, Doubles, Partition
from microagg.prepare.tasks import Task, Tasks
from microagg.verdict import lines_by_column

_Number = TypeVar("_Number", int, float)

_NONE: Mapping[str, Doubles] = MappingProxyType({})


@dataclass(slots=True)
class ColumnLoss:
    """Of one column: `cost` of its groups and of one value for all; of a category, how many of its cells
    change, and by how many levels in all if they are ordered.
    """

    cost: float = 0.0
    one_for_all: float = 0.0
    cells: int = 0
    changed: int | None = None
    level_changes: float | None = None
    distance: float | None = None
    """In a taxonomy: the sum of the shares of levels that change."""

    def __add__(self, other: ColumnLoss) -> ColumnLoss:
        return ColumnLoss(
            self.cost + other.cost,
            self.one_for_all + other.one_for_all,
            self.cells + other.cells,
            _sum_of_known(self.changed, other.changed),
            _sum_of_known(self.level_changes, other.level_changes),
            _sum_of_known(self.distance, other.distance),
        )

    @property
    def percent(self) -> float:
        return information_loss(self.cost, self.one_for_all)

    @property
    def changed_share(self) -> float | None:
        """Of the cells of a category without order."""
        return None if self.changed is None else self.changed / max(self.cells, 1)

    @property
    def mean_level_change(self) -> float | None:
        """Of an ordered category: by how many levels a cell changes."""
        return None if self.level_changes is None else self.level_changes / max(self.cells, 1)

    @property
    def mean_distance(self) -> float | None:
        """In a taxonomy: the share of levels that a cell changes."""
        return None if self.distance is None else self.distance / max(self.cells, 1)

    def as_dict(self) -> dict[str, float | None]:
        """For a record in JSON."""
        return {
            "information_loss": self.percent,
            "changed_share": self.changed_share,
            "mean_level_change": self.mean_level_change,
            "mean_distance": self.mean_distance,
        }


@dataclass(frozen=True, slots=True)
class Losses:
    """In percent: the loss of a release, and its proven lower bound if there is one."""

    information_loss: float
    bound: float | None
    columns: dict[str, ColumnLoss] = field(default_factory=dict)

    @property
    def lines(self) -> list[str]:
        """The loss of each column, where some hold categories."""
        parts = {
            name: wording.loss_of_column(
                each.percent, each.changed_share, each.mean_level_change, each.mean_distance
            )
            for name, each in self.columns.items()
        }
        return lines_by_column(wording.losses_of_columns(), parts)


def losses_of(
    tasks: Tasks,
    partitions: Sequence[Partition],
    representatives: Mapping[str, Doubles] = _NONE,
    values: Mapping[str, Doubles] = _NONE,
) -> Losses:
    """The loss of these groups of all tasks.

    `representatives`: by column whose groups publish something else than their mean, median level or mode,
    what each record publishes; `values`: what it has.
    """
    bound = _bound(tasks, partitions)
    if not tasks.have_categories and not tasks.recoded and not representatives:
        loss = information_loss(sum(found.sse for found in partitions), tasks.sst)
        return Losses(loss, None if bound is None else information_loss(bound, tasks.sst))
    columns = {name: ColumnLoss(one_for_all=total) for name, total in tasks.totals.items()}
    placed = in_coordinates(representatives, values, tasks.tasks)
    for task, found in zip(tasks.tasks, partitions, strict=True):
        add_task(columns, task, found, placed)
    n = sum(len(task.rows) for task in tasks.tasks if task.subset == 0)
    # A stratum column counts as a standardised number does, as every nominal column.
    for name, recoded in tasks.recoded.items():
        columns[name] = ColumnLoss(n * recoded.changed / recoded.by_one_code, n, n, recoded.changed)
    total = sum(each.one_for_all for each in columns.values())
    return Losses(
        loss_of_columns(columns), None if bound is None else information_loss(bound, total), columns
    )


def loss_of_columns(columns: Mapping[str, ColumnLoss]) -> float:
    """In percent."""
    cost = sum(each.cost for each in columns.values())
    return information_loss(cost, sum(each.one_for_all for each in columns.values()))


def _bound(tasks: Tasks, partitions: Sequence[Partition]) -> float | None:
    """A lower bound of what all tasks cost when they are published; None where a task has none."""
    bounds = []
    for task, found in zip(tasks.tasks, partitions, strict=True):
        bound = bound_on_published(task.problem, found.bound)
        if bound == 0.0 and found.sse > 0.0:
            return None
        bounds.append(bound)
    return sum(bounds)


def in_coordinates(
    representatives: Mapping[str, Doubles], values: Mapping[str, Doubles], tasks: Sequence[Task]
) -> dict[str, Doubles]:
    """What records publish, numbers and dates among them in the coordinates of the search.

    The scale follows from what the records of all tasks have: between two of their values, and beyond the
    first and the last, it is a line.
    """
    placed = dict(representatives)
    for name in representatives:
        had, place = [], []
        for task in tasks:
            numbers, _ = task.numbers_and_categories()
            if name in numbers:
                had.append(values[name][task.rows])
                place.append(task.problem.points[:, numbers.index(name)])
        if had:
            placed[name] = _placed(representatives[name], np.concatenate(had), np.concatenate(place))
    return placed


def _placed(new: Doubles, values: Doubles, places: Doubles) -> Doubles:
    known, first = np.unique(values, return_index=True)
    at = places[first]
    exponent = -np.frexp(np.abs(known).max())[1]  # so that neither differences nor slopes overflow
    known, new = np.ldexp(known, exponent), np.ldexp(new, exponent)
    if len(known) == 1:
        return np.asarray(new - known[0] + at[0])
    line = at[0] + (known - known[0]) * ((at[-1] - at[0]) / (known[-1] - known[0]))
    if np.abs(line - at).max() <= 1e-9 * np.ptp(at):
        known, at = known[[0, -1]], at[[0, -1]]
    slopes = np.diff(at) / np.diff(known)
    piece = np.clip(np.searchsorted(known, new, side="right") - 1, 0, len(slopes) - 1)
    found: Doubles = at[piece] + (new - known[piece]) * slopes[piece]
    return found


def add_task(
    columns: dict[str, ColumnLoss], task: Task, found: Partition, placed: Mapping[str, Doubles] = _NONE
) -> None:
    """Add what the groups of one task cost. `placed`: as by `in_coordinates`."""
    if not task.columns:
        return
    categories = task.problem.categories
    numbers, others = task.numbers_and_categories()
    for at, name in enumerate(numbers):
        own = np.ascontiguousarray(task.problem.points[:, at : at + 1])
        if name in placed:
            columns[name].cost += float(((own[:, 0] - placed[name][task.rows]) ** 2).sum())
        else:
            columns[name].cost += sse(own, found.labels)
        columns[name].cells += len(task.rows)
    if categories is None:
        return
    costs = published_cost(task.problem, found.labels)[1:]
    for at, name in enumerate(others):
        each = columns[name]
        if name in placed:
            costs[at] = categories.cost[at] * _change(categories, at, placed[name][task.rows])
        each.cost += float(costs[at])
        each.cells += len(task.rows)
        units = float(costs[at] / categories.cost[at]) if categories.cost[at] > 0.0 else 0.0
        if categories.ordered[at]:
            each.level_changes = (each.level_changes or 0.0) + units
        elif categories.paths[at] is None:
            each.changed = (each.changed or 0) + round(units)
        else:
            each.distance = (each.distance or 0.0) + units


def _change(categories: Categories, at: int, new: Doubles) -> float:
    """Of a category: by how many levels, cells or distances in a taxonomy its records change."""
    old, paths = categories.codes[:, at], categories.paths[at]
    if categories.ordered[at]:
        return float(np.abs(new - old).sum())
    if paths is None:
        return float((new != old).sum())
    return float((paths[new.astype(np.int64)] != paths[old]).mean(axis=1).sum())


def _sum_of_known(one: _Number | None, other: _Number | None) -> _Number | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other
