"""Columns in types that all formats have, and without anything known only from the source."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import pyarrow as pa

from microagg import wording
from microagg.arrow_types import is_text
from microagg.hidden_values import without_hidden_values

_PANDAS = b"pandas"


def remove_source_traces(table: pa.Table, changed: Collection[str]) -> pa.Table:
    """Remove what is known only from the source: categories that no record has (they may be those of
    suppressed records), values under nulls, and pandas' metadata on columns that were changed or dropped.
    """
    table = without_hidden_values(table)
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


def to_basic_type(column: pa.ChunkedArray[Any], name: str, kind: str) -> pa.ChunkedArray[Any]:
    """Cast to integers, doubles, bools, text, or dates and times without zone, which spreadsheets and
    statistical programs can hold; `DataError` for other types.
    """
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
    raise wording.unwritable_column(kind, name, f"values of type {found}")
