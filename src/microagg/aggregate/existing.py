"""Groups that publish one of the source's own combinations of categories: the nearest to their records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from microagg import _core
from microagg.aggregate.grouped import Grouped
from microagg.methods.run import Run
from microagg.model import Doubles, Whole
from microagg.prepare.key_columns import KeyColumn
from microagg.prepare.strata import combinations

MOST_COMBINATIONS = 20_000
"""Beside those of its own records, a group may publish one of so many: the most frequent ones."""

_PRICES_AT_ONCE = 10_000_000

_Codes = NDArray[np.int32]


def nearest_existing(grouped: Grouped, middles: Doubles) -> Doubles:
    """(groups, columns) The middles; categories are such that some record of the source has all of them.

    The nearest combination is that which costs least in the records of the group, by the costs of the
    search. Numbers and dates stay as they are.
    """
    published = middles.copy()
    first = 0
    for task, found in grouped.tasks:
        own = slice(first, first + found.groups)
        first += found.groups
        _, names = task.numbers_and_categories()
        categories = task.problem.categories
        if not names or categories is None:
            continue
        places = [grouped.columns.index(name) for name in names]
        kinds = [grouped.kinds[name] for name in names]
        values = np.stack([grouped.values[name] for name in names], axis=1)
        known = values[~np.isnan(values).any(axis=1)].astype(np.int32)
        members = values[task.rows].astype(np.int32)
        weights = None if grouped.weights is None else grouped.weights[task.rows]
        chosen = published[own, places].astype(np.int32)
        _choose(chosen, members, found.labels.astype(np.int64), weights, known, kinds, categories.cost)
        published[own, places] = chosen
    return published


def _choose(
    chosen: _Codes,
    members: _Codes,
    labels: Whole,
    weights: Doubles | None,
    known: _Codes,
    kinds: list[KeyColumn],
    cost: Doubles,
) -> None:
    """Replace combinations that no record has."""
    of = combinations(np.concatenate([known, chosen]))
    of_known, of_chosen = of[: len(known)], of[len(known) :]
    counts = np.bincount(of_known, minlength=int(of.max()) + 1)
    missing = np.flatnonzero(counts[of_chosen] == 0)
    if not len(missing):
        return
    frequent = np.argsort(-counts, kind="stable")[:MOST_COMBINATIONS]
    frequent = frequent[counts[frequent] > 0]
    example = np.zeros(len(counts), dtype=np.int64)
    example[of_known] = np.arange(len(known))
    weight = np.ones(len(members)) if weights is None else weights
    widths = [int(column.max()) + 1 for column in known.T]
    at_once = max(_PRICES_AT_ONCE // sum(widths), 1)
    for part in np.split(missing, range(at_once, len(missing), at_once)):
        rows = np.flatnonzero(np.isin(labels, part))
        group = np.searchsorted(part, labels[rows])
        order = np.lexsort((rows, group))
        prices = [
            cost[at] * _prices(members[rows, at], group, weight[rows], len(part), width, kind)
            for at, (width, kind) in enumerate(zip(widths, kinds, strict=True))
        ]
        first = np.searchsorted(group[order], np.arange(len(part) + 1))
        chosen[part] = _nearest(known[example[frequent]], members[rows[order]], first, prices)


def _nearest(combinations: _Codes, own: _Codes, first: Whole, prices: list[Doubles]) -> _Codes:
    """Of all combinations and those of its own records, the one that costs each group least."""
    run = Run()
    return run.call(
        lambda: _core.nearest_combinations(
            np.concatenate([combinations, own]), len(combinations), first, prices, run.watch
        )
    )


def _prices(
    codes: _Codes, group: Whole, weight: Doubles, groups: int, width: int, kind: KeyColumn
) -> Doubles:
    """(groups, codes) What it costs if a group publishes a code: cells or levels that change."""
    counts = np.bincount(group * width + codes, weights=weight, minlength=groups * width)
    counts = counts.reshape(groups, width)
    if kind.kind == "ordinal":
        levels = np.arange(width)
        return np.ascontiguousarray(counts @ np.abs(levels[:, None] - levels))
    if kind.paths is None:
        return np.ascontiguousarray(counts.sum(axis=1, keepdims=True) - counts)
    paths = kind.paths[:width]
    different = np.mean(paths[:, None, :] != paths[None, :, :], axis=2)
    return np.ascontiguousarray(counts @ different)
