"""`assess()` and `compare()`: what a protected file loses and risks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from microagg import wording
from microagg.api.sources import one_file, two_files
from microagg.assessment import assessing
from microagg.assessment.assessment import Assessment
from microagg.assessment.before import RiskBefore, risk_before
from microagg.methods.run import Progress
from microagg.model import Effort, ScaleName
from microagg.plan.assessment_plan import AssessmentPlan
from microagg.plan.file_format import file_options
from microagg.plan.plan_file import Planned
from microagg.plan.strategies import compared_settings, strategies_of
from microagg.settings.declared import (
    LAYOUT_OF_TWO_FILES,
    Aggregate,
    Categories,
    CompareSettings,
    MeasureSettings,
    Missing,
    SmallStrata,
    Zeros,
    options_of_command,
)
from microagg.settings.kinds import Subsets
from microagg.settings.options import (
    by_option_name,
    check,
    documented,
    options_of,
    refuse_without_effect,
    take,
)
from microagg.trials import comparing
from microagg.trials.comparing import Comparison
from microagg.write.output_paths import OutputPaths
from microagg.write.run_record import RunRecord, digest_of, read_record

Columns = str | Sequence[str]


@documented(options_of_command("assess"))
def assess(
    original: object = None,
    protected: object = None,
    *,
    keys: Columns | Sequence[Columns] | None = None,
    each: Columns | None = None,
    strata: Columns | None = None,
    confidential: Columns | None = None,
    weight: str | None = None,
    nominal: Columns | None = None,
    ordinal: Mapping[str, Sequence[str]] | None = None,
    taxonomy: Mapping[str, str | Path | Mapping[str, str]] | None = None,
    importance: Mapping[str, float] | None = None,
    id: str | None = None,  # noqa: A002 (the option's name)
    k: int | None = None,
    missing_codes: Mapping[str, Sequence[float | str]] | None = None,
    model: Columns | None = None,
    indicator: Columns | None = None,
    measures: Columns | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    header: str | Sequence[str | None] | None = None,
    sheet: str | Sequence[str | None] | None = None,
    header_row: int | Sequence[int | None] | None = None,
    plan: str | Path | None = None,
    record: str | Path | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Assessment | RiskBefore:
    """What a protected file or data frame loses and risks, whichever tool has made it.

    original, protected: paths, or data frames of any kind that narwhals knows. Roles of columns are as they
        were, or would be, for `protect`. With an `id` the protected file may lack records. A pair of
        `header`, `sheet` or `header_row` is for the original and for the protected file, each by itself.
        Without `protected`, a `RiskBefore`: how many records of the original as it is are unique by its
        keys, which may be of any type.
    plan: a plan file; what is given beside it replaces what the plan has, a list as a whole.
    progress: called before each measure; when it returns True, `Cancelled` is raised.

    Raises SettingsError or DataError for what cannot be used. A file that must not be released, such as one
    that equals the original, has `failures`; `raise_if_unsafe()` makes them an UnsafeRelease.
    """
    given = by_option_name(locals())
    for other in ("original", "protected", "plan", "record", "progress"):
        given.pop(other, None)
    if record is None and plan is None and not given.keys() & {"keys", "each", "strata", "id"}:
        record = _beside(protected)
    known = None if record is None else _record(record, plan, given, protected)
    planned = Planned.of(plan) if known is None else Planned(known.settings, known.source)
    original = planned.input if original is None else original
    if original is None:
        raise wording.not_given("original", "a data frame or a path")
    _check_callable(progress)
    if protected is None:
        return _risk_before(original, planned, given, progress)
    pairs = {name: given.pop(name) for name in LAYOUT_OF_TWO_FILES if name in given}
    layout = check(LAYOUT_OF_TWO_FILES, pairs) | file_options(given).given()
    own = AssessmentPlan.of(given, planned.settings)
    assessing.check_measures(own)
    before, after = two_files(original, protected, layout, planned, progress)
    if known is None:
        return assessing.assess(before, after, own, progress=progress)
    known.check_source(before.origin.name, digest_of(before))
    known.check_output(after)
    return assessing.assess(before, after, own, known.rows, progress)


def _beside(protected: object) -> Path | None:
    """The record where `protect` puts it by default, if there is one."""
    if not isinstance(protected, str | Path):
        return None
    places = OutputPaths.of(protected, None, False)
    record = places.folder / places.record
    return record if record.is_file() else None


def _record(path: object, plan: object, given: Mapping[str, object], protected: object) -> RunRecord:
    """The record of a protected file. It has the roles; records are matched by nothing else."""
    if not isinstance(path, str | Path):
        raise wording.bad_value("record", "the path of an internal record")
    others = [*(["plan"] if plan is not None else []), *(["id"] if "id" in given else [])]
    if others:
        raise wording.beside_record(others)
    if protected is None:
        raise wording.needs_protected("record")
    record = read_record(Path(path))
    if record.engine != "local":
        raise wording.record_without_rows(str(record.path))
    return record


@documented(options_of_command("compare"))
def compare(
    data: object = None,
    k: int | Sequence[int] = (3, 5, 10),
    methods: str | Sequence[str] = ("mdav", "auto"),
    *,
    keys: Columns | Sequence[Columns] | None = None,
    subsets: str | Sequence[str | Sequence[Columns]] | None = None,
    categories: Categories | Sequence[Categories] | None = None,
    aggregate: Aggregate | Sequence[Aggregate] | None = None,
    strata: Columns | None = None,
    confidential: Columns | None = None,
    weight: str | None = None,
    nominal: Columns | None = None,
    ordinal: Mapping[str, Sequence[str]] | None = None,
    taxonomy: Mapping[str, str | Path | Mapping[str, str]] | None = None,
    importance: Mapping[str, float] | None = None,
    small_strata: SmallStrata | None = None,
    missing: Missing | None = None,
    missing_codes: Mapping[str, Sequence[float | str]] | None = None,
    zeros: Zeros | None = None,
    accept: Columns | None = None,
    scale: ScaleName | None = None,
    effort: Effort | None = None,
    seconds: float | None = None,
    seed: int | None = None,
    threads: int | None = None,
    max_risk: float = 0.1,
    measures: Columns | None = None,
    record: str | Path | None = None,
    again: bool = False,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    header: str | None = None,
    sheet: str | None = None,
    header_row: int | None = None,
    plan: str | Path | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Comparison:
    """Try strategies on the same data and compare what each loses and risks. Nothing is released.

    data: a path, or a data frame of any kind that narwhals knows.
    k, methods, subsets, categories, aggregate: one or several; all are tried with each other. The risk is
        that of `linkage_distance`; if no strategy is within `max_risk`, the one with the least risk is
        recommended. The same call goes on where another was interrupted.
    plan: a plan file, for its data, roles and policies; what is given beside it replaces what it has. Its k
        and its method are not taken, for those are compared.
    progress: called about twenty times a second; when it returns True, `Cancelled` is raised.

    The result's `frame` has one row for each strategy, in the kind of frame that was given.
    """
    given = by_option_name(locals())
    for other in ("data", "plan", "progress"):
        given.pop(other, None)
    planned = Planned.of(plan)
    data = planned.input if data is None else data
    if data is None:
        raise wording.not_given("data", "a data frame or a path")
    given = _with_roles_and_policies(planned, given)
    layout = file_options(given)
    others = take(MeasureSettings, given).measures
    own = take(CompareSettings, given)
    strategies = strategies_of(own, given)
    refuse_without_effect(options_of(CompareSettings), own)
    _check_callable(progress)
    comparing.check_compared_measures(others)
    return comparing.compare(
        one_file(data, layout, planned, progress),
        strategies,
        max_risk=own.max_risk,
        measures=others,
        journal=None if own.record is None else comparing.journal_in(Path(own.record)),
        again=own.again,
        threads=threads,
        progress=progress,
    )


def _check_callable(progress: object) -> None:
    if progress is not None and not callable(progress):
        raise wording.not_callable("progress", type(progress).__name__)


def _with_roles_and_policies(planned: Planned, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a plan has for a comparison, and what is given in its place. Codes for missing answers are taken
    of keys.
    """
    taken = compared_settings(planned.settings)
    merged = {**taken, **given}
    if "missing_codes" in taken and "missing_codes" not in given and "keys" in merged:
        keys = {column for subset in Subsets().check("keys", merged["keys"]) for column in subset}
        codes = taken["missing_codes"]
        merged["missing_codes"] = {column: codes[column] for column in codes if column in keys}
    return merged


def _risk_before(
    original: object,
    planned: Planned,
    given: dict[str, Any],
    progress: Callable[[Progress], object] | None,
) -> RiskBefore:
    """The risk of one file as it is."""
    layout = file_options(given)
    own = AssessmentPlan.of(given, planned.settings, of_one_file=True)
    source = one_file(original, layout, planned, progress)
    return risk_before(source, own, planned.settings.get("drop", ()))
