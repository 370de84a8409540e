"""What masking does to the data: the measures of CMP98, section 4.2.

Each takes the original and the masked table, both (n, p), and does not depend on the attributes' units.
Principal components are those of the correlation matrices, of the original and of the masked data each by
itself; a constant attribute has correlation 0 with everything. With weights, one for each record, a weight
of two counts as two equal records.
"""

from __future__ import annotations

import numpy as np

from microagg.measure.pair import Values

Weights = Values | None


def mean_deviation(original: Values, masked: Values, weights: Weights = None) -> float:
    """Average standard deviation of the masked attributes, those of the original being 1.

    From 0 to 1; averaging can only lower it, so nearer to 1 is better. Attributes that are constant in the
    original are left out.
    """
    before, after = deviations(original, weights), deviations(masked, weights)
    varies = before > 0
    return float(np.mean(after[varies] / before[varies])) if varies.any() else 1.0


def fpc_correlation_change(original: Values, masked: Values, weights: Weights = None) -> float:
    """ΔR: average change, in percent, of the attributes' correlations with the first component. 0 is best.

    CMP98 speaks of the change in the average correlation; its figures are averages over the attributes of
    the absolute change of each.
    """
    (before, strength), (after, masked_strength) = _components(original, masked, weights)
    return _mean_change(before * np.sqrt(strength), after * np.sqrt(masked_strength))


def fpc_weight_change(original: Values, masked: Values, weights: Weights = None) -> float:
    """ΔW: average change, in percent, of the attributes' weights in the first component. 0 is best.

    The weights are those that give the component variance 1.
    """
    (before, strength), (after, masked_strength) = _components(original, masked, weights)
    # Data without any variation have no component: weight 0.
    scales = [1.0 / np.sqrt(value) if value > 0 else 0.0 for value in (strength, masked_strength)]
    return _mean_change(before * scales[0], after * scales[1])


def fpc_share(original: Values, masked: Values, weights: Weights = None) -> float:  # noqa: ARG001 (as all)
    """%FPC: share of the masked data's variability, in percent, that its first component explains.

    From 100/p to 100; masking raises it, so nearer to the original's own share
    (`fpc_share(original, original)`) is better.
    """
    matrix = correlation_matrix_of(masked, weights)
    varying = float(np.trace(matrix))
    return 100.0 * float(np.linalg.eigvalsh(matrix)[-1]) / varying if varying else 100.0


def mean_correlation_change(original: Values, masked: Values, weights: Weights = None) -> float:
    """Average of |Δr| over all pairs of attributes. From 0 to 2; 0 is best."""
    changes = _correlation_changes(original, masked, weights)
    return float(changes.mean()) if changes.size else 0.0


def correlation_change_deviation(original: Values, masked: Values, weights: Weights = None) -> float:
    """Sample standard deviation of |Δr| over all pairs of attributes. 0 is best."""
    changes = _correlation_changes(original, masked, weights)
    return float(changes.std(ddof=1)) if changes.size > 1 else 0.0


def deviations(values: Values, weights: Weights = None) -> Values:
    """Population standard deviations of the columns."""
    return np.asarray(np.sqrt(np.average((values - _means(values, weights)) ** 2, axis=0, weights=weights)))


def correlation_matrix_of(values: Values, weights: Weights = None) -> Values:
    """Of all pairs of columns; those of a constant column are 0, with itself too."""
    centred = values - _means(values, weights)
    spread = deviations(centred, weights)
    scores = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0)
    if weights is None:
        return np.asarray(scores.T @ scores / len(values))
    return np.asarray(scores.T @ (scores * weights[:, np.newaxis]) / weights.sum())


def _means(values: Values, weights: Weights) -> Values:
    return np.asarray(np.average(values, axis=0, weights=weights))


def _correlation_changes(original: Values, masked: Values, weights: Weights) -> Values:
    pairs = np.triu_indices(original.shape[1], k=1)
    return np.asarray(
        np.abs(correlation_matrix_of(masked, weights) - correlation_matrix_of(original, weights))[pairs]
    )


def _component(values: Values, weights: Weights) -> tuple[Values, float]:
    """Unit vector and variance of the first component."""
    variances, vectors = np.linalg.eigh(correlation_matrix_of(values, weights))
    return vectors[:, -1], float(variances[-1])


def _components(
    original: Values, masked: Values, weights: Weights
) -> tuple[tuple[Values, float], tuple[Values, float]]:
    """Both first components, the masked one turned the way of the original one."""
    before, after = _component(original, weights), _component(masked, weights)
    if float(before[0] @ after[0]) < 0:
        after = (-after[0], after[1])
    return before, after


def _mean_change(before: Values, after: Values) -> float:
    """Average of the absolute changes in percent, of attributes that were there before."""
    present = np.abs(before) > 1e-12
    if not present.any():
        return 0.0
    return float(np.mean(100.0 * np.abs((after - before)[present] / before[present])))
