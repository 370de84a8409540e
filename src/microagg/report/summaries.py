"""What charts show, computed from columns: intervals, correlations, and groups seen in a plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microagg.report.facts import Codes, Subset, Values

MOST_BINS = 30
DRAWN_RECORDS = 600
"""Records in a chart of groups, at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """Records and the means of their groups on the first two principal components of the original."""

    columns: Sequence[str]
    """Those that vary."""
    weights: Values
    """The weight of each column in the two components."""
    shares: Values
    """Of the variance, in percent."""
    records: Values
    means: Values
    groups: Codes


def plane_of(subset: Subset) -> Plane | None:
    """None if fewer than two columns vary."""
    complete = subset.complete()
    before, after, groups = complete.before, complete.after, complete.groups
    deviations = before.std(axis=0) if len(before) else np.zeros(len(subset.columns))
    varies = deviations > 0
    if varies.sum() < 2:
        return None
    middle, scale = before[:, varies].mean(axis=0), deviations[varies]
    points = (before[:, varies] - middle) / scale
    variances, vectors = np.linalg.eigh(points.T @ points / len(points))
    weights = vectors[:, [-1, -2]]
    weights = weights * np.where(weights[np.abs(weights).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    shown = _some_groups(groups)
    return Plane(
        [name for name, used in zip(subset.columns, varies, strict=True) if used],
        weights,
        100.0 * variances[[-1, -2]] / variances.sum(),
        points[shown] @ weights,
        ((after[:, varies] - middle) / scale)[shown] @ weights,
        groups[shown],
    )


def _some_groups(groups: Codes) -> Codes:
    """Records of whole groups, drawn at random if there are many."""
    if len(groups) <= DRAWN_RECORDS:
        return np.arange(len(groups))
    order = np.random.default_rng(0).permutation(int(groups.max()) + 1)
    sizes = np.bincount(groups)[order]
    chosen = order[np.cumsum(sizes) <= DRAWN_RECORDS]
    if len(chosen) == 0:
        return np.random.default_rng(0).permutation(len(groups))[:DRAWN_RECORDS]
    return np.flatnonzero(np.isin(groups, chosen))


def correlation_matrix(values: Values) -> Values:
    """Of records that are complete; NaN for columns that do not vary there."""
    values = values[~np.isnan(values).any(axis=1)]
    if len(values) < 2:
        return np.full((values.shape[1],) * 2, np.nan)
    size = np.abs(values).max(axis=0)
    values = values / np.where(size > 0, size, 1.0)  # squares of large values could overflow
    values[:, values.std(axis=0) <= 1e-12] = np.nan
    return np.corrcoef(values, rowvar=False).reshape(values.shape[1], -1)


def power_of_ten(values: Values) -> float:
    """The unit of an axis: 1, or a power of ten for very large or very small values."""
    largest = float(np.abs(values).max())
    if largest == 0 or 1e-4 <= largest < 1e15:
        return 1.0
    return float(10.0 ** np.floor(np.log10(largest)))


def intervals(values: Values, every: Values, may_be_logarithmic: bool = True) -> tuple[Values, bool]:
    """Edges of intervals that hold every value, chosen by `values`; and whether they are logarithmic."""
    low, high = float(every.min()), float(every.max())
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        return np.array([low - 0.5, high + 0.5]), False
    if may_be_logarithmic and low > 0 and high > 40 * float(np.median(values)):
        low, high = low * 0.999, high * 1.001
        return np.geomspace(low, high, _bins(np.log(values)) + 1), True
    if high - low <= MOST_BINS and bool((values == np.round(values)).all()):
        return np.arange(np.floor(low) - 0.5, np.ceil(high) + 1.0), False
    return np.linspace(low, high, _bins(values) + 1), False


def _bins(values: Values) -> int:
    """By Freedman and Diaconis, within limits."""
    quarter, three = np.quantile(values, [0.25, 0.75])
    width = 2.0 * (three - quarter) / np.cbrt(len(values))
    span = float(values.max() - values.min())
    return int(np.clip(np.ceil(span / width) if width > 0 and span > 0 else MOST_BINS, 6, MOST_BINS))
