"""What a user chooses on the pages -> the words of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from microagg import errors
from microagg.plan.words import WORDS

SUBSETS = 4
"""So many subsets of keys can be chosen on the page; a plan file may have more."""

LISTS = ("each", "strata", "confidential", "drop", "pass")


@dataclass
class Choices:
    """Of one project. Roles are those of a plan; "keys" has a number behind it: of which subset."""

    roles: dict[str, str] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)
    """By column, numbers that mean missing, as typed."""
    decimals: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=lambda: {"k": 3})
    """Other words, where they were said."""

    @classmethod
    def suggested(cls, columns: Iterable[Mapping[str, Any]]) -> Choices:
        """What is suggested for these columns."""
        found = cls()
        for column in columns:
            role = str(column["suggested"])
            found.roles[column["name"]] = "keys 1" if role == "keys" else role
            if role == "keys" and column["missing"]:
                found.settings["missing"] = "by-pattern"
        return found

    def say(self, word: str, value: object, column: str | None = None) -> None:
        """One thing was changed on a page; what cannot be is refused when the words are checked."""
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
            raise errors.two_weights(weights)
        words["weight"] = weights[0] if weights else None
        words["missing_codes"] = {
            column: _codes(column, text) for column, text in self.codes.items() if text
        }
        words["decimals"] = {
            column: _decimals(column, text) for column, text in self.decimals.items() if text
        }
        return {word: value for word, value in words.items() if value not in (None, [], {})}

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


def _codes(column: str, text: str) -> list[float]:
    try:
        return [_number(code) for code in text.split(",") if code.strip()]
    except ValueError:
        raise errors.bad_word(f"missing_codes of {column}", "numbers separated by commas: 9, 99") from None


def _number(text: str) -> float:
    return int(text) if text.strip().lstrip("+-").isdigit() else float(text)


def _decimals(column: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise errors.bad_word(f"decimals of {column}", "a whole number, such as 2") from None
