"""Messages of `assess` and `compare`."""

from __future__ import annotations

from microagg.errors import SettingsError
from microagg.wording.message import option_name
from microagg.wording.template import data_error, settings_error, text

unknown_measure = settings_error("name", "known")(
    "There is no measure '{name}'{name:nearest in known}. `microagg explain` lists all of them."
)
no_keys_to_assess = settings_error()(
    "No masked column is named. Name the numeric columns that were masked, with {--keys} (masked together; "
    "once for each subset) or {--each} (every column by itself)."
)
only_for_keys = settings_error("option", "column")(
    "{option:option} would have no effect on column '{column}', which is not a key. Leave it out."
)
no_csv_at_all = settings_error("options")(
    "{options:options} would have no effect: neither of the two files is a CSV file. Leave out what has no "
    "effect."
)


def no_effect_on_either(option: str) -> SettingsError:
    kind = "an Excel file" if option == "sheet" else "a CSV or Excel file"
    return SettingsError(
        f"{option_name(option)} would have no effect: neither of the two files is {kind}. Leave it out."
    )


one_standard_input = settings_error()(
    "Only one of the two files can be - (standard input). Give a file for the other one."
)
keys_split_twice = settings_error()(
    "The keys are given in several subsets, and ways to split them are given as well. Give all keys as one "
    "list, and each way to split them with {--subsets}."
)
not_a_split = settings_error("named", "keys")(
    "The subsets {named:long list} do not split the keys {keys:long list}: each key must be in exactly one "
    "subset."
)


def rule_of_choice(loss: str, risk: str, most: float, fit: int, of: int) -> str:
    if fit:
        return f"least {loss} among the {fit} of {of} with {risk} at most {most:g}"
    return f"least {risk}, since none of {of} has {risk} at most {most:g}"


note_needs = text("options")("note: to release this, protect would need {options}")
kept_for_later = text("path")(
    "Interrupted. What is finished is kept in {path}; the same command continues from there."
)
only_csv = settings_error("path")("The results are written as CSV: the name {path} must end in .csv.")
only_svg = settings_error("path")("The map is drawn as SVG: the name {path} must end in .svg.")
note_hidden_groups = text("groups", "fewest")("  {groups:group} of fewer than {fewest} records not shown")
no_details_in_json = settings_error()(
    "--details has no effect with --json, which has all details. Leave it out."
)
in_file = data_error("which", "name", "error")("In the {which} file ({name}): {error}")
not_in_protected = data_error("columns", "known", "role")(
    "The protected file has no column {columns:hinted in known}, named in {role}. Leave it out there, or "
    "rename it as in the original. The file has: {known:long list}."
)
different_records = data_error("original", "protected")(
    "The original file has {original:record}, the protected file {protected}. To match records by their "
    "order, both files must have the same records. Otherwise name a column that identifies records in both "
    "files ({--id}); then the protected file may lack some of them."
)
missing_ids = data_error("column", "which", "records")(
    "Column '{column}' of the {which} file is missing in {records:record}; every record needs an id. Use "
    "another column, or match records by their order."
)
repeated_ids = data_error("column", "which", "records")(
    "Column '{column}' of the {which} file repeats an id in {records:record}; every record needs an id of "
    "its own. Use another column, or match records by their order."
)
unknown_ids = data_error("column", "records", "of")(
    "{records} of {of:record} of the protected file {records:has|have} an id in column '{column}' that no "
    "record of the original has. Give the original from which the protected file was made, with the same "
    "ids."
)
other_order = data_error("column", "records", "of")(
    "The files seem to have their records in different orders: column '{column}', which is not a key, has "
    "the same values in both files, but in {records} of {of:record} not at the same place. Name a column "
    "that identifies records in both files ({--id}), or bring the files into the same order; if the values "
    "were swapped on purpose, name the column as a key."
)
one_record = data_error()("There is only one record; measures of risk and utility need at least 2.")
all_missing = data_error("column", "which")(
    "Column '{column}' has no value at all in the {which} file, so nothing can be measured on it. Leave it "
    "out of the keys."
)
no_common_values = data_error("column")(
    "Column '{column}' has no record with a value in both files, so nothing can be measured on it. Leave "
    "it out of the keys, or check that the files belong together."
)
