"""What tasks are told, and what they tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from microagg.engines.spark.cells import Cells
from microagg.plan.method import MethodPlan
from microagg.scale.units import Units

STRATUM, MIXED, MIXED_TOO, WEIGHT = "stratum", "mixed", "mixed_too", "weight"
"""Columns of the frame at work beside those of the source; the mixed ones are hashes of its content."""

GROUP, NOTE = "group", "note"
"""Columns for each subset, numbered: the group of each record, and what its task has found."""


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """What a task is told about one subset of keys."""

    subset: tuple[str, ...]
    """The columns, as the frame at work calls them."""
    names: tuple[str, ...]
    """As the user does."""
    masked: tuple[str, ...]
    """What the masked ones are to be called."""
    group: str
    """The column that takes the group of each record."""
    note: str
    """The column that takes what the task has found."""
    cells: Cells
    units: Units
    method: MethodPlan
    k: int
    zeros_apart: bool
    weighted: bool
    aggregate: str
    accept_real_values: bool
    decimals: Mapping[str, int | None]
    again: bool = False
    """The records have groups, which are to be refined; cells are those of what they publish."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a task tells beside the masked records; `refusal`: why there are none."""

    packet: int
    records: int = 0
    groups: int = 0
    sse: float = 0.0
    odd: int = 0
    """Groups of an odd number of records."""
    mixed_zeros: int = 0
    kept: tuple[int, ...] = ()
    """By column: values that are released."""
    had: tuple[int, ...] = ()
    """By column: values that there were."""
    sums: tuple[float, ...] = ()
    """By column, of the released values' points, and of their squares."""
    squares: tuple[float, ...] = ()
    largest: tuple[float, ...] = ()
    """By column: the largest share of a group."""
    shares: tuple[float, ...] = ()
    """By column: those of all groups."""
    recipes: frozenset[str] = field(default_factory=frozenset)
    truncated: bool = False
    refusal: Exception | None = None
