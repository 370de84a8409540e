"""What a task is given, and what it returns beside the masked records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from microagg.aggregate.losses import ColumnLoss
from microagg.methods.recipe import MethodPlan
from microagg.model import Doubles, Whole
from microagg.plan.protection import Protection
from microagg.prepare.key_columns import KeyColumn
from microagg.prepare.large_strata import Blocks
from microagg.prepare.spaces import Space

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
    space: Space
    method: MethodPlan
    protection: Protection
    decimals: Mapping[str, int | None]
    overall: Mapping[str, Doubles]
    """Of nominal columns: how frequent each code is among all records."""
    others: tuple[str, ...] = ()
    """Columns of the source of which tables with these are kept."""
    whole: Mapping[str, Doubles] = field(default_factory=dict)
    """Of numbers: values as frequent as they are among all records."""
    again: bool = False
    """The records have groups, which are to be refined; blocks are those of what they publish."""

    @property
    def masked(self) -> tuple[str, ...]:
        """What the masked columns are called."""
        return tuple(f"y{name[1:]}" for name in self.subset)

    @property
    def kinds(self) -> dict[str, KeyColumn]:
        """Of the columns that hold no numbers."""
        pairs = zip(self.subset, self.space.kinds, strict=True)
        return {name: kind for name, kind in pairs if kind is not None}

    @property
    def published(self) -> dict[str, str]:
        """By column that holds no numbers: what it is called as it is published."""
        return {name: f"p{name[1:]}" for name in self.kinds}

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
    levels: tuple[Whole, ...] = ()
    """By column of categories: how many of the released values are of each level."""
    losses: Mapping[str, ColumnLoss] = field(default_factory=dict)
    """By column, if some hold categories; what one value for all would cost is known of all parts only."""
    recipes: frozenset[str] = field(default_factory=frozenset)
    truncated: bool = False
    refusal: Exception | None = None
