"""A release made on Spark: cells, groups, published values, and the verdict on them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from pyspark.sql import DataFrame

from microagg import errors
from microagg.aggregate.masking import MORE_DECIMALS
from microagg.engines.local import (
    another_partition_may_help,
    check_before_search,
    notes_on_run,
)
from microagg.engines.randomness import Randomness
from microagg.engines.run_record import RunRecord
from microagg.engines.solving import Watcher
from microagg.engines.spark import numbered_frame
from microagg.engines.spark.cells import Sizes
from microagg.engines.spark.faults import translating_spark_errors
from microagg.engines.spark.limits import check_settings, sizes_of
from microagg.engines.spark.numbered_frame import Source
from microagg.engines.spark.packet_job import WEIGHT, PacketResult
from microagg.engines.spark.planning import Keys, Planned, planned
from microagg.engines.spark.release import SparkRelease
from microagg.engines.spark.rounds import jobs_of, notes_of, second_round, solved
from microagg.engines.spark.strata_counts import CountedStrata, counted_strata
from microagg.engines.spark.unassigned_columns import check_roles
from microagg.methods.objective import information_loss
from microagg.methods.run import Progress
from microagg.plan.method import MethodPlan
from microagg.plan.protection import Protection
from microagg.verdict import Finding, Verdict
from microagg.verify.distributed import Fingerprint, verify_frame
from microagg.verify.recount import BeforeAfterColumns, RespondentColumn


@dataclass(frozen=True, slots=True, eq=False)
class _Prepared:
    """The records at work, and all that is known about them before they are grouped."""

    source: Source
    protection: Protection
    sizes: Sizes
    numbered: DataFrame
    """The source, its columns called by number."""
    strata: CountedStrata
    frame: DataFrame
    """The records that are to be released, with their strata and hashes."""
    keys: Keys
    plan: Planned
    decimals: dict[str, int | None]
    respondents: tuple[RespondentColumn, ...]

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(self.plan.profile.records, self.plan.profile.fingerprint)


@dataclass(frozen=True, slots=True, eq=False)
class _Attempt:
    """Groups by one method, and the verdict on what they publish."""

    paired: DataFrame
    sides: BeforeAfterColumns
    results: list[list[PacketResult]]
    verdict: Verdict
    released: Fingerprint


def protect(
    source: Source,
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
    numbered_frame.check_source(source, protection)
    session = source.frame.sparkSession
    sizes = sizes_of(protection.k, session.conf.get("spark.microagg.blockRecords", None))
    steps = _Steps(started, progress)
    with translating_spark_errors(session, "reading the source"):
        prepared = _prepare(source, protection, sizes, steps)
    if repeats is not None:
        repeats.check_source(source.origin.name, str(prepared.fingerprint))
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
        sides=attempt.sides,
        source=source,
        protection=prepared.protection,
        verdict=replace(attempt.verdict, findings=(*attempt.verdict.findings, *notes)),
        found=tuple(attempt.results),
        fingerprint=prepared.fingerprint,
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


def _prepare(source: Source, protection: Protection, sizes: Sizes, steps: _Steps) -> _Prepared:
    steps.at("looking at columns", 0.0)
    check_roles(source, protection)
    protection = protection.complete(source.columns)
    numbered_frame.refuse_invalid_text(source, protection)
    numbered_frame.refuse_text(source, protection)
    respondents = tuple(numbered_frame.respondents(source, protection))
    numbered = numbered_frame.by_number(source, protection, respondents)
    if protection.weight is not None:
        numbered_frame.refuse_weights(numbered, protection.weight)
    strata = counted_strata(source, numbered, protection)
    frame = numbered_frame.with_hashes(numbered_frame.with_strata(numbered, strata.table, strata.columns))
    keys = _keys(source, protection)
    steps.at("counting records", 0.05)
    plan = planned(frame, protection, keys, strata.sizes, sizes)
    decimals = _decimals(protection, keys, plan)
    return _Prepared(source, protection, sizes, numbered, strata, frame, keys, plan, decimals, respondents)


def _attempt(prepared: _Prepared, method: MethodPlan, steps: _Steps) -> _Attempt:
    """Group and count; what Spark keeps of it is released by the caller, or here after a failure."""
    protection, strata = prepared.protection, prepared.strata
    steps.at("grouping records", 0.15)
    jobs = jobs_of(protection, prepared.keys, prepared.plan, method, prepared.decimals)
    paired = solved(prepared.frame, jobs).persist()
    try:
        results = notes_of(paired, jobs)
        if method.effort == "best" and any(job.cells.cuts for job in jobs):
            steps.at("grouping across borders", 0.6)
            paired, results = second_round(paired, results, jobs, protection, strata.sizes, prepared.sizes)
        steps.at("counting again", 0.85)
        sides = _sides(prepared)
        verdict, released = verify_frame(
            paired,
            sides,
            protection,
            prepared.source.columns,
            prepared.fingerprint,
            strata.suppressed,
            prepared.numbered,
            parts=max(len(own) for own in results),
        )
    except BaseException:
        paired.unpersist()
        raise
    return _Attempt(paired, sides, results, verdict, released)


class _Steps:
    """Reports progress; `Cancelled` if the user's function returns True."""

    def __init__(self, started: float, progress: Watcher | None) -> None:
        self._started, self._progress = started, progress

    def at(self, stage: str, done: float) -> None:
        if self._progress is None:
            return
        if self._progress(Progress(stage, done, monotonic() - self._started)) is True:
            raise errors.Cancelled("The run was cancelled.")


def _keys(source: Source, protection: Protection) -> Keys:
    subsets = (*protection.subsets, *protection.own_subsets)
    names = [name for subset in subsets for name in subset]
    places = tuple(tuple(names.index(name) for name in subset) for subset in subsets)
    return Keys(tuple(f"x{source.at(name)}" for name in names), tuple(names), places)


def _decimals(protection: Protection, keys: Keys, plan: Planned) -> dict[str, int | None]:
    """Decimals to publish, by column of the frame at work."""
    found: dict[str, int | None] = {}
    for column, name, notation in zip(keys.columns, keys.names, plan.profile.notations, strict=True):
        own = notation.decimals_shown
        found[column] = protection.decimals.get(name, None if own is None else own + MORE_DECIMALS)
    return found


def _sides(prepared: _Prepared) -> BeforeAfterColumns:
    source, protection, keys = prepared.source, prepared.protection, prepared.keys
    profile, decimals = prepared.plan.profile, prepared.decimals
    before = {name: f"c{source.at(name)}" for name in protection.strata}
    before |= dict(zip(keys.names, keys.columns, strict=True))
    after = {}
    for name in numbered_frame.released(source, protection):
        at = source.at(name)
        letter = "y" if name in keys.names else "r" if name in prepared.strata.recoded else "c"
        after[name] = f"{letter}{at}"
    content = [f"{'x' if name in keys.names else 'c'}{source.at(name)}" for name in after]
    whole = frozenset(
        name
        for place, name in enumerate(keys.names)
        if decimals[keys.columns[place]] == 0 and max(profile.high[place], -profile.low[place]) < 2.0**53
    )
    weight = WEIGHT if protection.weight is not None else None
    return BeforeAfterColumns(before, after, tuple(content), weight, whole, prepared.respondents)


def _notes(
    prepared: _Prepared, results: Sequence[Sequence[PacketResult]], attempts: int
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


def _loss(results: Sequence[Sequence[PacketResult]]) -> float:
    """100 · SSE / SST over all subsets, of the cells that are released."""
    sst = 0.0
    for own in results:
        for at in range(len(own[0].kept)):
            kept = sum(found.kept[at] for found in own)
            total = math.fsum(found.sums[at] for found in own)
            squares = math.fsum(found.squares[at] for found in own)
            sst += squares - total**2 / kept if kept else 0.0
    return information_loss(math.fsum(found.sse for own in results for found in own), sst)
