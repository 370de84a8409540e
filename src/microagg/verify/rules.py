"""What follows from the counts of a release: findings. The same for tables in memory and on Spark."""

from __future__ import annotations

import math
from collections.abc import Sequence

from microagg.model import Claims
from microagg.verdict import Count, Finding, Homogeneous, MeanChange, accepted, note, refuse
from microagg.verify.shape import key_columns

SMALL_MEAN = 0.01
"""A mean below this share of the values' average size is too small to give changes as a share of it."""


def k_failures(claims: Claims, counts: tuple[Count, ...], joint: Count | None) -> list[Finding]:
    """Combinations that too few records share."""
    failures = [
        refuse(
            "combination_too_rare",
            *count.columns,
            k=claims.k,
            classes=count.classes,
            below=count.below,
            smallest=count.smallest,
        )
        for count in counts
        if count.below
    ]
    if joint is not None and joint.below and not claims.accept_partial:
        failures.append(refuse("partial_not_accepted", k=claims.k, unique=joint.unique, below=joint.below))
    return failures


def confidential_columns(claims: Claims) -> list[str]:
    """Those that are released and are no keys."""
    keys = key_columns(claims)
    return [name for name in claims.confidential if name not in keys and name not in claims.dropped]


def confidential_sides(claims: Claims) -> list[tuple[str, bool]]:
    """Confidential columns to be counted, in the source (False) and, if masked, as released (True)."""
    own = {name for subset in claims.own_subsets for name in subset}
    return [
        (name, released)
        for name in confidential_columns(claims)
        for released in ([False, True] if name in own else [False])
    ]


def confidential_failures(claims: Claims, homogeneous: tuple[Homogeneous, ...]) -> list[Finding]:
    """Confidential values that keys give away."""
    if claims.accept_homogeneous:
        return []
    return [
        refuse(
            "homogeneous_groups",
            found.column,
            keys=found.keys,
            groups=found.groups,
            records=found.records,
            least=claims.min_distinct,
            masked=found.released,
            spellings=found.spellings,
        )
        for found in homogeneous
    ]


def mean_failures(changes: tuple[MeanChange, ...]) -> list[Finding]:
    """Means that moved further than promised."""
    return [
        refuse("mean_not_kept", change.column, change=change.mean, tolerance=change.tolerance)
        for change in changes
        if change.tolerance is not None and not change.kept
    ]


def notes_of(
    claims: Claims,
    counts: tuple[Count, ...],
    joint: Count | None,
    homogeneous: tuple[Homogeneous, ...],
    suppressed: int,
    released: int,
    further: Sequence[Finding] = (),
) -> tuple[Finding, ...]:
    """What was accepted, and what else is worth knowing."""
    notes = []
    if joint is not None and joint.below and claims.accept_partial:
        notes.append(accepted("partial_accepted", k=claims.k, below=joint.below))
    if claims.accept_homogeneous:
        notes += [
            accepted(
                "homogeneous_accepted",
                found.column,
                keys=found.keys,
                groups=found.groups,
                records=found.records,
            )
            for found in homogeneous
        ]
    notes += further
    for count in counts:
        if count.own_values:
            masked = [name for name in count.columns if name not in claims.strata]
            notes.append(note("own_values", *masked, records=count.own_values))
    if suppressed:
        notes.append(note("suppressed", records=suppressed, of=suppressed + released))
    return tuple(notes)


def change_with_share(change: float, mean: float, size: float) -> tuple[float, float | None]:
    """The change of a whole column's mean, and its share of that mean; `size`: of the values, on average.

    There is no share of a mean that is nearly zero beside the values, as that of standardised ones is.
    """
    is_usable = math.isfinite(mean) and abs(mean) > SMALL_MEAN * size
    return change, change / abs(mean) if is_usable else None
