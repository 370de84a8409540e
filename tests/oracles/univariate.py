"""Optimal microaggregation of one attribute (VLDBJ06 section 2, after Hansen and Mukherjee)."""

import numpy as np
from numpy.typing import ArrayLike

from .basics import Labels
from .objective import labels_of


def optimal_univariate(values: ArrayLike, k: int) -> tuple[Labels, float]:
    """The best partition with groups of at least k values, and its sum of squares.

    An optimal partition consists of runs of the sorted values with sizes k to 2k - 1. ``best[j]``
    is the least sum of squares of the j smallest values; every run is evaluated by itself in two
    passes. All in extended precision where the platform has it. Equal values are sorted by row;
    among equally good solutions the smaller last run is kept. With fewer than 2k values there
    is one group.
    """
    column = np.asarray(values, dtype=np.float64)
    if column.ndim != 1 or len(column) == 0:
        raise ValueError("values must be a column with at least one value")
    if k < 1:
        raise ValueError("k must be at least 1")
    n = len(column)
    order = np.argsort(column, kind="stable")
    ordered = column[order].astype(np.longdouble)
    if n < 2 * k:
        return np.zeros(n, dtype=np.int32), float(_run_cost(ordered))

    best = np.full(n + 1, np.inf, dtype=np.longdouble)
    best[0] = 0
    start_of = np.full(n + 1, -1)
    for end in range(k, n + 1):
        for size in range(k, min(2 * k - 1, end) + 1):
            start = end - size
            if np.isinf(best[start]):
                continue
            cost = best[start] + _run_cost(ordered[start:end])
            if cost < best[end]:
                best[end] = cost
                start_of[end] = start

    groups = []
    end = n
    while end > 0:
        groups.append(order[start_of[end] : end])
        end = start_of[end]
    return labels_of(groups, n), float(best[n])


def _run_cost(run: np.ndarray) -> np.longdouble:
    """Sum of squared deviations from the mean: first the mean, then the deviations."""
    total = np.longdouble(0)
    for value in run:
        total += value
    mean = total / len(run)
    cost = np.longdouble(0)
    for value in run:
        cost += (value - mean) * (value - mean)
    return cost
