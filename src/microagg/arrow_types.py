"""Arrow's many types in the few kinds that matter here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

DATES = b"dates"
"""Metadata of a field of numbers: they are dates, by the file's own word."""


def are_dates(field: pa.Field[Any]) -> bool:
    """Whether a column holds dates or times, also where they are numbers."""
    import pyarrow as pa

    return pa.types.is_temporal(field.type) or DATES in (field.metadata or {})


def is_text(kind: pa.DataType) -> bool:
    """Whether values of this type are text."""
    import pyarrow as pa

    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def is_number(kind: pa.DataType) -> bool:
    """Whether values of this type are numbers."""
    import pyarrow as pa

    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
