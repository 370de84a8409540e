"""Which role each column might have. The user decides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from microagg.columns import plain
from microagg.model import Microdata
from microagg.plan.identifiers import nearly_unique
from microagg.plan.profile import ColumnProfile, Profile

if TYPE_CHECKING:
    import pyarrow as pa

Role = Literal["keys", "strata", "drop", "pass", "weight"]

MOST_CATEGORIES = 30
"""A column of more values makes too many strata."""

_WEIGHT = re.compile(
    r"(.*[^a-z])?(weights?|[a-z]*wgts?|wts?|poids|pond(eration)?|gewicht|hochrechnungsfaktor|pesos?|vikt|vekt|vaegt|"
    r"waga|paino)([^a-z].*)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A role for a column, and why."""

    column: str
    role: Role
    reason: str


def suggest(microdata: Microdata, found: Profile, k: int) -> tuple[Suggestion, ...]:
    """A role for every column: what a release with this k could look like.

    Numbers are keys, and masked; columns of few values are strata, as many of them as leave at least k
    records in every combination; what is likely to identify, and cannot be masked, is dropped.
    """
    roles = {column.name: _alone(column, found.records, k) for column in found}
    for name in [name for name, (role, _) in roles.items() if role == "weight"][1:]:
        roles[name] = "keys", "numbers; there is another weight"
    kept: list[str] = []
    candidates = [column for column in found if roles[column.name][0] == "strata"]
    # Text first: a number of few values may be an amount. Then the coarsest.
    for column in sorted(candidates, key=lambda each: (each.numeric, each.distinct)):
        if not kept or _smallest_cell(microdata.table, [*kept, column.name]) >= k:
            kept.append(column.name)
        else:
            roles[column.name] = _no_room(column, k)
    return tuple(Suggestion(name, role, reason) for name, (role, reason) in roles.items())


def words_of(suggestions: Iterable[Suggestion], found: Profile, k: int) -> dict[str, object]:
    """The suggestions in the words of a plan."""
    by_role: dict[str, list[str]] = {}
    for suggestion in suggestions:
        by_role.setdefault(suggestion.role, []).append(suggestion.column)
    words: dict[str, object] = {"k": k}
    keys = by_role.get("keys", [])
    if keys:
        words["keys"] = [keys]
    words |= {role: by_role[role] for role in ("strata", "drop", "pass") if role in by_role}
    if "weight" in by_role:
        words["weight"] = by_role["weight"][0]
    if any(found[name].missing for name in keys):
        words["missing"] = "by-pattern"
    return words


def _alone(column: ColumnProfile, records: int, k: int) -> tuple[Role, str]:
    """By what the column itself holds."""
    if column.distinct == 0:
        return "pass", "empty"
    if column.distinct == 1 and not column.missing:
        return "pass", "the same in all records"
    if column.identifier:
        return "drop", column.identifier
    if column.numeric and column.positive and not column.missing and _WEIGHT.fullmatch(column.name):
        return "weight", "its name is that of a weight, and all are above zero"
    few = column.distinct <= MOST_CATEGORIES
    if few and column.kind != "numbers" and column.rarest >= k and not column.missing:
        return "strata", f"{column.distinct} values, each of at least {k} records"
    if column.numeric and not column.labelled and (column.distinct > 2 or column.kind == "numbers"):
        repeated = few and records > 5 * MOST_CATEGORIES
        doubt = "; if they are codes, recode or drop them" if repeated else ""
        return "keys", f"{column.kind}: masked{doubt}"
    return _unmasked(column, records, k)


def _unmasked(column: ColumnProfile, records: int, k: int) -> tuple[Role, str]:
    """What can be neither a key nor a stratum."""
    if column.kind == "other":
        return "drop", "neither numbers nor text: it cannot be compared"
    what: str = "codes" if column.numeric else column.kind
    if column.numbers_as_text:
        what = "numbers stored as text; convert them to have them masked"
    if nearly_unique(column.distinct, records - column.missing):
        return "drop", f"{what}, nearly all distinct"
    if column.rarest < k:
        rare = f"{what}; some values have fewer than {k} records"
        if column.distinct > MOST_CATEGORIES:
            return "drop", f"{rare}; recode it to keep it"
        return "pass", f"{rare}; merge them to make strata"
    if column.missing:
        return "pass", f"{what}, with missing values; fill them in to make strata"
    return "pass", f"{what}, too many values for strata"


def _no_room(column: ColumnProfile, k: int) -> tuple[Role, str]:
    """A stratum beside which others leave too few records."""
    reason = f"with the other strata, some combinations would have fewer than {k} records"
    if column.kind == "whole numbers" and not column.labelled and column.distinct > 2:
        return "keys", f"whole numbers; {reason}"
    return "pass", reason


def _smallest_cell(table: pa.Table, columns: Sequence[str]) -> int:
    """The records of the rarest combination."""
    import pyarrow as pa
    from pyarrow import compute

    # By place: no name of a column gets in the way of the count's.
    cells = pa.table({str(at): plain(table.column(name)) for at, name in enumerate(columns)})
    counted = cells.group_by(cells.column_names).aggregate([([], "count_all")])
    return int(compute.min(counted["count_all"]).as_py())
