"""The one definition of cost."""

from __future__ import annotations

from microagg import _core
from microagg.model import Labels, Points


def sse(points: Points, labels: Labels) -> float:
    """Within-groups sum of squares: squared distances of the records to their group's mean."""
    return _core.sse(points, labels)


def sst(points: Points) -> float:
    """Total sum of squares: squared distances of the records to the mean record."""
    return _core.sst(points)


def information_loss(sse: float, sst: float) -> float:
    """IL = 100 · SSE / SST, in percent. Data without any spread lose nothing: 0."""
    return 100.0 * sse / sst if sst > 0.0 else 0.0
