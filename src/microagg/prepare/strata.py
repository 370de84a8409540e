"""Strata: groups never cross them; those that are too small are refused, merged or left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from microagg import wording
from microagg.arrow_types import is_binary
from microagg.arrow_values import from_numpy, from_texts, scalar, to_numpy

Positions = NDArray[np.int64]

MISSING_CODE = "NA"
"""Stands for a missing value in the codes of merged strata."""


@dataclass(frozen=True, slots=True, eq=False)
class Strata:
    """The stratum of each record that is released, and the columns' codes where some were merged.

    `rows`: those records, as rows of the source; `of`: the stratum of each, from 0 on; `count`: strata;
    `recoded`: by column, new codes for `rows`; `merged`, `suppressed`: how many records that concerns.
    """

    rows: Positions
    of: Positions
    count: int
    recoded: dict[str, pa.Array[Any]]
    merged: int = 0
    suppressed: int = 0


def strata_of(
    table: pa.Table, columns: Sequence[str], k: int, policy: str, counts: Positions | None = None
) -> Strata:
    """One stratum for each combination of values that occurs; a missing value is a value.

    Those with fewer than k records are refused, or merged with each other in the order of their codes (with
    the smallest of the others, if they are fewer than k together), or left out. With `counts`, each row
    of the table stands for that number of records.
    """
    n = table.num_rows
    counts = np.ones(n, dtype=np.int64) if counts is None else counts
    records = int(counts.sum())
    if not columns:
        if records < k:
            raise wording.k_above_n(k, records)
        return Strata(np.arange(n), np.zeros(n, dtype=np.int64), 1, {})
    codes = np.stack([_codes(table.column(column), column) for column in columns], axis=1)
    combinations, of = _combinations(codes)
    sizes = np.bincount(of, weights=counts).astype(np.int64)
    small = sizes < k
    if not small.any():
        return Strata(np.arange(n), of, len(sizes), {})
    if policy == "refuse":
        raise wording.strata_too_small(int(small.sum()), len(sizes), int(sizes.min()), k, columns)
    if policy == "suppress":
        if small.all():
            raise wording.all_suppressed(k)
        rows = np.flatnonzero(~small[of])
        renumbered = np.cumsum(~small) - 1
        left_out = int(sizes[small].sum())
        return Strata(rows, renumbered[of[rows]], int((~small).sum()), {}, suppressed=left_out)
    if records < k:
        raise wording.k_above_n(k, records)
    target = _merged(sizes, k)
    recoded = _recode(table, columns, codes, combinations, of, target)
    _, numbered = np.unique(target, return_inverse=True)
    members = np.bincount(target, minlength=len(sizes))
    affected = members[target] > 1
    return Strata(
        np.arange(n), numbered[of], int(numbered.max()) + 1, recoded, merged=int(sizes[affected].sum())
    )


def _codes(column: pa.ChunkedArray[Any], name: str) -> Positions:
    """The place of each value among the sorted distinct ones; missing values come last."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.cast(column.type.storage_type)
    if pa.types.is_nested(column.type) or pa.types.is_interval(column.type):
        raise wording.no_codes(name, str(column.type))
    if pa.types.is_floating(column.type):
        strange = int(np.isnan(to_numpy(column.drop_null())).sum())
        if strange:
            raise wording.nan_as_code(name, strange)
    encoded = column.combine_chunks().dictionary_encode()
    order = to_numpy(compute.sort_indices(encoded.dictionary))
    place: Positions = np.empty(len(order) + 1, dtype=np.int64)
    place[order] = np.arange(len(order))
    place[-1] = len(order)
    last = scalar(len(order), encoded.indices.type)
    indices: Positions = to_numpy(encoded.indices.fill_null(last))
    return np.asarray(place[indices])


def _combinations(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], Positions]:
    """The distinct rows, sorted, and which of them each row is."""
    of = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:
        _, of = np.unique(of * (int(column.max()) + 1) + column, return_inverse=True)
    first = np.zeros(int(of.max()) + 1, dtype=np.int64)
    first[of] = np.arange(len(of))
    return codes[first], of


def _merged(sizes: Positions, k: int) -> Positions:
    """For each stratum the one that it is merged into; itself, if it stays alone."""
    target = np.arange(len(sizes))
    open_: list[int] = []
    records, last = 0, -1
    for stratum in np.flatnonzero(sizes < k).tolist():
        open_.append(stratum)
        records += int(sizes[stratum])
        if records >= k:
            last = open_[0]
            target[open_] = last
            open_, records = [], 0
    if open_:
        if last < 0:
            large = np.flatnonzero(sizes >= k)
            last = int(large[np.argmin(sizes[large])])
        target[open_] = last
    return target


def _recode(
    table: pa.Table,
    columns: Sequence[str],
    codes: NDArray[np.int64],
    combinations: NDArray[np.int64],
    of: Positions,
    target: Positions,
) -> dict[str, pa.Array[Any]]:
    """Codes such as C+D for the merged strata: in each column the values that it joins."""
    recoded: dict[str, pa.Array[Any]] = {}
    # The members of each merged stratum, all of them in one pass.
    order = np.argsort(target, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(target[order])) + 1)
    merged = [members for members in groups if len(members) > 1]
    for at, column in enumerate(columns):
        rows_of_code = np.zeros(int(codes[:, at].max()) + 1, dtype=np.int64)
        rows_of_code[codes[:, at]] = np.arange(len(codes))
        values = table.column(column).take(from_numpy(rows_of_code)).to_pylist()
        texts = [None if value is None else str(value) for value in values]
        names: list[str | None] = [texts[code] for code in combinations[:, at]]
        known = set(texts)
        changed = False
        for members in merged:
            joined = sorted(set(combinations[members, at].tolist()))
            if len(joined) < 2:
                continue
            changed = True
            name = "+".join(texts[code] or MISSING_CODE for code in joined)
            if name in known:
                raise wording.codes_collide(column)
            for member in members:
                names[member] = name
        if changed:
            kind = table.schema.field(column).type
            if pa.types.is_time(kind) or pa.types.is_duration(kind) or is_binary(kind):
                raise wording.codes_not_merged(column, str(kind))
            recoded[column] = from_texts(names).take(from_numpy(of))
    return recoded
