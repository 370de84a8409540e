"""Settings of stages: their annotations say what values they may have."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from microagg import wording


def check_settings(stage: Any) -> None:
    """`SettingsError` for a setting that is none of the choices of its `Literal`, or an int below 1."""
    kind: Any = type(stage)
    for setting, kinds in _annotations(kind).items():
        value = getattr(stage, setting)
        choices = [choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]
        if choices and value not in choices:
            raise wording.no_such_choice(setting, value, choices)
        if int in kinds and value is not None and value < 1:
            raise wording.bad_number(setting, value, "a whole number of at least 1")


@cache
def _annotations(stage: Any) -> dict[str, tuple[Any, ...]]:
    """By setting: its type, or those of its union."""
    hints = get_type_hints(stage)
    return {each.name: (hints[each.name], *get_args(hints[each.name])) for each in fields(stage)}
