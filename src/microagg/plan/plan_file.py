"""Plan files: plan.toml written, with what each word means, and read."""

from __future__ import annotations

import errno
import math
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

from microagg import errors, wording
from microagg.plan.plan_text import used_plan, write_plan
from microagg.plan.words import WORDS, Word, WordKind

__all__ = ["parsed_plan", "read_plan", "used_plan", "write_plan"]

MOST_BYTES = 4_000_000

_PATHS = ("input", "output")


def read_plan(path: Path) -> dict[str, object]:
    """The words of a plan file, each known and of the right kind; whether they fit together is not checked.

    Paths are taken from the file's folder.
    """
    try:
        if path.is_dir():
            raise wording.is_a_folder(str(path))
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise wording.no_such_file(str(path)) from None
    except (OSError, ValueError) as error:  # a name with a zero byte is a ValueError
        if isinstance(error, errors.DataError):
            raise
        refusal = error if isinstance(error, OSError) else OSError(errno.EINVAL, "its name is not possible")
        raise wording.cannot_read(str(path), refusal) from None
    if len(content) > MOST_BYTES:
        raise wording.plan_too_large(str(path), MOST_BYTES)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise wording.plan_not_utf_8(str(path), content.count(b"\n", 0, error.start) + 1) from None
    words = parsed_plan(text, str(path))
    for name in _PATHS:
        if name in words and words[name] != "-":
            words[name] = os.path.normpath(path.parent / str(words[name]))
    return words


def parsed_plan(text: str, source: str) -> dict[str, object]:
    """The words of a plan's text, which messages call `source`; paths as they stand."""
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:  # its words may quote the text
        found = re.search(r"at line (\d+)", str(error))
        raise wording.plan_not_toml(source, int(found[1]) if found else text.count("\n") + 1) from None
    unknown = [name for name in content if name not in WORDS]
    if unknown:
        raise wording.unknown_plan_options(source, unknown, list(WORDS))
    return {name: _checked(source, WORDS[name], value) for name, value in content.items()}


def _checked(source: str, word: Word, value: object) -> object:
    """The value, if it is of the word's kind."""
    if word.kind == "subsets" and value and _is_names(value):
        value = [value]  # one subset, written without its own brackets
    fits, needed = _KINDS[word.kind]
    if not fits(value):
        raise wording.plan_option_type(
            source, word.name, _kind_of(value), f"{needed}, such as {word.shown}"
        )
    return value


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def _is_code(value: object) -> bool:
    return _is_number(value) or isinstance(value, str)


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


_KINDS: Mapping[WordKind, tuple[Callable[[object], bool], str]] = {
    "text": (lambda value: isinstance(value, str), "text in quotes"),
    "whole number": (_is_whole, "a whole number"),
    "number": (_is_number, "a number"),
    "truth value": (lambda value: isinstance(value, bool), "true or false"),
    "names": (_is_names, "an array of column names"),
    "subsets": (
        lambda value: isinstance(value, list) and all(_is_names(names) for names in value),
        "an array of arrays of column names",
    ),
    "codes by column": (
        lambda value: (
            isinstance(value, dict)
            and all(isinstance(codes, list) and all(map(_is_code, codes)) for codes in value.values())
        ),
        "a table with an array of numbers and texts for each column",
    ),
    "decimals by column": (
        lambda value: isinstance(value, dict) and all(map(_is_whole, value.values())),
        "a table with a whole number for each column",
    ),
}


def _kind_of(value: object) -> str:
    """In the words of TOML."""
    for kind, name in (
        (bool, "a truth value"),
        (str, "text"),
        (int, "a whole number"),
        (float, "a number"),
        (list, "an array"),
        (dict, "a table"),
    ):
        if isinstance(value, kind):
            return name
    return "a date or time"
