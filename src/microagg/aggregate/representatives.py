"""What groups publish instead of their middles, as it was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from microagg.aggregate.existing import nearest_existing
from microagg.aggregate.grouped import Grouped
from microagg.aggregate.tables import TableColumn, by_tables
from microagg.model import Doubles
from microagg.plan.protection import Protection


def chosen(
    grouped: Grouped,
    middles: Doubles,
    decimals: Mapping[str, int | None],
    others: Sequence[TableColumn],
    protection: Protection,
) -> Doubles:
    """(groups, columns) By `categories`. Numbers follow only where their means are asked for."""
    if protection.categories == "existing":
        return nearest_existing(grouped, middles)
    pairs = protection.categories == "tables"
    follow = pairs and protection.aggregate == "mean"
    return by_tables(grouped, middles, decimals, others, pairs=pairs, numbers_follow=follow)
