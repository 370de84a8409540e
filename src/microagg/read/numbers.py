"""Columns as numbers; and where they hold none, what they hold instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from microagg import errors, wording
from microagg.arrow_types import NUMBERS_AMONG_TEXT, are_dates, is_number, is_text
from microagg.arrow_values import as_doubles, from_numbers, from_numpy, to_numpy
from microagg.columns import (
    BLANK,
    COMMA_NUMBER,
    COMMA_THOUSANDS,
    DATE,
    NUMBER_WITH_SIGN,
    POINT_NUMBER,
    POINT_THOUSANDS,
    POINT_THOUSANDS_BESIDE_COMMAS,
    SPACE_THOUSANDS,
    WHOLE_NUMBER,
    count_matches,
    has_decimal_commas,
    in_ranges,
    numbers_or_none,
    trim_and_null,
    without_texts,
)
from microagg.model import CsvFormat, Microdata, StatisticalLabels, positions_of


def numbers_of(
    microdata: Microdata, column: str, missing_codes: Sequence[float | str] = ()
) -> NDArray[np.float64]:
    """The column as numbers, NaN where a value is missing.

    Missing are null, NaN, the given codes, and those that the file itself declares. With codes that are
    texts, a column of text is read as numbers whatever its type in the file. `DataError` for other text,
    dates, infinity and columns of several kinds, with the messages of `table_from_file`.
    """
    at = microdata.table.schema.get_field_index(column)
    if at < 0:
        (at,) = positions_of([column], microdata.table.column_names)
    origin = microdata.origin
    texts = [code for code in missing_codes if isinstance(code, str)]
    kind = microdata.table.schema.field(at).type
    if (origin.csv is not None and not is_number(kind)) or (
        texts and is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)
    ):
        values = _numbers_from_text(microdata, column, texts)
    else:
        values = _from_typed(microdata.table, column)
    ranges = origin.labels.missing_ranges.get(column, ()) if origin.labels is not None else ()
    numbers = [float(code) for code in missing_codes if not isinstance(code, str)]
    if ranges or numbers:
        values = np.where(in_ranges(values, [*ranges, *numbers]), np.nan, values)
    infinite = int(np.isinf(values).sum())
    if infinite:
        raise wording.infinite_values(column, infinite)
    return values


def held_by_text(
    microdata: Microdata, column: str, missing_codes: Sequence[float | str] = ()
) -> Literal["numbers", "dates", "text"]:
    """What a column of text holds; `DataError` if it is numbers or dates in some rows and text in others.

    Numbers are text in a CSV file alone, or where a code for missing values is a text.
    """
    texts = [code for code in missing_codes if isinstance(code, str)]
    values: Any = microdata.table.column(column)
    if texts:
        values = without_texts(values, texts)
    csv = microdata.origin.csv
    may_be_numbers = csv is not None or texts
    if may_be_numbers and numbers_or_none(values, microdata.origin.decimal) is not None:
        return "numbers"
    decimal, delimiter = ("." if csv is None else csv.decimal, "" if csv is None else csv.delimiter)
    values = trim_and_null(values)
    found = _Text.of(microdata.table.schema.field(column), values, decimal)
    found.refuse_if_repairable(column, len(values), decimal, delimiter)
    if found.dates and found.rest:
        raise wording.dates_beside_text(column, found.dates, found.rest)
    return "dates" if found.dates else "text"


def cast_to_schema(microdata: Microdata, schema: pa.Schema) -> pa.Table:
    """Cast the columns to the types of the schema, where nothing is lost by that."""
    table = microdata.table
    for at, name in enumerate(table.column_names):
        wanted = schema.field(name).type if name in schema.names else None
        if wanted is None or wanted == table.column(at).type:
            continue
        try:
            column: Any = table.column(at)
            if microdata.origin.csv is not None and is_number(wanted):
                column = pa.chunked_array([from_numbers(numbers_of(microdata, name))])
            table = table.set_column(at, name, column.cast(wanted))
        except (pa.ArrowException, errors.DataError):
            continue
    return table


def _from_typed(table: pa.Table, column: str) -> NDArray[np.float64]:
    field = table.schema.field(column)
    values = table.column(column)
    if not is_number(field.type) or are_dates(field):
        require_numeric_columns(table.select([column]))
        return np.full(len(values), np.nan)  # nothing but missing values
    return np.array(to_numpy(as_doubles(values)))  # writable, unlike Arrow's memory


def _numbers_from_text(
    microdata: Microdata, column: str, missing_texts: Sequence[str] = ()
) -> NDArray[np.float64]:
    csv = microdata.origin.csv
    decimal, delimiter = (csv.decimal or ".", csv.delimiter or ",") if csv is not None else (".", "")
    text: Any = microdata.table.column(column)
    if missing_texts:
        text = without_texts(text, missing_texts)
    numbers = numbers_or_none(text, decimal)
    if numbers is not None:
        return np.array(numbers)  # writable, unlike Arrow's memory
    _refuse_text(text, column, decimal, delimiter)
    raise wording.not_numeric([column], [])


def _refuse_text(text: pa.ChunkedArray[Any], column: str, decimal: str, delimiter: str) -> None:
    """`DataError` that explains what a column holds instead of numbers with this decimal sign."""
    table = pa.table({column: trim_and_null(text)})
    if decimal == "." and delimiter not in ("", ",") and has_decimal_commas(table):
        commas = count_matches(table.column(0), COMMA_NUMBER)
        raise wording.commas_beside_points(column, commas, table.num_rows)
    require_numeric_columns(table, decimal, delimiter)


def numbers_from_text(table: pa.Table, csv: CsvFormat, decimal: str | None) -> pa.Table:
    """The columns of a CSV file as numbers, all of which must be; `decimal` as far as it is given.

    Decimal commas are assumed if every number of some column fits them and no column has decimal points.
    """
    if decimal is None:
        decimal = "," if csv.delimiter != "," and has_decimal_commas(table) else "."
    for at, name in enumerate(table.column_names):
        # A number with a line break is what a quote without an end leaves.
        broken = any(
            compute.any(compute.match_substring(table.column(at), sign)).as_py() for sign in "\r\n"
        )
        numbers = None if broken else numbers_or_none(table.column(at), decimal)
        if numbers is not None:
            empty = bool(np.isnan(numbers).all())
            table = table.set_column(at, name, pa.nulls(len(numbers)) if empty else from_numbers(numbers))
    require_numeric_columns(table, decimal, csv.delimiter or "")
    return table


def without_missing_codes(table: pa.Table, labels: StatisticalLabels) -> pa.Table:
    """Set the codes to null that the file declares as missing."""
    for name, ranges in labels.missing_ranges.items():
        at = table.schema.get_field_index(name)
        if at < 0 or not is_number(table.schema.types[at]):
            continue
        numbers = to_numpy(as_doubles(table.column(at)))
        array = from_numpy(numbers, mask=np.isnan(numbers) | in_ranges(numbers, ranges))
        table = table.set_column(at, table.schema.field(at).with_type(pa.float64()), array)
    return table


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
        kinds = (separators, [NUMBER_WITH_SIGN], [WHOLE_NUMBER], [POINT_NUMBER], [COMMA_NUMBER], [DATE])
        for patterns in ([BLANK], *kinds):
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
