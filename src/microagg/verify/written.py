"""Does a written file, read again, hold what was verified?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from microagg.arrow_values import from_numpy, scalar, to_numpy
from microagg.model import Claims
from microagg.verdict import Finding, Verdict, refuse, unsafe_release
from microagg.verify.classes import TableClasses
from microagg.verify.rules import k_counts, k_failures
from microagg.verify.shape import columns_failures
from microagg.verify.values import Mask, as_doubles, differing, is_numeric, is_text, missing, plain

LARGEST_EXACT_INT = 2**53
"""Integers up to here are doubles."""


def check_written(
    released: pa.Table, written: pa.Table, verdict: Verdict, claims: Claims, decimal: str = "."
) -> None:
    """`UnsafeRelease` unless the file has the verified values and holds by itself.

    `written` is the file as read again. Formats may change types, not values: numbers may be text that
    reads as the very same double (with the decimal sign `decimal`), whole numbers and decimals doubles,
    truth values 0 and 1, dates timestamps, categories text, missing text empty, and NaN missing.
    """
    verdict.raise_if_unsafe()
    if failures := written_findings(released, written, verdict, claims, decimal):
        raise unsafe_release(failures)


def written_findings(
    released: pa.Table, written: pa.Table, verdict: Verdict, claims: Claims, decimal: str = "."
) -> list[Finding]:
    """What `check_written` raises, whatever the verdict is."""
    failures = columns_failures(released.column_names, written.column_names, claims.dropped, "written file")
    if not written.num_rows == released.num_rows == verdict.records:
        failures.append(refuse("written_rows_differ", written=written.num_rows, verified=verdict.records))
    if not failures:
        again = verdict_on_file(written, claims)
        failures = [
            refuse("written_differs", name)
            for name in released.column_names
            if not same_values(released.column(name), written.column(name), decimal)
        ] + list(again.findings)
        now, before = again.joint, verdict.joint
        if now is not None and before is not None and now.unique > before.unique:
            failures.append(refuse("written_more_unique", written=now.unique, verified=before.unique))
        failures += [
            refuse("written_categories", name)
            for name in written.column_names
            if not _one_code_each(written.column(name))
        ]
    return failures


def verdict_on_file(written: pa.Table, claims: Claims) -> Verdict:
    """What can be counted in a file alone, without its source: how many records share each combination."""
    classes = TableClasses(written)
    counts, joint = k_counts(claims, lambda names: classes.by(names).counted(names, claims.k))
    keys = len(counts) - len(claims.own_subsets)
    return Verdict(
        claims.k,
        tuple(k_failures(claims, counts)),
        records=written.num_rows,
        subsets=counts[:keys],
        joint=joint,
        own_subsets=counts[keys:],
    )


def _one_code_each(column: Any) -> bool:
    """Whether equal values have one code in the file: a dictionary may hold a value twice, or null."""
    if not kinds.is_dictionary(column.type):
        return True
    found = [plain(chunk.dictionary).dictionary_encode() for chunk in column.chunks]
    return all(not each.null_count and len(each.dictionary) == len(each) for each in found)


def same_values(released: Any, written: Any, decimal: str = ".") -> bool:
    """Whether a column was read as it was released, but for its type."""
    before, after = plain(released), plain(written)
    blank, left = _blank(before), _blank(after)
    if pa.types.is_floating(before.type):  # most formats have no NaN
        blank |= np.isnan(to_numpy(before)) & left
    if (blank != left).any():
        return False
    if blank.any():
        there = from_numpy(~blank)
        before, after = before.filter(there), after.filter(there)
    if not len(before):
        return True
    try:
        return _hold_the_same(before, after, decimal)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # what cannot be read as that type
        return False


def _blank(array: Any) -> Mask:
    """Null or empty text: many formats know only one of them."""
    empty = missing(array)
    if is_text(array.type):
        filled = pc.equal(array, scalar("", array.type)).fill_null(scalar(True, pa.bool_()))
        empty |= to_numpy(filled)
    return empty


def _hold_the_same(before: Any, after: Any, decimal: str) -> bool:
    """Of plain columns without nulls; Arrow's errors if one cannot be read as the other."""
    old, new = before.type, after.type
    if is_numeric(old) and is_text(new):
        found = _numbers_in(after, before, decimal)
        # The fewest digits that mean a number of single precision are fewer than those of its double.
        return _same_numbers(before, found.cast(old) if kinds.is_float32(old) else found)
    if is_numeric(old) and is_numeric(new):
        return _same_numbers(before, after)
    if kinds.is_boolean(old) and is_numeric(new):
        return _same_numbers(before.cast(pa.int8()), after)
    if old == new:
        return not differing(before, after).any()
    if (kinds.is_boolean(old) or kinds.is_temporal(old)) and is_text(new):
        return _same_in_either(before, after)
    if kinds.is_temporal(old) and kinds.is_temporal(new):
        before, after = _with_time(before), _with_time(after)
        same_zone = getattr(before.type, "tz", None) == getattr(after.type, "tz", None)
        return same_zone and _same_in_either(before, after)
    return False


def _with_time(array: Any) -> Any:
    """Dates as timestamps at midnight: the other way round, Arrow would cut off the time of the day."""
    return array.cast(pa.timestamp("ms")) if kinds.is_date(array.type) else array


def _same_in_either(before: Any, after: Any) -> bool:
    """Equal in the type of one of them, whichever can hold the other's values."""
    try:
        return not differing(before, after.cast(before.type)).any()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return not differing(plain(before.cast(after.type)), after).any()


def _numbers_in(texts: Any, like: Any, decimal: str) -> Any:
    """Text read as doubles; as whole numbers where doubles are too coarse for those of `like`."""
    if decimal != ".":
        if pc.any(pc.match_substring(texts, ".")).as_py():
            raise pa.ArrowInvalid("a point where the decimal sign is another")
        texts = pc.replace_substring(texts, decimal, ".")
    doubles = texts.cast(pa.float64())
    if kinds.is_integer(like.type) and not _all_doubles(like):
        return texts.cast(like.type)
    return doubles


def _all_doubles(array: Any) -> bool:
    """Not so for whole numbers that are too large, and for decimals."""
    if kinds.is_integer(array.type):
        least, most = pc.min(array).as_py(), pc.max(array).as_py()
        return bool(least >= -LARGEST_EXACT_INT and most <= LARGEST_EXACT_INT)
    return not kinds.is_decimal(array.type)


def _same_numbers(before: Any, after: Any) -> bool:
    """Equal as numbers: 0.0 is -0.0, NaN is NaN; a double may stand for the decimal nearest to it."""
    arrays = (before, after)
    whole = [array.type for array in arrays if kinds.is_integer(array.type)]
    if whole and not all(map(_all_doubles, arrays)):
        return not differing(before.cast(whole[0]), after.cast(whole[0])).any()
    if kinds.is_decimal(before.type) and kinds.is_decimal(after.type):
        wide = pa.decimal256(76, max(before.type.scale, after.type.scale))
        return not differing(before.cast(wide), after.cast(wide)).any()
    one, other = (to_numpy(as_doubles(array)) for array in arrays)
    return bool(((one == other) | (np.isnan(one) & np.isnan(other))).all())
