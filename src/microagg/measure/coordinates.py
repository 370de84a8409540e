"""Records as an intruder compares them: in standard deviations of the original, missing values included."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from microagg.measure.pair import Pair, Values

SAME = 1e-9
"""Squared distances that differ by a smaller share are equal: rounding must not break ties."""


def mean_and_deviation(values: Values, ddof: int = 0) -> tuple[Values, Values]:
    """Mean and standard deviation of each column without missing values; 0 where there are too few."""
    present = ~np.isnan(values)
    count = present.sum(axis=0)
    filled = np.where(present, values, 0.0)
    # About the first value: sums of squares of large numbers that differ little would lose all digits.
    shift = np.where(count > 0, filled[np.argmax(present, axis=0), np.arange(values.shape[1])], 0.0)
    centred = np.where(present, filled - shift, 0.0)
    mean = centred.sum(axis=0) / np.maximum(count, 1)
    squares = (np.where(present, centred - mean, 0.0) ** 2).sum(axis=0)
    deviation = np.sqrt(squares / np.maximum(count - ddof, 1))
    constant = (np.where(present, centred, 0.0) == 0.0).all(axis=0) | (count <= ddof)
    return shift + mean, np.where(constant, 0.0, deviation)


def coordinates(pair: Pair, columns: Sequence[int]) -> tuple[Values, Values]:
    """Original and masked records, in the original's standard deviations from its means.

    A missing value stands at the mean, and one more coordinate, behind all columns, is 1 where it is
    missing: a missing and a present value z are z² + 1 apart, which is what z and the value of a random
    record differ by on average; two missing values do not differ. Columns that are constant in the original
    distinguish records only by what is missing.
    """
    chosen = list(columns)
    mean, deviation = mean_and_deviation(pair.original[:, chosen])
    scale = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
    sides = [(pair.original[:, chosen] - mean) * scale, (pair.masked[:, chosen] - mean) * scale]
    gone = [np.isnan(side) for side in sides]
    gaps = gone[0].any(axis=0) | gone[1].any(axis=0)
    before, after = (
        np.hstack([np.where(missing, 0.0, side), missing[:, gaps].astype(np.float64)])
        for side, missing in zip(sides, gone, strict=True)
    )
    return before, after


def all_coordinates(pair: Pair) -> tuple[Values, Values]:
    """Those of all masked columns; computed once for a pair."""
    return pair.remember("coordinates", lambda: coordinates(pair, range(pair.p)))


def extremes(pair: Pair, share: float) -> NDArray[np.int64]:
    """Rows of the records farthest from the mean: this share of them, at least one (ties: lowest row)."""
    before, _ = all_coordinates(pair)
    count = max(1, int(np.ceil(round(share * pair.n, 9))))
    return np.sort(np.argsort(-(before**2).sum(axis=1), kind="stable")[:count])
