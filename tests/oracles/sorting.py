"""Univariate fixed-size microaggregation: CMP98 section 2.1, single-axis sorting.

Three criteria give every record one value to sort by; ``ufs`` then cuts the sorted records into
groups of k. All criteria are taken over the points as given.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from .basics import Floats, Labels, as_points, centroid_of
from .objective import labels_of


def z_scores(points: Floats) -> Floats:
    """Every attribute minus its mean, over its population standard deviation.

    An attribute all of whose values are the same is 0 everywhere.
    """
    table = as_points(points)
    deviations = table - centroid_of(table)
    scores = np.zeros_like(deviations)
    for attribute in range(table.shape[1]):
        column = deviations[:, attribute]
        if np.all(table[:, attribute] == table[0, attribute]):
            continue
        scores[:, attribute] = column / math.sqrt(math.fsum((column * column).tolist()) / len(column))
    return scores


def first_component(scores: Floats) -> tuple[Floats, float]:
    """The loadings of the first principal component of z-scores, and its variance.

    It is the unit eigenvector of their correlation matrix with the largest eigenvalue, its sign
    such that the loading of largest magnitude (the first of several) is positive.
    """
    correlation = scores.T @ scores / len(scores)
    values, vectors = np.linalg.eigh(correlation)
    loadings = vectors[:, -1]
    if loadings[np.argmax(np.abs(loadings))] < 0:
        loadings = -loadings
    return loadings, float(values[-1])


def order_by_column(points: Floats, column: int) -> Floats:
    """A particular variable (PV): the values of one attribute."""
    return as_points(points)[:, column].copy()


def order_by_zscores(points: Floats) -> Floats:
    """The sum of z-scores (SZ), attribute after attribute from left to right."""
    scores = z_scores(points)
    total = np.zeros(len(scores))
    for attribute in range(scores.shape[1]):
        total += scores[:, attribute]
    return total


def order_by_component(points: Floats) -> Floats:
    """The score on the first principal component of the correlation matrix (FPC)."""
    scores = z_scores(points)
    loadings, _ = first_component(scores)
    total = np.zeros(len(scores))
    for attribute in range(scores.shape[1]):
        total += scores[:, attribute] * loadings[attribute]
    return total


def ufs(values: ArrayLike, k: int, descending: bool = False) -> Labels:
    """Groups of k successive records of the sorted data; the last group takes the leftovers.

    Sorted by (value, row), or by (-value, row) if descending. One group if n < 2k.
    """
    column = np.asarray(values, dtype=np.float64)
    if column.ndim != 1 or len(column) == 0:
        raise ValueError("values must be a column with at least one value")
    if k < 1:
        raise ValueError("k must be at least 1")
    n = len(column)
    if n < 2 * k:
        return np.zeros(n, dtype=np.int32)
    order = np.argsort(-column if descending else column, kind="stable")
    starts = [k * group for group in range(n // k)]
    ends = [*starts[1:], n]
    return labels_of([order[start:end] for start, end in zip(starts, ends, strict=True)], n)
