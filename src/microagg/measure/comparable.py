"""Both tables of a pair in common units, with what is missing and what cannot be compared set aside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg import wording
from microagg.measure.pair import Codes, MeasureResult, Pair, Values

CATEGORIES = ("ordinal", "nominal")
Paths = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Comparable:
    """The columns that vary in the original, standardised by the original's mean and population sd.

    Only cells that are known before and after masking count, for means and sds too; `x` (before) and `y`
    (after) are 0 elsewhere and `present` marks the others. `weights` have mean 1, and are all 1
    without any: a weight is the number of records that a record stands for, but the sum of the weights is
    not taken for a number of observations. `places` are positions in the pair's columns. Of a category `x`
    is 0, and y² is what its change costs; `units`: what a changed cell, or a change by one level, costs, so
    that one value for all records costs as much as the mean of a standardised number. `note`: what was left
    out; `unchanged`: whether constant columns were left out and none of them has changed.
    """

    columns: tuple[str, ...]
    places: tuple[int, ...]
    x: Values
    y: Values
    present: NDArray[np.bool_]
    weights: Values
    units: Mapping[int, float]
    note: str
    unchanged: bool

    @property
    def mass(self) -> Values:
        """The weight of each cell, 0 where it does not count."""
        return np.asarray(self.present * self.weights[:, np.newaxis])

    def empty_result(self, unchanged: float = 0.0) -> MeasureResult | None:
        """If no column is left: `unchanged`, or NaN if a constant one has changed. None if one is left."""
        if self.columns:
            return None
        return self.result(unchanged if self.unchanged else np.nan, note=wording.note_nothing_to_compare())

    def too_few(self, records: int, left_out: str) -> MeasureResult | None:
        """No number from fewer than two records."""
        if records >= 2:
            return None
        return self.result(np.nan, note=f"{left_out}; {wording.note_nothing_to_compare()}")

    def result(self, value: float, parts: dict[str, float] | None = None, note: str = "") -> MeasureResult:
        """A result whose note also lists what was left out."""
        return MeasureResult(
            float(value), parts or {}, "; ".join(text for text in (note, self.note) if text)
        )

    def by_column(self, numbers: Values) -> dict[str, float]:
        """Numbers, one for each column, by name."""
        return dict(zip(self.columns, numbers.tolist(), strict=True))

    def column(self, at: int) -> tuple[Values, Values, Values]:
        """Cells of a column that count, before and after, with their weights."""
        rows = slice(None) if self.present[:, at].all() else self.present[:, at]
        return self.x[rows, at], self.y[rows, at], self.weights[rows]

    def complete(self) -> tuple[Values, Values, Values, str]:
        """`x`, `y` and weights of the records without missing cells, and a note on the others."""
        rows = np.asarray(self.present.all(axis=1))
        if rows.all():
            return self.x, self.y, self.weights, ""
        note = wording.note_records_left_out(int((~rows).sum()), len(rows))
        return self.x[rows], self.y[rows], self.weights[rows], note


def comparable(pair: Pair) -> Comparable:
    """The pair in common units. O(n p)."""
    present = np.isfinite(pair.original) & np.isfinite(pair.masked)
    weights = pair.relative_weights
    kept: list[int] = []
    empty: list[str] = []
    same: list[str] = []
    changed: list[str] = []
    units: dict[int, float] = {}
    x = np.zeros((pair.n, pair.p), order="F")
    y = np.zeros((pair.n, pair.p), order="F")
    for at, name in enumerate(pair.columns):
        rows = slice(None) if present[:, at].all() else present[:, at]
        before, after = pair.original[rows, at], pair.masked[rows, at]
        if not len(before):
            empty.append(name)
        elif before.min() == before.max():
            (same if np.array_equal(before, after) else changed).append(name)
        else:
            kept.append(at)
            if (kind := pair.kind(at)) in CATEGORIES:
                own, paths = weights[rows], pair.paths.get(name)
                units[at] = own.sum() / change_by_one_value(before, own, kind, paths)[0]
                y[rows, at] = np.sqrt(units[at] * change_of(before, after, kind, paths))
            else:
                x[rows, at], y[rows, at] = _in_units_of_original(before, after, weights[rows])
    notes = []
    if missing := int(present.size - present.sum()):
        notes.append(wording.note_cells_left_out(missing, present.size))
    if empty:
        notes.append(wording.note_empty_columns(empty))
    if same or changed:
        notes.append(wording.note_constant_columns(same, changed))
    return Comparable(
        columns=tuple(pair.columns[at] for at in kept),
        places=tuple(kept),
        x=x[:, kept] if len(kept) < pair.p else x,
        y=y[:, kept] if len(kept) < pair.p else y,
        present=present[:, kept] if len(kept) < pair.p else present,
        weights=weights,
        units=units,
        note="; ".join(notes),
        unchanged=bool(same) and not changed,
    )


def change_of(before: Values, after: Values, kind: str, paths: Paths | None = None) -> Values:
    """By how many levels each cell has changed, or whether it has; in a taxonomy a share of levels."""
    if kind == "ordinal":
        return np.abs(after - before)
    if paths is None:
        return np.asarray(after != before, dtype=np.float64)
    return np.asarray((paths[after.astype(np.int64)] != paths[before.astype(np.int64)]).mean(axis=1))


def change_by_one_value(
    values: Values,
    weights: Values,
    kind: str,
    paths: Paths | None = None,
    parts: Codes | None = None,
    count: int = 1,
) -> Values:
    """The least change if all records publish one level or category, in each of `count` parts of them."""
    codes = values.astype(np.int64)
    size = int(codes.max(initial=0)) + 1
    places = codes if parts is None else parts * size + codes
    table = np.asarray(np.bincount(places, weights, count * size), dtype=np.float64).reshape(count, size)
    totals = table.sum(axis=1, keepdims=True)
    if kind == "nominal":
        return np.asarray(totals[:, 0] - _weight_with_same_code(table, paths).max(axis=1))
    medians = np.argmax(np.cumsum(table, axis=1) >= totals / 2.0 * (1.0 - 1e-12), axis=1)
    return np.asarray((table * np.abs(np.arange(size) - medians[:, np.newaxis])).sum(axis=1))


def _weight_with_same_code(table: Values, paths: Paths | None) -> Values:
    """How much weight has the same code, by part and code; in a taxonomy, the mean over its levels."""
    if paths is None:
        return table
    shared = np.zeros_like(table)
    for nodes in paths[: table.shape[1]].T:
        by_node = np.zeros((int(nodes.max()) + 1, len(table)))
        np.add.at(by_node, nodes, table.T)
        shared += by_node[nodes].T / paths.shape[1]
    return np.where(table > 0, shared, 0.0)


def _in_units_of_original(before: Values, after: Values, weights: Values) -> tuple[Values, Values]:
    """Both in units of the first. Halves and the largest deviation keep squares within the doubles."""
    middle = before.min() / 2 + before.max() / 2
    before, after = before - middle, after - middle
    largest = np.abs(before).max()
    before, after = before / largest, after / largest
    mean = np.average(before, weights=weights)
    before, after = before - mean, after - mean
    deviation = np.sqrt(np.average(before * before, weights=weights))
    return before / deviation, after / deviation
