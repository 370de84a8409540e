"""The records of two files, one by one the same respondents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from microagg import wording
from microagg.arrow_types import is_text
from microagg.arrow_values import from_numbers, from_numpy, from_texts, scalar, to_numpy
from microagg.columns import numbers_or_none, plain
from microagg.model import Microdata

ORIGINAL, PROTECTED = "original", "protected"
"""What messages call the two files."""


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """Columns of both files that are no keys, and how they agree, record by record.

    `same`: in all records; `differing`: in how many they do not.
    """

    same: tuple[str, ...]
    differing: dict[str, int]


def rows_matched(original: Microdata, protected: Microdata, column: str | None) -> NDArray[np.int64]:
    """For each protected record its row of the original: by order, or by the values of an id column.

    `DataError` where that is not one to one. Only with an id may there be fewer protected records.
    """
    before, after = original.table.num_rows, protected.table.num_rows
    if column is None:
        if before != after:
            raise wording.different_records(before, after)
        return np.arange(before)
    for ids, wanted in comparable_values(original, protected, column):
        for which, values in ((ORIGINAL, ids), (PROTECTED, wanted)):
            gaps = values.null_count
            if gaps:
                raise wording.missing_ids(column, which, gaps)
            repeated = len(values) - len(values.unique())
            if repeated:
                raise wording.repeated_ids(column, which, repeated)
        found = compute.index_in(wanted, value_set=ids)
        if not found.null_count:
            return to_numpy(found).astype(np.int64)
    raise wording.unknown_ids(column, found.null_count, len(found))


def agreement(
    original: Microdata,
    protected: Microdata,
    rows: NDArray[np.int64],
    columns: Sequence[str],
    by_order: bool,
) -> Agreement:
    """How these columns of both files agree.

    `DataError` if records were matched by order, but the files seem to have different ones: values that
    are the same in another order, and no column that agrees throughout.
    """
    same: list[str] = []
    differing: dict[str, int] = {}
    has_several_values, moved = False, ""
    for column in columns:
        for before, after in comparable_values(original, protected, column):
            count = _different(before.take(from_numpy(rows)), after)
            if not count:
                break
        if count:
            differing[column] = count
            moved = moved or (column if by_order and _same_values(before, after) else "")
        else:
            same.append(column)
            has_several_values = has_several_values or len(after.unique()) > 1
    if moved and not has_several_values:
        raise wording.other_order(moved, differing[moved], len(rows))
    return Agreement(tuple(same), differing)


def comparable_values(original: Microdata, protected: Microdata, column: str) -> Iterator[tuple[Any, Any]]:
    """A column of both files in one type, null where missing: as text, if both are, and as numbers.

    As text 007 differs from 7; as numbers 1.50 and 1.5 are equal.
    """
    before, after = (plain(each.table.column(column)) for each in (original, protected))
    return comparable_columns(before, after, (original.origin.decimal, protected.origin.decimal))


def comparable_columns(
    before: pa.ChunkedArray[Any], after: pa.ChunkedArray[Any], decimals: tuple[str, str]
) -> Iterator[tuple[Any, Any]]:
    """Two columns in one type; `decimals`: their decimal signs."""
    are_text = is_text(before.type) and is_text(after.type)
    if are_text:
        yield _texts(before), _texts(after)
    numbers = numbers_or_none(before, decimals[0]), numbers_or_none(after, decimals[1])
    if numbers[0] is not None and numbers[1] is not None:
        yield from_numbers(numbers[0]), from_numbers(numbers[1])
    elif not are_text:
        yield _texts(before), _texts(after)


def joint_codes(before: pa.Array[Any], after: pa.Array[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The place of each value among the sorted distinct ones of both; missing ones come last."""
    both = pa.concat_arrays([before, after])
    places = to_numpy(compute.rank(both, tiebreaker="dense")).astype(np.int64) - 1
    return places[: len(before)], places[len(before) :]


def _texts(values: pa.ChunkedArray[Any]) -> pa.Array[Any]:

    try:
        cast = values.cast(pa.large_string())
    except pa.ArrowException:  # lists, structures
        listed = [None if value is None else str(value) for value in values.to_pylist()]
        return from_texts(listed)
    return cast.combine_chunks() if isinstance(cast, pa.ChunkedArray) else cast


def _different(before: Any, after: Any) -> int:
    unequal = compute.fill_null(compute.not_equal(before, after), scalar(False, pa.bool_()))
    one_missing = compute.xor(compute.is_null(before), compute.is_null(after))
    return int(compute.sum(compute.or_(unequal, one_missing)).as_py() or 0)


def _same_values(before: Any, after: Any) -> bool:
    first, second = (each.take(compute.sort_indices(each)) for each in (before, after))
    return bool(first.equals(second))
