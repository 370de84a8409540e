"""Arrow columns without what no reader is shown: values under nulls, and categories that are no values.

A null in Arrow is a bit beside a value, and the value may still be there: a number that was set to missing,
or the parts of a structure that is null. Files in Arrow's own format, and frames in memory, would hand it
on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from microagg.arrow_types import remove_unused_categories
from microagg.arrow_values import from_numpy, is_missing, to_numpy


def without_hidden_values(table: pa.Table, sort: bool = False) -> pa.Table:
    """The same values, with only the categories that occur, once each, and nothing under nulls.

    `sort`: sort unordered categories, whose order may be that of the source's records.
    """
    table = remove_unused_categories(table, sort)
    for at, field in enumerate(table.schema):
        column, kind = table.column(at), field.type
        stored = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
        if column.null_count or pa.types.is_nested(stored):  # then there may be one at any depth
            cleared = pa.chunked_array([clear(chunk) for chunk in column.chunks], type=kind)
            table = table.set_column(at, field, cleared)
    return table


def clear(array: Any) -> Any:
    """The same values with zeros, or nothing, under nulls, at every depth."""
    kind, types = array.type, pa.types
    if not len(array):  # perhaps a part of one that is not empty
        return pa.nulls(0, kind)
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, clear(array.storage))
    if types.is_struct(kind):
        return _clear_structures(array)
    if types.is_string_view(kind) or types.is_binary_view(kind):
        wide = pa.large_string() if types.is_string_view(kind) else pa.large_binary()
        return clear(array.cast(wide)).cast(kind)
    if types.is_list_view(kind) or types.is_large_list_view(kind):
        return _clear_list_views(array)
    # Arrow copies nothing where it takes nothing.
    array = array.take(from_numpy(np.arange(len(array)), mask=is_missing(array)))
    if not types.is_nested(kind):
        return array
    buffers = array.buffers()[: kind.num_buffers]
    return pa.Array.from_buffers(kind, len(array), buffers, children=[clear(array.values)])


def _clear_list_views(array: Any) -> Any:
    """Flattening leaves out what is under null lists, and what belongs to no list."""
    is_wide = pa.types.is_large_list_view(array.type)
    whole: Any = pa.int64() if is_wide else pa.int32()
    lengths = np.nan_to_num(to_numpy(compute.list_value_length(array))).astype(np.int64)
    starts = from_numpy(np.cumsum(lengths) - lengths, whole)
    made: Any = pa.LargeListViewArray if is_wide else pa.ListViewArray
    parts = (starts, from_numpy(lengths, whole), clear(array.flatten()))
    return made.from_arrays(*parts, type=array.type, mask=array.is_null())


def _clear_structures(array: Any) -> Any:
    kind = array.type
    if not kind.num_fields:
        return array
    fields = [kind.field(at) for at in range(kind.num_fields)]
    # Flattening makes the parts of a null structure null.
    parts = [
        clear(part) if field.nullable else _never_null(clear(part))
        for field, part in zip(fields, array.flatten(), strict=True)
    ]
    return pa.StructArray.from_arrays(parts, fields=fields, mask=array.is_null())


def _never_null(array: Any) -> Any:
    """Replace nulls by zeros or empty values, in a part of a structure that is declared to have no nulls.

    Where the structure is null the part has no value either, and files would be refused if it were null.
    """
    kind, types = array.type, pa.types
    if not array.null_count or types.is_null(kind):
        return array
    if types.is_struct(kind):
        children = [array.field(at) for at in range(kind.num_fields)]
        return pa.Array.from_buffers(kind, len(array), [None], children=children)
    if types.is_list(kind) or types.is_large_list(kind):
        offsets = array.buffers()[1]
        return pa.Array.from_buffers(kind, len(array), [None, offsets], children=[array.values])
    if types.is_fixed_size_list(kind):
        return pa.Array.from_buffers(kind, len(array), [None], children=[array.values])
    if types.is_nested(kind) or types.is_dictionary(kind) or isinstance(kind, pa.BaseExtensionType):
        return array
    return pa.Array.from_buffers(kind, len(array), [None, *array.buffers()[1:]])
