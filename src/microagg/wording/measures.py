"""Measures, models and indicators that cannot be computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from microagg.errors import DataError, SettingsError
from microagg.wording.phrases import counted, joined, listed, nearest_names


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
        notes.append(f"left out, for all original values are equal: {joined(same)}")
    if changed:
        notes.append(f"left out, though changed, for all original values are equal: {joined(changed)}")
    return "; ".join(notes)


def note_empty_columns(columns: Sequence[str]) -> str:
    """Columns of which no cell is known both before and after."""
    return f"left out, for no cell is known before and after masking: {joined(columns)}"


def note_nothing_to_compare() -> str:
    """No column varies, or fewer than two records are complete."""
    return "nothing to compare: no column with two different values is left"


def note_one_column() -> str:
    """Measures of pairs of columns, where there is no pair."""
    return "there is no pair of columns"


def note_null_components(count: int) -> str:
    """Eigenvalues of zero, relative to which no change could be expressed."""
    return f"{counted(count, 'component')} without any variance in the original left out"


def note_flat_parts(what: str, count: int) -> str:
    """Subsets or strata in which nothing varies."""
    return f"{count} {what} without different original values left out"


def note_propensity(terms: int) -> str:
    """What to compare the ratio with."""
    return f"{terms} terms; near 1, the table differs as records drawn at random from the original would"


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
            f"tables: {listed(numeric)}."
        )
    return SettingsError(
        f"{what} names column '{column}'{nearest_names(column, numeric)}, which is not a numeric column "
        f"of both tables. They have {listed(numeric)}."
    )


def no_such_groups(column: str, known: Sequence[str]) -> SettingsError:
    """An indicator by a column whose groups are not known."""
    has = f"Columns that are the same before and after are {listed(known)}." if known else "There is none."
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
