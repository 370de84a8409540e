"""How many records a confidential column links to their respondents, by its correlation with the keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.arrow_values import from_numpy
from microagg.measure.key_confidential import linked_share, regression
from microagg.model import Doubles
from microagg.verify.classes import Classes, codes_of
from microagg.verify.values import as_understood, numbers_in

MOST_CATEGORIES = 20
"""Of a column without order; all rarer ones are looked at as one."""

MOST_RECORDS = 100_000
"""Of more, those of some classes are enough to estimate a share."""


def some_classes(labels: NDArray[np.int64], count: int) -> NDArray[np.bool_] | None:
    """Which records are looked at: those of every so-manieth class; None: all."""
    if len(labels) <= MOST_RECORDS:
        return None
    step = -(-len(labels) // MOST_RECORDS)
    chosen = np.arange(count) * 2654435761 % 2**32 // 7 % step == 0
    return np.asarray(chosen[labels])


def linked_in(
    keys: Mapping[str, Doubles], nominal: Sequence[str], classes: Classes, confidential: pa.Table
) -> dict[str, float]:
    """By confidential column of this table, as `linked_shares`; `nominal`: keys without order."""
    if not confidential.column_names:
        return {}
    chosen = some_classes(classes.labels, classes.count)
    labels, values = classes.labels, list(keys.items())
    if chosen is not None:
        labels, values = labels[chosen], [(name, own[chosen]) for name, own in values]
        confidential = confidential.filter(from_numpy(chosen))
    points = [each for name, own in values for each in (indicators(own) if name in nominal else [own])]
    return linked_shares(
        points, labels, dict(zip(confidential.column_names, confidential.columns, strict=True))
    )


def linked_shares(
    keys: list[Doubles], labels: NDArray[np.int64], confidential: Mapping[str, Any]
) -> dict[str, float]:
    """By confidential column: the share of records that it links.

    `keys` are the source's numbers, NaN where missing, as are means in their place; of categories without
    order, those of `indicators`.
    """
    if not keys or not len(labels):
        return {}
    points = np.stack([_scores(values) for values in keys], axis=1)
    found = {}
    for name, column in confidential.items():
        values = numbers_in(column)
        if values is None:
            found[name] = _linked_by_category(points, column, labels)
            continue
        present = ~np.isnan(values)
        if len(np.unique(values[present])) > 1:
            found[name] = linked_share(points[present], values[present], labels[present])[0]
    return found


def indicators(codes: Doubles) -> list[Doubles]:
    """For each of the most frequent codes: 1 where it is, and 0 elsewhere."""
    values, counts = np.unique(codes, return_counts=True)
    most = values[np.argsort(-counts, kind="stable")][:MOST_CATEGORIES]
    return [(codes == value).astype(np.float64) for value in most]


def _linked_by_category(points: Doubles, column: Any, labels: NDArray[np.int64]) -> float:
    """The probability, on average, to pick the own record among those of its class that have the category
    which the keys predict most, of the categories in the class.
    """
    classes = Classes.whole(len(labels)).refined([codes_of(as_understood(column))])
    codes = indicators(classes.labels.astype(np.float64))
    if len(codes) < 2:
        return 0.0
    rest = 1.0 - np.sum(codes, axis=0)
    codes += [rest] if rest.any() else []
    count = int(labels.max()) + 1
    there = np.stack([np.bincount(labels, each, count) for each in codes], axis=1)[labels]
    scores = np.stack([regression(points, each)[0] for each in codes], axis=1)
    own = np.argmax(codes, axis=0)
    best = np.argmax(np.where(there > 0.0, scores, -np.inf), axis=1)
    return float(((best == own) / there[np.arange(len(own)), own]).mean())


def _scores(values: Doubles) -> Doubles:
    present = ~np.isnan(values)
    scores = np.zeros_like(values)
    if present.any():
        largest = np.abs(values[present]).max()
        own = values[present] / (
            largest if largest > 0.0 else 1.0
        )  # squares of huge numbers would overflow
        spread = own.std()
        scores[present] = (own - own.mean()) / (spread if spread > 0.0 else 1.0)
    return scores
