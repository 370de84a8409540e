"""Arrow's many types in the few kinds that matter here, and what comes with one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

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


def without_unused_categories(table: pa.Table) -> pa.Table:
    """The table without categories that no record has: they may be those of suppressed records."""
    import pyarrow as pa

    for at, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(at, field, _used(table.column(at)))
    return table


def _used(column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    """Dictionary-encoded values, each category of which occurs, in the order that they had."""
    import pyarrow as pa

    unified: list[Any] = column.unify_dictionaries().chunks
    codes = [chunk.indices.to_numpy(zero_copy_only=False) for chunk in unified]
    if not codes:
        return column
    dictionary = unified[0].dictionary
    missing = [np.isnan(part) for part in codes]  # whole numbers with nulls come as doubles
    filled = [np.where(gaps, -1, part).astype(np.int64) for part, gaps in zip(codes, missing, strict=True)]
    present = np.unique(np.concatenate(filled))
    present = present[present >= 0]
    kept = dictionary.take(pa.array(present, pa.int64()))
    chunks = [
        pa.DictionaryArray.from_arrays(
            pa.array(np.searchsorted(present, part), column.type.index_type, mask=gaps),
            kept,
            ordered=column.type.ordered,
        )
        for part, gaps in zip(filled, missing, strict=True)
    ]
    return pa.chunked_array(chunks, type=column.type)
