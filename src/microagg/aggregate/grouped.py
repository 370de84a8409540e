"""The records of a subset of columns in their groups, and what these publish at first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from microagg.aggregate.groups import median_levels, modes, values_by_group
from microagg.model import Doubles, Partition
from microagg.prepare.key_columns import KeyColumn
from microagg.prepare.tasks import Task


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """All records, and their groups, numbered through all tasks.

    `values`: by column, that of each record, NaN where missing; `kinds` of columns that hold dates or
    categories; `tasks`: the groups of this subset, which hold all records.
    """

    columns: tuple[str, ...]
    values: Mapping[str, Doubles]
    kinds: Mapping[str, KeyColumn]
    weights: Doubles | None
    tasks: Sequence[tuple[Task, Partition]]
    group: NDArray[np.int64]
    """Of each record."""
    shares: Doubles
    """How many records, or how much weight, each group has."""
    whole: Mapping[str, Doubles] = field(default_factory=dict)
    """Of columns of numbers, if these are not all records: values as frequent as they are in all."""

    @classmethod
    def of(
        cls,
        columns: Sequence[str],
        values: Mapping[str, Doubles],
        kinds: Mapping[str, KeyColumn],
        weights: Doubles | None,
        tasks: Sequence[tuple[Task, Partition]],
        whole: Mapping[str, Doubles] = MappingProxyType({}),
    ) -> Grouped:
        """The groups of these tasks."""
        group, shares = _group_numbers(tasks, weights, len(values[columns[0]]))
        return cls(tuple(columns), values, kinds, weights, tasks, group, shares, whole)

    def kind(self, column: str) -> str:
        """Of a column: number, date, ordinal or nominal."""
        return self.kinds[column].kind if column in self.kinds else "number"

    def is_category(self, column: str) -> bool:
        """Whether a column holds levels or categories."""
        return column in self.kinds and self.kinds[column].is_category

    def middles(self, how: str, overall: Mapping[str, Doubles] | None = None) -> Doubles:
        """(groups, columns) The mean or median of numbers and dates, the median of levels, the mode of
        categories; NaN where a group publishes nothing.

        `overall`: of nominal columns, how frequent each code is among the records of all tasks, unless
        these are all.
        """
        if overall is None:
            overall = {
                column: np.bincount(self.values[column].astype(np.int64), weights=self.weights).astype(
                    np.float64
                )
                for column in self.columns
                if self.kind(column) == "nominal"
            }
        published = np.full((len(self.shares), len(self.columns)), np.nan)
        first = 0
        for task, found in self.tasks:
            end = first + found.groups
            weights = None if self.weights is None else self.weights[task.rows]
            averaged = [column for column in task.columns if not self.is_category(column)]
            if averaged:
                values = np.stack([self.values[column][task.rows] for column in averaged], axis=1)
                places = [self.columns.index(column) for column in averaged]
                published[first:end, places] = values_by_group(values, found.labels, how, weights)
            for column in (column for column in task.columns if column not in averaged):
                codes = self.values[column][task.rows]
                published[first:end, self.columns.index(column)] = (
                    modes(codes, found.labels, weights, overall[column], self.kinds[column].paths)
                    if column in overall
                    else median_levels(codes, found.labels, weights)
                )
            first = end
        return published


def _group_numbers(
    tasks: Sequence[tuple[Task, Partition]], weights: Doubles | None, n: int
) -> tuple[NDArray[np.int64], Doubles]:
    group = np.empty(n, dtype=np.int64)
    count = 0
    for task, found in tasks:
        group[task.rows] = found.labels + count
        count += found.groups
    return group, np.bincount(group, weights=weights, minlength=count).astype(np.float64)
