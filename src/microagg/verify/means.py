"""What masking did to the mean of a column."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from microagg.model import Claims, Doubles
from microagg.verdict import NEGLIGIBLE, MeanChange

SMALL_MEAN = 0.01
"""A mean below this share of the values' average size is too small to give changes as a share of it."""


UNIT_FOR_HUGE_VALUES = 2.0**-800
"""Columns with values beyond its inverse are summed in this unit, so that sums do not overflow."""


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


def mean_figures(
    before: Doubles,
    after: Doubles,
    everything: Doubles,
    weights: Doubles | None,
    all_weights: Doubles | None,
) -> MeanFigures:
    """`everything`: the column of the source with the records that are left out; `all_weights`: theirs."""
    gaps, gone = np.isnan(before) | np.isnan(after), np.isnan(everything)
    cells, had = len(gaps) - int(gaps.sum()), len(before) - int(np.isnan(before).sum())
    counts = cells, had - cells, len(gone) - int(gone.sum()) - had
    if not cells:
        return MeanFigures(*counts)
    if gaps.any():
        before, after = before[~gaps], after[~gaps]
        weights = None if weights is None else weights[~gaps]
    if gone.any():
        everything = everything[~gone]
        all_weights = None if all_weights is None else all_weights[~gone]
    unit = unit_of(before, after, everything)
    old, new = before * unit, after * unit
    total, weight = _sum_and_weight(new - old, weights)
    size, _ = _sum_and_weight(np.abs(old), weights)
    released = _sum_and_weight(new, weights)[0] if any(counts[1:]) else np.nan
    source, whole_weight = _sum_and_weight(everything * unit, all_weights)
    return MeanFigures(
        *counts,
        change=float(total / weight / unit),
        total=float(total / unit),
        size=float(size / weight / unit),
        released_mean=float(released / weight / unit),
        source_mean=float(source / whole_weight / unit),
    )


def unit_of(*columns: Doubles) -> float:
    """In which sums and squares of these columns do not overflow."""
    largest = max(max(values.max(), -values.min()) for values in columns)
    return UNIT_FOR_HUGE_VALUES if largest > 1.0 / UNIT_FOR_HUGE_VALUES else 1.0


def _sum_and_weight(values: Doubles, weights: Doubles | None) -> tuple[np.float64, np.float64]:
    if weights is None:
        return np.sum(values), np.float64(len(values))
    return np.sum(weights * values), np.sum(weights)
