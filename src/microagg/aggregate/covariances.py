"""Means of groups moved by one map for all records with the same numbers, so that means and covariances are
those of the source.

Of all linear maps that do so, the one of least change in z-scores:
A = C_Y^(−1/2) (C_Y^(1/2) C_X C_Y^(1/2))^(1/2) C_Y^(−1/2), with C_X the covariance of the records and C_Y
that of the groups' means. With Q = Y·B orthonormal columns that are combinations of those of the means Y,
and C_X = R'R, the result is Q·O·R with the orthogonal O for which it is nearest to Y. Q is made twice, the
second time from columns that are nearly orthonormal already, so that it is as exact as doubles are however
small some variances of the groups are. Every group's values are computed from its own mean, so that groups
of little weight lose no digits.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg import wording
from microagg.aggregate.grouped import Grouped
from microagg.model import Doubles, Points, Whole
from microagg.plan.protection import Protection
from microagg.prepare.prepared import Prepared
from microagg.prepare.tasks import Task

RECORDS_PER_STATISTIC = 5
"""With fewer for each variance and covariance, these would tell too much of single records."""

COLLINEAR = 1e-9
"""Records do not vary in a direction in which z-scores spread less, as a share of the largest spread."""

NO_SPREAD = 1e-7
"""Groups do not vary in a direction in which means spread less, as a share of the records' spread."""


def check_covariances(protection: Protection, prepared: Prepared) -> None:
    """`SettingsError` if it is known before the search that covariances cannot be kept."""
    if protection.aggregate != "covariances":
        return
    found = False
    for number, subset in enumerate((*protection.subsets, *protection.own_subsets)):
        tasks = [task for task in prepared.tasks.tasks if task.subset == number]
        later = len(prepared.strata.rows) - sum(len(task.rows) for task in tasks)
        numbers = [column for column in subset if column not in prepared.kinds]
        for columns, places in _tasks_by_numbers(tasks, prepared.kinds).items():
            found = True
            records = sum(len(tasks[at].rows) for at in places)
            statistics = len(columns) * (len(columns) + 1) // 2
            if records + later < RECORDS_PER_STATISTIC * statistics:
                raise wording.too_few_for_covariances(
                    columns,
                    records,
                    statistics,
                    RECORDS_PER_STATISTIC * statistics,
                    [column for column in numbers if column not in columns],
                )
    if not found:
        raise wording.covariances_without_numbers()


def _tasks_by_numbers(tasks: Sequence[Task], kinds: Container[str]) -> dict[tuple[str, ...], list[int]]:
    """By the numbers that records keep: the places of the tasks of these records, which share a map."""
    found: dict[tuple[str, ...], list[int]] = {}
    for at, task in enumerate(tasks):
        if columns := tuple(column for column in task.columns if column not in kinds):
            found.setdefault(columns, []).append(at)
    return found


def with_covariances(grouped: Grouped, means: Points) -> dict[str, Doubles]:
    """By column of numbers, what each group publishes instead of its mean.

    `means`: (groups, columns), NaN where a group publishes nothing. Records that keep the same numbers have
    one map. Its means and covariances being those of its records, so are those of any two columns over all
    records that keep both.
    """
    tasks = [task for task, _ in grouped.tasks]
    moved = {
        column: means[:, at].copy()
        for at, column in enumerate(grouped.columns)
        if grouped.kind(column) == "number"
    }
    for columns, places in _tasks_by_numbers(tasks, grouped.kinds).items():
        rows = np.concatenate([tasks[at].rows for at in places])
        groups, labels = np.unique(grouped.group[rows], return_inverse=True)
        values = np.stack([grouped.values[column][rows] for column in columns], axis=1)
        weights = None if grouped.weights is None else grouped.weights[rows]
        new = keeping_covariances(values, weights, labels, columns)
        for column, values_of_groups in zip(columns, new.T, strict=True):
            moved[column][groups] = values_of_groups
    return moved


def keeping_covariances(
    values: Points, weights: Doubles | None, labels: Whole, columns: Sequence[str]
) -> Points:
    """(groups, columns) The means of groups, moved so that they have the mean vector and covariance matrix
    of the values.

    `labels`: the group of each record. A constant column stays as it is. `SettingsError` if the means do
    not vary in all directions in which the values do.
    """
    weight = np.ones(len(values)) if weights is None else weights
    records, unit = _z_scores(values, weight / weight.sum())
    of_group = np.bincount(labels, weight)
    parts, shares = weight / of_group[labels], of_group / of_group.sum()
    means: Points = np.stack([np.bincount(labels, parts * each) for each in records.T], axis=1)
    varying = np.where(unit.constant, 0.0, records) * np.sqrt(weight / weight.sum())[:, np.newaxis]
    directions, spread = _directions_and_spread(varying)
    if not len(spread):
        return unit.of_scores(means)
    roots = np.sqrt(shares)[:, np.newaxis]
    moved = means @ (directions / spread)
    if len(means) <= len(spread) or np.linalg.svd(moved * roots, compute_uv=False)[-1] < NO_SPREAD:
        raise wording.too_few_groups_for_covariances(columns, len(means), len(spread) + 1)
    for _ in range(2):  # once leaves what is lost in directions in which groups hardly vary
        moved = moved - shares @ moved
        triangle = np.asarray(np.linalg.qr(moved * roots, mode="r"))
        moved = np.linalg.solve(triangle.T, moved.T).T
    left, _, right = np.linalg.svd((moved * roots).T @ (means * roots) @ (directions * spread))
    moved = moved @ (left @ right) * spread @ directions.T
    return unit.of_scores(np.where(unit.constant, means, moved))


def _directions_and_spread(records: Points) -> tuple[Points, Doubles]:
    """(columns, r) The directions in which records vary, and (r) their standard deviations."""
    _, spread, directions = np.linalg.svd(np.linalg.qr(records, mode="r"))
    varies = spread > COLLINEAR * max(float(spread[0]), np.finfo(np.float64).tiny)
    return np.ascontiguousarray(directions[: len(spread)][varies].T), spread[varies]


@dataclass(frozen=True, slots=True, eq=False)
class _Unit:
    """Of z-scores: the middle of each column's range and half of it, then mean and standard deviation in
    this unit, so that nothing overflows and offsets cost no digits.
    """

    middle: Doubles
    reach: Doubles
    mean: Doubles
    deviation: Doubles
    constant: NDArray[np.bool_]
    """Columns without a deviation."""

    def of_scores(self, scores: Points) -> Points:
        """In the unit of the values."""
        with np.errstate(over="ignore"):
            found: Points = (scores * self.deviation + self.mean) * self.reach + self.middle
        return found


def _z_scores(values: Points, shares: Doubles) -> tuple[Points, _Unit]:
    """z-scores of the records, of which each has such a share of all weight."""
    low, high = values.min(axis=0), values.max(axis=0)
    middle = low / 2.0 + high / 2.0
    reach = np.where(low == high, 1.0, np.maximum(high - middle, middle - low))
    scaled = (values - middle) / reach
    mean = shares @ scaled
    deviation = np.sqrt(shares @ (scaled - mean) ** 2)
    constant = (low == high) | (deviation == 0.0)
    unit = _Unit(middle, reach, mean, np.where(constant, 1.0, deviation), constant)
    return (scaled - mean) / unit.deviation, unit


def clipped(new: Mapping[str, Doubles], values: Mapping[str, Doubles]) -> dict[str, Doubles]:
    """Values outside the range that the records have, moved to its ends."""
    return {
        column: np.clip(own, np.nanmin(values[column]), np.nanmax(values[column]))
        for column, own in new.items()
    }
