"""What the columns of a source hold, and which role each might have. Never a respondent's value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from microagg.arrow_types import are_dates, is_text
from microagg.columns import decimals_of, in_ranges, numbers_or_none, plain
from microagg.model import Microdata, Origin, StatisticalLabels
from microagg.plan.identifiers import identifying_name, nearly_unique
from microagg.plan.identities import Identity, identities
from microagg.plan.missing_codes import likely_missing_codes

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["whole numbers", "numbers", "text", "dates", "truth values", "empty", "other"]

_DATE = (
    r"^\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{1,2}:\d{2}(:\d{2})?)"
    r"([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[-+]\d{2}:?\d{2})?)?\s*$"
)
_GLANCE = 100
_EXACT_AS_DOUBLE = 2.0**53
_SQUARE_EXISTS = 1e150


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """What one column holds."""

    name: str
    kind: Kind
    distinct: int
    """Missing values are not counted."""
    missing: int
    rarest: int = 0
    """So many records have the value that the fewest have."""
    zeros: float = 0.0
    """Share of zeros among the numbers."""
    decimals: int | None = None
    """Of numbers: so many at most; None beyond nine."""
    positive: bool = False
    """All values are numbers above zero."""
    labelled: bool = False
    """The file says what its values mean: they are codes."""
    numbers_as_text: bool = False
    """The file has a type for numbers and does not use it."""
    identifier: str = ""
    """Why it is likely to identify a respondent; nothing if it is not."""
    missing_codes: tuple[int, ...] = ()
    """Numbers that are likely to stand for a missing answer."""

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return self.kind in ("whole numbers", "numbers")


@dataclass(frozen=True, slots=True)
class Profile:
    """What a source holds."""

    records: int
    columns: tuple[ColumnProfile, ...]
    identities: tuple[Identity, ...] = ()
    """Sums that hold in every record."""
    identical: tuple[tuple[str, ...], ...] = ()
    """Columns that are the same in every record."""
    source: str = field(default="", compare=False)

    def __getitem__(self, name: str) -> ColumnProfile:
        return next(column for column in self.columns if column.name == name)

    def __iter__(self) -> Iterator[ColumnProfile]:
        return iter(self.columns)


def profile(microdata: Microdata) -> Profile:
    """Look at every column.

    A column of a CSV file that reads as numbers holds numbers, unless some begin with a needless zero: that
    is a code. Other files have types, and text is text there. About 0.2 s for a million numbers.
    """
    table, origin = microdata.table, microdata.origin
    columns = []
    numeric: dict[str, NDArray[np.float64]] = {}
    for field_, column in zip(table.schema, table.columns, strict=True):
        found, numbers = _column(field_, column, origin)
        columns.append(found)
        if numbers is not None:
            numeric[found.name] = numbers
    identical = _identical(table, columns, numeric)
    return Profile(
        table.num_rows,
        tuple(columns),
        _sums(columns, numeric, identical),
        identical,
        origin.name,
    )


def reasons_for_a_role(microdata: Microdata, names: Sequence[str]) -> dict[str, str]:
    """Which of the columns must not be left without a role, since they may tell who a record is; and why.

    Those that are likely to identify, and those of any kind of which nearly all values are distinct.
    """
    reasons = {}
    for name in names:
        field_ = microdata.table.schema.field(name)
        column, _ = _column(field_, microdata.table.column(name), microdata.origin)
        reason = column.identifier
        if not reason and nearly_unique(column.distinct, microdata.table.num_rows - column.missing):
            reason = "nearly all of its values are distinct"
        if reason:
            reasons[name] = reason
    return reasons


def _column(
    field_: pa.Field[Any], column: pa.ChunkedArray[Any], origin: Origin
) -> tuple[ColumnProfile, NDArray[np.float64] | None]:
    """The column's profile; its numbers, if that is what it holds."""
    name = field_.name
    labels = origin.labels or StatisticalLabels()
    labelled = bool(labels.value_labels.get(name))
    column = plain(column)
    typed = origin.csv is None
    decimal = "." if origin.csv is None else origin.csv.decimal or "."
    numbers = None if are_dates(field_) else numbers_or_none(column, decimal)
    if numbers is None or (is_text(column.type) and (typed or _has_needless_zeros(column))):
        return _no_numbers(name, column, labelled, typed and numbers is not None, are_dates(field_)), None
    declared = in_ranges(numbers, labels.missing_ranges.get(name, ()))
    if declared.any():
        numbers = np.where(declared, np.nan, numbers)
    return _numbers(name, column, numbers, labelled), numbers


def _numbers(
    name: str, column: pa.ChunkedArray[Any], numbers: NDArray[np.float64], labelled: bool
) -> ColumnProfile:
    from pyarrow import compute

    present = numbers[~np.isnan(numbers)]
    missing = len(numbers) - len(present)
    if len(present) == 0:
        return ColumnProfile(name, "empty", 0, missing)
    values, counts = np.unique(present, return_counts=True)
    distinct = len(values)
    if np.abs(values[[0, -1]]).max() >= _EXACT_AS_DOUBLE:  # different ones may have become the same double
        distinct = min(max(distinct, compute.count_distinct(column).as_py()), len(present))
    decimals = decimals_of(values)
    kind: Kind = "whole numbers" if decimals == 0 else "numbers"
    return ColumnProfile(
        name,
        kind,
        distinct,
        missing,
        int(counts.min()),
        float(np.mean(present == 0)),
        decimals,
        bool(values[0] > 0) and bool(np.isfinite(values[-1])),
        labelled,
        identifier=_why_identifier(name, kind, distinct, present),
        missing_codes=likely_missing_codes(values, counts) if decimals == 0 else (),
    )


def _no_numbers(
    name: str, column: pa.ChunkedArray[Any], labelled: bool, numbers_as_text: bool, dates: bool
) -> ColumnProfile:
    import pyarrow as pa
    from pyarrow import compute

    present = column.drop_null()
    missing = column.null_count
    if len(present) == 0:
        return ColumnProfile(name, "empty", 0, missing)
    try:
        counted = compute.value_counts(present)
    except pa.ArrowNotImplementedError:  # lists and the like
        return ColumnProfile(name, "other", len(present), missing, 1)
    values, counts = counted.field("values"), counted.field("counts")
    kind = "dates" if dates else _kind(pa.chunked_array([values]))
    if kind != "text":
        labelled = numbers_as_text = False
    return ColumnProfile(
        name,
        kind,
        len(values),
        missing,
        compute.min(counts).as_py(),
        labelled=labelled,
        numbers_as_text=numbers_as_text,
        identifier=_why_identifier(name, kind, len(values), np.empty(len(present))),
    )


def _kind(values: pa.ChunkedArray[Any]) -> Kind:
    """Of a column's distinct values that are no numbers."""
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_boolean(values.type):
        return "truth values"
    if not is_text(values.type):
        return "other"
    if len(values) <= 4 and {str(value).strip().casefold() for value in values.to_pylist()} <= {
        "true",
        "false",
    }:
        return "truth values"
    for part in (values.slice(0, _GLANCE), values):
        if not compute.all(compute.match_substring_regex(part, _DATE)).as_py():
            return "text"
    return "dates"


def _has_needless_zeros(column: pa.ChunkedArray[Any]) -> bool:
    """Whether some number is written with a zero before other digits, which only codes have."""
    from pyarrow import compute

    begins = column.filter(compute.starts_with(column, "0"))
    return bool(compute.any(compute.match_substring_regex(begins, r"^0\d")).as_py())


def _why_identifier(name: str, kind: Kind, distinct: int, present: NDArray[np.float64]) -> str:
    """A reason, or nothing.

    Amounts in whole numbers may be all distinct as well; what gives away a number that was assigned is that
    nearly all in its range are used, or that nearly all have the same number of digits, six at least.
    """
    if kind in ("truth values", "empty") or distinct <= 2 < len(present):
        return ""
    if identifying_name(name, kind == "text"):
        return "its name is that of an identifier"
    if kind in ("numbers", "other") or not nearly_unique(distinct, len(present)):
        return ""
    if kind != "whole numbers":
        return "nearly all of its values are distinct"
    low, high = float(present.min()), float(present.max())
    if not math.isfinite(high - low):
        return ""
    if high - low + 1 <= 2 * distinct:
        return "its values are distinct and nearly consecutive"
    digits = np.floor(np.log10(np.maximum(present, 1))).astype(np.int64)
    if low > 0 and np.median(digits) >= 5 and np.bincount(digits).max() >= 0.85 * len(present):
        return "its values are distinct and of the same number of digits"
    return ""


def _identical(
    table: pa.Table, columns: list[ColumnProfile], numeric: Mapping[str, NDArray[np.float64]]
) -> tuple[tuple[str, ...], ...]:
    """Groups of columns that are the same; those of one value or of none do not count."""
    groups: list[list[ColumnProfile]] = []
    for column in columns:
        if column.distinct < 2 or column.kind == "other":
            continue
        for group in groups:
            if _same(table, group[0], column, numeric):
                group.append(column)
                break
        else:
            groups.append([column])
    return tuple(tuple(column.name for column in group) for group in groups if len(group) > 1)


def _same(
    table: pa.Table, one: ColumnProfile, other: ColumnProfile, numeric: Mapping[str, NDArray[np.float64]]
) -> bool:
    if (one.kind, one.distinct, one.missing, one.rarest) != (
        other.kind,
        other.distinct,
        other.missing,
        other.rarest,
    ):
        return False
    if one.name in numeric and other.name in numeric:
        return np.array_equal(numeric[one.name], numeric[other.name], equal_nan=True)
    return table[one.name].equals(table[other.name])


def _sums(
    columns: list[ColumnProfile],
    numeric: Mapping[str, NDArray[np.float64]],
    identical: tuple[tuple[str, ...], ...],
) -> tuple[Identity, ...]:
    """Sums among the columns that have numbers in all records, the first of identical ones for all."""
    copies = {name for group in identical for name in group[1:]}
    usable = [
        column
        for column in columns
        if column.name in numeric
        and column.name not in copies
        and column.missing == 0
        and column.distinct > 1
        and np.abs(numeric[column.name]).max() < _SQUARE_EXISTS
    ]
    return identities(
        {column.name: numeric[column.name] for column in usable},
        {column.name: column.decimals for column in usable},
    )
