"""Columns that need a decision, and plan files that cannot be used."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.errors import SettingsError
from microagg.wording.phrases import counted, listed, nearest_names


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


def plan_overruled(source: str, words: Sequence[str], by_option: bool = True) -> str:
    """Not an error: what is given beside a plan replaces its words, which must not go unnoticed."""
    options = [f"-{word}" if len(word) == 1 else f"--{word.replace('_', '-')}" for word in words]
    given = listed(options if by_option else list(words), 40)
    return f"{given} {'replaces' if len(words) == 1 else 'replace'} what {source} has there."


def nothing_to_mask() -> str:
    """No column of numbers is left that could be a key."""
    return (
        "Nothing in this file can be masked: no column holds numbers that could be a key. Code what has an "
        "order, such as education or groups of age, as numbers, and plan again. If some column was taken "
        "for an identifier or for codes and is neither, name it as a key yourself."
    )


def no_plan(reason: str) -> SettingsError:
    """A file for which no plan would run."""
    return SettingsError(f"No plan is written, as protect would refuse it. {reason}")


def singles_out(what: str, unique: int, of: int) -> str:
    """Why a column is not released as it is."""
    return f"{what}; unchanged, it would make {unique:,} of {of:,} records unique in their groups"


def function_of_a_key(key: str) -> str:
    """Why a column is not masked beside another."""
    return f"a function of {key}, which is masked: the means of both together could give values away"


def same_in_groups(what: str, groups: int, of: int) -> str:
    """Why a column cannot be confidential with these groups."""
    has = "one group" if groups == 1 else f"{groups:,} groups"
    return f"{what}, but all records of {has} (of {of:,}) would share its value, which gives it away"


def dominates_groups(groups: int, of: int) -> str:
    """Why weights are left out."""
    has = "one group" if groups == 1 else f"{groups:,} groups"
    return (
        f"survey weights, but in {has} (of {of:,}) one record would carry more than half of the weight: "
        "try a larger k"
    )


def note_jointly_unique(columns: Sequence[str], unique: int, of: int) -> str:
    """What columns that are released as they are do together."""
    return (
        f"Released as they are, {listed(columns)} together make {unique:,} of {of:,} records unique in "
        "their groups. Drop or recode those that others may know."
    )


def note_confidential_suggested(columns: Sequence[str], unique: int, of: int) -> str:
    """What the role means for the values themselves."""
    return (
        f"Confidential columns ({listed(columns)}) are released as they are, with different values in "
        f"every group; by them, {unique:,} of {of:,} records are unique in their groups. Put those that "
        "others may know into keys: then they are masked."
    )


def note_missing_codes(column: str, codes: Sequence[int | str], records: int, labelled: bool) -> str:
    """Why codes are taken for missing answers; `records` have one that is a number, `labelled`: the file
    itself says so of these.
    """
    texts = [f'"{code}"' for code in codes if isinstance(code, str)]
    numbers = [str(code) for code in codes if not isinstance(code, str)]
    reasons = [f"{', '.join(texts)}: all other values of the column are numbers"] if texts else []
    if numbers:
        why = "their labels say that there is no answer"
        if not labelled:
            why = (
                "of the usual form of codes, repeated, at an end of the range and far from the other values"
            )
        reasons.append(f"{', '.join(numbers)} in {counted(records, 'record')}: {why}")
    return f"{column}: {'; '.join(reasons)}."


def note_codes_are_a_judgement() -> str:
    """What to do if the codes are none."""
    return (
        "They are taken for missing. If they are answers, such as the largest amount that was recorded, "
        "remove them here."
    )


def note_retry_suggested() -> str:
    """Why a plan tries other groups."""
    return (
        "The quick groups on which this plan was tried are safe. If the groups of a longer search are not, "
        "other methods are tried, those quick groups among them."
    )
