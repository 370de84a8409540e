"""The nouns: what is handed from one step to the next. Frozen, without algorithms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from microagg import errors

Points = NDArray[np.float64]
"""(n, p) records, C order, finite, already scaled."""

Labels = NDArray[np.int32]
"""(n,) group of each record, 0..g-1, numbered by first appearance: equal partitions, equal arrays."""

Rows = NDArray[np.int32]
"""Records in some order."""

ScaleName = Literal["zscore", "range", "robust", "rank", "none"]
"""How attributes are brought to a common unit."""

Effort = Literal["fast", "balanced", "best"]
"""How much work a method that can always do more should do."""


def positions_of(wanted: Sequence[str], known: Sequence[str]) -> list[int]:
    """Where the wanted columns stand among the known ones, each once."""
    if not wanted:
        raise errors.no_columns()
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise errors.unknown_columns(unknown, known)
    for name, times in Counter(wanted).items():
        if times > 1:
            raise errors.column_named_twice(name)
    return [list(known).index(name) for name in wanted]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Numeric columns in their own units: names and an (n, p) array, one row per record.

    NumPy takes it as the array `values`.
    """

    columns: tuple[str, ...]
    values: NDArray[np.float64]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)

    def select(self, *columns: str) -> Table:
        """A table of these columns only, in this order, with values of its own."""
        where = positions_of(columns, self.columns)
        # NumPy keeps the column order in memory when it picks columns; kernels want rows.
        return Table(columns, np.ascontiguousarray(self.values[:, where]))


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What a stage sees: scaled points and the smallest allowed group size."""

    points: Points
    k: int


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """What a stage returns; `stage.evaluated` makes one from labels.

    `sse` is the cost of the labels, so that nobody computes it twice.
    `bound` is proven: no feasible partition of the problem has a smaller SSE.
    `recipe` and `reason`: what a stage that chooses a method chose, and why.
    `truncated` says that the deadline struck, so that the labels may depend on the clock.
    """

    labels: Labels
    sse: float
    bound: float = 0.0
    recipe: str = ""
    reason: str = ""
    truncated: bool = False
