"""What a task is given, and what it returns beside the masked records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from microagg.engines.spark.cells import Cells
from microagg.plan.method import MethodPlan
from microagg.plan.protection import Protection
from microagg.prepare.units import Units

STRATUM, HASH_A, HASH_B, WEIGHT = "stratum", "hash_a", "hash_b", "weight"
"""Columns of the frame at work beside those of the source; the hashes are of a record's content."""

GROUP, NOTE = "group", "note"
"""Columns for each subset, numbered: the group of each record, and the result of its task."""


@dataclass(frozen=True, slots=True, eq=False)
class PacketJob:
    """What a task needs to know about one subset of keys."""

    subset: tuple[str, ...]
    """The columns, as the frame at work calls them."""
    names: tuple[str, ...]
    """The columns, as the user calls them."""
    masked: tuple[str, ...]
    """What the masked ones are to be called."""
    group: str
    """The column that takes the group of each record."""
    note: str
    """The column that takes the result of the task."""
    cells: Cells
    units: Units
    method: MethodPlan
    protection: Protection
    decimals: Mapping[str, int | None]
    again: bool = False
    """The records have groups, which are to be refined; cells are those of what they publish."""


@dataclass(frozen=True, slots=True)
class PacketResult:
    """What a task returns beside the masked records; `refusal`: why there are none."""

    packet: int
    records: int = 0
    groups: int = 0
    sse: float = 0.0
    mixed_zeros: int = 0
    kept: tuple[int, ...] = ()
    """By column: values that are released."""
    had: tuple[int, ...] = ()
    """By column: values of the source."""
    sums: tuple[float, ...] = ()
    """By column, of the released values' points, and of their squares."""
    squares: tuple[float, ...] = ()
    largest: tuple[float, ...] = ()
    """By column: the largest share of a group."""
    shares: tuple[float, ...] = ()
    """By column: the sum of the shares of all groups."""
    recipes: frozenset[str] = field(default_factory=frozenset)
    truncated: bool = False
    refusal: Exception | None = None
