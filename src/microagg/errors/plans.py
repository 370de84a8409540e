"""Columns that need a decision, and plan files that cannot be used."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.errors.kinds import SettingsError
from microagg.errors.words import listed, nearest_names


def unknown_plan_words(source: str, names: Sequence[str], known: Sequence[str]) -> SettingsError:
    """A key of a plan that means nothing."""
    hints = [f"'{name}'{nearest_names(name, known)}" for name in names]
    which = "a word" if len(names) == 1 else "words"
    return SettingsError(
        f"{source} has {which} that no plan has: {listed(hints)}. "
        "`microagg plan` writes a plan with all words and their meaning."
    )


def plan_word_type(source: str, name: str, found: str, needed: str) -> SettingsError:
    """A key of a plan with a value of the wrong kind."""
    return SettingsError(f"In {source}, {name} is {found}; it must be {needed}.")


def plan_not_toml(source: str, line: int) -> SettingsError:
    """The parser's own words may quote names, so only the line is told."""
    return SettingsError(
        f"{source} is not TOML: line {line} cannot be read. Write each word as name = value, with text in "
        'quotes, such as missing = "refuse", and each word once.'
    )


def plan_not_utf_8(source: str, line: int) -> SettingsError:
    """Bytes that are no text."""
    return SettingsError(f"{source} is not text in UTF-8: see line {line}. Save it as UTF-8.")


def plan_too_large(source: str, most: int) -> SettingsError:
    """No plan has that size."""
    return SettingsError(f"{source} has more than {most} bytes, too many for a plan. Give a plan file.")


def not_unicode() -> SettingsError:
    """A path in bytes that are no text, which a plan cannot hold."""
    return SettingsError(
        "A path or a name has bytes that are no text in UTF-8, so that no plan can name it. Rename it."
    )


def plan_exists(path: str) -> SettingsError:
    """A plan may hold somebody's work."""
    return SettingsError(
        f"{path} exists already. Choose another name (-o), or replace it by --force; -o - prints the plan."
    )
