"""What masking did to the mean of a column."""

from __future__ import annotations

import math
from dataclasses import dataclass

from microagg.model import Claims
from microagg.verdict import NEGLIGIBLE, MeanChange

SMALL_MEAN = 0.01
"""A mean below this share of the values' average size is too small to give changes as a share of it."""


@dataclass(frozen=True, slots=True)
class MeanFigures:
    """Of a masked column: the cells that source and release both have, and the column as a whole."""

    cells: int
    set_to_missing: int
    left_out: int
    change: float = 0.0
    """Of the mean of the cells; `total`: of their sum."""
    total: float = 0.0
    size: float = 0.0
    """The mean absolute value of the cells in the source."""
    released_mean: float = math.nan
    source_mean: float = 0.0
    """Of the whole columns, with the records that are not released."""


def mean_change(name: str, claims: Claims, found: MeanFigures) -> MeanChange:
    """Over the cells that both have, and of the whole column.

    There is no share of a mean that is nearly zero beside the values, as that of standardised ones is.
    """
    tolerance = claims.mean_tolerance.get(name)
    counts = found.cells, found.set_to_missing, found.left_out
    if not found.cells:
        return MeanChange(name, 0.0, 0.0, 0.0, tolerance, True, *counts, math.nan, None)
    kept = tolerance is None or bool(abs(found.change) <= tolerance + NEGLIGIBLE * found.size)
    relative = found.change / found.size if found.size > 0 else found.change
    mean = found.source_mean
    column = found.released_mean - mean if any(counts[1:]) else found.change
    has_share = math.isfinite(mean) and abs(mean) > SMALL_MEAN * found.size
    share = column / abs(mean) if has_share else None
    return MeanChange(name, found.change, found.total, relative, tolerance, kept, *counts, column, share)
