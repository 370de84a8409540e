"""Arrow's many types in the few kinds that matter here, and what comes with one of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from microagg import wording
from microagg.arrow_values import as_doubles, from_numpy, to_numpy

DATES = b"dates"
"""Metadata key of a field of numbers that the file declares to be dates."""


NUMBERS_AMONG_TEXT = b"numbers"
"""Metadata key of a field of text: how many of its values are numbers in the file."""


def are_dates(field: pa.Field[Any]) -> bool:
    """Whether a column holds dates or times, including those stored as numbers."""
    return pa.types.is_temporal(field.type) or DATES in (field.metadata or {})


def is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def is_binary(kind: pa.DataType) -> bool:
    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)


def convert_to_usual_types(table: pa.Table) -> pa.Table:
    """Give every column a type that all of Arrow's functions accept.

    Views and run-ends become plain arrays, half precision single precision. Categories inside of lists and
    structures become their values, as nobody can see from outside which of them occur. `DataError` for
    what Arrow cannot convert.
    """
    for at, field in enumerate(table.schema):
        wanted = _usual_type(field.type)
        if wanted != field.type:
            column = _convert(table.column(at), wanted, field)
            table = table.set_column(at, field.with_type(wanted), column)
    return table


def _convert(column: pa.ChunkedArray[Any], wanted: pa.DataType, field: pa.Field[Any]) -> Any:
    try:
        if pa.types.is_run_end_encoded(column.type):
            plain = [compute.run_end_decode(chunk) for chunk in column.chunks]  # type: ignore[attr-defined]
            column = pa.chunked_array(plain, type=column.type.value_type)
        return column.cast(wanted)
    except pa.ArrowException:
        raise wording.unusable_type(field.name, str(field.type)) from None


def _usual_type(kind: Any) -> Any:
    types = pa.types
    if types.is_string_view(kind):
        return pa.large_string()
    if types.is_binary_view(kind):
        return pa.large_binary()
    if types.is_float16(kind):
        return pa.float32()
    if types.is_run_end_encoded(kind):
        return _usual_type(kind.value_type)
    if types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _usual_type(kind.value_type), kind.ordered)
    if types.is_union(kind):
        return pa.null()  # Arrow supports hardly anything for unions: the conversion is to fail
    return _usual_nested_type(kind)


def _usual_nested_type(kind: Any) -> Any:

    def inner(field: Any) -> Any:
        usual = _usual_type(field.type)
        return field.with_type(usual.value_type if pa.types.is_dictionary(usual) else usual)

    types = pa.types
    if types.is_struct(kind):
        return pa.struct([inner(kind.field(at)) for at in range(kind.num_fields)])
    if types.is_map(kind):
        return pa.map_(inner(kind.key_field), inner(kind.item_field), kind.keys_sorted)
    if types.is_fixed_size_list(kind):
        return pa.list_(inner(kind.value_field), kind.list_size)
    for is_kind, make in (
        (types.is_list, pa.list_),
        (types.is_large_list, pa.large_list),
        (types.is_list_view, pa.list_view),
        (types.is_large_list_view, pa.large_list_view),
    ):
        if is_kind(kind):
            return make(inner(kind.value_field))
    return kind


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
        numbers: pa.ChunkedArray[Any] = as_doubles(column)
        return numbers
    if types.is_integer(found):
        return column.cast(pa.int64())
    if types.is_timestamp(found):
        return column.cast(pa.timestamp("us"), safe=False)
    if types.is_boolean(found) or types.is_date(found) or types.is_time(found):
        return column
    raise wording.unwritable_column(kind, name, f"values of type {found}")


def remove_unused_categories(table: pa.Table, sort: bool = False) -> pa.Table:
    """Remove categories that no record has: they may be those of suppressed records.

    Each category stands in its dictionary once, and null in none; otherwise records with the same value
    would have different codes in the file. `sort`: sort unordered categories, whose order may be that of
    the source's records.
    """
    for at, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            used = _keep_used(table.column(at), sort and not field.type.ordered)
            table = table.set_column(at, field, used)
    return table


def _keep_used(column: pa.ChunkedArray[Any], sort: bool) -> pa.ChunkedArray[Any]:
    column = _merge_equal_categories(column)
    unified: list[Any] = column.unify_dictionaries().chunks
    codes = [to_numpy(chunk.indices) for chunk in unified]
    if not codes:
        return column
    dictionary = unified[0].dictionary
    missing = [np.isnan(part) for part in codes]  # integers with nulls come as doubles
    filled = [np.where(gaps, -1, part).astype(np.int64) for part, gaps in zip(codes, missing, strict=True)]
    present = np.unique(np.concatenate(filled))
    present = present[present >= 0]
    kept = dictionary.take(from_numpy(present))
    place = np.arange(max(len(present), 1))
    if sort and len(present):
        order = to_numpy(compute.sort_indices(kept)).astype(np.int64)
        kept = kept.take(from_numpy(order))
        place[order] = np.arange(len(order))
    chunks = [
        pa.DictionaryArray.from_arrays(
            from_numpy(place[np.searchsorted(present, part)], column.type.index_type, gaps),
            kept,
            ordered=column.type.ordered,
        )
        for part, gaps in zip(filled, missing, strict=True)
    ]
    return pa.chunked_array(chunks, type=column.type)


def _merge_equal_categories(column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    """Remove repeated and null categories from the dictionaries."""
    chunks: list[Any] = column.chunks
    for at, chunk in enumerate(chunks):
        dictionary = chunk.dictionary.dictionary_encode()
        if dictionary.null_count or len(dictionary.dictionary) < len(dictionary):
            codes = dictionary.indices.take(chunk.indices).cast(column.type.index_type)
            kept = dictionary.dictionary
            chunks[at] = pa.DictionaryArray.from_arrays(codes, kept, ordered=column.type.ordered)
    return pa.chunked_array(chunks, type=column.type)


def in_utc(column: Any) -> Any:
    """The same instants, as times of UTC."""
    wanted = _kind_in_utc(column.type)
    return column if wanted == column.type else column.cast(wanted)


def _kind_in_utc(kind: Any) -> Any:
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, "UTC")
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_kind_in_utc(kind.value_type)))
    if pa.types.is_struct(kind):
        fields = [kind.field(at) for at in range(kind.num_fields)]
        return pa.struct([field.with_type(_kind_in_utc(field.type)) for field in fields])
    return kind
