"""Keys of any kind of an original and a protected file, as numbers that mean the same in both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from microagg import errors, read, wording
from microagg.arrow_types import is_text
from microagg.arrow_values import is_missing, to_numpy
from microagg.assessment.matching import ORIGINAL, PROTECTED, comparable_columns
from microagg.columns import numbers_or_none, plain, trim_and_null
from microagg.model import Doubles, Microdata
from microagg.plan.assessment_plan import AssessmentPlan
from microagg.prepare.dates import date_format_of
from microagg.prepare.key_columns import KeyColumn, key_column, without_codes

Kinds = Mapping[str, KeyColumn]
"""By key that holds no numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class KeyValues:
    """A key before, in all records of the original, and after, in all of the protected file."""

    before: Doubles
    after: Doubles
    kind: str
    is_yes_no: bool
    paths: NDArray[np.int32] | None = None
    """Of a taxonomy: by code what stands above it at each level; a code of another tool is apart."""


def keys_of_original(
    original: Microdata, plan: AssessmentPlan
) -> tuple[dict[str, Doubles], dict[str, KeyColumn]]:
    """The keys as numbers, and what they stand for where they hold no numbers."""
    numbers, kinds = {}, {}
    try:
        for name in plan.keys:
            numbers[name], kind = key_column(original, name, plan.policy)
            if kind is not None:
                kinds[name] = kind
    except errors.DataError as error:
        raise wording.in_file(ORIGINAL, original.origin.name, error) from None
    return numbers, kinds


def key_values(
    protected: Microdata, plan: AssessmentPlan, numbers: Mapping[str, Doubles], kinds: Kinds
) -> dict[str, KeyValues]:
    """Each key of both files; `numbers` and `kinds` are those of the original."""
    found = {}
    for name in plan.keys:
        try:
            found[name] = _before_and_after(protected, name, plan, numbers[name], kinds.get(name))
        except errors.DataError as error:
            raise wording.in_file(PROTECTED, protected.origin.name, error) from None
    return found


def _before_and_after(
    protected: Microdata, name: str, plan: AssessmentPlan, before: Doubles, kind: KeyColumn | None
) -> KeyValues:
    codes = plan.missing_codes.get(name, ())
    column = protected.table.column(name)
    is_yes_no = kind is not None and _is_yes_no(kind)
    if is_yes_no and name not in plan.nominal:
        numbers = numbers_or_none(column, protected.origin.decimal)
        yes_or_no = [0.0, 1.0, *(code for code in codes if not isinstance(code, str))]
        if numbers is not None and not np.isin(numbers[~np.isnan(numbers)], yes_or_no).all():
            # Another tool has published means: shares of those who answered yes.
            kind, is_yes_no, before = None, False, np.where(before <= 1.0, before, np.nan)
    if kind is None:
        return KeyValues(before, read.numbers_of(protected, name, codes), "number", False)
    values = without_codes(plain(column), codes)
    if kind.dates is not None:
        return KeyValues(before, _dates(values, name, kind), kind.kind, False)
    after = _places(values, name, kind, protected.origin.decimal)
    return KeyValues(before, after, kind.kind, is_yes_no, _paths_with_new_codes(kind.paths, after))


def _paths_with_new_codes(paths: NDArray[np.int32] | None, codes: Doubles) -> NDArray[np.int32] | None:
    if paths is None:
        return None
    more = max(int(codes.max()) + 1 - len(paths), 0)
    nodes = paths.max() + 1 + np.arange(more, dtype=np.int32)
    return np.vstack([paths, np.repeat(nodes[:, np.newaxis], paths.shape[1], axis=1)])


def _is_yes_no(kind: KeyColumn) -> bool:
    if kind.kind != "nominal" or kind.levels is None:
        return False
    return list(kind.levels.drop_null().to_pylist()) == [0, 1]


def _dates(values: pa.ChunkedArray[Any], name: str, kind: KeyColumn) -> Doubles:
    """Seconds; as the original writes dates, or as the protected file does."""
    assert kind.dates is not None
    held = values.type
    values = trim_and_null(values) if is_text(held) else values
    if not (is_text(held) or pa.types.is_date(held) or pa.types.is_timestamp(held)):
        raise wording.not_the_kind_of_original(name, "dates")
    if is_text(held) and kind.dates.text:
        try:
            return kind.dates.numbers(values)
        except pa.ArrowInvalid:
            pass
    return date_format_of(values, name, None, values.type).numbers(values)


def _places(values: pa.ChunkedArray[Any], name: str, kind: KeyColumn, decimal: str) -> Doubles:
    """The place of each value among the original's; other categories are numbered after them."""
    assert kind.levels is not None
    levels = plain(pa.chunked_array([kind.levels]))
    for known, own in comparable_columns(levels, values, (".", decimal)):
        places = compute.index_in(own, value_set=known)
        is_known = ~is_missing(places)
        is_new = ~is_known & (~is_missing(own) | (kind.kind == "nominal"))
        if not is_new.any():
            break
    found = np.where(is_known, np.asarray(to_numpy(places.cast(pa.float64()))), np.nan)
    if not is_new.any():
        return found
    if kind.kind == "ordinal":
        raise wording.new_levels(name, int(is_new.sum()))
    if not is_known.any():
        raise wording.no_common_categories(name)
    _, others = np.unique(
        np.asarray(own.dictionary_encode(null_encoding="encode").indices)[is_new], return_inverse=True
    )
    found[is_new] = len(levels) + others
    return found
