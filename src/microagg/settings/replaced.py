"""Options that earlier versions had: whoever gives one is told what to give now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec, TypeVar

from microagg import errors, wording

_Parameters = ParamSpec("_Parameters")
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Replaced:
    by: str
    """The option that commands have now in its place."""
    refusal: Callable[[], errors.SettingsError]


def _by_accept(old: str, rule: str) -> Replaced:
    return Replaced("accept", lambda: wording.acceptance_replaced(old, rule))


REPLACED: Mapping[str, Replaced] = {
    "shuffle": Replaced("keep_order", lambda: wording.shuffle_replaced()),
    "allow_pairs": _by_accept("allow_pairs", "pairs"),
    "accept_real_values": _by_accept("accept_real_values", "real-values"),
    "accept_homogeneous": _by_accept("accept_homogeneous", "distinct"),
    "accept_partial": _by_accept("accept_partial", "partial"),
}
"""By the old name."""


def refuse_replaced(given: Iterable[str]) -> None:
    """`SettingsError` for the first of these options that was replaced."""
    for name in given:
        if name in REPLACED:
            raise REPLACED[name].refusal()


def refusing_replaced(function: Callable[_Parameters, _Answer]) -> Callable[_Parameters, _Answer]:
    """A decorator of functions whose keywords are options, for those that they do not have any more."""

    @wraps(function)
    def checked(*given: _Parameters.args, **named: _Parameters.kwargs) -> _Answer:
        refuse_replaced(named)
        return function(*given, **named)

    return checked
