"""Tables of two columns before and after masking, small enough for a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from microagg.report import formatting
from microagg.report.facts import Codes, ColumnHolds, Values
from microagg.verify.two_way import rows_of_tables, two_way_distance

MOST_TABLES = 3
MOST_ROWS = 12
MOST_COLUMNS = 8
MOST_ATTRIBUTES = 24
"""Columns that are tabulated; if there are more, the first ones."""
MOST_BANDS = 6
"""Of a number with more different values than a table has columns."""
SECONDS_OF_A_DAY = 86_400.0


@dataclass(frozen=True, slots=True, eq=False)
class ShownAttribute:
    """A column of tables, record by record; NaN where missing."""

    name: str
    before: Values
    after: Values
    holds: ColumnHolds


@dataclass(frozen=True, slots=True, eq=False)
class TwoWayTable:
    """Counts of records before and after, or sums of weights, each (rows, columns)."""

    row_column: str
    column_column: str
    distance: float
    """Total variation in percent, of the table with all its rows and columns."""
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    before: Values
    after: Values

    @property
    def shown_distance(self) -> float:
        """The same of the table as it is, which may have bands, and one line for rare categories."""
        return float(50.0 * np.abs(self.after - self.before).sum() / self.before.sum())


@dataclass(frozen=True, slots=True, eq=False)
class TwoWayTables:
    """The distance of every table of two attributes, and some tables themselves."""

    distances: tuple[tuple[str, str, float], ...]
    """Both columns and total variation in percent, the largest first."""
    shown: tuple[TwoWayTable, ...]
    """Those that moved most, of which at least one column holds categories."""
    weighted: bool

    @property
    def mean(self) -> float:
        return float(np.mean([distance for _, _, distance in self.distances]))


def shown_two_way_tables(
    attributes: Sequence[ShownAttribute], weights: Values | None
) -> TwoWayTables | None:
    """None if there are no two attributes, or none of them holds categories."""
    attributes = attributes[:MOST_ATTRIBUTES]
    if len(attributes) < 2 or not any(each.holds.levels for each in attributes):
        return None
    coded = [
        rows_of_tables(each.before, (each.before, each.after), not each.holds.levels) for each in attributes
    ]
    found = []
    for pair in combinations(range(len(attributes)), 2):
        before, after = ([coded[at][0][side] for at in pair] for side in (0, 1))
        widths = [coded[at][1] for at in pair]
        found.append((100.0 * two_way_distance(before, after, widths, weights), pair))
    found.sort(key=lambda each: -each[0])
    named = tuple((attributes[one].name, attributes[two].name, moved) for moved, (one, two) in found)
    with_categories = [
        (attributes[one], attributes[two], moved)
        for moved, (one, two) in found
        if attributes[one].holds.levels or attributes[two].holds.levels
    ]
    shown = tuple(_shown_pair(*each, weights) for each in with_categories[:MOST_TABLES])
    return TwoWayTables(named, shown, weights is not None)


def _shown_pair(
    one: ShownAttribute, two: ShownAttribute, distance: float, weights: Values | None
) -> TwoWayTable:
    """The attribute with more values has the rows."""
    if len(_lines_of_attribute(one, MOST_ROWS)[0]) < len(_lines_of_attribute(two, MOST_ROWS)[0]):
        one, two = two, one
    (rows, *of_row), (columns, *of_column) = (
        _lines_of_attribute(one, MOST_ROWS),
        _lines_of_attribute(two, MOST_COLUMNS),
    )
    shape = len(rows), len(columns)
    before, after = (
        np.bincount(row * shape[1] + column, weights, shape[0] * shape[1]).astype(np.float64).reshape(shape)
        for row, column in zip(of_row, of_column, strict=True)
    )
    return TwoWayTable(one.name, two.name, distance, rows, columns, before, after)


def _lines_of_attribute(attribute: ShownAttribute, most: int) -> tuple[tuple[str, ...], Codes, Codes]:
    """The names of at most so many rows or columns, and the place of each record on both sides."""
    sides = attribute.before, attribute.after
    has_gaps = any(bool(np.isnan(side).any()) for side in sides)
    room = most - has_gaps
    if attribute.holds.levels:
        names, places = _category_lines(attribute, room)
    else:
        names, places = _bands(attribute, room)
    last = len(names)
    found = [np.where(np.isnan(side), last, own) for side, own in zip(sides, places, strict=True)]
    return (*names, *(["missing"] if has_gaps else [])), found[0], found[1]


def _category_lines(attribute: ShownAttribute, room: int) -> tuple[list[str], list[Codes]]:
    """The most frequent ones, in the order of levels if they have one, and one line for all others."""
    levels = attribute.holds.levels
    sides = [np.nan_to_num(side).astype(np.int64) for side in (attribute.before, attribute.after)]
    counts = np.bincount(sides[0][~np.isnan(attribute.before)], minlength=len(levels))
    occur = np.flatnonzero(counts + np.bincount(sides[1], minlength=len(levels)))
    kept = occur[np.argsort(-counts[occur], kind="stable")]
    others = len(kept) > room
    kept = kept[: room - 1] if others else kept
    if attribute.holds.kind == "ordinal":
        kept = np.sort(kept)
    place = np.full(len(levels), len(kept), dtype=np.int64)
    place[kept] = np.arange(len(kept))
    names = [formatting.short(levels[at], 24) for at in kept.tolist()]
    return [*names, *(["others"] if others else [])], [place[side] for side in sides]


def _bands(attribute: ShownAttribute, room: int) -> tuple[list[str], list[Codes]]:
    """A few different values, each by itself, or else bands of equal counts."""
    values = np.sort(attribute.before[~np.isnan(attribute.before)])
    known = np.unique(values)
    if len(known) <= room:
        starts = known[:-1] / 2.0 + known[1:] / 2.0
        names = [_as_shown(value, attribute.holds) for value in known.tolist()]
    else:
        starts = np.unique(values[np.arange(1, MOST_BANDS) * len(values) // MOST_BANDS])
        starts = starts[starts > known[0]]
        ends = known[np.searchsorted(known, [*starts, np.inf]) - 1]
        firsts = [known[0], *starts]
        names = [
            _as_shown(first, attribute.holds)
            if first == end
            else f"{_as_shown(first, attribute.holds)} to {_as_shown(end, attribute.holds)}"
            for first, end in zip(firsts, ends.tolist(), strict=True)
        ]
    sides = (attribute.before, attribute.after)
    return names, [np.searchsorted(starts, side, side="right") for side in sides]


def _as_shown(value: float, holds: ColumnHolds) -> str:
    if holds.kind == "date":
        return formatting.day_text(value / SECONDS_OF_A_DAY)
    return formatting.number(value, 4)
