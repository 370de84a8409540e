"""Attributes brought to a common unit; the only place that scales."""

from __future__ import annotations

import numpy as np

from microagg import _core, errors
from microagg.model import Points, ScaleName, Table

LARGEST = 1e140
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
        for column, values_of_column in zip(table.columns, values.T, strict=True):
            low, high = values_of_column.min(), values_of_column.max()
            if max(high, -low) > LARGEST:
                raise errors.too_large_to_square(column, LARGEST)
            if 0.0 < high - low < 1.0 / LARGEST:
                raise errors.too_small_to_square(column, 1.0 / LARGEST)
        return _without_offsets(values)
    points, usable = _core.standardise(values, _SCALES[scale])
    if scale == "robust":
        for at, column in enumerate(table.columns):
            if not usable[at] and values[:, at].min() < values[:, at].max():
                raise errors.no_robust_spread(column)
            if np.abs(points[:, at]).max() > LARGEST:
                raise errors.too_far_out(column)
    return points


def _without_offsets(values: Points) -> Points:
    """Columns that lie far from zero for their spread, moved near it.

    Distances and sums of squares do not change, but centroids keep their digits. The subtraction is exact:
    all values of such a column agree in their leading digits.
    """
    low, high = values.min(axis=0), values.max(axis=0)
    middle = low / 2 + high / 2
    far = np.abs(middle) > 1e6 * (high - low)
    return values - np.where(far, middle, 0.0) if far.any() else values
