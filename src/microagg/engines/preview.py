"""What can be known about settings and data before anything is released, or without it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from microagg.assessment.before import risk_before
from microagg.engines.local import bound_of
from microagg.engines.solving import Watcher, solve_all
from microagg.methods.objective import information_loss
from microagg.methods.recipe import stage_of
from microagg.model import Microdata
from microagg.plan.assessment_plan import AssessmentPlan
from microagg.plan.protection import Protection
from microagg.prepare.prepared import Prepared, prepare

MOST_COMPARED_WITH_MDAV = 200_000
"""With more records in a task MDAV takes minutes, and is not run for comparison."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What a run would work on.

    `strata`: as released, 1 without any; `smallest`: records of the smallest; `problems`: one for each
    stratum, subset and pattern of missing values; `given_up`: cells that patterns would lose, by column;
    `now`: how unique keys and strata make the records before anything is masked, in a sentence.
    """

    records: int
    suppressed: int
    strata: int
    smallest: int
    problems: int
    given_up: dict[str, int]
    now: str


def preview(source: Microdata, protection: Protection) -> Preview:
    """What a run would work on, or the exception that it would begin with, without searching for groups."""
    prepared = prepare(source, protection)
    released = len(prepared.strata.rows)
    roles = AssessmentPlan.of({}, protection.settings, of_one_file=True)
    return Preview(
        records=released,
        suppressed=source.table.num_rows - released,
        strata=prepared.strata.count,
        smallest=int(np.bincount(prepared.strata.of).min()),
        problems=len(prepared.tasks.tasks),
        given_up=dict(prepared.tasks.lost),
        now=risk_before(source, roles, protection.drop, in_pairs=False).in_plan,
    )


def mdav_loss(
    source: Microdata,
    protection: Protection,
    progress: Watcher | None = None,
    prepared: Prepared | None = None,
) -> float | None:
    """MDAV's information loss on the same data, to compare with; None if that would take long."""
    tasks = (prepared or prepare(source, protection)).tasks
    if max(len(task.rows) for task in tasks.tasks) > MOST_COMPARED_WITH_MDAV:
        return None
    plan = replace(
        protection.method,
        stage=stage_of("mdav"),
        recipe="mdav",
        effort="balanced",
        seconds=None,
        certify=False,
    )
    found = solve_all([task.problem for task in tasks.tasks], plan, progress)
    return information_loss(sum(each.sse for each in found), tasks.sst)


def bound_loss(source: Microdata, protection: Protection, progress: Watcher | None = None) -> float | None:
    """The information loss that no groups of these data can go below; None where nothing is proven."""
    tasks = prepare(source, protection).tasks
    plan = replace(protection.method, certify=True)
    found = solve_all([task.problem for task in tasks.tasks], plan, progress)
    return bound_of(found, tasks)
