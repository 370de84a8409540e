"""What a class gives away although its records look alike: confidential values that hardly differ in it.

A class is the records that share all released values of strata and masked columns. Measures of confidential
columns are NaN where there are none, with a note.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from microagg.measure.pair import Codes, MeasureResult, Pair, Values
from microagg.measure.requirements import AT_LEAST_ONE
from microagg.measure.shared_values import as_codes, class_sizes

NO_CONFIDENTIAL = MeasureResult(np.nan, {}, "No confidential column was named.")


def attribute_disclosure(pair: Pair) -> MeasureResult:
    """Share of records in classes in which some confidential column has one value only."""
    if not pair.confidential:
        return NO_CONFIDENTIAL
    places = as_codes(pair.groups)
    given_away = {
        name: (_distinct_values(pair.groups, codes) == 1)[places]
        for name, codes in pair.confidential.items()
    }
    parts = {name: float(flags.mean()) for name, flags in given_away.items()}
    whole = float(np.any(list(given_away.values()), axis=0).mean())
    return MeasureResult(whole, parts, "A missing value counts as a value.")


def diversity(pair: Pair) -> MeasureResult:
    """Smallest number of distinct values of a confidential column in a class."""
    if not pair.confidential:
        return NO_CONFIDENTIAL
    parts = {
        name: float(_distinct_values(pair.groups, codes).min()) for name, codes in pair.confidential.items()
    }
    return MeasureResult(min(parts.values()), parts, "A missing value counts as a value.")


def homogeneous(pair: Pair, *, most_listed: int = 20) -> MeasureResult:
    """Number of classes in which some confidential column has one value only."""
    AT_LEAST_ONE.check("most_listed", most_listed)
    if not pair.confidential:
        return NO_CONFIDENTIAL
    numbers = np.unique(pair.groups)
    single = {name: _distinct_values(pair.groups, codes) == 1 for name, codes in pair.confidential.items()}
    any_single = np.any(list(single.values()), axis=0)
    parts = {name: float(flags.sum()) for name, flags in single.items()}
    listed = numbers[any_single]
    note = f"Of {numbers.size:,} classes."
    if listed.size:
        note += f" Numbers: {', '.join(map(str, listed[:most_listed].tolist()))}"
        note += f" and {listed.size - most_listed:,} more." if listed.size > most_listed else "."
    return MeasureResult(float(any_single.sum()), parts, note)


def closeness(pair: Pair) -> MeasureResult:
    """Largest earth mover's distance between a confidential column in a class and in the whole file."""
    if not pair.confidential:
        return NO_CONFIDENTIAL
    parts = {}
    for name, codes in pair.confidential.items():
        if name in pair.numbers or name in pair.columns:
            parts[name] = float(_ordered_distances(pair.groups, codes).max())
        else:
            parts[name] = float(_equal_distances(pair.groups, codes).max())
    note = "Ordered distance for numbers, equal distance for other values."
    return MeasureResult(max(parts.values()), parts, note)


def confidential_range(pair: Pair) -> MeasureResult:
    """Smallest range of a confidential number in a class, as a share of its range in the file."""
    numbers = {name: pair.numbers[name] for name in pair.confidential if name in pair.numbers}
    if not numbers:
        return MeasureResult(np.nan, {}, "No confidential column of numbers was named.")
    order = np.argsort(pair.groups, kind="stable")
    starts = np.cumsum(np.concatenate([[0], class_sizes(pair.groups)[:-1]]))
    parts = {}
    for name, values in numbers.items():
        present = ~np.isnan(values)
        if not present.any():
            continue
        whole = values[present].max() - values[present].min()
        lows = np.minimum.reduceat(np.where(present, values, np.inf)[order], starts)
        highs = np.maximum.reduceat(np.where(present, values, -np.inf)[order], starts)
        filled = np.isfinite(lows)
        smallest = float((highs[filled] - lows[filled]).min())
        parts[name] = smallest / float(whole) if whole > 0 else 0.0
    value = min(parts.values()) if parts else np.nan
    return MeasureResult(value, parts, "Classes in which all values are missing do not count.")


def _runs(groups: Codes, codes: Codes) -> tuple[Codes, Codes, Codes]:
    """Class (numbered anew, in order), value and number of records of each pair of both that occurs."""
    places = as_codes(groups)
    width = int(codes.max()) + 1
    pairs, counts = np.unique(places * width + codes, return_counts=True)
    return pairs // width, pairs % width, counts


def _distinct_values(groups: Codes, codes: Codes) -> NDArray[np.int64]:
    return np.asarray(np.bincount(_runs(groups, codes)[0]), dtype=np.int64)


def _equal_distances(groups: Codes, codes: Codes) -> Values:
    """Half the sum of |p - q| over all values: the same as the sum of p - q where p is larger."""
    places, values, counts = _runs(groups, codes)
    inside = counts / class_sizes(groups)[places]
    overall = np.bincount(codes)[values] / codes.size
    return np.asarray(np.bincount(places, weights=np.maximum(inside - overall, 0.0)), dtype=np.float64)


def _ordered_distances(groups: Codes, codes: Codes) -> Values:
    """Sum over all values but the last of |P - Q|, cumulative shares, divided by their number.

    P is constant between values that occur in the class: with sums of Q at hand, such a stretch takes
    constant time once it is known where Q exceeds P, and all classes together O(n log n).
    """
    codes = as_codes(codes)
    n, m = codes.size, int(codes.max()) + 1
    sizes = class_sizes(groups)
    if m == 1:
        return np.zeros(sizes.size)
    cumulative = np.cumsum(np.bincount(codes))
    sums = np.concatenate([[0.0], np.cumsum(cumulative / n)])
    places, values, counts = _runs(groups, codes)
    first = np.searchsorted(places, np.arange(sizes.size))
    before = np.cumsum(counts) - counts
    # One stretch below each value that occurs, from the one before on, and one from the last value on.
    below = before - before[first][places]
    starts = np.concatenate([[0], values[:-1]])
    starts[first] = 0
    last = np.concatenate([first[1:], [places.size]]) - 1
    stretch_class = np.concatenate([places, np.arange(sizes.size)])
    stretch_from = np.concatenate([starts, values[last]])
    stretch_to = np.concatenate([values, np.full(sizes.size, m)])
    share = np.concatenate([below, sizes]) / sizes[stretch_class]
    turn = np.clip(np.searchsorted(cumulative, share * n), stretch_from, stretch_to)
    lower = share * (turn - stretch_from) - (sums[turn] - sums[stretch_from])
    upper = (sums[stretch_to] - sums[turn]) - share * (stretch_to - turn)
    totals = np.bincount(stretch_class, weights=lower + upper) / (m - 1)
    return np.maximum(totals, 0.0)
