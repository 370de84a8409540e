"""Which role each column might have. The user decides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from pyarrow import compute

from microagg.arrow_values import to_numpy
from microagg.column_names import are_of_businesses, confidential_matter, is_demographic
from microagg.columns import plain
from microagg.identifiers import FEW_VALUES, identifying_name, nearly_unique
from microagg.model import Microdata
from microagg.plan.profile import ColumnProfile, Profile

Role = Literal["keys", "strata", "confidential", "drop", "pass", "weight"]
KeyKind = Literal["number", "date", "ordinal", "nominal"]

MOST_CATEGORIES = FEW_VALUES
"""A column of more values makes too many strata."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A role for a column, and why."""

    column: str
    role: Role
    reason: str


def suggest(microdata: Microdata, profile: Profile, k: int) -> tuple[Suggestion, ...]:
    """A role for every column, by what the columns hold: what a release with this k could look like.

    Numbers and dates are keys, and masked, and so are categories by which people are commonly
    distinguished; other columns of few values are strata, as many of them as leave at least k records in
    every combination; what is likely to identify, and cannot be masked, is dropped; what looks like a
    matter of health, income or belief is confidential. Whether a release with these roles would be safe is
    not looked at here: `trials.drafting` does.
    """
    business = are_of_businesses(column.name for column in profile)
    roles = {column.name: _role_by_content(column, profile.records, k, business) for column in profile}
    for name in [name for name, (role, _) in roles.items() if role == "weight"][1:]:
        roles[name] = "keys", "numbers; there is another weight"
    kept: list[str] = []
    candidates = [column for column in profile if roles[column.name][0] == "strata"]
    # Text goes first: a number of few values may be an amount. Then the coarsest.
    for column in sorted(candidates, key=lambda each: (each.numeric, each.distinct)):
        if _has_nan(microdata.table, column.name):
            roles[column.name] = "pass", "codes, some of which are NaN, which is no code; make these null"
        elif _smallest_cell(microdata.table, [*kept, column.name]) >= k:
            kept.append(column.name)
        else:
            roles[column.name] = _role_beside_other_strata(column, k)
    return tuple(
        Suggestion(name, role, "; ".join(filter(None, (profile[name].disguise, reason))))
        for name, (role, reason) in roles.items()
    )


def with_some_key(suggestions: tuple[Suggestion, ...], profile: Profile, k: int) -> tuple[Suggestion, ...]:
    """The same if there are keys; else columns of few values are, or those that looked confidential."""
    for instead in (("strata", "pass"), ("confidential",)):
        if any(each.role == "keys" for each in suggestions):
            break
        suggestions = tuple(
            replace(each, role="keys", reason="no other columns could be masked")
            if each.role in instead and can_be_masked(profile[each.column], profile.records, k)
            else each
            for each in suggestions
        )
    return suggestions


def kind_as_key(column: ColumnProfile) -> KeyKind:
    """What it would be as a key."""
    if column.levels is not None:
        return "ordinal"
    if column.kind == "dates":
        return "date"
    # The mean of yes and no, as 1 and 2, is neither.
    is_number = column.numeric and not column.codes and (column.kind == "numbers" or column.distinct > 2)
    return "number" if is_number else "nominal"


def can_be_masked(column: ColumnProfile, records: int, k: int) -> bool:
    """Whether a group can publish something that stands for its values."""
    if column.kind in ("other", "empty") or column.identifier or column.distinct < 2:
        return False
    return kind_as_key(column) != "nominal" or not (
        column.disguise or _too_many_categories(column, records, k)
    )


def _too_many_categories(column: ColumnProfile, records: int, k: int) -> bool:
    """Whether most cells would change: a category has fewer than k records on average, or 2k where there
    are many.
    """
    enough = k if column.distinct <= MOST_CATEGORIES else 2 * k
    return column.distinct * enough > records - column.missing


def settings_of_plan(suggestions: Iterable[Suggestion], profile: Profile, k: int) -> dict[str, object]:
    """The suggestions as settings of a plan."""
    by_role: dict[str, list[str]] = {}
    for suggestion in suggestions:
        by_role.setdefault(suggestion.role, []).append(suggestion.column)
    settings: dict[str, object] = {"k": k}
    keys = by_role.get("keys", [])
    if keys:
        settings["keys"] = [keys]
    settings |= {
        role: by_role[role] for role in ("strata", "confidential", "drop", "pass") if role in by_role
    }
    if "weight" in by_role:
        settings["weight"] = by_role["weight"][0]
    codes = {name: list(profile[name].missing_codes) for name in keys if profile[name].missing_codes}
    if codes:
        settings["missing_codes"] = codes
    if codes or any(profile[name].missing for name in keys):
        settings["missing"] = "by-pattern"
    settings |= kinds_of_keys(keys, profile)
    if "confidential" in by_role or "weight" in by_role:
        settings["retry"] = True
    return settings


def kinds_of_keys(keys: Iterable[str], profile: Profile) -> dict[str, object]:
    """The options that say which of the keys hold categories, and the order of their levels."""
    columns = [profile[name] for name in keys]
    nominal = [each.name for each in columns if kind_as_key(each) == "nominal"]
    ordinal = {each.name: list(each.levels) for each in columns if each.levels is not None}
    return {name: given for name, given in (("nominal", nominal), ("ordinal", ordinal)) if given}


def _role_by_content(column: ColumnProfile, records: int, k: int, business: bool) -> tuple[Role, str]:
    """The role that fits the values of the column; in a file of businesses an income is any amount."""
    if column.distinct == 0:
        return "pass", "empty"
    if column.distinct == 1 and not column.missing:
        return "pass", "the same in all records"
    if column.identifier and not (column.kind == "dates" and not identifying_name(column.name, False)):
        return "drop", column.identifier
    if column.weights:
        return "weight", "name and values are those of survey weights"
    matter = confidential_matter(column.name)
    if matter and column.kind != "other" and not (business and matter == "income"):
        return "confidential", f"its name is that of a matter of {matter}"
    kind = kind_as_key(column)
    if kind == "date" or (
        is_demographic(column.name) and not column.numbers_as_text and not column.disguise
    ):
        return _role_of_key(column, kind, records, k)
    may_be_amount = column.numeric and kind == "number"
    few = column.distinct <= MOST_CATEGORIES
    if (
        few
        and column.kind != "numbers"
        and _records_of_rarest_value(column) >= k
        and not (may_be_amount and column.missing)
    ):
        missing = ", missing ones as one more" if column.missing else ""
        return "strata", f"{column.distinct} values{missing}, each of at least {k} records"
    if may_be_amount or (column.kind == "numbers" and not column.codes):
        repeated = few and records > 5 * MOST_CATEGORIES
        doubt = "; if they are codes, recode or drop them" if repeated else ""
        return "keys", f"{column.kind}: masked{doubt}"
    return _role_without_masking(column, records, k)


def _role_of_key(column: ColumnProfile, kind: KeyKind, records: int, k: int) -> tuple[Role, str]:
    """For dates, and for what people are commonly distinguished by."""
    if column.kind == "other":
        return "drop", "neither numbers nor text: it cannot be compared"
    if kind == "nominal" and _too_many_categories(column, records, k):
        reason = f"{column.distinct} categories are too many for {records} records"
        return "drop", f"{reason}: nearly all would change; recode them, or make the column confidential"
    if kind == "number":
        return "keys", f"{column.kind}: masked"
    what = {"date": "dates", "ordinal": f"{column.distinct} ordered levels"}
    return "keys", f"{what.get(kind, f'{column.distinct} categories')}: masked"


def _records_of_rarest_value(column: ColumnProfile) -> int:
    """A missing value counts as a value."""
    return min(column.rarest, column.missing) if column.missing else column.rarest


def _role_without_masking(column: ColumnProfile, records: int, k: int) -> tuple[Role, str]:
    """For a column that can be neither a key nor a stratum."""
    if column.kind == "other":
        return "drop", "neither numbers nor text: it cannot be compared"
    what: str = (column.codes or "codes") if column.numeric else column.kind
    if column.numbers_as_text:
        what = "numbers stored as text; convert them to have them masked"
    if nearly_unique(column.distinct, records - column.missing):
        return "drop", f"{what}, nearly all distinct"
    if column.rarest < k:
        rare = f"{what}; some values have fewer than {k} records"
        if column.distinct > MOST_CATEGORIES:
            return "drop", f"{rare}; recode it to keep it"
        return "pass", f"{rare}; make it a key, or recode it to make strata"
    if column.missing and _records_of_rarest_value(column) < k:
        return "pass", f"{what}; fewer than {k} records miss it: too few to be a stratum"
    return "pass", f"{what}, too many values for strata"


def _role_beside_other_strata(column: ColumnProfile, k: int) -> tuple[Role, str]:
    """For a column that would make a good stratum alone, but too small ones together with others."""
    reason = f"with the other strata, some combinations would have fewer than {k} records"
    if column.kind == "whole numbers" and not column.codes and column.distinct > 2:
        return "keys", f"whole numbers: masked; if they are codes, recode or drop them, for {reason}"
    return "pass", reason


def _has_nan(table: pa.Table, name: str) -> bool:
    """Whether some value is NaN, which `protect` takes for no stratum; null is one."""
    column = plain(table.column(name))
    return pa.types.is_floating(column.type) and bool(compute.any(compute.is_nan(column)).as_py())


def _smallest_cell(table: pa.Table, columns: Sequence[str]) -> int:
    """The records of the rarest combination."""
    cells = np.zeros(table.num_rows, dtype=np.int64)
    for name in columns:
        # Arrow's own group_by imports pandas, which takes longer than all the rest.
        column: Any = plain(table.column(name)).dictionary_encode("encode").combine_chunks()
        codes = to_numpy(column.indices)
        cells = np.unique(cells * len(column.dictionary) + codes, return_inverse=True)[1]
    return int(np.bincount(cells).min())
