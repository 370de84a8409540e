"""One problem for every stratum, subset of columns and pattern of missing values, in one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from microagg.model import Points, Problem, ScaleName, Table
from microagg.prepare.coordinates import Coordinates, coordinates_of
from microagg.prepare.key_columns import KeyColumn
from microagg.prepare.patterns import by_missing, by_zeros
from microagg.prepare.strata import Positions


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Records to be partitioned by themselves: `rows` of the released ones, `columns` of subset `subset`
    that they keep; without any column there is nothing to partition.
    """

    subset: int
    stratum: int
    rows: Positions
    columns: tuple[str, ...]
    problem: Problem
    categorical: frozenset[str] = frozenset()
    """Columns whose codes are among the problem's categories."""

    def numbers_and_categories(self) -> tuple[list[str], list[str]]:
        """The columns in the order of the problem's coordinates: numbers, then categories."""
        numbers = [column for column in self.columns if column not in self.categorical]
        return numbers, [column for column in self.columns if column in self.categorical]


@dataclass(frozen=True, slots=True)
class RecodedStrata:
    """Of a stratum column: cells with another code, and how many one code for all records would change."""

    changed: int
    by_one_code: int


@dataclass(frozen=True, slots=True, eq=False)
class Tasks:
    """All tasks of a release.

    `sst`: of the cells that are kept, in the scale of the whole file, so that the SSEs of tasks add up to
    what it is compared with; `totals`: by column, what one published value for all of these cells would
    cost; `lost`: cells given up, by column; `mixed_zeros`: records grouped with others whose zeros are
    elsewhere; `coordinates`: of each subset, if some records are in no task yet.
    """

    tasks: tuple[Task, ...]
    sst: float
    totals: dict[str, float]
    lost: dict[str, int]
    mixed_zeros: int
    coordinates: tuple[Coordinates, ...] = ()
    recoded: Mapping[str, RecodedStrata] = field(default_factory=dict)
    """By stratum column in which records got other codes, as they joined the nearest group."""

    @property
    def have_categories(self) -> bool:
        return any(task.problem.categories is not None for task in self.tasks)


def tasks_of(
    subsets: Sequence[Table],
    stratum: Positions,
    k: int,
    scale: ScaleName,
    *,
    by_pattern: bool,
    zeros_apart: bool,
    kinds: Mapping[str, KeyColumn] = MappingProxyType({}),
    importance: Mapping[str, float] = MappingProxyType({}),
) -> Tasks:
    """The tasks of these subsets of columns (NaN where missing), whose records have these strata; those
    without any are in no task.

    `kinds` of columns that hold no numbers of their own. `DataError` for missing values unless they go by
    pattern.
    """
    tasks: list[Task] = []
    mixed = 0
    order = np.argsort(stratum, kind="stable")[int((stratum < 0).sum()) :]
    strata = np.split(order, np.cumsum(np.bincount(stratum[order]))[:-1])
    coordinates = tuple(coordinates_of(each, kinds, importance, scale, by_pattern) for each in subsets)
    for number, of_subset in enumerate(coordinates):
        for at, rows in enumerate(strata):
            found, rare = tasks_of_stratum(of_subset, rows, k, zeros_apart, number, at)
            tasks += found
            mixed += rare
    all_tasks = summed_up(tasks, coordinates, mixed)
    return all_tasks if len(order) < len(stratum) else replace(all_tasks, coordinates=())


def summed_up(tasks: Sequence[Task], coordinates: tuple[Coordinates, ...], mixed_zeros: int) -> Tasks:
    """These tasks of subsets with these coordinates, and what they have in all."""
    lost: dict[str, int] = {}
    totals: dict[str, float] = {}
    sst = 0.0
    for number, of_subset in enumerate(coordinates):
        own = [task for task in tasks if task.subset == number]
        kept = [_rows_with(own, column) for column in of_subset.columns]
        totals |= of_subset.totals(kept)
        sst += sum(_sst(each.points[rows]) for each, rows in zip(of_subset.attributes, kept, strict=True))
        everything = np.concatenate([task.rows for task in own])
        for at, (column, rows) in enumerate(zip(of_subset.columns, kept, strict=True)):
            had = int((~np.isnan(of_subset.values[everything, at])).sum())
            if had > len(rows):
                lost[column] = had - len(rows)
    return Tasks(tuple(tasks), sst, totals, lost, mixed_zeros, coordinates)


def tasks_of_stratum(
    coordinates: Coordinates, rows: Positions, k: int, zeros_apart: bool, number: int, stratum: int
) -> tuple[list[Task], int]:
    """The tasks of these rows of a subset, and how many records are grouped with others' zeros."""
    tasks, mixed = [], 0
    for pattern in by_missing(coordinates.missing(), rows, k):
        parts, rare = [pattern.rows], 0
        numbers = [at for at in pattern.columns if coordinates.attributes[at].kind is None]
        if zeros_apart and numbers:
            parts, rare = by_zeros(coordinates.values[:, numbers], pattern.rows, k)
        mixed += rare
        columns = tuple(coordinates.columns[column] for column in pattern.columns)
        for part in parts:
            problem = coordinates.problem(part, pattern.columns, k)
            tasks.append(Task(number, stratum, part, columns, problem, coordinates.categorical))
    return tasks, mixed


def _rows_with(tasks: Sequence[Task], column: str) -> Positions:
    """The rows that keep a column."""
    rows = [task.rows for task in tasks if column in task.columns]
    return np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)


def _sst(points: Points) -> float:
    """The sum of squares about the mean."""
    if not len(points):
        return 0.0
    centred = points - points.mean(axis=0)
    return float(np.einsum("ij,ij->", centred, centred))
