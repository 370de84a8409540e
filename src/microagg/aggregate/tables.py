"""What groups publish so that tables stay as in the source: counts by two and three columns, or by one.

Every group has candidates for each key: categories that occur in it, and numbers near its mean. A search
exchanges one for another as long as the tables come nearer to the source's, at the price of what the
exchange changes in the records. The members of a group publish the same, whatever is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg import _core, wording
from microagg.aggregate.grouped import Grouped
from microagg.aggregate.rounding import with_decimals
from microagg.arrow_values import in_one_piece, to_numpy
from microagg.columns import numbers_or_none, plain
from microagg.methods.run import Run
from microagg.model import Doubles

Codes = NDArray[np.int32]

ADDED_TO_COUNTS = 10.0
"""A cell counts by the inverse of its count plus this, so that a small one is not kept at any price."""

COST_OF_CHANGED_CELL = 0.7
"""Of one record, where a table that is off costs what `ADDED_TO_COUNTS` says."""

WEIGHT_OF_WIDE_TABLES = 0.2
"""Wide tables are those of three columns, with few wide rows. Those of two columns weigh 1."""

ROWS_OF_WIDE_TABLES = 16
"""At most, by each of their columns."""

MOST_WIDE_TABLES = (120, 30)
"""The second where there are many groups."""

MOST_RECORDS_COUNTED = 50_000
"""To choose wide tables among very many."""

COST_OF_CHANGED_NUMBER = 2.0
"""Of a column with few different numbers, where a changed category costs 1."""

SHARE_OF_COST_FOR_MARGINS = 0.1
"""Of what a changed cell costs, where only the counts of each category are kept: this takes few changes."""

WEIGHT_OF_SUMS = 1.0
"""Of sums of numbers by category, where counts weigh 1."""

FIRST_TEMPERATURE = 1.0
"""Of the search, in units of a changed cell."""

SWEEPS_WHILE_COOLING = (3, 1_200)
"""Through all groups: at least and at most."""

MOST_CELLS_VISITED = 2_400_000_000
"""About so many cells of tables are looked at while it cools, and as many while candidates are compared
afterwards."""

SWEEPS_AFTERWARDS = (2, 30)
"""Through all groups, where only better candidates are taken: at least and at most."""

OWN_ROWS = 128
"""A number with at most so many different values has a row of tables for each; others have bands."""

BANDS = 64
"""Of equal counts."""

MOST_ROWS = 512
"""Of a table: rarer categories share one."""

MOST_CATEGORIES = 10_000
"""Of a key: tables with more are nearly empty."""

CANDIDATES_PER_SIDE = (6, 2)
"""Values on each side of a mean that a group may publish instead; the second where there are many groups,
whose tables are kept anyway."""

MANY_GROUPS = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class Coding:
    """Which row of a table a value of a column stands in; the last one is for missing values."""

    rows: int
    edges: Doubles | None = None
    """Of numbers: where each row but the first begins."""
    grid: Doubles | None = None
    """Of numbers with few different values: these."""
    of_category: Codes | None = None

    @classmethod
    def of_numbers(cls, values: Doubles) -> Coding:
        """A row for each of a few different values, or bands of equal counts."""
        some = np.sort(values[~np.isnan(values)])
        grid = some[np.concatenate([[True], some[1:] != some[:-1]])] if len(some) else some
        if len(grid) <= OWN_ROWS:
            return cls(len(grid) + 1, grid[:-1] / 2.0 + grid[1:] / 2.0, grid)
        edges = np.unique(some[np.arange(1, BANDS) * len(some) // BANDS])
        return cls(len(edges) + 2, edges)

    @classmethod
    def of_categories(cls, codes: Doubles) -> Coding:
        """A row for each category, of which rare ones share one where there are very many."""
        counts = np.bincount(codes[~np.isnan(codes)].astype(np.int64))
        if len(counts) < MOST_ROWS:
            return cls(len(counts) + 1, of_category=np.arange(len(counts), dtype=np.int32))
        rows = np.full(len(counts), MOST_ROWS - 2, dtype=np.int32)
        rows[np.argsort(-counts, kind="stable")[: MOST_ROWS - 2]] = np.arange(MOST_ROWS - 2)
        return cls(MOST_ROWS, of_category=rows)

    def wide(self, codes: Codes, weight: Doubles) -> Codes:
        """Of each row, that of tables of three columns: numbers in bands, rare categories in one."""
        wide = np.arange(self.rows, dtype=np.int32)
        if self.rows <= ROWS_OF_WIDE_TABLES:
            return wide
        counts = np.bincount(codes, weights=weight, minlength=self.rows)[:-1]
        if self.edges is None:
            wide[np.argsort(-counts, kind="stable")] = np.minimum(wide[:-1], ROWS_OF_WIDE_TABLES - 2)
        else:
            middles = np.cumsum(counts) - counts / 2.0
            wide[:-1] = middles * (ROWS_OF_WIDE_TABLES - 1) / (counts.sum() or 1.0)
        wide[-1] = ROWS_OF_WIDE_TABLES - 1
        return wide

    def codes(self, values: Doubles) -> Codes:
        """The row of each value."""
        gone = np.isnan(values)
        if self.of_category is not None:
            rows: NDArray[Any] = self.of_category[np.where(gone, 0, values).astype(np.int64)]
        else:
            assert self.edges is not None
            rows = np.searchsorted(self.edges, values, side="right")
        return np.where(gone, self.rows - 1, rows).astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class TableColumn:
    """In rows of tables, a column before and as it is released, or would be at first."""

    before: Codes
    released: Codes
    coding: Coding


def other_column(grouped: Grouped, column: str, released: Doubles) -> TableColumn:
    """A masked column beside which those of other subsets are tabulated."""
    coding = _coding(grouped, column)
    return TableColumn(coding.codes(grouped.values[column]), coding.codes(released), coding)


def column_of_tables(
    column: pa.ChunkedArray[Any], before: NDArray[np.int64], released: NDArray[np.int64]
) -> TableColumn:
    """A column of the source, of which these rows are released, perhaps with the values of others."""
    values = numbers_or_none(plain(column))
    if values is None:
        encoded = in_one_piece(plain(column)).dictionary_encode()
        codes = np.array(to_numpy(encoded.indices.cast(pa.float64())))
        coding = Coding.of_categories(codes)
    else:
        codes, coding = values, Coding.of_numbers(values[before])
    return TableColumn(coding.codes(codes[before]), coding.codes(codes[released]), coding)


@dataclass(frozen=True, slots=True, eq=False)
class _Candidates:
    """Of one column: what each group may publish, group by group."""

    group: NDArray[np.int64]
    value: Doubles
    price: Doubles
    amount: Doubles | None = None

    def first(self, groups: int) -> NDArray[np.int64]:
        return np.searchsorted(self.group, np.arange(groups + 1))


def by_tables(
    grouped: Grouped,
    middles: Doubles,
    decimals: Mapping[str, int | None],
    others: Sequence[TableColumn],
    *,
    pairs: bool,
    numbers_follow: bool,
) -> Doubles:
    """(groups, columns) What groups publish instead of their middles.

    With `pairs`, tables of any two keys, and of keys and others, are kept, and those of three in wide rows;
    without, the counts of each category. Dates stay as they are, and numbers unless they follow.
    """
    weight = np.ones(len(grouped.group))
    if grouped.weights is not None:
        weight = grouped.weights / grouped.weights.mean()
    codings = [_coding(grouped, column) for column in grouped.columns]
    candidates = [
        _candidates(grouped, column, middles[:, at], weight, codings[at], decimals[column], numbers_follow)
        for at, column in enumerate(grouped.columns)
    ]
    everything = TableColumn(*(np.zeros(len(weight), dtype=np.int32),) * 2, Coding(1))
    others = [everything, *(others if pairs else ())]
    first = [each.first(len(middles)) for each in candidates]
    start = [_start(each, first[at], middles[:, at]) for at, each in enumerate(candidates)]
    keys = [
        TableColumn(own.codes(grouped.values[column]), own.codes(middles[:, at])[grouped.group], own)
        for at, (column, own) in enumerate(zip(grouped.columns, codings, strict=True))
    ]
    chosen = _search(grouped, weight, keys, candidates, first, others, np.stack(start, axis=1), pairs)
    published = middles.copy()
    for at, own in enumerate(candidates):
        has = chosen[:, at] >= 0
        published[has, at] = own.value[first[at][:-1][has] + chosen[has, at]]
    return published


def _candidates(
    grouped: Grouped,
    column: str,
    middles: Doubles,
    weight: Doubles,
    coding: Coding,
    decimals: int | None,
    numbers_follow: bool,
) -> _Candidates:
    kind = grouped.kind(column)
    if kind == "date" or (kind == "number" and not numbers_follow):
        published = np.flatnonzero(~np.isnan(middles))
        return _Candidates(published, middles[published], np.zeros(len(published)))
    if kind == "number":
        return _near_means(grouped, column, middles, weight, coding, decimals)
    return _categories(grouped, column, middles, weight)


def _search(
    grouped: Grouped,
    weight: Doubles,
    keys: Sequence[TableColumn],
    candidates: Sequence[_Candidates],
    first: Sequence[NDArray[np.int64]],
    others: Sequence[TableColumn],
    start: Codes,
    pairs: bool,
) -> Codes:
    """(groups, columns) The places of the best candidates among those of each group."""
    values = [grouped.values[column] for column in grouped.columns]
    numbers = [values[at] for at, each in enumerate(candidates) if each.amount is not None]
    amounts = [_standardised(own, own, weight) for own in numbers]
    columns = [*keys, *others]
    wide = [each.coding.wide(each.before, weight) for each in columns]
    most = MOST_WIDE_TABLES[len(start) > MANY_GROUPS] if pairs else 0
    tables = _tables_of_three(wide, columns, len(keys), most)
    visits = MOST_CELLS_VISITED // (len(columns) * (1 + len(numbers)) + len(tables) * 3 // len(keys))
    run = Run()
    return run.call(
        lambda: _core.choose_by_tables(
            list(first),
            [key.coding.codes(each.value) for key, each in zip(keys, candidates, strict=True)],
            [each.price * (1.0 if pairs else SHARE_OF_COST_FOR_MARGINS) for each in candidates],
            [np.empty(0) if each.amount is None else each.amount for each in candidates],
            np.array([each.coding.rows for each in keys], dtype=np.int32),
            grouped.group.astype(np.int32),
            weight,
            _columns([each.before for each in keys]),
            np.ascontiguousarray(np.stack(amounts, axis=1)) if amounts else np.empty((len(weight), 0)),
            _columns([each.before for each in others]),
            _columns([each.released for each in others]),
            np.array([each.coding.rows for each in others], dtype=np.int32),
            wide,
            tables,
            WEIGHT_OF_WIDE_TABLES,
            np.ascontiguousarray(start),
            pairs,
            ADDED_TO_COUNTS,
            WEIGHT_OF_SUMS,
            FIRST_TEMPERATURE,
            int(np.clip(visits // start.size, *SWEEPS_WHILE_COOLING)),
            int(np.clip(visits // sum(len(each.value) for each in candidates), *SWEEPS_AFTERWARDS)),
            run.watch,
        )
    )


def _tables_of_three(wide: Sequence[Codes], columns: Sequence[TableColumn], keys: int, most: int) -> Codes:
    """Their columns, of which at least two are keys. Of very many tables those whose columns have tables of
    two that are farthest from the source's at first.
    """
    several = [at for at, own in enumerate(wide) if int(own.max()) > 0]
    found = [each for each in combinations(several, 3) if each[1] < keys]
    if 0 < most < len(found):
        far = {
            pair: _distance(*((wide[at], columns[at]) for at in pair)) for pair in combinations(several, 2)
        }
        found.sort(key=lambda each: -sum(far[pair] for pair in combinations(each, 2)))
    return np.array(found[:most], dtype=np.int32).reshape(-1, 3)


def _distance(one: tuple[Codes, TableColumn], other: tuple[Codes, TableColumn]) -> float:
    """Between the tables of two columns, before and at first, counted from some of the records."""
    some = slice(None, None, -(-len(one[1].before) // MOST_RECORDS_COUNTED))
    before, after = (
        np.bincount(
            one[0][getattr(one[1], side)[some]] * ROWS_OF_WIDE_TABLES
            + other[0][getattr(other[1], side)[some]],
            minlength=ROWS_OF_WIDE_TABLES**2,
        )
        for side in ("before", "released")
    )
    return float(np.abs(after - before).sum())


def _columns(codes: Sequence[Codes]) -> Codes:
    return np.ascontiguousarray(np.stack(codes, axis=1))


def _coding(grouped: Grouped, column: str) -> Coding:
    values = grouped.values[column]
    if not grouped.is_category(column):
        return Coding.of_numbers(grouped.whole.get(column, values))
    coding = Coding.of_categories(values)
    assert coding.of_category is not None
    if len(coding.of_category) > MOST_CATEGORIES:
        raise wording.too_many_categories_for_tables(column, len(coding.of_category), MOST_CATEGORIES)
    return coding


def _start(candidates: _Candidates, first: NDArray[np.int64], middles: Doubles) -> Codes:
    """The candidate that is, or is nearest to, the middle of each group; -1 where there is none."""
    counts = np.diff(first)
    far = np.abs(candidates.value - middles[candidates.group])
    order = np.lexsort((far, candidates.group))
    start = np.full(len(counts), -1, dtype=np.int32)
    has = counts > 0
    start[has] = order[first[:-1][has]] - first[:-1][has]
    return start


def _categories(grouped: Grouped, column: str, middles: Doubles, weight: Doubles) -> _Candidates:
    """Those that occur in each group."""
    kind = grouped.kind(column)
    codes = grouped.values[column]
    has = ~np.isnan(codes) & ~np.isnan(middles)[grouped.group]
    width = int(np.nanmax(codes, initial=0.0)) + 1
    pairs_of, of = np.unique(grouped.group[has] * width + codes[has].astype(np.int64), return_inverse=True)
    count = _sums(of, weight[has], len(pairs_of))
    group, code = np.divmod(pairs_of, width)
    total = _sums(group, count, len(middles))
    if kind == "ordinal":
        price = _level_changes(group, code.astype(np.float64), count, total)
        price *= len(codes) / max(_deviations(codes, weight), 1e-300)
    elif (paths := grouped.kinds[column].paths) is not None:
        price = total[group] - _shared(group, code, count, paths)
    else:
        price = total[group] - count
    return _Candidates(group, code.astype(np.float64), COST_OF_CHANGED_CELL * price)


def _level_changes(group: NDArray[np.int64], level: Doubles, count: Doubles, total: Doubles) -> Doubles:
    """By candidate: how many levels the records of its group change in all. Sorted by group and level."""
    first = np.searchsorted(group, np.arange(len(total)))[group]
    below, up_to = (_before(each, first) for each in (count, count * level))
    above, levels_above = total[group] - below, _sums(group, count * level, len(total))[group] - up_to
    return np.asarray(level * below - up_to + levels_above - level * above)


def _before(values: Doubles, first: NDArray[np.int64]) -> Doubles:
    """The sum of the values before each in its group, which begins at `first`."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    return np.asarray(sums[:-1] - sums[first])


def _sums(of: NDArray[np.int64], values: Doubles, count: int) -> Doubles:
    return np.bincount(of, weights=values, minlength=count).astype(np.float64)


def _deviations(codes: Doubles, weight: Doubles) -> float:
    """The sum of the differences of levels from their median in the whole file."""
    has = ~np.isnan(codes)
    counts = np.bincount(codes[has].astype(np.int64), weights=weight[has])
    levels = np.arange(len(counts))
    median = int(np.searchsorted(np.cumsum(counts), counts.sum() / 2.0))
    return float((counts * np.abs(levels - median)).sum())


def _shared(
    group: NDArray[np.int64], code: NDArray[np.int64], count: Doubles, paths: NDArray[np.int32]
) -> Doubles:
    """By candidate: how many records of its group it is nearest to, where a record counts by the share of
    the levels of a taxonomy that it shares with it.
    """
    shared = np.zeros(len(group))
    width = int(paths.max()) + 1
    for nodes in paths.T.astype(np.int64):
        _, of = np.unique(group * width + nodes[code], return_inverse=True)
        shared += np.bincount(of, weights=count)[of]
    return np.asarray(shared / paths.shape[1])


def _near_means(
    grouped: Grouped,
    column: str,
    means: Doubles,
    weight: Doubles,
    coding: Coding,
    decimals: int | None,
) -> _Candidates:
    """Values of the source's grid near the mean of each group, or, where a number has bands, the mean and
    the nearest value in each of the bands beside its own.
    """
    values = grouped.values[column]
    groups = np.flatnonzero(~np.isnan(means))
    own = means[groups, None]
    near = CANDIDATES_PER_SIDE[len(means) > MANY_GROUPS]
    steps = np.arange(-near, near + 1)
    assert coding.edges is not None
    place = np.searchsorted(coding.edges, own[:, 0], side="right")[:, None] + steps
    if coding.grid is not None:
        inside = (place >= 0) & (place < len(coding.grid))
        found = coding.grid[np.clip(place, 0, len(coding.grid) - 1)]
    else:
        inside = (place >= 0) & (place <= len(coding.edges))
        low = np.concatenate([[-np.inf], coding.edges])[np.clip(place, 0, len(coding.edges))]
        high = np.concatenate([coding.edges, [np.inf]])[np.clip(place, 0, len(coding.edges))]
        unit = 0.0 if decimals is None else 10.0**-decimals
        below = np.nextafter(high, -np.inf) if decimals is None else high - unit
        found = np.clip(own, _up(low, decimals), _up(below, decimals))
        found = found if decimals is None else with_decimals(found, decimals)
        inside &= (coding.codes(found.ravel()).reshape(found.shape) == place) | (steps == 0)
    shares = np.bincount(grouped.group, weights=weight, minlength=len(means))[groups]
    changed = ((found - own) / _mean_and_spread(values, weight)[1]) ** 2
    if coding.grid is not None:
        changed += COST_OF_CHANGED_NUMBER * (
            1.0 - _chance_of_equal(grouped, column, means, weight, coding.grid, found, groups)
        )
    price = COST_OF_CHANGED_CELL * shares[:, None] * changed
    value = found[inside]
    return _Candidates(
        np.repeat(groups, inside.sum(axis=1)), value, price[inside], _standardised(value, values, weight)
    )


def _chance_of_equal(
    grouped: Grouped,
    column: str,
    means: Doubles,
    weight: Doubles,
    grid: Doubles,
    found: Doubles,
    groups: NDArray[np.int64],
) -> Doubles:
    """How likely a member of each group has the value, as if its values were normally distributed: what
    members really have must not decide.
    """
    step = (grid[-1] - grid[0]) / (len(grid) - 1) if len(grid) > 1 else 1.0
    own = (grouped.values[column] - means[grouped.group]) / step
    squares, total = (
        np.bincount(grouped.group, weights=np.nan_to_num(each), minlength=len(means))[groups]
        for each in (weight * own**2, weight)
    )
    spread = np.maximum(np.sqrt(squares / total), 1.0 / np.sqrt(2.0 * np.pi))[:, None]
    peak = 1.0 / (np.sqrt(2.0 * np.pi) * spread)
    return np.asarray(peak * np.exp(-0.5 * ((found - means[groups, None]) / step / spread) ** 2))


def _up(values: Doubles, decimals: int | None) -> Doubles:
    """The next values with so many decimals that are not smaller."""
    if decimals is None:
        return values
    near = with_decimals(values, decimals)
    return np.where(near < values, with_decimals(near + 10.0**-decimals, decimals), near)


def _mean_and_spread(values: Doubles, weight: Doubles) -> tuple[float, float]:
    """Of the values that are not missing; a spread of 1 where they are all the same."""
    has = ~np.isnan(values)
    if not has.any():
        return 0.0, 1.0
    # In units of a power of two, which cost no digits: squares of large values could overflow.
    unit = np.ldexp(1.0, np.frexp(np.abs(values[has]).max())[1] - 1)
    some = values[has] / unit
    mean = np.average(some, weights=weight[has])
    spread = np.sqrt(np.average((some - mean) ** 2, weights=weight[has]))
    return float(mean * unit), float(spread * unit) or 1.0


def _standardised(values: Doubles, source: Doubles, weight: Doubles) -> Doubles:
    """In standard deviations of the source from its mean; 0 where missing."""
    mean, spread = _mean_and_spread(source, weight)
    return np.nan_to_num((values - mean) / spread)
