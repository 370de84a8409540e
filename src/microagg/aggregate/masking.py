"""Groups and policies turned into the table that is to be released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.aggregate.groups import values_by_group
from microagg.aggregate.noise import with_noise
from microagg.aggregate.rounding import rounded, with_decimals
from microagg.arrow_values import from_numbers, from_numpy
from microagg.columns import decimals_of
from microagg.hidden_values import without_hidden_values
from microagg.model import Doubles, Microdata, Origin, Partition
from microagg.plan.protection import Protection
from microagg.prepare.strata import Strata
from microagg.prepare.tasks import Task
from microagg.secret_key import SecretKey

MORE_DECIMALS = 2
"""By default a mean is published with this many decimals more than the source has."""


@dataclass(frozen=True, slots=True, eq=False)
class Masked:
    """New values of the columns that change, for the records that are released."""

    columns: dict[str, Doubles]
    whole: frozenset[str]
    """Those of them that hold whole numbers only."""


def masked(
    protection: Protection,
    numbers: Mapping[str, Doubles],
    weights: Doubles | None,
    tasks: Sequence[Task],
    partitions: Sequence[Partition],
    key: SecretKey,
) -> Masked:
    """What the groups publish: NaN where a value is missing or was given up.

    `numbers` and `weights` are those of the released records; noise comes from the key.
    """
    columns: dict[str, Doubles] = {}
    decimals = {column: _decimals(protection, column, numbers[column]) for column in protection.changed}
    for number, subset in enumerate((*protection.subsets, *protection.own_subsets)):
        own = [
            (task, found) for task, found in zip(tasks, partitions, strict=True) if task.subset == number
        ]
        of_subset = masked_subset(subset, numbers, weights, own, protection.aggregate, decimals)
        for column in subset:
            columns[column], _ = of_subset[column]
    if protection.noised:
        share = protection.noise
        values = np.stack([numbers[column] for column in protection.noised], axis=1)
        noisy = with_noise(values, protection.noised, share, protection.confidential_as != "noise", key)
        for column, new in zip(protection.noised, noisy.T, strict=True):
            places = decimals[column]
            columns[column] = new if places is None else with_decimals(new, places)
    whole = frozenset(column for column, places in decimals.items() if places == 0)
    return Masked(columns, whole)


def masked_subset(
    subset: Sequence[str],
    numbers: Mapping[str, Doubles],
    weights: Doubles | None,
    own: Sequence[tuple[Task, Partition]],
    how: str,
    decimals: Mapping[str, int | None],
) -> dict[str, tuple[Doubles, Doubles]]:
    """By column: the rounded value of each record, and how many records, or how much weight, each group has
    that publishes one. `own` are the groups of this subset; they hold all records.
    """
    group, shares = _numbered(own, weights, len(numbers[subset[0]]))
    published = np.full((len(shares), len(subset)), np.nan)
    first = 0
    for task, found in own:
        end = first + found.groups
        if task.columns:
            values = np.stack([numbers[column][task.rows] for column in task.columns], axis=1)
            own_weights = None if weights is None else weights[task.rows]
            places = [subset.index(column) for column in task.columns]
            published[first:end, places] = values_by_group(values, found.labels, how, own_weights)
        first = end
    columns = {}
    for at, column in enumerate(subset):
        present = ~np.isnan(published[:, at])
        values = published[present, at]
        published[present, at] = rounded(values, shares[present], decimals[column])
        columns[column] = published[group, at], shares[present]
    return columns


def _decimals(protection: Protection, column: str, values: Doubles) -> int | None:
    if column in protection.decimals:
        return protection.decimals[column]
    found = decimals_of(values)
    return None if found is None else found + MORE_DECIMALS


def _numbered(
    own: Sequence[tuple[Task, Partition]], weights: Doubles | None, n: int
) -> tuple[NDArray[np.int64], Doubles]:
    """The group of each record, numbered through all tasks, and how many records, or how much weight, each
    group has.
    """
    group = np.empty(n, dtype=np.int64)
    count = 0
    for task, found in own:
        group[task.rows] = found.labels + count
        count += found.groups
    return group, np.bincount(group, weights=weights, minlength=count).astype(np.float64)


def released_table(
    source: pa.Table, rows: NDArray[np.int64], protection: Protection, strata: Strata, new: Masked
) -> pa.Table:
    """The source's columns for these rows of `strata`, with the new values, without the dropped ones.

    Categories are those that the released records have, in an order that shows nothing of the order before
    shuffling; nothing is left under nulls.
    """
    names = [name for name in source.column_names if name not in protection.drop]
    columns: list[Any] = []
    for name in names:
        if name in new.columns:
            columns.append(_array(new.columns[name][rows], name in new.whole))
        elif name in strata.recoded:
            columns.append(strata.recoded[name].take(from_numpy(rows)))
        else:
            columns.append(source.column(name).take(from_numpy(strata.rows[rows])))
    return without_hidden_values(pa.Table.from_arrays(columns, names=names), sort=not protection.keep_order)


def released_origin(source: Microdata, released: pa.Table) -> Origin:
    """What is known of the source, without labels of codes that suppressed records alone had."""
    labels = source.origin.labels
    if labels is None or released.num_rows == source.table.num_rows:
        return source.origin
    kept = {}
    for name, texts in labels.value_labels.items():
        if name in released.column_names:
            before, after = (set(table[name].unique().to_pylist()) for table in (source.table, released))
            kept[name] = {code: text for code, text in texts.items() if code not in before - after}
    return replace(source.origin, labels=replace(labels, value_labels=kept))


def _array(values: Doubles, whole: bool) -> pa.Array[Any]:
    array = from_numbers(values)
    return array.cast(pa.int64()) if whole and np.nanmax(np.abs(values), initial=0.0) < 2**53 else array
