"""Keys of any kind as numbers: their own, moments in time, or the places of their levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from microagg import read, wording
from microagg.arrow_types import are_dates, is_number, is_text
from microagg.arrow_values import from_numbers, from_numpy, in_one_piece, is_missing, scalar, to_numpy
from microagg.columns import in_ranges, numbers_or_none, plain, trim_and_null, without_texts
from microagg.model import Doubles, Microdata
from microagg.plan.taxonomies import paths_of
from microagg.prepare.dates import DateFormat, date_format_of
from microagg.settings.policy import ProtectionPolicy

Kind = Literal["number", "date", "ordinal", "nominal"]

YES_OR_NO = 2
"""Categories that a column may have in a source of two records, too."""


@dataclass(frozen=True, slots=True, eq=False)
class KeyColumn:
    """A key that holds no numbers: what the numbers stand for that take its place.

    `levels` of categories: the source's own values, by number; a missing value is the last one of a nominal
    column. `dates`: how moments are written. `paths` in a taxonomy: by level, what stands above it at each
    step, itself at last.
    """

    kind: Kind
    levels: pa.Array[Any] | None = None
    dates: DateFormat | None = None
    paths: NDArray[np.int32] | None = None

    @property
    def is_category(self) -> bool:
        return self.levels is not None

    def published(self, values: Doubles) -> pa.Array[Any] | pa.ChunkedArray[Any]:
        """Numbers as values of the source's type; NaN is missing."""
        if self.dates is not None:
            return self.dates.published(values)
        assert self.levels is not None
        gone = np.isnan(values)
        places = from_numpy(np.where(gone, 0, values).astype(np.int64), mask=gone)
        return self.levels.take(places)

    def numbers(self, column: pa.ChunkedArray[Any]) -> Doubles:
        """Published values as numbers again, NaN where missing."""
        if self.dates is not None:
            return self.dates.numbers(plain(column))
        assert self.levels is not None
        levels = plain(pa.chunked_array([self.levels])).combine_chunks()
        places = compute.index_in(plain(column).combine_chunks(), value_set=levels)
        return np.array(to_numpy(places.cast(pa.float64())))


def key_column(
    source: Microdata, name: str, protection: ProtectionPolicy, records: int | None = None
) -> tuple[Doubles, KeyColumn | None]:
    """The column as numbers, NaN where missing, and what they stand for; None: numbers of their own.

    `records`: how many there are, if the source has only one of those with the same value.
    """
    missing = protection.missing_codes.get(name, ())
    kind = _kind_by_type(source, name, protection)
    own = source.table.schema.field(name).type
    if kind == "number":
        values = read.numbers_of(source, name, missing)
        if not _are_yes_or_no(values):
            _refuse_without_effect(name, kind, protection)
            return values, None
        kind = "nominal"
        column: Any = pa.chunked_array([from_numbers(values + 0.0)])  # -0.0 is 0.0
        own = pa.int64() if is_text(own) else own
    else:
        column = _values_as_they_are(source, name, kind, missing)
    if pa.types.is_nested(own) or pa.types.is_duration(own):
        raise wording.unusable_key(name, str(own))
    _refuse_without_effect(name, kind, protection)
    if kind == "date":
        dates = date_format_of(column, name, protection.resolution.get(name), own)
        return dates.numbers(column), KeyColumn(kind, dates=dates)
    levels = _levels(source, name, column, protection.ordinal.get(name))
    if kind == "nominal" and YES_OR_NO < len(levels) == (records or source.table.num_rows):
        raise wording.as_many_categories_as_records(name, len(levels))
    codes, levels = _coded(column, levels, kind == "nominal")
    paths = _paths(source, name, levels, protection.taxonomy[name]) if name in protection.taxonomy else None
    return codes, KeyColumn(kind, _of_type(levels, own), paths=paths)


def has_categories(source: Microdata, protection: ProtectionPolicy) -> bool:
    """Whether some key holds ordered levels or categories."""
    kinds = (key_column(source, name, protection)[1] for name in protection.grouped)
    return any(kind is not None and kind.is_category for kind in kinds)


def numbers_by(kind: KeyColumn, source: Microdata, name: str, protection: ProtectionPolicy) -> Doubles:
    """The column as numbers, in some records of a source in all of which they stand for this."""
    missing = protection.missing_codes.get(name, ())
    if kind.dates is not None:
        return kind.dates.numbers(_values_as_they_are(source, name, kind.kind, missing))
    assert kind.levels is not None
    own = source.table.schema.field(name).type
    is_given = name in protection.nominal or name in protection.ordinal
    if is_given or not (is_number(kind.levels.type) and (is_number(own) or is_text(own))):
        column: Any = _values_as_they_are(source, name, kind.kind, missing)
    else:
        column = pa.chunked_array([from_numbers(read.numbers_of(source, name, missing) + 0.0)])
    present: Any = kind.levels.drop_null()
    return _coded(column, present.cast(column.type), len(present) < len(kind.levels))[0]


def _values_as_they_are(source: Microdata, name: str, kind: Kind, missing: Sequence[float | str]) -> Any:
    """Dates or categories as they are; null where they are missing."""
    declared = source.origin.labels.missing_ranges if source.origin.labels is not None else {}
    ranges = declared.get(name, ()) if kind == "ordinal" else ()
    column = without_codes(plain(source.table.column(name)), missing, ranges)
    return trim_and_null(column) if kind == "date" and is_text(column.type) else column


def _kind_by_type(source: Microdata, name: str, protection: ProtectionPolicy) -> Kind:
    """As given, or else by the type alone. Numbers may still be 0 and 1, which are categories."""
    if name in protection.ordinal:
        return "ordinal"
    if name in protection.nominal:
        return "nominal"
    field = source.table.schema.field(name)
    if pa.types.is_dictionary(field.type):
        return "ordinal" if _is_ordered(source, name) else "nominal"
    if pa.types.is_boolean(field.type):
        return "nominal"
    if pa.types.is_date(field.type) or pa.types.is_timestamp(field.type):
        return "date"
    if is_text(field.type):
        held = read.held_by_text(source, name, protection.missing_codes.get(name, ()))
        return {"numbers": "number", "dates": "date", "text": "nominal"}[held]  # type: ignore[return-value]
    if not is_number(field.type) and not pa.types.is_null(field.type):
        raise wording.unusable_key(name, str(field.type))
    if are_dates(field):
        raise wording.dates_without_means(name)
    return "nominal" if _is_labelled(source, name) else "number"


def _is_labelled(source: Microdata, name: str) -> bool:
    """Whether the file has a label for every value."""
    labels = source.origin.labels
    texts = {} if labels is None else labels.value_labels.get(name, {})
    if not texts:
        return False
    values = compute.unique(plain(source.table.column(name)).drop_null()).to_pylist()
    return all(value in texts for value in values)


def _are_yes_or_no(values: Doubles) -> bool:
    """Whether the numbers are 0 and 1, both of them."""
    some = values[~np.isnan(values)]
    return (
        len(some) > 0 and some.min() == 0.0 and some.max() == 1.0 and bool(np.isin(some, (0.0, 1.0)).all())
    )


def _refuse_without_effect(name: str, kind: Kind, protection: ProtectionPolicy) -> None:
    if kind != "date" and name in protection.resolution:
        raise wording.not_for_kind("resolution", name, kind)
    if kind != "number":
        for option in ("decimals", "amounts"):
            if name in getattr(protection, option):
                raise wording.not_for_kind(option, name, kind)


def without_codes(column: Any, codes: Sequence[float | str], ranges: Sequence[Any] = ()) -> Any:
    """Null in place of NaN and of codes that stand for a missing answer; and of empty text, which many
    formats do not tell from null, if there are nulls.
    """
    if is_text(column.type):
        column = without_texts(column, [_written(code) for code in codes]) if codes else column
        empty = scalar("", pa.large_string())
        return (
            compute.if_else(compute.equal(column, empty), scalar(None, column.type), column)
            if column.null_count
            else column
        )
    numbers = numbers_or_none(column)
    if numbers is None:
        return column
    coded = in_ranges(numbers, [*ranges, *(code for code in codes if not isinstance(code, str))])
    gone = coded | np.isnan(numbers)
    if pa.types.is_floating(column.type):
        column = pa.chunked_array([from_numpy(to_numpy(column) + to_numpy(column).dtype.type(0))])
    return compute.if_else(from_numpy(gone), pa.nulls(1, column.type)[0], column) if gone.any() else column


def _levels(source: Microdata, name: str, column: pa.ChunkedArray[Any], given: Sequence[str] | None) -> Any:
    """The values that occur, in order: that given, or that of the file's categories or labels, or else of
    the values themselves.
    """
    present: Any = in_one_piece(compute.unique(column.drop_null()))
    sorted_: Any = present.take(compute.sort_indices(present))
    if not given:
        if given is not None and is_text(sorted_.type) and not _is_ordered(source, name):
            raise wording.levels_not_given(name, len(sorted_))
        return _in_order_of_categories(source, name, sorted_)
    texts = _texts_of(source, name, sorted_)
    place = {level: at for at, level in enumerate(given)}
    unknown = sum(text not in place for text in texts)
    if unknown:
        raise wording.levels_missing(name, unknown, len(texts))
    order = np.argsort([place[text] for text in texts], kind="stable")
    return sorted_.take(from_numpy(order))


def _is_ordered(source: Microdata, name: str) -> bool:
    kind = source.table.schema.field(name).type
    return bool(pa.types.is_dictionary(kind) and kind.ordered)


def _in_order_of_categories(source: Microdata, name: str, values: pa.Array[Any]) -> pa.Array[Any]:
    if not _is_ordered(source, name):
        return values
    unified: Any = source.table.column(name).unify_dictionaries()
    dictionary: Any = in_one_piece(plain(pa.chunked_array([unified.chunk(0).dictionary])))
    kept: pa.Array[Any] = dictionary.filter(compute.is_in(dictionary, value_set=values))
    return kept


def texts_of_values(source: Microdata, name: str) -> list[str]:
    """What users write for the different values of a column, in their order."""
    present: Any = in_one_piece(compute.unique(plain(source.table.column(name)).drop_null()))
    ordered = _in_order_of_categories(source, name, present.take(compute.sort_indices(present)))
    return _texts_of(source, name, ordered)


def _texts_of(source: Microdata, name: str, values: pa.Array[Any]) -> list[str]:
    """What users write for these values: their labels if the file has some, or else as they are."""
    labels: Mapping[Any, str] = {}
    if source.origin.labels is not None:
        labels = source.origin.labels.value_labels.get(name, {})
    found = []
    for value in values.to_pylist():
        found.append(str(labels.get(value, _written(value))).strip())
    return found


def _written(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _paths(
    source: Microdata, name: str, levels: pa.Array[Any], parents: str | Mapping[str, str]
) -> NDArray[np.int32]:
    """By level, the numbers of what stands above it at each step of the taxonomy, itself at last."""
    assert not isinstance(parents, str)
    plain_texts = [None if value is None else _written(value).strip() for value in levels.to_pylist()]
    labels = _texts_of(source, name, levels)
    # A file may have labels for its codes; the taxonomy may name either.
    texts = [
        text if text is None or text in parents else label
        for text, label in zip(plain_texts, labels, strict=True)
    ]
    unknown = sum(text is not None and text not in parents for text in texts)
    if unknown:
        raise wording.taxonomy_lacks_codes(name, unknown, len(texts) - texts.count(None))
    paths = paths_of(parents, texts)
    number: dict[Any, int] = {}
    for path in paths:
        for node in enumerate(path):
            number.setdefault(node, len(number))
    return np.array([[number[node] for node in enumerate(path)] for path in paths], dtype=np.int32)


def _coded(
    column: pa.ChunkedArray[Any], levels: pa.Array[Any], missing_is_a_level: bool
) -> tuple[Doubles, pa.Array[Any]]:
    """The place of each value among the levels; a missing one is NaN, or the last level."""
    places = compute.index_in(column.combine_chunks(), value_set=levels)
    codes = np.array(to_numpy(places.cast(pa.float64())))
    gone: NDArray[np.bool_] = is_missing(places)
    if missing_is_a_level and gone.any():
        codes[gone] = len(levels)
        levels = pa.concat_arrays([levels, pa.nulls(1, levels.type)])
    return codes, levels


def _of_type(levels: pa.Array[Any], kind: pa.DataType) -> pa.Array[Any]:
    """The levels in the type of the source."""
    if not pa.types.is_dictionary(kind):
        return levels.cast(kind)
    present = levels.drop_null()
    places = from_numpy(np.arange(len(levels)) % max(len(present), 1), kind.index_type, is_missing(levels))
    return pa.DictionaryArray.from_arrays(places, present.cast(kind.value_type), ordered=kind.ordered)
