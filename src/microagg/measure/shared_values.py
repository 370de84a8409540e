"""Records that share values, numbered; and what is counted or added up by such numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from microagg.measure.pair import Codes, Pair, Values


def class_sizes(groups: Codes) -> Codes:
    """Records of each class that has any."""
    counts = np.bincount(groups)
    return np.asarray(counts[counts > 0], dtype=np.int64)


def as_codes(values: Values | Codes) -> Codes:
    """Numbers of the distinct values in their order; NaN equals NaN and comes last."""
    return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.int64).reshape(-1)


def combine_codes(codes: Sequence[Codes]) -> Codes:
    """Numbers of the distinct combinations, in their order."""
    result = codes[0]
    for more in codes[1:]:
        if not result.any():
            result = more
        elif more.any():
            # Numbered anew each time: products of many numbers of values would overflow.
            result = as_codes(result * (int(more.max()) + 1) + more)
    return result if np.bincount(result).all() else as_codes(result)


def column_codes(pair: Pair) -> list[Codes]:
    """`as_codes` each masked column; computed once for a pair."""
    return pair.remember("column codes", lambda: [as_codes(column) for column in pair.masked.T])


def released_classes(pair: Pair, columns: Sequence[int]) -> Codes:
    """Class of each record by its stratum and the released values of some columns."""
    return combine_codes([pair.strata, *(column_codes(pair)[column] for column in columns)])


def first_rows(classes: Codes) -> NDArray[np.int64]:
    """The first record of each class; classes are numbered without gaps."""
    rows = np.empty(int(classes.max()) + 1, dtype=np.int64)
    rows[classes[::-1]] = np.arange(classes.size)[::-1]
    return rows
