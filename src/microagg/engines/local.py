"""A release made in memory: tasks, groups, published values, and the verdict on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic

from microagg.aggregate.covariances import check_covariances
from microagg.aggregate.joining import join_nearest
from microagg.aggregate.losses import losses_of
from microagg.aggregate.masking import (
    masked,
    released_origin,
    released_table,
)
from microagg.engines.randomness import Randomness
from microagg.engines.release import Release
from microagg.methods.recipe import MethodPlan
from microagg.methods.run import Progress, Watcher
from microagg.methods.solving import solve_all
from microagg.methods.steps import Steps
from microagg.model import Microdata, Partition, TaskPartition, Verified
from microagg.plan.protection import Protection
from microagg.prepare.prepared import prepare
from microagg.prepare.strata import Strata
from microagg.prepare.tasks import Tasks
from microagg.verdict import Finding, Verdict, note, unsafe_release
from microagg.verify import check_source, unchecked_source, verify_protected
from microagg.verify.promises import promises_of
from microagg.verify.rules import judged, pairs
from microagg.wording import Step
from microagg.write.run_record import released_order


def protect(
    source: Microdata,
    protection: Protection,
    progress: Watcher | None = None,
    randomness: Randomness | None = None,
    *,
    trial: bool = False,
    search: Callable[..., list[Partition]] | None = None,
) -> Release:
    """A verified release of the source, or an exception with the reasons against it.

    What is random comes from the system, unless `randomness` is given. A trial is not to be saved: its
    source, perhaps a part of a file, is not read a second time. `search` knows groups already, perhaps.
    """
    started = monotonic()
    randomness = randomness or Randomness.drawn(protection)
    protection = randomness.applied(protection)
    stop = _StopRequest(progress)
    steps = Steps(None if progress is None else stop.report)
    check_before_search(protection)
    prepared = steps.call(Step.PREPARING, lambda: prepare(source, protection))
    check_covariances(protection, prepared)
    protection = protection.complete(source.table.column_names)
    problems = [task.problem for task in prepared.tasks.tasks]
    order = released_order(len(prepared.strata.rows), protection.keep_order, randomness.key)
    if trial:
        checked = unchecked_source(source)
    else:
        checked = steps.call(Step.READING_AGAIN, partial(check_source, source))
    attempts = 0
    for plan in randomness.plans(protection):
        attempts += 1
        partitions = (search or solve_all)(
            problems,
            plan,
            None if progress is None else stop.report,
            prepared.tasks.sst,
            strata=[task.stratum for task in prepared.tasks.tasks],
            finish_when_stopped=True,
        )
        grouped, partitions = steps.call(
            Step.MASKING, partial(join_nearest, prepared, partitions, protection)
        )
        strata, tasks = grouped.strata, grouped.tasks
        new = steps.call(
            Step.MASKING, partial(masked, source.table, protection, grouped, partitions, randomness.key)
        )
        table = steps.call(
            Step.MASKING,
            partial(released_table, source.table, order, protection, strata, prepared.kinds, new),
        )
        verdict = steps.call(
            Step.VERIFYING, partial(verify_protected, checked, table, strata.rows[order], protection)
        )
        if verdict.safe or stop.requested or not another_partition_may_help(verdict, protection):
            break
    verdict.raise_if_unsafe(attempts)
    notes = notes_on_run(protection, tasks.lost, tasks.mixed_zeros, attempts)
    verdict = replace(verdict, findings=(*verdict.findings, *notes, *source.origin.notes))
    return Release(
        verified=Verified(
            Microdata(table, released_origin(source, table, (*protection.strata, *prepared.kinds))), verdict
        ),
        source=source,
        prepared=grouped,
        rows=strata.rows[order],
        protection=protection,
        key=randomness.key,
        partitions=_of_tasks(tasks, strata, partitions, plan),
        losses=losses_of(tasks, partitions, new.representatives, grouped.kept),
        seconds=monotonic() - started,
        stopped=stop.requested and any(found.truncated for found in partitions),
    )


class _StopRequest:
    """Whether the user's progress function has asked to stop with the best groups so far."""

    def __init__(self, progress: Watcher | None) -> None:
        self._progress = progress
        self.requested = False

    def report(self, progress: Progress) -> object:
        assert self._progress is not None
        answer = self._progress(progress)
        self.requested = self.requested or answer is True
        return answer


def another_partition_may_help(verdict: Verdict, protection: Protection) -> bool:
    """Whether `retry` should go on: another partition may pass where this one failed."""
    settled_by_others = {"distinct", "dominated"}
    open_ = {each.rule for each in (*verdict.failures, *verdict.to_decide)}
    return protection.retry and bool(open_) and open_ <= settled_by_others


def check_before_search(protection: Protection) -> None:
    """`DecisionNeeded` for what is known before there are groups."""
    claims = promises_of(protection, (), {})
    found = [each for each in judged(claims, list(pairs(claims))) if each.action == "decide"]
    if found:
        raise unsafe_release(found)


def notes_on_run(
    protection: Protection,
    given_up: Mapping[str, int],
    mixed_zeros: int,
    attempts: int,
) -> Iterator[Finding]:
    """What the user should know beside what `verify` counts.

    given_up: by column, values that were set to missing; mixed_zeros: groups in which some values are zero.
    """
    if given_up:
        yield note("values_given_up", k=protection.k, lost=given_up)
    if mixed_zeros:
        yield note("zeros_mixed", records=mixed_zeros)
    if protection.aggregate == "median":
        yield note("medians")
    if attempts > 1:
        yield note("retried", attempts=attempts)


def _of_tasks(
    tasks: Tasks, strata: Strata, partitions: Sequence[Partition], plan: MethodPlan
) -> tuple[TaskPartition, ...]:
    return tuple(
        TaskPartition(
            found.labels,
            found.sse,
            found.bound,
            found.recipe or plan.recipe,
            found.reason,
            found.truncated,
            columns=task.columns,
            stratum=task.stratum,
            rows=strata.rows[task.rows],
        )
        for task, found in zip(tasks.tasks, partitions, strict=True)
    )
