"""What a user may write as `method`, turned into a stage.

A catalogue name (`mdav-mhm`), names joined by + (`cbfs+mhm`), settings after colons
(`mdav:stop=2k`, `mdav-mhm:path_k=5:cyclic=yes`), or a Stage object. A refining name written first starts
from the method its catalogue entry names.
"""

from __future__ import annotations

import inspect
import math
import types
from dataclasses import dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from microagg import wording
from microagg.methods.catalogue import ALIASES, METHODS
from microagg.methods.stage import Best, Stage, chain
from microagg.settings.declared import MethodSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodPlan(MethodSettings):
    """Checked settings, and the method that they name."""

    k: int
    stage: Stage
    recipe: str
    seed: int


def stage_of(method: str | Stage) -> Stage:
    """The stage for a recipe. `SettingsError` names what is wrong and what is nearest."""
    if isinstance(method, Stage) and not isinstance(method, type):
        return method
    if not isinstance(method, str):
        raise wording.not_a_method(type(method).__name__)
    stages: list[Stage] = []
    names: list[str] = []
    for part in method.split("+"):
        name, *settings = (piece.strip() for piece in part.split(":"))
        if not name:
            raise wording.empty_method(method)
        name = ALIASES.get(name, name)
        if name not in METHODS:
            raise wording.unknown_method(name, METHODS)
        stage = METHODS[name].build(**_settings(name, settings))
        if stages and not stage.needs_start:
            raise wording.initial_after_start(name, names[-1])
        if not stages and stage.needs_start:
            starts = [stage_of(start) for start in METHODS[name].starts_from]
            stages.append(starts[0] if len(starts) == 1 else Best(*starts))
        stages.append(stage)
        names.append(name)
    return chain(*stages)


def settings_of(name: str) -> list[str]:
    """The keys a method's settings may have."""
    return list(inspect.signature(METHODS[name].build).parameters)


def _settings(name: str, pieces: list[str]) -> dict[str, object]:
    if not pieces:
        return {}
    known = settings_of(name)
    hints = get_type_hints(METHODS[name].build) if known else {}
    found: dict[str, object] = {}
    for piece in pieces:
        key, equals, value = (text.strip() for text in piece.partition("="))
        if not equals or not key or not value:
            raise wording.setting_without_value(name, piece)
        if key not in known:
            raise wording.unknown_setting(name, key, known)
        if key in found:
            raise wording.setting_given_twice(name, key)
        found[key] = _value(name, key, value, hints[key])
    return found


def _value(name: str, key: str, text: str, kind: Any) -> object:
    """`text` as the type that the setting's annotation asks for."""
    if get_origin(kind) in (Union, types.UnionType):
        kind = next(choice for choice in get_args(kind) if choice is not type(None))
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            raise wording.bad_setting(name, key, text, " or ".join(get_args(kind)))
        return text
    if kind is bool:
        if text not in ("yes", "no"):
            raise wording.bad_setting(name, key, text, "yes or no")
        return text == "yes"
    if kind is int:
        if not text.isdecimal() or int(text) < 1:
            raise wording.bad_setting(name, key, text, "a whole number of at least 1")
        return int(text)
    if kind is float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not 0 <= number < math.inf:
            raise wording.bad_setting(name, key, text, "a number of at least 0")
        return number
    raise wording.contract_broken(name, f"its setting {key} has a type no recipe can write")
