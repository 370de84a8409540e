"""The numbers that a reader sees in a column of any type, value by value.

What a value is read as depends on nothing but itself, so that a part of a column is read as the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from microagg.arrow_values import scalar, to_numpy
from microagg.model import Doubles
from microagg.verify.classes import Classes, Codes, codes_of
from microagg.verify.values import as_doubles, is_numeric, is_text, plain

_NUMBER = r"^\s*(?P<sign>-?)[^\d.]*(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\D*$"
"""One number in a text. A hyphen between letters and digits is no sign."""
_COMMA_GROUPS = r"(\d)[,'’\s](\d{3})\b"
_POINT_GROUPS = r"(\d)[.'’\s](\d{3})\b"
_USABLE_DIGITS = r"^\d{1,15}$"
"""More digits than these are no exact double."""


def _as_numbers(array: Any) -> Doubles:
    if pa.types.is_temporal(array.type):
        array = array.view(pa.int32() if array.type.bit_width == 32 else pa.int64())
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.int8())
    return np.asarray(to_numpy(as_doubles(array)), dtype=np.float64)


def _digits_alone(texts: Any) -> Doubles:
    digits = pc.replace_substring_regex(texts, r"\D+", "")
    usable = pc.match_substring_regex(digits, _USABLE_DIGITS)
    return _cast(pc.if_else(usable, digits, scalar(None, digits.type)))


def _ungrouped(texts: Any, groups: str) -> Any:
    for _ in range(2):  # groups of three that follow each other share a digit
        texts = pc.replace_substring_regex(texts, groups, r"\1\2")
    return texts


def _extracted(texts: Any) -> Doubles:
    parts = pc.extract_regex(texts, _NUMBER)
    return _cast(pc.binary_join_element_wise(*parts.flatten(), scalar("", texts.type)))


def _cast(texts: Any) -> Doubles:
    return np.asarray(to_numpy(texts.cast(pa.float64())), dtype=np.float64)


_OF_NUMBERS = "number"
_OF_TEXT: Mapping[str, Callable[[Any], Doubles]] = {
    "point": lambda texts: _extracted(_ungrouped(texts, _COMMA_GROUPS)),
    "comma": lambda texts: _extracted(pc.replace_substring(_ungrouped(texts, _POINT_GROUPS), ",", ".")),
    "digits": _digits_alone,
}
"""1,234.5 and $ 1234.50 and c12345; 1.234,5 and 1234,50 €; 2001-05-17 as 20010517."""


def readings_of(kind: pa.DataType) -> tuple[str, ...]:
    """The ways in which the values of a column of this type can be read as numbers."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_string(kind) or is_text(kind) or pa.types.is_string_view(kind):
        return tuple(_OF_TEXT)
    temporal = pa.types.is_temporal(kind) and not pa.types.is_interval(kind)
    if is_numeric(kind) or pa.types.is_float16(kind) or pa.types.is_boolean(kind) or temporal:
        return (_OF_NUMBERS,)
    return ()


def read(column: Any, reading: str) -> Doubles:
    """The numbers of a column, NaN where it has none."""
    array = plain(column)
    if reading == _OF_NUMBERS:
        return _as_numbers(array)
    encoded = array.dictionary_encode()
    numbers = _OF_TEXT[reading](encoded.dictionary)
    if not len(numbers):
        return np.full(len(array), np.nan)
    places = to_numpy(encoded.indices.fill_null(scalar(0, encoded.indices.type)))
    return np.where(to_numpy(array.is_null()), np.nan, numbers[places])


@dataclass(frozen=True, eq=False)
class Reader:
    """A table whose columns are read as numbers, or as codes, each once."""

    table: pa.Table
    _numbers: dict[tuple[str, str], Doubles] = field(default_factory=dict, repr=False)
    _codes: dict[str, Codes] = field(default_factory=dict, repr=False)

    @property
    def names(self) -> list[str]:
        return self.table.column_names

    def readings(self, name: str) -> tuple[str, ...]:
        return readings_of(self.table.schema.field(name).type)

    def numbers(self, name: str, reading: str) -> Doubles:
        if (name, reading) not in self._numbers:
            self._numbers[name, reading] = read(self.table.column(name), reading)
        return self._numbers[name, reading]

    def codes(self, name: str) -> Codes:
        """Small numbers that are equal where the values are; null has one too."""
        if name not in self._codes:
            column = codes_of(self.table.column(name))
            self._codes[name] = (Classes.whole(self.table.num_rows).refined([column]).labels,)
        return self._codes[name]
