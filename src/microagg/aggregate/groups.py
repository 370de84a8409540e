"""What a group publishes: the mean, the weighted mean or the median of its members, column by column."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from microagg import _core, wording
from microagg.model import Doubles, Labels, Whole


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


def median_levels(codes: Doubles, labels: Labels, weights: Doubles | None) -> Doubles:
    """The median level of each group: the lowest to which at least half of its records, or of their weight,
    belong or lie below.
    """
    order = np.lexsort((codes, labels))
    groups = labels[order]
    weight = np.ones(len(codes)) if weights is None else weights[order]
    totals = np.bincount(groups, weights=weight)
    starts = np.searchsorted(groups, np.arange(len(totals)))
    below = np.cumsum(weight)
    before = np.concatenate([[0.0], below])[starts]
    enough = below - before[groups] >= totals[groups] / 2.0 * (1.0 - TIE)
    found: Doubles = codes[order][_first_of_each(groups, enough)]
    return found


def modes(
    codes: Doubles,
    labels: Labels,
    weights: Doubles | None,
    overall: Doubles,
    paths: NDArray[np.int32] | None = None,
) -> Doubles:
    """The most frequent code of each group, or that with most weight; of several, the one that is more
    frequent overall, then the one that comes first. `overall`: by code, how frequent it is.

    With `paths` through a taxonomy, the code that is nearest to all: it shares most nodes with them.
    """
    whole = codes.astype(np.int64)
    pairs, of = np.unique(labels.astype(np.int64) * len(overall) + whole, return_inverse=True)
    group, code = np.divmod(pairs, len(overall))
    count = np.zeros(len(pairs))
    if paths is None:
        count += np.bincount(of, weights=weights)
    else:
        width = int(paths.max()) + 1
        for nodes in paths.T.astype(np.int64):
            _, records = np.unique(labels.astype(np.int64) * width + nodes[whole], return_inverse=True)
            shared = np.empty(len(pairs), dtype=np.int64)
            shared[of] = records
            count += np.bincount(records, weights=weights)[shared]
    largest = np.zeros(int(labels.max()) + 1)
    np.maximum.at(largest, group, count)
    is_mode = count >= largest[group] * (1.0 - TIE)
    order = np.lexsort((code, -overall[code], ~is_mode, group))
    found = code[order][np.searchsorted(group[order], np.arange(len(largest)))]
    return np.asarray(found, dtype=np.float64)


def _first_of_each(groups: Labels, chosen: NDArray[np.bool_]) -> Whole:
    """The first chosen place of each group; groups are in order."""
    places = np.flatnonzero(chosen)
    _, first = np.unique(groups[places], return_index=True)
    found: Whole = places[first]
    return found


TIE = 1e-12
"""Sums of weights that differ by a smaller share are equal but for rounding."""


def aggregate(values: Doubles, labels: Labels) -> Doubles:
    """Each record replaced by its group's mean, in the units of `values`.

    Members of a group get the very same number, bit for bit.
    """
    if len(values) != len(labels):
        raise wording.different_records_to_aggregate(len(values), len(labels))
    return _core.group_means(values, labels)[labels]
