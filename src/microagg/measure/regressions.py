"""What masking does to how numbers explain each other: correlations and linear regressions.

Numbers are the keys that hold numbers or dates, and confidential columns that hold numbers. Weighted, a
record counts as often as its weight.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from microagg import wording
from microagg.measure.comparable import Comparable, comparable
from microagg.measure.models import COLLINEAR
from microagg.measure.moments import pairwise
from microagg.measure.pair import MeasureResult, Pair, Values


def largest_correlation_change(pair: Pair) -> MeasureResult:
    """Largest |Δr| over pairs of numbers, Pearson's r of the records that have both.

    Parts: the largest over the pairs of each column. A column that is constant after masking has r = 0.
    """
    data = _columns_of_numbers(pair)
    if nothing := data.empty_result():
        return nothing
    if len(data.columns) == 1:
        return data.result(np.nan, note=wording.note_one_column())
    changes = np.abs(pairwise(data.y, data)[1] - pairwise(data.x, data)[1])
    np.fill_diagonal(changes, np.nan)
    if np.isnan(changes).all():
        return data.result(np.nan, note=wording.note_nothing_to_compare())
    largest = np.where(np.isnan(changes), -1.0, changes).max(axis=0)
    return data.result(largest.max(), data.by_column(np.where(largest < 0.0, np.nan, largest)))


def regressions(pair: Pair) -> MeasureResult:
    """Largest change of a coefficient over the regressions of each number on all others and a constant.

    Coefficients are those of the values in standard deviations of the original, before and after. Parts:
    their mean change, and the largest of each regression by its response. Of complete records. A column
    that those before it give is left out; where masking makes others dependent, the coefficients
    after it are the smallest ones that fit best.
    """
    data = _columns_of_numbers(pair)
    x, y, weights, left_out = data.complete()
    if nothing := data.empty_result() or data.too_few(len(x), left_out):
        return nothing
    root = np.sqrt(weights / weights.mean())[:, np.newaxis]
    sides = [(side - np.average(side, axis=0, weights=weights)) * root for side in (x, y)]
    scales = np.sqrt(np.mean(sides[0] ** 2, axis=0))
    scales[scales < COLLINEAR] = np.inf  # constant where no cell is missing
    before, after = (np.linalg.qr(side / scales)[1] for side in sides)
    kept = _independent_columns(before / np.sqrt(len(x)))
    notes = [left_out] if left_out else []
    if dependent := [name for at, name in enumerate(data.columns) if at not in kept]:
        notes.append(wording.note_dependent_columns(dependent))
    if len(kept) < 2:
        return data.result(np.nan, note="; ".join([*notes, wording.note_one_column()]))
    changes = np.abs(_coefficients(after[:, kept]) - _coefficients(before[:, kept]))
    parts = {"mean change": float(changes.sum() / (changes.size - len(kept)))}
    for at, place in enumerate(kept):
        parts[f"of {data.columns[place]}"] = float(changes[at].max())
    return data.result(changes.max(), parts, "; ".join(notes))


def _columns_of_numbers(pair: Pair) -> Comparable:
    """In common units; computed once for a pair."""

    def compute() -> Comparable:
        known = {name: (own, own) for name, own in pair.numbers.items()} | dict(pair.changed_numbers)
        others = {name: known[name] for name in pair.confidential if name in known}
        original = np.column_stack([pair.original, *(before for before, _ in others.values())])
        masked = np.column_stack([pair.masked, *(after for _, after in others.values())])
        return comparable(replace(pair, columns=(*pair.columns, *others), original=original, masked=masked))

    return pair.remember("numbers with confidential ones", compute)


def _independent_columns(columns: Values) -> list[int]:
    """Places of the columns that those before them do not give."""
    kept: list[int] = []
    for at, own in enumerate(columns.T):
        basis = columns[:, kept]
        if np.linalg.norm(own - basis @ np.linalg.lstsq(basis, own)[0]) > COLLINEAR:
            kept.append(at)
    return kept


def _coefficients(columns: Values) -> Values:
    """Row i: those of the regression of column i on all others, 0 for itself."""
    count = columns.shape[1]
    found = np.zeros((count, count))
    for at in range(count):
        others = np.arange(count) != at
        found[at, others] = np.linalg.lstsq(columns[:, others], columns[:, at], rcond=COLLINEAR)[0]
    return found
