"""Columns of an Arrow table: select them, check them, and find out why one holds no numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import compute

from microagg import wording
from microagg.arrow_types import NUMBERS_AMONG_TEXT as NUMBERS_AMONG_TEXT
from microagg.arrow_types import are_dates, convert_to_usual_types, is_number, is_text
from microagg.arrow_values import scalar
from microagg.columns import (
    COMMA_THOUSANDS,
    MISSING_TEXT_ARRAY,
    NUMBER_WITH_SIGN,
    POINT_THOUSANDS,
    POINT_THOUSANDS_BESIDE_COMMAS,
    SPACE_THOUSANDS,
)
from microagg.model import positions_of

_EXPONENT = r"([eE][-+]?\d+)?"
# In the language of Arrow's regular expressions (RE2); each is for a whole value.
_WHOLE_NUMBER = rf"^\s*[-+]?\d+{_EXPONENT}\s*$"
_POINT_NUMBER = rf"^\s*[-+]?(\d+\.\d*|\.\d+){_EXPONENT}\s*$"
COMMA_NUMBER = rf"^\s*[-+]?(\d+,\d*|,\d+){_EXPONENT}\s*$"
WHOLE_OR_COMMA_NUMBER = f"{_WHOLE_NUMBER}|{COMMA_NUMBER}"
WHOLE_OR_POINT_NUMBER = f"{_WHOLE_NUMBER}|{_POINT_NUMBER}"
DATE = r"^\s*(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{8}T\d+Z?)([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?Z?)?\s*$"
_BLANK = r"^\s*$"
HEXADECIMAL = r"^\s*[-+]?0[xX]"
"""Text here and in spreadsheets, but an integer for Arrow's CSV reader."""


def refuse_duplicates(names: Sequence[str]) -> None:
    duplicates = [name for name, times in Counter(names).items() if times > 1]
    if duplicates:
        raise wording.duplicate_columns(duplicates)


def select_columns(
    table: pa.Table, columns: Sequence[str] | None, header_row: int | None = None
) -> pa.Table:
    """Select columns by name (default: all), check all names, and convert to usable types.

    `header_row`: the row that the names come from, in files for which it can be chosen.
    """
    _refuse_undecodable_names(table)
    refuse_duplicates([name for name in table.column_names if name])
    if columns is not None:
        table = table.select(positions_of(columns, table.column_names))
    if "" in table.column_names:
        raise wording.unnamed_column(table.column_names.index("") + 1, header_row)
    _refuse_invalid_utf_8(table)
    return convert_to_usual_types(table)


def _refuse_undecodable_names(table: pa.Table) -> None:
    try:
        _ = table.column_names
    except UnicodeDecodeError:  # its message holds the name
        raise wording.names_not_utf_8() from None


def _refuse_invalid_utf_8(table: pa.Table) -> None:
    """`DataError` for text that is not UTF-8: Arrow accepts its bytes unchecked, other programs do not."""
    for field, column in zip(table.schema, table.columns, strict=True):
        if not _holds_text(field.type):
            continue
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:  # its message may quote values
            raise wording.not_utf_8(field.name) from None


def _holds_text(kind: Any) -> bool:
    """Whether there is text in values of this type, at any depth."""
    if isinstance(kind, pa.BaseExtensionType):
        return _holds_text(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return _holds_text(kind.value_type)
    if pa.types.is_nested(kind):
        return any(_holds_text(kind.field(at).type) for at in range(kind.num_fields))
    return is_text(kind)


def trim_and_null(text: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    """Text without spaces around it, and null where it means that a number is missing."""
    trimmed = compute.utf8_trim_whitespace(text.cast(pa.large_string()))
    missing = compute.is_in(trimmed, value_set=MISSING_TEXT_ARRAY)
    result: pa.ChunkedArray[Any] = compute.if_else(missing, scalar(None, pa.large_string()), trimmed)
    return result


def count_matches(column: pa.ChunkedArray[Any], pattern: str) -> int:
    return len(column.filter(compute.match_substring_regex(column, pattern)))


def require_numeric_columns(table: pa.Table, decimal: str = ".", delimiter: str = "") -> None:
    """`DataError` that explains what a column holds instead of numbers.

    Columns with missing values only pass. `decimal` and `delimiter` are those by which text was read.
    """
    numeric = [field.name for field in table.schema if is_number(field.type) and not are_dates(field)]
    dates: list[str] = []
    others: list[str] = []
    for field, column in zip(table.schema, table.columns, strict=True):
        if field.name in numeric or column.null_count == len(column):
            continue
        if pa.types.is_dictionary(field.type) and is_text(field.type.value_type):
            column = column.cast(field.type.value_type)
        if is_text(column.type):
            found = _Text.of(field, column.cast(pa.large_string()), decimal)
            found.refuse_if_repairable(field.name, len(column), decimal, delimiter)
            (dates if found.dates else others).append(field.name)
        else:
            (dates if are_dates(field) else others).append(field.name)
    if dates and not others:
        raise wording.dates(dates, table.num_rows, numeric)
    if others:
        raise wording.not_numeric([name for name in table.column_names if name in dates + others], numeric)


@dataclass(frozen=True, slots=True)
class _Text:
    """How many values of a column of text look like what; each value is counted once."""

    whole: int
    points: int
    """Numbers with a decimal point."""
    commas: int
    """Numbers with a decimal comma."""
    thousands: int
    signs: int
    """Numbers with the sign of a currency, or of percent."""
    dates: int
    rest: int
    typed: int
    """Values that are numbers in the file, beside text."""

    @classmethod
    def of(cls, field: pa.Field[Any], column: pa.ChunkedArray[Any], decimal: str) -> _Text:
        separators = [COMMA_THOUSANDS, SPACE_THOUSANDS]
        # 1.234 is a number where the decimal sign is the point, and a thousand where it is the comma.
        separators.append(POINT_THOUSANDS_BESIDE_COMMAS if decimal == "," else POINT_THOUSANDS)
        counts = []
        left = column.drop_null()
        kinds = (separators, [NUMBER_WITH_SIGN], [_WHOLE_NUMBER], [_POINT_NUMBER], [COMMA_NUMBER], [DATE])
        for patterns in ([_BLANK], *kinds):
            matches = compute.match_substring_regex(left, "|".join(patterns))
            others = left.filter(compute.invert(matches))
            counts.append(len(left) - len(others))
            left = others
        _, thousands, signs, whole, points, commas, dates = counts
        typed = int((field.metadata or {}).get(NUMBERS_AMONG_TEXT, b"0"))
        return cls(whole, points, commas, thousands, signs, dates, len(left), typed)

    def refuse_if_repairable(self, name: str, n: int, decimal: str, delimiter: str) -> None:
        """`DataError` for a column in which there are numbers, in whatever form."""
        numbers = self.whole + self.points + self.commas + self.thousands + self.signs
        if numbers == 0:
            return
        if self.dates or self.rest:
            raise wording.mixed_column(name, numbers, self.rest, self.dates, n)
        if self.thousands or self.signs:
            raise wording.numbers_with_signs(name, self.thousands, self.signs, n)
        if self.points and (self.commas or decimal == ","):
            raise wording.two_decimal_signs(name, self.points, n)
        if self.commas and delimiter:
            raise wording.decimal_commas(name, self.commas, n, delimiter)
        if delimiter:  # Arrow reads numbers in CSV files whether quoted or not
            raise wording.quoted_line_breaks(name, numbers)
        raise wording.numbers_as_text(name, numbers - self.typed, n)
