"""An option is a field of a settings dataclass: its metadata hold all that faces need to know about it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from inspect import signature
from typing import Any, TypeVar

from microagg import errors, wording
from microagg.settings.kinds import Kind

_Settings = TypeVar("_Settings")
_Made = TypeVar("_Made")
_Function = TypeVar("_Function", bound=Callable[..., Any])

REQUIRED: Any = object()
"""As a default: there is none, and the option must be given."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What must be the case for an option to have an effect."""

    condition: str
    """It completes the sentence "The option has an effect only where …"."""
    is_met: Callable[[Any], bool]
    """By these settings."""


@dataclass(frozen=True, slots=True)
class Option:
    kind: Kind
    help: str
    group: str
    """The heading below which the command line's help and plan files have it."""
    default: Any
    commands: tuple[str, ...] = ()
    """Those that take it, if they are others than those of its settings."""
    flags: tuple[str, ...] = ()
    """On the command line, if they do not follow from its name."""
    label: str = ""
    """In the browser."""
    form: str = ""
    """The part of the browser's form that has it; empty: it has another place, or none."""
    example: Any = None
    """A value to show where there is no default."""
    needs: Needs | None = None
    name: str = ""
    """In plan files and, with hyphens, on the command line."""
    attribute: str = ""
    """Of the settings and in Python: the name, and an underscore if it is a keyword of Python."""

    @property
    def has_default(self) -> bool:
        """Whether there is a default that is worth showing."""
        return self.default not in (REQUIRED, None, (), {}, "")

    @property
    def meaning(self) -> str:
        """What it means, and what can be chosen."""
        choices = [f'"{choice}"' for choice in self.kind.choices]
        return f"{self.help} {', '.join(choices[:-1])} or {choices[-1]}." if choices else self.help

    @property
    def shown(self) -> Any:
        """A value to show where none is given."""
        return self.default if self.has_default else self.example


def option(group: str, kind: Kind, help: str, **more: Any) -> Any:  # noqa: A002 (the usual name)
    """A field of a settings dataclass that is an option; `more` are other fields of `Option`."""
    declared = Option(kind, help, group, **{"default": kind.default, **more})
    metadata = {"option": declared}
    if declared.default is REQUIRED:
        return field(metadata=metadata)
    if isinstance(declared.default, dict):
        return field(default_factory=dict, metadata=metadata)
    return field(default=declared.default, metadata=metadata)


def options_of(*settings: type) -> dict[str, Option]:
    """The options that these dataclasses declare, by name, in their order."""
    options = {}
    for each in (each for declaring in settings for each in fields(declaring)):
        if "option" in each.metadata:
            name = option_name(each.name)
            usual = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
            flags = each.metadata["option"].flags or (usual,)
            options[name] = replace(each.metadata["option"], name=name, attribute=each.name, flags=flags)
    return options


def documented(options: Mapping[str, Option]) -> Callable[[_Function], _Function]:
    """A decorator that adds to a function's documentation what each of its options means."""

    def document(function: _Function) -> _Function:
        lines = [(function.__doc__ or "").rstrip(), "", "    Options:"]
        by_attribute = {each.attribute: each for each in options.values()}
        for each in (by_attribute[name] for name in signature(function).parameters if name in by_attribute):
            default = f" Default: {each.default!r}." if each.has_default else ""
            line = f"{each.attribute}: {each.meaning}{default}"
            lines.append(textwrap.fill(line, 108, initial_indent=" " * 4, subsequent_indent=" " * 8))
        function.__doc__ = "\n".join([*lines, ""])
        return function

    return document


def option_name(attribute: str) -> str:
    """The only place that knows `pass_` of Python to be the option `pass`."""
    return attribute.removesuffix("_")


def by_option_name(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a Python function that were given."""
    return {option_name(each): value for each, value in arguments.items() if value is not None}


def check(options: Mapping[str, Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of these options by attribute, checked, or their defaults.

    None is a value only where it is the default. `SettingsError` for the first that cannot be used.
    """
    values = {}
    for name, each in options.items():
        if name in given and not (given[name] is None and each.default is None):
            values[each.attribute] = each.kind.check(name, given[name])
        elif each.default is REQUIRED:
            raise wording.option_missing(name, each.example)
        else:
            values[each.attribute] = each.default
    return values


def as_in_plan(value: Any) -> Any:
    """A checked value with lists and dictionaries only, as in a plan file."""
    if isinstance(value, tuple):
        return [as_in_plan(part) for part in value]
    return {key: as_in_plan(part) for key, part in value.items()} if isinstance(value, dict) else value


def take(settings: type[_Settings], given: dict[str, Any]) -> _Settings:
    """Take the options of these settings out of all that is given, and check them."""
    options = options_of(settings)
    return settings(**check(options, {name: given.pop(name) for name in options if name in given}))


def refuse_unknown(options: Mapping[str, Option], given: Iterable[str]) -> None:
    for name in given:
        if name not in options:
            raise wording.unknown_option(name, list(options))


def refuse_without_effect(options: Mapping[str, Option], settings: object) -> None:
    """`SettingsError` for an option that is not at its default and would have no effect."""
    for name, each in options.items():
        if each.needs is None or getattr(settings, each.attribute) == each.default:
            continue
        if not each.needs.is_met(settings):
            raise wording.option_without_effect(name, each.needs.condition)


def without_idle(
    use: Callable[[dict[str, Any]], _Made], settings: Mapping[str, Any]
) -> tuple[_Made, list[str]]:
    """What `use` returns as soon as no option would be without effect, and the options that are left out
    then; `SettingsError` for what cannot be used.
    """
    left, idle = dict(settings), list[str]()
    while True:
        try:
            return use(left), idle
        except errors.SettingsError as error:
            message = wording.message_of(error)
            option = str(message.figures.get(_NAMED_IN.get(message.kind, ""), "")).split("=")[0]
            if left.pop(option, None) is None:
                raise
            idle.append(option)


_NAMED_IN = {"option_without_effect": "option", "no_effect": "setting"}
"""Messages on options without effect, and which of their figures names the option."""
