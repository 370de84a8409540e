"""Measures, models and indicators that cannot be computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from microagg.errors import DataError, SettingsError
from microagg.wording.phrases import and_list, are, count, listed, nearest_names


def note_cells_left_out(cells: int, of: int) -> str:
    return f"{cells:,} of {of:,} cells are missing before or after masking and left out"


def note_records_left_out(records: int, of: int) -> str:
    return f"{records:,} of {of:,} records have missing cells and are left out"


def note_constant_columns(same: Sequence[str], changed: Sequence[str]) -> str:
    notes = []
    if same:
        notes.append(f"left out, as all original values are equal: {and_list(same)}")
    if changed:
        notes.append(f"left out although changed, as all original values are equal: {and_list(changed)}")
    return "; ".join(notes)


def note_empty_columns(columns: Sequence[str]) -> str:
    return f"left out, as no record has a value before and after masking: {and_list(columns)}"


def note_nothing_to_compare() -> str:
    return "nothing to compare: no column with two different values is left"


def note_one_column() -> str:
    return "there is no pair of columns"


def note_null_components(components: int) -> str:
    return f"{count(components, 'component')} without any variance in the original left out"


def note_flat_parts(what: str, number: int) -> str:
    return f"{number} {what} without different original values left out"


def note_propensity(terms: int) -> str:
    return (
        f"{terms} terms; near 1, the table differs no more than records drawn at random from the original"
    )


def bad_model(text: str) -> SettingsError:
    return SettingsError(
        f"'{text}' is not a model; write the column to be explained, a tilde and the columns that explain "
        "it, such as 'y ~ a + b'. Put names with ~, + or spaces at their ends in backticks: `a+b`."
    )


def model_names_twice(column: str) -> SettingsError:
    return SettingsError(f"The model names column '{column}' twice; name each column once.")


def bad_indicator(text: str) -> SettingsError:
    return SettingsError(
        f"'{text}' is not an indicator; write 'mean income', 'total turnover by region' or the like. Put "
        "names that contain ' by ' in backticks."
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


def model_too_few(model: str, records: int, needed: int) -> DataError:
    return DataError(
        f"The model {model} needs at least {needed} records with values in all of its columns, before and "
        f"after masking; there {are(records, 'such record')}. Use fewer columns, or more records."
    )


def model_constant(model: str, column: str, when: str) -> DataError:
    return DataError(
        f"The model {model} cannot be fitted: all values of column '{column}' are equal {when} masking. "
        "Leave it out."
    )


def model_collinear(model: str, column: str, when: str) -> DataError:
    return DataError(
        f"The model {model} cannot be fitted: column '{column}' is a linear combination of the other "
        f"explaining columns {when} masking. Leave one of them out."
    )
