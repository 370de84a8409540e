"""One problem for every stratum, subset of columns and pattern of missing values, in one scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microagg import wording
from microagg.model import Points, Problem, ScaleName, Table
from microagg.prepare.patterns import by_missing, by_zeros
from microagg.prepare.strata import Positions
from microagg.prepare.units import to_points


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


@dataclass(frozen=True, slots=True, eq=False)
class Tasks:
    """All tasks of a release.

    `sst`: of the cells that are kept, in the scale of the whole file, so that the SSEs of tasks add up to
    what it is compared with; `lost`: cells given up, by column; `mixed_zeros`: records grouped with others
    whose zeros are elsewhere.
    """

    tasks: tuple[Task, ...]
    sst: float
    lost: dict[str, int]
    mixed_zeros: int


def tasks_of(
    subsets: Sequence[Table],
    stratum: Positions,
    k: int,
    scale: ScaleName,
    *,
    by_pattern: bool,
    zeros_apart: bool,
) -> Tasks:
    """The tasks of these subsets of columns (NaN where missing), whose records have these strata.

    `DataError` for missing values unless they go by pattern.
    """
    tasks: list[Task] = []
    lost: dict[str, int] = {}
    sst, mixed = 0.0, 0
    order = np.argsort(stratum, kind="stable")
    strata = np.split(order, np.cumsum(np.bincount(stratum))[:-1])
    for number, subset in enumerate(subsets):
        points = _points_of(subset, scale, by_pattern)
        for at, rows in enumerate(strata):
            found, rare = tasks_of_stratum(points, subset, rows, k, zeros_apart, number, at)
            tasks += found
            mixed += rare
        kept, of_subset = _kept_cells(points, [task for task in tasks if task.subset == number], subset)
        sst += of_subset
        for column, cells in zip(subset.columns, kept, strict=True):
            had = int((~np.isnan(subset.values[:, subset.columns.index(column)])).sum())
            if had > cells:
                lost[column] = had - cells
    return Tasks(tuple(tasks), sst, lost, mixed)


def tasks_of_stratum(
    points: Points, subset: Table, rows: Positions, k: int, zeros_apart: bool, number: int, stratum: int
) -> tuple[list[Task], int]:
    """The tasks of these rows of a subset, and how many records are grouped with others' zeros."""
    tasks, mixed = [], 0
    for pattern in by_missing(points, rows, k):
        parts, rare = [pattern.rows], 0
        if zeros_apart and pattern.columns:
            parts, rare = by_zeros(subset.values[:, pattern.columns], pattern.rows, k)
        mixed += rare
        columns = tuple(subset.columns[column] for column in pattern.columns)
        for part in parts:
            own = _cut(points, part, pattern.columns)
            tasks.append(Task(number, stratum, part, columns, Problem(own, k)))
    return tasks, mixed


def _points_of(subset: Table, scale: ScaleName, by_pattern: bool) -> Points:
    """The values in common units; NaN where missing."""
    missing = np.isnan(subset.values)
    if not missing.any():
        return to_points(subset, scale)
    points = np.full(subset.values.shape, np.nan)
    for at, column in enumerate(subset.columns):
        if missing[:, at].any() and not by_pattern:
            raise wording.missing_keys(column, int(missing[:, at].sum()), len(missing))
        rows = np.flatnonzero(~missing[:, at])
        if len(rows):
            own = np.ascontiguousarray(subset.values[rows, at : at + 1])
            points[rows, at] = to_points(Table((column,), own), scale)[:, 0]
    return points


def _cut(points: Points, rows: Positions, columns: tuple[int, ...]) -> Points:
    if len(rows) == len(points) and len(columns) == points.shape[1]:
        return points  # rows of a single stratum are in order
    return np.ascontiguousarray(points[rows][:, columns])


def _kept_cells(points: Points, tasks: Sequence[Task], subset: Table) -> tuple[list[int], float]:
    """How many cells of each column are kept, and their sum of squares about their mean."""
    if len(tasks) and all(task.columns == subset.columns for task in tasks):
        centred = points - points.mean(axis=0)
        return [len(points)] * points.shape[1], float(np.einsum("ij,ij->", centred, centred))
    counts, total = [], 0.0
    for at, column in enumerate(subset.columns):
        rows = [task.rows for task in tasks if column in task.columns]
        values = points[np.concatenate(rows), at] if rows else np.empty(0)
        counts.append(len(values))
        total += float(((values - values.mean()) ** 2).sum()) if len(values) else 0.0
    return counts, total
