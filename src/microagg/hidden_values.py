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

from microagg.arrow_types import is_text, remove_unused_categories
from microagg.arrow_values import from_numpy, is_missing, scalar, to_numpy


def without_hidden_values(table: pa.Table, sort: bool = False) -> pa.Table:
    """The same values, with only the categories that occur, once each, and nothing under nulls.

    `sort`: sort unordered categories, whose order may be that of the source's records.
    """
    table = remove_unused_categories(table, sort)
    for at, field in enumerate(table.schema):
        if may_hide(field.type, table.column(at)):
            table = table.set_column(at, field, clear_column(table.column(at)))
    return table


def may_hide(kind: Any, column: pa.ChunkedArray[Any]) -> bool:
    """Whether there may be a value under a null; nested columns always may have one."""
    return bool(column.null_count) or pa.types.is_nested(_stored(kind))


def clear_column(column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    return pa.chunked_array([clear(chunk) for chunk in column.chunks], type=column.type)


def clear(array: Any) -> Any:
    """The same values with zeros, or nothing, under nulls, at every depth."""
    kind, types = array.type, pa.types
    if not len(array):  # perhaps a part of one that is not empty
        return pa.nulls(0, kind)
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, clear(array.storage))
    if types.is_struct(kind):
        return _clear_structures(array)
    if types.is_nested(kind):
        return _clear_lists(array)
    if types.is_dictionary(kind):
        codes = clear(array.indices)
        return pa.DictionaryArray.from_arrays(codes, array.dictionary, ordered=kind.ordered)
    if types.is_null(kind) or not array.null_count:
        return array
    if types.is_boolean(kind) or is_text(kind) or _is_bytes(kind):
        return _clear_text_and_bools(array)
    return _clear_fixed_width(array)


def _stored(kind: Any) -> Any:
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def _is_bytes(kind: Any) -> bool:
    types = pa.types
    return types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind)


def _bitmap(array: Any) -> Any:
    """Arrow's validity bits."""
    return array.is_valid().buffers()[1]


def _clear_text_and_bools(array: Any) -> Any:
    kind = array.type
    if "view" in str(kind):
        wide = pa.large_string() if is_text(kind) else pa.large_binary()
        return _clear_text_and_bools(array.cast(wide)).cast(kind)
    nothing = False if pa.types.is_boolean(kind) else ""
    filled = pa.concat_arrays([array.fill_null(scalar(nothing, kind))])
    return pa.Array.from_buffers(kind, len(array), [_bitmap(array), *_from_the_start(filled).buffers()[1:]])


def _from_the_start(array: Any) -> Any:
    """The array in memory of its own, where its first value comes first."""
    return array.take(from_numpy(np.arange(len(array)))) if array.offset else array


def _clear_fixed_width(array: Any) -> Any:
    """For numbers, dates, times: values that take equally many bytes."""
    width = array.type.bit_width // 8
    held = np.frombuffer(array.buffers()[1], dtype=np.uint8)
    rows = (
        held[array.offset * width : (array.offset + len(array)) * width].reshape(len(array), width).copy()
    )
    rows[is_missing(array)] = 0
    return pa.Array.from_buffers(array.type, len(array), [_bitmap(array), pa.py_buffer(rows.tobytes())])


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


def _clear_lists(array: Any) -> Any:
    """For lists and maps. Flattening leaves out what is under null lists, and what belongs to no list."""
    kind, types, gaps = array.type, pa.types, array.is_null()
    made: Any = pa.MapArray
    if types.is_map(kind):
        entries = clear(array.cast(_as_list(kind)))
        keys, items = entries.values.flatten()
        return made.from_arrays(entries.offsets, keys, items, type=kind, mask=gaps)
    values = clear(array.flatten())
    if types.is_fixed_size_list(kind):
        there = np.repeat(~is_missing(array), kind.list_size)
        places = from_numpy(np.cumsum(there) - 1, mask=~there)
        made = pa.FixedSizeListArray
        return made.from_arrays(clear(values.take(places)), type=kind, mask=gaps)
    lengths = np.nan_to_num(to_numpy(compute.list_value_length(array))).astype(np.int64)
    wide = types.is_large_list(kind) or types.is_large_list_view(kind)
    whole: Any = pa.int64() if wide else pa.int32()
    offsets = from_numpy(np.concatenate([[0], np.cumsum(lengths)]), whole)
    if types.is_list_view(kind) or types.is_large_list_view(kind):
        made = pa.LargeListViewArray if wide else pa.ListViewArray
        return made.from_arrays(offsets[:-1], from_numpy(lengths, whole), values, type=kind, mask=gaps)
    made = pa.LargeListArray if wide else pa.ListArray
    return made.from_arrays(offsets, values, type=kind, mask=gaps)


def _as_list(kind: Any) -> Any:
    """A map's type as that of a list of its entries."""
    return pa.list_(pa.struct([kind.key_field.with_nullable(True), kind.item_field]))
