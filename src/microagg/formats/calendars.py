"""How Stata, SPSS and SAS count days and seconds, as Arrow's types and back.

They store dates as numbers, and the column's format shows that these are dates.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from microagg.arrow_values import from_numpy

DateKind = Literal["date", "datetime", "time"]

_DAY = 86_400_000_000  # microseconds
_FIRST, _LAST = (int(np.datetime64(day, "us").astype(np.int64)) for day in ("0001-01-01", "9999-12-31"))

_SPSS_DATES = {"DATE", "ADATE", "EDATE", "JDATE", "SDATE"}
_SPSS_OTHERS = {"DTIME", "MTIME", "QYR", "MOYR", "WKYR"}
_SAS_DATES = {"DATE", "WEEKDATE", "WEEKDATX", "IS8601DA", "E8601DA", "B8601DA"} | {
    order + sign for order in ("MMDDYY", "DDMMYY", "YYMMDD") for sign in ("", *"BCDNPS")
}
_SAS_DATETIMES = {"DATETIME", "DATEAMPM", "MDYAMPM", "IS8601DT", "E8601DT", "B8601DT", "B8601DN"}
_SAS_TIMES = {"TIME", "HHMM", "TOD", "TIMEAMPM", "IS8601TM", "E8601TM", "B8601TM"}
_SAS_OTHERS = {"DTDATE", "MONYY", "YYMON", "YYQ", "YYQR", "JULIAN", "JULDAY"}


@dataclass(frozen=True, slots=True)
class Calendar:
    """How one program counts days and seconds."""

    origin: str
    units: dict[DateKind, int]
    """Microseconds in the unit in which each kind is counted."""
    formats: dict[DateKind, str]
    """The display format of a column of each kind, where its file has none."""

    def _start(self, kind: DateKind) -> int:
        return 0 if kind == "time" else int(np.datetime64(self.origin, "us").astype(np.int64))

    def from_numbers(self, values: NDArray[np.float64], kind: DateKind) -> pa.Array[Any] | None:
        """The numbers (NaN: missing) as dates or times; None if that would lose something."""
        missing = np.isnan(values)
        if not np.isfinite(values[~missing]).all():
            return None
        exact = np.where(missing, 0.0, values) * self.units[kind]
        if np.abs(exact).max(initial=0.0) >= 2.0**62:
            return None
        counted = np.rint(exact).astype(np.int64)
        if not np.array_equal((counted / self.units[kind])[~missing], values[~missing]):
            return None
        moments = counted + self._start(kind)
        present = moments[~missing]
        if kind == "time":
            fits = bool(((present >= 0) & (present < _DAY)).all())
            return from_numpy(moments, pa.time64("us"), missing) if fits else None
        if not ((present >= _FIRST) & (present <= _LAST)).all():
            return None
        if kind == "date" and not (present % _DAY).any():
            return from_numpy((moments // _DAY).astype(np.int32), pa.date32(), missing)
        if kind == "date" and self.units["date"] != self.units["datetime"]:
            return None
        return from_numpy(moments, pa.timestamp("us"), missing)

    def to_numbers(self, column: pa.ChunkedArray[Any]) -> tuple[pa.ChunkedArray[Any], DateKind]:
        """Dates or times as this program's numbers, and which of the three they are."""
        if pa.types.is_date(column.type):
            kind: DateKind = "date"
            moments = compute.multiply(column.cast(pa.date32()).cast(pa.int32()).cast(pa.int64()), _DAY)
        elif pa.types.is_time(column.type):
            kind = "time"
            moments = column.cast(pa.time64("us")).cast(pa.int64())
        else:
            kind = "datetime"
            # Finer than microseconds is cut: no calendar here is that fine.
            moments = column.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
        counted = compute.subtract(moments, self._start(kind)).cast(pa.float64(), safe=False)
        return compute.divide(counted, float(self.units[kind])), kind


_SECOND = 1_000_000
CALENDARS = {
    "Stata": Calendar(
        "1960-01-01",
        {"date": _DAY, "datetime": 1_000, "time": 1_000},
        {"date": "%td", "datetime": "%tc", "time": "%tcHH:MM:SS"},
    ),
    "SPSS": Calendar(
        "1582-10-14",
        {"date": _SECOND, "datetime": _SECOND, "time": _SECOND},
        {"date": "DATE11", "datetime": "DATETIME20", "time": "TIME8"},
    ),
    "SAS": Calendar(
        "1960-01-01",
        {"date": _DAY, "datetime": _SECOND, "time": _SECOND},
        {"date": "DATE9", "datetime": "DATETIME20", "time": "TIME8"},
    ),
}


def date_kind_of(column_format: str, program: str) -> DateKind | Literal["other"] | None:
    """The kind of date that a column's format shows; "other" is one for which Arrow has no type."""
    if program == "Stata":
        if column_format in ("%tcHH:MM:SS", "%tcHH:MM"):
            return "time"
        found = re.match(r"%-?(t[a-zA-Z]|d)", column_format)
        kinds: dict[str, DateKind] = {"d": "date", "td": "date", "tc": "datetime"}
        return kinds.get(found[1], "other") if found else None
    found = re.fullmatch(r"(.*?[A-Z])\d*(\.\d*)?", column_format.upper())
    if not found:
        return None
    tables: dict[str, tuple[tuple[set[str], DateKind | Literal["other"]], ...]] = {
        "SPSS": (
            (_SPSS_DATES, "date"),
            ({"DATETIME", "YMDHMS"}, "datetime"),
            ({"TIME"}, "time"),
            (_SPSS_OTHERS, "other"),
        ),
        "SAS": (
            (_SAS_DATES, "date"),
            (_SAS_DATETIMES, "datetime"),
            (_SAS_TIMES, "time"),
            (_SAS_OTHERS, "other"),
        ),
    }
    return next((kind for names, kind in tables[program] if found[1] in names), None)
