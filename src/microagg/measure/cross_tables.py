"""What masking does to tables of counts: margins, two-way tables, association, entropy, count queries.

Keys and confidential columns are attributes with a few values each. A number or date with many values is
cut into bands that hold equal counts of the original records; one with few values keeps them, and a masked
value counts as the nearest. A missing value is a value. Weighted, a record counts as often as its weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from microagg import wording
from microagg.measure.comparable import change_of
from microagg.measure.linkage import sample_rows
from microagg.measure.pair import Codes, MeasureResult, Pair, Values
from microagg.measure.requirements import AT_LEAST_ONE

BANDS = 20
"""Of numbers with more than `MOST_VALUES_WITHOUT_BANDS` different values."""
MOST_VALUES_WITHOUT_BANDS = 100
MOST_CELLS_KEPT_WHOLE = 4_000_000
"""Of a two-way table; of larger ones only the cells that occur are kept."""
MOST_RECORDS_LOOKED_AT = 10_000
"""With more, a query looks only at those of its rarest property."""
LEAST_COUNT = 10.0
"""Errors of smaller counts are relative to this."""
SEEDS_OF_QUERIES = {(2, 3): 20_261_117, (2, 2): 22, (3, 3): 77, (4, 4): 5}
"""By the least and the largest number of attributes."""


@dataclass(frozen=True, slots=True, eq=False)
class TableAttribute:
    """The value of each record before and after, a number below `size`; `ordered`: ranges have a sense."""

    name: str
    before: Codes
    after: Codes
    size: int
    ordered: bool


def margins(pair: Pair) -> MeasureResult:
    """Mean over the keys of the total variation distance of their distributions; parts by key."""
    weights = pair.relative_weights
    parts = {}
    for each in _key_attributes(pair):
        before, after = (_counts(side, weights, each.size) for side in (each.before, each.after))
        parts[each.name] = _distance(before, after)
    return MeasureResult(float(np.mean(list(parts.values()))), parts)


def two_way_tables(pair: Pair, *, most_records: int | None = 200_000) -> MeasureResult:
    """Mean total variation distance of the tables of all pairs of attributes; parts by pair, in order."""
    tables = _two_way(pair, most_records)
    if not tables:
        return MeasureResult(np.nan, {}, wording.note_one_attribute())
    parts = {each.name: each.distance for each in sorted(tables, key=lambda each: -each.distance)}
    note = _note_on_sample(pair, most_records)
    return MeasureResult(float(np.mean(list(parts.values()))), parts, note)


def cramers_v(pair: Pair, *, most_records: int | None = 200_000) -> MeasureResult:
    """Mean absolute change of Cramér's V over all pairs of attributes.

    Parts: the largest change, the means before and after, and V before and after of the pairs that changed
    most. Attributes with one value have V = 0.
    """
    tables = _two_way(pair, most_records)
    if not tables:
        return MeasureResult(np.nan, {}, wording.note_one_attribute())
    changes = np.array([abs(each.after - each.before) for each in tables])
    parts = {
        "largest change": float(changes.max()),
        "mean before": float(np.mean([each.before for each in tables])),
        "mean after": float(np.mean([each.after for each in tables])),
    }
    for at in np.argsort(-changes, kind="stable").tolist():
        parts[f"{tables[at].name}: before"] = tables[at].before
        parts[f"{tables[at].name}: after"] = tables[at].after
    return MeasureResult(float(changes.mean()), parts, _note_on_sample(pair, most_records))


def entropy(pair: Pair) -> MeasureResult:
    """Mean absolute change of the keys' entropies; parts: before and after by key."""
    weights = pair.relative_weights
    changes = []
    parts: dict[str, float] = {}
    for each in _key_attributes(pair):
        before, after = (
            _entropy_in_bits(_counts(side, weights, each.size)) for side in (each.before, each.after)
        )
        parts |= {f"{each.name}: before": before, f"{each.name}: after": after}
        changes.append(abs(after - before))
    return MeasureResult(float(np.mean(changes)), parts)


def cell_error(pair: Pair) -> MeasureResult:
    """Mean over the keys of the mean error of a cell; parts by key.

    The error of a number, date or level is its change as a share of the column's range, that of a category
    1 if it has changed, and so is that of a value that is missing on one side only.
    """
    weights = pair.relative_weights
    parts = {}
    for at, name in enumerate(pair.columns):
        before, after = pair.original[:, at], pair.masked[:, at]
        counted = ~(np.isnan(before) & np.isnan(after))
        if not counted.any():
            continue
        before, after, own = before[counted], after[counted], weights[counted]
        width = 1.0 if pair.kind(at) == "nominal" else np.nanmax(before) - np.nanmin(before)
        kind = "nominal" if width == 0.0 or pair.kind(at) == "nominal" else "ordinal"
        error = change_of(before, after, kind)
        error = np.where(np.isnan(before) | np.isnan(after), 1.0, error / (width or 1.0))
        parts[name] = float(100.0 * np.average(error, weights=own))
    return MeasureResult(float(np.mean(list(parts.values()))) if parts else np.nan, parts)


def count_queries(pair: Pair, *, queries: int = 2000, most_records: int | None = 200_000) -> MeasureResult:
    """Mean relative error of random count queries over 2 or 3 attributes; parts: also over 2, 3 and 4.

    Those of a fixed number of attributes are 35 % as many, each number with its own seed.

    A query asks how many records have, in each of its attributes, a value of a set that holds the value of
    a record drawn at random: a range of up to a quarter of the values of a number or of ordered levels; of
    others the value alone, or, half of the time, with up to half of the others beside it.
    """
    AT_LEAST_ONE.check("queries", queries)
    attributes = _attributes(pair)
    if len(attributes) < 2:
        return MeasureResult(np.nan, {}, wording.note_one_attribute())
    rows = sample_rows(pair.n, most_records)
    weights = pair.relative_weights[rows]
    sampled = [
        TableAttribute(each.name, each.before[rows], each.after[rows], each.size, each.ordered)
        for each in attributes
    ]
    before = _Answers.of([each.before for each in sampled], weights)
    after = _Answers.of([each.after for each in sampled], weights)
    parts = {}
    for (least, most), seed in SEEDS_OF_QUERIES.items():
        if least <= len(sampled):
            count = queries if least < most else (7 * queries + 19) // 20
            name = f"{least} to {most} attributes" if least < most else f"{least} attributes"
            drawn = _queries(sampled, np.random.default_rng(seed), count, least, min(most, len(sampled)))
            counts = [(before.count(query), after.count(query)) for query in drawn]
            errors = [abs(new - old) / max(old, LEAST_COUNT) for old, new in counts]
            parts[name] = float(100.0 * np.mean(errors))
    return MeasureResult(next(iter(parts.values())), parts, _note_on_sample(pair, most_records))


# --- attributes -----------------------------------------------------------------------------------


def _key_attributes(pair: Pair) -> list[TableAttribute]:
    return _attributes(pair)[: pair.p]


def _attributes(pair: Pair) -> list[TableAttribute]:
    """Of all keys, then of confidential columns; computed once for a pair."""

    def compute() -> list[TableAttribute]:
        found = [
            _attribute(name, pair.original[:, at], pair.masked[:, at], pair.kind(at))
            for at, name in enumerate(pair.columns)
        ]
        for name, own in pair.confidential.items():
            changed: tuple[Codes | Values, Codes | Values] | None = pair.changed_numbers.get(name)
            before, after = changed or pair.changed_confidential.get(name, (own, own))
            kind = "number" if name in pair.numbers or changed else "nominal"
            found.append(_attribute(name, before.astype(np.float64), after.astype(np.float64), kind))
        return found

    return pair.remember("attributes", compute)


def _attribute(name: str, before: Values, after: Values, kind: str) -> TableAttribute:
    """Values of categories are codes already; others are cut at the limits of their bands."""
    sides = [before, after]
    if kind in ("number", "date"):
        limits = _limits(before[~np.isnan(before)])
        sides = [np.where(np.isnan(side), np.nan, np.searchsorted(limits, side)) for side in sides]
    size = int(max(np.nanmax(side, initial=-1.0) for side in sides)) + 1
    first, second = (np.where(np.isnan(side), size, side).astype(np.int64) for side in sides)
    has_gaps = bool((first == size).any() or (second == size).any())
    return TableAttribute(name, first, second, size + has_gaps, kind != "nominal")


def _limits(values: Values) -> Values:
    """Between two neighbouring bands: values up to a limit belong below it."""
    distinct = np.unique(values)
    if distinct.size <= MOST_VALUES_WITHOUT_BANDS:
        return np.asarray(distinct[:-1] / 2.0 + distinct[1:] / 2.0)
    places = (np.arange(1, BANDS) * values.size + BANDS - 1) // BANDS - 1
    return np.unique(np.sort(values)[places])


def _note_on_sample(pair: Pair, most_records: int | None) -> str:
    rows = sample_rows(pair.n, most_records).size
    return wording.note_sample(rows, pair.n) if rows < pair.n else ""


# --- tables ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _TwoWay:
    """Of a pair of attributes: the distance of its tables in percent, and Cramér's V before and after."""

    name: str
    distance: float
    before: float
    after: float


def _two_way(pair: Pair, most_records: int | None) -> list[_TwoWay]:
    def compute() -> list[_TwoWay]:
        rows = sample_rows(pair.n, most_records)
        weights = pair.relative_weights[rows]
        return [_tables_of_pair(*two, rows, weights) for two in combinations(_attributes(pair), 2)]

    return pair.remember(f"two-way tables of {most_records}", compute)


def _tables_of_pair(one: TableAttribute, other: TableAttribute, rows: Codes, weights: Values) -> _TwoWay:
    size = one.size * other.size
    sides = [
        one.before[rows] * other.size + other.before[rows],
        one.after[rows] * other.size + other.after[rows],
    ]
    cells: Codes = np.arange(min(size, MOST_CELLS_KEPT_WHOLE + 1))
    if size > MOST_CELLS_KEPT_WHOLE:
        cells, places = np.unique(np.concatenate(sides), return_inverse=True)
        sides = [places[: rows.size], places[rows.size :]]
    before, after = (_counts(side, weights, cells.size) for side in sides)
    return _TwoWay(
        f"{one.name} × {other.name}",
        _distance(before, after),
        *(_association(cells, counts, other.size) for counts in (before, after)),
    )


def _counts(codes: Codes, weights: Values, size: int) -> Values:
    return np.asarray(np.bincount(codes, weights, size), dtype=np.float64)


def _distance(before: Values, after: Values) -> float:
    """Total variation distance in percent."""
    return float(50.0 * np.abs(after - before).sum() / before.sum())


def _association(cells: Codes, counts: Values, width: int) -> float:
    """Cramér's V of a table: √(χ²/n / (least number of rows or columns − 1))."""
    filled = counts > 0
    row, column = np.divmod(cells[filled], width)
    shares = counts[filled] / counts.sum()
    by_row, by_column = np.bincount(row, shares), np.bincount(column, shares)
    least = min(np.count_nonzero(by_row), np.count_nonzero(by_column))
    if least < 2:
        return 0.0
    square = float((shares**2 / (by_row[row] * by_column[column])).sum()) - 1.0
    return float(np.sqrt(max(square, 0.0) / (least - 1)))


def _entropy_in_bits(counts: Values) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log2(shares)).sum()) + 0.0


# --- queries --------------------------------------------------------------------------------------

Query = dict[int, NDArray[np.bool_]]
"""By attribute which of its values are asked for."""


def _queries(
    attributes: Sequence[TableAttribute], random: np.random.Generator, count: int, least: int, most: int
) -> Iterator[Query]:
    records = attributes[0].before.size
    for _ in range(count):
        record = random.integers(records)
        chosen = random.choice(len(attributes), random.integers(least, most + 1), replace=False)
        yield {
            int(at): _wanted(attributes[at], int(attributes[at].before[record]), random) for at in chosen
        }


def _wanted(attribute: TableAttribute, value: int, random: np.random.Generator) -> NDArray[np.bool_]:
    wanted = np.zeros(attribute.size, dtype=bool)
    wanted[value] = True
    if attribute.ordered:
        width = random.integers(1, max(2, attribute.size // 4))
        first = value - random.integers(width)
        wanted[max(first, 0) : first + width] = True
    elif random.random() < 0.5 and attribute.size > 2:
        more = random.integers(1, attribute.size // 2 + 1)
        wanted[random.choice(attribute.size, more, replace=False)] = True
    return wanted


@dataclass(frozen=True, slots=True, eq=False)
class _Answers:
    """Counts records; `rows`: by attribute those of its first value, of its second, and so on."""

    codes: Sequence[Codes]
    rows: Sequence[Codes]
    counts: Sequence[Codes]
    weights: Values

    @classmethod
    def of(cls, codes: Sequence[Codes], weights: Values) -> _Answers:
        rows = [np.argsort(own, kind="stable") for own in codes]
        return cls(codes, rows, [np.bincount(own) for own in codes], weights)

    def count(self, query: Query) -> float:
        """Looks at all of a few records; of many, at those of the rarest property, then at the other
        properties of these.
        """
        if self.weights.size <= MOST_RECORDS_LOOKED_AT:
            hits = [wanted[self.codes[at]] for at, wanted in query.items()]
            return float(self.weights[np.logical_and.reduce(hits)].sum())
        found = {at: np.flatnonzero(wanted[: self.counts[at].size]) for at, wanted in query.items()}
        rarest = min(query, key=lambda at: int(self.counts[at][found[at]].sum()))
        ends = np.cumsum(self.counts[rarest])
        starts = ends - self.counts[rarest]
        parts = [self.rows[rarest][starts[value] : ends[value]] for value in found[rarest].tolist()]
        hit = np.concatenate([*parts, np.empty(0, dtype=np.int64)])
        for at in query.keys() - {rarest}:
            hit = hit[query[at][self.codes[at][hit]]]
        return float(self.weights[hit].sum())
