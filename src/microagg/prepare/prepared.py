"""All problems of a release, made once: who needs numbers, strata or tasks later gets them from here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from microagg import read, wording
from microagg.model import Doubles, Microdata, Table
from microagg.plan.protection import Protection
from microagg.plan.roles import check_columns
from microagg.prepare.key_columns import KeyColumn, key_column
from microagg.prepare.strata import Strata, strata_by_settings
from microagg.prepare.tasks import Tasks, tasks_of

SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-100, 1e100
"""Totals of larger ones could overflow, and shares of smaller ones vanish."""


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """The problems to be solved: `numbers` are of all records, `kept` and `weights` of released ones.

    `kinds` of columns that hold dates or categories: what the numbers stand for.
    """

    strata: Strata
    kinds: dict[str, KeyColumn]
    numbers: dict[str, Doubles]
    kept: dict[str, Doubles]
    weights: Doubles | None
    tasks: Tasks


def prepare(source: Microdata, protection: Protection) -> Prepared:
    """All problems to be solved, or an exception if the source does not fit the settings."""
    check_columns(protection, source)
    strata = strata_by_settings(source.table, protection)
    numbers: dict[str, Doubles] = {}
    kinds: dict[str, KeyColumn] = {}
    for column in protection.grouped:
        numbers[column], kind = key_column(source, column, protection)
        if kind is not None:
            kinds[column] = kind
    refuse_without_categories(protection, kinds)
    for column in protection.noised:
        numbers[column] = read.numbers_of(source, column, protection.missing_codes.get(column, ()))
    if protection.weight is not None:
        numbers[protection.weight] = weights_of(source, protection.weight)
    kept = numbers
    if len(strata.rows) < source.table.num_rows:
        kept = {column: values[strata.rows] for column, values in numbers.items()}
    tasks = tasks_of(
        [
            Table(tuple(columns), np.stack([kept[column] for column in columns], axis=1))
            for columns in protection.all_subsets
        ],
        strata.of,
        protection.k,
        protection.method.scale,
        by_pattern=protection.missing == "by-pattern",
        zeros_apart=protection.zeros == "apart",
        kinds=kinds,
        importance=protection.importance,
    )
    weights = None if protection.weight is None else kept[protection.weight]
    return Prepared(strata, kinds, numbers, kept, weights, tasks)


def refuse_without_categories(protection: Protection, kinds: Mapping[str, KeyColumn]) -> None:
    """`SettingsError` if a way to choose categories is given, and no key has some."""
    if protection.categories != "mode" and not any(kind.is_category for kind in kinds.values()):
        raise wording.no_categories(protection.categories)


def weights_of(source: Microdata, column: str) -> Doubles:
    """The survey weights of all records; `DataError` if one of them is none."""
    weights = read.numbers_of(source, column)
    for what, wrong in (
        ("missing", np.isnan(weights)),
        ("infinite", np.isinf(weights)),
        ("negative or zero", weights <= 0.0),
        ("too small", weights < SMALLEST_WEIGHT),
        ("too large", weights > LARGEST_WEIGHT),
    ):
        if wrong.any():
            raise wording.bad_weights(column, what, int(wrong.sum()))
    return weights
