"""How to partition: the settings that `partition` and `protect` share, checked."""

from __future__ import annotations

from typing import Any

from microagg import wording
from microagg.methods.recipe import MethodPlan, stage_of
from microagg.methods.stage import Stage, parts_of
from microagg.settings.declared import MethodSettings
from microagg.settings.kinds import GroupSize
from microagg.settings.options import check, options_of

METHOD_OPTIONS = options_of(MethodSettings)


def method_plan(k: object, method: object, *, progress: object = None, **given: Any) -> MethodPlan:
    """Check the settings alone. `SettingsError` for the first that is wrong or has no effect."""
    if progress is not None and not callable(progress):
        raise wording.not_callable("progress", type(progress).__name__)
    stage = stage_of(method)  # type: ignore[arg-type]  # it checks the type itself
    recipe = method if isinstance(method, str) else repr(stage)
    size = GroupSize().check("k", k)
    values = check(METHOD_OPTIONS, {"method": method, **given})
    values["seed"] = values["seed"] or 0
    plan = MethodPlan(k=size, stage=stage, recipe=recipe, **values)
    if plan.effort != METHOD_OPTIONS["effort"].default and not can_do_more(stage):
        raise wording.no_effect(
            f"effort={plan.effort}", plan.recipe, "it does the same work at every effort."
        )
    if plan.seconds is not None and not plan.certify and not can_stop_early(stage):
        raise wording.no_effect("seconds", plan.recipe, "it has no refinement that could stop early.")
    return plan


def check_against_data(plan: MethodPlan, n: int) -> None:
    """Check the settings against the number of records."""
    if plan.k > n:
        raise wording.k_above_n(plan.k, n)


def can_stop_early(stage: Stage) -> bool:
    """Whether a time limit has an effect: some part of the method can be ended before it is done."""
    return any(part.needs_start or part.uses_effort for part in parts_of(stage))


def can_do_more(stage: Stage) -> bool:
    """Whether effort has an effect: some part of the method can always look for better groups."""
    return any(part.uses_effort for part in parts_of(stage))
