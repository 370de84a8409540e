"""A release -> the facts of its reports. What the external report may show is decided in `outside.py`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from microagg import errors
from microagg.arrow_values import from_numpy, in_one_piece, to_numpy
from microagg.assessment.assessing import assess_release
from microagg.assessment.assessment import Assessment
from microagg.columns import numbers_or_none, plain
from microagg.plan.identities import Identity
from microagg.plan.plan_file import used_plan
from microagg.plan.profile import Profile, profile
from microagg.plan.protection import Protection
from microagg.report.facts import (
    FEWEST_RECORDS_FOR_A_BAND,
    Codes,
    ColumnHolds,
    ExternalFacts,
    LossBand,
    Subset,
    level_texts,
)
from microagg.report.html_pages import external_page, internal_page
from microagg.report.outside import facts_outside
from microagg.report.shown_tables import ShownAttribute, TwoWayTables, shown_two_way_tables
from microagg.verdict import Finding, note

if TYPE_CHECKING:
    from microagg.engines.release import Release


@dataclass(frozen=True, slots=True)
class Written:
    """The file that a release becomes, for its internal report."""

    name: str
    digest: str
    settings: Mapping[str, object]
    """The settings of the plan, with the paths of the files."""


@dataclass(frozen=True, slots=True, eq=False)
class InternalFacts:
    """All that is known about a release: it itself, and what was found for its report."""

    release: Release
    output: str
    """Path of the release; empty if it is not written."""
    written: str
    mdav_loss: float | None
    """That of `baseline` on the same data; None: not computed."""
    subsets: tuple[Subset, ...]
    noised: Subset | None
    """Confidential columns with noise, all records in one group."""
    tables: TwoWayTables | None
    """Of any two keys, strata and confidential columns; None: no key holds categories."""
    plan: str
    """The plan as TOML."""
    digests: Mapping[str, str]
    profile: Profile
    roles: Mapping[str, str]
    """Of the source's columns that have one."""
    sums: tuple[tuple[Identity, bool, str], ...]
    """Sums that hold in every record of the source, whether masking keeps them, and why."""
    warnings: tuple[Finding, ...]

    @property
    def baseline(self) -> str:
        """The method whose loss is shown for comparison."""
        return "MDAV-generic" if self.release.prepared.tasks.have_categories else "MDAV"


def assessment_of(release: Release) -> Assessment | None:
    """Every measure of the release; None if a key is released without any value."""
    try:
        return assess_release(release)
    except errors.DataError:  # a key that is released without any value
        return None


def internal_report(
    release: Release, assessment: Assessment | None = None, written: Written | None = None
) -> str:
    """All that is known about the release, as HTML; not to be released."""
    return internal_page(internal_facts(release, assessment, written), assessment)


def external_report(release: Release) -> str:
    """What those who get the release may know about it, as HTML."""
    return external_page(external_facts(release))


def internal_facts(
    release: Release,
    assessment: Assessment | None = None,
    written: Written | None = None,
    mdav: float | None = None,
) -> InternalFacts:
    """From the source, the release and the record of the run; `mdav`: MDAV's loss, where it is known."""
    protection, digest = release.protection, release.source.origin.digest
    found = profile(release.source)
    if mdav is None:
        mdav = release.mdav_loss()
    lines = used_plan(protection.settings if written is None else written.settings).splitlines()
    subsets, near_means = tuple(_subsets(release)), release.verdict.changes.near_means
    return InternalFacts(
        release=release,
        output="" if written is None else written.name,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        mdav_loss=mdav,
        subsets=subsets,
        noised=_subset_of_facts(release, protection.noised, None) if protection.noised else None,
        tables=_tables_shown(release, subsets) if release.prepared.tasks.have_categories else None,
        plan="\n".join(line for line in lines if line and not line.startswith("#")),
        digests={"digest of the input": digest}
        | ({} if written is None else {"digest of the output": written.digest}),
        profile=found,
        roles=dict(protection.columns_by_role()),
        sums=tuple((each, *_kept(each, protection, near_means)) for each in found.identities),
        warnings=tuple(_warnings(release, mdav, assessment)),
    )


def external_facts(release: Release) -> ExternalFacts:
    """From what is released and the settings; of what is not released, a band of the loss at most."""
    loss = loss_band(release.information_loss, min(release.source.table.num_rows, len(release.rows)))
    return facts_outside(release.verified.microdata.table, release.protection, loss)


def loss_band(information_loss: float, records: int) -> LossBand | None:
    """How much of the loss the external report may show; None where there are too few records."""
    if records < FEWEST_RECORDS_FOR_A_BAND:
        return None
    if information_loss < 1.0:
        return LossBand.BELOW_1
    if information_loss < 5.0:
        return LossBand.FROM_1_TO_5
    return LossBand.FROM_5_TO_20 if information_loss <= 20.0 else LossBand.ABOVE_20


def _subsets(release: Release) -> Iterator[Subset]:
    """Columns that were masked together, with their groups. Tasks come subset by subset, and those of a
    subset have every released record once.
    """
    protection = release.protection
    tasks = iter(release.partitions)
    for columns in protection.all_subsets:
        groups = np.full(release.source.table.num_rows, -1, dtype=np.int64)
        left, count = len(release.rows), 0
        while left:
            task = next(tasks)
            groups[task.rows] = task.labels.astype(np.int64) + count
            count += task.groups
            left -= len(task.rows)
        yield _subset_of_facts(release, columns, groups[release.rows])


def _subset_of_facts(release: Release, columns: Sequence[str], groups: Codes | None) -> Subset:
    prepared, released = release.prepared, release.verified.microdata.table
    labels = release.source.origin.labels
    after, holds = [], []
    for name in columns:
        kind = prepared.kinds.get(name)
        column = released.column(name)
        after.append(to_numpy(column.cast(pa.float64())) if kind is None else kind.numbers(column))
        texts = {} if labels is None else labels.value_labels.get(name, {})
        values = [] if kind is None or kind.levels is None else kind.levels.to_pylist()
        levels = level_texts(texts.get(value, value) for value in values)
        holds.append(ColumnHolds() if kind is None else ColumnHolds(kind.kind, levels))
    return Subset(
        tuple(columns),
        np.stack([prepared.numbers[name][release.rows] for name in columns], axis=1),
        np.stack(after, axis=1),
        np.zeros(len(release.rows), dtype=np.int64) if groups is None else groups,
        tuple(holds),
    )


def _tables_shown(release: Release, subsets: Sequence[Subset]) -> TwoWayTables | None:
    """Of masked columns, and of strata and confidential columns as they are released."""
    protection, rows = release.protection, release.rows
    attributes = [
        ShownAttribute(name, subset.before[:, at], subset.after[:, at], subset.holds[at])
        for subset in subsets
        for at, name in enumerate(subset.columns)
    ]
    masked = {*protection.changed}
    attributes += [
        _unmasked_attribute(release, name)
        for name in (*protection.strata, *protection.confidential)
        if name not in masked
    ]
    weights = None if protection.weight is None else release.prepared.numbers[protection.weight][rows]
    return shown_two_way_tables(attributes, weights)


def _unmasked_attribute(release: Release, name: str) -> ShownAttribute:
    """A column of the source, whose released records may have other codes if it has strata."""
    before = plain(release.source.table.column(name).take(from_numpy(release.rows)))
    after = plain(release.verified.microdata.table.column(name))
    sides = numbers_or_none(before), numbers_or_none(after)
    if sides[0] is not None and sides[1] is not None:
        return ShownAttribute(name, sides[0], sides[1], ColumnHolds())
    both = in_one_piece(pa.chunked_array([*before.chunks, *after.chunks])).dictionary_encode()
    codes = to_numpy(both.indices.cast(pa.float64()))
    levels = level_texts(both.dictionary.to_pylist())
    return ShownAttribute(name, codes[: len(before)], codes[len(before) :], ColumnHolds("nominal", levels))


def _kept(identity: Identity, protection: Protection, near_means: Sequence[str]) -> tuple[bool, str]:
    """Whether a sum that holds in the source still holds, and why."""
    terms = {identity.total, *identity.parts}
    if terms & set(protection.drop):
        return False, "not all of its columns are released"
    if not terms & set(protection.changed):
        return True, "none of its columns was changed"
    if not any(terms <= set(subset) for subset in protection.all_subsets):
        return False, "its columns were not all masked together"
    if protection.aggregate == "median":
        return False, "medians do not keep sums"
    if terms & set(near_means):
        return False, "numbers near means do not keep sums"
    if protection.clip:
        return False, "values were clipped one by one"
    return True, "its columns were masked together: it holds up to rounding"


def _warnings(release: Release, mdav: float | None, assessment: Assessment | None) -> Iterator[Finding]:
    if assessment is not None:
        yield from assessment.failures
    if release.stopped:
        yield note("stopped")
    elif any(task.truncated for task in release.partitions):
        yield note("cut_short")
    if mdav is not None and release.information_loss > mdav * (1.0 + 1e-9):
        yield note("worse_than_mdav", loss=release.information_loss, mdav=mdav)
    yield from release.verdict.accepted
