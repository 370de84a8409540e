"""What masking does to the data: the measures of CMP98, section 4.2.

Each takes the original and the masked table, both (n, p), and does not depend on the attributes' units.
Principal components are those of the correlation matrices, of the original and of the masked data each by
itself; a constant attribute has correlation 0 with everything.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


def mean_deviation(original: Values, masked: Values) -> float:
    """Average standard deviation of the masked attributes, those of the original being 1.

    From 0 to 1; averaging can only lower it, so nearer to 1 is better. Attributes that are constant in the
    original are left out.
    """
    before, after = original.std(axis=0), masked.std(axis=0)
    varies = before > 0
    return float(np.mean(after[varies] / before[varies])) if varies.any() else 1.0


def fpc_correlation_change(original: Values, masked: Values) -> float:
    """ΔR: average change, in percent, of the attributes' correlations with the first component. 0 is best.

    CMP98 speaks of the change in the average correlation; its figures are averages over the attributes of
    the absolute change of each.
    """
    (before, strength), (after, masked_strength) = _components(original, masked)
    return _mean_change(before * np.sqrt(strength), after * np.sqrt(masked_strength))


def fpc_weight_change(original: Values, masked: Values) -> float:
    """ΔW: average change, in percent, of the attributes' weights in the first component. 0 is best.

    The weights are those that give the component variance 1.
    """
    (before, strength), (after, masked_strength) = _components(original, masked)
    # Data without any variation have no component: weight 0.
    scales = [1.0 / np.sqrt(value) if value > 0 else 0.0 for value in (strength, masked_strength)]
    return _mean_change(before * scales[0], after * scales[1])


def fpc_share(original: Values, masked: Values) -> float:  # noqa: ARG001 (all measures take both)
    """%FPC: share of the masked data's variability, in percent, that its first component explains.

    From 100/p to 100; masking raises it, so nearer to the original's own share
    (`fpc_share(original, original)`) is better.
    """
    correlations = _correlations(masked)
    varying = float(np.trace(correlations))
    return 100.0 * float(np.linalg.eigvalsh(correlations)[-1]) / varying if varying else 100.0


def mean_correlation_change(original: Values, masked: Values) -> float:
    """Average of |Δr| over all pairs of attributes. From 0 to 2; 0 is best."""
    changes = _correlation_changes(original, masked)
    return float(changes.mean()) if changes.size else 0.0


def correlation_change_deviation(original: Values, masked: Values) -> float:
    """Sample standard deviation of |Δr| over all pairs of attributes. 0 is best."""
    changes = _correlation_changes(original, masked)
    return float(changes.std(ddof=1)) if changes.size > 1 else 0.0


def _correlations(values: Values) -> Values:
    centred = values - values.mean(axis=0)
    deviations = centred.std(axis=0)
    scores = np.divide(centred, deviations, out=np.zeros_like(centred), where=deviations > 0)
    return np.asarray(scores.T @ scores / len(values))


def _correlation_changes(original: Values, masked: Values) -> Values:
    pairs = np.triu_indices(original.shape[1], k=1)
    return np.asarray(np.abs(_correlations(masked) - _correlations(original))[pairs])


def _component(values: Values) -> tuple[Values, float]:
    """Unit vector and variance of the first component."""
    variances, vectors = np.linalg.eigh(_correlations(values))
    return vectors[:, -1], float(variances[-1])


def _components(original: Values, masked: Values) -> tuple[tuple[Values, float], tuple[Values, float]]:
    """Both first components, the masked one turned the way of the original one."""
    before, after = _component(original), _component(masked)
    if float(before[0] @ after[0]) < 0:
        after = (-after[0], after[1])
    return before, after


def _mean_change(before: Values, after: Values) -> float:
    """Average of the absolute changes in percent, of attributes that were there before."""
    present = np.abs(before) > 1e-12
    if not present.any():
        return 0.0
    return float(np.mean(100.0 * np.abs((after - before)[present] / before[present])))
