"""A release made on Spark: cells, groups, published values, and the verdict on them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import monotonic

from microagg import errors, wording
from microagg.engines.local import another_partition_may_help, claims_of, plans_of
from microagg.engines.masking import MORE_DECIMALS, rounding_of
from microagg.engines.solving import Watcher
from microagg.engines.spark import frames
from microagg.engines.spark.faults import translating_spark_errors
from microagg.engines.spark.frames import Source
from microagg.engines.spark.jobs import WEIGHT, PacketResult
from microagg.engines.spark.planning import Keys, Planned, planned
from microagg.engines.spark.release import SparkRelease
from microagg.engines.spark.roles import check_roles
from microagg.engines.spark.rounds import jobs_of, notes_of, second_round, solved
from microagg.engines.spark.strata import counted_strata
from microagg.engines.spark.weights import refuse_weights
from microagg.engines.spark.words import check_words, sizes_of
from microagg.methods.objective import information_loss
from microagg.methods.run import Progress
from microagg.plan.protection import Protection
from microagg.verify.distributed import Fingerprint, verify_frame
from microagg.verify.recount import Sides


def protect(source: Source, protection: Protection, progress: Watcher | None = None) -> SparkRelease:
    """A verified release of the source, or an exception that says what stands against it."""
    started = monotonic()
    check_words(protection)
    frames.check(source, protection)
    session = source.frame.sparkSession
    sizes = sizes_of(protection.k, session.conf.get("spark.microagg.blockRecords", None))
    run = _Steps(started, progress)
    with translating_spark_errors(session, "reading the source"):
        run.at("looking at columns", 0.0)
        check_roles(source, protection)
        frames.refuse_invalid_text(source, protection)
        frames.refuse_text(source, protection)
        numbered = frames.by_number(source, protection)
        if protection.weight is not None:
            refuse_weights(numbered, protection.weight)
        strata = counted_strata(source, numbered, protection)
        frame = frames.with_hashes(frames.with_strata(numbered, strata.table, strata.columns))
        keys = _keys(source, protection)
        run.at("counting records", 0.05)
        plan = planned(frame, protection, keys, strata.sizes, sizes)
    decimals = _decimals(protection, keys, plan)
    fingerprint = Fingerprint(plan.profile.records, plan.profile.fingerprint)
    attempts = 0
    for method in plans_of(protection):
        attempts += 1
        run.at("grouping records", 0.15)
        jobs = jobs_of(protection, keys, plan, method, decimals)
        with translating_spark_errors(session, "grouping records"):
            paired = solved(frame, jobs).persist()
            try:
                notes = notes_of(paired, jobs)
                if method.effort == "best" and any(job.cells.cuts for job in jobs):
                    run.at("grouping across borders", 0.6)
                    paired, notes = second_round(paired, notes, jobs, protection, strata.sizes, sizes)
                run.at("counting again", 0.85)
                claims = claims_of(
                    protection, strata.recoded, *_promises(protection, keys, notes, decimals)
                )
                sides = _sides(source, protection, strata.recoded, keys, decimals, plan)
                verdict, released = verify_frame(
                    paired, sides, claims, fingerprint, strata.suppressed, numbered
                )
            except BaseException:
                paired.unpersist()
                raise
        if verdict.safe or not another_partition_may_help(verdict, protection):
            break
        paired.unpersist()
    if not verdict.safe:
        paired.unpersist()
        if attempts > 1:
            raise wording.retried_in_vain(attempts, verdict.failures)
    verdict.raise_if_unsafe()
    more = _notes(protection, strata.merged, notes, keys, attempts)
    return SparkRelease(
        paired=paired,
        sides=sides,
        source=source,
        claims=claims,
        protection=protection,
        verdict=replace(verdict, notes=(*verdict.notes, *more)),
        found=tuple(notes),
        fingerprint=fingerprint,
        released=released,
        information_loss=_loss(notes),
        seconds=monotonic() - started,
    )


class _Steps:
    """Tells how far the run is; `Cancelled` if that is answered by True."""

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
    """By column of the frame at work."""
    found: dict[str, int | None] = {}
    for column, name, notation in zip(keys.columns, keys.names, plan.profile.notations, strict=True):
        own = notation.found
        found[column] = protection.decimals.get(name, None if own is None else own + MORE_DECIMALS)
    return found


def _promises(
    protection: Protection,
    keys: Keys,
    notes: Sequence[Sequence[PacketResult]],
    decimals: dict[str, int | None],
) -> tuple[dict[str, float], dict[str, float]]:
    """By column: how far a published value may be from the mean, and how far the mean may move.

    Whole numbers keep the total of each packet, as far as the sizes of its groups allow.
    """
    rounding: dict[str, float] = {}
    tolerance: dict[str, float] = {}
    if protection.aggregate == "median":
        return rounding, tolerance
    for places, own in zip(keys.subsets, notes, strict=True):
        for at, place in enumerate(places):
            name, digits = keys.names[place], decimals[keys.columns[place]]
            rounding[name] = rounding_of(digits)
            tolerance[name] = 0.0 if digits is None else rounding[name]
            if digits == 0:
                shares = math.fsum(found.shares[at] for found in own)
                tolerance[name] = 0.5 * math.fsum(found.largest[at] for found in own) / max(shares, 1e-300)
    return rounding, tolerance


def _sides(
    source: Source,
    protection: Protection,
    recoded: Sequence[str],
    keys: Keys,
    decimals: dict[str, int | None],
    plan: Planned,
) -> Sides:
    before = {name: f"c{source.at(name)}" for name in protection.strata}
    before |= dict(zip(keys.names, keys.columns, strict=True))
    after = {}
    for name in frames.released(source, protection):
        at = source.at(name)
        letter = "y" if name in keys.names else "r" if name in recoded else "c"
        after[name] = f"{letter}{at}"
    content = [f"{'x' if name in keys.names else 'c'}{source.at(name)}" for name in after]
    whole = frozenset(
        name
        for place, name in enumerate(keys.names)
        if decimals[keys.columns[place]] == 0
        and max(plan.profile.high[place], -plan.profile.low[place]) < 2.0**53
    )
    weight = WEIGHT if protection.weight is not None else None
    return Sides(before, after, tuple(content), weight, whole)


def _notes(
    protection: Protection, merged: int, notes: Sequence[Sequence[PacketResult]], keys: Keys, attempts: int
) -> Iterator[str]:
    """What a protector should know beside what is counted."""
    if merged:
        yield wording.note_merged(merged)
    lost: dict[str, int] = {}
    for places, own in zip(keys.subsets, notes, strict=True):
        for at, place in enumerate(places):
            given_up = sum(found.had[at] - found.kept[at] for found in own)
            if given_up:
                lost[keys.names[place]] = given_up
    if lost:
        yield wording.note_given_up(protection.k, lost)
    if mixed := sum(found.mixed_zeros for own in notes for found in own):
        yield wording.note_mixed_zeros(mixed)
    if protection.aggregate == "median":
        yield wording.note_medians()
    if not protection.shuffle:
        yield wording.note_no_order()
    if protection.k == 2:
        yield wording.note_pairs()
    if attempts > 1:
        yield wording.note_retried(attempts)


def _loss(notes: Sequence[Sequence[PacketResult]]) -> float:
    """100 · SSE / SST over all subsets, of the cells that are released."""
    sst = 0.0
    for own in notes:
        for at in range(len(own[0].kept)):
            kept = sum(found.kept[at] for found in own)
            total = math.fsum(found.sums[at] for found in own)
            squares = math.fsum(found.squares[at] for found in own)
            sst += squares - total**2 / kept if kept else 0.0
    return information_loss(math.fsum(found.sse for own in notes for found in own), sst)
