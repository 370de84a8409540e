"""Interval disclosure: how near are released values to the true ones?

Where the original value is missing there is nothing to disclose, and such a cell does not count; where only
the released value is missing, nothing is disclosed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from microagg.measure.intruder_view import extremes, mean_and_deviation
from microagg.measure.pair import MeasureResult, Pair, Values
from microagg.measure.requirements import POSITIVE, SHARE
from microagg.measure.shared_values import column_codes, first_rows
from microagg.wording.phrases import count

Flags = NDArray[np.bool_]


def interval_sd(pair: Pair, *, width: float = 0.05) -> MeasureResult:
    """Share of records whose original values all lie within `width` standard deviations of the original."""
    POSITIVE.check("width", width)
    inside = _within(pair, width * mean_and_deviation(pair.original)[1])
    note = f"Within ±{width:g} standard deviations of the original columns."
    return MeasureResult(_joint(pair, inside), _by_column(pair, inside), note)


def interval_sd_masked(pair: Pair, *, width: float = 0.05) -> MeasureResult:
    """The same in standard deviations (n - 1) of the masked columns.

    That is sdcMicro's dRisk since its version 5.6.0; versions up to 5.3.0 allowed one column outside, as
    one of the parts does.
    """
    POSITIVE.check("width", width)
    inside = _within(pair, width * mean_and_deviation(pair.masked, ddof=1)[1])
    present = ~np.isnan(pair.original) & ~np.isnan(pair.masked)
    parts = {
        "at most one column outside": float(((present & ~inside).sum(axis=1) <= 1).mean()),
        **_by_column(pair, inside),
    }
    note = (
        f"Within ±{width:g} standard deviations of the masked columns; "
        "sdcMicro's dRisk is this share since version 5.6.0, and was the part with at most one column "
        "outside up to 5.3.0."
    )
    return MeasureResult(_joint(pair, inside), parts, note)


def interval_rank(pair: Pair, *, percents: Sequence[float] = tuple(range(1, 11))) -> MeasureResult:
    """Share of original values ranked within p % of the masked value: the mean over p and the columns."""
    for percent in percents:
        POSITIVE.check("percents", percent)
    count = (~np.isnan(pair.masked)).sum(axis=0)
    away = np.column_stack([_ranks_away(pair, column) for column in range(pair.p)])
    shares, joint, by_percent, by_column = [], [], {}, {}
    for percent in percents:
        inside = away <= (percent * count / 100.0).astype(np.int64)
        by_column = _by_column(pair, inside)
        shares.append(list(by_column.values()))
        joint.append(_joint(pair, inside))
        by_percent[f"within {percent:g} %"] = float(np.mean(shares[-1])) if by_column else np.nan
    parts = {
        "all columns at once": float(np.mean(joint)),
        **by_percent,
        **dict(zip(by_column, np.mean(shares, axis=0).tolist(), strict=True)),
    }
    note = f"Mean over the columns and over p from {min(percents):g} to {max(percents):g} %."
    return MeasureResult(float(np.mean(list(by_percent.values()))), parts, note)


def outlier_interval(pair: Pair, *, share: float = 0.01, width: float = 0.05) -> MeasureResult:
    """`interval_sd` of the most extreme records, by their distance from the mean."""
    SHARE.check("share", share)
    POSITIVE.check("width", width)
    rows = extremes(pair, share)
    outliers = replace(pair, original=pair.original[rows], masked=pair.masked[rows])
    inside = _within(outliers, width * mean_and_deviation(pair.original)[1])
    note = (
        f"Of the {count(rows.size, 'record')} farthest from the mean; "
        f"within ±{width:g} standard deviations of the original columns."
    )
    return MeasureResult(_joint(outliers, inside), _by_column(outliers, inside), note)


def _ranks_away(pair: Pair, column: int) -> NDArray[np.int64]:
    """How many ranks below or above the masked value one must go to have the original value in between.

    Equal masked values have all of their ranks. More than there are, if none will do.
    """
    original, masked = pair.original[:, column], pair.masked[:, column]
    codes = column_codes(pair)[column]
    distinct = masked[first_rows(codes)]
    sizes = np.bincount(codes)
    if np.isnan(distinct[-1]):
        distinct, sizes = distinct[:-1], sizes[:-1]
    if not distinct.size:
        return np.full(original.size, original.size + 1)
    ends = np.cumsum(sizes)
    code = np.minimum(codes, distinct.size - 1)
    place = np.searchsorted(distinct, original)  # of the first value that is not below the original
    inner = np.minimum(place, distinct.size - 1)
    up_to = np.where(distinct[inner] == original, ends[inner], ends[inner] - sizes[inner])
    below = ends[code] - sizes[code] - up_to + 1  # ranks down to one that is not above the original
    above = ends[inner] - sizes[inner] - ends[code] + 1  # ranks up to one that is not below it
    outside = (up_to == 0) | (place == distinct.size) | np.isnan(masked) | np.isnan(original)
    return np.where(outside, original.size + 1, np.maximum(np.maximum(below, above), 0))


def _within(pair: Pair, widths: Values) -> Flags:
    """Cells whose original and masked value differ by no more; comparisons with NaN are false."""
    return np.asarray(np.abs(pair.original - pair.masked) <= widths)


def _joint(pair: Pair, inside: Flags) -> float:
    """Share of records with all observed cells inside, of those that have any."""
    missing = np.isnan(pair.original)
    chosen = np.asarray(~missing.all(axis=1))
    hits = np.asarray((inside | missing).all(axis=1))
    return float(hits[chosen].mean()) if chosen.any() else np.nan


def _by_column(pair: Pair, inside: Flags) -> dict[str, float]:
    """Share of observed cells inside, by column that has any."""
    present = ~np.isnan(pair.original)
    return {
        name: float(inside[present[:, column], column].mean())
        for column, name in enumerate(pair.columns)
        if present[:, column].any()
    }
