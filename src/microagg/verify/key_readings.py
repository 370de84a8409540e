"""Keys of every kind as numbers, read by other code than that which made the release.

A key is a number, a date, or a category, as given or by its type. Dates become seconds since 1970,
categories their places among the values of the source: in the order of their levels, or else sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from microagg.arrow_values import from_numbers, from_numpy, scalar
from microagg.model import Doubles
from microagg.settings.policy import ProtectionPolicy
from microagg.verdict import Finding, refuse
from microagg.verify.categories import LENGTHS, off_grid
from microagg.verify.date_texts import date_format, distinct, means_nothing, moments
from microagg.verify.promises import Notation, numbers_as_counted
from microagg.verify.values import is_numeric, is_text, plain


@dataclass(frozen=True, slots=True, eq=False)
class KeyReading:
    """How a key that holds no numbers is read."""

    kind: str
    type: pa.DataType
    """Of the released column."""
    source: Doubles
    """The source's values as numbers, NaN where missing."""
    places: Mapping[Any, float] = field(default_factory=dict)
    """Of categories: the number of each."""
    date_format: str = ""
    """Of dates that are text."""
    resolution: str | None = None
    """Of dates: the unit to which they are released."""
    taxonomy: tuple[tuple[int, ...], ...] = ()
    """Of categories that have one: by number, that of what stands above at each level."""

    def numbers(self, column: Any) -> tuple[Doubles, int]:
        """A released column as numbers, NaN where missing, and how many of its values are none of the
        source's, or no dates.
        """
        if self.kind == "date":
            return moments(column, self.date_format)
        places = self.places if self.kind == "nominal" else {**self.places, None: np.nan}
        values, of = distinct(column)
        known = np.array([value in places for value in values], dtype=bool)
        numbers = np.array([places.get(value, np.nan) for value in values], dtype=np.float64)
        return numbers[of], int((~known[of]).sum())

    def too_exact(self, numbers: Doubles) -> int:
        """How many dates are more exact than they may be."""
        seconds = numbers[~np.isnan(numbers)]
        return off_grid(seconds, self.resolution) if self.kind == "date" else 0

    def restored(self, column: Any, decimal: str) -> Any:
        """A column of a written file in the type with which it was released, as most formats have fewer; as
        it is if it cannot be read so.
        """
        if self.fits(column.type):
            return column
        own = self.type.value_type if kinds.is_dictionary(self.type) else self.type
        array = plain(column)
        if is_text(array.type):  # many formats do not tell empty text from a missing value
            blank = "" if "" in self.places else None
            empty = pc.equal(array.fill_null(scalar("", array.type)), scalar("", array.type))
            array = pc.if_else(empty, scalar(blank, array.type), array)
            if is_numeric(own) and decimal != ".":
                array = pc.replace_substring(array, decimal, ".")
        try:
            array = array.cast(own)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            texts = {str(value): value for value in self.places if value is not None}
            values, of = distinct(array)
            if any(value is not None and str(value) not in texts for value in values):
                return column
            found = pa.array([None if value is None else texts[str(value)] for value in values], own)
            array = found.take(from_numpy(of))
        if not kinds.is_dictionary(self.type):
            return array
        coded = array.dictionary_encode()
        return pa.DictionaryArray.from_arrays(coded.indices, coded.dictionary, ordered=self.type.ordered)

    def fits(self, kind: Any) -> bool:
        """Whether a released column has the type that it has to."""
        if kinds.is_dictionary(kind) and kinds.is_dictionary(self.type):
            return bool((kind.value_type, kind.ordered) == (self.type.value_type, self.type.ordered))
        return bool(kind == self.type)


def key_readings(source: pa.Table, policy: ProtectionPolicy, notation: Notation) -> dict[str, KeyReading]:
    """By key that holds no numbers: how it is read."""
    found = {}
    for name in policy.grouped:
        if name in source.column_names:
            reading = _reading(source.column(name), name, policy, notation)
            if reading is not None:
                found[name] = reading
    return found


def with_columns(table: pa.Table, numbers: Mapping[str, Doubles]) -> pa.Table:
    """The table with these columns as doubles, null where missing."""
    for name, values in numbers.items():
        table = table.set_column(table.schema.get_field_index(name), name, from_numbers(values))
    return table


def released_numbers(
    released: pa.Table, readings: Mapping[str, KeyReading]
) -> tuple[pa.Table, list[Finding]]:
    """The table with these keys as numbers; and keys that hold what the source has not, in another type, or
    dates that are too exact.
    """
    numbers, failures = {}, []
    for name, reading in readings.items():
        if name not in released.column_names:
            continue
        column = released.column(name)
        unknown = wrong = 0
        if reading.fits(column.type):
            numbers[name], unknown = reading.numbers(column)
            wrong = reading.too_exact(numbers[name])
        failures += reading_failures(name, reading, column.type, unknown, wrong)
    return with_columns(released, numbers), failures


def reading_failures(
    name: str, reading: KeyReading, kind: pa.DataType, unknown: int, too_exact: int
) -> list[Finding]:
    """What is wrong with a released key of this type that has so many values which are none of the source's
    or no dates, and dates that are too exact.
    """
    if not reading.fits(kind):
        return [refuse("column_retyped", name, kind=str(kind), needed=str(reading.type))]
    if unknown:
        return [refuse("new_category", name, records=unknown, is_date=reading.kind == "date")]
    if too_exact:
        return [refuse("date_too_exact", name, records=too_exact, resolution=reading.resolution)]
    return []


def _reading(column: Any, name: str, policy: ProtectionPolicy, notation: Notation) -> KeyReading | None:
    codes = tuple(policy.missing_codes.get(name, ()))
    declared = notation.missing_ranges.get(name, ())
    # Most keys are numbers, of which the different values are not asked for.
    numbers_of = cache(lambda: numbers_as_counted(column, codes, notation, declared))
    values_of = cache(lambda: distinct(column))
    kind = _kind_of_key(column, name, numbers_of, values_of, policy, notation)
    if kind == "number":
        numbers = numbers_of()
        if numbers is None or not _are_zero_and_one(numbers):
            return None
        own = pa.int64() if is_text(plain(column).type) else column.type
        reading = _of_categories("nominal", own, [0, 1], numbers + 0.0)  # -0.0 is 0.0
        return _with_taxonomy(reading, name, policy, notation)
    values, of = values_of()
    gone = [_is_code(value, codes, declared if kind == "ordinal" else ()) for value in values]
    if any(gone):  # then empty text is missing too
        gone = [each or value == "" for each, value in zip(gone, values, strict=True)]
    if kind == "date":
        array = plain(column)
        form = ""
        if is_text(array.type):
            pairs = zip(values, gone, strict=True)
            texts = [value for value, is_gone in pairs if not is_gone and not means_nothing(value)]
            form = date_format(texts) or ""
        seconds, _ = moments(column, form)
        seconds = np.where(np.array(gone, dtype=bool)[of], np.nan, seconds)
        unit = policy.resolution.get(name) or _unit(seconds)
        return KeyReading("date", column.type, seconds, {}, form, unit)
    present = [value for value, is_gone in zip(values, gone, strict=True) if not is_gone]
    ordered = _in_order(column, name, present, policy, notation)
    place = {value: float(at) for at, value in enumerate(ordered)}
    numbers = np.array([np.nan if gap else place[each] for each, gap in zip(values, gone, strict=True)])
    reading = _of_categories(kind, column.type, ordered, numbers[of])
    return _with_taxonomy(reading, name, policy, notation)


def _with_taxonomy(
    reading: KeyReading, name: str, policy: ProtectionPolicy, notation: Notation
) -> KeyReading:
    """Each category with its ancestors, from the top down; what has none, as a missing value, is apart."""
    parents = policy.taxonomy.get(name)
    if not parents or isinstance(parents, str):
        return reading
    labels = notation.value_labels.get(name, {})
    lines = []
    for value in reading.places:
        text = _label_or_text(value, {})
        own = text if text in parents else _label_or_text(value, labels)
        line: list[Any] = [own if value is not None and own in parents else ("none", value)]
        while above := parents.get(line[-1]):
            line.append(above)
        lines.append(line[::-1])
    depth = max(_height(parents, code) for code in parents)
    known: dict[Any, int] = {}
    full = [(*line, *(line[-1:] * (depth - len(line)))) for line in lines]
    taxonomy = tuple(tuple(known.setdefault(node, len(known)) for node in line) for line in full)
    return replace(reading, taxonomy=taxonomy)


def _height(parents: Mapping[str, str], code: str) -> int:
    height = 0
    while code:
        code, height = parents[code], height + 1
    return height


def _of_categories(kind: str, own: Any, ordered: Sequence[Any], numbers: Doubles) -> KeyReading:
    """Missing is the last category of a nominal key."""
    places = {value: float(at) for at, value in enumerate(ordered)}
    gaps = np.isnan(numbers)
    if kind == "nominal" and gaps.any():
        places[None] = float(len(ordered))
        numbers = np.where(gaps, places[None], numbers)
    return KeyReading(kind, own, numbers, places)


def _are_zero_and_one(numbers: Doubles) -> bool:
    """Whether there are both, and nothing else."""
    is_zero, is_one = numbers == 0.0, numbers == 1.0
    return bool(is_zero.any() and is_one.any() and (is_zero | is_one | np.isnan(numbers)).all())


def _kind_of_key(
    column: Any,
    name: str,
    numbers_of: Callable[[], Doubles | None],
    values_of: Callable[[], tuple[list[Any], Any]],
    policy: ProtectionPolicy,
    notation: Notation,
) -> str:
    if name in policy.ordinal:
        return "ordinal"
    if name in policy.nominal or kinds.is_boolean(column.type):
        return "nominal"
    if kinds.is_dictionary(column.type):
        return "ordinal" if column.type.ordered else "nominal"
    if kinds.is_date(column.type) or kinds.is_timestamp(column.type):
        return "date"
    if is_text(plain(column).type):
        if numbers_of() is not None:
            return "number"
        codes = policy.missing_codes.get(name, ())
        texts = [
            text for text in values_of()[0] if not means_nothing(text) and not _is_code(text, codes, ())
        ]
        return "date" if texts and date_format(texts) else "nominal"
    labels = notation.value_labels.get(name, {})
    if labels and all(value in labels for value in values_of()[0] if value is not None):
        return "nominal"
    return "number"


def _in_order(
    column: Any, name: str, present: Sequence[Any], policy: ProtectionPolicy, notation: Notation
) -> list[Any]:
    # As Arrow sorts: text by its bytes.
    present = sorted(present, key=lambda value: value.encode() if isinstance(value, str) else value)
    given = policy.ordinal.get(name, ())
    if given:
        labels = notation.value_labels.get(name, {})
        place = {text: at for at, text in enumerate(given)}
        return sorted(present, key=lambda value: place.get(_label_or_text(value, labels), len(place)))
    if kinds.is_dictionary(column.type) and column.type.ordered:
        order: dict[Any, int] = {}
        for chunk in column.unify_dictionaries().chunks:
            for value in chunk.dictionary.to_pylist():
                order.setdefault(value, len(order))
        return sorted(present, key=order.__getitem__)
    return present


def _label_or_text(value: Any, labels: Mapping[Any, str]) -> str:
    text = f"{value:.0f}" if isinstance(value, float) and value == int(value) else str(value)
    return labels.get(value, text).strip()


def _is_code(value: Any, codes: Sequence[float | str], declared: Sequence[Any]) -> bool:
    """Whether a value is missing, or stands for a missing answer."""
    if value is None:
        return True
    if isinstance(value, str):
        return value.strip() in [_label_or_text(code, {}) for code in codes]
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return False
    limits = [(each["lo"], each["hi"]) if isinstance(each, Mapping) else (each, each) for each in declared]
    limits += [(code, code) for code in codes]
    return any(not isinstance(low, str) and low <= value <= high for low, high in limits)


def _unit(seconds: Doubles) -> str | None:
    some = seconds[~np.isnan(seconds)]
    fitting = [name for name, length in LENGTHS.items() if not np.count_nonzero(some % length)]
    return fitting[-1] if fitting else None
