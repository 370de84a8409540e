"""How far tables of any two columns moved, and what classes that keep them publish, counted anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.model import Doubles
from microagg.verdict import NEGLIGIBLE
from microagg.verify.categories import CATEGORIES
from microagg.verify.classes import Classes, codes_of
from microagg.verify.values import as_understood, numbers

MOST_ROWS = 300
"""Of a table; rarer codes share one."""

BANDS = 20
"""Of equal counts, of numbers with more different values than rows."""

STEPS_FROM_MEAN = 6
"""So many different values of the source may lie between the mean of a class and what it publishes."""

SHARE_FROM_MEAN = 7 / 64
"""Or so large a share of all records, but for those of frequent values."""

FREQUENT = 1 / 64
"""A value of so large a share of the records may lie between, whatever its share is."""

ALLOWED = 0.01
"""Tables may be so much farther from the source's than with middles, by chance."""

FEW_GROUPS = 20
"""Where there are fewer, one of k records moves tables by more."""

_Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class MaskedAttribute:
    """A masked column before and after, and the classes that publish it."""

    before: Doubles
    after: Doubles
    kind: str | None
    classes: Classes


def two_way_of(
    columns: Sequence[MaskedAttribute], released: Sequence[Any], weights: Doubles | None
) -> tuple[float, float]:
    """How far tables of any two of these columns moved, and how far they would have with modes and median
    levels. `released`: columns that stay as they are.
    """
    sides: list[tuple[list[_Rows], int]] = []
    for each in columns:
        middles = each.after
        if each.kind in CATEGORIES:
            middles = middles_of(each.before, each.classes, each.kind == "ordinal", weights)
        three = (each.before, each.after, middles)
        sides.append(rows_of_tables(each.before, three, each.kind not in CATEGORIES))
    for column in released:
        own = numbers(column)
        is_number = own is not None
        if own is None:
            codes = codes_of(as_understood(column))
            own = Classes.whole(len(column)).refined([codes]).labels.astype(np.float64)
        sides.append(rows_of_tables(own, (own,) * 3, is_number))
    widths = [width for _, width in sides]
    before, after, middle = ([own[at] for own, _ in sides] for at in range(3))
    return (
        two_way_distance(before, after, widths, weights),
        two_way_distance(before, middle, widths, weights),
    )


def allowed(k: int, records: float) -> float:
    """How much farther from the source's than with middles tables of so many records may be."""
    return ALLOWED + (k / records if records < FEW_GROUPS * k else 0.0)


def rows_of_tables(before: Doubles, sides: Sequence[Doubles], is_number: bool) -> tuple[list[_Rows], int]:
    """The row of a table in which each value of these sides stands; a missing one in the last."""
    known, counts = np.unique(before[~np.isnan(before)], return_counts=True)
    if not len(known):
        return [np.zeros(len(side), dtype=np.int64) for side in sides], 1
    if is_number and len(known) > MOST_ROWS:
        ends = np.cumsum(counts)
        starts = known[np.unique(np.searchsorted(ends, ends[-1] * np.arange(1, BANDS) / BANDS))]
        rows = [np.searchsorted(starts, side, side="right") for side in sides]
        last = len(starts) + 1
    elif is_number:
        middles = known[:-1] / 2.0 + known[1:] / 2.0
        rows = [np.searchsorted(middles, side, side="right") for side in sides]
        last = len(known)
    else:
        of = np.full(len(known), min(len(known), MOST_ROWS) - 1)
        frequent = np.argsort(-counts, kind="stable")[:MOST_ROWS]
        of[frequent] = np.arange(len(frequent))
        rows = [of[np.minimum(np.searchsorted(known, side), len(known) - 1)] for side in sides]
        last = len(frequent)
    found = [np.where(np.isnan(side), last, own) for side, own in zip(sides, rows, strict=True)]
    return found, last + 1


def two_way_distance(
    before: Sequence[_Rows], after: Sequence[_Rows], widths: Sequence[int], weights: Doubles | None
) -> float:
    """The mean total variation distance of the tables of any two of these columns, from 0 to 1."""
    distances = []
    for one, other in combinations(range(len(widths)), 2):
        shares = []
        for side in (before, after):
            cells = side[one] * widths[other] + side[other]
            counts = np.bincount(cells, weights, widths[one] * widths[other])
            shares.append(counts / counts.sum())
        distances.append(0.5 * float(np.abs(shares[0] - shares[1]).sum()))
    return float(np.mean(distances)) if distances else 0.0


def middles_of(before: Doubles, classes: Classes, ordered: bool, weights: Doubles | None) -> Doubles:
    """By record: the median level or most frequent code of its class; NaN where it has no value."""
    has = ~np.isnan(before)
    labels, values = classes.labels[has], before[has]
    weight = np.ones(len(values)) if weights is None else weights[has]
    width = int(values.max(initial=0)) + 1
    pairs, of = np.unique(labels * width + values.astype(np.int64), return_inverse=True)
    counts = np.bincount(of, weight)
    label, code = np.divmod(pairs, width)
    if ordered:
        total = np.bincount(label, counts, classes.count)
        up_to = np.cumsum(counts) - (np.cumsum(total) - total)[label]
        order = np.flatnonzero(up_to >= total[label] / 2.0)[::-1]  # the lowest of each is written last
    else:
        order = np.argsort(counts, kind="stable")
    middle = np.zeros(classes.count)
    middle[label[order]] = code[order]
    found = np.full(len(before), np.nan)
    found[has] = middle[labels]
    return found


def codes_of_no_member(before: Doubles, after: Doubles, classes: Classes) -> int:
    """Classes that publish a code which none of their records has."""
    own = np.zeros(classes.count, dtype=bool)
    own[classes.labels[before == after]] = True
    return int((~own[np.unique(classes.labels)]).sum())


def far_from_means(
    before: Doubles,
    after: Doubles,
    classes: Classes,
    weights: Doubles | None,
    everything: Doubles,
    rounding: float = 0.0,
) -> int:
    """Classes that publish a number outside the source's, or far from the mean of their records."""
    weight = np.ones(len(before)) if weights is None else weights
    total = np.bincount(classes.labels, weight, classes.count)
    parts = weight / total[classes.labels]
    means: Doubles = np.bincount(classes.labels, parts * before, classes.count).astype(np.float64)
    published = np.full(classes.count, np.nan)
    published[classes.labels] = after
    held = total > 0.0
    return int(are_far(means[held], published[held], everything, rounding).sum())


def are_far(
    means: Doubles, published: Doubles, everything: Doubles, rounding: float, steps: int = STEPS_FROM_MEAN
) -> NDArray[np.bool_]:
    """Whether many different values of the source, and a large share of all, lie between a mean and what is
    published, but for rounding; or whether that lies outside.
    """
    known, counts = np.unique(everything[~np.isnan(everything)], return_counts=True)
    if not len(known):
        return np.zeros(len(means), dtype=bool)
    records = int(counts.sum())
    rare = counts < FREQUENT * records
    values = np.repeat(known[rare], counts[rare])
    low, high = np.minimum(means, published) + rounding, np.maximum(means, published) - rounding
    between = [
        np.searchsorted(own, high, side="left") - np.searchsorted(own, low, side="right")
        for own in (known, values)
    ]
    far = (between[0] > steps) & (between[1] > SHARE_FROM_MEAN * records)
    slack = rounding + NEGLIGIBLE * np.abs(known[[0, -1]])
    return np.asarray(far | (published < known[0] - slack[0]) | (published > known[-1] + slack[1]))
