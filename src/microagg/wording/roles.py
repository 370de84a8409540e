"""Roles of columns and policies of `protect` that cannot be, or not with these data."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.errors import DataError, SettingsError, UnsafeRelease
from microagg.wording.phrases import counted, listed, nearest_names
from microagg.wording.verdicts import RETRY


def unknown_word(word: str, known: Sequence[str]) -> SettingsError:
    """No such setting of `protect`."""
    return SettingsError(f"There is no setting '{word}'{nearest_names(word, known)}.")


def word_missing(word: str, example: str) -> SettingsError:
    """A setting without a default."""
    return SettingsError(f"{word} is not given; say, for instance, {example}.")


def bad_word(word: str, needed: str) -> SettingsError:
    """A setting of the wrong kind."""
    return SettingsError(f"{word} must be {needed}.")


def bad_list() -> SettingsError:
    """Names separated by commas, one of which cannot be told from the next."""
    return SettingsError(
        "A list of columns has a line break outside of quotes. Separate names by commas, and put names "
        'with a comma or a line break in double quotes: "a name, with a comma",another.'
    )


def said_twice(word: str, column: str) -> SettingsError:
    """Only one of them could have an effect."""
    return SettingsError(f"{word} is given twice for column '{column}'; say it once.")


def no_keys() -> SettingsError:
    """Nothing to mask."""
    return SettingsError(
        "No column is named to be masked. Name the numeric columns by which somebody could be recognised: "
        "keys (masked jointly) or each (every column by itself)."
    )


def two_roles(column: str, first: str, second: str) -> SettingsError:
    """Roles exclude each other."""
    if first == second:
        return SettingsError(f"Column '{column}' is named twice in {first}; name it once.")
    return SettingsError(f"Column '{column}' is named in {first} and in {second}; keep one of them.")


def only_for_masked(word: str, column: str, role: str | None) -> SettingsError:
    """Missing codes or decimals for a column whose numbers do not change."""
    has = f"has the role {role}" if role else "has no role"
    return SettingsError(
        f"{word} would have no effect on column '{column}', which {has}: it acts on columns that are "
        "masked (keys, each, or confidential ones that are changed). Leave it out."
    )


def pairs() -> SettingsError:
    """Each member of a pair can compute the other from the mean."""
    return SettingsError(
        "k is 2: each of the two members of a group can compute the other's values from the mean and its "
        "own. Use a k of 3 or more, or accept that with allow_pairs (--allow-pairs)."
    )


def weighted_median() -> SettingsError:
    """Two settings that do not go together."""
    return SettingsError(
        "A weight would have no effect on aggregate=median. Use aggregate=mean, or leave the weight out "
        "(give its column the role pass)."
    )


def retry_and_accept() -> SettingsError:
    """Two settings that do not go together."""
    return SettingsError(
        "retry looks for groups with several confidential values, accept_homogeneous does without them. "
        "Keep one."
    )


def word_without_effect(word: str, condition: str) -> SettingsError:
    """A setting that is for another situation."""
    return SettingsError(f"{word} has an effect only where {condition}. Leave it out.")


def needs_role(columns: Sequence[str], why: Sequence[str]) -> SettingsError:
    """Columns that may point to single respondents and were not mentioned."""
    found = listed([f"'{column}' ({reason})" for column, reason in zip(columns, why, strict=True)])
    return SettingsError(
        f"{'A column' if len(columns) == 1 else 'Columns'} without a role may point to single "
        f"respondents: {found}. Say what shall happen to {'it' if len(columns) == 1 else 'each'}: drop "
        "(leave it out), keys or each (mask), confidential, or pass (release it as it is)."
    )


def small_strata(small: int, strata: int, smallest: int, k: int, columns: Sequence[str]) -> SettingsError:
    """Strata in which no group of k can be formed. Their codes are values and are not named."""
    return SettingsError(
        f"{small} of {strata} strata ({', '.join(columns)}) {'has' if small == 1 else 'have'} fewer than "
        f"{k} records, the smallest {smallest}; k is {k}. Merge them (--small-strata merge), leave their "
        "records out (--small-strata suppress), use coarser strata or a smaller k."
    )


def all_suppressed(k: int) -> SettingsError:
    """No stratum has k records."""
    return SettingsError(
        f"Every stratum has fewer than {k} records, so that suppressing them would leave nothing. "
        "Use coarser strata, --small-strata merge, or a smaller k."
    )


def no_codes(column: str, kind: str) -> DataError:
    """Lists and structures, of which no order and no code is known."""
    return DataError(
        f"Column '{column}' holds values of type {kind}, which cannot be strata. Give it another role, or "
        "use a column of codes or numbers."
    )


def unusable_type(column: str, kind: str) -> DataError:
    """Types of Arrow for which it has hardly any function."""
    return DataError(
        f"Column '{column}' holds values of type {kind}, which cannot be used. Convert it, or remove it "
        "from the data."
    )


def halves_of_letters(column: str) -> DataError:
    """Lone surrogates, which only Python's own text can hold."""
    return DataError(
        f"Column '{column}' holds text that is not Unicode, with halves of letters in it, and cannot be "
        "used. It was probably read in a wrong encoding: read it again, or remove the column."
    )


def nan_as_code(column: str, count: int) -> DataError:
    """NaN is no value and not missing either."""
    return DataError(
        f"Column '{column}' is NaN in {counted(count, 'record')}; strata must be values or missing. "
        "Make these null, or give the column another role."
    )


def codes_not_merged(column: str, kind: str) -> DataError:
    """Values that are not the same when written as text."""
    return DataError(
        f"Strata of column '{column}', which holds values of type {kind}, cannot be merged. Convert it to "
        "text or numbers, or leave small strata out (--small-strata suppress)."
    )


def codes_collide(column: str) -> DataError:
    """A merged code that exists already."""
    return DataError(
        f"Merging strata would make a code of column '{column}' that exists already. "
        "Rename the codes that contain a plus sign."
    )


def missing_keys(column: str, missing: int, n: int) -> DataError:
    """Missing values of a key where nobody said what to do with them."""
    return DataError(
        f"Column '{column}' has {counted(missing, 'missing value')} in {counted(n, 'record')}. Group "
        "records with the same missing values together (--missing by-pattern), fill or remove them, or do "
        "not use the column as a key."
    )


def too_few_without_keys(records: int, k: int) -> DataError:
    """Records of which nothing is observed, or would be left."""
    return DataError(
        f"{counted(records, 'record')} would have no value in any key of a subset, fewer than k={k}. "
        "Remove such records, mask these columns jointly with others that are less often missing, drop "
        "them, or use a smaller k."
    )


def bad_weights(column: str, what: str, count: int) -> DataError:
    """Weights are numbers above zero."""
    return DataError(
        f"Column '{column}' has {count} {what} weights; every weight must be a number above 0 and at most "
        "1e100. Correct or remove those records, or use no weight."
    )


def real_values(groups: int) -> UnsafeRelease:
    """The median of an odd number of values is one of them."""
    return UnsafeRelease(
        f"{counted(groups, 'group')} would publish a value of one of {'its' if groups == 1 else 'their'} "
        "own members, for the median of an odd number of values is one of them. Use the mean, or accept "
        "that with accept_real_values (--accept-real-values)."
    )


def retried_in_vain(attempts: int, failures: Sequence[str]) -> UnsafeRelease:
    """No recipe or seed that was tried gives a safe release."""
    found = " ".join(failure.replace(RETRY, "") for failure in failures)
    return UnsafeRelease(
        f"Nothing is released after {attempts} attempts with other seeds and methods. {found}"
    )


def noise_needs_spread(column: str) -> DataError:
    """Noise in proportion to nothing."""
    return DataError(
        f"Column '{column}' has fewer than two different values, so noise in proportion to its standard "
        "deviation would be none. Leave it as it is or drop it."
    )


def too_large_for_noise(column: str, limit: float) -> DataError:
    """Noise might lead beyond the range of doubles."""
    return DataError(
        f"Column '{column}' has values beyond {limit:.0e} in size, too large to add noise to. Use another "
        "unit, or mask the column as a subset (confidential_as subset)."
    )
