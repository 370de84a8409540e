"""Kinds of options.

A kind reads what stands on a command line, in a plan file or in a form, checks it, raises the message if it
cannot be used, and writes it back as arguments of a command.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from types import MappingProxyType
from typing import Any

from microagg import wording

Names = tuple[str, ...]

Code = int | float | str
"""What stands for a missing answer: a number, or a text such as a point."""


class Kind:
    """Any text, and what all other kinds have in common."""

    toml: str = "text in quotes"
    """What a plan file must hold."""
    value_type: type = str
    """Of one value on the command line."""
    default: Any = None
    """Of an option of this kind, unless it has another."""
    repeatable: bool = False
    """Whether it may be given again on the command line; what is given adds up."""
    again: str = ""
    """What it means there to give it again."""
    metavar: str = "TEXT"
    choices: Mapping[str, str] = MappingProxyType({})
    """What can be chosen, with labels for the browser; empty: there is no list."""

    def parse(self, name: str, given: Any) -> Any:
        """The value of what stands on the command line: of all texts if the option is repeatable."""
        return given

    def fits_toml(self, value: object) -> bool:
        return isinstance(value, str)

    def from_form(self, value: object) -> Any:
        """The value of what a form holds, or the text itself if it has none: `check` has a message."""
        return str(value).strip()

    def check(self, name: str, value: Any) -> Any:
        """The value, or `SettingsError`."""
        return value

    def arguments(self, flag: str, value: Any) -> Iterator[str]:
        """A checked value as arguments of a command."""
        yield f"{flag}={value}"


class Text(Kind):
    """Checked by whoever uses it."""


class File(Kind):
    """The path of a file or folder."""

    def __init__(self, metavar: str = "FILE") -> None:
        self.metavar = metavar

    def parse(self, name: str, given: str) -> Path:
        return Path(given)


class Recipe(Kind):
    """A method, which `methods.recipe` checks."""

    metavar = "RECIPE"


class OneOf(Kind):
    def __init__(self, choices: Mapping[str, str]) -> None:
        self.choices = choices
        self.metavar = f"[{'|'.join(choices)}]"

    def check(self, name: str, value: object) -> str:
        if not isinstance(value, str) or value not in self.choices:
            raise wording.no_such_choice(name, value, tuple(self.choices))
        return value


class Flag(Kind):
    toml = "true or false"
    default = False
    value_type = bool

    def fits_toml(self, value: object) -> bool:
        return isinstance(value, bool)

    def from_form(self, value: object) -> bool:
        return bool(value)

    def check(self, name: str, value: object) -> bool:
        if not isinstance(value, bool):
            raise wording.bad_value(name, self.toml)
        return value

    def arguments(self, flag: str, value: bool) -> Iterator[str]:
        if value:
            yield flag


# --- numbers ----------------------------------------------------------------------------------


class Int(Kind):
    toml = "a whole number"
    value_type = int
    metavar = "INTEGER"

    def __init__(self, at_least: int = 0, bits: int | None = None) -> None:
        """The number must be below 2**bits."""
        self.at_least, self.bits = at_least, bits

    def fits_toml(self, value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    def from_form(self, value: object) -> int | str:
        text = str(value).strip()
        try:
            return int(text)
        except ValueError:
            return text

    def check(self, name: str, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, Integral) or value < self.at_least:
            raise wording.bad_number(name, value, f"a whole number of at least {self.at_least}")
        if self.bits is not None and value >= 2**self.bits:
            raise wording.bad_number(name, value, f"below 2**{self.bits}")
        return int(value)


class GroupSize(Int):
    """k, with messages that explain what it is for."""

    def check(self, name: str, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise wording.k_not_integer(type(value).__name__)
        if value < 2:
            raise wording.k_too_small(int(value))
        return int(value)


class Number(Kind):
    """A finite number above 0."""

    toml = "a number"
    value_type = float
    metavar = "NUMBER"

    def fits_toml(self, value: object) -> bool:
        return _is_number(value)

    def from_form(self, value: object) -> float | str:
        text = str(value).strip()
        try:
            return float(text)
        except ValueError:
            return text

    def check(self, name: str, value: object) -> float:
        if not _is_positive(value):
            raise wording.bad_number(name, value, "a number above 0")
        return float(value)  # type: ignore[arg-type]  # it is a Real

    def arguments(self, flag: str, value: float) -> Iterator[str]:
        yield f"{flag}={_shortest(value)}"


class Noise(Number):
    def __init__(self, at_least: float) -> None:
        self.at_least = at_least

    def check(self, name: str, value: object) -> float:
        if not _is_positive(value):
            raise wording.bad_number(name, value, f"a number of at least {self.at_least}, such as 0.1")
        number = float(value)  # type: ignore[arg-type]  # it is a Real
        if number < self.at_least:
            raise wording.too_little_noise(number, self.at_least)
        return number


class Share(Number):
    """From 0 to 1."""

    def check(self, name: str, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 <= float(value) <= 1.0:
            raise wording.bad_number(name, value, "a share from 0 to 1, such as 0.1")
        return float(value)


class AnyNumber(Number):
    """Checked by whoever uses it."""

    def check(self, name: str, value: Any) -> Any:
        return value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_positive(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < math.inf


def _shortest(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


# --- names ------------------------------------------------------------------------------------


class Name(Kind):
    """Of one column."""

    metavar = "COLUMN"

    def check(self, name: str, value: object) -> str:
        if not isinstance(value, str):
            raise wording.bad_value(name, "the name of one column")
        return value


class NameList(Kind):
    """Names of columns or of something else, on the command line separated by commas."""

    toml = "an array of column names"
    default = ()
    repeatable = True

    def __init__(self, what: str = "column name") -> None:
        self.what = what
        self.metavar = f"{what.split()[0].upper()}S"

    def parse(self, name: str, given: Sequence[str]) -> list[str]:
        lists = [split_names(part) for part in given]
        return [each for part in lists for each in part] if all(lists) else []

    def fits_toml(self, value: object) -> bool:
        return isinstance(value, list) and all(isinstance(name, str) for name in value)

    def check(self, name: str, value: object) -> Names:
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, Sequence) or not all(isinstance(each, str) for each in listed):
            raise wording.bad_value(name, f"a list of {self.what}s")
        if not listed:
            raise wording.bad_value(name, f"at least one {self.what}")
        return tuple(listed)

    def arguments(self, flag: str, value: Sequence[str]) -> Iterator[str]:
        yield f"{flag}={join_names(value)}"


class Texts(NameList):
    """Texts that may hold commas: on the command line, one each time that the option is given."""

    again = "May be repeated."

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.metavar = what.upper()

    def parse(self, name: str, given: Sequence[str]) -> list[str]:
        return list(given)


class Subsets(NameList):
    """Lists of names. A list of names is one subset, a list of lists is several."""

    toml = "an array of arrays of column names"
    again = "Given again: another subset."

    def parse(self, name: str, given: Sequence[str]) -> list[Any]:
        return [split_names(subset) for subset in given]

    def fits_toml(self, value: object) -> bool:
        fits = NameList().fits_toml
        return fits(value) or (isinstance(value, list) and all(map(fits, value)))

    def check(self, name: str, value: object) -> Any:
        names = NameList(self.what)
        if isinstance(value, str) or not isinstance(value, Sequence):
            return (names.check(name, value),)
        of_names = [isinstance(each, str) for each in value]
        if all(of_names):
            return (names.check(name, value),)
        if any(of_names):
            raise wording.bad_value(name, "either a list of column names or a list of such lists")
        return tuple(names.check(name, subset) for subset in value)

    def arguments(self, flag: str, value: Sequence[Any]) -> Iterator[str]:
        for subset in value:
            yield f"{flag}={join_names(subset)}"


class Splits(Kind):
    """Ways to split the keys, which `strategies` checks against them."""

    repeatable = True
    again = "May be repeated."
    metavar = "[joint|each|SUBSETS]"

    def parse(self, name: str, given: Sequence[str]) -> list[str | list[list[str]]]:
        return [text if text in ("joint", "each") else _split_at_slashes(text) for text in given]


class GroupSizes(Kind):
    """Several k, on the command line separated by commas."""

    repeatable = True
    metavar = "INTEGERS"

    def parse(self, name: str, given: Sequence[str]) -> list[int]:
        try:
            return [int(each) for each in ",".join(given).split(",")]
        except ValueError:
            raise wording.bad_value(name, "whole numbers separated by commas, such as 3,5,10") from None

    def check(self, name: str, value: object) -> list[int]:
        listed = [value] if isinstance(value, Integral) else value
        if not isinstance(listed, Sequence) or isinstance(listed, str) or not listed:
            raise wording.bad_value(name, "one or several whole numbers, such as 3, 5 and 10")
        return list(dict.fromkeys(listed))


def split_names(text: str) -> list[str]:
    """As in a CSV file: a name that holds a comma is put in quotes."""
    try:
        return [name.strip() for name in next(csv.reader([text]), [])]
    except csv.Error:  # a line break outside of quotes
        raise wording.bad_list() from None


def join_names(names: Sequence[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()


def _split_at_slashes(text: str) -> list[list[str]]:
    """Subsets between slashes that do not stand in quotes."""
    return [split_names(part) for part in re.findall(r'(?:[^/"]|"[^"]*"?)+', text)]


# --- by column --------------------------------------------------------------------------------


class CodesByColumn(Kind):
    """By column, numbers and texts that mean something else than a number."""

    toml = "a table with an array of numbers and texts for each column"
    default = {}  # noqa: RUF012 (nobody changes it)
    repeatable = True
    metavar = "COLUMN=CODES"

    def parse(self, name: str, given: Sequence[str]) -> dict[str, list[Code]]:
        codes: dict[str, list[Code]] = {}
        for text in given:
            column, equals, after = text.rpartition("=")
            column, listed = column.strip(), split_names(after)
            if not equals or not column or not listed or not all(listed):
                raise wording.bad_value(name, "COLUMN=CODES, such as age=9,99 or wages=.")
            if column in codes:
                raise wording.given_twice(name, column)
            codes[column] = [code_of(code) for code in listed]
        return codes

    def parse_cell(self, name: str, column: str, text: str) -> list[Code]:
        """What a form holds for one column."""
        try:
            listed = next(csv.reader([text], skipinitialspace=True), [])
        except csv.Error:
            needed = "numbers and texts separated by commas: 9, 99, ."
            raise wording.bad_value(f"{name} of {column}", needed) from None
        return [code_of(code) for code in listed if code.strip()]

    def cell(self, codes: Sequence[Code]) -> str:
        """Codes as they would be typed into a form."""
        text = join_names(codes)
        return text if '"' in text else text.replace(",", ", ")

    def fits_toml(self, value: object) -> bool:
        return isinstance(value, dict) and all(
            isinstance(codes, list) and all(isinstance(code, str) or _is_number(code) for code in codes)
            for codes in value.values()
        )

    def check(self, name: str, value: object) -> dict[str, tuple[Code, ...]]:
        if not isinstance(value, Mapping):
            raise wording.bad_value(name, "a table of columns with a list of codes each")
        return {column: self._codes(name, column, codes) for column, codes in value.items()}

    def _codes(self, name: str, column: object, given: Any) -> tuple[Code, ...]:
        listed = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
        if not isinstance(column, str) or not listed or not all(map(_may_be_code, listed)):
            raise wording.bad_value(name, "a table of columns with a list of numbers or texts each")
        codes = [code_of(code) if isinstance(code, str) else code for code in listed]
        if not all(isinstance(code, str) or math.isfinite(code) for code in codes):
            raise wording.bad_value(name, "a table of columns with a list of finite numbers or texts each")
        # Numbers of NumPy cannot be written as JSON or TOML.
        return tuple(
            code if isinstance(code, str) else int(code) if isinstance(code, Integral) else float(code)
            for code in codes
        )

    def arguments(self, flag: str, value: Mapping[str, Sequence[Code]]) -> Iterator[str]:
        for column, codes in value.items():
            texts = [code if isinstance(code, str) else _shortest(code) for code in codes]
            yield f"{flag}={column}={join_names(texts)}"


def _may_be_code(code: object) -> bool:
    if isinstance(code, str):
        return bool(code.strip())
    return isinstance(code, Real) and not isinstance(code, bool)


def code_of(text: str) -> Code:
    """A code as it was typed: the number that it is, or else the text, without blanks around it."""
    text = text.strip()
    try:
        number = float(text)
    except ValueError:
        return text
    if text.lstrip("+-").isdigit():
        return int(text)
    return number if math.isfinite(number) else text


class DecimalsByColumn(Kind):
    toml = "a table with a whole number for each column"
    default = {}  # noqa: RUF012 (nobody changes it)
    repeatable = True
    most = 15
    metavar = "COLUMN=N"

    def parse(self, name: str, given: Sequence[str]) -> dict[str, int]:
        decimals: dict[str, int] = {}
        for pair in (pair for text in given for pair in split_names(text)):
            column, equals, number = pair.rpartition("=")
            column = column.strip()
            if not equals or not column or not number.strip().isdecimal():
                raise wording.bad_value(name, "COLUMN=N, such as surface=2,employees=0")
            if column in decimals:
                raise wording.given_twice(name, column)
            decimals[column] = int(number)
        return decimals

    def parse_cell(self, name: str, column: str, text: str) -> int:
        """What a form holds for one column."""
        try:
            return int(text)
        except ValueError:
            raise wording.bad_value(f"{name} of {column}", "a whole number, such as 2") from None

    def fits_toml(self, value: object) -> bool:
        return isinstance(value, dict) and all(map(Int().fits_toml, value.values()))

    def check(self, name: str, value: object) -> dict[str, int]:
        if not isinstance(value, Mapping):
            raise wording.bad_value(name, "a table of columns with a number of decimals each")
        checked = {str(column): Int().check(f"{name} of {column}", each) for column, each in value.items()}
        for column, decimals in checked.items():
            if decimals > self.most:
                raise wording.bad_number(f"{name} of {column}", decimals, f"at most {self.most}")
        return checked

    def arguments(self, flag: str, value: Mapping[str, int]) -> Iterator[str]:
        yield f"{flag}={join_names([f'{column}={number}' for column, number in value.items()])}"


# --- by file ----------------------------------------------------------------------------------


class OfTwoFiles(Kind):
    """Of the original and the protected file: given once, it is about both."""

    repeatable = True
    again = "Given again: of PROTECTED."

    def __init__(self, of_one: Kind) -> None:
        self.of_one, self.metavar, self.choices = of_one, of_one.metavar, of_one.choices

    def parse(self, name: str, given: Sequence[Any]) -> Any:
        return given[0] if len(given) == 1 else list(given)
