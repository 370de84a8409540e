"""Numbers that are likely to stand for a missing answer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_USUAL = tuple(
    sorted(
        {int(digit * length) for digit in "789" for length in range(1, 10)}
        | {int("9" * length + last) for last in "78" for length in range(1, 9)}
    )
)
"""7, 8 and 9, repeated; 97, 98, 997 …"""

_NEAR_THE_END = 20
"""So many values next to a code say how far apart values lie there."""

_TIMES_APART = 3
"""A code is at least so many times as far from the values as they are from each other."""


def likely_missing_codes(values: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[int, ...]:
    """Those of a column's distinct values, ascending, with their counts, that are likely to be codes.

    A code is one of the usual ones (9, 99, 999 …, 8 and 7 likewise, 97, 98, 997, 998 …; the same and 1 with
    a minus), occurs twice at least, and stands at an end of the range, with other codes at most beyond it.
    It is far from the other values: at least three times as far as those next to it, up to twenty of them,
    are from each other in the median. A negative code needs no distance where no other value is negative.
    There must be three other values at least; so 0, 1 and 9 are too few to tell.
    """
    if len(values) < 4:
        return ()
    low = _codes_at_the_end(-values[::-1], counts[::-1], (1, *_USUAL))
    high = _codes_at_the_end(values, counts, _USUAL)
    return tuple(sorted([-code for code in low] + list(high)))


def _codes_at_the_end(
    values: NDArray[np.float64], counts: NDArray[np.int64], usual: tuple[int, ...]
) -> tuple[int, ...]:
    """Codes at the upper end; for the lower end signs are turned, and so codes are positive here too."""
    at = len(values)
    while at > 3 and values[at - 1] in usual and counts[at - 1] >= 2:
        at -= 1
    # As many as are codes by name; fewer, until they are far from the rest.
    for rest in range(at, len(values)):
        lone_sign = usual[0] == 1 and values[rest - 1] <= 0
        steps = np.diff(values[max(0, rest - _NEAR_THE_END) : rest])
        far = values[rest] - values[rest - 1] >= _TIMES_APART * np.median(steps)
        if lone_sign or far:
            return tuple(int(code) for code in values[rest:])
    return ()
