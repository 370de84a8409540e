"""Lines and rising chains through most points of a sample, whatever the others are."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from microagg.model import Doubles

_CLEAR = 0.85
"""Such a share of distant pairs rises, or falls, if at most one record in twenty is an exception."""
_INSIDE = 0.9
"""The share of the records to which a line is fitted."""
_STEPS = 80
"""Of a search that leaves two thirds in each step."""


def direction(x: Doubles, y: Doubles) -> float:
    """1 where y rises with x in nearly all pairs of distant points, which are given by rising x; -1 where
    it falls; 0 where it does neither.
    """
    half = len(x) // 2
    apart = (x[half:] != x[: len(x) - half]) & (y[half:] != y[: len(y) - half])
    up = (y[half:] > y[: len(y) - half])[apart]
    share = up.mean() if len(up) else 0.5
    return 1.0 if share >= _CLEAR else -1.0 if share <= 1.0 - _CLEAR else 0.0


def line(x: Doubles, y: Doubles) -> tuple[float, float]:
    """Slope and height at x = 0 of the line on which most points lie, which are given by rising x."""
    half = len(x) // 2
    run = x[half:] - x[: len(x) - half]
    rise = y[half:] - y[: len(y) - half]
    slope = float(np.median(rise[run > 0] / run[run > 0]))
    height = float(np.median(y - slope * x))
    for _ in range(2):
        off = np.abs(y - height - slope * x)
        near = off <= np.quantile(off, _INSIDE)
        if not near.any() or np.ptp(x[near]) == 0:  # none where the slope is beyond all numbers
            break
        middle = x[near].mean()
        from_middle = x[near] - middle
        slope = float(from_middle @ (y[near] - y[near].mean()) / (from_middle @ from_middle))
        height = float(y[near].mean() - slope * middle)
    return slope, height


def narrowest(x: Doubles, y: Doubles, slope: float) -> tuple[float, float]:
    """Slope and height of the line whose largest distance from any point is the smallest, near `slope`.

    The distance is a convex function of the slope. A slope that is off by d adds d times the range of x.
    """
    spread = float(np.ptp(x))
    wide = 2.0 * _slack(x, y, slope)[0] / spread
    low, high = slope - wide, slope + wide
    for _ in range(_STEPS):
        third = (high - low) / 3.0
        if _slack(x, y, low + third)[0] <= _slack(x, y, high - third)[0]:
            high -= third
        else:
            low += third
    slope = (low + high) / 2.0
    return slope, _slack(x, y, slope)[1]


def _slack(x: Doubles, y: Doubles, slope: float) -> tuple[float, float]:
    left = y - slope * x
    low, high = left.min(), left.max()
    return float(high - low), float(low + high) / 2.0


def longest_rise(values: Doubles) -> NDArray[np.int64]:
    """Places of the longest part of a sequence that nowhere falls, in O(n log n)."""
    ends: list[float] = []
    last: list[int] = []
    before: list[int] = []
    for at, value in enumerate(values.tolist()):
        place = bisect_right(ends, value)
        before.append(last[place - 1] if place else -1)
        if place == len(ends):
            ends.append(value)
            last.append(at)
        else:
            ends[place], last[place] = value, at
    chain = []
    at = last[-1] if last else -1
    while at >= 0:
        chain.append(at)
        at = before[at]
    return np.array(chain[::-1], dtype=np.int64)
