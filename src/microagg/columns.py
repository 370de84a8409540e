"""One Arrow column -> numbers, in the same way for all verbs; and how numbers are written as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute, csv

from microagg import wording
from microagg.arrow_types import is_number, is_text
from microagg.arrow_values import as_doubles, from_texts, scalar, to_numpy

MISSING_TEXTS: tuple[str, ...] = tuple(csv.ConvertOptions().null_values or ())
"""What Arrow's CSV reader takes for a missing number: "", NA, NaN, null and the like."""
MISSING_TEXT_ARRAY = from_texts(MISSING_TEXTS)

MOST_DECIMALS_OF_NOTATION = 9
"""More decimals than this come from a measurement or a computation, not from how numbers are written."""

# In the language of Arrow's regular expressions (RE2); each is for a whole value.
_SPACE = "[ '’\u00a0\u2009\u202f]"
COMMA_THOUSANDS = r"^\s*[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?\s*$"
POINT_THOUSANDS = r"^\s*[-+]?[1-9]\d{0,2}((\.\d{3})+,\d*|(\.\d{3}){2,})\s*$"
POINT_THOUSANDS_BESIDE_COMMAS = r"^\s*[-+]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?\s*$"
SPACE_THOUSANDS = rf"^\s*[-+]?[1-9]\d{{0,2}}({_SPACE}\d{{3}})+([.,]\d*)?\s*$"
_EXPONENT = r"([eE][-+]?\d+)?"
WHOLE_NUMBER = rf"^\s*[-+]?\d+{_EXPONENT}\s*$"
POINT_NUMBER = rf"^\s*[-+]?(\d+\.\d*|\.\d+){_EXPONENT}\s*$"
COMMA_NUMBER = rf"^\s*[-+]?(\d+,\d*|,\d+){_EXPONENT}\s*$"
DATE = r"^\s*(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{8}T\d+Z?)([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?Z?)?\s*$"
BLANK = r"^\s*$"
_CURRENCIES = (
    "EUR|USD|GBP|CHF|JPY|CAD|AUD|NZD|SEK|NOK|DKK|ISK|PLN|CZK|HUF|RON|BGN|TRY|RUB|UAH|INR|CNY|KRW|BRL|MXN|ZAR|"
    "[Kk]r\\.?|zł|Kč|Ft|Fr\\.?|R\\$|US\\$"
)
_SIGN = rf"(\p{{Sc}}|%|‰|{_CURRENCIES})"
_DIGITS = rf"[-+]?(\d{{1,3}}(({_SPACE}|[.,])\d{{3}})+([.,]\d+)?|\d+([.,]\d*)?|[.,]\d+)"
NUMBER_WITH_SIGN = rf"^\s*[-+]?\(?\s*({_SIGN}\s*{_DIGITS}|{_DIGITS}\s*{_SIGN})\s*\)?\s*$"
"""With the sign of a currency or of percent, with or without separators of thousands."""

VALUES_TRIED_FIRST = 1000
"""Values that are tried before all of them: most columns of text fail or pass there already."""


def plain(column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    """The same values without a dictionary, and text as the one type that all of Arrow's functions take."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.large_string()) if is_text(column.type) else column


def numbers_or_none(column: pa.ChunkedArray[Any], decimal: str = ".") -> NDArray[np.float64] | None:
    """The column as numbers, NaN where missing; None if some value is no number.

    In text the decimal sign is `decimal`, blanks around a number do not count, and the texts that Arrow
    takes for null (NA, NaN, null, empty text …) are missing. Bools and dates are no numbers.
    """
    column = plain(column)
    kind = column.type
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if is_number(kind):
        return _to_array(as_doubles(column))
    if not is_text(kind):
        return None
    if _parse(column.slice(0, VALUES_TRIED_FIRST), decimal) is None:
        return None
    numbers = _parse(column, decimal)
    return None if numbers is None else _to_array(numbers)


PLAIN_NUMBER = r"^\s*[-+]?(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?\s*$"
"""With a decimal point or a decimal comma."""


def without_texts(column: pa.ChunkedArray[Any], texts: Sequence[str]) -> pa.ChunkedArray[Any]:
    """A column of text with null in place of these texts, ignoring blanks around them."""
    column = column.cast(pa.large_string())
    coded = compute.is_in(compute.utf8_trim_whitespace(column), value_set=from_texts(texts))
    left: pa.ChunkedArray[Any] = compute.if_else(coded, scalar(None, pa.large_string()), column)
    return left


def in_ranges(values: NDArray[np.float64], ranges: Sequence[Any]) -> NDArray[np.bool_]:
    """Which values are missing by SPSS's declaration, a list of codes and of ranges."""
    missing = np.zeros(values.shape, dtype=np.bool_)
    for entry in ranges:
        low, high = (entry["lo"], entry["hi"]) if isinstance(entry, Mapping) else (entry, entry)
        if isinstance(low, int | float) and isinstance(high, int | float):
            missing |= (values >= low) & (values <= high)
    return missing


def decimals_of(numbers: NDArray[np.float64]) -> int | None:
    """The most decimals that a finite number has; None beyond `MOST_DECIMALS_OF_NOTATION`.

    Numbers that are all of single precision are taken as such: 0.1 has one decimal there too.
    """
    left = numbers[np.isfinite(numbers)]
    first = NumberForm().including(left[:VALUES_TRIED_FIRST])
    if first.decimals_shown is None or len(left) <= VALUES_TRIED_FIRST:
        return first.decimals_shown
    return first.including(left[VALUES_TRIED_FIRST:]).decimals_shown


@dataclass(frozen=True, slots=True)
class NumberForm:
    """How the numbers of a part of a column are written; the sum of two parts is that of both together.

    `single`: all are of single precision; `decimals`, `as_single`: how many decimals they have at most as
    doubles, and as singles, one more than `MOST_DECIMALS_OF_NOTATION` where there are more.
    """

    single: bool = True
    decimals: int = 0
    as_single: int = 0

    def including(self, numbers: NDArray[np.float64]) -> NumberForm:
        """Of these numbers too, all of which are finite."""
        single = self.single and _are_single(numbers)
        return NumberForm(
            single,
            _decimals_from(numbers, np.float64, self.decimals),
            _decimals_from(numbers, np.float32, self.as_single) if single else self.as_single,
        )

    def __add__(self, other: NumberForm) -> NumberForm:
        return NumberForm(
            self.single and other.single,
            max(self.decimals, other.decimals),
            max(self.as_single, other.as_single),
        )

    @property
    def decimals_shown(self) -> int | None:
        """The same as `decimals_of` all numbers."""
        found = self.as_single if self.single else self.decimals
        return None if found > MOST_DECIMALS_OF_NOTATION else found


def _are_single(numbers: NDArray[np.float64]) -> bool:
    with np.errstate(over="ignore"):
        return bool(np.array_equal(numbers.astype(np.float32), numbers))


def _decimals_from(numbers: NDArray[np.float64], kind: type[np.floating[Any]], least: int) -> int:
    """How many decimals the numbers have, `least` at least; one more than the most for all beyond."""
    left = numbers[np.abs(numbers) < 2.0**53]  # larger ones are whole
    with np.errstate(over="ignore", invalid="ignore"):
        for decimals in range(least, MOST_DECIMALS_OF_NOTATION + 1):
            rounded = np.round(left, decimals)
            left = left[rounded.astype(kind, copy=False) != left.astype(kind, copy=False)]
            if len(left) == 0:
                return decimals
    return MOST_DECIMALS_OF_NOTATION + 1


def _to_array(numbers: pa.ChunkedArray[Any]) -> NDArray[np.float64]:
    return np.asarray(to_numpy(numbers), dtype=np.float64)  # null becomes NaN


def _parse(text: pa.ChunkedArray[Any], decimal: str) -> pa.ChunkedArray[Any] | None:
    try:
        if decimal == ".":
            return text.cast(pa.float64())  # the usual case, in one pass
    except pa.ArrowInvalid:
        pass  # some texts mean missing, or have blanks around them, or are no numbers
    text = trim_and_null(text)
    if decimal == ",":
        if compute.any(compute.match_substring(text, ".")).as_py():
            return None
        text = compute.replace_substring(text, ",", ".")
    try:
        return text.cast(pa.float64())
    except pa.ArrowInvalid:  # its message quotes values
        return None


def trim_and_null(text: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    """Text without spaces around it, and null where it means that a number is missing."""
    trimmed = compute.utf8_trim_whitespace(text.cast(pa.large_string()))
    missing = compute.is_in(trimmed, value_set=MISSING_TEXT_ARRAY)
    result: pa.ChunkedArray[Any] = compute.if_else(missing, scalar(None, pa.large_string()), trimmed)
    return result


def count_matches(column: pa.ChunkedArray[Any], pattern: str) -> int:
    return len(column.filter(compute.match_substring_regex(column, pattern)))


def has_decimal_commas(table: pa.Table) -> bool:
    """Whether the commas of some column of text can only be decimal signs.

    `DataError` if all commas may as well separate thousands.
    """
    doubtful = None
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not is_text(column.type):
            continue
        commas, certain = _numbers_with(",", column)
        if certain:
            return True
        if commas:
            doubtful = doubtful or (name, commas)
    if doubtful:
        raise wording.doubtful_commas(*doubtful, table.num_rows)
    return False


def detect_decimal(table: pa.Table) -> str:
    """Detect the decimal sign of a table of text whose columns need not all be numbers.

    It is the comma if some column can only have decimal commas, and none can only have decimal points. A
    column that the sign does not fit is refused when its numbers are needed.
    """
    if not any(_numbers_with(",", column)[1] for column in table.columns):
        return "."
    return "." if any(_numbers_with(".", column)[1] for column in table.columns) else ","


def _numbers_with(sign: str, column: pa.ChunkedArray[Any]) -> tuple[int, bool]:
    """How many values of a column of numbers have the sign, and whether it cannot separate thousands."""
    if not compute.any(compute.match_substring(column, sign)).as_py():
        return 0, False
    values = trim_and_null(column).drop_null()
    with_sign = values.filter(compute.match_substring(values, sign))
    number, thousands = {
        ",": (COMMA_NUMBER, COMMA_THOUSANDS),
        ".": (POINT_NUMBER, POINT_THOUSANDS_BESIDE_COMMAS),
    }[sign]
    if len(with_sign) == 0 or count_matches(values, f"{WHOLE_NUMBER}|{number}") < len(values):
        return 0, False
    return len(with_sign), count_matches(with_sign, thousands) < len(with_sign)
