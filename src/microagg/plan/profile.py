"""What the columns of a source hold, and which role each might have. Never a respondent's value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from microagg import wording
from microagg.arrow_types import NUMBERS_AMONG_TEXT, are_dates, is_number, is_text
from microagg.column_names import (
    confidential_matter,
    names_a_category,
    names_an_amount,
    weight_name,
)
from microagg.columns import (
    COMMA_THOUSANDS,
    NUMBER_WITH_SIGN,
    PLAIN_NUMBER,
    POINT_THOUSANDS,
    SPACE_THOUSANDS,
    decimals_of,
    in_ranges,
    numbers_or_none,
    plain,
    without_texts,
)
from microagg.identifiers import (
    FEW_VALUES,
    identifying_name,
    names_codes,
    nearly_unique,
    numbers_of_units,
)
from microagg.model import Microdata, Origin, StatisticalLabels
from microagg.plan.identities import Identity, identities
from microagg.plan.missing_codes import labelled_missing_codes, likely_missing_codes, likely_missing_texts
from microagg.plan.scales import levels_in_order

ColumnKind = Literal["whole numbers", "numbers", "text", "dates", "truth values", "empty", "other"]

_DATE = (
    r"^\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{1,2}:\d{2}(:\d{2})?)"
    r"([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[-+]\d{2}:?\d{2})?)?\s*$"
)
_FIRST_VALUES_TO_CHECK = 100
_NEARLY_ALL_LABELLED = 0.9
_RECORDS_TO_CORRELATE = 2000
_CORRELATION_OF_AMOUNTS = 0.7
"""A rank correlation that numbers of units do not have with amounts."""
_FEWEST_NUMBERED = 20
"""From this many records on, distinct whole numbers are numbers of units rather than amounts."""
_EXACT_AS_DOUBLE = 2.0**53
_SQUARE_EXISTS = 1e150


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """What one column holds."""

    name: str
    kind: ColumnKind
    distinct: int
    """Missing values are not counted."""
    missing: int
    rarest: int = 0
    """So many records have the value that the fewest have."""
    zeros: float = 0.0
    """Share of zeros among the numbers."""
    decimals: int | None = None
    """Of numbers: the most that one has; None beyond nine."""
    positive: bool = False
    """All values are numbers above zero."""
    labelled: bool = False
    """They are codes: nearly all have a label in the file, or it declares that they have no order."""
    numbers_as_text: bool = False
    """The file has a type for numbers and does not use it."""
    identifier: str = ""
    """Why it is likely to identify a respondent; nothing if it is not."""
    missing_codes: tuple[int | str, ...] = ()
    """Texts, first, and numbers that are likely to stand for a missing answer; texts count as missing."""
    coded_missing: int = 0
    """So many records have one of the numbers."""
    called_missing: bool = False
    """They are what the file's labels call missing."""
    codes: str = ""
    """Why its numbers are codes rather than amounts; nothing if they are not."""
    weights: bool = False
    """By name and shape these are survey weights."""
    levels: tuple[str, ...] | None = None
    """Of ordered categories: from the lowest to the highest, none if the file has them in order; None of
    others.
    """
    disguise: str = ""
    """Of text: why it may be numbers that cannot be read as such, with counts; nothing if it is not."""

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
        column_profile, numbers = _profile_of_column(field_, column, origin)
        columns.append(column_profile)
        if numbers is not None:
            numeric[column_profile.name] = numbers
    columns = [_clear_identifier_if_amount(column, columns, numeric) for column in columns]
    identical = _identical(table, columns, numeric)
    return Profile(
        table.num_rows,
        tuple(columns),
        _sums_among_columns(columns, numeric, identical),
        identical,
        origin.name,
    )


def likely_identifiers(microdata: Microdata, names: Sequence[str]) -> dict[str, str]:
    """Which of the columns are likely to show who a record is, and why."""
    reasons = {}
    for name in names:
        field_ = microdata.table.schema.field(name)
        column, _ = _profile_of_column(field_, microdata.table.column(name), microdata.origin)
        if column.identifier:
            reasons[name] = column.identifier
    return reasons


def _profile_of_column(
    field_: pa.Field[Any], column: pa.ChunkedArray[Any], origin: Origin
) -> tuple[ColumnProfile, NDArray[np.float64] | None]:
    """The column's profile; its numbers, if that is what it holds."""
    name = field_.name
    labels = origin.labels or StatisticalLabels()
    value_labels = labels.value_labels.get(name) or {}
    column = plain(column)
    typed = origin.csv is None
    decimal = origin.decimal
    numbers = None if are_dates(field_) else numbers_or_none(column, decimal)
    marks: tuple[str, ...] = ()
    if numbers is None and is_text(column.type) and (not typed or _has_numbers(field_)):
        marks = likely_missing_texts(column, decimal)
        if marks and not _has_needless_zeros(column):
            numbers = numbers_or_none(without_texts(column, marks), decimal)
            typed = False
    if numbers is None or (is_text(column.type) and (typed or _has_needless_zeros(column))):
        profiled = _profile_without_numbers(
            name, column, bool(value_labels), typed and numbers is not None, are_dates(field_)
        )
        is_ordered = pa.types.is_dictionary(field_.type) and field_.type.ordered
        # Dates that are still numbers are quarters, or others of which there are no means.
        is_ordered = is_ordered or (are_dates(field_) and is_number(field_.type))
        return (replace(profiled, levels=()) if is_ordered else profiled), None
    declared = in_ranges(numbers, labels.missing_ranges.get(name, ()))
    if declared.any():
        numbers = np.where(declared, np.nan, numbers)
    profiled = _profile_of_numbers(name, column, numbers, value_labels, labels.measures.get(name, ""))
    return replace(profiled, missing_codes=(*marks, *profiled.missing_codes)), numbers


def _profile_of_numbers(
    name: str,
    column: pa.ChunkedArray[Any],
    numbers: NDArray[np.float64],
    texts: Mapping[Any, str],
    measure: str,
) -> ColumnProfile:
    """`texts`: the file's labels of values; `measure`: their level of measurement."""
    present = numbers[~np.isnan(numbers)]
    missing = len(numbers) - len(present)
    if len(present) == 0:
        return ColumnProfile(name, "empty", 0, missing)
    values, counts = np.unique(present, return_counts=True)
    distinct = len(values)
    if np.abs(values[[0, -1]]).max() >= _EXACT_AS_DOUBLE:  # different ones may have become the same double
        distinct = min(max(distinct, compute.count_distinct(column).as_py()), len(present))
    decimals = decimals_of(values)
    kind: ColumnKind = "whole numbers" if decimals == 0 else "numbers"
    called_missing = labelled_missing_codes(values, texts)
    missing_codes = called_missing
    if decimals == 0:
        missing_codes = tuple(sorted({*likely_missing_codes(values, counts), *called_missing}))
    answers = values[~np.isin(values, missing_codes)]
    codes = _why_codes(name, kind, answers, texts, measure)
    positive = bool(values[0] > 0) and bool(np.isfinite(values[-1]))
    weights = positive and not missing and _are_weights(name, kind, present, distinct)
    return ColumnProfile(
        name,
        kind,
        distinct,
        missing,
        int(counts.min()),
        float(np.mean(present == 0)),
        decimals,
        positive,
        codes in (_LABELLED, _NOMINAL),
        identifier="" if weights else _why_identifier(name, kind, distinct, present),
        missing_codes=missing_codes,
        coded_missing=int(counts[np.isin(values, missing_codes)].sum()),
        called_missing=bool(called_missing) and missing_codes == called_missing,
        codes=codes,
        weights=weights,
        levels=_levels_of_codes(answers, texts, measure) if codes == _LABELLED else None,
    )


_LABELLED = "codes, as their labels say"
_NOMINAL = "codes, nominal as the file says"


def _why_codes(
    name: str, kind: ColumnKind, answers: NDArray[np.float64], texts: Mapping[Any, str], measure: str
) -> str:
    """Why numbers are codes rather than amounts; '' if they are not. `answers`: distinct, without codes for
    missing ones.

    Labels on some of many values, or on codes for a missing answer, make no codes. SPSS calls numbers scale
    unless it is set otherwise, so that labels on all values count for more; nominal is set on purpose.
    """
    labelled = [code for code in texts if isinstance(code, int | float)]
    with_label = int(np.isin(answers, np.array(labelled, dtype=np.float64)).sum())
    if len(answers) and with_label >= _NEARLY_ALL_LABELLED * len(answers):
        return _LABELLED
    if measure == "nominal":
        return _NOMINAL
    if kind != "whole numbers" or measure in ("scale", "ordinal") or len(answers) <= 2:
        return ""
    if names_codes(name):
        return "codes, by their name"
    return "codes of classes, by their name" if names_a_category(name) else ""


def _levels_of_codes(
    answers: NDArray[np.float64], texts: Mapping[Any, str], measure: str
) -> tuple[str, ...] | None:
    """Of codes with labels: in the order of a scale, or of the codes if the file calls them ordinal."""
    labels = [texts.get(answer, "").strip() for answer in answers.tolist()]
    if len(set(labels)) < len(labels):
        return None
    return levels_in_order(labels) or (() if measure == "ordinal" else None)


def _are_weights(name: str, kind: ColumnKind, present: NDArray[np.float64], distinct: int) -> bool:
    """Whether numbers above zero are survey weights, by name and shape.

    `weight` may be that of a body: that lies around its mean and is rarely many times as large. Survey
    weights have a mean of one; or are small, where much of a population is asked; or spread widely; or have
    few values, one for each stratum of a sample.
    """
    called = weight_name(name)
    if not called or (kind == "whole numbers" and present.max() <= FEW_VALUES):
        return False
    mean, median, low = float(present.mean()), float(np.median(present)), float(present.min())
    if not math.isfinite(mean):
        return False
    varied = float(present.std()) >= 0.35 * mean
    small = low >= 1.0 and (mean <= 2.5 or (mean <= 10.0 and varied))
    if called == "survey weight" or abs(mean - 1.0) <= 0.1 or small:
        return True
    by_stratum = distinct <= FEW_VALUES <= len(present) / 10
    return mean > 10.0 and varied and (by_stratum or float(present.max()) >= 4.0 * median)


def _profile_without_numbers(
    name: str, column: pa.ChunkedArray[Any], labelled: bool, numbers_as_text: bool, dates: bool
) -> ColumnProfile:
    present = column.drop_null()
    missing = column.null_count
    if len(present) == 0:
        return ColumnProfile(name, "empty", 0, missing)
    try:
        counted = compute.value_counts(present)
    except pa.ArrowNotImplementedError:  # lists and the like
        return ColumnProfile(name, "other", len(present), missing, 1)
    values, counts = counted.field("values"), counted.field("counts")
    disguise = "" if labelled else _disguise(values, counts)
    kind = "dates" if dates else _kind_of_others(pa.chunked_array([values]))
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
        disguise=disguise if kind == "text" and not numbers_as_text else "",
        levels=_levels_of_texts(values) if kind == "text" else None,
        identifier=_why_identifier(name, kind, len(values), np.empty(len(present))),
    )


def _levels_of_texts(values: pa.Array[Any]) -> tuple[str, ...] | None:
    """In the order of a scale that is known."""
    few = len(values) <= FEW_VALUES and is_text(values.type)
    texts = [str(text).strip() for text in values.to_pylist()] if few else []
    return levels_in_order(list(dict.fromkeys(texts))) or None


def _has_numbers(field_: pa.Field[Any]) -> bool:
    """Whether the file itself holds numbers among the texts of a column."""
    return int((field_.metadata or {}).get(NUMBERS_AMONG_TEXT, b"0")) > 0


def _disguise(values: pa.Array[Any], counts: pa.Array[Any]) -> str:
    """Whether distinct texts with their counts are numbers with signs, or have many numbers among them."""
    if not is_text(values.type) or _has_needless_zeros(values):
        return ""

    kinds = ("|".join((COMMA_THOUSANDS, POINT_THOUSANDS, SPACE_THOUSANDS)), NUMBER_WITH_SIGN, PLAIN_NUMBER)
    records: list[int] = []
    present = compute.sum(counts).as_py()
    for pattern in kinds:  # each value is counted once: 1,234 may be a plain number elsewhere
        matches = compute.match_substring_regex(values, pattern)
        records.append(compute.sum(counts.filter(matches)).as_py() or 0)
        values, counts = (array.filter(compute.invert(matches)) for array in (values, counts))
    thousands, signs, plain_ones = records
    if thousands + signs and thousands + signs + plain_ones == present:
        return wording.signs_around_numbers(thousands, signs, present)
    return wording.numbers_among_text(plain_ones, present) if 2 * plain_ones >= present else ""


def _kind_of_others(values: pa.ChunkedArray[Any]) -> ColumnKind:
    """Of a column's distinct values that are no numbers."""
    if pa.types.is_boolean(values.type):
        return "truth values"
    if not is_text(values.type):
        return "other"
    if len(values) <= 4:
        texts = {str(value).strip().casefold() for value in values.to_pylist()}
        if texts <= {"true", "false"}:
            return "truth values"
    for part in (values.slice(0, _FIRST_VALUES_TO_CHECK), values):
        if not compute.all(compute.match_substring_regex(part, _DATE)).as_py():
            return "text"
    return "dates"


def _has_needless_zeros(column: pa.ChunkedArray[Any] | pa.Array[Any]) -> bool:
    """Whether some number is written with a zero before other digits, which only codes have."""
    begins = column.filter(compute.starts_with(column, "0"))
    return bool(compute.any(compute.match_substring_regex(begins, r"^0\d")).as_py())


def _why_identifier(name: str, kind: ColumnKind, distinct: int, present: NDArray[np.float64]) -> str:
    """A reason, or nothing.

    Whole numbers that are all distinct were assigned to records, unless their name or shape is that of an
    amount: amounts have a long tail, are rounded, or fall to zero and below.
    """
    if kind in ("truth values", "empty") or distinct <= 2 < len(present):
        return ""
    if identifying_name(name, kind == "text"):
        return "its name is that of an identifier"
    unique = kind not in ("numbers", "other") and nearly_unique(distinct, len(present))
    if unique and kind != "whole numbers":
        return "nearly all of its values are distinct"
    if kind in ("text", "whole numbers") and numbers_of_units(name, kind == "whole numbers", distinct):
        return "its name is that of a unit, and it has many values"
    if not unique:
        return ""
    low, high = float(present.min()), float(present.max())
    if not math.isfinite(high - low):
        return ""
    if high - low + 1 <= 2 * distinct:
        return "its values are distinct and nearly consecutive"
    amounts = names_an_amount(name) or confidential_matter(name) == "income" or _are_amounts(present)
    if len(present) < _FEWEST_NUMBERED or amounts:
        return ""
    return _DISTINCT


_DISTINCT = "its values are distinct whole numbers: the numbers of units rather than an amount"


def _clear_identifier_if_amount(
    column: ColumnProfile, columns: Sequence[ColumnProfile], numeric: Mapping[str, NDArray[np.float64]]
) -> ColumnProfile:
    """Distinct whole numbers that rise and fall with an amount do not identify: they are an amount too."""
    if column.identifier != _DISTINCT:
        return column
    own = numeric[column.name]
    for other in columns:
        if other.numeric and not (other.identifier or other.codes) and other.distinct > FEW_VALUES:
            step = max(1, len(own) // _RECORDS_TO_CORRELATE)
            pair = np.stack([own[::step], numeric[other.name][::step]])
            pair = pair[:, np.isfinite(pair).all(axis=0)]
            if (
                pair.shape[1] >= _FEWEST_NUMBERED
                and abs(_rank_correlation(*pair)) >= _CORRELATION_OF_AMOUNTS
            ):
                return replace(column, identifier="")
    return column


def _rank_correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Of ranks; those of equal values are their mean's nearly enough."""
    ranks = [np.unique(values, return_inverse=True)[1] for values in (one, other)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1]) if all(each.any() for each in ranks) else 0.0


def _are_amounts(distinct: NDArray[np.float64]) -> bool:
    """Whether distinct whole numbers look like amounts: some are zero or less, more than a third are
    rounded to tens, or the upper half reaches much farther than the lower one.
    """
    low, middle, high = np.quantile(distinct, [0.25, 0.5, 0.95])
    return bool(
        distinct.min() <= 0 or np.mean(distinct % 10 == 0) > 1 / 3 or high - middle > 3 * (middle - low)
    )


def _identical(
    table: pa.Table, columns: list[ColumnProfile], numeric: Mapping[str, NDArray[np.float64]]
) -> tuple[tuple[str, ...], ...]:
    """Groups of columns that are the same; those of one value or of none do not count."""
    groups: list[list[ColumnProfile]] = []
    for column in columns:
        if column.distinct < 2 or column.kind == "other":
            continue
        for group in groups:
            if _are_the_same_column(table, group[0], column, numeric):
                group.append(column)
                break
        else:
            groups.append([column])
    return tuple(tuple(column.name for column in group) for group in groups if len(group) > 1)


def _are_the_same_column(
    table: pa.Table, one: ColumnProfile, other: ColumnProfile, numeric: Mapping[str, NDArray[np.float64]]
) -> bool:
    counts = attrgetter("kind", "distinct", "missing", "rarest")
    if counts(one) != counts(other):
        return False
    if one.name in numeric and other.name in numeric:
        return np.array_equal(numeric[one.name], numeric[other.name], equal_nan=True)
    return table[one.name].equals(table[other.name])


def _sums_among_columns(
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
