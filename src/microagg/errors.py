"""Every exception of microagg and all of its wording.

A message says what was found, what is needed and what to do. None ever shows a respondent's value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches


class SettingsError(ValueError):
    """A setting is wrong by itself or does not fit the data."""


class DataError(ValueError):
    """The data cannot be used as they are."""


class CertificateError(DataError):
    """A certificate does not prove what it claims, or not about these data."""


class UnsafeRelease(Exception):  # noqa: N818 (a verdict, not a mishap)
    """The verifier refused a release."""


class MissingExtra(ImportError):  # noqa: N818 (what is missing, not a mishap)
    """An optional dependency is not installed."""


class OutputError(OSError):
    """Something could not be written."""


class ContractError(Exception):
    """A stage broke the contract: a bug of microagg, never of its user."""


class Cancelled(Exception):  # noqa: N818 (asked for, not an error)
    """The run was cancelled before its method could return a partition."""


class DeadlinePassed(Exception):  # noqa: N818 (a signal between kernels and stages)
    """The deadline struck inside a refinement's kernel; the stage returns its start."""


def nearest_names(name: str, known: Iterable[str]) -> str:
    """' (did you mean a or b?)' or nothing."""
    folded = {candidate.casefold(): candidate for candidate in known}
    close = get_close_matches(name.casefold(), list(folded), n=2, cutoff=0.6)
    return f" (did you mean {' or '.join(folded[match] for match in close)}?)" if close else ""


def _list(names: Sequence[object], most: int = 8) -> str:
    shown = ", ".join(str(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def _quoted(names: Sequence[str]) -> str:
    return _list([f"'{name}'" for name in names])


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


# --- settings ---------------------------------------------------------------------------------


def k_not_integer(kind: str) -> SettingsError:
    """K is of some other type."""
    return SettingsError(f"k is a {kind}; it must be a whole number of at least 2, such as k=3.")


def k_too_small(k: int) -> SettingsError:
    """K protects nobody."""
    return SettingsError(
        f"k is {k}; it must be at least 2, so that each released record stands for several. Use 3 or more."
    )


def k_above_n(k: int, n: int) -> SettingsError:
    """No group of k records can be formed."""
    remedy = f"Use a k from 2 to {n}, or more records." if n >= 2 else "Give at least 2 records."
    return SettingsError(
        f"k is {k} but the data have only {_count(n, 'record')}; a group needs k records. {remedy}"
    )


def unknown_method(name: str, known: Iterable[str]) -> SettingsError:
    """No such name in the catalogue."""
    return SettingsError(
        f"There is no method '{name}'{nearest_names(name, known)}. `microagg methods` lists all of them."
    )


def empty_method(method: str) -> SettingsError:
    """A recipe with a gap in it."""
    return SettingsError(
        f"The method '{method}' has an empty part; write names joined by +, such as cbfs+mhm."
    )


def not_a_method(kind: str) -> SettingsError:
    """The method is neither text nor a stage."""
    return SettingsError(
        f"method is a {kind}; give a name such as 'mdav', a recipe such as 'cbfs+mhm', or a Stage."
    )


def setting_without_value(method: str, part: str) -> SettingsError:
    """Text after a colon that is not key=value."""
    return SettingsError(
        f"'{part}' after {method}: is not a setting; write key=value, such as mdav:stop=2k."
    )


def unknown_setting(method: str, key: str, known: Sequence[str]) -> SettingsError:
    """The method has no such setting."""
    has = f"its settings are {_list(known)}" if known else "it has no settings"
    return SettingsError(f"{method} has no setting '{key}'{nearest_names(key, known)} ({has}).")


def setting_given_twice(method: str, key: str) -> SettingsError:
    """The same key again."""
    return SettingsError(f"{method} is given the setting '{key}' twice; keep one.")


def bad_setting(method: str, key: str, value: str, needed: str) -> SettingsError:
    """The value of a method's setting does not fit."""
    return SettingsError(f"{method}:{key}={value} is not possible; {key} must be {needed}.")


def initial_after_start(stage: str, before: str) -> SettingsError:
    """A stage that ignores its start stands behind another."""
    return SettingsError(
        f"{stage} after {before} would discard the result of {before}. "
        f"Put {stage} first, or leave {before} out."
    )


def nothing_to_combine(what: str) -> SettingsError:
    """A combinator without parts."""
    return SettingsError(f"{what} needs at least one stage.")


def univariate_only(method: str, p: int) -> SettingsError:
    """A one-attribute method met several attributes."""
    return SettingsError(
        f"{method} works on one attribute; these data have {p}. "
        "Choose one column, or a multivariate method such as mdav-mhm."
    )


def too_many_records(method: str, n: int, most: int, instead: str) -> SettingsError:
    """The method's cost explodes."""
    return SettingsError(
        f"{method} looks at every partition and is limited to {most} records; these data have {n}. "
        f"Use {instead}."
    )


def no_such_choice(setting: str, value: object, choices: Sequence[str]) -> SettingsError:
    """A setting outside its list."""
    return SettingsError(
        f"{setting} is {value!r}{nearest_names(str(value), choices)}. It must be one of {_list(choices)}."
    )


def bad_number(setting: str, found: object, needed: str) -> SettingsError:
    """A numeric setting outside its range or of the wrong type."""
    return SettingsError(f"{setting} is {found!r}, of type {type(found).__name__}; it must be {needed}.")


def not_callable(setting: str, kind: str) -> SettingsError:
    """Something to be called that cannot be."""
    return SettingsError(f"{setting} is a {kind}; it must be a function, or None.")


def no_effect(setting: str, method: str, why: str) -> SettingsError:
    """An option that would do nothing is refused, never ignored."""
    return SettingsError(f"{setting} would have no effect on {method}: {why} Leave it out.")


# --- roles and policies ------------------------------------------------------------------------


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
    found = _list([f"'{column}' ({reason})" for column, reason in zip(columns, why, strict=True)])
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
        f"Column '{column}' is NaN in {_count(count, 'record')}; strata must be values or missing. "
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
        f"Column '{column}' has {_count(missing, 'missing value')} in {_count(n, 'record')}. Group records "
        "with the same missing values together (--missing by-pattern), fill or remove them, or do not use "
        "the column as a key."
    )


def too_few_without_keys(records: int, k: int) -> DataError:
    """Records of which nothing is observed, or would be left."""
    return DataError(
        f"{_count(records, 'record')} would have no value in any key of a subset, fewer than k={k}. Remove "
        "such records, mask these columns jointly with others that are less often missing, drop them, or "
        "use a smaller k."
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
        f"{_count(groups, 'group')} would publish a value of one of {'its' if groups == 1 else 'their'} "
        "own members, for the median of an odd number of values is one of them. Use the mean, or accept "
        "that with accept_real_values (--accept-real-values)."
    )


def retried_in_vain(attempts: int, failures: Sequence[str]) -> UnsafeRelease:
    """No recipe or seed that was tried gives a safe release."""
    found = " ".join(failure.replace(_RETRY, "") for failure in failures)
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


# --- data -------------------------------------------------------------------------------------


def not_two_dimensional(dimensions: int) -> DataError:
    """Neither a list of numbers nor a table."""
    return DataError(
        f"The data have {dimensions} dimensions; give a table with one row per record "
        "and one column per attribute."
    )


def not_a_table(kind: str) -> DataError:
    """A file name, a dictionary, nothing."""
    return DataError(
        f"The data are a {kind}; give an array or a data frame of numbers. "
        "Read a file first, for instance with pandas.read_csv or polars.read_parquet."
    )


def not_a_frame(kind: str) -> DataError:
    """Arrays have no names for their columns."""
    return DataError(
        f"The data are a {kind}; give the path of a file, or a data frame with names for its columns, "
        "such as one of pandas, polars, PyArrow or DuckDB."
    )


def ragged() -> DataError:
    """Rows of different lengths."""
    return DataError("The rows have different lengths; give a table with the same columns in each row.")


def no_records() -> DataError:
    """An empty table."""
    return DataError("The data have no records; at least k records are needed.")


def no_columns() -> DataError:
    """A table without attributes."""
    return DataError("The data have no columns; at least one numeric attribute is needed.")


def duplicate_columns(names: Sequence[str]) -> DataError:
    """Two columns share a name."""
    return DataError(
        f"Column names occur more than once: {_quoted(names)}. Rename them so that each is unique."
    )


def unnamed_column(place: int) -> DataError:
    """An empty name in the header."""
    return DataError(
        f"Column {place} of the file has no name. Give it one, or name the columns to use (--columns); "
        "a column of row numbers, as pandas writes without index=False, must not be microaggregated."
    )


def unknown_columns(names: Sequence[str], known: Sequence[str]) -> DataError:
    """Columns asked for that the table lacks."""
    hints = [f"'{name}'{nearest_names(name, known)}" for name in names]
    return DataError(f"No such column: {_list(hints)}. There are: {_list(known, 20)}.")


def column_named_twice(name: str) -> SettingsError:
    """The same column asked for twice."""
    return SettingsError(f"Column '{name}' is named twice; name each column once.")


def not_numeric(columns: Sequence[str], numeric: Sequence[str]) -> DataError:
    """Columns of text, dates or truth values."""
    which, holds = ("Column", "holds") if len(columns) == 1 else ("Columns", "hold")
    return DataError(
        f"{which} {_quoted(columns)} {holds} something other than numbers. {_only_numeric(numeric)}"
    )


def _only_numeric(numeric: Sequence[str]) -> str:
    """What to do about columns that cannot be microaggregated."""
    if not numeric:
        return "Only numbers can be microaggregated: convert what it holds, or give it another role."
    named = ",".join(numeric[:8]) + (",…" if len(numeric) > 8 else "")
    return (
        f"Use only the numeric ones (on the command line: --columns {named}), "
        "or convert the others to numbers."
    )


def dates(columns: Sequence[str], n: int, numeric: Sequence[str]) -> DataError:
    """Columns of dates or times."""
    which, holds = ("Column", "holds") if len(columns) == 1 else ("Columns", "hold")
    return DataError(
        f"{which} {_quoted(columns)} {holds} dates or times, in {_count(n, 'row')}: something other than "
        f"numbers. {_only_numeric(numeric)} A date becomes one as, for instance, days since a fixed day."
    )


_OR_LEAVE_OUT = "or do not use the column (partition: --columns; protect: give it another role)."


def numbers_as_text(column: str, count: int, n: int) -> DataError:
    """The file has a type for numbers and does not use it."""
    return DataError(
        f"Column '{column}' holds numbers stored as text in {count} of {_count(n, 'row')}. "
        f"Convert it to numbers in the program that wrote the file, {_OR_LEAVE_OUT}"
    )


def quoted_line_breaks(column: str, numbers: int) -> DataError:
    """What remains of a column of numbers in a CSV file if a quote was never closed."""
    return DataError(
        f"Column '{column}' has {_count(numbers, 'number')}, some with line breaks inside quotes or other "
        f"signs around them. Check that every quote is closed, {_OR_LEAVE_OUT}"
    )


def thousands_separators(column: str, count: int, n: int) -> DataError:
    """Signs between groups of three digits."""
    return DataError(
        f"Column '{column}' has numbers with thousands separators (such as 1,234.5, 1.234,5 or 1 234) "
        f"in {count} of {_count(n, 'row')}. Save the file without them, {_OR_LEAVE_OUT}"
    )


def doubtful_commas(column: str, count: int, n: int) -> DataError:
    """A thousand or one and a bit: a guess could be wrong by a factor of a thousand."""
    return DataError(
        f"Column '{column}' has numbers with commas before three digits in {count} of {_count(n, 'row')}: "
        "decimals, or thousands separators (such as 1,234)? If decimals, say so by --decimal , and else "
        "save the file without the separators."
    )


def decimal_commas(column: str, count: int, n: int, delimiter: str) -> DataError:
    """Decimal commas where the comma is the delimiter, or the point was said to be the decimal sign."""
    remedy = (
        "Save the file with decimal points, or with semicolons between the fields,"
        if delimiter == ","
        else "Give --decimal , or leave that option out,"
    )
    return DataError(
        f"Column '{column}' has numbers with a decimal comma in {count} of {_count(n, 'row')}, while the "
        f"{'delimiter is a comma too' if delimiter == ',' else 'decimal sign was said to be a point'}. "
        f"{remedy} {_OR_LEAVE_OUT}"
    )


def commas_beside_points(column: str, count: int, n: int) -> DataError:
    """Decimal commas in one column, decimal points in others: the file's sign is the point then."""
    return DataError(
        f"Column '{column}' has numbers with a decimal comma in {count} of {_count(n, 'row')}, while the "
        "decimal sign of the file is, or was said to be, the point. Give --decimal , if the commas are "
        f"right, or use one decimal sign throughout, {_OR_LEAVE_OUT}"
    )


def two_decimal_signs(column: str, count: int, n: int) -> DataError:
    """Points here, commas there."""
    return DataError(
        f"Column '{column}' has numbers with a decimal point in {count} of {_count(n, 'row')}, "
        "while others in the file have, or were said to have, a decimal comma. "
        f"Use one decimal sign throughout, {_OR_LEAVE_OUT}"
    )


def mixed_column(column: str, numbers: int, texts: int, dates: int, n: int) -> DataError:
    """Some values are numbers, some are not."""
    parts = [_count(numbers, "number")]
    parts += [_count(texts, "text")] if texts else []
    parts += [_count(dates, "date")] if dates else []
    return DataError(
        f"Column '{column}' holds something other than numbers in some of {_count(n, 'row')}: "
        f"{', '.join(parts[:-1])} and {parts[-1]}. "
        f"Replace what is no number (leave a cell empty if its value is missing), {_OR_LEAVE_OUT}"
    )


def not_numbers(kind: str) -> DataError:
    """An array of something else."""
    return DataError(
        f"The data hold {kind}; only numbers can be microaggregated. Convert or leave out the rest."
    )


def missing_values(column: str, count: int, n: int) -> DataError:
    """Empty cells or NaN."""
    return DataError(
        f"Column '{column}' has {_count(count, 'missing value')} in {_count(n, 'record')}. "
        "Remove or fill in these records, or leave the column out."
    )


def infinite_values(column: str, count: int) -> DataError:
    """Infinity cannot be averaged."""
    return DataError(
        f"Column '{column}' has {_count(count, 'infinite value')}. "
        "Replace or remove them, or leave the column out."
    )


def too_large_to_square(column: str, limit: float) -> DataError:
    """Without scaling, squared distances would overflow."""
    return DataError(
        f"Column '{column}' has values beyond {limit:.0e} in size, whose squares cannot be computed. "
        "Use another scale than 'none' (for instance zscore)."
    )


def too_small_to_square(column: str, limit: float) -> DataError:
    """Without scaling, squared distances would vanish."""
    return DataError(
        f"Column '{column}' varies by less than {limit:.0e}, whose square vanishes. "
        "Use another scale than 'none' (for instance zscore)."
    )


def too_far_out(column: str) -> DataError:
    """Robust units of an extreme outlier whose square overflows."""
    return DataError(
        f"Column '{column}' has values so many median absolute deviations away that their squares cannot "
        "be computed. Use the scale zscore, range or rank."
    )


def no_robust_spread(column: str) -> DataError:
    """More than half of a column is one value."""
    return DataError(
        f"Column '{column}': at least half of its values are equal, so its median absolute deviation "
        "is zero. Use the scale zscore, range or rank."
    )


def different_shape(found: tuple[int, ...], needed: int) -> DataError:
    """Data to aggregate that do not belong to the labels."""
    return DataError(
        f"The data to aggregate have {_count(found[0], 'record')}, the partition {needed}. "
        "Pass the same records in the same order."
    )


def different_columns(found: int, needed: int) -> DataError:
    """Data to aggregate with other attributes than were partitioned."""
    return DataError(
        f"The data to aggregate have {_count(found, 'column')}, the partitions {needed}. "
        "Pass the same columns in the same order."
    )


# --- files ------------------------------------------------------------------------------------


def no_such_file(path: str) -> DataError:
    """The input does not exist."""
    return DataError(f"There is no file {path}. Check the name and the folder.")


def is_a_folder(path: str) -> DataError:
    """A folder where a file is needed."""
    return DataError(f"{path} is a folder; give a file.")


def unknown_format(path: str, known: Sequence[str]) -> DataError:
    """The ending of the name says nothing to us."""
    return DataError(
        f"The format of {path} is not known by its name; it must end in one of {_list(known, 20)}."
    )


def no_header(path: str) -> DataError:
    """The first line is data. Its fields are not quoted: they are somebody's values."""
    return DataError(
        f"The first line of {path} holds numbers instead of column names. "
        "Add a line with the names of the columns at the top."
    )


def unknown_encoding(name: str) -> SettingsError:
    """Python knows no such encoding of text."""
    return SettingsError(
        f"There is no encoding '{name}'. Use one such as utf-8, utf-16, windows-1252 or latin-1, "
        "or leave it out to have it found."
    )


def wrong_encoding(source: str, name: str) -> DataError:
    """Some bytes mean nothing in the encoding given."""
    return DataError(
        f"{source} is not encoded in {name}, as was said: it has bytes that mean nothing there. "
        "Give another encoding, or leave it out to have it found."
    )


def no_encoding(source: str, tried: Sequence[str]) -> DataError:
    """Some bytes mean nothing in any encoding that is tried."""
    names = {"utf-8-sig": "UTF-8", "cp1252": "Windows-1252", "utf-16": "UTF-16"}
    return DataError(
        f"{source} is not encoded in {' or '.join(names[name] for name in tried)}. "
        "Check that it is complete, "
        "give its encoding (--encoding), or save it as UTF-8 (in a spreadsheet: 'CSV UTF-8')."
    )


def not_text(source: str) -> DataError:
    """Zero bytes, which text does not have unless it is in UTF-16."""
    return DataError(
        f"{source} is not a CSV file: it has bytes that no text in UTF-8 or Windows-1252 has. "
        "If it is text in UTF-16, give --encoding utf-16-le (or -be); else let its ending name its format."
    )


def bad_delimiter(sign: str) -> SettingsError:
    """More than one character, or one that numbers and quotes need."""
    return SettingsError(
        f"The delimiter is {sign!r}; it must be one sign that numbers and names do not have, "
        r"such as , ; | or \t for the tab."
    )


def comma_twice() -> SettingsError:
    """Fields and decimals cannot both use the comma."""
    return SettingsError(
        "The comma cannot be both delimiter and decimal sign. Leave --decimal out if numbers have decimal "
        "points, or save the file with another delimiter, such as the semicolon."
    )


_SIGNS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars (|)", " ": "spaces"}


def wrong_delimiter(source: str, given: str, found: str) -> DataError:
    """The header has no such sign, but another."""
    return DataError(
        f"The first line of {source} has no {_SIGNS.get(given, given)}, as was said, but {_SIGNS[found]}. "
        "Give that delimiter, or leave it out to have it found."
    )


def unknown_delimiter(source: str, sign: str, fields: int) -> DataError:
    """One column by the usual signs, several by another."""
    return DataError(
        f"{source} has no commas, semicolons, tabs or vertical bars between its fields; "
        f"{_SIGNS.get(sign, sign)} would make {fields} columns. "
        f"If that is meant, give --delimiter '{sign}'."
    )


def uneven_rows(source: str, count: int, fields: int, delimiter: str) -> DataError:
    """Rows with more or fewer fields than names."""
    return DataError(
        f"{source} cannot be read as CSV: {_count(count, 'row')} {'has' if count == 1 else 'have'} "
        f"not as many fields as the header, which has {fields}, separated by "
        f"{_SIGNS.get(delimiter, delimiter)}. Check that the file is complete and that fields with a "
        "delimiter inside are in quotes, or give another --delimiter."
    )


def not_csv(source: str, kind: str, options: Sequence[str]) -> SettingsError:
    """Options for CSV files have no effect on others."""
    return SettingsError(
        f"{_list(options)} would have no effect: {source} is a file of the format {kind}, not CSV. "
        f"Leave {'it' if len(options) == 1 else 'them'} out."
    )


def other_content(source: str, kind: str, found: str, endings: Sequence[str]) -> DataError:
    """The name says one format, the first bytes another."""
    remedy = (
        f"Let its name end in {' or '.join(endings)}"
        if endings
        else f"Save or unpack the data as {kind} first"
    )
    return DataError(
        f"{source} cannot be read as {kind}: it begins like a file of the format {found}. {remedy}."
    )


def password_protected(source: str) -> DataError:
    """An encrypted workbook."""
    return DataError(f"{source} is protected by a password. Save a copy without password and use that.")


def old_excel(source: str) -> DataError:
    """A workbook of before 2007, or another file of that family."""
    return DataError(
        f"{source} is not an .xlsx file but of an older Office format. "
        "Save it as .xlsx in a spreadsheet program."
    )


def empty_sheet(source: str) -> DataError:
    """No cell of the first sheet is filled."""
    return DataError(
        f"The first sheet of {source} is empty, so there are no records. Put the data on the first sheet, "
        "with the names of the columns in the first row."
    )


def extended_missing_note(columns: Sequence[str]) -> str:
    """Not an error: Stata's and SAS's letters for kinds of missing values are not kept."""
    return (
        f"Extended missing values (.a to .z) count as plain missing ones, and are written as such, in "
        f"{'column' if len(columns) == 1 else 'columns'} {_quoted(columns)}."
    )


def mixed_cells_note(columns: Sequence[str]) -> str:
    """Not an error: a column of an Arrow table has one type."""
    return (
        f"Cells of different types are read, and written, as text in "
        f"{'column' if len(columns) == 1 else 'columns'} {_quoted(columns)}."
    )


def unreadable_content(path: str, kind: str) -> DataError:
    """A broken file. The parser's own words may quote values, so they are not passed on."""
    remedy = ", that every row has as many fields as the header," if kind == "CSV" else ""
    return DataError(
        f"{path} cannot be read as {kind}. Check that it is complete{remedy} "
        "and that its ending names its format."
    )


def cannot_read(path: str, reason: str) -> OSError:
    """The operating system refused to hand over the file."""
    return OSError(f"{path} cannot be opened: {reason}. Check its permissions.")


def output_exists(path: str, replaceable: bool = False) -> SettingsError:
    """Nothing is overwritten unless that is asked for."""
    force = ", or replace it by --force (force=True in Python)" if replaceable else " or remove it first"
    return SettingsError(f"{path} exists already. Choose another name{force}.")


def output_is_a_folder(path: str) -> SettingsError:
    """A folder where a file is to be written."""
    return SettingsError(f"{path} is a folder; give the name of a new file in it.")


def not_a_folder(path: str) -> SettingsError:
    """A file where internal files are to be written."""
    return SettingsError(f"{path} is a file; give a folder, which need not exist yet.")


def output_is_no_file(path: str) -> SettingsError:
    """A device, a pipe, a socket."""
    return SettingsError(f"{path} is not a file but a device or a pipe; give the name of a new file.")


def internal_beside_release(folder: str, usual: str) -> SettingsError:
    """Whoever gets the folder of the release would get the record too."""
    return SettingsError(
        f"The internal record must not lie beside the release, in {folder}. Give another folder, or none: "
        f"then it is {usual}."
    )


def output_is_input(path: str) -> SettingsError:
    """The release would replace the data, perhaps by way of a link."""
    return SettingsError(
        f"{path} is the file that is read; a release must not replace its source. Choose another name."
    )


def unknown_output_format(path: str, known: Sequence[str]) -> SettingsError:
    """The ending of the output says nothing to us."""
    return SettingsError(
        f"The format to write {path} in is not known by its name; let it end in one of {_list(known, 20)}."
    )


def not_written(path: str, kind: str, known: Sequence[str]) -> SettingsError:
    """Formats that are read only."""
    return SettingsError(
        f"{path} cannot be written: {kind} files are only read. Let its name end in one of "
        f"{_list(known, 20)}, such as .csv, .sav for SPSS or .xpt for SAS."
    )


def bad_names_for(kind: str, names: Sequence[str], needed: str) -> DataError:
    """Column names that a format does not take."""
    which = "name" if len(names) == 1 else "names"
    return DataError(
        f"{kind} files cannot have the column {which} {_quoted(names)}; they take {needed}. "
        "Rename these columns, or choose another format by the ending of the output."
    )


def too_many_for(kind: str, what: str, found: int, most: int) -> DataError:
    """More rows or columns than a format has room for."""
    return DataError(
        f"{kind} files hold at most {most:,} {what}; there are {found:,}. "
        "Choose another format by the ending of the output, such as .csv or .parquet."
    )


def text_too_long_for(kind: str, column: str, most: int) -> DataError:
    """Longer text than a format has room for."""
    return DataError(
        f"Column '{column}' has text of more than {most:,} bytes, the most that {kind} files can hold. "
        "Drop the column, or choose another format by the ending of the output, such as .csv."
    )


def unwritable_column(kind: str, column: str, content: str) -> DataError:
    """A type of values that a format has no place for."""
    return DataError(
        f"Column '{column}' holds {content}, which cannot be written to {kind} files. "
        "Drop the column, or choose another format by the ending of the output, such as .parquet."
    )


def not_encodable(path: str, column: str, encoding: str) -> DataError:
    """Letters that the source's encoding lacks."""
    return DataError(
        f"Column '{column}' has letters that the encoding {encoding} of {path} cannot express. "
        "Save the source as UTF-8, or choose another format by the ending of the output."
    )


def refused_by_writer(path: str, kind: str) -> DataError:
    """The library that writes the format refused. Its words may quote values, so they are not passed on."""
    return DataError(
        f"{path} cannot be written as {kind}: the names, labels or values of some column do not fit into "
        "that format. Choose another one by the ending of the output, such as .csv or .parquet."
    )


def no_output_folder(path: str) -> SettingsError:
    """The folder to write to is missing."""
    return SettingsError(f"There is no folder {path} to write to. Create it first.")


def cannot_write(path: str, reason: str) -> OutputError:
    """Disk full, no permission."""
    return OutputError(f"{path} was not written: {reason}. Nothing was left behind.")


def no_reference_data(name: str, folder: str) -> DataError:
    """The CASC files are not shipped."""
    return DataError(
        f"The reference file {name} is not in {folder}. It is not shipped with microagg: "
        "set the environment variable MICROAGG_DATA to the folder that holds it."
    )


def unknown_data_set(name: str, known: Sequence[str]) -> SettingsError:
    """No such reference file."""
    return SettingsError(f"There is no reference data set '{name}'; there are {_list(known)}.")


# --- profiles and plan files -------------------------------------------------------------------


def unknown_plan_words(source: str, names: Sequence[str], known: Sequence[str]) -> SettingsError:
    """A key of a plan that means nothing."""
    hints = [f"'{name}'{nearest_names(name, known)}" for name in names]
    which = "a word" if len(names) == 1 else "words"
    return SettingsError(
        f"{source} has {which} that no plan has: {_list(hints)}. "
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


# --- measures of utility ------------------------------------------------------------------------


def note_cells_left_out(count: int, of: int) -> str:
    """Cells of which only one side, or none, is known."""
    return f"{count:,} of {of:,} cells are missing before or after masking and left out"


def note_records_left_out(count: int, of: int) -> str:
    """Records of which a cell is missing, for measures of all columns together."""
    return f"{count:,} of {of:,} records have missing cells and are left out"


def note_constant_columns(same: Sequence[str], changed: Sequence[str]) -> str:
    """Columns without any spread, in units of which a change could be expressed."""
    notes = []
    if same:
        notes.append(f"left out, for all original values are equal: {_these(same)}")
    if changed:
        notes.append(f"left out, though changed, for all original values are equal: {_these(changed)}")
    return "; ".join(notes)


def note_empty_columns(columns: Sequence[str]) -> str:
    """Columns of which no cell is known both before and after."""
    return f"left out, for no cell is known before and after masking: {_these(columns)}"


def note_nothing_to_compare() -> str:
    """No column varies, or fewer than two records are complete."""
    return "nothing to compare: no column with two different values is left"


def note_one_column() -> str:
    """Measures of pairs of columns, where there is no pair."""
    return "there is no pair of columns"


def note_null_components(count: int) -> str:
    """Eigenvalues of zero, relative to which no change could be expressed."""
    return f"{_count(count, 'component')} without any variance in the original left out"


def note_flat_parts(what: str, count: int) -> str:
    """Subsets or strata in which nothing varies."""
    return f"{count} {what} without different original values left out"


def note_propensity(terms: int) -> str:
    """What to compare the ratio with."""
    return f"{terms} terms; near 1, the table differs as records drawn at random from the original would"


# --- models and indicators ----------------------------------------------------------------------


def bad_model(text: str) -> SettingsError:
    """Not a formula."""
    return SettingsError(
        f"'{text}' is not a model; write the column to be explained, a tilde and the columns that explain "
        "it, such as 'y ~ a + b'. Put names with ~, + or spaces at their ends in backticks: `a+b`."
    )


def model_names_twice(column: str) -> SettingsError:
    """A column that explains itself, or twice the same."""
    return SettingsError(f"The model names column '{column}' twice; name each column once.")


def bad_indicator(text: str) -> SettingsError:
    """Not an indicator."""
    return SettingsError(
        f"'{text}' is not an indicator; write 'mean income', 'total turnover by region' or the like. Put "
        "names that contain ' by ' in backticks."
    )


def not_in_model(what: str, column: str, numeric: Sequence[str], others: Iterable[str]) -> SettingsError:
    """A column that is not there, or holds no numbers."""
    if column in set(others):
        return SettingsError(
            f"{what} names column '{column}', which holds no numbers. Use numeric columns that are in both "
            f"tables: {_list(numeric)}."
        )
    return SettingsError(
        f"{what} names column '{column}'{nearest_names(column, numeric)}, which is not a numeric column "
        f"of both tables. They have {_list(numeric)}."
    )


def no_such_groups(column: str, known: Sequence[str]) -> SettingsError:
    """An indicator by a column whose groups are not known."""
    has = f"Columns that are the same before and after are {_list(known)}." if known else "There is none."
    return SettingsError(
        f"An indicator cannot be computed by column '{column}'{nearest_names(column, known)}: groups must "
        f"be the same before and after masking. {has}"
    )


def model_too_few(model: str, records: int, needed: int) -> DataError:
    """More coefficients than records can tell."""
    return DataError(
        f"The model {model} needs at least {needed} records with values in all of its columns, before and "
        f"after masking; there {'is' if records == 1 else 'are'} {records}. Use fewer columns, or more "
        "records."
    )


def model_constant(model: str, column: str, when: str) -> DataError:
    """A column that explains nothing and cannot be explained."""
    return DataError(
        f"The model {model} cannot be fitted: all values of column '{column}' are equal {when} masking. "
        "Leave it out."
    )


def model_collinear(model: str, column: str, when: str) -> DataError:
    """A column that follows from the others."""
    return DataError(
        f"The model {model} cannot be fitted: column '{column}' is a linear combination of the other "
        f"explaining columns {when} masking. Leave one of them out."
    )


# --- certificates -----------------------------------------------------------------------------


def not_a_certificate(format_name: str) -> CertificateError:
    """Some other object."""
    return CertificateError(
        f"This is not a certificate: its 'format' is not '{format_name}'. Give the file microagg wrote."
    )


def certificate_of_other_version(version: int) -> CertificateError:
    """Written by another microagg."""
    return CertificateError(
        f"The certificate is not of version {version}, the one that can be checked here. "
        "Check it with the microagg that wrote it."
    )


def needs_extra(what: str, package: str, extra: str) -> MissingExtra:
    """An optional dependency is not installed."""
    return MissingExtra(f"{what} needs {package}: pip install 'microagg[{extra}]'")


def no_certificate(n: int, most: int) -> SettingsError:
    """There is a proof, but none of the kind that a certificate holds."""
    return SettingsError(
        "There is no certificate: certificates are written for proofs by column generation, that is for "
        f"at least two attributes and from 2k to {most:,} records; there are {n:,}."
    )


def same_output(path: str) -> SettingsError:
    """Two files under one name."""
    return SettingsError(f"{path} is named twice: groups and certificate need a file each.")


def stopped_before_proof() -> SettingsError:
    """The run was stopped while it looked for a partition."""
    return SettingsError("There is no certificate: the run was stopped before it began to prove a bound.")


def certificate_fields(where: str, missing: Sequence[str], unknown: Sequence[str]) -> CertificateError:
    """Names that are not the format's."""
    found = [f"lacks {_quoted(missing)}"] if missing else []
    found += [f"has unknown fields: {_quoted(unknown)}"] if unknown else []
    part = "The certificate" if where == "certificate" else f"An entry of the certificate's '{where}'"
    return CertificateError(f"{part} {' and '.join(found)}. Use the file as microagg wrote it.")


def certificate_field(name: str, needed: str) -> CertificateError:
    """A field of the wrong kind, length or range."""
    return CertificateError(
        f"The certificate's '{name}' cannot be used; needed: {needed}. Use the file as microagg wrote it."
    )


def certificate_altered() -> CertificateError:
    """The digest is that of other fields."""
    return CertificateError(
        "The certificate was changed after it was written: its fields do not have its digest. "
        "Use the file as microagg wrote it."
    )


def certificate_of_other_data() -> CertificateError:
    """The values are not those it was made for."""
    return CertificateError(
        "The certificate belongs to other data. Give the same records and columns in the same order."
    )


def certificate_data_unusable() -> CertificateError:
    """Not finite, or without squares in these units."""
    return CertificateError(
        "The data cannot be brought to the certificate's scale: they have missing or infinite values, "
        "or values whose squares cannot be computed. Give the data the certificate was made for."
    )


def certificate_of_other_partition() -> CertificateError:
    """The labels are not those it was made for."""
    return CertificateError(
        "The certificate's labels do not have its partition's digest. Use the file as microagg wrote it."
    )


def certificate_group_too_small(smallest: int, k: int) -> CertificateError:
    """Not a partition into groups of k."""
    return CertificateError(
        f"The certificate's partition has a group of {_count(smallest, 'record')}; "
        f"with k={k} each needs at least {k}. Make a new certificate."
    )


def certificate_figure_differs(name: str) -> CertificateError:
    """SSE or SST are not those of the data and the partition."""
    return CertificateError(
        f"The certificate's '{name}' is not that of its data, scale and partition. Make a new certificate."
    )


def certificate_leaves_incomplete() -> CertificateError:
    """Some partitions belong to no leaf."""
    return CertificateError(
        "The certificate's leaves are not all of a tree of decisions: some partitions are in none of them. "
        "Make a new certificate."
    )


def certificate_proves_less(claimed: float, proven: float) -> CertificateError:
    """The bound is higher than what follows from the prices."""
    return CertificateError(
        f"The certificate claims that no partition loses less than {claimed:.9g} %, "
        f"but its prices prove only {proven:.9g} %. Make a new certificate."
    )


def certificate_too_wide(most: int) -> CertificateError:
    """The prices are so far off that nearly all groups count."""
    return CertificateError(
        f"With the certificate's prices more than {most} groups would have to be looked at. "
        "Make a new certificate, with a smaller gap."
    )


def certificate_too_large(path: str, most: int) -> CertificateError:
    """No certificate has that size."""
    return CertificateError(f"{path} has more than {most} bytes, too many for a certificate.")


def certificate_unreadable(path: str) -> CertificateError:
    """Not JSON, or not strictly."""
    return CertificateError(
        f"{path} is not a JSON object in UTF-8 with finite numbers and each name once. "
        "Use the file as microagg wrote it."
    )


# --- verdicts ----------------------------------------------------------------------------------


def unsafe_release(failures: Sequence[str]) -> UnsafeRelease:
    """All that a recount has found."""
    if len(failures) == 1:
        return UnsafeRelease(f"Nothing is released. {failures[0]}")
    return UnsafeRelease("\n- ".join(["Nothing is released:", *failures]))


_RETRY = "other groups (--retry), "
"""A remedy that is not named again when it has been tried."""

_BUG = "This is a bug in microagg; please report it with the settings."


def _these(columns: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return " and ".join(([", ".join(columns[:-1])] if len(columns) > 1 else []) + list(columns[-1:]))


def _are(number: int) -> str:
    return f"{_count(number, 'record')} {'is' if number == 1 else 'are'}"


def k_anonymous(columns: Sequence[str], k: int, smallest: int) -> str:
    """What is promised holds."""
    return (
        f"every released combination of {_these(columns)} is shared by at least {k} records "
        f"(smallest {smallest})"
    )


def not_k_anonymous(columns: Sequence[str], k: int, below: int, smallest: int) -> str:
    """Not even subset by subset."""
    return (
        f"NOT k-anonymous ({_are(below)} in combinations of {_these(columns)} "
        f"shared by fewer than {k}, smallest {smallest})"
    )


def partly_k_anonymous(unique: int) -> str:
    """By each subset alone, but not by all of them together."""
    return f"k-anonymous per subset, NOT jointly ({unique} records unique)"


def not_counted() -> str:
    """The title of the columns that are no keys."""
    return "not counted: nothing is claimed for these columns; each, added to the keys, would make unique:"


def not_recounted() -> str:
    """Rows or columns are such that there is nothing to count."""
    return "NOT verified (the released table does not fit its source)"


def combination_too_rare(columns: Sequence[str], k: int, classes: int, below: int, smallest: int) -> str:
    """A subset is not k-anonymous."""
    return (
        f"{_are(below)} in combinations of {_these(columns)} that fewer than {k} records share "
        f"(of {_count(classes, 'combination')} the rarest has {smallest}). {_BUG}"
    )


def partial_not_accepted(k: int, unique: int, below: int) -> str:
    """Several subsets link records that none of them gives away."""
    return (
        f"The release is {partly_k_anonymous(unique)}: {_are(below)} in joint combinations of all subsets "
        f"that fewer than {k} records share. Mask the keys as one subset (--keys once), or accept this "
        "with --accept-partial."
    )


def homogeneous_groups(
    column: str, keys: Sequence[str], groups: int, records: int, least: int, masked: bool = False
) -> str:
    """Who knows the keys knows the confidential value, or the mean in its place."""
    has = ", as masked, has" if masked else " has"
    return (
        f"Confidential column '{column}'{has} fewer than {least} different values in "
        f"{_count(groups, 'group')} of {_these(keys)}, with {_count(records, 'record')}: the group gives "
        f"the value away. Try {_RETRY}a larger k{', a smaller --min-distinct' if least > 2 else ''}, or "
        "accept this with --accept-homogeneous."
    )


def dominant_weights(column: str, keys: Sequence[str], groups: int) -> str:
    """One record is nearly all of its group's weighted mean."""
    return (
        f"In {_count(groups, 'group')} of {_these(keys)} one record carries more than half of the weight "
        f"'{column}', so that the weighted mean is nearly its own value. Try {_RETRY}a larger k, or leave "
        "--weight out."
    )


def weights_unusable(column: str, count: int) -> str:
    """Missing, not finite, zero or negative."""
    return (
        f"Weight '{column}' of {_count(count, 'released record')} is missing or not a finite number above "
        "zero. Correct or remove these records, or leave --weight out."
    )


def mean_not_kept(column: str, change: float, tolerance: float) -> str:
    """The mean moved further than promised."""
    return (
        f"The mean of '{column}' changes by {change:.6g}, but at most {tolerance:.6g} was promised. {_BUG}"
    )


def not_the_mean(column: str, groups: int) -> str:
    """A group publishes something else than was promised."""
    publish = "publishes" if groups == 1 else "publish"
    return (
        f"{_count(groups, 'group')} {publish} in '{column}' something other than the mean of its records. "
        f"{_BUG}"
    )


def claims_unusable(what: str) -> str:
    """The promise itself makes no sense."""
    return f"What the release promises cannot be checked: {what}. {_BUG}"


def released_columns_differ(
    missing: Sequence[str], added: Sequence[str], dropped: Sequence[str], where: str
) -> str:
    """Not the source's columns less the dropped ones, in their order."""
    found = [f"lacks {_quoted(missing)}"] if missing else []
    found += [f"has {_quoted(added)} besides"] if added else []
    found += [f"still has {_quoted(dropped)}, to be dropped"] if dropped else []
    found = found or ["has the columns in another order, or one of them twice"]
    return f"The {where} {' and '.join(found)}. {_BUG}"


def released_rows_differ(what: str) -> str:
    """The records are not those of the source, each once at most."""
    return f"The released records do not fit the source: {what}. {_BUG}"


def nothing_released() -> str:
    """Every record was suppressed."""
    return (
        "No record is left to release. Use a smaller k, fewer strata, or merge small strata "
        "(--small-strata merge) instead of suppressing them."
    )


def column_changed(column: str, count: int) -> str:
    """Something that was to stay as it is did not."""
    return f"Column '{column}' was to stay as it is, but {_are(count)} changed. {_BUG}"


def column_retyped(column: str, found: str, needed: str) -> str:
    """The values may be the same, but not their type."""
    return f"Column '{column}' was to stay as it is, but is released as {found}, not {needed}. {_BUG}"


def strata_split(columns: Sequence[str], count: int) -> str:
    """Records of one stratum have different codes."""
    strata = f"{count} {'stratum' if count == 1 else 'strata'}"
    return f"Merging strata of {_these(columns)} has split {strata}. {_BUG}"


def not_a_number(column: str, count: int) -> str:
    """NaN or infinity, which no two records share."""
    return (
        f"Column '{column}' is released with NaN or infinity in {_count(count, 'record')}; "
        f"a missing value must be empty. {_BUG}"
    )


def masked_not_numeric(column: str, kind: str) -> str:
    """A masked column of another type."""
    return f"Column '{column}' was masked, but is {kind} and holds no numbers. {_BUG}"


def value_without_source(column: str, count: int) -> str:
    """A value where there was none."""
    return (
        f"Column '{column}' is released with a value where the source has none, in "
        f"{_count(count, 'record')}. {_BUG}"
    )


def missing_moved(column: str, count: int) -> str:
    """Noise changes values, not which of them are missing."""
    return (
        f"Noise was added to column '{column}', but {_are(count)} missing in only one of source and "
        f"release. {_BUG}"
    )


def too_few_observed(column: str, k: int, count: int) -> str:
    """A mean over fewer than k values."""
    return (
        f"Column '{column}': the values of {_count(count, 'record')} rest on fewer than {k} observed "
        f"values. {_BUG}"
    )


def note_partial(below: int, k: int) -> str:
    """Accepted: records may be linked by several subsets."""
    return f"accepted (--accept-partial): {_are(below)} in joint combinations that fewer than {k} share"


def note_homogeneous(column: str, keys: Sequence[str], groups: int, records: int) -> str:
    """Accepted: the keys give the value away."""
    return (
        f"accepted (--accept-homogeneous): too few different values of {column} in "
        f"{_count(groups, 'group')} of {_these(keys)}, with {_count(records, 'record')}"
    )


def note_noised(columns: Sequence[str]) -> str:
    """Noise is no k-anonymity."""
    return f"noise was added to {_these(columns)}: it blurs values, but gives no k-anonymity"


def note_noise_undone(column: str, count: int, of: int) -> str:
    """The noise is small beside the steps in which the source's values are written."""
    return (
        f"the noise of {column} is undone by rounding in {count} of {_count(of, 'record')}: the source's "
        "values have fewer decimals than it takes (more --noise helps)"
    )


def note_own_values(columns: Sequence[str], count: int) -> str:
    """A group of equal records, or a mean that is one of its values."""
    return f"{_are(count)} released with exactly the source's values in {_these(columns)}"


def note_suppressed(count: int, of: int) -> str:
    """Records left out."""
    return f"{count} of {of} records are not released"


def note_merged(count: int) -> str:
    """Strata with fewer than k records share a code."""
    return f"{_are(count)} in merged strata"


def note_given_up(k: int, lost: Mapping[str, int]) -> str:
    """Cells that are released as missing although the source has them, by column."""
    cells = ", ".join(f"{count} of {column}" for column, count in lost.items())
    return f"values given up, so that each pattern of missing values has {k} records: {cells}"


def note_mixed_zeros(count: int) -> str:
    """Zeros that could not be kept apart."""
    return f"{_count(count, 'record')} with rare patterns of zeros are grouped with other patterns"


def note_medians() -> str:
    """What medians do not do."""
    return "medians are published: means and totals are not kept, and values may be respondents' own"


def note_order() -> str:
    """The place of a record is information too."""
    return "records are in the order of the source, which may tell who is who (--shuffle changes it)"


def note_pairs() -> str:
    """Accepted: k is 2."""
    return "accepted (--allow-pairs): each member of a group of two can compute the other's values"


def note_retried(attempts: int) -> str:
    """Not the first groups, which had the lowest loss."""
    return f"these groups were found in attempt {attempts} of retry"


def written_differs(column: str) -> str:
    """The file does not say what was verified."""
    return (
        f"Column '{column}' reads differently from the written file than it was verified. Choose another "
        "format, such as Parquet or CSV; if it is one of these, please report it."
    )


def written_unreadable() -> str:
    """Not even the reader of the same format takes it."""
    return (
        "The written file cannot be read again. Choose another format, such as Parquet or CSV; if it is "
        "one of these, please report it."
    )


def written_rows_differ(found: int, needed: int) -> str:
    """Records were lost or added in writing."""
    return f"The written file has {_count(found, 'record')}, the release {needed}. {_BUG}"


def written_more_unique(found: int, verified: int) -> str:
    """Equal values were written differently."""
    return (
        f"In the written file {_are(found)} unique by the keys of all subsets, but {verified} as verified. "
        f"{_BUG}"
    )


# --- assessing and comparing -------------------------------------------------------------------


def unknown_measure(name: str, known: Sequence[str]) -> SettingsError:
    """No such name in the catalogue of measures."""
    return SettingsError(
        f"There is no measure '{name}'{nearest_names(name, known)}. `microagg explain` lists all of them."
    )


def no_keys_to_assess() -> SettingsError:
    """Nothing to compare the files by."""
    return SettingsError(
        "No column is named that was masked. Name the numeric columns that were: keys (masked jointly; "
        "once for each subset) or each (every column by itself)."
    )


def only_for_keys(word: str, column: str) -> SettingsError:
    """Missing codes of a column that is no key."""
    return SettingsError(
        f"{word} would have no effect on column '{column}', which is not among the keys. Leave it out."
    )


def no_csv_at_all(options: Sequence[str]) -> SettingsError:
    """Options for CSV files, and none of two is one."""
    return SettingsError(f"{_list(options)} would have no effect: neither of the two is a CSV file.")


def one_standard_input() -> SettingsError:
    """It can be read once."""
    return SettingsError("Only one of the two files can be - (standard input); name the other one.")


def keys_split_twice() -> SettingsError:
    """Keys given as subsets beside ways to split them."""
    return SettingsError(
        "The keys are given in several subsets, and ways to split them as well. Give all keys as one list, "
        "and each way to split them in subsets."
    )


def not_a_split(named: Sequence[str], keys: Sequence[str]) -> SettingsError:
    """Some key is left out, or named twice, or is none."""
    return SettingsError(
        f"The subsets {_list(named, 20)} are no way to split the keys {_list(keys, 20)}: each key must be "
        "in exactly one subset."
    )


def bad_max_risk(value: object) -> SettingsError:
    """A risk is a share of records."""
    return bad_number("max_risk", value, "a share from 0 to 1, such as 0.1")


def rule_of_choice(loss: str, risk: str, most: float, fit: int, of: int) -> str:
    """How one of several strategies was chosen."""
    if fit:
        return f"least {loss} among the {fit} of {of} with {risk} at most {most:g}"
    return f"least {risk}, since none of {of} has {risk} at most {most:g}"


def note_needs(words: str) -> str:
    """What a release by the recommended strategy would have to be granted."""
    return f"note: protect would have to be told to accept this: {words}"


def kept_for_later(path: str) -> str:
    """An interrupted comparison."""
    return f"Interrupted; what is finished is kept in {path}, and the same command goes on from there."


def only_csv(path: str) -> SettingsError:
    """Results in another format."""
    return SettingsError(f"The results {path} are written as CSV; give a name that ends in .csv.")


def only_svg(path: str) -> SettingsError:
    """A picture in another format."""
    return SettingsError(f"The map {path} is drawn as SVG; give a name that ends in .svg.")


def note_hidden_groups(count: int, fewest: int) -> str:
    """Groups whose figures would be somebody's own."""
    return f"  {_count(count, 'group')} of fewer than {fewest} records not shown"


def no_details_in_json() -> SettingsError:
    """JSON has all of them anyway."""
    return SettingsError("--details has no effect on --json, which has all details. Leave it out.")


def in_file(which: str, name: str, error: DataError) -> DataError:
    """What is wrong with one of two files."""
    return DataError(f"In the {which} file ({name}): {error}")


def not_in_protected(columns: Sequence[str], known: Sequence[str], role: str) -> DataError:
    """Columns of the original that were not released."""
    hints = [f"'{name}'{nearest_names(name, known)}" for name in columns]
    return DataError(
        f"The protected file has no column {_list(hints)}, named in {role}. "
        f"Leave it out there, or rename it as in the original. The file has: {_list(known, 20)}."
    )


def different_records(original: int, protected: int) -> DataError:
    """Records cannot be matched by their order."""
    return DataError(
        f"The original file has {_count(original, 'record')}, the protected file {protected}. Records are "
        "matched by their order, so both must have the same; or name a column that identifies records in "
        "both files (--id), where records may be missing from the protected file."
    )


def missing_ids(column: str, which: str, count: int) -> DataError:
    """Records without an id."""
    return DataError(
        f"Column '{column}' of the {which} file is missing in {_count(count, 'record')}; an id must be "
        "there for every record. Use another column, or match records by order."
    )


def repeated_ids(column: str, which: str, count: int) -> DataError:
    """Ids that several records have."""
    return DataError(
        f"Column '{column}' of the {which} file repeats an id in {_count(count, 'record')}; every record "
        "must have one of its own. Use another column, or match records by order."
    )


def unknown_ids(column: str, count: int, of: int) -> DataError:
    """Protected records that are not in the original."""
    return DataError(
        f"{count} of {_count(of, 'record')} of the protected file have an id in column '{column}' that no "
        "record of the original has. Give the original that the file was made from, with the ids it had."
    )


def other_order(column: str, count: int, of: int) -> DataError:
    """The files seem to be sorted in different ways."""
    return DataError(
        f"The files seem to have their records in different orders: column '{column}', which is not among "
        f"the keys, has the same values in both, but others in {count} of {_count(of, 'record')}. Name a "
        "column that identifies records in both files (--id), or bring them into the same order; if the "
        "values were swapped on purpose, name the column among the keys."
    )


def one_record() -> DataError:
    """Nothing varies, nobody can be confused with anybody."""
    return DataError("There is one record only; measures of risk and utility need at least 2.")


def all_missing(column: str, which: str) -> DataError:
    """A key without any value."""
    return DataError(
        f"Column '{column}' has no value at all in the {which} file, so nothing can be measured on it. "
        "Leave it out of the keys."
    )


def no_common_values(column: str) -> DataError:
    """Values in each file, but never for the same record."""
    return DataError(
        f"Column '{column}' has no record with a value in both files, so nothing can be measured on it. "
        "Leave it out of the keys, or check that the files belong together."
    )


def protected_equals_original(keys: Sequence[str], records: int) -> str:
    """Nothing was masked at all."""
    return (
        f"THE PROTECTED FILE IS NOT PROTECTED: {_these(keys)} {'has' if len(keys) == 1 else 'have'} the "
        f"original's own values in all of {_count(records, 'record')}. Do not release it."
    )


def promise_broken(columns: Sequence[str], k: int, below: int, smallest: int) -> str:
    """The file has not the k that was given."""
    return (
        f"THE PROTECTED FILE DOES NOT HAVE k = {k}: {_are(below)} in combinations "
        f"of {_these(columns)} that fewer than {k} records share (smallest {smallest}). Do not release it."
    )


def unsafe_file(failures: Sequence[str]) -> UnsafeRelease:
    """What an assessment found that forbids a release."""
    return UnsafeRelease(" ".join(failures))


def note_suppressed_records(count: int, of: int) -> str:
    """Records that are not in the protected file."""
    return (
        f"{count} of {_count(of, 'record')} of the original {'is' if count == 1 else 'are'} not in the "
        "protected file; all measures are of the others"
    )


def note_unchanged(column: str) -> str:
    """A key that was not masked."""
    return f"key {column} has the original's own value in every record"


def note_joint(below: int, k: int) -> str:
    """Each subset has k, all together have not."""
    return (
        f"k = {k} holds for each subset of keys, but not jointly: {_are(below)} in joint "
        f"combinations that fewer than {k} share"
    )


def note_changed(column: str, count: int) -> str:
    """A column that is not among the keys and differs."""
    return f"column {column}, which is not among the keys, differs in {_count(count, 'record')}"


def note_filled(column: str, count: int) -> str:
    """Values that were missing in the original."""
    return (
        f"{column} has a value in {_count(count, 'record')} where the original has none; these cells are "
        "not compared"
    )


def note_far_apart() -> str:
    """By order, records are less alike than strangers."""
    return (
        "records matched by order differ more than records at random would; if the files have different "
        "orders, nothing here is right: name an id (--id)"
    )


def note_weight_of_original(column: str) -> str:
    """Weights that were not released."""
    return f"weight {column} is not in the protected file; the original's weights are used"


def note_id_released(column: str) -> str:
    """An id is the worst key of all."""
    return f"the protected file has the id {column}: leave it out of what is released"


# --- our own bugs -----------------------------------------------------------------------------


def not_verified() -> ContractError:
    """Some path leads to a release without a passing verdict."""
    return ContractError(
        "A table was to be released without a verdict that lets it pass. "
        "This is a bug in microagg; please report it with the command you typed."
    )


def contract_broken(stage: str, what: str) -> ContractError:
    """A stage returned something it must not."""
    return ContractError(
        f"{stage} broke its contract: {what}. This is a bug in microagg; please report it with the "
        "method and the size of the data."
    )
