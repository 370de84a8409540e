"""Sentences as templates.

A field in braces is a figure that the sentence is given. What follows its colon chooses how it is shown:

    {records:record}          1 record, 2 records; also for the length of a list
    {records:has|have}        the first for 1 or a list of one, the second for any other number
    {columns:quoted}          'a', 'b'; `FORMS` has the others
    {name:nearest in known}   a hint at names that are spelled alike, among the figure `known`
    {limit:.0e}               as in any format of Python

    {--effort best}           an option with a value, as the face writes it
    {--sheet=name}            an option with the figure `name` as its value
    {--noise <name>}          the name of an option that was given, in a plan or anywhere else
    {BUG}                     capitals: a phrase that several sentences share
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sized
from functools import partial
from string import Formatter
from typing import Any, Generic, TypeVar

from microagg.errors import CertificateError, DataError, SettingsError
from microagg.wording.message import Message, option_name, use
from microagg.wording.phrases import (
    and_list,
    count,
    hinted,
    listed,
    nearest_names,
    plain_figures,
    quoted,
    safe_value,
    some_names,
)

_Made = TypeVar("_Made")

_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars (|)", " ": "spaces"}

FORMS: Mapping[str, Callable[[Any], str]] = {
    "list": listed,
    "long list": partial(listed, most=20),
    "all": ", ".join,
    "and": and_list,
    "some": some_names,
    "quoted": quoted,
    "option": option_name,
    "options": lambda options: listed([option_name(each) for each in options]),
    "delimiter": lambda sign: _DELIMITERS.get(sign, sign),
    "GB": lambda size: f"{size / 1e9:.1f} GB",
    "GiB": lambda size: f"{size / 2**30:.3g} GiB",
}

PHRASES = {
    "BUG": "This is a bug in microagg; please report it with the settings.",
    "OTHER_FORMAT": "Choose another format, such as Parquet or CSV; if it is one of these already, please "
    "report it as a bug in microagg.",
    "OR_LEAVE_OUT": "or do not use the column ({--columns}; in protect: give it another role).",
    "SPELLING": "capitals, blanks, invisible characters or variants of the same letters",
}


class Template(Generic[_Made]):
    """Makes a message, or an exception with one, of the figures that it is given.

    `parameters`: the names of figures that are given by their place.
    """

    kind = ""
    """Its name in this package."""

    def __init__(self, make: Callable[[Message], _Made], parameters: tuple[str, ...], text: str) -> None:
        self.make, self.parameters, self.text = make, parameters, text

    def __call__(self, *given: object, **named: object) -> _Made:
        figures = {**dict(zip(self.parameters, given, strict=False)), **named}
        text = fill_in(self.text, {name: safe_value(value) for name, value in figures.items()})
        return self.make(Message(text, self.kind, plain_figures(figures)))


def error(kind: type[_Made], *parameters: str) -> Callable[[str], Template[_Made]]:
    """An exception of this class."""
    return partial(Template[_Made], kind, parameters)


def settings_error(*parameters: str) -> Callable[[str], Template[SettingsError]]:
    return error(SettingsError, *parameters)


def data_error(*parameters: str) -> Callable[[str], Template[DataError]]:
    return error(DataError, *parameters)


def certificate_error(*parameters: str) -> Callable[[str], Template[CertificateError]]:
    return error(CertificateError, *parameters)


def message(*parameters: str) -> Callable[[str], Template[Message]]:
    return partial(Template[Message], lambda made: made, parameters)


def text(*parameters: str) -> Callable[[str], Template[str]]:
    """A sentence in the terms of the face that is running when it is made."""
    return error(str, *parameters)


def figures_in(text: str) -> set[str]:
    """The names of the figures that a template needs."""
    needed = set()
    for _, field, spec, _ in Formatter().parse(text):
        if field in PHRASES:
            needed |= figures_in(PHRASES[field])
        elif field is not None and field.startswith("--"):
            needed.add(field.partition("=")[2])
        elif field is not None:
            needed |= {field, (spec or "").partition(" in ")[2]}
    return needed - {""}


def fill_in(text: str, figures: Mapping[str, Any]) -> str:
    parts = []
    for literal, field, spec, conversion in Formatter().parse(text):
        parts.append(literal)
        if field in PHRASES:
            parts.append(fill_in(PHRASES[field], figures))
        elif field is not None and field.startswith("--"):
            parts.append(_option(field.removeprefix("--"), figures))
        elif field is not None:
            value = figures[field]
            parts.append(_shown(repr(value) if conversion == "r" else value, spec or "", figures))
    return "".join(parts)


def _option(text: str, figures: Mapping[str, Any]) -> str:
    name, equals, figure = text.partition("=")
    if equals:
        return use(name, figures[figure])
    name, blank, value = text.partition(" ")
    if not blank:
        return use(name)
    return use(name, json.loads(value) if value == "true" or value.isdecimal() else value)


def _shown(value: Any, spec: str, figures: Mapping[str, Any]) -> str:
    form, _, other = spec.partition(" in ")
    if form == "nearest":
        return nearest_names(str(value), figures[other])
    if form == "hinted":
        return hinted(value, figures[other])
    if spec in FORMS:
        return FORMS[spec](value)
    number = len(value) if isinstance(value, Sized) else value
    if "|" in spec:
        one, several = spec.split("|")
        return one if number == 1 else several
    if len(spec) > 2 and spec.replace(" ", "").isalpha():
        return count(number, spec)
    return format(value, spec)
