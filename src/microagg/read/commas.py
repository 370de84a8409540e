"""Whether the commas in a CSV file's numbers are decimal signs."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyarrow import compute

from microagg import wording
from microagg.arrow_types import is_text
from microagg.columns import COMMA_THOUSANDS, POINT_THOUSANDS_BESIDE_COMMAS
from microagg.read.columns import (
    WHOLE_OR_COMMA_NUMBER,
    WHOLE_OR_POINT_NUMBER,
    cleaned,
    matching,
)


def has_decimal_commas(table: pa.Table) -> bool:
    """Whether the commas of some column of text can only be decimal signs.

    `DataError` if there are but commas that may as well separate thousands.
    """
    doubtful = None
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not is_text(column.type):
            continue
        commas, certain = _numbers_with(",", column, WHOLE_OR_COMMA_NUMBER, COMMA_THOUSANDS)
        if certain:
            return True
        if commas:
            doubtful = doubtful or (name, commas)
    if doubtful:
        raise wording.doubtful_commas(*doubtful, table.num_rows)
    return False


def decimal_of(table: pa.Table) -> str:
    """The decimal sign of a table of text whose columns need not all be numbers.

    The comma, if some column shows it beyond doubt and none shows the point beyond doubt. Where the sign
    does not fit a column, that column is refused when its numbers are asked for.
    """
    commas = any(
        _numbers_with(",", column, WHOLE_OR_COMMA_NUMBER, COMMA_THOUSANDS)[1] for column in table.columns
    )
    if not commas:
        return "."
    points = any(
        _numbers_with(".", column, WHOLE_OR_POINT_NUMBER, POINT_THOUSANDS_BESIDE_COMMAS)[1]
        for column in table.columns
    )
    return "." if points else ","


def _numbers_with(sign: str, column: pa.ChunkedArray[Any], number: str, thousands: str) -> tuple[int, bool]:
    """How many values of a column of numbers have the sign, and whether it cannot separate thousands."""
    if not compute.any(compute.match_substring(column, sign)).as_py():
        return 0, False
    values = cleaned(column).drop_null()
    with_sign = values.filter(compute.match_substring(values, sign))
    if len(with_sign) == 0 or matching(values, number) < len(values):
        return 0, False
    return len(with_sign), matching(with_sign, thousands) < len(with_sign)
