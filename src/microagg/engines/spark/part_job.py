"""What a task is given, and what it returns beside the masked records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from microagg.plan.method import MethodPlan
from microagg.plan.protection import Protection
from microagg.prepare.blocks import Blocks
from microagg.prepare.units import Units

STRATUM, HASH_A, HASH_B, WEIGHT = "stratum", "hash_a", "hash_b", "weight"
"""Columns of the frame at work beside those of the source; the hashes are of a record's content."""

GROUP, NOTE = "group", "note"
"""Columns for each subset, numbered: the group of each record, and the result of its task."""


@dataclass(frozen=True, slots=True, eq=False)
class PartJob:
    """What a task needs to know about one subset of keys."""

    number: int
    subset: tuple[str, ...]
    """The columns, as the frame at work calls them."""
    names: tuple[str, ...]
    """The columns, as the user calls them."""
    blocks: Blocks
    units: Units
    method: MethodPlan
    protection: Protection
    decimals: Mapping[str, int | None]
    again: bool = False
    """The records have groups, which are to be refined; blocks are those of what they publish."""

    @property
    def masked(self) -> tuple[str, ...]:
        """What the masked columns are called."""
        return tuple(f"y{name[1:]}" for name in self.subset)

    @property
    def group(self) -> str:
        return f"{GROUP}{self.number}"

    @property
    def note(self) -> str:
        return f"{NOTE}{self.number}"


@dataclass(frozen=True, slots=True)
class PartResult:
    """What a task returns beside the masked records; `refusal`: why there are none."""

    part: int
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
    recipes: frozenset[str] = field(default_factory=frozenset)
    truncated: bool = False
    refusal: Exception | None = None
