"""What is counted in a release and what follows from it, the same for tables in memory and on Spark."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from microagg.model import Claims, ColumnRoles
from microagg.verdict import (
    NEGLIGIBLE,
    Count,
    Finding,
    Homogeneous,
    MeanChange,
    NotCounted,
    Verdict,
    accepted,
    note,
    refuse,
)
from microagg.verify.classes import Classes, Codes
from microagg.verify.shape import key_columns
from microagg.verify.values import Mask

SMALL_MEAN = 0.01
"""A mean below this share of the values' average size is too small to give changes as a share of it."""


@dataclass(frozen=True, slots=True)
class SubsetResult:
    """What the classes of one subset of columns show."""

    count: Count
    failures: list[Finding]
    homogeneous: Sequence[Homogeneous] = ()


class Counting(Protocol):
    """A release that can be counted: a table in memory, or a frame of Spark."""

    @property
    def claims(self) -> Claims: ...

    def subset(self, strata: tuple[str, ...], names: tuple[str, ...]) -> SubsetResult:
        """The classes of columns masked together, and whether each publishes its members' mean."""
        ...

    def count(self, names: tuple[str, ...]) -> Count:
        """How records share the combinations of these columns."""
        ...

    def homogeneous(self, keys: tuple[str, ...]) -> Sequence[Homogeneous]:
        """Classes that give a confidential value away."""
        ...

    def mean_changes(self) -> tuple[MeanChange, ...]:
        """Of every masked column."""
        ...

    def noise_findings(self) -> list[Finding]:
        """What was found about noise: refusals and notes."""
        ...

    @property
    def spellings(self) -> Mapping[str, tuple[int, int]]:
        """Confidential columns of which some texts differ by spelling alone: how many texts there are, and
        how many read differently.
        """
        ...

    def unique_with(self, keys: tuple[str, ...]) -> Mapping[str, int]:
        """By released column that is no key: records that are unique by the keys and this column."""
        ...


def verdict_of(counting: Counting, failures: Sequence[Finding], records: int, suppressed: int) -> Verdict:
    """All that is counted, after what was found before."""
    claims, keys = counting.claims, key_columns(counting.claims)
    subsets = [counting.subset(claims.strata, names) for names in key_subsets(claims)]
    own = [counting.subset((), names) for names in claims.own_subsets]
    joint = counting.count(keys) if len(subsets) > 1 else None
    homogeneous = [each for found in subsets for each in found.homogeneous]
    if joint is not None and not joint.below:
        homogeneous += counting.homogeneous(keys)
    noise, changes = counting.noise_findings(), counting.mean_changes()
    counts, own_counts = (tuple(found.count for found in each) for each in (subsets, own))
    failures = [
        *failures,
        *k_failures(claims, counts + own_counts, joint),
        *(failure for found in subsets + own for failure in found.failures),
        *(each for each in noise if each.action == "refuse"),
        *([] if claims.accept_homogeneous else map(_homogeneous_failure(claims), homogeneous)),
        *(
            refuse("mean_not_kept", change.column, change=change.mean, tolerance=change.tolerance)
            for change in changes
            if not change.kept
        ),
    ]
    unique = (joint or counts[0]).unique
    not_counted = [NotCounted(name, many - unique) for name, many in counting.unique_with(keys).items()]
    return Verdict(
        claims.k,
        tuple(failures),
        records=records,
        suppressed=suppressed,
        subsets=counts,
        joint=joint,
        own_subsets=own_counts,
        homogeneous=tuple(homogeneous),
        mean_changes=changes,
        not_counted=tuple(sorted(not_counted, key=lambda entry: -entry.unique)),
        notes=(
            *_accepted(claims, joint, homogeneous),
            *(each for each in noise if each.action == "note"),
            *(
                note("spellings_counted_as_one", name, texts=texts, values=values)
                for name, (texts, values) in counting.spellings.items()
            ),
            *_own_values(claims, counts + own_counts),
            *([note("suppressed", records=suppressed, of=suppressed + records)] if suppressed else []),
        ),
    )


def key_subsets(claims: Claims) -> tuple[tuple[str, ...], ...]:
    """Strata alone are keys too."""
    return claims.subsets or ((),)


def k_counts(
    claims: Claims, count: Callable[[tuple[str, ...]], Count]
) -> tuple[tuple[Count, ...], Count | None]:
    """What is counted of each subset, and of the keys of several ones together."""
    counts = [count(claims.strata + subset) for subset in key_subsets(claims)]
    counts += [count(subset) for subset in claims.own_subsets]
    return tuple(counts), count(key_columns(claims)) if len(claims.subsets) > 1 else None


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


def value_failures(name: str, k: int, invented: int, few: int, far: int) -> list[Finding]:
    """What is wrong with the values that classes publish in one column: how many records have one though
    the source has none, how many rest on too few, and how many classes publish another than the mean.
    """
    failures = [refuse("value_without_source", name, records=invented)] if invented else []
    failures += [refuse("too_few_observed", name, k=k, records=few)] if few else []
    return failures + ([refuse("not_the_mean", name, groups=far)] if far else [])


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


def too_few_values(roles: ColumnRoles, classes: Classes, codes: Codes) -> Mask:
    """Which classes have fewer values of a confidential column, given as codes, than they must have."""
    return classes.poor(codes, roles.min_distinct)


def _homogeneous_failure(claims: Claims) -> Callable[[Homogeneous], Finding]:
    """Confidential values that keys give away."""
    return lambda found: refuse(
        "homogeneous_groups",
        found.column,
        keys=found.keys,
        groups=found.groups,
        records=found.records,
        least=claims.min_distinct,
        masked=found.released,
        spellings=found.spellings,
    )


def _accepted(claims: Claims, joint: Count | None, homogeneous: Sequence[Homogeneous]) -> list[Finding]:
    found = []
    if joint is not None and joint.below and claims.accept_partial:
        found.append(accepted("partial_accepted", k=claims.k, below=joint.below))
    if claims.accept_homogeneous:
        found += [
            accepted(
                "homogeneous_accepted",
                each.column,
                keys=each.keys,
                groups=each.groups,
                records=each.records,
            )
            for each in homogeneous
        ]
    return found


def _own_values(claims: Claims, counts: Sequence[Count]) -> list[Finding]:
    return [
        note(
            "own_values",
            *(name for name in count.columns if name not in claims.strata),
            records=count.own_values,
        )
        for count in counts
        if count.own_values
    ]


@dataclass(frozen=True, slots=True)
class MeanFigures:
    """Of a masked column: the cells that source and release both have, and the column as a whole."""

    cells: int
    set_to_missing: int
    left_out: int
    change: float = 0.0
    """Of the mean of the cells; `total`: of their sum."""
    total: float = 0.0
    size: float = 0.0
    """The mean absolute value of the cells in the source."""
    released_mean: float = math.nan
    source_mean: float = 0.0
    """Of the whole columns, with the records that are not released."""


def mean_change(name: str, claims: Claims, found: MeanFigures) -> MeanChange:
    """Over the cells that both have, and of the whole column.

    There is no share of a mean that is nearly zero beside the values, as that of standardised ones is.
    """
    tolerance = claims.mean_tolerance.get(name)
    counts = found.cells, found.set_to_missing, found.left_out
    if not found.cells:
        return MeanChange(name, 0.0, 0.0, 0.0, tolerance, True, *counts, math.nan, None)
    kept = tolerance is None or bool(abs(found.change) <= tolerance + NEGLIGIBLE * found.size)
    relative = found.change / found.size if found.size > 0 else found.change
    mean = found.source_mean
    column = found.released_mean - mean if any(counts[1:]) else found.change
    has_share = math.isfinite(mean) and abs(mean) > SMALL_MEAN * found.size
    share = column / abs(mean) if has_share else None
    return MeanChange(name, found.change, found.total, relative, tolerance, kept, *counts, column, share)
