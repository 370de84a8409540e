"""Strata: groups never cross them; what becomes of those that are too small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from microagg import wording
from microagg.arrow_values import scalar, to_numpy
from microagg.settings.policy import ProtectionPolicy

Positions = NDArray[np.int64]

UNPLACED = -1
"""The stratum of a record that joins the nearest group when there are groups."""


@dataclass(frozen=True, slots=True, eq=False)
class Strata:
    """The stratum of each record that is released.

    `rows`: those records, as rows of the source; `of`: the stratum of each, from 0 on; `count`: strata;
    `suppressed`: records that are left out.
    """

    rows: Positions
    of: Positions
    count: int
    suppressed: int = 0
    codes: NDArray[np.int64] | None = None
    """With records that join the nearest group: (records, strata columns) the place of each code of the
    source among those of its column.
    """
    examples: Positions | None = None
    """With such records: one of each stratum that has it in the source."""


def strata_by_settings(
    table: pa.Table, protection: ProtectionPolicy, counts: Positions | None = None
) -> Strata:
    """`strata_of` the columns that are strata, with small ones treated as the settings say."""
    return strata_of(table, protection.strata, protection.k, protection.small_strata, counts)


def strata_of(
    table: pa.Table, columns: Sequence[str], k: int, policy: str, counts: Positions | None = None
) -> Strata:
    """One stratum for each combination of values that occurs; a missing value is a value.

    Those with fewer than k records are refused, left out, or get no stratum until they join the nearest
    group. With `counts`, each row of the table stands for that number of records.
    """
    n = table.num_rows
    counts = np.ones(n, dtype=np.int64) if counts is None else counts
    records = int(counts.sum())
    if not columns:
        if records < k:
            raise wording.k_above_n(k, records)
        return Strata(np.arange(n), np.zeros(n, dtype=np.int64), 1)
    codes = np.stack([_sorted_places(table.column(name), name, counts) for name in columns], axis=1)
    of = combinations(codes)
    sizes = np.bincount(of, weights=counts).astype(np.int64)
    small = sizes < k
    if not small.any():
        return Strata(np.arange(n), of, len(sizes))
    if policy == "refuse":
        raise wording.strata_too_small(int(small.sum()), len(sizes), int(sizes.min()), k, columns)
    if small.all():
        raise wording.all_suppressed(k) if policy == "suppress" else wording.no_group_to_join(k)
    renumbered = np.where(small, UNPLACED, np.cumsum(~small) - 1)
    count = int((~small).sum())
    if policy == "nearest":
        examples = np.unique(of, return_index=True)[1][~small]
        return Strata(np.arange(n), renumbered[of], count, codes=codes, examples=examples)
    rows = np.flatnonzero(~small[of])
    return Strata(rows, renumbered[of[rows]], count, int(sizes[small].sum()))


def _sorted_places(column: pa.ChunkedArray[Any], name: str, counts: Positions) -> Positions:
    """The place of each value among the sorted distinct ones; missing values come last."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.cast(column.type.storage_type)
    if pa.types.is_nested(column.type) or pa.types.is_interval(column.type):
        raise wording.no_codes(name, str(column.type))
    if pa.types.is_floating(column.type):
        strange = to_numpy(compute.is_nan(column).fill_null(False))
        if strange.any():
            raise wording.nan_as_code(name, int(counts[strange].sum()))
    encoded = column.combine_chunks().dictionary_encode()
    order = to_numpy(compute.sort_indices(encoded.dictionary))
    place: Positions = np.empty(len(order) + 1, dtype=np.int64)
    place[order] = np.arange(len(order))
    place[-1] = len(order)
    last = scalar(len(order), encoded.indices.type)
    indices: Positions = to_numpy(encoded.indices.fill_null(last))
    return np.asarray(place[indices])


def combinations(codes: NDArray[np.integer[Any]]) -> Positions:
    """Which of the distinct rows, in their order, each row is."""
    of = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:
        _, of = np.unique(of * (int(column.max()) + 1) + column, return_inverse=True)
    return of
