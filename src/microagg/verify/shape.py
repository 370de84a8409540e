"""Do rows and columns fit, and is what was to stay as it is the same? Failures as sentences."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from microagg import wording
from microagg.arrow_values import from_numpy
from microagg.model import Claims
from microagg.verify.classes import Classes, codes_of
from microagg.verify.values import differing, is_text, plain

if TYPE_CHECKING:
    import pyarrow as pa


def masked_columns(claims: Claims) -> tuple[str, ...]:
    """All columns whose values were replaced."""
    together = [*claims.subsets, *claims.own_subsets, claims.noised]
    return tuple(name for columns in together for name in columns)


def key_columns(claims: Claims) -> tuple[str, ...]:
    """Strata, then the keys of all subsets."""
    return claims.strata + tuple(name for subset in claims.subsets for name in subset)


def shape_failures(source: pa.Table, released: pa.Table, rows: Any, claims: Claims) -> list[str]:
    """Why a release cannot even be counted."""
    return (
        _claims_failures(source.column_names, claims)
        or columns_failures(
            [name for name in source.column_names if name not in claims.dropped],
            released.column_names,
            claims.dropped,
            "released table",
        )
        or _rows_failures(source.num_rows, released.num_rows, rows)
    )


def _claims_failures(known: list[str], claims: Claims) -> list[str]:
    masked = masked_columns(claims)
    roles = Counter([*masked, *claims.strata, *claims.dropped, *filter(None, [claims.weight])])
    named = [*roles, *claims.confidential, *claims.mean_tolerance]
    by_themselves = {*claims.noised, *(name for own in claims.own_subsets for name in own)}
    wrong = {
        "k is below 2": claims.k < 2,
        "two columns of the source have the same name": len(set(known)) < len(known),
        "no keys and no strata are named": not key_columns(claims),
        "a subset has no columns": not all([*claims.subsets, *claims.own_subsets]),
        "a column is named that the source does not have": not set(named) <= set(known),
        "a column has two roles": any(times > 1 for times in roles.values()),
        "a recoded column is no stratum": not set(claims.recoded) <= set(claims.strata),
        "a column masked by itself is not confidential": not by_themselves <= set(claims.confidential),
        "a mean is promised of a dropped column": bool(set(claims.mean_tolerance) & set(claims.dropped)),
    }
    return [wording.claims_unusable(what) for what, is_so in wrong.items() if is_so]


def columns_failures(
    needed: list[str], found: list[str], dropped: tuple[str, ...], where: str
) -> list[str]:
    """The same names in the same order."""
    if found == needed:
        return []
    left = [name for name in dropped if name in found]
    added = [name for name in found if name not in needed and name not in left]
    lost = [name for name in needed if name not in found]
    return [wording.released_columns_differ(lost, added, left, where)]


def _rows_failures(n: int, released: int, rows: Any) -> list[str]:
    rows = np.asarray(rows)
    if rows.ndim != 1 or not np.issubdtype(rows.dtype, np.integer):
        return [wording.released_rows_differ("they are not row numbers")]
    if len(rows) != released:
        return [wording.released_rows_differ(f"{released} are released, {len(rows)} named")]
    if released == 0:
        return [wording.nothing_released()]
    if rows.min() < 0 or rows.max() >= n:
        return [wording.released_rows_differ("there are rows that the source does not have")]
    twice = int((np.bincount(rows, minlength=n) > 1).sum())
    return [wording.released_rows_differ(f"{twice} are released more than once")] if twice else []


def untouched_failures(source: pa.Table, released: pa.Table, claims: Claims) -> list[str]:
    """Every column that was neither masked nor recoded has the source's type and values.

    Both tables have the same records in the same order.
    """
    failures = []
    changed_on_purpose = {*masked_columns(claims), *claims.recoded}
    for name in released.column_names:
        if name in changed_on_purpose:
            continue
        before, after = source.column(name), released.column(name)
        if before.type != after.type:
            failures.append(wording.column_retyped(name, str(after.type), str(before.type)))
        elif changed := int(differing(plain(before), plain(after)).sum()):
            failures.append(wording.column_changed(name, changed))
    return failures


def recoded_failures(source: pa.Table, released: pa.Table, claims: Claims) -> list[str]:
    """Merging maps each stratum to one; a stratum that was not merged keeps its codes."""
    if not claims.recoded:
        return []
    n = released.num_rows
    before = Classes.whole(n).refined(codes_of(source.column(name)) for name in claims.strata)
    after = Classes.whole(n).refined(codes_of(released.column(name)) for name in claims.strata)
    split = before.with_any(before.differs((after.labels,)))
    if len(split):
        return [wording.strata_split(claims.strata, len(split))]
    parts = np.bincount(after.labels[before.some_record()], minlength=after.count)
    alone = parts[after.labels] == 1
    failures = []
    for name in claims.recoded:
        failures += _recoded_column(name, source.column(name), released.column(name), alone)
    return failures


def _recoded_column(name: str, before: Any, after: Any, alone: Any) -> list[str]:
    """`after` may be text where `before` is not, since merged codes are."""
    import pyarrow as pa

    chosen = from_numpy(alone)
    old, new = plain(before).filter(chosen), plain(after).filter(chosen)
    wrong = wording.column_retyped(name, str(after.type), str(before.type))
    if old.type != new.type:
        if not is_text(new.type):
            return [wrong]
        try:
            new = new.cast(old.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return [wrong]
    changed = int(differing(old, new).sum())
    return [wording.column_changed(name, changed)] if changed else []
