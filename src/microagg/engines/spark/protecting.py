"""A release made on Spark: blocks, groups, published values, and the verdict on them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import monotonic

import numpy as np
from pyspark.sql import DataFrame

from microagg.aggregate.masking import MORE_DECIMALS
from microagg.engines.local import (
    another_partition_may_help,
    check_before_search,
    notes_on_run,
)
from microagg.engines.randomness import Randomness
from microagg.engines.run_record import RunRecord
from microagg.engines.solving import Watcher
from microagg.engines.spark import source_checks, working_frame
from microagg.engines.spark.block_plan import BlockPlan, Keys, plan_blocks
from microagg.engines.spark.distribution import (
    collect_results,
    make_jobs,
    solve_across_borders,
    solve_parts,
)
from microagg.engines.spark.limits import check_settings, sizes_of
from microagg.engines.spark.part_job import WEIGHT, PartResult
from microagg.engines.spark.release import SparkRelease
from microagg.engines.spark.spark_errors import translating_spark_errors
from microagg.engines.spark.strata_counts import CountedStrata, count_strata
from microagg.engines.steps import Steps
from microagg.formats.spark_folders import FrameSource
from microagg.methods.objective import information_loss
from microagg.plan.method import MethodPlan
from microagg.plan.protection import Protection
from microagg.prepare.blocks import Sizes
from microagg.verdict import Finding, Verdict
from microagg.verify.frame_counting import BeforeAfterColumns, RespondentColumn
from microagg.verify.frame_release import Fingerprint, verify_frame


@dataclass(frozen=True, slots=True, eq=False)
class _Prepared:
    """The records at work, and all that is known about them before they are grouped."""

    source: FrameSource
    protection: Protection
    sizes: Sizes
    numbered: DataFrame
    """The source, its columns called by number."""
    strata: CountedStrata
    frame: DataFrame
    """The records that are to be released, with their strata and hashes."""
    keys: Keys
    plan: BlockPlan
    decimals: dict[str, int | None]
    """To publish, by column of the frame at work."""
    sides: BeforeAfterColumns


@dataclass(frozen=True, slots=True, eq=False)
class _Attempt:
    """Groups by one method, and the verdict on what they publish."""

    paired: DataFrame
    results: list[list[PartResult]]
    verdict: Verdict
    released: Fingerprint


def protect(
    source: FrameSource,
    protection: Protection,
    progress: Watcher | None = None,
    repeats: RunRecord | None = None,
) -> SparkRelease:
    """A verified release of the source, or an exception with the reasons against it.

    `repeats`: the record of a release that is to be made again.
    """
    started = monotonic()
    if repeats is not None:
        repeats.check_repeatable("spark")
    randomness = Randomness.drawn(protection) if repeats is None else repeats.randomness
    protection = randomness.applied(protection)
    check_settings(protection)
    check_before_search(protection)
    source_checks.check_types(source, protection)
    session = source.frame.sparkSession
    sizes = sizes_of(protection.k, session.conf.get("spark.microagg.blockRecords", None))
    steps = Steps(progress)
    with translating_spark_errors(session, "reading the source"):
        prepared = _prepare(source, protection, sizes, steps)
    if repeats is not None:
        repeats.check_source(source.origin.name, str(prepared.plan.profile.source))
    attempts = 0
    for method in randomness.plans(protection):
        attempts += 1
        with translating_spark_errors(session, "grouping records"):
            attempt = _attempt(prepared, method, steps)
        if attempt.verdict.safe or not another_partition_may_help(attempt.verdict, protection):
            break
        attempt.paired.unpersist()
    if not attempt.verdict.safe:
        attempt.paired.unpersist()
    attempt.verdict.raise_if_unsafe(attempts)
    notes = _notes(prepared, attempt.results, attempts)
    release = SparkRelease(
        paired=attempt.paired,
        sides=prepared.sides,
        source=source,
        protection=prepared.protection,
        verdict=replace(attempt.verdict, findings=(*attempt.verdict.findings, *notes)),
        found=tuple(attempt.results),
        fingerprint=prepared.plan.profile.source,
        released=attempt.released,
        information_loss=_loss(attempt.results),
        seconds=monotonic() - started,
        key=randomness.key,
    )
    if repeats is not None:
        try:
            repeats.check_released(str(release.released))
        except BaseException:
            release.close()
            raise
    return replace(release, repeats=repeats)


def _prepare(source: FrameSource, protection: Protection, sizes: Sizes, steps: Steps) -> _Prepared:
    steps.begin("looking at columns", 0.0)
    source_checks.check_roles(source, protection)
    protection = protection.complete(source.columns)
    source_checks.refuse_invalid_text(source, protection)
    source_checks.refuse_text_among_numbers(source, protection)
    respondents = tuple(working_frame.respondents(source, protection))
    numbered = working_frame.by_number(source, protection, respondents)
    if protection.weight is not None:
        source_checks.refuse_weights(numbered, protection.weight)
    strata = count_strata(source, numbered, protection)
    frame = working_frame.with_hashes(working_frame.with_strata(numbered, strata.table, strata.columns))
    keys = _keys(source, protection)
    steps.begin("counting records", 0.05)
    plan = plan_blocks(frame, protection, keys, strata.sizes, sizes)
    decimals = _decimals(protection, keys, plan)
    sides = _sides(source, protection, keys, plan, decimals, strata.recoded, respondents)
    return _Prepared(source, protection, sizes, numbered, strata, frame, keys, plan, decimals, sides)


def _attempt(prepared: _Prepared, method: MethodPlan, steps: Steps) -> _Attempt:
    """Group and count; what Spark keeps of it is released by the caller, or here after a failure."""
    protection, strata = prepared.protection, prepared.strata
    steps.begin("grouping records", 0.15)
    jobs = make_jobs(protection, prepared.keys, prepared.plan, method, prepared.decimals)
    paired = solve_parts(prepared.frame, jobs).persist()
    try:
        results = collect_results(paired, jobs)
        if method.effort == "best" and any(job.blocks.cuts for job in jobs):
            steps.begin("grouping across borders", 0.6)
            paired, results = solve_across_borders(paired, results, jobs, strata.sizes, prepared.sizes)
        steps.begin("counting again", 0.85)
        verdict, released = verify_frame(
            paired,
            prepared.sides,
            protection,
            prepared.source.columns,
            prepared.plan.profile.source,
            strata.suppressed,
            prepared.numbered,
            parts=max(len(own) for own in results),
        )
    except BaseException:
        paired.unpersist()
        raise
    return _Attempt(paired, results, verdict, released)


def _keys(source: FrameSource, protection: Protection) -> Keys:
    subsets = (*protection.subsets, *protection.own_subsets)
    names = [name for subset in subsets for name in subset]
    places = tuple(tuple(names.index(name) for name in subset) for subset in subsets)
    return Keys(tuple(f"x{source.at(name)}" for name in names), tuple(names), places)


def _decimals(protection: Protection, keys: Keys, plan: BlockPlan) -> dict[str, int | None]:
    found: dict[str, int | None] = {}
    for column, name, notation in zip(keys.columns, keys.names, plan.notations, strict=True):
        own = notation.decimals_shown
        found[column] = protection.decimals.get(name, None if own is None else own + MORE_DECIMALS)
    return found


def _sides(
    source: FrameSource,
    protection: Protection,
    keys: Keys,
    plan: BlockPlan,
    decimals: dict[str, int | None],
    recoded: Sequence[str],
    respondents: tuple[RespondentColumn, ...],
) -> BeforeAfterColumns:
    before = {name: f"c{source.at(name)}" for name in protection.strata}
    before |= dict(zip(keys.names, keys.columns, strict=True))
    after = {}
    for name in working_frame.released(source, protection):
        letter = "y" if name in keys.names else "r" if name in recoded else "c"
        after[name] = f"{letter}{source.at(name)}"
    content = tuple(f"{'x' if name in keys.names else 'c'}{source.at(name)}" for name in after)
    largest = np.maximum(plan.profile.high, -plan.profile.low)
    whole = frozenset(
        name
        for name, column, value in zip(keys.names, keys.columns, largest, strict=True)
        if decimals[column] == 0 and value < 2.0**53
    )
    weight = WEIGHT if protection.weight is not None else None
    return BeforeAfterColumns(before, after, content, weight, whole, respondents)


def _notes(
    prepared: _Prepared, results: Sequence[Sequence[PartResult]], attempts: int
) -> Iterator[Finding]:
    keys = prepared.keys
    lost: dict[str, int] = {}
    for places, own in zip(keys.subsets, results, strict=True):
        for at, place in enumerate(places):
            given_up = sum(result.had[at] - result.kept[at] for result in own)
            if given_up:
                lost[keys.names[place]] = given_up
    mixed_zeros = sum(result.mixed_zeros for own in results for result in own)
    merged = prepared.strata.merged
    return notes_on_run(prepared.protection, merged, lost, mixed_zeros, attempts)


def _loss(results: Sequence[Sequence[PartResult]]) -> float:
    """100 · SSE / SST over all subsets, of the values that are released."""
    sst = 0.0
    for own in results:
        for at in range(len(own[0].kept)):
            kept = sum(found.kept[at] for found in own)
            total = math.fsum(found.sums[at] for found in own)
            squares = math.fsum(found.squares[at] for found in own)
            sst += squares - total**2 / kept if kept else 0.0
    return information_loss(math.fsum(found.sse for own in results for found in own), sst)
