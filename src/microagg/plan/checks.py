"""Single settings checked by themselves: `SettingsError` for what cannot be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real

from microagg import wording

Names = tuple[str, ...]

Code = int | float | str
"""What stands for a missing answer: a number, or a text such as a point."""


def k_of(k: object) -> int:
    """A smallest group size."""
    if isinstance(k, bool) or not isinstance(k, Integral):
        raise wording.k_not_integer(type(k).__name__)
    if k < 2:
        raise wording.k_too_small(int(k))
    return int(k)


def choice(setting: str, value: object, choices: tuple[str, ...]) -> str:
    """One of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise wording.no_such_choice(setting, value, choices)
    return value


def whole(setting: str, value: object, least: int) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise wording.bad_number(setting, value, f"a whole number of at least {least}")
    return int(value)


def names_of(word: str, value: object, what: str = "column name") -> Names:
    """Names, of columns unless said otherwise; one name is a list of one."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, Sequence) or not all(isinstance(name, str) for name in value):
        raise wording.bad_value(word, f"a list of {what}s")
    if not value:
        raise wording.bad_value(word, f"at least one {what}")
    return tuple(value)


def subsets_of(word: str, value: object) -> tuple[Names, ...]:
    """A list of names is one subset, a list of lists are several."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return (names_of(word, value),)
    if all(isinstance(name, str) for name in value):
        return (names_of(word, value),)
    if any(isinstance(name, str) for name in value):
        raise wording.bad_value(word, "either a list of column names or a list of such lists")
    return tuple(names_of(word, subset) for subset in value)


def name_of(word: str, value: object) -> str:
    """The name of one column."""
    if not isinstance(value, str):
        raise wording.bad_value(word, "the name of one column")
    return value


def codes_of(word: str, value: object) -> dict[str, tuple[Code, ...]]:
    """By column, numbers and texts that mean something else than a number."""
    if not isinstance(value, Mapping):
        raise wording.bad_value(word, "a table of columns with a list of codes each")
    checked: dict[str, tuple[Code, ...]] = {}
    for column, codes in value.items():
        listed = codes if isinstance(codes, Sequence) and not isinstance(codes, str) else [codes]
        if not isinstance(column, str) or not listed or not all(map(_may_be_code, listed)):
            raise wording.bad_value(word, "a table of columns with a list of numbers or texts each")
        found = [code_in(code) if isinstance(code, str) else code for code in listed]
        if not all(isinstance(code, str) or math.isfinite(code) for code in found):
            raise wording.bad_value(word, "a table of columns with a list of finite numbers or texts each")
        # Those of NumPy are no numbers of JSON and TOML.
        checked[column] = tuple(
            code if isinstance(code, str) else int(code) if isinstance(code, Integral) else float(code)
            for code in found
        )
    return checked


def _may_be_code(code: object) -> bool:
    if isinstance(code, str):
        return bool(code.strip())
    return isinstance(code, Real) and not isinstance(code, bool)


def code_in(text: str) -> Code:
    """A code as it was typed: the number that it is, or else the text, without blanks around it."""
    text = text.strip()
    try:
        number = float(text)
    except ValueError:
        return text
    if text.lstrip("+-").isdigit():
        return int(text)
    return number if math.isfinite(number) else text
