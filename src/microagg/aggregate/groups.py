"""What a group publishes: the mean, the weighted mean or the median of its members, column by column."""

from __future__ import annotations

import numpy as np

from microagg import _core, wording
from microagg.model import Doubles, Labels


def values_by_group(values: Doubles, labels: Labels, how: str, weights: Doubles | None) -> Doubles:
    """One row for each group, in the units of `values`, which have no missing ones."""
    if how == "median":
        return _medians(values, labels)
    if weights is None:
        return _core.group_means(values, labels)
    # From the middle of each group: offsets, and other groups with far larger values, cost no digits.
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(labels.max() + 1))
    low, high = (bound.reduceat(values[order], starts) for bound in (np.minimum, np.maximum))
    middle = low / 2.0 + high / 2.0
    shares = weights / np.bincount(labels, weights=weights)[labels]
    means = [np.bincount(labels, weights=shares * column) for column in (values - middle[labels]).T]
    return np.ascontiguousarray(np.stack(means, axis=1) + middle)


def _medians(values: Doubles, labels: Labels) -> Doubles:
    sizes = np.bincount(labels)
    starts = np.cumsum(sizes) - sizes
    low, high = starts + (sizes - 1) // 2, starts + sizes // 2
    found = np.empty((len(sizes), values.shape[1]))
    for at, column in enumerate(values.T):
        ordered = column[np.lexsort((column, labels))]
        found[:, at] = ordered[low] / 2.0 + ordered[high] / 2.0
    return found


def aggregate(values: Doubles, labels: Labels) -> Doubles:
    """Each record replaced by its group's mean, in the units of `values`.

    Members of a group get the very same number, bit for bit.
    """
    if len(values) != len(labels):
        raise wording.different_records_to_aggregate(len(values), len(labels))
    return _core.group_means(values, labels)[labels]
