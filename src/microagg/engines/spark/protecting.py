"""A release made on Spark: blocks, groups, published values, and the verdict on them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic

import numpy as np
from pyspark.sql import DataFrame

from microagg import wording
from microagg.aggregate.losses import ColumnLoss, Losses, loss_of_columns
from microagg.aggregate.masking import MORE_DECIMALS
from microagg.aggregate.tables import MOST_CATEGORIES
from microagg.engines.local import (
    another_partition_may_help,
    check_before_search,
    notes_on_run,
)
from microagg.engines.randomness import Randomness
from microagg.engines.spark import source_checks, working_frame
from microagg.engines.spark.block_plan import BlockPlan, Keys, plan_blocks
from microagg.engines.spark.distribution import (
    collect_results,
    make_jobs,
    solve_across_borders,
    solve_parts,
)
from microagg.engines.spark.frame_counts import spread_of
from microagg.engines.spark.key_kinds import key_kinds, numbers_among_keys, numbers_column
from microagg.engines.spark.limits import check_settings, sizes_of
from microagg.engines.spark.part_job import WEIGHT, PartResult
from microagg.engines.spark.release import SparkRelease
from microagg.engines.spark.spark_errors import translating_spark_errors
from microagg.engines.spark.strata_counts import CountedStrata, count_strata
from microagg.formats.spark_folders import FrameSource
from microagg.methods.objective import information_loss
from microagg.methods.recipe import MethodPlan
from microagg.methods.run import Watcher
from microagg.methods.steps import Steps
from microagg.model import Doubles
from microagg.plan.protection import Protection
from microagg.prepare.key_columns import KeyColumn
from microagg.prepare.large_strata import Sizes
from microagg.prepare.prepared import refuse_without_categories
from microagg.verdict import Finding, Verdict
from microagg.verify.frame_columns import BeforeAfterColumns, RespondentColumn
from microagg.verify.frame_release import Fingerprint, verify_frame
from microagg.verify.one_pass import answered
from microagg.verify.promises import Notation
from microagg.write.run_record import RunRecord


@dataclass(frozen=True, slots=True, eq=False)
class _PreparedFrame:
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
        randomness = Randomness(repeats.seed, repeats.key)
    else:
        randomness = Randomness.drawn(protection)
    protection = randomness.applied(protection)
    check_settings(protection)
    check_before_search(protection)
    source_checks.check_types(source, protection)
    session = source.frame.sparkSession
    sizes = sizes_of(protection.k, session.conf.get("spark.microagg.blockRecords", None))
    steps = Steps(progress)
    with translating_spark_errors(session, "reading the source"):
        prepared = _prepared_frame(source, protection, sizes, steps)
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
    notes = _notes_on_parts(prepared, attempt.results, attempts)
    release = SparkRelease(
        paired=attempt.paired,
        sides=prepared.sides,
        source=source,
        protection=prepared.protection,
        verdict=replace(attempt.verdict, findings=(*attempt.verdict.findings, *notes)),
        found=tuple(attempt.results),
        fingerprint=prepared.plan.profile.source,
        released=attempt.released,
        losses=_losses_of_parts(prepared.keys, prepared.plan, attempt.results),
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


def _prepared_frame(
    source: FrameSource, protection: Protection, sizes: Sizes, steps: Steps
) -> _PreparedFrame:
    steps.begin("looking at columns", 0.0)
    roles = source_checks.check_roles(source, protection)
    protection = protection.complete(source.columns)
    _, _, records, respondents, numbers = answered(
        source.numbered,
        roles,
        source_checks.refuse_invalid_text(source, protection),
        source_checks.count(),
        working_frame.respondents(source, protection),
        numbers_among_keys(source, protection),
    )
    source_checks.refuse_text_among_weights(source, protection)
    strata = count_strata(source, source.numbered, protection, records)
    kinds = key_kinds(source, protection, records, numbers)
    _check_categories(protection, kinds)
    columns = {name: numbers_column(source, name, kind, protection) for name, kind in kinds.items()}
    numbered = working_frame.by_number(source, protection, respondents, columns)
    if protection.weight is not None:
        source_checks.refuse_weights(numbered, protection.weight)
    frame = working_frame.with_hashes(working_frame.with_strata(numbered, strata.table, strata.columns))
    keys = _keys_at_work(source, protection, kinds)
    steps.begin("counting records", 0.05)
    plan = plan_blocks(frame, protection, keys, strata.sizes, sizes)
    decimals = _decimals_of_columns(protection, keys, plan)
    sides = _sides(source, protection, keys, plan, decimals, respondents)
    return _PreparedFrame(source, protection, sizes, numbered, strata, frame, keys, plan, decimals, sides)


def _check_categories(protection: Protection, kinds: Mapping[str, KeyColumn]) -> None:
    """Here and not by a task, which knows columns by number."""
    refuse_without_categories(protection, kinds)
    for name, kind in kinds.items():
        many = 0 if kind.levels is None else len(kind.levels)
        if many > MOST_CATEGORIES and protection.categories in ("margins", "tables"):
            raise wording.too_many_categories_for_tables(name, many, MOST_CATEGORIES)


def _table_columns(prepared: _PreparedFrame) -> tuple[tuple[str, ...], dict[str, Doubles]]:
    """Columns that stay and are in tables, and how the numbers of keys are spread."""
    protection, keys, records = prepared.protection, prepared.keys, prepared.plan.profile.source.records
    stay = [name for name in (*protection.strata, *protection.confidential) if name in prepared.sides.after]
    others = tuple(f"c{prepared.source.at(name)}" for name in stay if name not in protection.changed)
    numbers = [column for at, column in enumerate(keys.columns) if not keys.levels[at]]
    return others, {column: spread_of(prepared.frame, column, records) for column in numbers}


def _attempt(prepared: _PreparedFrame, method: MethodPlan, steps: Steps) -> _Attempt:
    """Group and count; what Spark keeps of it is released by the caller, or here after a failure."""
    protection, strata = prepared.protection, prepared.strata
    steps.begin("grouping records", 0.15)
    others, whole = _table_columns(prepared) if protection.categories == "tables" else ((), {})
    jobs = make_jobs(protection, prepared.keys, prepared.plan, method, prepared.decimals, others, whole)
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
            notation=Notation(prepared.source.origin.decimal, prepared.source.is_text),
        )
    except BaseException:
        paired.unpersist()
        raise
    return _Attempt(paired, results, verdict, released)


def _keys_at_work(source: FrameSource, protection: Protection, kinds: Mapping[str, KeyColumn]) -> Keys:
    names = protection.grouped
    places = tuple(tuple(names.index(name) for name in subset) for subset in protection.all_subsets)
    return Keys(
        tuple(f"x{source.at(name)}" for name in names),
        names,
        places,
        tuple(kinds.get(name) for name in names),
        tuple(protection.importance.get(name, 1.0) for name in names),
    )


def _decimals_of_columns(protection: Protection, keys: Keys, plan: BlockPlan) -> dict[str, int | None]:
    found: dict[str, int | None] = {}
    columns = zip(keys.columns, keys.names, keys.kinds, plan.notations, strict=True)
    for column, name, kind, notation in columns:
        own = notation.decimals_shown if kind is None else None
        found[column] = protection.decimals.get(name, None if own is None else own + MORE_DECIMALS)
    return found


def _sides(
    source: FrameSource,
    protection: Protection,
    keys: Keys,
    plan: BlockPlan,
    decimals: dict[str, int | None],
    respondents: tuple[RespondentColumn, ...],
) -> BeforeAfterColumns:
    before = {name: f"c{source.at(name)}" for name in protection.strata}
    numbers = {name for name, kind in zip(keys.names, keys.kinds, strict=True) if kind is None}
    before |= {name: f"{'x' if name in numbers else 'c'}{source.at(name)}" for name in keys.names}
    after = {}
    for name in working_frame.released_names(source, protection):
        letter = "y" if name in numbers else "p" if name in keys.names else "c"
        after[name] = f"{letter}{source.at(name)}"
    content = tuple(f"{'x' if name in numbers else 'c'}{source.at(name)}" for name in after)
    largest = np.maximum(plan.profile.high, -plan.profile.low)
    whole = frozenset(
        name
        for name, column, value in zip(keys.names, keys.columns, largest, strict=True)
        if decimals[column] == 0 and value < 2.0**53
    )
    weight = WEIGHT if protection.weight is not None else None
    others = tuple(name for name in keys.names if name not in numbers)
    return BeforeAfterColumns(before, after, content, weight, whole, respondents, others)


def _notes_on_parts(
    prepared: _PreparedFrame, results: Sequence[Sequence[PartResult]], attempts: int
) -> Iterator[Finding]:
    keys = prepared.keys
    lost: dict[str, int] = {}
    for places, own in zip(keys.subsets, results, strict=True):
        for at, place in enumerate(places):
            given_up = sum(result.had[at] - result.kept[at] for result in own)
            if given_up:
                lost[keys.names[place]] = given_up
    mixed_zeros = sum(result.mixed_zeros for own in results for result in own)
    return notes_on_run(prepared.protection, lost, mixed_zeros, attempts)


def _losses_of_parts(keys: Keys, plan: BlockPlan, results: Sequence[Sequence[PartResult]]) -> Losses:
    """Of the values that are released, over all subsets."""
    columns: dict[str, ColumnLoss] = {}
    for places, own in zip(keys.subsets, results, strict=True):
        for at, place in enumerate(places):
            parts = [found.losses[keys.columns[place]] for found in own if found.losses]
            total = sum(parts, start=ColumnLoss())
            if keys.levels[place]:
                counts = np.zeros(keys.levels[place], dtype=np.int64)
                for found in own:
                    counts[: len(found.levels[at])] += found.levels[at]
                total.one_for_all = plan.space.total(place, counts)
            else:
                total.one_for_all = _sst_of_parts(own, at)
            columns[keys.names[place]] = total
    if any(keys.levels):
        return Losses(loss_of_columns(columns), None, columns)
    sse = math.fsum(found.sse for own in results for found in own)
    return Losses(information_loss(sse, sum(each.one_for_all for each in columns.values())), None)


def _sst_of_parts(results: Sequence[PartResult], at: int) -> float:
    """Of the released values of a column in common units."""
    kept = sum(found.kept[at] for found in results)
    total = math.fsum(found.sums[at] for found in results)
    squares = math.fsum(found.squares[at] for found in results)
    return squares - total**2 / kept if kept else 0.0
