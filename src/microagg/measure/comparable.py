"""Both tables of a pair in common units, with what is missing and what cannot be compared set aside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg import wording
from microagg.measure.pair import MeasureResult, Pair, Values


@dataclass(frozen=True, slots=True, eq=False)
class Comparable:
    """The columns that vary in the original, standardised by the original's mean and population sd.

    Only cells that are known before and after masking count, for means and sds too; `x` (before) and `y`
    (after) are 0 elsewhere and `present` marks the others. `weights` have mean 1, and are all 1
    without any: a weight is the number of records that a record stands for, but the sum of the weights is
    not taken for a number of observations. `places` are positions in the pair's columns. `note`: what
    was left out; `unchanged`: whether constant columns were left out and none of them has changed.
    """

    columns: tuple[str, ...]
    places: tuple[int, ...]
    x: Values
    y: Values
    present: NDArray[np.bool_]
    weights: Values
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
    weights = np.ones(pair.n) if pair.weights is None else pair.weights / pair.weights.mean()
    kept: list[int] = []
    empty: list[str] = []
    same: list[str] = []
    changed: list[str] = []
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
            x[rows, at], y[rows, at] = _standardised(before, after, weights[rows])
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
        note="; ".join(notes),
        unchanged=bool(same) and not changed,
    )


def _standardised(before: Values, after: Values, weights: Values) -> tuple[Values, Values]:
    """Both in units of the first. Halves and the largest deviation keep squares within the doubles."""
    middle = before.min() / 2 + before.max() / 2
    before, after = before - middle, after - middle
    largest = np.abs(before).max()
    before, after = before / largest, after / largest
    mean = np.average(before, weights=weights)
    before, after = before - mean, after - mean
    deviation = np.sqrt(np.average(before * before, weights=weights))
    return before / deviation, after / deviation
