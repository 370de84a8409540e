"""How far the cells themselves have moved: IL, IL1s, and how many have moved at all.

Weighted, each record counts as often as its weight, in means and standard deviations too.
"""

from __future__ import annotations

import numpy as np

from microagg import wording
from microagg.measure.comparable import Comparable, change_by_one_value, comparable
from microagg.measure.pair import MeasureResult, Pair, Values

LONGEST_SUBSET_NAME = 40
"""Longer names of subsets are cut."""


def il(pair: Pair) -> MeasureResult:
    """100 · SSE / SST on columns standardised by the original's population sd; parts by column.

    Of a category: its changes, as a share of those by which all records would publish one value.
    """
    data = comparable(pair)
    if nothing := data.empty_result():
        return nothing
    sse, sst = _squares(data)
    weight = _importance(pair, data)
    loss = 100.0 * (weight * sse).sum() / (weight * sst).sum()
    return data.result(loss, data.by_column(100.0 * sse / sst))


def changed_cells(pair: Pair) -> MeasureResult:
    """Share of the cells with a value, before or after, whose value has changed; parts by column."""
    counted = ~(np.isnan(pair.original) & np.isnan(pair.masked))
    changed = ~pair.same
    parts = {
        name: float(100.0 * changed[:, at].sum() / counted[:, at].sum())
        for at, name in enumerate(pair.columns)
        if counted[:, at].any()
    }
    return MeasureResult(float(100.0 * changed.sum() / counted.sum()), parts)


def il_subsets(pair: Pair) -> MeasureResult:
    """IL of the columns of each subset; the value is the largest."""
    data = comparable(pair)
    if nothing := data.empty_result():
        return nothing
    sse, sst = (_importance(pair, data) * each for each in _squares(data))
    parts: dict[str, float] = {}
    for subset in pair.subsets:
        own = [data.places.index(place) for place in subset if place in data.places]
        if own:
            name = _named([pair.columns[place] for place in subset], parts)
            parts[name] = float(100.0 * sse[own].sum() / sst[own].sum())
    flat = len(pair.subsets) - len(parts)
    note = wording.note_flat_parts("subset" if flat == 1 else "subsets", flat) if flat else ""
    return data.result(max(parts.values(), default=np.nan), parts, note)


def il_strata(pair: Pair) -> MeasureResult:
    """SSE of each stratum as a share of its own SST, around its own means; the value is the largest.

    Columns are in units of the whole file's sd, so that a column that hardly varies in a stratum hardly
    counts in it. Parts are named by the strata's numbers: their codes are values.
    """
    data = comparable(pair)
    if nothing := data.empty_result():
        return nothing
    count = int(pair.strata.max()) + 1
    sse, sst = np.zeros(count), np.zeros(count)
    mass = data.mass * _importance(pair, data)
    for at in range(len(data.columns)):
        x, own = data.x[:, at], mass[:, at]
        sse += np.bincount(pair.strata, own * (x - data.y[:, at]) ** 2, count)
        sst += _by_one_value(pair, data, at, own, count)
    varies = sst > 1e-12 * np.bincount(pair.strata, data.weights, count)
    parts = {f"stratum {h}": float(100.0 * sse[h] / sst[h]) for h in np.flatnonzero(varies).tolist()}
    flat = len(np.unique(pair.strata)) - len(parts)
    note = wording.note_flat_parts("stratum" if flat == 1 else "strata", flat) if flat else ""
    return data.result(max(parts.values(), default=np.nan), parts, note)


def il1s(pair: Pair) -> MeasureResult:
    """Mean over the cells of |x − y| / (√2 s), s the sample sd of the column in the original; by column.

    Weighted, the mean and s are weighted; s then has the divisor Σw · (m − 1)/m for m records, so that
    weights matter only in their proportions.
    """
    data = comparable(pair)
    if nothing := data.empty_result():
        return nothing
    sums, mass = _absolute(data)
    return data.result(sums.sum() / mass.sum(), data.by_column(sums / mass))


def il1s_sum(pair: Pair) -> MeasureResult:
    """IL1s times the number of cells: the sum that sdcMicro prints; parts by column."""
    data = comparable(pair)
    if nothing := data.empty_result():
        return nothing
    sums, mass = _absolute(data)
    cells = data.present.sum(axis=0)
    parts = data.by_column(sums / mass * cells)
    return data.result(sums.sum() / mass.sum() * cells.sum(), parts)


def _by_one_value(pair: Pair, data: Comparable, at: int, mass: Values, count: int) -> Values:
    """What one value of a column for all records of each stratum would cost."""
    place, strata = data.places[at], pair.strata
    if place in data.units:
        known = data.present[:, at]
        values = pair.original[known, place]
        paths = pair.paths.get(pair.columns[place])
        changes = change_by_one_value(values, mass[known], pair.kind(place), paths, strata[known], count)
        return data.units[place] * changes
    x = data.x[:, at]
    weight = np.bincount(strata, mass, count)
    means = np.divide(np.bincount(strata, mass * x, count), weight, out=np.zeros(count), where=weight > 0)
    return np.asarray(np.bincount(strata, mass * (x - means[strata]) ** 2, count), dtype=np.float64)


def _importance(pair: Pair, data: Comparable) -> Values:
    return np.array([pair.importance.get(name, 1.0) for name in data.columns])


def _squares(data: Comparable) -> tuple[Values, Values]:
    """SSE and SST of each column. A standardised column's SST is the weight of its cells."""
    mass = data.mass
    return np.asarray((mass * (data.x - data.y) ** 2).sum(axis=0)), np.asarray(mass.sum(axis=0))


def _absolute(data: Comparable) -> tuple[Values, Values]:
    """Sum of |x − y| / (√2 s) and weight of the cells, by column."""
    mass = data.mass
    cells = data.present.sum(axis=0)
    sample = np.sqrt(cells / (cells - 1.0))  # a column that varies has two cells
    return (mass * np.abs(data.x - data.y)).sum(axis=0) / (np.sqrt(2.0) * sample), mass.sum(axis=0)


def _named(columns: list[str], taken: dict[str, float]) -> str:
    """a+b+c, cut if it is long, and numbered where others would be cut to the same text."""
    name = "+".join(columns)
    if len(name) > LONGEST_SUBSET_NAME:
        name = name[: LONGEST_SUBSET_NAME - 1] + "…"
    number = 2
    unique = name
    while unique in taken:
        unique, number = f"{name} ({number})", number + 1
    return unique
