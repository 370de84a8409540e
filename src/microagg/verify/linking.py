"""How many records a confidential column links to their respondents, by its correlation with the keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.measure.key_confidential import linked_share
from microagg.model import Doubles
from microagg.verify.values import numbers_in

MOST_RECORDS = 100_000
"""Of more, those of some classes are enough to estimate a share."""


def some_classes(labels: NDArray[np.int64], count: int) -> NDArray[np.bool_] | None:
    """Which records are looked at: those of every so-manieth class; None: all."""
    if len(labels) <= MOST_RECORDS:
        return None
    step = -(-len(labels) // MOST_RECORDS)
    chosen = np.arange(count) * 2654435761 % 2**32 // 7 % step == 0
    return np.asarray(chosen[labels])


def linked_shares(
    keys: list[Doubles], labels: NDArray[np.int64], confidential: Mapping[str, Any]
) -> dict[str, float]:
    """By confidential column of numbers: the share of records that it links.

    `keys` are the source's numbers, NaN where missing, as are means in their place.
    """
    if not keys or not len(labels):
        return {}
    points = np.stack([_standardised(values) for values in keys], axis=1)
    found = {}
    for name, column in confidential.items():
        values = numbers_in(column)
        if values is None:
            continue
        present = ~np.isnan(values)
        if len(np.unique(values[present])) > 1:
            found[name] = linked_share(points[present], values[present], labels[present])[0]
    return found


def _standardised(values: Doubles) -> Doubles:
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
