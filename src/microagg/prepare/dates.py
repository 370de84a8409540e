"""Dates and times as numbers, and back in the form of the source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from microagg import wording
from microagg.arrow_types import is_text
from microagg.arrow_values import from_numpy, to_numpy
from microagg.model import Doubles

TEXT_FORMATS = (
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
"""In which dates are written in text files."""

SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400}
"""Of units of a fixed length."""

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True, slots=True)
class DateFormat:
    """How a column writes moments, which are numbers of seconds since 1970, and to which unit they are
    published; None: as exactly as its type can.
    """

    kind: Any
    """The type of the column."""
    text: str
    """The format of a column of text; empty for other columns."""
    resolution: str | None

    def numbers(self, column: pa.ChunkedArray[Any]) -> Doubles:
        """Seconds since 1970, NaN where missing."""
        return _seconds_since_1970(_moments(column, self.text))

    def published(self, values: Doubles) -> pa.Array[Any]:
        """The moments as values of the source's type; the start of the unit that they are in."""
        gone = np.isnan(values)
        seconds = self.rounded(np.where(gone, 0.0, values))
        if self.text:
            moments: Any = from_numpy(seconds.astype(np.int64), mask=gone).cast(pa.timestamp("s"))
            texts: pa.Array[Any] = compute.strftime(moments, format=self.text).cast(self.kind)
            return texts
        if pa.types.is_date(self.kind):
            days = from_numpy(np.floor(seconds / SECONDS["day"]).astype(np.int32), mask=gone)
            return days.cast(pa.date32()).cast(self.kind)
        unit = _PER_SECOND[self.kind.unit]
        whole = np.floor(seconds).astype(np.int64)
        ticks = whole * unit + np.round((seconds - whole) * unit).astype(np.int64)
        return from_numpy(ticks, mask=gone).cast(self.kind)

    def rounded(self, seconds: Doubles) -> Doubles:
        """The start of the month or year of a moment, or the nearest second, minute, hour or day.

        A mean at the border of two may be computed just before it: it counts as at it.
        """
        if self.resolution is None:
            return seconds
        seconds = seconds + 4.0 * np.spacing(np.abs(seconds))
        if self.resolution in SECONDS:
            unit = SECONDS[self.resolution]
            return np.floor(seconds / unit + 0.5) * unit
        code = "M" if self.resolution == "month" else "Y"
        days = np.floor(seconds / SECONDS["day"]).astype("datetime64[D]")
        starts: NDArray[Any] = days.astype(f"datetime64[{code}]").astype("datetime64[s]")
        return starts.astype(np.int64).astype(np.float64)


def date_format_of(
    column: pa.ChunkedArray[Any], name: str, resolution: str | None, kind: Any
) -> DateFormat:
    """How the column writes dates; `DataError` if some cannot be read, or in two ways. `kind`: its type in
    the source, where text may have another than here.
    """
    text = _text_format(column, name) if is_text(column.type) else ""
    own = _unit_of(_seconds_since_1970(_moments(column, text)))
    order = [*SECONDS, "month", "year"]
    if resolution is not None and own is not None and order.index(resolution) < order.index(own):
        raise wording.finer_than_source(name, resolution, own)
    return DateFormat(kind, text, resolution or own)


def _text_format(column: pa.ChunkedArray[Any], name: str) -> str:
    values: Any = compute.utf8_trim_whitespace(compute.unique(column.drop_null()))
    fitting = [each for each in TEXT_FORMATS if _fits(values, each)]
    if not fitting:
        raise wording.dates_unreadable(name)
    if len(fitting) > 1:
        raise wording.dates_ambiguous(name)
    return fitting[0]


def _fits(values: pa.Array[Any], text: str) -> bool:
    found = compute.strptime(values, format=text, unit="s", error_is_null=True)
    if found.null_count:
        return False
    return bool(compute.all(compute.equal(compute.strftime(found, format=text), values)).as_py())


def _moments(column: pa.ChunkedArray[Any], text: str) -> Any:
    if not text:
        return column
    trimmed = compute.utf8_trim_whitespace(column)
    return compute.strptime(trimmed, format=text, unit="s")


def _seconds_since_1970(moments: Any) -> Doubles:
    if pa.types.is_date(moments.type):
        days = moments.cast(pa.date32()).cast(pa.int32()).cast(pa.float64())
        return np.array(to_numpy(days)) * SECONDS["day"]
    unit = _PER_SECOND[moments.type.unit]
    return np.array(to_numpy(moments.cast(pa.int64()).cast(pa.float64(), safe=False))) / unit


def _unit_of(seconds: Doubles) -> str | None:
    """The largest unit of fixed length of which all moments are multiples."""
    some = seconds[~np.isnan(seconds)]
    fitting = [name for name, unit in SECONDS.items() if not np.any(some % unit)]
    return fitting[-1] if fitting else None
