"""Columns of an Arrow table as numbers."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pytest

from microagg.columns import decimals_of, numbers_or_none


def column(*values: object, kind: pa.DataType | None = None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values, kind)])


def text(*values: str | None) -> pa.ChunkedArray:
    return column(*values, kind=pa.large_string())


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (column(1, None, 3), [1, np.nan, 3]),
        (column(1.5, None, float("nan")), [1.5, np.nan, np.nan]),
        (column(decimal.Decimal("1.25"), None), [1.25, np.nan]),
        (column(2**60, 1), [2.0**60, 1]),
        (column(None, None, kind=pa.null()), [np.nan, np.nan]),
        (text("1.50", "007", "-2e3"), [1.5, 7, -2000]),
        (text(" 1", "2 ", None, "", "NA", "n/a", "null", "NaN"), [1, 2] + [np.nan] * 6),
        (text("inf", "1"), [np.inf, 1]),
        (text(None, ""), [np.nan, np.nan]),
        (text("1", "2").dictionary_encode(), [1, 2]),
        (pa.chunked_array([["1"], ["2"]]), [1, 2]),
        (pa.chunked_array([], pa.large_string()), []),
    ],
)
def test_numbers(given: pa.ChunkedArray, expected: list[float]) -> None:
    found = numbers_or_none(given)
    assert found is not None
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "given",
    [
        text("1", "a"),
        text("1,5"),
        text("1 234"),
        text("2020-01-01"),
        text(*["1"] * 5000, "none"),
        text("true"),
        column(True, False),
        column(datetime.date(2020, 1, 1)),
        column([1], [2]),
    ],
)
def test_no_numbers(given: pa.ChunkedArray) -> None:
    assert numbers_or_none(given) is None


def test_decimal_comma() -> None:
    found = numbers_or_none(text("1,5", "2", " ,25", "NA", None), ",")
    np.testing.assert_array_equal(found, [1.5, 2, 0.25, np.nan, np.nan])
    assert numbers_or_none(text("1,5", "2.5"), ",") is None
    assert numbers_or_none(text("1.234,5"), ",") is None


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([], 0),
        ([np.nan, np.inf], 0),
        ([1, 2, -3], 0),
        ([1e300, 2.0**60], 0),
        ([0.1, 0.25, 1.285], 3),
        ([123456.123456789, 1], 9),
        ([1 / 3], None),
        ([1] * 2000 + [1 / 3], None),
        ([1e-9], 9),
        ([1e-10], None),
        ([float(np.float32(0.1)), float(np.float32(3.25))], 2),
        ([1e300, 0.5], 1),
    ],
)
def test_decimals(numbers: list[float], expected: int | None) -> None:
    assert decimals_of(np.array(numbers, dtype=float)) == expected
