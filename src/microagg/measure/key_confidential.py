"""Untouched columns that follow from the keys: the first warning at the end of VLDBJ06's section 3.

An intruder knows a respondent's keys, and so the class. If a column that is released as it is can be
predicted from the keys, the record of the class whose value is nearest to the prediction is the likely one.
"""

from __future__ import annotations

import numpy as np

from microagg.measure.intruder_view import SAME, known, mean_and_deviation
from microagg.measure.pair import Codes, MeasureResult, Pair, Values
from microagg.measure.shared_values import as_codes, combine_codes, first_rows


def key_confidential(pair: Pair) -> MeasureResult:
    """Largest share of records linked inside their class by predicting an untouched column from the keys.

    Parts: R² of each column on the original keys, the share linked, and what chance gives. Each record is
    predicted from others alone.
    """
    parts: dict[str, float] = {}
    best, chance_then = np.nan, np.nan
    before = known(pair, np.arange(pair.n)) if pair.numbers else np.empty((pair.n, 0))
    for name, values in pair.numbers.items():
        present = ~np.isnan(values)
        if not present.any():
            continue
        value, groups = values[present], pair.groups[present]
        share, explained = linked_share(before[present], value, groups)
        chance = np.unique(groups).size / value.size
        parts |= {f"{name}: R²": explained, f"{name}: linked": share, f"{name}: by chance": chance}
        if not share <= best:  # also the first, while best is NaN
            best, chance_then = share, chance
    if not parts:
        return MeasureResult(np.nan, {}, "No numeric column is released unmasked.")
    note = f"By chance: {100.0 * chance_then:.4g} %, one over the mean size of a class."
    return MeasureResult(best, parts, note)


FOLDS = 10
"""Parts of the records: each is predicted from the others, so that few records are not fitted too well."""


def linked_share(keys: Values, value: Values, groups: Codes) -> tuple[float, float]:
    """The share of records whose value is the nearest in its class to what the keys predict, and R²."""
    predicted, explained = regression(keys, value)
    return float(_linked(groups, value, predicted).mean()), explained


def regression(keys: Values, value: Values) -> tuple[Values, float]:
    """Least squares with a constant, by the records of other folds: what is predicted, and R²."""
    mean, deviation = mean_and_deviation(value[:, None])
    if deviation[0] == 0.0:
        return np.full(value.size, mean[0]), 0.0
    score = (value - mean[0]) / deviation[0]
    design = np.column_stack([np.ones(value.size), keys - keys.mean(axis=0)])
    fold = np.random.default_rng(0).permutation(value.size) % FOLDS  # not in the order of the file
    squares, products = design.T @ design, design.T @ score
    fitted = np.empty(value.size)
    for each in range(int(fold.max()) + 1):
        own = design[fold == each]
        # Keys that follow from others, and constant ones, have eigenvalues of about zero: left out.
        inverse = np.linalg.pinv((squares - own.T @ own) / value.size, rcond=1e-10, hermitian=True)
        fitted[fold == each] = own @ (inverse @ (products - own.T @ score[fold == each]) / value.size)
    explained = 1.0 - float(((score - fitted) ** 2).mean()) / float((score**2).mean())
    return mean[0] + deviation[0] * fitted, min(max(explained, 0.0), 1.0)


def _linked(groups: Codes, value: Values, predicted: Values) -> Values:
    """Probability that the own record is the one of its class nearest to what is predicted for it.

    Sorted together with the values of its class, a prediction has its two neighbours beside it.
    """
    runs = combine_codes([groups, as_codes(value)])
    first = first_rows(runs)
    sizes = np.bincount(runs)
    # Distinct values class by class: `combine_codes` numbers them in order of the class, then of the value.
    classes, ladder = groups[first], value[first]
    order = np.lexsort((np.concatenate([ladder, predicted]), np.concatenate([classes, groups])))
    seen = np.cumsum(order < first.size)  # distinct values up to this place
    place = np.empty(order.size, dtype=np.int64)
    place[order] = seen
    after = np.minimum(place[first.size :], first.size - 1)
    before = np.maximum(place[first.size :] - 1, 0)
    gaps = np.empty((2, value.size))
    for gap, side in zip(gaps, (before, after), strict=True):
        gap[:] = np.where(classes[side] == groups, np.abs(ladder[side] - predicted), np.inf)
    gaps[1][before == after] = np.inf  # the ends of the ladder: one neighbour, not two
    nearest = gaps.min(axis=0)
    tied = gaps <= nearest * (1.0 + SAME)
    count = tied[0] * sizes[before] + tied[1] * sizes[after]
    own = (tied[0] & (runs == before)) | (tied[1] & (runs == after))
    return np.asarray(own / count, dtype=np.float64)
