"""Every exception of microagg and all of its wording.

A message says what was found, what is needed and what to do. None ever shows a respondent's value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class SettingsError(ValueError):
    """A setting is wrong by itself or does not fit the data."""


class DataError(ValueError):
    """The data cannot be used as they are."""


class CertificateError(DataError):
    """A certificate does not prove what it claims, or not about these data."""


class UnsafeRelease(Exception):  # noqa: N818 (a verdict, not a mishap)
    """The verifier refused a release."""


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
    which = "Column" if len(columns) == 1 else "Columns"
    holds = "holds" if len(columns) == 1 else "hold"
    remedy = (
        f"Use only the numeric ones (on the command line: --columns {','.join(numeric[:8])}"
        f"{',…' if len(numeric) > 8 else ''}), or convert the others to numbers"
        if numeric
        else "Convert them to numbers first"
    )
    return DataError(
        f"{which} {_quoted(columns)} {holds} something other than numbers. {remedy}; "
        "numbers with a decimal comma or thousands separators count as text."
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
        f"The format of {path} is not known by its name; it must end in one of {_list(known)}."
    )


def no_header(path: str) -> DataError:
    """The first line is data. Its fields are not quoted: they are somebody's values."""
    return DataError(
        f"The first line of {path} holds numbers instead of column names. "
        "Add a line with the names of the columns at the top."
    )


def not_utf8(path: str) -> DataError:
    """Another encoding."""
    return DataError(f"{path} is not encoded in UTF-8. Save it as UTF-8 (in a spreadsheet: 'CSV UTF-8').")


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


def output_exists(path: str) -> SettingsError:
    """Nothing is overwritten."""
    return SettingsError(f"{path} exists already. Choose another name or remove it first.")


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


def needs_extra(what: str, package: str, extra: str) -> ImportError:
    """An optional dependency is not installed."""
    return ImportError(f"{what} needs {package}: pip install 'microagg[{extra}]'")


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


# --- our own bugs -----------------------------------------------------------------------------


def contract_broken(stage: str, what: str) -> ContractError:
    """A stage returned something it must not."""
    return ContractError(
        f"{stage} broke its contract: {what}. This is a bug in microagg; please report it with the "
        "method and the size of the data."
    )
