"""Means of groups moved so that covariances are kept, straight from the formula.

With C_Y the covariance of the group means and C_X that of the records, both of z-scores over the records:
A = C_Y^(−1/2) (C_Y^(1/2) C_X C_Y^(1/2))^(1/2) C_Y^(−1/2), and each group publishes mean + A (y − mean).
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def moved(values: Array, labels: Array, weights: Array | None = None) -> Array:
    """(n, p) What each record publishes. C_Y must have full rank."""
    weight = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=float)
    centre = np.average(values, axis=0, weights=weight)
    deviation = np.sqrt(np.average((values - centre) ** 2, axis=0, weights=weight))
    scores = (values - centre) / deviation
    means = np.empty_like(scores)
    for group in np.unique(labels):
        own = labels == group
        means[own] = np.average(scores[own], axis=0, weights=weight[own])
    of_records, of_means = (np.cov(each.T, aweights=weight, ddof=0) for each in (scores, means))
    root, inverse = power(np.atleast_2d(of_means), 0.5), power(np.atleast_2d(of_means), -0.5)
    by = inverse @ power(root @ np.atleast_2d(of_records) @ root, 0.5) @ inverse
    return np.asarray(centre + deviation * (means @ by.T))


def power(matrix: Array, exponent: float) -> Array:
    """Of a symmetric matrix with positive eigenvalues."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray(vectors * values**exponent @ vectors.T)
