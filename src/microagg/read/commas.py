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
    count_matches,
    trim_and_null,
)


def has_decimal_commas(table: pa.Table) -> bool:
    """Whether the commas of some column of text can only be decimal signs.

    `DataError` if all commas may as well separate thousands.
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


def detect_decimal(table: pa.Table) -> str:
    """Detect the decimal sign of a table of text whose columns need not all be numbers.

    It is the comma if some column can only have decimal commas, and none can only have decimal points. A
    column that the sign does not fit is refused when its numbers are needed.
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
    values = trim_and_null(column).drop_null()
    with_sign = values.filter(compute.match_substring(values, sign))
    if len(with_sign) == 0 or count_matches(values, number) < len(values):
        return 0, False
    return len(with_sign), count_matches(with_sign, thousands) < len(with_sign)
