"""Options of `protect` that cannot be, or not with these data."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.errors import SettingsError, UnsafeRelease
from microagg.wording.message import option_name, use
from microagg.wording.phrases import listed
from microagg.wording.template import data_error, error, settings_error, text

unknown_option = settings_error("option", "known")(
    "There is no option '{option}'{option:nearest in known}."
)
not_given = settings_error("what", "example")("{what} is not given. Give, for example, {example}.")


def option_missing(option: str, example: object) -> SettingsError:
    return SettingsError(f"{option_name(option)} is not given. Give, for example, {use(option, example)}.")


bad_value = settings_error("option", "needed")("{option:option} must be {needed}.")
bad_list = settings_error()(
    "A list of columns has a line break outside of quotes. Separate names by commas, and put names with a "
    'comma or a line break in double quotes: "a name, with a comma",another.'
)
given_twice = settings_error("option", "column")(
    "{option:option} is given twice for column '{column}'; give it once."
)
no_keys = settings_error()(
    "No column is named to be masked. Name the numeric columns by which somebody could be recognised, with "
    "{--keys} (masked together) or {--each} (every column by itself)."
)


def two_roles(column: str, first: str, second: str) -> SettingsError:
    if first == second:
        return SettingsError(f"Column '{column}' is named twice in {option_name(first)}; name it once.")
    return SettingsError(
        f"Column '{column}' is named in {option_name(first)} and in {option_name(second)}; keep one of "
        "them."
    )


def only_for_masked(option: str, column: str, role: str | None) -> SettingsError:
    has = f"has the role {option_name(role)}" if role else "has no role"
    return SettingsError(
        f"{option_name(option)} would have no effect on column '{column}', which {has}: it is for columns "
        "that are masked (keys, each, or confidential columns that are changed). Leave it out."
    )


pairs = settings_error()(
    "k is 2: each of the two members of a group can compute the other's values from the mean and its own. "
    "Use a k of 3 or more, or accept this with {--allow_pairs true}."
)
weighted_median = settings_error()(
    "A weight would have no effect on {--aggregate median}. Use {--aggregate mean}, or give the column of "
    "weights another role, such as pass."
)
retry_and_accept = settings_error()(
    "{--retry true} looks for groups with several confidential values, {--accept_homogeneous true} accepts "
    "groups without them. Keep one of the two."
)
option_without_effect = settings_error("option", "condition")(
    "{option:option} has an effect only if {condition}. Leave it out."
)


def needs_role(columns: Sequence[str], why: Sequence[str]) -> SettingsError:
    found = listed([f"'{column}' ({reason})" for column, reason in zip(columns, why, strict=True)])
    one = len(columns) == 1
    return SettingsError(
        f"{'A column' if one else 'Columns'} without a role may identify single respondents: {found}. "
        f"Give {'it' if one else 'each'} a role: drop (not released), keys or each (masked), confidential, "
        "or pass (released unchanged)."
    )


# The codes of strata are values of respondents and are not named.
strata_too_small = settings_error("small", "strata", "smallest", "k", "columns")(
    "{small} of {strata} {strata:stratum|strata} ({columns:all}) {small:has|have} fewer than k = {k} "
    "records; the smallest has {smallest}. Merge them ({--small_strata merge}), leave their records out "
    "({--small_strata suppress}), or use coarser strata or a smaller k."
)
all_suppressed = settings_error("k")(
    "Every stratum has fewer than k = {k} records: leaving them out would leave nothing. Use coarser "
    "strata, {--small_strata merge} or a smaller k."
)
no_codes = data_error("column", "kind")(
    "Column '{column}' holds values of type {kind}, which cannot be strata. Give it another role, or use a "
    "column of codes or numbers."
)
unusable_type = data_error("column", "kind")(
    "Column '{column}' holds values of type {kind}, which cannot be used. Convert it, or remove it from "
    "the data."
)
invalid_unicode = data_error("column")(
    "Column '{column}' holds text that is not valid Unicode (lone surrogates). It was probably read in a "
    "wrong encoding: read it again, or remove the column."
)
nan_as_code = data_error("column", "records")(
    "Column '{column}' is NaN in {records:record}; strata must be values or missing. Replace NaN by null, "
    "or give the column another role."
)
codes_not_merged = data_error("column", "kind")(
    "Strata of column '{column}' cannot be merged, as it holds values of type {kind}. Convert it to text "
    "or numbers, or leave small strata out ({--small_strata suppress})."
)
codes_collide = data_error("column")(
    "Merging strata would make a code of column '{column}' that exists already. Rename the codes that "
    "contain a plus sign."
)
missing_keys = data_error("column", "missing", "n")(
    "Column '{column}' has {missing:missing value} in {n:record}. Group records that miss the same values "
    "({--missing by-pattern}), fill in or remove these records, or do not use the column as a key."
)
too_few_without_keys = data_error("records", "k")(
    "All keys of a subset would be missing in {records:record}, fewer than k = {k}. Remove such records, "
    "mask these columns together with others that are less often missing, drop the columns, or use a "
    "smaller k."
)
bad_weights = data_error("column", "what", "weights")(
    "Column '{column}' has {weights} {what} {weights:weight|weights}; every weight must be a number above "
    "0 and at most 1e100. Correct or remove these records, or use no weight."
)
real_values = error(UnsafeRelease, "groups")(
    "{groups:group} would publish a value of one of {groups:its|their} members: the median of an odd "
    "number of values is one of them. Use {--aggregate mean}, or accept this with {--accept_real_values "
    "true}."
)
noise_needs_spread = data_error("column")(
    "Column '{column}' has fewer than two different values: its standard deviation is zero, and so would "
    "be the noise. Release it unchanged, or drop it."
)
too_large_for_noise = data_error("column", "limit")(
    "Column '{column}' has values beyond {limit:.0e}, too large to add noise to. Use another unit, or mask "
    "the column by itself ({--confidential_as subset})."
)
nothing_to_mask = text()(
    "Nothing in this file can be masked: no column holds numbers that could be a key. Code what has an "
    "order, such as education or age groups, as numbers, and plan again. If a column was taken for an "
    "identifier or for codes by mistake, name it as a key."
)
two_weights = settings_error("columns")(
    "There {columns:is|are} {columns:column} with the role weight ({columns:and}); keep one."
)
