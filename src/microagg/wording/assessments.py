"""Messages of `assess` and `compare`."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.errors import DataError, SettingsError
from microagg.wording.message import option_name, use
from microagg.wording.phrases import count, listed, nearest_names
from microagg.wording.settings import bad_number


def unknown_measure(name: str, known: Sequence[str]) -> SettingsError:
    return SettingsError(
        f"There is no measure '{name}'{nearest_names(name, known)}. `microagg explain` lists all of them."
    )


def no_keys_to_assess() -> SettingsError:
    return SettingsError(
        "No masked column is named. Name the numeric columns that were masked, with "
        f"{use('keys')} (masked together; once for each subset) or {use('each')} (every column by itself)."
    )


def only_for_keys(option: str, column: str) -> SettingsError:
    return SettingsError(
        f"{option_name(option)} would have no effect on column '{column}', which is not a key. Leave it "
        "out."
    )


def no_csv_at_all(options: Sequence[str]) -> SettingsError:
    return SettingsError(
        f"{listed([option_name(option) for option in options])} would have no effect: neither of the two "
        "files is a CSV file. Leave out what has no effect."
    )


def no_effect_on_either(option: str) -> SettingsError:
    kind = "an Excel file" if option == "sheet" else "a CSV or Excel file"
    return SettingsError(
        f"{option_name(option)} would have no effect: neither of the two files is {kind}. Leave it out."
    )


def one_standard_input() -> SettingsError:
    return SettingsError(
        "Only one of the two files can be - (standard input). Give a file for the other one."
    )


def keys_split_twice() -> SettingsError:
    return SettingsError(
        "The keys are given in several subsets, and ways to split them are given as well. Give all keys as "
        f"one list, and each way to split them with {use('subsets')}."
    )


def not_a_split(named: Sequence[str], keys: Sequence[str]) -> SettingsError:
    return SettingsError(
        f"The subsets {listed(named, 20)} do not split the keys {listed(keys, 20)}: each key must be in "
        "exactly one subset."
    )


def bad_max_risk(value: object) -> SettingsError:
    return bad_number("max_risk", value, "a share from 0 to 1, such as 0.1")


def rule_of_choice(loss: str, risk: str, most: float, fit: int, of: int) -> str:
    if fit:
        return f"least {loss} among the {fit} of {of} with {risk} at most {most:g}"
    return f"least {risk}, since none of {of} has {risk} at most {most:g}"


def note_needs(options: str) -> str:
    return f"note: protect would need {options} to accept this"


def kept_for_later(path: str) -> str:
    return f"Interrupted. What is finished is kept in {path}; the same command continues from there."


def only_csv(path: str) -> SettingsError:
    return SettingsError(f"The results are written as CSV: the name {path} must end in .csv.")


def only_svg(path: str) -> SettingsError:
    return SettingsError(f"The map is drawn as SVG: the name {path} must end in .svg.")


def note_hidden_groups(groups: int, fewest: int) -> str:
    return f"  {count(groups, 'group')} of fewer than {fewest} records not shown"


def no_details_in_json() -> SettingsError:
    return SettingsError("--details has no effect with --json, which has all details. Leave it out.")


def in_file(which: str, name: str, error: DataError) -> DataError:
    return DataError(f"In the {which} file ({name}): {error}")


def not_in_protected(columns: Sequence[str], known: Sequence[str], role: str) -> DataError:
    hints = [f"'{name}'{nearest_names(name, known)}" for name in columns]
    return DataError(
        f"The protected file has no column {listed(hints)}, named in {role}. "
        f"Leave it out there, or rename it as in the original. The file has: {listed(known, 20)}."
    )


def different_records(original: int, protected: int) -> DataError:
    return DataError(
        f"The original file has {count(original, 'record')}, the protected file {protected}. To match "
        "records by their order, both files must have the same records. Otherwise name a column that "
        f"identifies records in both files ({use('id')}); then the protected file may lack some of them."
    )


def missing_ids(column: str, which: str, records: int) -> DataError:
    return DataError(
        f"Column '{column}' of the {which} file is missing in {count(records, 'record')}; every record "
        "needs an id. Use another column, or match records by their order."
    )


def repeated_ids(column: str, which: str, records: int) -> DataError:
    return DataError(
        f"Column '{column}' of the {which} file repeats an id in {count(records, 'record')}; every record "
        "needs an id of its own. Use another column, or match records by their order."
    )


def unknown_ids(column: str, records: int, of: int) -> DataError:
    return DataError(
        f"{records} of {count(of, 'record')} of the protected file "
        f"{'has' if records == 1 else 'have'} an id in column '{column}' that no record of the original "
        "has. Give the original from which the protected file was made, with the same ids."
    )


def other_order(column: str, records: int, of: int) -> DataError:
    return DataError(
        f"The files seem to have their records in different orders: column '{column}', which is not a key, "
        f"has the same values in both files, but in {records} of {count(of, 'record')} not at the same "
        f"place. Name a column that identifies records in both files ({use('id')}), or bring the files "
        "into "
        "the same order; if the values were swapped on purpose, name the column as a key."
    )


def one_record() -> DataError:
    return DataError("There is only one record; measures of risk and utility need at least 2.")


def all_missing(column: str, which: str) -> DataError:
    return DataError(
        f"Column '{column}' has no value at all in the {which} file, so nothing can be measured on it. "
        "Leave it out of the keys."
    )


def no_common_values(column: str) -> DataError:
    return DataError(
        f"Column '{column}' has no record with a value in both files, so nothing can be measured on it. "
        "Leave it out of the keys, or check that the files belong together."
    )
