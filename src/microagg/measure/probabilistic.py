"""Probabilistic information loss: changes of statistics, measured by the chance of sampling.

After Mateo-Sanz, Domingo-Ferrer and Sebé (2005). The original records are taken for a population, from
which a sample of as many records is drawn. A statistic θ of it would differ from the population's by a
normal error of variance V/n; if masking has moved θ to θ', the loss is the probability of a smaller error,

    100 · P(|Z| ≤ |θ' − θ| / √(V/n)),    Z standard normal,

0 if nothing has changed, at most 100. With central moments μ_kl and the correlation r of the original, V is

    mean            μ_20
    variance        μ_40 − μ_20²
    covariance      μ_22 − μ_11²
    correlation     μ_22 (1 + r²/2) + r² (μ_40 + μ_04)/4 − r (μ_31 + μ_13)    (columns of variance 1)

For the q-quantile the change is taken in shares of the original instead of values: the distance of q from
the interval between the shares of the original below, and up to, the masked quantile, with V = q (1 − q).
To first order that is the same, and no density has to be estimated. Weighted, all statistics are, and n is
(Σw)²/Σw².
"""

from __future__ import annotations

from math import erf

import numpy as np

from microagg.measure.comparable import Comparable, comparable
from microagg.measure.moments import NO_VARIANCE, QUANTILES, pairwise, quantiles_of
from microagg.measure.pair import MeasureResult, Pair, Values

ROUNDED_CHANGE = 1e-9
"""Changes of standardised statistics below it are rounding, where chance would have none."""


def pil(pair: Pair) -> MeasureResult:
    """Mean of the losses of quantiles, means, variances, covariances and correlations; these are the parts.

    The loss of each is the mean over the columns, or pairs of columns, and over the quantiles from 5 % to
    95 % in steps of 5 %. With one column there are three parts. It grows with the number of records, to
    which any change will seem large once there are enough of them. O(n log n) a column and O(n) a pair.
    """
    data = comparable(pair)
    if nothing := data.empty_result():
        return nothing
    losses = {"quantiles": _quantiles(data), **_of_moments(data)}
    if len(data.columns) > 1:
        losses |= _of_pairs(data)
    parts = {name: float(np.mean(values)) for name, values in losses.items() if values.size}
    return data.result(float(np.mean(list(parts.values()))), parts)


def _probabilities(changes: Values, variances: Values, n: Values) -> Values:
    """That chance alone would change statistics by less, in percent."""
    by_chance = variances > NO_VARIANCE
    errors = np.sqrt(np.where(by_chance, variances, 1.0) / n)
    found = [erf(scaled) for scaled in (np.abs(changes) / errors / np.sqrt(2.0)).ravel().tolist()]
    found_or_all = np.where(by_chance, np.reshape(found, np.shape(changes)), 1.0)
    return np.asarray(100.0 * np.where(np.abs(changes) <= ROUNDED_CHANGE, 0.0, found_or_all))


def _effective_size(weights: Values) -> Values:
    """Kish's effective number of records."""
    return np.asarray(weights.sum(axis=0) ** 2 / (weights**2).sum(axis=0))


def _quantiles(data: Comparable) -> Values:
    at = np.asarray(QUANTILES)
    losses = []
    for place in range(len(data.columns)):
        x, y, weights = data.column(place)
        order = np.argsort(x)
        reached = np.concatenate(([0.0], np.cumsum(weights[order]))) / weights.sum()
        moved = quantiles_of(y, weights, QUANTILES)
        below = reached[np.searchsorted(x, moved, side="left", sorter=order)]
        up_to = reached[np.searchsorted(x, moved, side="right", sorter=order)]
        changes = np.maximum(np.maximum(below - at, at - up_to), 0.0)
        losses.append(_probabilities(changes, at * (1.0 - at), _effective_size(weights)))
    return np.asarray(losses)


def _of_moments(data: Comparable) -> dict[str, Values]:
    """Of means and variances; before masking they are 0 and 1."""
    mass = data.mass
    weight, n = mass.sum(axis=0), _effective_size(mass)
    means = (mass * data.y).sum(axis=0) / weight
    variances = (mass * (data.y - means) ** 2).sum(axis=0) / weight
    fourth = (mass * np.square(np.square(data.x))).sum(axis=0) / weight
    return {
        "means": _probabilities(means, np.ones_like(means), n),
        "variances": _probabilities(variances - 1.0, fourth - 1.0, n),
    }


def _of_pairs(data: Comparable) -> dict[str, Values]:
    """Of covariances and correlations, for pairs that vary over the records that have both columns."""
    covariances, correlations = pairwise(data.x, data)
    masked_covariances, masked_correlations = pairwise(data.y, data)
    present, mass = data.present.astype(np.float64), data.mass
    total = present.T @ mass
    total[total == 0] = np.nan
    n = total**2 / (mass.T @ mass)
    x = data.x
    square, cube = x * x, x * x * x
    # Raw moments over the records that have both columns: row i for the first, column j for the second.
    weighted = x * data.weights[:, np.newaxis]
    m10, m20, m30, m40 = (power.T @ mass / total for power in (x, square, cube, square * square))
    m11, m21, m31 = (power.T @ weighted / total for power in (x, square, cube))
    m22 = square.T @ (weighted * x) / total
    # Central ones, by the binomial theorem; x is around 0, so that hardly anything cancels.
    u, v = m10, m10.T
    c20 = m20 - u**2
    c40 = m40 - 4 * u * m30 + 6 * u**2 * m20 - 3 * u**4
    c31 = m31 - 3 * u * m21 + 3 * u**2 * m11 - v * m30 + 3 * u * v * m20 - 3 * u**3 * v
    c22 = m22 - 2 * v * m21 - 2 * u * m21.T + v**2 * m20 + u**2 * m20.T + 4 * u * v * m11 - 3 * (u * v) ** 2
    usable = np.triu((c20 > NO_VARIANCE) & (c20.T > NO_VARIANCE), k=1)
    s, t = np.sqrt(c20[usable]), np.sqrt(c20.T[usable])
    c40, c04 = c40[usable] / s**4, c40.T[usable] / t**4
    c31, c13 = c31[usable] / (s**3 * t), c31.T[usable] / (s * t**3)
    c22, r, n = c22[usable] / (s * t) ** 2, correlations[usable], n[usable]
    change = (masked_covariances - covariances)[usable] / (s * t)
    of_r = c22 * (1 + r**2 / 2) + r**2 * (c40 + c04) / 4 - r * (c31 + c13)
    return {
        "covariances": _probabilities(change, c22 - r**2, n),
        "correlations": _probabilities(masked_correlations[usable] - r, of_r, n),
    }
