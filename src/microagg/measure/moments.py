"""What masking does to means, variances, quantiles and to what columns have to do with each other.

Every statistic is that of the cells (for pairs of columns: of the records) that are known before and after.
Weighted, a record counts as often as its weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from microagg import wording
from microagg.measure import loss
from microagg.measure.comparable import Comparable, comparable
from microagg.measure.pair import MeasureResult, Pair, Values

QUANTILES = tuple(round(0.05 * step, 2) for step in range(1, 20))
"""From 5 % to 95 % in steps of 5 %."""

NO_VARIANCE = 1e-12
"""In units of a standardised column: less is rounding, or a column that is constant where it counts."""


def means(pair: Pair) -> MeasureResult:
    """Change of each mean in percent of the original's sd; the value is the mean absolute change.

    Not in percent of the mean, which may be zero, or have no meaning as an origin.
    """
    data = comparable(pair)
    if nothing := data.empty_result():
        return nothing
    mass = data.mass
    changes = 100.0 * (mass * (data.y - data.x)).sum(axis=0) / mass.sum(axis=0)
    return data.result(np.abs(changes).mean(), data.by_column(changes))


def variances(pair: Pair) -> MeasureResult:
    """Change of each variance in percent of the original's; the value is the mean absolute change."""
    data = comparable(pair)
    if nothing := data.empty_result():
        return nothing
    mass = data.mass
    weight = mass.sum(axis=0)
    centred = data.y - (mass * data.y).sum(axis=0) / weight
    changes = 100.0 * ((mass * centred**2).sum(axis=0) / weight - 1.0)
    return data.result(np.abs(changes).mean(), data.by_column(changes))


def quantiles(pair: Pair, *, at: Sequence[float] = QUANTILES) -> MeasureResult:
    """Mean absolute change of the quantiles `at` in percent of the original's sd; parts by column.

    The q-quantile is the smallest value that at least the share q of all records (of their weight) do not
    exceed. O(n log n) for each column.
    """
    data = comparable(pair)
    if nothing := data.empty_result():
        return nothing
    changes = np.empty(len(data.columns))
    for place in range(len(data.columns)):
        x, y, weights = data.column(place)
        moved = quantiles_of(y, weights, at) - quantiles_of(x, weights, at)
        changes[place] = 100.0 * np.abs(moved).mean()
    return data.result(changes.mean(), data.by_column(changes))


def covariances(pair: Pair) -> MeasureResult:
    """Mean of |Δ covariance| in percent of the product of the original sds, over pairs of columns.

    Parts: the mean over the pairs of each column.
    """
    return _over_pairs(comparable(pair), lambda values, data: 100.0 * pairwise(values, data)[0])


def correlations(pair: Pair) -> MeasureResult:
    """Mean of |Δr| over pairs of columns, Pearson's r; parts: the mean over the pairs of each column.

    A column that is constant after masking has correlation 0.
    """
    return _over_pairs(comparable(pair), lambda values, data: pairwise(values, data)[1])


def rank_correlations(pair: Pair) -> MeasureResult:
    """Mean of |Δρ| over pairs of columns, Spearman's ρ: Pearson's r of mean ranks. Parts as `correlations`.

    Ranks are those among all cells of the column that count; weighted, a record has as many places as its
    weight.
    """
    return _over_pairs(comparable(pair), lambda values, data: pairwise(_mean_ranks(values, data), data)[1])


def eigenvalues(pair: Pair) -> MeasureResult:
    """Σ |e − e'| / e over the sorted eigenvalues of the correlation matrices; parts by component.

    Of complete records. Components without variance in the original (e = 0) are left out.
    """
    data = comparable(pair)
    x, y, weights, left_out = data.complete()
    if nothing := data.empty_result() or data.too_few(len(x), left_out):
        return nothing
    before = np.linalg.eigvalsh(loss.correlation_matrix_of(x, weights))[::-1]
    after = np.linalg.eigvalsh(loss.correlation_matrix_of(y, weights))[::-1]
    present = before > NO_VARIANCE * len(before)
    changes = np.abs(before - after)[present] / before[present]
    notes = [left_out] if left_out else []
    if not present.all():
        notes.append(wording.note_null_components(int((~present).sum())))
    parts = {f"component {at + 1}": change for at, change in enumerate(changes.tolist())}
    return data.result(changes.sum(), parts, "; ".join(notes))


def mean_deviation(pair: Pair) -> MeasureResult:
    """CMP98: mean sd after masking, those of the original being 1; parts by column."""
    data = comparable(pair)
    if nothing := data.empty_result(unchanged=1.0):
        return nothing
    deviations = np.empty(len(data.columns))
    for at in range(len(data.columns)):
        x, y, weights = data.column(at)
        deviations[at] = loss.mean_deviation(x[:, np.newaxis], y[:, np.newaxis], weights)
    return data.result(deviations.mean(), data.by_column(deviations))


def fpc_correlation(pair: Pair) -> MeasureResult:
    """CMP98's ΔR, of complete records."""
    return _of_complete(pair, loss.fpc_correlation_change)


def fpc_weight(pair: Pair) -> MeasureResult:
    """CMP98's ΔW, of complete records."""
    return _of_complete(pair, loss.fpc_weight_change)


def fpc_share(pair: Pair) -> MeasureResult:
    """CMP98's %FPC of the masked records; parts: of the original, of the masked. Complete records only."""
    data = comparable(pair)
    x, y, weights, left_out = data.complete()
    if not data.columns or len(x) < 2:  # without any variation there is no share, changed or not
        return data.result(np.nan, note=wording.note_nothing_to_compare())
    shares = {"original": loss.fpc_share(x, x, weights), "masked": loss.fpc_share(x, y, weights)}
    return data.result(shares["masked"], shares, left_out)


def correlation_change_deviation(pair: Pair) -> MeasureResult:
    """CMP98's sample standard deviation of |Δr| over pairs of columns, of complete records."""
    found = _of_complete(pair, loss.correlation_change_deviation)
    return found if pair.p > 1 else replace(found, note=wording.note_one_column())


def quantiles_of(values: Values, weights: Values, at: Sequence[float]) -> Values:
    """The smallest values that at least these shares of the weight do not exceed."""
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    # A share that is reached but for rounding is reached.
    wanted = np.asarray(at) * reached[-1] * (1.0 - 1e-12)
    return np.asarray(values[order[np.searchsorted(reached, wanted)]])


def _mean_ranks(values: Values, data: Comparable) -> Values:
    """Mean ranks of each column, centred and as shares of all, 0 where missing."""
    ranks = np.zeros_like(values)
    for at in range(values.shape[1]):
        rows = data.present[:, at]
        weights = data.weights[rows]
        _, place = np.unique(values[rows, at], return_inverse=True)
        tied = np.bincount(place, weights)
        ranks[rows, at] = ((np.cumsum(tied) - tied / 2) / tied.sum() - 0.5)[place]
    return ranks


def pairwise(values: Values, data: Comparable) -> tuple[Values, Values]:
    """Covariances and correlations of all pairs of columns, NaN for pairs that no record has both of.

    `values` are 0 where missing, and of the order of 1 around 0: sums of squares lose no digits.
    """
    present = data.present.astype(np.float64)
    mass = data.mass
    weight = present.T @ mass
    weight[weight == 0] = np.nan
    # Row i, column j: of column i, over the records that also have column j.
    mean = values.T @ mass / weight
    variance = (values**2).T @ mass / weight - mean**2
    covariance = values.T @ (values * data.weights[:, np.newaxis]) / weight - mean * mean.T
    scale = np.sqrt(np.where(variance > NO_VARIANCE, variance, np.inf))
    # A pair of which one column is constant has correlation 0; a pair without records none.
    return covariance, np.where(np.isnan(weight), np.nan, covariance / (scale * scale.T))


def _over_pairs(data: Comparable, statistic: Callable[[Values, Comparable], Values]) -> MeasureResult:
    """Mean absolute change of a statistic over pairs of columns, and over the pairs of each column."""
    if nothing := data.empty_result():
        return nothing
    p = len(data.columns)
    if p == 1:
        return data.result(0.0, note=wording.note_one_column())
    changes = np.abs(statistic(data.y, data) - statistic(data.x, data))
    changes[np.diag_indices(p)] = np.nan
    known = ~np.isnan(changes)
    sums, counts = np.where(known, changes, 0.0).sum(axis=0), known.sum(axis=0)
    if not counts.any():
        return data.result(np.nan, note=wording.note_nothing_to_compare())
    by_column = np.divide(sums, counts, out=np.full(p, np.nan), where=counts > 0)
    return data.result(sums.sum() / counts.sum(), data.by_column(by_column))


def _of_complete(pair: Pair, measure: Callable[[Values, Values, Values], float]) -> MeasureResult:
    """A measure of loss.py, of records without missing cells and columns that vary."""
    data = comparable(pair)
    x, y, weights, left_out = data.complete()
    if nothing := data.empty_result() or data.too_few(len(x), left_out):
        return nothing
    return data.result(measure(x, y, weights), note=left_out)
