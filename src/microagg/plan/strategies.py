"""The grid of `compare`: every k with every method, split of the keys and kind of representative."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from microagg import wording
from microagg.methods.recipe import stage_of
from microagg.plan.method import can_do_more, can_stop_early
from microagg.plan.protection import Protection
from microagg.settings.declared import (
    FILE_OPTIONS,
    REPRESENTATIVES,
    CompareSettings,
    options_of_command,
)
from microagg.settings.kinds import GroupSizes, NameList, Names, Subsets

WAYS = ("joint", "each")
"""Two ways to split the keys: all in one subset, and each in one of its own."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to protect the data; `protection` accepts what a release would have to be asked for."""

    k: int
    method: str
    subsets: tuple[Names, ...]
    protection: Protection

    @property
    def publishes(self) -> dict[str, str]:
        """The options about what a group publishes."""
        return {name: getattr(self.protection, name) for name in REPRESENTATIVES}

    @property
    def split(self) -> str:
        """The subsets in one line."""
        return " | ".join(", ".join(subset) for subset in self.subsets)


def compared_settings(plan: Mapping[str, Any]) -> dict[str, Any]:
    """What a plan has for a comparison, which tries k of its own. A column that is masked by itself is a
    subset.
    """
    names = [name for name in options_of_command("compare") if name not in ("k", *FILE_OPTIONS)]
    taken = {name: plan[name] for name in names if name in plan}
    if "each" in plan:
        taken["keys"] = [*plan.get("keys", ()), *([column] for column in plan["each"])]
    return taken


def strategies_of(tried: CompareSettings, given: Mapping[str, Any]) -> list[Strategy]:
    """The whole grid; `SettingsError` for what would be wrong in any of its cells.

    `given` are the keys and other settings of `protect`, the same for all strategies.
    """
    if given.get("keys") is None:
        raise wording.no_keys()
    keys = Subsets().check("keys", given["keys"])
    sizes = GroupSizes().check("k", tried.k)
    recipes = list(dict.fromkeys(NameList("method").check("methods", tried.methods)))
    published = {name: getattr(tried, name) for name in REPRESENTATIVES if getattr(tried, name)}
    ways = [dict(zip(published, each, strict=True)) for each in product(*published.values())]
    settings = {method: _settings_for(method, given) for method in recipes}
    for name in ("effort", "seconds"):
        if given.get(name) is not None and not any(name in own for own in settings.values()):
            raise wording.no_effect(name, " or ".join(recipes), "none of them can do more or less.")
    return [
        Strategy(k, method, split, _protection_with(k, method, split, settings[method] | way))
        for split in _splits(keys, tried.subsets)
        for method in recipes
        for way in ways
        for k in sizes
    ]


def _settings_for(method: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without those that have no effect on this method, but may have on others."""
    stage = stage_of(method)
    has_effect = {"effort": can_do_more(stage), "seconds": can_stop_early(stage)}
    return {
        name: value for name, value in given.items() if value is not None and has_effect.get(name, True)
    }


def _splits(given: tuple[Names, ...], ways: object) -> list[tuple[Names, ...]]:
    if ways is None:
        return [given]
    if len(given) > 1:
        raise wording.keys_split_twice()
    [keys] = given
    listed = [ways] if isinstance(ways, str) else ways
    if not isinstance(listed, Sequence) or not listed:
        raise wording.bad_value("subsets", "a list of ways to split the keys")
    return list(dict.fromkeys(_split(keys, way) for way in listed))


def _split(keys: Names, way: object) -> tuple[Names, ...]:
    if way == "joint":
        return (keys,)
    if way == "each":
        return tuple((key,) for key in keys)
    if isinstance(way, str):
        raise wording.no_such_choice("subsets", way, WAYS)
    split: tuple[Names, ...] = Subsets().check("subsets", way)
    named = [column for subset in split for column in subset]
    if sorted(named) != sorted(keys):
        raise wording.not_a_split(named, keys)
    return split


def _protection_with(k: int, method: str, split: tuple[Names, ...], given: Mapping[str, Any]) -> Protection:
    own: dict[str, Any] = {**given, "k": k, "method": method, "keys": [list(subset) for subset in split]}
    # Nothing is released: what would have to be accepted is accepted here, and reported.
    own["rest"] = "pass"
    found_here = {
        "respondents": True,
        "derived": True,
        "predicted": bool(own.get("confidential")),
        "distinct": bool(own.get("confidential")),
        "dominated": bool(own.get("weight")),
        "pairs": k == 2 and "pairs" in own.get("accept", ()),
        "real-values": own.get("aggregate") == "median",
        "partial": len(split) > 1,
    }
    own["accept"] = [rule for rule, may_be_found in found_here.items() if may_be_found]
    return Protection.of(own)
