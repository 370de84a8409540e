"""What a release promises, derived from the settings and the source alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from microagg.arrow_values import from_numbers, from_texts, in_one_piece, scalar
from microagg.model import Claims, Doubles
from microagg.settings.policy import ProtectionPolicy
from microagg.verify.threads import in_threads
from microagg.verify.values import MISSING_TEXTS, is_text, numbers, plain

if TYPE_CHECKING:
    from microagg.verify.key_readings import KeyReading

MORE_DECIMALS = 2
"""Unless decimals are given, values are published with this many more than the source has."""

MOST_DECIMALS = 9
"""Numbers with more decimals in the source are published as they come out."""


@dataclass(frozen=True, slots=True)
class Notation:
    """How a source writes its numbers: what is needed to read them by other code than the reader's."""

    decimal: str = "."
    text_is_numbers: bool = False
    """As in a CSV file."""
    missing_ranges: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """By column: codes, and ranges of codes, that the file itself declares as missing."""
    value_labels: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    """By column: what its codes mean."""


def promises_of(
    policy: ProtectionPolicy,
    columns: Sequence[str],
    decimals: Mapping[str, int | None],
    readings: Mapping[str, KeyReading] = MappingProxyType({}),
) -> Claims:
    """What is promised about a source with these columns, of which `decimals` are those of numbers, and
    `readings` those of keys that hold dates or categories.
    """
    published: dict[str, int | None] = {}
    for column in policy.changed:
        own = None if column in readings else decimals.get(column)
        published[column] = policy.decimals.get(column, None if own is None else own + MORE_DECIMALS)
    derived: dict[str, Any] = {
        "may_set_to_missing": policy.missing == "by-pattern",
        "noise": policy.noise if policy.noised else None,
        "dropped": policy.left_out(columns),
        "decimals": published,
        "rounding": {column: rounding_of(published[column]) for column in policy.grouped},
        "kinds": {name: each.kind for name, each in readings.items()},
        "taxonomy": {name: each.taxonomy for name, each in readings.items() if each.taxonomy},
        "resolution": {name: each.resolution for name, each in readings.items() if each.kind == "date"},
    }
    return Claims(**{**policy.given_to(Claims), **derived})


def with_mean_tolerance(claims: Claims, largest: Mapping[str, float]) -> Claims:
    """The same, and how far means may move: nothing is promised for medians and clipped values.

    `largest`: by column, the largest share of records, or of weight, that publish one value. Whole numbers
    are rounded up or down so that totals are kept, as far as the sizes of groups allow.
    """
    if claims.aggregate == "median" or claims.clip:
        return claims
    tolerance = {}
    for column, share in largest.items():
        if column in claims.kinds or claims.follows_tables(column):
            continue
        decimals = claims.decimals.get(column)
        unit = 0.0 if decimals is None else 0.5 * 10.0**-decimals
        tolerance[column] = unit * share if decimals == 0 else unit
    return replace(claims, mean_tolerance=tolerance)


def rounding_of(decimals: int | None) -> float:
    """How far rounding may move one value: whole numbers are rounded up or down."""
    if decimals is None:
        return 0.0
    return 1.0 if decimals == 0 else 0.5 * 10.0**-decimals


def source_as_counted(source: pa.Table, policy: ProtectionPolicy, notation: Notation) -> pa.Table:
    """The source in which columns to be masked are doubles, null where missing.

    A column that holds other things than numbers stays as it is, and is refused later.
    """

    def counted(column: str) -> Doubles | None:
        codes, ranges = policy.missing_codes.get(column, ()), notation.missing_ranges.get(column, ())
        return numbers_as_counted(source.column(column), codes, notation, ranges)

    table = source
    columns = [column for column in policy.changed if column in source.column_names]
    for column, found in zip(columns, in_threads(counted, columns, source.num_rows), strict=True):
        if found is not None:
            table = table.set_column(source.column_names.index(column), column, from_numbers(found))
    return table


def decimals_in(source: pa.Table, columns: Sequence[str]) -> dict[str, int | None]:
    """How many decimals the numbers of these columns have at most; None if these are more than a few."""

    def decimals(column: str) -> int | None:
        values = numbers(source.column(column)) if column in source.column_names else None
        return None if values is None else most_decimals(values)

    return dict(zip(columns, in_threads(decimals, columns, source.num_rows), strict=True))


def numbers_as_counted(
    column: Any, codes: Sequence[float | str], notation: Notation, ranges: Sequence[Any]
) -> Doubles | None:
    """A column as numbers, NaN where missing; None if it holds others."""
    array = plain(column)
    texts = [code for code in codes if isinstance(code, str)]
    if is_text(array.type):
        if not notation.text_is_numbers and not texts:
            return None
        found = _numbers_of_texts(array, texts, notation.decimal)
    else:
        found = np.full(len(array), np.nan) if pa.types.is_null(array.type) else numbers(array)
    if found is None:
        return None
    found = np.array(found)
    limits = [(each["lo"], each["hi"]) if isinstance(each, Mapping) else (each, each) for each in ranges]
    limits += [(code, code) for code in codes if not isinstance(code, str)]
    for low, high in limits:
        if not isinstance(low, str):
            found[(found >= low) & (found <= high)] = np.nan
    return found


def _numbers_of_texts(array: Any, missing: Sequence[str], decimal: str) -> Doubles | None:
    """Text as numbers; None if some text is none."""
    encoded = in_one_piece(pc.utf8_trim_whitespace(array)).dictionary_encode()
    values = encoded.dictionary
    gone = pc.is_in(values, value_set=from_texts([*MISSING_TEXTS, *missing]))
    values = pc.if_else(gone, scalar(None, values.type), values)
    if decimal != ".":
        if pc.any(pc.match_substring(values, ".")).as_py():
            return None
        values = pc.replace_substring(values, decimal, ".")
    try:
        return numbers(values.cast(pa.float64()).take(encoded.indices))
    except pa.ArrowInvalid:  # its message quotes values
        return None


def most_decimals(values: Doubles) -> int | None:
    """How many decimals finite numbers have at most; None if these are more than a few."""
    left = values[np.isfinite(values) & (np.abs(values) < 2.0**53)]  # larger ones are whole
    kind: Any = np.float64
    with np.errstate(all="ignore"):
        if np.array_equal(values[np.isfinite(values)].astype(np.float32), values[np.isfinite(values)]):
            kind = np.float32  # numbers of single precision: 0.1 has one decimal there too
        for decimals in range(MOST_DECIMALS + 1):
            left = left[np.round(left, decimals).astype(kind) != left.astype(kind)]
            if not len(left):
                return decimals
    return None
