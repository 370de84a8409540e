"""Columns as formats other than Arrow's own know them, and nothing beside their values."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg import errors
from microagg.arrow_types import is_text

if TYPE_CHECKING:
    import pyarrow as pa

_PANDAS = b"pandas"


def values_only(table: pa.Table, changed: Collection[str]) -> pa.Table:
    """The table without what is known only from the source.

    That is: categories that no record has, which may be those of suppressed records, and what pandas' own
    metadata say about columns that were changed or dropped.
    """
    import pyarrow as pa

    for at, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(at, field, _used(table.column(at)))
    metadata = dict(table.schema.metadata or {})
    if _PANDAS in metadata:
        about = json.loads(metadata[_PANDAS])
        kept = set(table.column_names) - set(changed)
        about["columns"] = [entry for entry in about["columns"] if entry["field_name"] in kept]
        # Ranges of row numbers are objects, not names; they are made anew.
        about["index_columns"] = [
            name for name in about["index_columns"] if isinstance(name, str) and name in kept
        ]
        metadata[_PANDAS] = json.dumps(about).encode()
    return table.replace_schema_metadata(metadata or None)


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


def plain(column: pa.ChunkedArray[Any], name: str, kind: str) -> pa.ChunkedArray[Any]:
    """Values as whole numbers, doubles, truth values, text, or dates and times without zone.

    These are what spreadsheets and statistical programs know; `DataError` for others.
    """
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    found = column.type
    if types.is_null(found) or is_text(found):
        return column.cast(pa.large_string())
    if types.is_uint64(found) or types.is_floating(found) or types.is_decimal(found):
        return column.cast(pa.float64(), safe=False)
    if types.is_integer(found):
        return column.cast(pa.int64())
    if types.is_timestamp(found):
        return column.cast(pa.timestamp("us"), safe=False)
    if types.is_boolean(found) or types.is_date(found) or types.is_time(found):
        return column
    raise errors.unwritable_column(kind, name, f"values of type {found}")
