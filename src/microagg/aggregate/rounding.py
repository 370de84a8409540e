"""Published values with a sensible number of decimals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from microagg.model import Doubles

_WHOLE = 2.0**52
"""Doubles of this size and above have no decimals."""


def with_decimals(values: Doubles, decimals: int) -> Doubles:
    """Round each value by itself, without negative zeros; NaN stays NaN."""
    whole = np.abs(values) >= _WHOLE  # rounding would multiply them, and may overflow
    return np.where(whole, values, np.round(np.where(whole, 0.0, values), decimals)) + 0.0


def rounded(values: Doubles, shares: Doubles, decimals: int | None) -> Doubles:
    """Round the groups' values of one column.

    Whole numbers keep the column's total: those with the largest remainders are rounded up, as many as it
    takes (`shares`: how many records, or how much weight, each value stands for). The total then differs
    by half a unit at most, unless the groups' sizes do not allow it: groups of equal size s can only
    change it in steps of s.
    """
    if decimals is None:
        return values
    if decimals > 0:
        return with_decimals(values, decimals)
    low = np.floor(values)
    remainders = values - low
    order = np.lexsort((np.arange(len(values)), -remainders))
    totals = np.concatenate([[0.0], np.cumsum(shares[order])])
    wanted = float((shares * remainders).sum())
    count = int(np.argmin(np.abs(totals - wanted)))
    up = np.zeros(len(values), dtype=bool)
    up[order[:count]] = True
    _exchange(up, shares, remainders, wanted - float(totals[count]))
    return low + up + 0.0


def _exchange(up: NDArray[np.bool_], shares: Doubles, remainders: Doubles, short: float) -> None:
    """Round one up instead of another whose share is smaller or larger, so that the total comes nearer;
    of equally good exchanges the one with the least difference in remainders.
    """
    sizes, kind = np.unique(shares, return_inverse=True)
    while abs(short) > 0.5 and len(sizes) <= _MOST_SIZES:
        best: tuple[float, float, int, int] | None = None
        tops = [_extreme(remainders, np.flatnonzero((kind == size) & ~up), 1) for size in range(len(sizes))]
        ends = [_extreme(remainders, np.flatnonzero((kind == size) & up), -1) for size in range(len(sizes))]
        for more in tops:
            for less in ends:
                if more is None or less is None or remainders[more] == 0.0:
                    continue
                left = abs(short - (shares[more] - shares[less]))
                choice = (left, float(remainders[less] - remainders[more]), more, less)
                if left < abs(short) and (best is None or choice < best):
                    best = choice
        if best is None:
            return
        _, _, more, less = best
        up[more], up[less] = True, False
        short -= float(shares[more] - shares[less])


_MOST_SIZES = 100
"""With more different shares, as weights have, exchanges would take long and gain little."""


def _extreme(remainders: Doubles, rows: NDArray[np.int64], sign: int) -> int | None:
    """The row with the largest (1) or smallest (-1) remainder."""
    return int(rows[np.argmax(sign * remainders[rows])]) if len(rows) else None
