"""What classes of records publish of keys that hold no numbers: modes, median levels and dates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from microagg.arrow_values import from_numbers
from microagg.model import Doubles
from microagg.verdict import NEGLIGIBLE
from microagg.verify.classes import Classes, codes_of

CATEGORIES = ("nominal", "ordinal")
"""Kinds of keys."""

DAY = 86400.0
LENGTHS = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": DAY}
"""In seconds, of the units of dates that are always equally long."""

TIE = 1e-12
"""Sums of weights that differ by a smaller share are equal."""

MOST_PAIRS = 4_000_000
"""Of codes that are compared at once."""

LEAST_OF_A_DATE = 1e-6
"""Seconds that doubles cannot tell, in dates of our time."""


def wrong_modes(
    before: Doubles,
    after: Doubles,
    classes: Classes,
    weights: Doubles | None,
    overall: Doubles | None = None,
) -> int:
    """Classes that publish another code than the most frequent one, or that with most weight; of several,
    that which is more frequent overall, then the first. `overall`: by code, unless all records are here.
    """
    codes = before.astype(np.int64)
    frequent = np.bincount(codes, weights).astype(np.float64) if overall is None else overall
    width = len(frequent)
    pairs, of = np.unique(classes.labels * width + codes, return_inverse=True)
    counts = np.bincount(of, weights)
    label, code = np.divmod(pairs, width)
    most = np.zeros(classes.count)
    np.maximum.at(most, label, counts)
    tied = counts >= most[label] * (1.0 - TIE)
    label, code = label[tied], code[tied]
    # The last that is written stays: the most frequent overall, the first of these.
    order = np.lexsort((-code, frequent[code]))
    expected, published = np.full((2, classes.count), -1.0)
    expected[label[order]] = code[order]
    published[classes.labels] = after
    return int((published != expected).sum())


def wrong_nearest_codes(
    before: Doubles,
    after: Doubles,
    classes: Classes,
    weights: Doubles | None,
    taxonomy: Sequence[Sequence[int]],
    overall: Doubles | None = None,
) -> int:
    """Classes that publish another code than that of their records from which the others are least apart in
    all, by the levels of the taxonomy; of several, that which is more frequent overall, then the first.
    """
    codes = before.astype(np.int64)
    lines = np.array(taxonomy)
    frequent = np.bincount(codes, weights, len(lines)).astype(np.float64) if overall is None else overall
    pairs, of = np.unique(classes.labels * len(lines) + codes, return_inverse=True)
    counts = np.bincount(of, weights).astype(np.float64)
    label, code = np.divmod(pairs, len(lines))
    starts = np.flatnonzero(np.diff(label, prepend=-1))
    numbers = np.diff(starts, append=len(label))
    published = np.full(classes.count, -1.0)
    published[classes.labels] = after
    wrong = 0
    for number in np.unique(numbers).tolist():
        chosen = starts[numbers == number]
        for part in np.array_split(chosen, -(-len(chosen) * number * number // MOST_PAIRS)):
            places = part[:, np.newaxis] + np.arange(number)
            own, count = code[places], counts[places]
            apart = np.zeros((len(part), number, number))
            for level in lines.T:
                apart += level[own][:, :, np.newaxis] != level[own][:, np.newaxis, :]
            total = (apart * count[:, np.newaxis, :]).sum(axis=2)
            slack = TIE * lines.shape[1] * count.sum(axis=1, keepdims=True)
            tied = total <= total.min(axis=1, keepdims=True) + slack
            rank = np.lexsort((own, -frequent[own], ~tied), axis=1)[:, 0]
            wrong += int((published[label[part]] != own[np.arange(len(part)), rank]).sum())
    return wrong


def wrong_median_levels(before: Doubles, after: Doubles, classes: Classes, weights: Doubles | None) -> int:
    """Classes that publish another level than their median: the lowest that at least half of their records,
    or of their weight, do not exceed.
    """
    weight = np.ones(len(before)) if weights is None else weights
    total, below, up_to = (
        np.bincount(classes.labels, np.where(counts, weight, 0.0), classes.count)
        for counts in (np.isfinite(before), before < after, before <= after)
    )
    enough = total / 2.0 * (1.0 - TIE)
    wrong = (below >= enough) | (up_to < enough)
    return int((wrong & (total > 0.0)).sum())


def wrong_dates(
    before: Doubles,
    after: Doubles,
    classes: Classes,
    weights: Doubles | None,
    resolution: str | None,
    aggregate: str,
) -> int:
    """Classes that publish another date than that of the unit nearest to the mean or median of their
    records, or the start of another month or year than it is in.
    """
    off = before - after
    total = np.bincount(classes.labels, weights, classes.count)
    held = total > 0.0
    weight = 1.0 if weights is None else weights
    published = np.zeros(classes.count)
    published[classes.labels] = after
    with np.errstate(invalid="ignore"):
        size = np.bincount(classes.labels, weight * np.abs(off), classes.count) / total
        middle = np.bincount(classes.labels, weight * off, classes.count) / total
    if aggregate == "median":
        middle[held] = medians(off, classes)
    low, high = around(published, resolution)
    slack = LEAST_OF_A_DATE + NEGLIGIBLE * size
    return int(((middle < low - slack) | (middle > high + slack))[held].sum())


def medians(values: Doubles, classes: Classes) -> Doubles:
    """Of each class that has a record."""
    sizes = np.bincount(classes.labels, minlength=classes.count)
    sizes = sizes[sizes > 0]
    first = np.cumsum(sizes) - sizes
    in_order = values[np.lexsort((values, classes.labels))]
    low, high = in_order[first + (sizes - 1) // 2], in_order[first + sizes // 2]
    return np.asarray(low / 2.0 + high / 2.0)


def around(published: Doubles, resolution: str | None) -> tuple[Doubles, Doubles]:
    """How far the middle of a class may be before and after its published date."""
    if resolution in ("month", "year"):
        seconds = np.round(published)
        start = seconds.astype("datetime64[s]").astype(_NUMPY_UNITS[resolution])
        following = (start + 1).astype("datetime64[s]").astype(np.float64)
        return np.zeros(len(published)), following - seconds
    half = np.full(len(published), 0.0 if resolution is None else LENGTHS[resolution] / 2.0)
    return -half, half


_NUMPY_UNITS = {"month": "datetime64[M]", "year": "datetime64[Y]"}


def off_grid(seconds: Doubles, resolution: str | None) -> int:
    """How many dates are more exact than they may be."""
    if resolution is None:
        return 0
    if resolution in LENGTHS:
        return int(np.count_nonzero(seconds % LENGTHS[resolution]))
    moments: NDArray[np.datetime64] = np.floor(seconds).astype("datetime64[s]")
    starts = moments.astype(_NUMPY_UNITS[resolution]).astype("datetime64[s]")
    return int(np.count_nonzero((starts != moments) | (seconds % 1.0 != 0.0)))


def new_combinations(before: Sequence[Doubles], after: Sequence[Doubles]) -> tuple[int, int, int]:
    """How many combinations of codes are released, how many of them the source does not have, and how many
    records have one of these. NaN is a code of its own.
    """
    n = len(before[0])
    together = [from_numbers(np.concatenate(sides)) for sides in zip(before, after, strict=True)]
    classes = Classes.whole(n + len(after[0])).refined(map(codes_of, together))
    known, released = (
        np.bincount(labels, minlength=classes.count) for labels in (classes.labels[:n], classes.labels[n:])
    )
    new = (known == 0) & (released > 0)
    return int((released > 0).sum()), int(new.sum()), int(released[new].sum())


def moved_shares(
    before: Doubles, after: Doubles, weights_before: Doubles | None, weights_after: Doubles | None
) -> float:
    """The total variation distance between the shares of codes in the source and in the release."""
    codes = [np.where(np.isnan(side), -1.0, side).astype(np.int64) + 1 for side in (before, after)]
    width = max(int(side.max(initial=0)) for side in codes) + 1
    shares = []
    for side, weights in zip(codes, (weights_before, weights_after), strict=True):
        counts = np.bincount(side, weights, width)
        shares.append(counts / counts.sum())
    distance = 0.5 * float(np.abs(shares[0] - shares[1]).sum())
    return distance if distance > NEGLIGIBLE else 0.0


def same_codes(before: Doubles, after: Doubles) -> NDArray[np.bool_]:
    return np.asarray((before == after) | (np.isnan(before) & np.isnan(after)))


def not_in_source(before: Sequence[Doubles], after: Sequence[Doubles]) -> int:
    """How many combinations of codes are released that no record of the source has. Records that lack some
    of them publish a combination of the others.
    """
    shown = ~np.isnan(np.stack(after, axis=1))
    patterns, of = np.unique(shown, axis=0, return_inverse=True)
    missing = 0
    for number, pattern in enumerate(patterns):
        rows, places = of.ravel() == number, np.flatnonzero(pattern).tolist()
        if places:
            sides = [before[at] for at in places], [after[at][rows] for at in places]
            missing += new_combinations(*sides)[1]
    return missing
