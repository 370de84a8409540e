"""A release -> what its reports are told. What may be known outside is decided here, and only here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from microagg import errors, read, report
from microagg.engines.assessing import assess_release
from microagg.engines.assessment import Assessment
from microagg.engines.outlook import mdav_loss
from microagg.plan.plan_file import used_plan
from microagg.plan.profile import ColumnProfile, Profile, profile
from microagg.plan.protection import NOISE

if TYPE_CHECKING:
    from microagg.engines.release import Release

Doubles = NDArray[np.float64]
Codes = NDArray[np.int64]

OUTSIDE = (
    "il",
    "il1s",
    "correlations",
    "rank_correlations",
    "variances",
    "eigenvalues",
    "pil",
    "propensity",
    "linkage_distance",
)
"""Measures that an external report may have: of the whole release, none of which tells about single groups,
strata, records or original values.
"""


@dataclass(frozen=True, slots=True)
class Written:
    """The file that a release becomes, for its internal report."""

    name: str
    digest: str
    words: Mapping[str, object]
    """Of the plan, with the files' places."""


def assessment_of(release: Release) -> Assessment | None:
    """What every measure says about the release; None if it is such that nothing can be measured."""
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

    return internal_page(internal_facts(release, assessment, written))


def external_report(release: Release, assessment: Assessment | None = None) -> str:
    """What those who get the release may know about it, as HTML."""
    report.check_installed()
    from microagg.report.pages import external_page

    return external_page(external_facts(release, assessment))


def assessment_report(assessment: Assessment, original: str, protected: str) -> str:
    """What was measured on two files of these names, as HTML; not to be released."""
    report.check_installed()
    from microagg.report.pages import assessment_page

    return assessment_page(
        report.AssessmentFacts(
            written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            software=f"microagg {version('microagg')}",
            original=original,
            protected=protected,
            records=assessment.records,
            suppressed=assessment.suppressed,
            subsets=assessment.subsets,
            measures=tuple(_measured(assessment)),
            analyses=tuple(_analyses(assessment)),
            failures=assessment.failures,
            notes=assessment.notes,
        )
    )


def internal_facts(
    release: Release, assessment: Assessment | None = None, written: Written | None = None
) -> report.InternalFacts:
    """From the source, the release and the record of the run."""
    record, protection = release.record, release.protection
    found = profile(release.source)
    mdav = mdav_loss(release.source, protection)
    words = protection.words if written is None else written.words
    lines = used_plan(words).splitlines()
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
        tasks=tuple(
            report.TaskFacts(
                task.columns,
                task.stratum,
                len(task.rows),
                int(task.labels.max()) + 1,
                task.sse,
                task.bound,
                task.recipe if task.columns else "",
                task.reason,
                task.truncated,
            )
            for task in release.partitions
        ),
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
        measures=() if assessment is None else tuple(_measured(assessment)),
        measure_notes=() if assessment is None else assessment.notes,
        warnings=tuple(_warnings(release, found, mdav, assessment)),
    )


def external_facts(release: Release, assessment: Assessment | None = None) -> report.ExternalFacts:
    """From the released table, the plan and the verdict; figures that need the source have two digits."""
    protection, claims, verdict = release.protection, release.claims, release.verdict
    table = release.verified.microdata.table
    joint = () if verdict.joint is None else (verdict.joint,)
    missing = any(table.column(name).null_count for name in protection.changed)
    return report.ExternalFacts(
        written=datetime.now(UTC).strftime("%Y-%m-%d"),
        software=f"microagg {release.record['software']['microagg']}",
        k=protection.k,
        records=verdict.records,
        suppressed=verdict.suppressed,
        dropped=len(protection.drop),
        sentence=verdict.sentence,
        counted=tuple(
            (count.columns, what, count.classes, count.smallest)
            for what, counts in (
                ("keys", verdict.subsets),
                ("all keys together", joint),
                ("confidential", verdict.own_subsets),
            )
            for count in counts
        ),
        partial=verdict.joint is not None and verdict.joint.below > 0,
        policies=report.Policies(
            columns=tuple(table.column_names),
            subsets=protection.subsets,
            strata=protection.strata,
            own_subsets=protection.own_subsets,
            noised=protection.noised,
            noise=NOISE if protection.noise is None else protection.noise,
            correlated_noise=protection.confidential_as == "correlated-noise",
            confidential=protection.confidential,
            recoded=claims.recoded,
            weight=protection.weight,
            medians=protection.aggregate == "median",
            gives_up_values=protection.missing == "by-pattern" and missing,
            zeros_apart=protection.zeros == "apart",
            min_distinct=protection.min_distinct,
            homogeneous=bool(verdict.homogeneous),
        ),
        measures=tuple(_outside(release, assessment)),
        columns=protection.changed,
        released=np.stack([_released(release, column) for column in protection.changed], axis=1),
        sizes=_class_sizes(release),
    )


def _original(release: Release, column: str) -> Doubles:
    return read.numbers_of(release.source, column, release.protection.missing_codes.get(column, ()))


def _released(release: Release, column: str) -> Doubles:
    """The column as numbers, NaN where missing."""
    import pyarrow as pa

    values = release.verified.microdata.table.column(column).cast(pa.float64())
    return np.array(values.to_numpy(), dtype=np.float64)


def _class_sizes(release: Release) -> Codes:
    """How many records share each combination of strata and keys, in the release."""
    keys = [*release.protection.strata, *(name for subset in release.protection.subsets for name in subset)]
    counted = release.verified.microdata.table.select(keys).group_by(keys).aggregate([([], "count_all")])
    return np.asarray(counted.column("count_all").to_numpy(), dtype=np.int64)


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
            count += int(task.labels.max()) + 1
            left -= len(task.rows)
        found.append(_subset(release, columns, groups[release.rows]))
    return tuple(found)


def _subset(release: Release, columns: Sequence[str], groups: Codes | None) -> report.Subset:
    return report.Subset(
        tuple(columns),
        np.stack([_original(release, column)[release.rows] for column in columns], axis=1),
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


def _warnings(
    release: Release, found: Profile, mdav: float | None, assessment: Assessment | None
) -> Iterator[str]:
    """What should not be overlooked."""
    protection = release.protection
    if assessment is not None:
        yield from assessment.failures
    for identity in found.identities:
        terms = [identity.total, *identity.parts]
        masked = [term for term in terms if term in protection.changed]
        if len(masked) == 1 and not set(terms) & set(protection.drop):
            yield errors.note_recomputable(masked[0], [term for term in terms if term != masked[0]])
    for names in found.identical:
        masked = [name for name in names if name in protection.changed]
        open_ = [name for name in names if name not in (*protection.changed, *protection.drop)]
        if masked and open_:
            yield errors.note_copy(masked[0], open_[0])
    if any(task.truncated for task in release.partitions):
        yield errors.note_cut_short()
    if mdav is not None and release.information_loss > mdav * (1.0 + 1e-9):
        yield errors.note_worse_than_mdav(release.information_loss, mdav)
    yield from (note for note in release.verdict.notes if note.startswith("accepted"))


def _measured(assessment: Assessment) -> Iterator[report.Measured]:
    for name, found in assessment.findings.items():
        measure = assessment.described[name]
        yield report.Measured(
            name=name,
            kind=measure.kind,
            title=measure.title,
            value=found.value,
            unit=measure.unit,
            definition=measure.definition,
            formula=measure.formula,
            range=measure.range,
            higher=measure.higher,
            reference=measure.reference,
            parts=found.parts,
            note=found.note,
        )


def _analyses(assessment: Assessment) -> Iterator[report.Analysis]:
    """Models and indicators that were named, before and after."""
    for model in assessment.models:
        left_out = f", {model.left_out} left out" if model.left_out else ""
        yield report.Analysis(
            str(model.model),
            ("coefficient", "before", "error", "after", "error", "overlap"),
            tuple(
                (each.name, each.before, each.error_before, each.after, each.error_after, each.overlap)
                for each in model.coefficients
            ),
            f"Mean overlap of the 95 % confidence intervals {model.overlap:.3g} (1 is the best), R² "
            f"{model.explained_before:.3g} before and {model.explained_after:.3g} after, "
            f"{model.records} records{left_out}.",
        )
    for indicator in assessment.indicators:
        change = indicator.mean_change
        yield report.Analysis(
            str(indicator.indicator),
            ("group", "records", "before", "after", "change in percent"),
            tuple(
                (each.label, float(each.records), each.before, each.after, each.relative)
                for each in indicator.groups
            ),
            "" if change is None else f"Mean absolute change {change:.3g} %.",
        )


def _outside(release: Release, assessment: Assessment | None) -> Iterator[report.Measured]:
    """Single figures of the whole release, with two digits; neither parts nor notes."""
    known = {} if assessment is None else {each.name: each for each in _measured(assessment)}
    if "il" not in known:
        known["il"] = report.Measured(
            name="il",
            kind="utility",
            title="information loss",
            value=release.information_loss,
            unit="%",
            definition="The share of the variation of masked columns that averaging within groups removes.",
            formula="100 · SSE / SST",
            range="0 to 100 %, 0 is the best",
            higher="that more detail is gone",
        )
    for name in OUTSIDE:
        if name in known and np.isfinite(known[name].value):
            value = float(f"{known[name].value:.1e}")
            yield replace(known[name], value=value, parts={}, note="")
