"""Attributes in common units; the only module that scales."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg import _core, wording
from microagg.model import Doubles, Points, ScaleName, Table

LARGEST_SQUARED = 1e140
"""Beyond this size sums of squares could overflow; below its inverse, squares vanish."""

_SCALES = {
    "zscore": _core.Scale.ZSCORE,
    "range": _core.Scale.RANGE,
    "robust": _core.Scale.ROBUST,
    "rank": _core.Scale.RANK,
}


def to_points(table: Table, scale: ScaleName) -> Points:
    """The table's values in common units.

    zscore: mean 0 and population standard deviation 1, so that SST = n·p; range: 0 to 1; robust: from the
    median in units of the median absolute deviation; rank: average rank, less a half, divided by n; none:
    as they are, but for an offset. A constant column becomes 0 and costs nothing.
    """
    values = table.values
    if scale == "none":
        require_squarable_values(table.columns, values.min(axis=0), values.max(axis=0))
        return _without_offsets(values)
    points, usable = _core.standardise(values, _SCALES[scale])
    if scale == "robust":
        for at, column in enumerate(table.columns):
            if not usable[at] and values[:, at].min() < values[:, at].max():
                raise wording.no_robust_spread(column)
            if np.abs(points[:, at]).max() > LARGEST_SQUARED:
                raise wording.too_far_out(column)
    return points


def require_squarable_values(columns: Iterable[str], low: Doubles, high: Doubles) -> None:
    """`DataError` for unscaled values whose squared distances would overflow, or vanish."""
    for column, least, most in zip(columns, low, high, strict=True):
        if max(most, -least) > LARGEST_SQUARED:
            raise wording.too_large_to_square(column, LARGEST_SQUARED)
        if 0.0 < most - least < 1.0 / LARGEST_SQUARED:
            raise wording.too_small_to_square(column, 1.0 / LARGEST_SQUARED)


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """How the columns of a table that is nowhere whole become points: a number for each column.

    ((x - middle) · factor - centre) / spread, where `factor` is a power of two, so that no value overflows;
    a column without spread becomes 0. The same number gives the same point, whatever stands beside it.
    """

    middle: NDArray[np.float64]
    factor: NDArray[np.float64]
    centre: NDArray[np.float64]
    spread: NDArray[np.float64]

    @classmethod
    def from_ranges(cls, low: Sequence[float], high: Sequence[float]) -> Units:
        """Units in which each range goes from -1 to 1."""
        middle = [least / 2.0 + most / 2.0 for least, most in zip(low, high, strict=True)]
        reach = [max(b - m, m - a) for a, b, m in zip(low, high, middle, strict=True)]
        factor = [math.ldexp(1.0, min(-math.frexp(each)[1], 1000)) for each in reach]
        spread = [1.0 if least < most else 0.0 for least, most in zip(low, high, strict=True)]
        return cls(np.array(middle), np.array(factor), np.zeros(len(middle)), np.array(spread))

    def of(self, columns: Sequence[int]) -> Units:
        at = list(columns)
        return Units(self.middle[at], self.factor[at], self.centre[at], self.spread[at])

    def replaced(self, columns: NDArray[np.bool_], other: Units) -> Units:
        """With the other's units of these columns."""
        return Units(
            *(
                np.where(columns, theirs, own)
                for own, theirs in (
                    (self.middle, other.middle),
                    (self.factor, other.factor),
                    (self.centre, other.centre),
                    (self.spread, other.spread),
                )
            )
        )

    def points(self, values: Points) -> Points:
        """The values in these units; NaN stays NaN."""
        usable = self.spread > 0.0
        points = ((values - self.middle) * self.factor - self.centre) / np.where(usable, self.spread, 1.0)
        points = np.where(usable, points, np.where(np.isnan(values), np.nan, 0.0))
        return np.ascontiguousarray(points)


def _without_offsets(values: Points) -> Points:
    """Columns that lie far from zero for their spread, moved near it.

    Distances and sums of squares do not change, but centroids keep their digits. The subtraction is exact:
    all values of such a column agree in their leading digits.
    """
    low, high = values.min(axis=0), values.max(axis=0)
    middle = low / 2 + high / 2
    far = np.abs(middle) > 1e6 * (high - low)
    return values - np.where(far, middle, 0.0) if far.any() else values
