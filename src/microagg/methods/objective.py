"""The one definition of cost."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import chain

from microagg import _core
from microagg.model import Labels, Points


def sse(points: Points, labels: Labels) -> float:
    """Within-groups sum of squares: squared distances of the records to their group's mean."""
    return _core.sse(points, labels)


def sse_of_parts(parts: Iterable[tuple[float, float]]) -> float:
    """The SSE of a partition, from `_core.sse_and_rest` of its parts: their SSEs, and what rounding took
    from each. The same as `sse` of the whole, unless a hundred bits do not decide how to round.
    """
    return math.fsum(chain.from_iterable(parts))


def sst(points: Points) -> float:
    """Total sum of squares: squared distances of the records to the mean record."""
    return _core.sst(points)


def information_loss(sse: float, sst: float) -> float:
    """IL = 100 · SSE / SST, in percent. Data without any spread lose nothing: 0."""
    return 100.0 * sse / sst if sst > 0.0 else 0.0
