"""Kinds of options.

A kind reads what stands on a command line or in a form, checks a value wherever it comes from, raises the
message if it cannot be used, and writes it back as arguments of a command.
"""

from __future__ import annotations

import csv
import io
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from types import MappingProxyType
from typing import Any

from microagg import errors, wording

Names = tuple[str, ...]

Code = int | float | str
"""What stands for a missing answer: a number, or a text such as a point."""


class Kind:
    """What all kinds have in common. By itself: any value, checked by whoever uses it."""

    value_type: type = str
    """Of one value on the command line."""
    default: Any = None
    """Of an option of this kind, unless it has another."""
    repeatable: bool = False
    """Whether it may be given again on the command line; what is given adds up."""
    again: str = ""
    """What it means to give it again, for the help of the command line."""
    metavar: str = "TEXT"
    choices: Mapping[str, str] = MappingProxyType({})
    """What can be chosen, with labels for the browser; empty: there is no list."""

    def parse(self, name: str, given: Any) -> Any:
        """The value of what stands on the command line: of all texts if the option is repeatable."""
        return given

    def from_form(self, value: object) -> Any:
        """The value that was typed into a form. A text that is none stays as it is: `check` refuses it."""
        text = str(value).strip()
        try:
            return self.value_type(text)
        except ValueError:
            return text

    def check(self, name: str, value: Any) -> Any:
        """The value, or `SettingsError`."""
        return value

    def arguments(self, flag: str, value: Any) -> Iterator[str]:
        """A checked value as arguments of a command."""
        yield f"{flag}={value}"


class Text(Kind):
    def __init__(self, what: str = "text", metavar: str = "TEXT") -> None:
        self.what, self.metavar = what, metavar

    def check(self, name: str, value: object) -> str:
        if not isinstance(value, str) or not value:
            raise wording.bad_value(name, self.what)
        return value


class Delimiter(Kind):
    """One ASCII character that numbers and names do not have; a shell makes \\t of the tab."""

    def check(self, name: str, value: object) -> str:
        sign = str(value).replace(r"\t", "\t")
        if len(sign) != 1 or not sign.isascii() or sign.isalnum() or sign in '\r\n"+-.':
            raise wording.bad_delimiter(sign)
        return sign


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
    """The first choice is the default."""

    def __init__(
        self, choices: Mapping[str, str], replaced: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """`replaced`: choices that earlier versions had, and what to choose now."""
        self.choices, self.default, self.replaced = choices, next(iter(choices)), replaced
        self.metavar = f"[{'|'.join(choices)}]"

    def check(self, name: str, value: object) -> str:
        if isinstance(value, str) and value in self.replaced:
            raise wording.choice_replaced(name, value, self.replaced[value])
        if not isinstance(value, str) or value not in self.choices:
            raise wording.no_such_choice(name, value, tuple(self.choices))
        return value


class SeveralOf(OneOf):
    """Several of these choices, on the command line separated by commas."""

    repeatable = True

    def __init__(self, one: OneOf) -> None:
        super().__init__(one.choices, one.replaced)
        self.default, self.metavar = (), f"{one.metavar},…"

    def parse(self, name: str, given: Sequence[str]) -> list[str]:
        return [each for part in given for each in split_names(part)]

    def check(self, name: str, value: object) -> Any:
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, Sequence) or not listed:
            raise wording.bad_value(name, f"one or several of {', '.join(self.choices)}")
        return tuple(dict.fromkeys(super(SeveralOf, self).check(name, each) for each in listed))


class Flag(Kind):
    default = False
    value_type = bool

    def from_form(self, value: object) -> bool:
        return bool(value)

    def check(self, name: str, value: object) -> bool:
        if not isinstance(value, bool):
            raise wording.bad_value(name, "true or false")
        return value

    def arguments(self, flag: str, value: bool) -> Iterator[str]:
        if value:
            yield flag


# --- numbers ----------------------------------------------------------------------------------


class Int(Kind):
    toml = "a whole number"
    """What a plan file or a form must hold."""
    value_type = int
    metavar = "INTEGER"

    def __init__(self, at_least: int = 0, bits: int | None = None) -> None:
        """The number must be below 2**bits."""
        self.at_least, self.bits = at_least, bits

    def check(self, name: str, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, Integral) or value < self.at_least:
            raise wording.bad_number(name, value, f"{self.toml} of at least {self.at_least}")
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
    """A finite number; `needed` describes those that fit."""

    toml = "a number"
    """What a plan file or a form must hold."""
    value_type = float
    metavar = "NUMBER"

    def __init__(
        self, needed: str = "a number above 0", fits: Callable[[float], bool] = lambda number: number > 0
    ) -> None:
        self.needed, self.fits = needed, fits

    def check(self, name: str, value: object) -> float:
        if not _is_number(value) or not self.fits(float(value)):  # type: ignore[arg-type]  # a Real
            raise wording.bad_number(name, value, self.needed)
        return float(value)  # type: ignore[arg-type]

    def arguments(self, flag: str, value: float) -> Iterator[str]:
        yield f"{flag}={_shortest(value)}"


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _shortest(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


# --- names ------------------------------------------------------------------------------------


class NameList(Kind):
    """Names of columns or of something else, on the command line separated by commas."""

    default = ()
    repeatable = True

    def __init__(self, what: str = "column name") -> None:
        self.what = what
        self.metavar = f"{what.split()[0].upper()}S"

    def parse(self, name: str, given: Sequence[str]) -> list[str]:
        lists = [split_names(part) for part in given]
        # One that is empty is a mistake, which `check` refuses.
        return [each for part in lists for each in part] if all(lists) else []

    def from_form(self, value: object) -> list[str] | str:
        listed = value if isinstance(value, list) else split_names(str(value).strip())
        return [each for each in listed if each] or ""

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


class Acceptances(NameList):
    """Rules, each by itself or with the one column for which it is accepted: RULE=COLUMN."""

    def __init__(self, rules: Mapping[str, str]) -> None:
        super().__init__("rule")
        self.rules = rules
        self.metavar = "RULE[=COLUMN]"

    def check(self, name: str, value: object) -> Names:
        given = super().check(name, value)
        for each in given:
            rule, equals, column = each.partition("=")
            if rule not in self.rules:
                raise wording.no_such_choice(name, rule, tuple(self.rules))
            if equals and not column:
                raise wording.bad_value(name, "RULE or RULE=COLUMN, such as distinct=vote")
        return given


class Subsets(NameList):
    """Lists of names. A list of names is one subset, a list of lists is several."""

    again = "Given again: another subset."

    def parse(self, name: str, given: Sequence[str]) -> list[Any]:
        return [split_names(subset) for subset in given]

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


class KindByColumn(Kind, ABC):
    """Something for each of some columns."""

    default = {}  # noqa: RUF012 (nobody changes it)
    repeatable = True
    examples: str
    """Of the command line."""
    example_in_form: str
    of_each: str
    """What a plan has for each column."""

    def parse(self, name: str, given: Sequence[str]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for text in self.split(given):
            column, _, after = text.rpartition("=")
            column, value = column.strip(), self.read(after)
            if not column or value is None:
                raise wording.bad_value(name, f"{self.metavar}, such as {self.examples}")
            if column in values:
                raise wording.given_twice(name, column)
            values[column] = value
        return values

    def parse_cell(self, name: str, column: str, text: str) -> Any:
        """What a form holds for one column."""
        value = self.read(text)
        if value is None:
            raise wording.bad_value(f"{name} of {column}", self.example_in_form)
        return value

    def split(self, given: Sequence[str]) -> Sequence[str]:
        """The texts for single columns."""
        return given

    def read(self, text: str) -> Any:
        """The value in a text, or None if there is none."""
        return text.strip() or None

    def check(self, name: str, value: object) -> dict[str, Any]:
        if not isinstance(value, Mapping) or not all(isinstance(column, str) for column in value):
            raise wording.bad_value(name, f"a table with names of columns and {self.of_each} for each")
        return {column: self.check_one(f"{name} of {column}", own) for column, own in value.items()}

    @abstractmethod
    def check_one(self, name: str, value: Any) -> Any:
        """The value that a plan or a program has for one column, or an exception."""


class CodesByColumn(KindByColumn):
    """Numbers and texts that stand for a missing answer."""

    metavar = "COLUMN=CODES"
    examples = "age=9,99 or wages=."
    example_in_form = "numbers and texts separated by commas: 9, 99, ."
    of_each = "a list of codes"

    def read(self, text: str) -> list[Code] | None:
        try:
            listed = next(csv.reader([text], skipinitialspace=True), [])
        except csv.Error:  # a line break outside of quotes
            return None
        return [code_of(code) for code in listed] if listed and all(map(str.strip, listed)) else None

    def cell(self, codes: Sequence[Code]) -> str:
        """Codes as they would be typed into a form."""
        text = join_names(codes)
        return text if '"' in text else text.replace(",", ", ")

    def check_one(self, name: str, value: Any) -> tuple[Code, ...]:
        listed = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        if not listed or not all(map(_may_be_code, listed)):
            raise wording.bad_value(name, "a list of finite numbers or texts")
        codes = [code_of(code) if isinstance(code, str) else code for code in listed]
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
    return bool(code.strip()) if isinstance(code, str) else _is_number(code)


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


class LevelsByColumn(KindByColumn):
    """Ordered levels, the lowest first; none: the order of the file itself."""

    metavar = "COLUMN[=LEVELS]"
    examples = "education=primary<secondary<tertiary"
    example_in_form = "levels from the lowest to the highest: primary < secondary < tertiary"
    of_each = "a list of levels"

    def parse(self, name: str, given: Sequence[str]) -> dict[str, Any]:
        return super().parse(name, [text if "=" in text else f"{text}=" for text in given])

    def read(self, text: str) -> list[str] | None:
        # Blanks beside the sign allow for levels that contain it, such as "<9 years < 9 years and more".
        levels = [level.strip() for level in text.split(" < " if " < " in text else "<")]
        return [] if levels == [""] else levels if all(levels) else None

    def cell(self, levels: Sequence[str]) -> str:
        return " < ".join(levels)

    def check_one(self, name: str, value: Any) -> Names:
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise wording.bad_value(name, f"{self.of_each}, the lowest first")
        levels = tuple(_shortest(level) if _is_number(level) else str(level) for level in value)
        if len(levels) == 1 or not all(levels):
            raise wording.bad_value(name, "at least two levels, the lowest first, or none: as in the file")
        if repeated := [level for level in dict.fromkeys(levels) if levels.count(level) > 1]:
            raise wording.level_twice(name, repeated[0])
        return levels

    def arguments(self, flag: str, value: Mapping[str, Names]) -> Iterator[str]:
        for column, levels in value.items():
            yield f"{flag}={column}" + (f"={self.cell(levels)}" if levels else "")


class PairsByColumn(KindByColumn):
    """One value for each column, several on the command line separated by commas."""

    def split(self, given: Sequence[str]) -> list[str]:
        return [pair for text in given for pair in split_names(text)]

    def from_form(self, value: object) -> Any:
        """As on the command line."""
        if isinstance(value, Mapping) or not str(value).strip():
            return value
        try:
            return self.parse("", [str(value)])
        except errors.SettingsError:
            return str(value)

    def cell(self, value: Any) -> str:
        return str(value)

    def typed(self, value: Mapping[str, Any]) -> str:
        """As it would be typed into a form."""
        return ", ".join(join_names([f"{column}={self.cell(own)}"]) for column, own in value.items())

    def arguments(self, flag: str, value: Mapping[str, Any]) -> Iterator[str]:
        yield f"{flag}={join_names([f'{column}={self.cell(own)}' for column, own in value.items()])}"


class DecimalsByColumn(PairsByColumn):
    metavar = "COLUMN=N"
    examples = "surface=2,employees=0"
    example_in_form = "a whole number, such as 2"
    of_each = "a number of decimals"
    most = 15

    def read(self, text: str) -> int | None:
        return int(text) if text.strip().isdecimal() else None

    def check_one(self, name: str, value: object) -> int:
        decimals = Int().check(name, value)
        if decimals > self.most:
            raise wording.bad_number(name, decimals, f"at most {self.most}")
        return decimals


class ChoiceByColumn(PairsByColumn):
    """One of some choices for each column."""

    def __init__(self, options: Sequence[str], example: str) -> None:
        self.options = tuple(options)
        self.metavar = f"COLUMN=[{'|'.join(options)}]"
        self.examples = self.example_in_form = example
        self.of_each = f"one of {', '.join(options)}"

    def check_one(self, name: str, value: object) -> str:
        if value not in self.options:
            raise wording.no_such_choice(name, value, self.options)
        return str(value)


class TaxonomyByColumn(KindByColumn):
    """A file with codes and their parents for each column, or in a program a mapping of them."""

    metavar = "COLUMN=FILE"
    examples = "occupation=isco.csv"
    example_in_form = "a file, such as isco.csv"
    of_each = "a file with codes and their parents, or a table of them"

    def check_one(self, name: str, value: object) -> str | dict[str, str]:
        if isinstance(value, str | Path) and str(value):
            return str(value)
        if not isinstance(value, Mapping) or not value or not all(map(_is_code_with_parent, value.items())):
            raise wording.bad_value(name, self.of_each)
        parents: dict[str, str] = {}
        for code, parent in value.items():
            if _code_text(code) in parents:
                raise wording.taxonomy_code_twice(name, _code_text(code))
            parents[_code_text(code)] = _code_text(parent)
        return parents

    def arguments(self, flag: str, value: Mapping[str, Any]) -> Iterator[str]:
        for column, own in value.items():
            yield f"{flag}={column}={own if isinstance(own, str) else f'{column}.csv'}"


def _is_code_with_parent(pair: tuple[object, object]) -> bool:
    return bool(_code_text(pair[0])) and all(
        each is None or isinstance(each, str) or (isinstance(each, Integral) and not isinstance(each, bool))
        for each in pair
    )


def _code_text(code: object) -> str:
    return "" if code is None else str(code).strip()


class NumberByColumn(PairsByColumn):
    """A number above 0 for each column."""

    metavar = "COLUMN=NUMBER"
    examples = "income=2,age=0.5"
    example_in_form = "a number above 0, such as 2"
    of_each = "a number above 0"
    least, most = 1e-6, 1e6
    """With others, what some columns cost would be lost in rounding."""

    def read(self, text: str) -> float | None:
        try:
            return float(text)
        except ValueError:
            return None

    def cell(self, value: float) -> str:
        return _shortest(value)

    def check_one(self, name: str, value: object) -> float:
        needed = f"{self.of_each}, from {self.least:.6f} to {self.most:.0f}"
        return Number(needed, lambda number: self.least <= number <= self.most).check(name, value)


# --- by file ----------------------------------------------------------------------------------


class OfTwoFiles(Kind):
    """Of the original and the protected file: given once, it is about both."""

    repeatable = True
    again = "Given again: of PROTECTED."

    def __init__(self, of_one: Kind) -> None:
        self.of_one, self.metavar, self.choices = of_one, of_one.metavar, of_one.choices

    def parse(self, name: str, given: Sequence[Any]) -> Any:
        return given[0] if len(given) == 1 else list(given)

    def check(self, name: str, value: Any) -> Any:
        if isinstance(value, str) or not isinstance(value, Sequence):
            return self.of_one.check(name, value)
        if len(value) != 2:
            raise wording.bad_value(name, "one for both files, or two: the original's and the protected's")
        return [None if each is None else self.of_one.check(name, each) for each in value]
