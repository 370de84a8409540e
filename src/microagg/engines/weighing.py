"""Survey weights: numbers above zero, whoever asks for them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from microagg import read, wording
from microagg.model import Microdata

LARGEST_WEIGHT = 1e100
"""Totals of larger ones could overflow."""


def weights_of(source: Microdata, column: str) -> NDArray[np.float64]:
    """The weights of all records; `DataError` if one of them is none."""
    weights = read.numbers_of(source, column)
    for what, wrong in (
        ("missing", np.isnan(weights)),
        ("infinite", np.isinf(weights)),
        ("negative or zero", weights <= 0.0),
        ("too large", weights > LARGEST_WEIGHT),
    ):
        if wrong.any():
            raise wording.bad_weights(column, what, int(wrong.sum()))
    return weights
