"""Measures, models and indicators that cannot be computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from microagg.errors import SettingsError
from microagg.wording.phrases import and_list, listed, nearest_names
from microagg.wording.template import data_error, settings_error, text

note_cells_left_out = text("cells", "of")(
    "{cells:,} of {of:,} cells are missing before or after masking and left out"
)
note_records_left_out = text("records", "of")(
    "{records:,} of {of:,} records have missing cells and are left out"
)


def note_constant_columns(same: Sequence[str], changed: Sequence[str]) -> str:
    notes = []
    if same:
        notes.append(f"left out, as all original values are equal: {and_list(same)}")
    if changed:
        notes.append(f"left out although changed, as all original values are equal: {and_list(changed)}")
    return "; ".join(notes)


note_empty_columns = text("columns")(
    "left out, as no record has a value before and after masking: {columns:and}"
)
note_nothing_to_compare = text()("nothing to compare: no column with two different values is left")
note_one_column = text()("there is no pair of columns")
note_null_components = text("components")(
    "{components:component} without any variance in the original left out"
)
note_flat_parts = text("what", "number")("{number} {what} without different original values left out")
note_propensity = text("terms")(
    "{terms} terms; near 1, the table differs no more than records drawn at random from the original"
)
bad_model = settings_error("text")(
    "'{text}' is not a model; write the column to be explained, a tilde and the columns that explain it, "
    "such as 'y ~ a + b'. Put names with ~, + or spaces at their ends in backticks: `a+b`."
)
model_names_twice = settings_error("column")(
    "The model names column '{column}' twice; name each column once."
)
bad_indicator = settings_error("text")(
    "'{text}' is not an indicator; write 'mean income', 'total turnover by region' or the like. Put names "
    "that contain ' by ' in backticks."
)


def not_in_model(what: str, column: str, numeric: Sequence[str], others: Iterable[str]) -> SettingsError:
    if column in set(others):
        return SettingsError(
            f"{what} names column '{column}', which holds no numbers. Use numeric columns that are in both "
            f"tables: {listed(numeric)}."
        )
    return SettingsError(
        f"{what} names column '{column}'{nearest_names(column, numeric)}, which is not a numeric column "
        f"of both tables. They have {listed(numeric)}."
    )


def no_such_groups(column: str, known: Sequence[str]) -> SettingsError:
    has = f"Columns with the same groups are {listed(known)}." if known else "No column has."
    return SettingsError(
        f"An indicator cannot be computed by column '{column}'{nearest_names(column, known)}: its "
        f"groups must be the same before and after masking. {has}"
    )


model_too_few = data_error("model", "records", "needed")(
    "The model {model} needs at least {needed} records with values in all of its columns, before and after "
    "masking; there {records:is|are} {records:such record}. Use fewer columns, or more records."
)
model_constant = data_error("model", "column", "when")(
    "The model {model} cannot be fitted: all values of column '{column}' are equal {when} masking. Leave "
    "it out."
)
model_collinear = data_error("model", "column", "when")(
    "The model {model} cannot be fitted: column '{column}' is a linear combination of the other explaining "
    "columns {when} masking. Leave one of them out."
)
