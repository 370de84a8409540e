"""Plan files that cannot be used, and reasons for what a suggested plan has."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.wording.phrases import count
from microagg.wording.template import settings_error, text

unknown_plan_options = settings_error("source", "names", "known")(
    "{source} has {names:an option|options} that no plan has: {names:hinted in known}. `microagg plan` "
    "writes a plan with all options and what they mean."
)
in_plan = settings_error("source", "error")("In {source}: {error}")
plan_not_toml = settings_error("source", "line")(
    "{source} is not TOML: line {line} cannot be read. Write each option once, as name = value, with text "
    'in quotes, such as missing = "refuse".'
)
plan_not_utf_8 = settings_error("source", "line")(
    "{source} is not text in UTF-8: see line {line}. Save it as UTF-8."
)
plan_too_large = settings_error("source", "most")(
    "{source} has more than {most} bytes, too many for a plan. Give a plan file."
)
not_unicode = settings_error()(
    "A path or a name has bytes that are not text in UTF-8, so that no plan can name it. Rename it."
)
plan_exists = settings_error("path")(
    "{path} exists already. Choose another name (-o), or replace it with {--force true}; -o - prints the "
    "plan."
)
no_plan = settings_error("reason")("No plan is written, as protect would refuse it. {reason}")
singles_out = text("what", "unique", "of")(
    "{what}; released unchanged, it would make {unique:,} of {of:,} records unique in their groups"
)
function_of_a_key = text("key")(
    "a function of {key}, which is masked: the means of both together could give values away"
)
same_in_groups = text("what", "groups", "of")(
    "{what}, but all records of {groups:,} of {of:,} groups would share its value, which gives it away"
)
dominates_groups = text("groups", "of")(
    "survey weights, but in {groups:,} of {of:,} groups one record would have more than half of the "
    "weight: try a larger k"
)
note_jointly_unique = text("columns", "unique", "of")(
    "Released unchanged, {columns:list} together make {unique:,} of {of:,} records unique in their groups. "
    "Drop or recode those that others may know."
)
note_confidential_suggested = text("columns", "unique", "of")(
    "Confidential columns ({columns:list}) are released unchanged, with different values in every group; "
    "by them, {unique:,} of {of:,} records are unique in their groups. Make those that others may know "
    "keys: then they are masked."
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


note_codes_are_a_judgement = text()(
    "They are read as missing. If they are answers, such as the largest amount that could be recorded, "
    "remove them here."
)
note_retry_suggested = text()(
    "This plan was tried with the groups of a quick method, and these are safe. If the groups of a longer "
    "search are not, other methods are tried, the quick one among them."
)
