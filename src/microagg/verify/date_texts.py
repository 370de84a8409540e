"""Dates in texts and other columns, as seconds since 1970."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow.types as kinds

from microagg.arrow_values import from_numbers, to_numpy
from microagg.model import Doubles
from microagg.verify.values import MISSING_TEXTS, bits, is_text, missing, plain

_DATE_FORMATS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%dT%H:%M:%SZ",
)

_TICKS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
"""In a second."""


def distinct(column: Any) -> tuple[list[Any], Any]:
    """The different values, and which of them each record has; NaN is missing."""
    array = plain(column)
    if kinds.is_floating(array.type):
        values = to_numpy(array)
        array = from_numbers(values + values.dtype.type(0))
    encoded = array.dictionary_encode(null_encoding="encode")
    return encoded.dictionary.to_pylist(), to_numpy(encoded.indices)


def means_nothing(text: str | None) -> bool:
    return text is None or text.strip() in MISSING_TEXTS


def date_format(texts: Sequence[str]) -> str | None:
    """The one form in which all texts are dates, as they would be written again."""
    for form in _DATE_FORMATS:
        if all(_written_again(text.strip(), form) for text in texts):
            return form
    return None


def _written_again(text: str, form: str) -> bool:
    try:
        found = datetime.strptime(text, form)
        # Not every platform writes four digits of the first centuries.
        return found.strftime(form.replace("%Y", f"{found.year:04}")) == text
    except ValueError:
        return False


def moments(column: Any, form: str) -> tuple[Doubles, int]:
    """Seconds since 1970, NaN where missing, and how many texts are no dates."""
    array = plain(column)
    if not is_text(array.type):
        per_second = 1.0 / 86400.0 if kinds.is_date(array.type) else _TICKS[array.type.unit]
        if kinds.is_date64(array.type):
            per_second = 1e3
        ticks = bits(array)
        assert ticks is not None
        return np.where(missing(array), np.nan, ticks / per_second), 0
    values, of = distinct(array)
    found = [np.nan if means_nothing(value) else _seconds_of_text(value, form) for value in values]
    unknown = np.array([each is None for each in found], dtype=bool)
    numbers = np.array([np.nan if each is None else each for each in found], dtype=np.float64)
    return numbers[of], int(unknown[of].sum())


def _seconds_of_text(text: str, form: str) -> float | None:
    try:
        return datetime.strptime(text.strip(), form).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
