"""`protect()`: a file or data frame becomes a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from microagg import wording
from microagg.api.sources import microdata_from
from microagg.engines import local
from microagg.engines.any_release import AnyRelease
from microagg.engines.randomness import Randomness
from microagg.engines.spark import is_spark_frame
from microagg.methods.run import Progress
from microagg.methods.stage import Stage
from microagg.model import Effort, Origin, ScaleName
from microagg.plan import plan_file
from microagg.plan.file_format import file_options
from microagg.plan.protection import Protection
from microagg.settings.declared import (
    PLAN_OPTIONS,
    Aggregate,
    Categories,
    ConfidentialAs,
    Missing,
    Rest,
    SmallStrata,
    Zeros,
)
from microagg.settings.options import by_option_name, documented
from microagg.settings.replaced import refusing_replaced
from microagg.verdict import Finding, note
from microagg.write.run_record import SPARK_FRAME, RunRecord, digest_of, digest_of_values, read_record

Columns = str | Sequence[str]


@refusing_replaced
@documented(PLAN_OPTIONS)
def protect(
    data: object = None,
    k: int | None = None,
    *,
    keys: Columns | Sequence[Columns] | None = None,
    each: Columns | None = None,
    strata: Columns | None = None,
    confidential: Columns | None = None,
    drop: Columns | None = None,
    pass_: Columns | None = None,
    weight: str | None = None,
    respondent: str | None = None,
    amounts: Columns | None = None,
    p_percent: float | None = None,
    rest: Rest | None = None,
    small_strata: SmallStrata | None = None,
    missing: Missing | None = None,
    missing_codes: Mapping[str, Sequence[float | str]] | None = None,
    aggregate: Aggregate | None = None,
    categories: Categories | None = None,
    clip: bool | None = None,
    decimals: Mapping[str, int] | None = None,
    zeros: Zeros | None = None,
    nominal: Columns | None = None,
    ordinal: Mapping[str, Sequence[str]] | None = None,
    resolution: Mapping[str, str] | None = None,
    taxonomy: Mapping[str, str | Path | Mapping[str, str]] | None = None,
    importance: Mapping[str, float] | None = None,
    keep_order: bool | None = None,
    confidential_as: ConfidentialAs | None = None,
    noise: float | None = None,
    min_distinct: int | None = None,
    retry: bool | None = None,
    accept: Columns | None = None,
    method: str | Stage | None = None,
    scale: ScaleName | None = None,
    effort: Effort | None = None,
    seconds: float | None = None,
    seed: int | None = None,
    threads: int | None = None,
    certify: bool | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    header: str | None = None,
    sheet: str | None = None,
    header_row: int | None = None,
    plan: str | Path | None = None,
    repeat: str | Path | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> AnyRelease:
    """Protect a file or data frame: every released combination of the keys is shared by at least k records.

    data: a path, or a data frame of any kind that narwhals knows; one of Spark is protected by Spark, and
        the release's data are a frame of Spark. Every column needs a role, or `rest` says what
        happens to those without. A list of lists of keys are subsets, each masked by itself.
    plan: a plan file; what is given beside it replaces what the plan has, a list as a whole.
    repeat: the internal record of a release that is to be made again: settings, seed and key are its own,
        and `save` writes the same bytes, or nothing.
    progress: called about twenty times a second. When it returns True, strata that are done keep their
        groups, those at work their best so far, and others get groups of a quick method; on Spark
        `Cancelled` is raised.

    Raises SettingsError or DataError for what cannot be used, UnsafeRelease for what must not be released.
    """
    given = by_option_name(locals())
    for other in ("data", "plan", "progress", "repeat"):
        given.pop(other, None)
    if repeat is not None:
        record = read_record(_path("repeat", repeat, "the path of an internal record"))
        refuse_beside_repeat([*(["plan"] if plan is not None else []), *given])
        return repeat_with(record, data, progress)
    planned = {}
    if plan is not None:
        planned = plan_file.read_plan(_path("plan", plan, "the path of a plan file"))
    source = planned.pop("input", None) if data is None else data
    planned.pop("input", None)
    planned.pop("output", None)
    replaced = [name for name, value in given.items() if name in planned and planned[name] != value]
    notes = [note("plan_replaced", source=str(plan), options=replaced)] if replaced else []
    return protect_with(source, {**planned, **given}, progress, notes)


def protect_with(
    source: object,
    settings: dict[str, Any],
    progress: Callable[[Progress], object] | None,
    notes: Sequence[Finding] = (),
    repeats: RunRecord | None = None,
) -> AnyRelease:
    """A release of a source by settings, which have the names that they have in a plan file.

    `repeats`: the record of the release that is to be made again.
    """
    layout = file_options(settings)
    protection = Protection.of(settings)
    if progress is not None and not callable(progress):
        raise wording.not_callable("progress", type(progress).__name__)
    if source is None:
        raise wording.not_given("data", "a data frame or a path")
    if is_spark_frame(source):
        return _protect_on_spark(source, protection, list(layout.given()), progress, repeats)
    microdata = microdata_from(source, layout, progress)
    origin = replace(microdata.origin, notes=(*microdata.origin.notes, *notes))
    microdata = replace(microdata, origin=origin)
    if repeats is None:
        return local.protect(microdata, protection, progress)
    repeats.check_repeatable("local")
    repeats.check_source(microdata.origin.name, digest_of(microdata))
    release = local.protect(microdata, protection, progress, Randomness(repeats.seed, repeats.key))
    repeats.check_released(digest_of_values(release.verified.microdata.table))
    return replace(release, repeats=repeats)


def repeat_with(
    record: RunRecord, source: object, progress: Callable[[Progress], object] | None
) -> AnyRelease:
    """The release of a record, made again from its source, which the record names if none is given."""
    if source is None and record.source is None:
        raise wording.no_path_in_record(str(record.path))
    source = record.source if source is None else source
    settings = record.settings if isinstance(source, str | Path) else dict(record.content["plan"])
    return protect_with(source, settings, progress, repeats=record)


def refuse_beside_repeat(options: Sequence[str]) -> None:
    """`SettingsError` for options that the record has settled."""
    if options:
        raise wording.settings_beside_repeat(list(options))


def _path(option: str, given: object, needed: str) -> Path:
    if not isinstance(given, str | Path):
        raise wording.bad_value(option, needed)
    return Path(given)


def _protect_on_spark(
    frame: Any,
    protection: Protection,
    unused: list[str],
    progress: Callable[[Progress], object] | None,
    repeats: RunRecord | None,
) -> AnyRelease:
    from microagg.engines.spark.protecting import protect as protect_frame
    from microagg.formats.spark_folders import FrameSource  # Spark need not be installed

    if unused:
        raise wording.not_csv("what was given", "Spark frame", unused)
    source = FrameSource(frame, Origin(SPARK_FRAME, "the Spark frame"))
    return protect_frame(source, protection, progress, repeats)
