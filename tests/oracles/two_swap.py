"""The two-swapping local search of CGS22 (figure 1)."""

import numpy as np
from numpy.typing import ArrayLike

from .basics import Floats, Labels, Rows, as_points, centroid_of, pairwise_distances, squared_distances
from .objective import canonical, sse

LEAST_GAIN = 1e-12  # of the current SSE


def two_swap(points: Floats, labels: ArrayLike) -> Labels:
    """As `exchanged`, with canonical labels."""
    return canonical(exchanged(points, labels))


def exchanged(points: Floats, labels: ArrayLike) -> Labels:
    """Exchange the best pair of records of different groups until no exchange improves.

    Replacing y by x in a group of m records with centroid c changes its sum of squares by
    |x - c|² - |y - c|² - |x - y|² / m (the centroid moves by (x - y) / m); an exchange is two
    replacements. The best of all pairs i < j is made, ties: the lowest (i, j), if it lowers the SSE
    by more than 1e-12 of it. Groups keep their numbers, which are 0, 1, ... in any order.
    """
    table = as_points(points)
    groups = np.array(labels, dtype=np.int32)
    n = len(table)
    if groups.shape != (n,):
        raise ValueError("one label per record is needed")
    sizes = np.bincount(groups)
    between = pairwise_distances(table)
    to_centroid = np.zeros((n, len(sizes)))
    change = np.full((n, n), np.inf)
    stale = np.arange(len(sizes))
    while True:
        for group in stale:
            middle = centroid_of(table[groups == group])
            to_centroid[:, group] = squared_distances(table, middle)
        for i in np.flatnonzero(np.isin(groups, stale)):
            row = _changes(i, groups, sizes, between, to_centroid)
            change[i, i + 1 :] = row[i + 1 :]
            change[:i, i] = row[:i]
        i, j = np.unravel_index(np.argmin(change), change.shape)
        if not change[i, j] < -LEAST_GAIN * sse(table, groups):
            return groups
        groups[i], groups[j] = groups[j], groups[i]
        stale = groups[[i, j]]


def _changes(i: int, groups: Labels, sizes: Rows, between: Floats, to_centroid: Floats) -> Floats:
    """The change of SSE by exchanging record i with each other record; infinite in its own group."""
    n = len(groups)
    own = groups[i]
    others = np.arange(n)
    i_replaces = to_centroid[i, groups] - to_centroid[others, groups] - between[i] / sizes[groups]
    replaces_i = to_centroid[:, own] - to_centroid[i, own] - between[i] / sizes[own]
    return np.where(groups == own, np.inf, i_replaces + replaces_i)
