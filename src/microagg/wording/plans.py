"""Plan files that cannot be used, and reasons for what a suggested plan has."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.errors import SettingsError
from microagg.wording.message import use
from microagg.wording.phrases import count, listed, nearest_names


def unknown_plan_options(source: str, names: Sequence[str], known: Sequence[str]) -> SettingsError:
    hints = [f"'{name}'{nearest_names(name, known)}" for name in names]
    return SettingsError(
        f"{source} has {'an option' if len(names) == 1 else 'options'} that no plan has: {listed(hints)}. "
        "`microagg plan` writes a plan with all options and what they mean."
    )


def plan_option_type(source: str, name: str, found: str, needed: str) -> SettingsError:
    return SettingsError(f"In {source}, {name} is {found}; it must be {needed}.")


def plan_not_toml(source: str, line: int) -> SettingsError:
    return SettingsError(
        f"{source} is not TOML: line {line} cannot be read. Write each option once, as name = value, with "
        'text in quotes, such as missing = "refuse".'
    )


def plan_not_utf_8(source: str, line: int) -> SettingsError:
    return SettingsError(f"{source} is not text in UTF-8: see line {line}. Save it as UTF-8.")


def plan_too_large(source: str, most: int) -> SettingsError:
    return SettingsError(f"{source} has more than {most} bytes, too many for a plan. Give a plan file.")


def not_unicode() -> SettingsError:
    return SettingsError(
        "A path or a name has bytes that are not text in UTF-8, so that no plan can name it. Rename it."
    )


def plan_exists(path: str) -> SettingsError:
    return SettingsError(
        f"{path} exists already. Choose another name (-o), or replace it with {use('force', True)}; -o - "
        "prints the plan."
    )


def no_plan(reason: str) -> SettingsError:
    return SettingsError(f"No plan is written, as protect would refuse it. {reason}")


def singles_out(what: str, unique: int, of: int) -> str:
    return f"{what}; released unchanged, it would make {unique:,} of {of:,} records unique in their groups"


def function_of_a_key(key: str) -> str:
    return f"a function of {key}, which is masked: the means of both together could give values away"


def same_in_groups(what: str, groups: int, of: int) -> str:
    has = "one group" if groups == 1 else f"{groups:,} groups"
    return f"{what}, but all records of {has} (of {of:,}) would share its value, which gives it away"


def dominates_groups(groups: int, of: int) -> str:
    has = "one group" if groups == 1 else f"{groups:,} groups"
    return (
        f"survey weights, but in {has} (of {of:,}) one record would have more than half of the weight: "
        "try a larger k"
    )


def note_jointly_unique(columns: Sequence[str], unique: int, of: int) -> str:
    return (
        f"Released unchanged, {listed(columns)} together make {unique:,} of {of:,} records unique in "
        "their groups. Drop or recode those that others may know."
    )


def note_confidential_suggested(columns: Sequence[str], unique: int, of: int) -> str:
    return (
        f"Confidential columns ({listed(columns)}) are released unchanged, with different values in every "
        f"group; by them, {unique:,} of {of:,} records are unique in their groups. Make those that others "
        "may know keys: then they are masked."
    )


def note_missing_codes(column: str, codes: Sequence[int | str], records: int, labelled: bool) -> str:
    """`records` have a code that is a number; `labelled`: the file's own labels call them missing."""
    texts = [f'"{code}"' for code in codes if isinstance(code, str)]
    numbers = [str(code) for code in codes if not isinstance(code, str)]
    reasons = [f"{', '.join(texts)}: all other values of the column are numbers"] if texts else []
    if numbers:
        why = "their labels say that there is no answer"
        if not labelled:
            why = (
                "they look like codes, are repeated, and are the smallest or largest values, far from the "
                "others"
            )
        reasons.append(f"{', '.join(numbers)} in {count(records, 'record')}: {why}")
    return f"{column}: {'; '.join(reasons)}."


def note_codes_are_a_judgement() -> str:
    return (
        "They are read as missing. If they are answers, such as the largest amount that could be recorded, "
        "remove them here."
    )


def note_retry_suggested() -> str:
    return (
        "This plan was tried with quickly found groups, which are safe. If the groups of a longer search "
        "are not, other methods are tried, and those quick groups as well."
    )
