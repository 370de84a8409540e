"""Units of columns that are spread over many machines: the same to the last bit, however they are cut.

First ranges, then sums. Sums of doubles depend on their order; so values are rounded to a 2^30th of half
the range, and the sums of these whole numbers and of their squares are exact. With n records the standard
deviation is half the range / √n at least, so that rounding changes it by less than n · 1e-18 of itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from microagg.model import Doubles, ScaleName
from microagg.prepare.units import Units

STEPS = 2**30
_LOW_BITS = 30


@dataclass(frozen=True, slots=True)
class Sums:
    """Number, sum and sum of squares of the rounded values of one column."""

    count: int = 0
    sum: int = 0
    squares: int = 0

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.count + other.count, self.sum + other.sum, self.squares + other.squares)


def sums_of(values: Doubles, ranges: Units) -> tuple[Sums, ...]:
    """The sums of some records (NaN where missing), by column; `ranges` are those of all records."""
    found = []
    for column in ranges.points(values).T:
        steps = np.rint(column[~np.isnan(column)] * STEPS).astype(np.int64)
        squares = steps * steps
        # In two parts, since the sum of many squares is beyond 64 bits.
        high, low = int((squares >> _LOW_BITS).sum()), int((squares & (STEPS - 1)).sum())
        found.append(Sums(len(steps), int(steps.sum()), (high << _LOW_BITS) + low))
    return tuple(found)


def total_of(parts: Iterable[tuple[Sums, ...]], columns: int) -> tuple[Sums, ...]:
    """The total of all parts, which does not depend on their order."""
    total = tuple(Sums() for _ in range(columns))
    for part in parts:
        total = tuple(one + other for one, other in zip(total, part, strict=True))
    return total


def units_of(scale: ScaleName, ranges: Units, high: Doubles, sums: tuple[Sums, ...]) -> Units:
    """The units of a scale: zscore, range or none; `high` are the largest values.

    As `to_points` has them, but for offsets and the last digits of standard deviations.
    """
    spread = ranges.spread.copy()
    centre = np.zeros(len(spread))
    if scale == "none":
        return Units(ranges.middle, np.ones(len(spread)), centre, spread)
    if scale == "range":
        return Units(ranges.middle, ranges.factor, centre, 2.0 * (high - ranges.middle) * ranges.factor)
    for at, column in enumerate(sums):
        if spread[at] > 0.0:
            centre[at] = column.sum / (column.count * STEPS)
            # Whole numbers until the last division: nothing cancels.
            scatter = column.count * column.squares - column.sum**2
            spread[at] = np.sqrt(scatter / (column.count * STEPS) ** 2)
    return Units(ranges.middle, ranges.factor, centre, spread)
