"""How to partition: the settings that `partition` and `protect` share, checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import get_args

import numpy as np

from microagg import wording
from microagg.methods.recipe import stage_of
from microagg.methods.stage import Stage, parts_of
from microagg.model import Effort, ScaleName
from microagg.plan.checks import choice, k_of, whole


@dataclass(frozen=True, slots=True)
class MethodPlan:
    """What will be done: a checked set of settings."""

    k: int
    stage: Stage
    recipe: str
    scale: ScaleName
    effort: Effort
    seconds: float | None
    seed: int
    threads: int | None
    certify: bool = False


def method_plan(
    k: object,
    method: object,
    *,
    scale: object,
    effort: object,
    seconds: object,
    seed: object,
    threads: object,
    certify: bool = False,
    progress: object = None,
) -> MethodPlan:
    """Check the settings alone. `SettingsError` for the first that is wrong."""
    if progress is not None and not callable(progress):
        raise wording.not_callable("progress", type(progress).__name__)
    stage = stage_of(method)  # type: ignore[arg-type]  # it checks the type itself
    recipe = method if isinstance(method, str) else repr(stage)
    return MethodPlan(
        k_of(k),
        stage,
        recipe,
        choice("scale", scale, get_args(ScaleName)),  # type: ignore[arg-type]
        _effort(effort, stage, recipe),
        _seconds(seconds, stage, recipe, certify),
        _seed(seed),
        None if threads is None else whole("threads", threads, 1),
        certify,
    )


def check_against_data(plan: MethodPlan, n: int) -> None:
    """Check the settings against the number of records."""
    if plan.k > n:
        raise wording.k_above_n(plan.k, n)


def _seed(value: object) -> int:
    seed = whole("seed", value, 0)
    if seed >= 2**64:
        raise wording.bad_number("seed", seed, "below 2**64")
    return seed


def _seconds(value: object, stage: Stage, recipe: str, certify: bool) -> float | None:
    if value is None:
        return None
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not 0 < float(value) < math.inf:  # type: ignore[arg-type]
        raise wording.bad_number("seconds", value, "a number above 0")
    if not certify and not heeds_seconds(stage):
        raise wording.no_effect("seconds", recipe, "it has no refinement that could stop early.")
    return float(value)  # type: ignore[arg-type]


def _effort(value: object, stage: Stage, recipe: str) -> Effort:
    effort = choice("effort", value, get_args(Effort))
    if effort != "balanced" and not heeds_effort(stage):
        raise wording.no_effect(f"effort={effort}", recipe, "it does the same work at every effort.")
    return effort  # type: ignore[return-value]


def heeds_seconds(stage: Stage) -> bool:
    """Whether some part of the method can stop early."""
    return any(part.needs_start or _uses_effort(part) for part in parts_of(stage))


def heeds_effort(stage: Stage) -> bool:
    """Whether some part of the method can always do more."""
    return any(_uses_effort(part) for part in parts_of(stage))


def _uses_effort(stage: Stage) -> bool:
    """Whether the stage can always do more."""
    return bool(getattr(stage, "uses_effort", False))
