"""Sentences as templates, which may be broken into lines anywhere.

A field in braces is a figure that the sentence is given. What follows its colon chooses how it is shown:

    {records}                 2,000; of `NO_COUNTS` 2000
    {records:record}          1 record, 2,000 records; also for the length of a list
    {records:has|have}        the first for 1 or a list of one, the second for any other number
    {folder:? in {folder}|}   the first if there is a folder, the second if not; both may have fields
    {n:>2?several|few}        the first if the number is larger, the second if not
    {columns:quoted}          'a', 'b'; `FORMS` has the others
    {name:nearest in known}   a hint at names that are spelled alike, among the figure `known`
    {unique:share in records} 5 of 20 records (25 %)
    {limit:.0e}               as in any format of Python

    {--effort best}           an option with a value, as the face writes it
    {--sheet=name}            an option with the figure `name` as its value
    {--noise <name>}          the name of an option that was given, in a plan or anywhere else
    {--microagg methods}      a command; on the pages, the control that does the same
    {BUG}                     capitals: a phrase that several sentences share
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sized
from functools import partial
from string import Formatter
from typing import Any, Generic, TypeVar

from microagg.errors import (
    CertificateError,
    ContractError,
    DataError,
    MissingExtra,
    OutputError,
    SettingsError,
)
from microagg.wording.message import Message, mention, use
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

_RELATIONS = {
    "equal": "has the same values as",
    "affine": "differs only in unit and zero point from",
    "monotone": "rises or falls with",
    "code": "has one value for each value of",
    "dummies": "has one value for each combination of",
    "sum": "is a sum or difference of",
    "month": "has the month of each date in",
    "year": "has the year of each date in",
}
_KINDS_OF_KEYS = {
    "number": "holds numbers",
    "date": "holds dates",
    "ordinal": "has ordered levels",
    "nominal": "holds categories",
}
_UNUSABLE_CLAIMS = {
    "k_below_2": "k is below 2",
    "equal_names": "two columns of the source have the same name",
    "no_keys": "no keys and no strata are named",
    "empty_subset": "a subset has no columns",
    "unknown_column": "a column is named that the source does not have",
    "two_roles": "a column has two roles",
    "not_confidential": "a column masked by itself is not confidential",
    "mean_of_dropped": "a mean is promised for a dropped column",
}
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars (|)", " ": "spaces"}

FORMS: Mapping[str, Callable[[Any], str]] = {
    "list": listed,
    "percent": lambda share: f"{100.0 * share:.0f} %",
    "long list": partial(listed, most=20),
    "all": ", ".join,
    "and": and_list,
    "or": " or ".join,
    "some": some_names,
    "quoted": quoted,
    "explained": lambda reasons: listed([f"'{name}' ({reason})" for name, reason in reasons.items()]),
    "counts": lambda counts: ", ".join(f"{number:,} of {name}" for name, number in counts.items()),
    "most counts": lambda counts: listed([f"{number:,} of {name}" for name, number in counts.items()]),
    "percentages": lambda shares: listed([f"{share:.2g} % of {name}" for name, share in shares.items()]),
    "option": mention,
    "options": lambda options: listed([mention(each) for each in options]),
    "proposed": lambda options: ", ".join(map(use, options)),
    "delimiter": lambda sign: _DELIMITERS.get(sign, sign),
    "relation": _RELATIONS.__getitem__,
    "kind of key": lambda kind: _KINDS_OF_KEYS.get(kind, kind),
    "unusable": _UNUSABLE_CLAIMS.__getitem__,
    "type": lambda value: type(value).__name__,
    "unless a number": lambda value: (
        "" if type(value) in (int, float) else f", of type {type(value).__name__}"
    ),
    "GB": lambda size: f"{size / 1e9:.1f} GB",
    "GiB": lambda size: f"{size / 2**30:.3g} GiB",
}

PHRASES = {
    "BUG": "This is a bug in microagg; please report it with the settings.",
    "OTHER_FORMAT": "Choose another format, such as Parquet or CSV; if it is one of these already, please "
    "report it as a bug in microagg.",
    "OR_LEAVE_OUT": "or do not use the column ({--columns}; in protect: give it another role).",
    "ONLY_NUMERIC": "{numeric:?Use only the numeric columns ({numeric:list}), or convert the others to "
    "numbers.|Only numbers can be used here: convert its values to numbers, or give it another role.}",
    "SPELLING": "capitals, blanks, invisible characters or variants of the same letters",
}
NO_COUNTS = ("k", "port", "seed")
"""Integers that are shown without signs between thousands."""

LATER_CAUSES = {
    "first finding": "The first finding explains this.",
    "unknown": "The file or its record was changed after the release had been verified; if not, this is a "
    "bug in microagg: please report it with the settings.",
}
"""What is behind a finding about a release that was verified when it was written, in the place of a bug."""


class Template(Generic[_Made]):
    """Makes a message, or an exception with one, of the figures that it is given.

    `parameters`: the names of figures that are given by their place.
    """

    kind = ""
    """Its name in this package."""

    def __init__(self, make: Callable[[Message], _Made], parameters: tuple[str, ...], text: str) -> None:
        self.make, self.parameters, self.text = make, parameters, on_one_line(text)

    def __call__(self, *given: object, **named: object) -> _Made:
        figures = {**dict(zip(self.parameters, given, strict=False)), **named}
        text = fill_in(self.text, {name: safe_value(value) for name, value in figures.items()})
        return self.make(Message(text, self.kind, plain_figures(figures)))


def error(kind: Callable[[Message], _Made], *parameters: str) -> Callable[[str], Template[_Made]]:
    """An exception of this class."""
    return partial(Template[_Made], kind, parameters)


settings_error = partial(error, SettingsError)
data_error = partial(error, DataError)
certificate_error = partial(error, CertificateError)
contract_error = partial(error, ContractError)
missing_extra = partial(error, MissingExtra)
output_error = partial(error, OutputError)
message: Callable[..., Callable[[str], Template[Message]]] = partial(error, lambda made: made)
text = partial(error, str)
"""A sentence in the terms of the face that is running when it is made."""


def on_one_line(text: str) -> str:
    """A text that begins with a line break has others only to be read in the code."""
    return " ".join(text.split()) if text.startswith("\n") else text


def figures_in(text: str) -> Iterator[str]:
    """The names of the figures that a template needs."""
    for _, field, spec, _ in Formatter().parse(text):
        if field in PHRASES:
            yield from figures_in(PHRASES[field])
        elif field is not None and field.startswith("--"):
            yield from filter(None, [field.partition("=")[2]])
        elif field is not None:
            yield field
            form, _, other = (spec or "").partition(" in ")
            yield from [other] if form in ("nearest", "hinted", "share") else figures_in(spec or "")


def fill_in(text: str, figures: Mapping[str, Any]) -> str:
    parts = []
    for literal, field, spec, conversion in Formatter().parse(text):
        parts.append(literal)
        if field in ("BUG", "OTHER_FORMAT") and "cause" in figures:
            parts.append(LATER_CAUSES[figures["cause"]])
        elif field in PHRASES:
            parts.append(fill_in(PHRASES[field], figures))
        elif field is not None and field.startswith("--"):
            parts.append(_option(field.removeprefix("--"), figures))
        elif field is not None and spec and spec[0] in "?>":
            condition, _, texts = spec.partition("?")
            is_met = figures[field] > int(condition[1:]) if condition else bool(figures.get(field))
            parts.append(fill_in(_choices(texts)[0 if is_met else 1], figures))
        elif field is not None:
            value = figures[field]
            parts.append(_shown(field, repr(value) if conversion == "r" else value, spec or "", figures))
    return "".join(parts)


def _option(text: str, figures: Mapping[str, Any]) -> str:
    name, equals, figure = text.partition("=")
    if equals:
        return use(name, figures[figure])
    name, blank, value = text.partition(" ")
    if not blank:
        return use(name)
    return use(name, json.loads(value) if value == "true" or value.isdecimal() else value)


def _shown(name: str, value: Any, spec: str, figures: Mapping[str, Any]) -> str:
    form, _, other = spec.partition(" in ")
    if form == "nearest":
        return nearest_names(str(value), figures[other])
    if form == "hinted":
        return hinted(value, figures[other])
    if form == "share":
        return f"{value:,} of {figures[other]:,} records ({100.0 * value / max(figures[other], 1):.4g} %)"
    if spec in FORMS:
        return FORMS[spec](value)
    number = len(value) if isinstance(value, Sized) else value
    if "|" in spec:
        one, several = _choices(spec)
        return fill_in(one if number == 1 else several, figures)
    if len(spec) > 2 and spec.replace(" ", "").isalpha():
        return count(number, spec)
    if not spec and type(value) is int and name not in NO_COUNTS:
        return f"{value:,}"
    return format(value, spec)


def _choices(spec: str) -> tuple[str, str]:
    """Two texts with a bar between them that is in no braces."""
    depth = at = 0
    while spec[at] != "|" or depth:
        depth += (spec[at] == "{") - (spec[at] == "}")
        at += 1
    return spec[:at], spec[at + 1 :]
