"""What a user chooses on the pages -> the words of a plan."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from microagg import wording
from microagg.plan.checks import Code, code_in
from microagg.plan.words import WORDS

SUBSETS = 4
"""So many subsets of keys can be chosen on the page; a plan file may have more."""

LISTS = ("each", "strata", "confidential", "drop", "pass")


@dataclass
class Choices:
    """Of one project. Roles are those of a plan; "keys" has a number behind it: of which subset."""

    roles: dict[str, str] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)
    """By column, numbers and texts that mean missing, as typed."""
    decimals: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=lambda: {"k": 3})
    """Other words, where they were said."""
    unsaid: set[tuple[str, str | None]] = field(default_factory=set)
    """Words, or words of a column, that were suggested and not changed: they give way without a word where
    roles leave them without effect.
    """

    @classmethod
    def suggested(
        cls, columns: Iterable[Mapping[str, Any]], words: Mapping[str, Any] | None = None
    ) -> Choices:
        """What is suggested for these columns, in force until it is changed.

        `words`: those of the suggested plan. Codes for missing answers act wherever a column is masked.
        """
        found = cls()
        for column in columns:
            name, role = str(column["name"]), str(column["suggested"])
            codes = column.get("codes", ())
            found.roles[name] = "keys 1" if role == "keys" else role
            if codes:
                found.codes[name] = _typed(codes)
                found.unsaid.add(("missing_codes", name))
            if role == "keys" and (column["missing"] or codes):
                found.settings["missing"] = "by-pattern"
        words = words or {}
        for name, decimals in words.get("decimals", {}).items():
            found.decimals[name] = str(decimals)
            found.unsaid.add(("decimals", name))
        if "retry" in words:
            found.settings["retry"] = words["retry"]
            found.unsaid.add(("retry", None))
        return found

    def say(self, word: str, value: object, column: str | None = None) -> None:
        """One thing was changed on a page; what cannot be is refused when the words are checked."""
        self.unsaid.discard((word, column))
        if column is not None:
            by_column = {"role": self.roles, "missing_codes": self.codes, "decimals": self.decimals}
            if word in by_column and column in self.roles:
                by_column[word][column] = str(value).strip()
        elif word in WORDS:
            said = _of_kind(WORDS[word].kind, value)
            if said in ("", False) or (
                WORDS[word].is_default and str(said) == WORDS[word].shown.strip('"')
            ):
                self.settings.pop(word, None)
            else:
                self.settings[word] = said

    def words(self) -> dict[str, Any]:
        """Of a plan; `SettingsError` for numbers by column that are none."""
        words: dict[str, Any] = dict(self.settings)
        subsets = [self._with_role(f"keys {number}") for number in range(1, SUBSETS + 1)]
        words["keys"] = [subset for subset in subsets if subset]
        for role in LISTS:
            words[role] = self._with_role(role)
        weights = self._with_role("weight")
        if len(weights) > 1:
            raise wording.two_weights(weights)
        words["weight"] = weights[0] if weights else None
        words["missing_codes"] = {
            column: _codes(column, text) for column, text in self._acting("missing_codes", self.codes)
        }
        words["decimals"] = {
            column: _decimals(column, text) for column, text in self._acting("decimals", self.decimals)
        }
        if ("retry", None) in self.unsaid and not (words["confidential"] or weights):
            words.pop("retry", None)
        return {word: value for word, value in words.items() if value not in (None, [], {})}

    def _acting(self, word: str, by_column: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """What was typed, and what was suggested for columns that are masked."""
        noised = self.settings.get("confidential_as", "keep") != "keep"
        for column, text in by_column.items():
            role = self.roles[column]
            masked = role.startswith(("keys", "each")) or (role == "confidential" and noised)
            if text and (masked or (word, column) not in self.unsaid):
                yield column, text

    def _with_role(self, role: str) -> list[str]:
        return [column for column, own in self.roles.items() if own == role]


def _of_kind(kind: str, value: object) -> object:
    """The value as the plan wants it, or as it was typed: the plan's check has the words for that."""
    if kind == "truth value":
        return bool(value)
    text = str(value).strip()
    try:
        if kind == "whole number":
            return int(text)
        return float(text) if kind == "number" else text
    except ValueError:
        return text


def _codes(column: str, text: str) -> list[Code]:
    try:
        typed = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:
        raise wording.bad_value(
            f"missing_codes of {column}", "numbers and texts separated by commas: 9, 99, ."
        ) from None
    return [code_in(code) for code in typed if code.strip()]


def _typed(codes: Iterable[Code]) -> str:
    """Codes as they would be typed."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(codes)
    return line.getvalue().replace(",", ", ") if '"' not in line.getvalue() else line.getvalue()


def _decimals(column: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise wording.bad_value(f"decimals of {column}", "a whole number, such as 2") from None
