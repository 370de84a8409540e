"""The grid of `compare`: every k with every method and every way to split the keys, checked by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from microagg import wording
from microagg.methods.recipe import stage_of
from microagg.plan.checks import Names, subsets_of
from microagg.plan.method import heeds_effort, heeds_seconds
from microagg.plan.protection import Protection

WAYS = ("joint", "each")
"""Words for two ways to split the keys: all in one subset, and each in one of its own."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to protect the data; `protection` accepts what a release would have to be asked for."""

    k: int
    method: str
    subsets: tuple[Names, ...]
    protection: Protection

    @property
    def split(self) -> str:
        """The subsets in one line."""
        return " | ".join(", ".join(subset) for subset in self.subsets)


def strategies_of(
    ks: object, methods: object, keys: object, ways: object, words: Mapping[str, Any]
) -> list[Strategy]:
    """The whole grid; `SettingsError` for what would be wrong in any of its cells.

    `words` are others of `protect`, the same for all strategies.
    """
    if keys is None:
        raise wording.no_keys()
    given = subsets_of("keys", keys)
    listed = _methods(methods)
    own = {method: _words_for(method, words) for method in listed}
    for word in ("effort", "seconds"):
        if words.get(word) is not None and not any(word in of_method for of_method in own.values()):
            raise wording.no_effect(word, " or ".join(listed), "none of them can do more or less.")
    return [
        Strategy(k, method, split, _protection(k, method, split, own[method]))
        for split in _splits(given, ways)
        for method in listed
        for k in _ks(ks)
    ]


def _words_for(method: str, words: Mapping[str, Any]) -> dict[str, Any]:
    """The words without those that have no effect on this method, but may have on others."""
    stage = stage_of(method)
    acts = {"effort": heeds_effort(stage), "seconds": heeds_seconds(stage)}
    return {word: value for word, value in words.items() if value is not None and acts.get(word, True)}


def _ks(ks: object) -> list[int]:
    listed = [ks] if isinstance(ks, Integral) else ks
    if not isinstance(listed, Sequence) or isinstance(listed, str) or not listed:
        raise wording.bad_value("k", "one or several whole numbers, such as 3, 5 and 10")
    return list(dict.fromkeys(listed))


def _methods(methods: object) -> list[str]:
    listed = [methods] if isinstance(methods, str) else methods
    if not isinstance(listed, Sequence) or not listed or not all(isinstance(each, str) for each in listed):
        raise wording.bad_value("methods", "one or several names or recipes, such as mdav and auto")
    return list(dict.fromkeys(listed))


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
    split = subsets_of("subsets", way)
    named = [column for subset in split for column in subset]
    if sorted(named) != sorted(keys):
        raise wording.not_a_split(named, keys)
    return split


def _protection(k: int, method: str, split: tuple[Names, ...], words: Mapping[str, Any]) -> Protection:
    own: dict[str, Any] = {**words, "k": k, "method": method, "keys": [list(subset) for subset in split]}
    # Nothing is released: what would have to be accepted is accepted here, and told.
    own["accept_partial"] = True if len(split) > 1 else None
    own["accept_homogeneous"] = True if own.get("confidential") else None
    if k != 2:
        own["allow_pairs"] = None
    return Protection.of(own)
