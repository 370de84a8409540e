"""What can be known about settings and data before anything is released, or without it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from microagg.aggregate.losses import losses_of
from microagg.assessment.before import risk_before
from microagg.engines import local
from microagg.errors import UnsafeRelease
from microagg.methods.run import Watcher
from microagg.methods.solving import solve_all
from microagg.model import Microdata
from microagg.plan.assessment_plan import AssessmentPlan
from microagg.plan.protection import Protection
from microagg.prepare.prepared import prepare
from microagg.prepare.strata import UNPLACED
from microagg.trials.drafting import QuickGroups

_OF_SEARCH = ("method", "effort", "seconds", "seed", "retry", "certify", "threads")
"""Options that a trial with quick groups does without."""
_OF_GROUPS = {"distinct", "dominated", "predicted"}
"""Rules by which other groups may pass."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What a run would work on.

    `strata`: as released, 1 without any; `smallest`: records of the smallest; `problems`: one for each
    stratum, subset and pattern of missing values; `given_up`: cells that patterns would lose, by column;
    `now`: see `risk_now`.
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
    return Preview(
        records=released,
        suppressed=source.table.num_rows - released,
        strata=prepared.strata.count,
        smallest=int(np.bincount(prepared.strata.of[prepared.strata.of != UNPLACED]).min()),
        problems=len(prepared.tasks.tasks),
        given_up=dict(prepared.tasks.lost),
        now=risk_now(source, protection),
    )


def risk_now(source: Microdata, protection: Protection) -> str:
    """How unique keys and strata make the records before anything is masked, in a sentence."""
    roles = AssessmentPlan.of({}, protection.settings, of_one_file=True)
    return risk_before(source, roles, protection.drop, in_pairs=False).in_plan


def trial_refusal(source: Microdata, protection: Protection) -> UnsafeRelease | None:
    """Why a release of quick groups would be refused, where the search may find others. What no groups can
    settle is raised.
    """
    settings = {name: value for name, value in protection.settings.items() if name not in _OF_SEARCH}
    try:
        local.protect(source, Protection.of({**settings, "method": QuickGroups()}), trial=True)
    except UnsafeRelease as refusal:
        if {each.rule for each in getattr(refusal, "findings", ())} - _OF_GROUPS:
            raise
        return None if protection.retry else refusal
    return None


def bound_loss(source: Microdata, protection: Protection, progress: Watcher | None = None) -> float | None:
    """The information loss that no groups of these data can go below; None where nothing is proven."""
    tasks = prepare(source, protection).tasks
    plan = replace(protection.method, certify=True)
    found = solve_all([task.problem for task in tasks.tasks], plan, progress)
    return losses_of(tasks, found).bound
