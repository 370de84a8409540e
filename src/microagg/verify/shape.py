"""Do rows and columns fit, and is what was to stay as it is the same?"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.model import Claims
from microagg.verdict import Finding, refuse
from microagg.verify.categories import CATEGORIES
from microagg.verify.classes import Classes, codes_of
from microagg.verify.values import Mask, differing, plain


def masked_columns(claims: Claims) -> tuple[str, ...]:
    """All columns whose values were replaced."""
    together = [*claims.subsets, *claims.own_subsets, claims.noised]
    return tuple(name for columns in together for name in columns)


def key_columns(claims: Claims) -> tuple[str, ...]:
    """Strata, then the keys of all subsets."""
    return claims.strata + tuple(name for subset in claims.subsets for name in subset)


def class_columns(claims: Claims, name: str) -> tuple[str, ...]:
    """The columns that make the classes of a masked column: those that were masked with it, and strata."""
    for names in claims.own_subsets:
        if name in names:
            return names
    return claims.strata + next(names for names in claims.subsets if name in names)


def categories_of(claims: Claims) -> list[tuple[str, ...]]:
    """Of each subset: the columns that hold categories."""
    subsets = (*claims.subsets, *claims.own_subsets)
    return [tuple(name for name in names if claims.kinds.get(name) in CATEGORIES) for names in subsets]


def confidential_sides(claims: Claims) -> list[tuple[str, bool]]:
    """Confidential columns to be counted, which are released and are no keys: in the source (False) and, if
    masked, as released (True).
    """
    others = {*key_columns(claims), *claims.dropped}
    own = {name for subset in claims.own_subsets for name in subset}
    return [
        (name, released)
        for name in claims.confidential
        if name not in others
        for released in ([False, True] if name in own else [False])
    ]


def unmasked_confidential(claims: Claims) -> list[str]:
    """Confidential columns that are released with the source's values."""
    return [name for name in claims.confidential if name not in masked_columns(claims)]


def shape_failures(source: pa.Table, released: pa.Table, rows: Any, claims: Claims) -> list[Finding]:
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


def _claims_failures(known: list[str], claims: Claims) -> list[Finding]:
    masked = masked_columns(claims)
    roles = Counter([*masked, *claims.strata, *claims.dropped, *filter(None, [claims.weight])])
    named = [*roles, *claims.confidential, *claims.mean_tolerance]
    by_themselves = {*claims.noised, *(name for own in claims.own_subsets for name in own)}
    wrong = {
        "k_below_2": claims.k < 2,
        "equal_names": len(set(known)) < len(known),
        "no_keys": not key_columns(claims),
        "empty_subset": not all([*claims.subsets, *claims.own_subsets]),
        "unknown_column": not set(named) <= set(known),
        "two_roles": any(times > 1 for times in roles.values()),
        "not_confidential": not by_themselves <= set(claims.confidential),
        "mean_of_dropped": bool(set(claims.mean_tolerance) & set(claims.dropped)),
    }
    return [refuse("claims_unusable", reason=reason) for reason, is_so in wrong.items() if is_so]


def columns_failures(
    needed: list[str], found: list[str], dropped: tuple[str, ...], where: str
) -> list[Finding]:
    """The same names in the same order."""
    if found == needed:
        return []
    left = [name for name in dropped if name in found]
    added = [name for name in found if name not in needed and name not in left]
    lost = [name for name in needed if name not in found]
    return [refuse("columns_differ", missing=lost, added=added, dropped=left, where=where)]


def _rows_failures(n: int, released: int, rows: Any) -> list[Finding]:
    rows = np.asarray(rows)
    if rows.ndim != 1 or not np.issubdtype(rows.dtype, np.integer):
        return [refuse("rows_unusable")]
    if len(rows) != released:
        return [refuse("rows_miscounted", released=released, named=len(rows))]
    if released == 0:
        return [refuse("nothing_released")]
    if rows.min() < 0 or rows.max() >= n:
        return [refuse("rows_unknown")]
    twice = int((np.bincount(rows, minlength=n) > 1).sum())
    return [refuse("rows_repeated", records=twice)] if twice else []


def left_out_failures(source: pa.Table, rows: Any, claims: Claims) -> list[Finding]:
    """Records may be left out only if they are of strata with fewer than k, and if that is wanted."""
    released = np.zeros(source.num_rows, dtype=bool)
    released[rows] = True
    if released.all():
        return []
    if not claims.leaves_out_strata:
        return [refuse("records_left_out", records=int((~released).sum()))]
    strata = Classes.whole(source.num_rows).refined(codes_of(source.column(name)) for name in claims.strata)
    small = (strata.sizes < claims.k)[strata.labels]
    wrong = int((~released & ~small).sum())
    return [refuse("records_left_out", records=wrong)] if wrong else []


def untouched_failures(source: pa.Table, released: pa.Table, claims: Claims) -> list[Finding]:
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
            failures.append(refuse("column_retyped", name, kind=str(after.type), needed=str(before.type)))
        elif changed := int(differing(plain(before), plain(after)).sum()):
            failures.append(refuse("column_changed", name, records=changed))
    return failures


def recoded_failures(
    source: pa.Table, released: pa.Table, claims: Claims, counts: NDArray[np.int64] | None = None
) -> list[Finding]:
    """Only records of strata with fewer than k have other codes: those of a stratum with at least k.

    `counts`: how many records each row stands for, if these are not records but combinations of codes.
    """
    if not claims.recoded:
        return []
    failures = [
        refuse("column_retyped", name, kind=str(after.type), needed=str(before.type))
        for name in claims.recoded
        if (before := plain(source.column(name))).type != (after := plain(released.column(name))).type
    ]
    if failures:
        return failures
    n = released.num_rows
    counts = np.ones(n, dtype=np.int64) if counts is None else counts
    both = (
        pa.chunked_array([plain(table.column(name)) for table in (source, released)])
        for name in claims.strata
    )
    strata = Classes.whole(2 * n).refined(map(codes_of, both))
    before, after = strata.labels[:n], strata.labels[n:]
    small = np.bincount(before, counts, strata.count) < claims.k
    left = int(counts[(before != after) & ~small[before]].sum())
    unknown = int(counts[(before != after) & small[after]].sum())
    failures = [refuse("stratum_left", *claims.strata, records=left, k=claims.k)] if left else []
    if unknown:
        failures.append(refuse("stratum_unknown", *claims.strata, records=unknown, k=claims.k))
    return failures


def codes_differ(before: Any, after: Any) -> Mask:
    """Which records have another code; all, if the codes are of another type."""
    old, new = plain(before), plain(after)
    return differing(old, new) if old.type == new.type else np.ones(len(old), dtype=bool)
