"""What MDAV would lose on the same data."""

from __future__ import annotations

from dataclasses import replace

from microagg.aggregate.losses import losses_of
from microagg.methods.recipe import stage_of
from microagg.methods.run import Watcher
from microagg.methods.solving import solve_all
from microagg.model import Microdata
from microagg.plan.protection import Protection
from microagg.prepare.prepared import Prepared, prepare

MOST_COMPARED_WITH_MDAV = {"mdav": 200_000, "mdav-generic": 50_000}
"""With more records in a task it takes minutes, and is not run for comparison."""


def mdav_loss(
    source: Microdata,
    protection: Protection,
    progress: Watcher | None = None,
    prepared: Prepared | None = None,
) -> float | None:
    """MDAV's information loss on the same data, to compare with; None if that would take long.

    With categories it is that of MDAV-generic, and of what would be published.
    """
    tasks = (prepared or prepare(source, protection)).tasks
    recipe = "mdav-generic" if tasks.have_categories else "mdav"
    if max(len(task.rows) for task in tasks.tasks) > MOST_COMPARED_WITH_MDAV[recipe]:
        return None
    plan = replace(
        protection.method,
        stage=stage_of(recipe),
        recipe=recipe,
        effort="balanced",
        seconds=None,
        certify=False,
    )
    found = solve_all([task.problem for task in tasks.tasks], plan, progress)
    return losses_of(tasks, found).information_loss
