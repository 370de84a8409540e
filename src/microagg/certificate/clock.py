"""Time limit of a check: a forged certificate could keep its reader busy for ever."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import monotonic

from microagg import wording

Tick = Callable[[], None]
"""Called regularly by slow steps; raises CertificateError when the time is over."""


def no_limit() -> None:
    """A `Tick` that never raises."""


def limited_to(seconds: float | None) -> Tick:
    """A `Tick` that raises after so many seconds from now; None: never."""
    if seconds is None:
        return no_limit
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0.0 < seconds < math.inf:
        raise wording.bad_number("seconds", seconds, "a number above 0")
    limit = monotonic() + seconds

    def tick() -> None:
        if monotonic() >= limit:
            raise wording.certificate_not_checked(seconds)

    return tick
