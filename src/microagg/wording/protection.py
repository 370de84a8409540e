"""Options of `protect` that cannot be, or not with these data."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.errors import DataError, SettingsError, UnsafeRelease
from microagg.wording.message import option_name, use
from microagg.wording.phrases import and_list, are, count, listed, nearest_names


def unknown_option(option: str, known: Sequence[str]) -> SettingsError:
    return SettingsError(f"There is no option '{option}'{nearest_names(option, known)}.")


def option_missing(option: str, example: str) -> SettingsError:
    return SettingsError(f"{option} is not given. Give, for example, {example}.")


def no_k() -> SettingsError:
    return SettingsError(f"k is not given. Give, for example, {use('k', 3)}.")


def bad_value(option: str, needed: str) -> SettingsError:
    return SettingsError(f"{option_name(option)} must be {needed}.")


def bad_list() -> SettingsError:
    return SettingsError(
        "A list of columns has a line break outside of quotes. Separate names by commas, and put names "
        'with a comma or a line break in double quotes: "a name, with a comma",another.'
    )


def given_twice(option: str, column: str) -> SettingsError:
    return SettingsError(f"{option_name(option)} is given twice for column '{column}'; give it once.")


def no_keys() -> SettingsError:
    return SettingsError(
        "No column is named to be masked. Name the numeric columns by which somebody could be recognised, "
        f"with {use('keys')} (masked together) or {use('each')} (every column by itself)."
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


def pairs() -> SettingsError:
    return SettingsError(
        "k is 2: each of the two members of a group can compute the other's values from the mean and its "
        f"own. Use a k of 3 or more, or accept this with {use('allow_pairs', True)}."
    )


def weighted_median() -> SettingsError:
    return SettingsError(
        f"A weight would have no effect on {use('aggregate', 'median')}. Use {use('aggregate', 'mean')}, "
        "or give the column of weights another role, such as pass."
    )


def retry_and_accept() -> SettingsError:
    return SettingsError(
        f"{use('retry', True)} looks for groups with several confidential values, "
        f"{use('accept_homogeneous', True)} accepts groups without them. Keep one of the two."
    )


def option_without_effect(option: str, condition: str) -> SettingsError:
    return SettingsError(f"{option_name(option)} has an effect only if {condition}. Leave it out.")


def needs_role(columns: Sequence[str], why: Sequence[str]) -> SettingsError:
    found = listed([f"'{column}' ({reason})" for column, reason in zip(columns, why, strict=True)])
    one = len(columns) == 1
    return SettingsError(
        f"{'A column' if one else 'Columns'} without a role may identify single respondents: {found}. "
        f"Give {'it' if one else 'each'} a role: drop (not released), keys or each (masked), confidential, "
        "or pass (released unchanged)."
    )


def small_strata(small: int, strata: int, smallest: int, k: int, columns: Sequence[str]) -> SettingsError:
    # The codes of strata are values of respondents and are not named.
    return SettingsError(
        f"{small} of {count(strata, 'stratum', 'strata')} ({', '.join(columns)}) "
        f"{'has' if small == 1 else 'have'} fewer than k = {k} records; the smallest has {smallest}. Merge "
        f"them ({use('small_strata', 'merge')}), leave their records out "
        f"({use('small_strata', 'suppress')}), or use coarser strata or a smaller k."
    )


def all_suppressed(k: int) -> SettingsError:
    return SettingsError(
        f"Every stratum has fewer than k = {k} records: leaving them out would leave nothing. Use coarser "
        f"strata, {use('small_strata', 'merge')} or a smaller k."
    )


def no_codes(column: str, kind: str) -> DataError:
    return DataError(
        f"Column '{column}' holds values of type {kind}, which cannot be strata. Give it another role, or "
        "use a column of codes or numbers."
    )


def unusable_type(column: str, kind: str) -> DataError:
    return DataError(
        f"Column '{column}' holds values of type {kind}, which cannot be used. Convert it, or remove it "
        "from the data."
    )


def halves_of_letters(column: str) -> DataError:
    return DataError(
        f"Column '{column}' holds text that is not valid Unicode (lone surrogates). It was probably read "
        "in a wrong encoding: read it again, or remove the column."
    )


def nan_as_code(column: str, records: int) -> DataError:
    return DataError(
        f"Column '{column}' is NaN in {count(records, 'record')}; strata must be values or missing. "
        "Replace NaN by null, or give the column another role."
    )


def codes_not_merged(column: str, kind: str) -> DataError:
    return DataError(
        f"Strata of column '{column}' cannot be merged, as it holds values of type {kind}. Convert it to "
        f"text or numbers, or leave small strata out ({use('small_strata', 'suppress')})."
    )


def codes_collide(column: str) -> DataError:
    return DataError(
        f"Merging strata would make a code of column '{column}' that exists already. "
        "Rename the codes that contain a plus sign."
    )


def missing_keys(column: str, missing: int, n: int) -> DataError:
    return DataError(
        f"Column '{column}' has {count(missing, 'missing value')} in {count(n, 'record')}. Group records "
        f"that miss the same values ({use('missing', 'by-pattern')}), fill in or remove these records, or "
        "do not use the column as a key."
    )


def too_few_without_keys(records: int, k: int) -> DataError:
    return DataError(
        f"{count(records, 'record')} would have no value in any key of a subset, fewer than k = {k}. "
        "Remove such records, mask these columns together with others that are less often missing, drop "
        "the columns, or use a smaller k."
    )


def bad_weights(column: str, what: str, weights: int) -> DataError:
    return DataError(
        f"Column '{column}' has {count(weights, f'{what} weight')}; every weight must be a number above 0 "
        "and at most 1e100. Correct or remove these records, or use no weight."
    )


def real_values(groups: int) -> UnsafeRelease:
    return UnsafeRelease(
        f"{count(groups, 'group')} would publish a value of one of {'its' if groups == 1 else 'their'} "
        "members: the median of an odd number of values is one of them. Use "
        f"{use('aggregate', 'mean')}, or accept this with {use('accept_real_values', True)}."
    )


def noise_needs_spread(column: str) -> DataError:
    return DataError(
        f"Column '{column}' has fewer than two different values: its standard deviation is zero, and so "
        "would be the noise. Release it unchanged, or drop it."
    )


def too_large_for_noise(column: str, limit: float) -> DataError:
    return DataError(
        f"Column '{column}' has values beyond {limit:.0e}, too large to add noise to. Use another unit, or "
        f"mask the column by itself ({use('confidential_as', 'subset')})."
    )


def nothing_to_mask() -> str:
    return (
        "Nothing in this file can be masked: no column holds numbers that could be a key. Code what has an "
        "order, such as education or age groups, as numbers, and plan again. If a column was taken for an "
        "identifier or for codes by mistake, name it as a key."
    )


def two_weights(columns: Sequence[str]) -> SettingsError:
    return SettingsError(
        f"There {are(len(columns), 'column')} with the role weight ({and_list(columns)}); keep one."
    )
