"""The data: digests, and scales and sums of squares that owe nothing to the rest of the package."""

from __future__ import annotations

import hashlib
import math

import numpy as np
from numpy.typing import NDArray

from microagg import wording
from microagg.model import Labels, Points, ScaleName


def digest_of_points(values: NDArray[np.float64]) -> str:
    """Digest of the doubles, row by row."""
    return hashlib.sha256(np.ascontiguousarray(values, dtype="<f8").tobytes()).hexdigest()


def digest_of_labels(labels: Labels) -> str:
    """Digest of the partition: labels are numbered by first appearance, so it has only one."""
    return hashlib.sha256(labels.astype("<i4").tobytes()).hexdigest()


def scaled(values: NDArray[np.float64], scale: ScaleName) -> Points:
    """In common units; a constant column becomes 0.

    zscore: from the mean, in population standard deviations; range: from 0 to 1; robust: from the
    median, in median absolute deviations; rank: average ranks, less a half, divided by n.
    """
    if not np.isfinite(values).all():
        raise wording.certificate_data_unusable()
    points = np.column_stack([_scaled_column(column, scale) for column in values.T])
    spread = np.ptp(points, axis=0)
    varies = values.min(axis=0) < values.max(axis=0)
    if (varies & ((spread < 1e-140) | (np.abs(points).max(axis=0) > 1e140))).any():
        raise wording.certificate_data_unusable()
    return np.ascontiguousarray(points)


def _scaled_column(column: NDArray[np.float64], scale: ScaleName) -> NDArray[np.float64]:
    if scale == "none":
        return column
    low, high = column.min(), column.max()
    if low == high:
        return np.zeros(len(column))
    if scale == "rank":
        _, which, counts = np.unique(column, return_inverse=True, return_counts=True)
        return (np.cumsum(counts) - counts / 2)[which] / len(column)
    if scale == "robust":
        half = column / 2  # so that no difference overflows
        distance = half - np.median(half)
        spread = np.median(np.abs(distance))
        return distance / spread if spread > 0.0 else np.zeros(len(column))
    # In units near half the range, from its middle: nothing overflows, and far columns keep their digits.
    middle = low / 2 + high / 2
    unit = np.ldexp(1.0, min(-int(np.frexp(max(high - middle, middle - low))[1]), 1000))
    inside = (column - middle) * unit
    if scale == "range":
        inside = inside - inside.min()
        return np.asarray(inside / inside.max())
    inside = inside - math.fsum(inside) / len(inside)
    return np.asarray(inside / math.sqrt(math.fsum(inside * inside) / len(inside)))


def sum_of_squares(points: Points) -> float:
    """Sum of squares about the mean, taken from the first record so that the mean keeps its digits."""
    near = points - points[0]
    return math.fsum(((near - near.mean(axis=0)) ** 2).ravel())
