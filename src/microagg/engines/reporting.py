"""A release -> the facts of its reports. What the external report may show is decided in `outside.py`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from microagg import errors, report
from microagg.arrow_values import to_numpy
from microagg.assessment.assessing import assess_release
from microagg.assessment.assessment import Assessment
from microagg.engines.outside import facts_outside
from microagg.engines.preview import mdav_loss_of
from microagg.model import Doubles
from microagg.plan.plan_file import used_plan
from microagg.plan.profile import ColumnProfile, Profile, profile
from microagg.report.facts import Codes
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
    report.check_installed()
    from microagg.report.pages import internal_page

    return internal_page(internal_facts(release, assessment, written), assessment)


def external_report(release: Release) -> str:
    """What those who get the release may know about it, as HTML."""
    report.check_installed()
    from microagg.report.pages import external_page

    return external_page(external_facts(release))


def internal_facts(
    release: Release, assessment: Assessment | None = None, written: Written | None = None
) -> report.InternalFacts:
    """From the source, the release and the record of the run."""
    record, protection = release.record, release.protection
    found = profile(release.source)
    mdav = mdav_loss_of(release.prepared, protection)
    settings = protection.settings if written is None else written.settings
    lines = used_plan(settings).splitlines()
    return report.InternalFacts(
        source=record["input"]["name"],
        output="" if written is None else written.name,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        k=protection.k,
        groups=release.groups,
        verdict=release.verdict,
        information_loss=release.information_loss,
        mdav_loss=mdav,
        bound_loss=release.bound_loss,
        seconds=release.seconds,
        tasks=release.partitions,
        subsets=_subsets(release),
        noised=_subset(release, protection.noised, None) if protection.noised else None,
        seed=protection.method.seed,
        plan="\n".join(line for line in lines if line and not line.startswith("#")),
        software=record["software"],
        digests={"digest of the input": record["input"]["digest"]}
        | ({} if written is None else {"digest of the output": written.digest}),
        columns=tuple(_columns(release, found)),
        identities=tuple(_sums(release, found)),
        identical=found.identical,
        warnings=tuple(_warnings(release, mdav, assessment)),
    )


def external_facts(release: Release) -> report.ExternalFacts:
    """From what is released and the settings; of what is not released, a band of the loss at most."""
    loss = loss_band(release.information_loss, min(release.source.table.num_rows, len(release.rows)))
    return facts_outside(release.verified.microdata.table, release.protection, loss)


def loss_band(information_loss: float, records: int) -> report.LossBand | None:
    """How much of the loss the external report may show; None where there are too few records."""
    if records < report.FEWEST_RECORDS_FOR_A_BAND:
        return None
    if information_loss < 1.0:
        return report.LossBand.BELOW_1
    if information_loss < 5.0:
        return report.LossBand.FROM_1_TO_5
    return report.LossBand.FROM_5_TO_20 if information_loss <= 20.0 else report.LossBand.ABOVE_20


def _released(release: Release, column: str) -> Doubles:
    """The column as numbers, NaN where missing."""
    values = release.verified.microdata.table.column(column).cast(pa.float64())
    return np.array(to_numpy(values), dtype=np.float64)


def _subsets(release: Release) -> tuple[report.Subset, ...]:
    """Columns that were masked together, with their groups. Tasks come subset by subset, and those of a
    subset have every released record once.
    """
    protection = release.protection
    tasks = iter(release.partitions)
    found = []
    for columns in (*protection.subsets, *protection.own_subsets):
        groups = np.full(release.source.table.num_rows, -1, dtype=np.int64)
        left, count = len(release.rows), 0
        while left:
            task = next(tasks)
            groups[task.rows] = task.labels.astype(np.int64) + count
            count += task.groups
            left -= len(task.rows)
        found.append(_subset(release, columns, groups[release.rows]))
    return tuple(found)


def _subset(release: Release, columns: Sequence[str], groups: Codes | None) -> report.Subset:
    return report.Subset(
        tuple(columns),
        np.stack([release.prepared.numbers[column][release.rows] for column in columns], axis=1),
        np.stack([_released(release, column) for column in columns], axis=1),
        np.zeros(len(release.rows), dtype=np.int64) if groups is None else groups,
    )


def _columns(release: Release, found: Profile) -> Iterator[report.ColumnFacts]:
    roles = dict(release.protection.columns_by_role())
    for column in found:
        yield report.ColumnFacts(
            column.name,
            column.kind,
            roles.get(column.name, "none"),
            column.distinct,
            column.missing,
            _remark(column),
        )


def _remark(column: ColumnProfile) -> str:
    remarks = [f"may identify: {column.identifier}"] if column.identifier else []
    if column.missing_codes:
        codes = ", ".join(map(str, column.missing_codes))
        remarks.append(f"likely codes for missing answers: {codes}")
    return "; ".join(remarks)


def _sums(release: Release, found: Profile) -> Iterator[report.Sum]:
    """Whether sums that hold in the source still hold."""
    protection = release.protection
    subsets = [set(subset) for subset in (*protection.subsets, *protection.own_subsets)]
    for identity in found.identities:
        terms = {identity.total, *identity.parts}
        if terms & set(protection.drop):
            kept, why = False, "not all of its columns are released"
        elif not terms & set(protection.changed):
            kept, why = True, "none of its columns was changed"
        elif not any(terms <= subset for subset in subsets):
            kept, why = False, "its columns were not all masked together"
        elif protection.aggregate == "median":
            kept, why = False, "medians do not keep sums"
        else:
            kept, why = True, "its columns were masked together: it holds up to rounding"
        yield report.Sum(identity.total, identity.parts, kept, why)


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
