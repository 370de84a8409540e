"""What `assess` and `compare` say and refuse."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.errors import DataError, SettingsError, UnsafeRelease
from microagg.wording.phrases import counted, joined, listed, nearest_names, records_are
from microagg.wording.settings import bad_number


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
    return SettingsError(f"{listed(options)} would have no effect: neither of the two is a CSV file.")


def acts_on_neither(word: str) -> SettingsError:
    """What can be said about files of other formats only."""
    kind = "an Excel file" if word == "sheet" else "a CSV or Excel file"
    return SettingsError(f"{word} would have no effect: neither of the two is {kind}. Leave it out.")


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
        f"The subsets {listed(named, 20)} are no way to split the keys {listed(keys, 20)}: each key must "
        "be in exactly one subset."
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
    return f"  {counted(count, 'group')} of fewer than {fewest} records not shown"


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
        f"The protected file has no column {listed(hints)}, named in {role}. "
        f"Leave it out there, or rename it as in the original. The file has: {listed(known, 20)}."
    )


def different_records(original: int, protected: int) -> DataError:
    """Records cannot be matched by their order."""
    return DataError(
        f"The original file has {counted(original, 'record')}, the protected file {protected}. Records are "
        "matched by their order, so both must have the same; or name a column that identifies records in "
        "both files (--id), where records may be missing from the protected file."
    )


def missing_ids(column: str, which: str, count: int) -> DataError:
    """Records without an id."""
    return DataError(
        f"Column '{column}' of the {which} file is missing in {counted(count, 'record')}; an id must be "
        "there for every record. Use another column, or match records by order."
    )


def repeated_ids(column: str, which: str, count: int) -> DataError:
    """Ids that several records have."""
    return DataError(
        f"Column '{column}' of the {which} file repeats an id in {counted(count, 'record')}; every record "
        "must have one of its own. Use another column, or match records by order."
    )


def unknown_ids(column: str, count: int, of: int) -> DataError:
    """Protected records that are not in the original."""
    return DataError(
        f"{count} of {counted(of, 'record')} of the protected file have an id in column '{column}' that no "
        "record of the original has. Give the original that the file was made from, with the ids it had."
    )


def other_order(column: str, count: int, of: int) -> DataError:
    """The files seem to be sorted in different ways."""
    return DataError(
        f"The files seem to have their records in different orders: column '{column}', which is not among "
        f"the keys, has the same values in both, but others in {count} of {counted(of, 'record')}. Name a "
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
        f"THE PROTECTED FILE IS NOT PROTECTED: {joined(keys)} {'has' if len(keys) == 1 else 'have'} the "
        f"original's own values in all of {counted(records, 'record')}. Do not release it."
    )


def promise_broken(columns: Sequence[str], k: int, below: int, smallest: int) -> str:
    """The file has not the k that was given."""
    return (
        f"THE PROTECTED FILE DOES NOT HAVE k = {k}: {records_are(below)} in combinations "
        f"of {joined(columns)} that fewer than {k} records share (smallest {smallest}). Do not release it."
    )


def unsafe_file(failures: Sequence[str]) -> UnsafeRelease:
    """What an assessment found that forbids a release."""
    return UnsafeRelease(" ".join(failures))


def note_suppressed_records(count: int, of: int) -> str:
    """Records that are not in the protected file."""
    return (
        f"{count} of {counted(of, 'record')} of the original {'is' if count == 1 else 'are'} not in the "
        "protected file; all measures are of the others"
    )


def note_unchanged(column: str) -> str:
    """A key that was not masked."""
    return f"key {column} has the original's own value in every record"


def note_joint(below: int, k: int) -> str:
    """Each subset has k, all together have not."""
    return (
        f"k = {k} holds for each subset of keys, but not jointly: {records_are(below)} in joint "
        f"combinations that fewer than {k} share"
    )


def note_changed(column: str, count: int) -> str:
    """A column that is not among the keys and differs."""
    return f"column {column}, which is not among the keys, differs in {counted(count, 'record')}"


def note_filled(column: str, count: int) -> str:
    """Values that were missing in the original."""
    return (
        f"{column} has a value in {counted(count, 'record')} where the original has none; these cells are "
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
