"""Groups and policies turned into the table that is to be released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg import wording
from microagg.aggregate.covariances import clipped, with_covariances
from microagg.aggregate.existing import nearest_existing
from microagg.aggregate.grouped import Grouped
from microagg.aggregate.noise import with_noise
from microagg.aggregate.rounding import rounded, with_decimals
from microagg.aggregate.tables import TableColumn, by_tables, column_of_tables, other_column
from microagg.arrow_values import from_numbers, from_numpy
from microagg.columns import decimals_of
from microagg.formats.hidden_values import without_hidden_values
from microagg.model import Doubles, Microdata, Origin, Partition
from microagg.plan.protection import Protection
from microagg.prepare.key_columns import KeyColumn
from microagg.prepare.prepared import Prepared
from microagg.prepare.strata import Strata
from microagg.secret_key import SecretKey

MORE_DECIMALS = 2
"""By default a mean is published with this many decimals more than the source has."""


@dataclass(frozen=True, slots=True, eq=False)
class Masked:
    """New values of the columns that change, for the records that are released."""

    columns: dict[str, Doubles]
    whole: frozenset[str]
    """Those of them that hold whole numbers only."""
    representatives: dict[str, Doubles] = field(default_factory=dict)
    """Of columns whose groups publish something else than their middle: that, before it was rounded."""


def masked(
    source: pa.Table,
    protection: Protection,
    prepared: Prepared,
    partitions: Sequence[Partition],
    key: SecretKey,
) -> Masked:
    """What the groups publish: NaN where a value is missing or was given up. Noise comes from the key."""
    columns: dict[str, Doubles] = {}
    representatives: dict[str, Doubles] = {}
    numbers, kinds, weights = prepared.kept, prepared.kinds, prepared.weights
    # As many decimals as the source has, with the records that are left out.
    decimals = {
        column: None if column in kinds else _decimals(protection, column, prepared.numbers[column])
        for column in protection.changed
    }
    others = _unmasked(source, protection, prepared.strata) if protection.categories == "tables" else []
    for number, subset in enumerate(protection.all_subsets):
        own = [
            (task, found)
            for task, found in zip(prepared.tasks.tasks, partitions, strict=True)
            if task.subset == number
        ]
        grouped = Grouped.of(subset, numbers, kinds, weights, own)
        new, own_representatives = masked_subset(grouped, protection, decimals, others)
        if protection.categories == "tables":
            others += [other_column(grouped, column, new[column]) for column in subset]
        columns |= new
        representatives |= own_representatives
    if protection.noised:
        share = protection.noise
        values = np.stack([numbers[column] for column in protection.noised], axis=1)
        noisy = with_noise(values, protection.noised, share, protection.confidential_as != "noise", key)
        for column, noised in zip(protection.noised, noisy.T, strict=True):
            places = decimals[column]
            columns[column] = noised if places is None else with_decimals(noised, places)
    whole = frozenset(column for column, places in decimals.items() if places == 0)
    return Masked(columns, whole, representatives)


def masked_subset(
    grouped: Grouped,
    protection: Protection,
    decimals: Mapping[str, int | None],
    others: Sequence[TableColumn] = (),
    overall: Mapping[str, Doubles] | None = None,
) -> tuple[dict[str, Doubles], dict[str, Doubles]]:
    """By column: the rounded value of each record, and what it is made from where groups publish something
    else than their middle. `others`: columns of which tables are kept too; `overall` as for
    `Grouped.middles`.
    """
    middles = grouped.middles(protection.aggregate, overall)
    published = middles.copy()
    if protection.aggregate == "covariances":
        moved = with_covariances(grouped, middles)
        for column, values in (clipped(moved, grouped.values) if protection.clip else moved).items():
            if np.isinf(values).any():
                raise wording.too_large_for_covariances(column)
            published[:, grouped.columns.index(column)] = values
    if protection.categories != "mode" and any(map(grouped.is_category, grouped.columns)):
        published = chosen(grouped, published, decimals, others, protection)
    representatives = {
        column: published[grouped.group, at]
        for at, column in enumerate(grouped.columns)
        if not np.array_equal(published[:, at], middles[:, at], equal_nan=True)
    }
    columns = {}
    for at, column in enumerate(grouped.columns):
        present = ~np.isnan(published[:, at])
        values, shares = published[present, at], grouped.shares[present]
        published[present, at] = rounded(values, shares, decimals[column])
        columns[column] = published[grouped.group, at]
    return columns, representatives


def chosen(
    grouped: Grouped,
    middles: Doubles,
    decimals: Mapping[str, int | None],
    others: Sequence[TableColumn],
    protection: Protection,
) -> Doubles:
    """(groups, columns) By `categories`. Numbers follow only where their means are asked for."""
    if protection.categories == "existing":
        return nearest_existing(grouped, middles)
    pairs = protection.categories == "tables"
    follow = pairs and protection.aggregate == "mean"
    return by_tables(grouped, middles, decimals, others, pairs=pairs, numbers_follow=follow)


def _unmasked(source: pa.Table, protection: Protection, strata: Strata) -> list[TableColumn]:
    """Strata and confidential columns that stay as they are, for the records that are released."""
    found = []
    for name in (*protection.strata, *protection.confidential):
        if name in protection.changed:
            continue
        column = source.column(name)
        before = released = strata.rows
        if name in protection.strata and strata.examples is not None:
            released = strata.examples[strata.of]
        found.append(column_of_tables(column, before, released))
    return found


def _decimals(protection: Protection, column: str, values: Doubles) -> int | None:
    if column in protection.decimals:
        return protection.decimals[column]
    found = decimals_of(values)
    return None if found is None else found + MORE_DECIMALS


def released_table(
    source: pa.Table,
    rows: NDArray[np.int64],
    protection: Protection,
    strata: Strata,
    kinds: Mapping[str, KeyColumn],
    new: Masked,
) -> pa.Table:
    """The source's columns for these rows of `strata`, with the new values, without the dropped ones.

    Categories are those that the released records have, in an order that shows nothing of the order before
    shuffling; nothing is left under nulls.
    """
    names = [name for name in source.column_names if name not in protection.drop]
    columns: list[Any] = []
    for name in names:
        if name in kinds:
            columns.append(kinds[name].published(new.columns[name][rows]))
        elif name in new.columns:
            columns.append(_array(new.columns[name][rows], name in new.whole))
        elif name in protection.strata and strata.examples is not None:
            columns.append(source.column(name).take(from_numpy(strata.examples[strata.of[rows]])))
        else:
            columns.append(source.column(name).take(from_numpy(strata.rows[rows])))
    return without_hidden_values(pa.Table.from_arrays(columns, names=names), sort=not protection.keep_order)


def released_origin(source: Microdata, released: pa.Table, coded: Sequence[str]) -> Origin:
    """What is known of the source, without labels of codes that no record has any more.

    `coded`: columns that hold codes and may have changed.
    """
    labels = source.origin.labels
    if labels is None:
        return source.origin
    kept = {}
    left_out = released.num_rows < source.table.num_rows
    for name, texts in labels.value_labels.items():
        if name in released.column_names and not left_out and name not in coded:
            kept[name] = texts
        elif name in released.column_names:
            before, after = (set(table[name].unique().to_pylist()) for table in (source.table, released))
            kept[name] = {code: text for code, text in texts.items() if code not in before - after}
    return replace(source.origin, labels=replace(labels, value_labels=kept))


def _array(values: Doubles, whole: bool) -> pa.Array[Any]:
    array = from_numbers(values)
    return array.cast(pa.int64()) if whole and np.nanmax(np.abs(values), initial=0.0) < 2**53 else array
