"""Data that cannot be used as they are."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.errors import DataError, SettingsError
from microagg.wording.phrases import counted, listed, nearest_names, quoted


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
        f"Column names occur more than once: {quoted(names)}. Rename them so that each is unique."
    )


def not_utf_8(column: str) -> DataError:
    """Bytes that are no text, though the file or frame says so."""
    return DataError(
        f"Column '{column}' is declared as text, but some of its bytes are not valid UTF-8. Write the file "
        "again in the program that made it, with the text converted to UTF-8 (it may be Latin-1 or "
        "Windows-1252), or without this column."
    )


def names_not_utf_8() -> DataError:
    """The same in the header."""
    return DataError(
        "The name of a column is not valid UTF-8. Write the file again with other names in the program "
        "that made it."
    )


def unnamed_column(place: int, row: int | None = None) -> DataError:
    """An empty name in the header, which is where `row` says if there are rows."""
    titles = (
        "If there are titles above the names, say in which row the names are, such as "
        f"--header-row {row + 1} (in Python: header_row={row + 1}); else give"
        if row is not None
        else "Give"
    )
    return DataError(
        f"Column {place} of the file has no name. {titles} it a name, or remove it: a column of row "
        "numbers, as some programs write, is nothing to release."
    )


def unknown_columns(names: Sequence[str], known: Sequence[str]) -> DataError:
    """Columns asked for that the table lacks."""
    hints = [f"'{name}'{nearest_names(name, known)}" for name in names]
    return DataError(f"No such column: {listed(hints)}. There are: {listed(known, 20)}.")


def column_named_twice(name: str) -> SettingsError:
    """The same column asked for twice."""
    return SettingsError(f"Column '{name}' is named twice; name each column once.")


def not_numeric(columns: Sequence[str], numeric: Sequence[str]) -> DataError:
    """Columns of text, dates or truth values."""
    which, holds = ("Column", "holds") if len(columns) == 1 else ("Columns", "hold")
    return DataError(
        f"{which} {quoted(columns)} {holds} something other than numbers. {_only_numeric(numeric)}"
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
        f"{which} {quoted(columns)} {holds} dates or times, in {counted(n, 'row')}: something other than "
        f"numbers. {_only_numeric(numeric)} A date becomes one as, for instance, days since a fixed day."
    )


_OR_LEAVE_OUT = "or do not use the column (partition: --columns; protect: give it another role)."


def numbers_as_text(column: str, count: int, n: int) -> DataError:
    """The file has a type for numbers and does not use it."""
    return DataError(
        f"Column '{column}' holds numbers stored as text in {count} of {counted(n, 'row')}. "
        f"Convert it to numbers in the program that wrote the file, {_OR_LEAVE_OUT}"
    )


def quoted_line_breaks(column: str, numbers: int) -> DataError:
    """What remains of a column of numbers in a CSV file if a quote was never closed."""
    return DataError(
        f"Column '{column}' has {counted(numbers, 'number')}, some with line breaks inside quotes or other "
        f"signs around them. Check that every quote is closed, {_OR_LEAVE_OUT}"
    )


def numbers_with_signs(column: str, thousands: int, signs: int, n: int) -> DataError:
    """Signs between groups of three digits, and signs of a currency or of percent."""
    found = [f"{_THOUSANDS} in {thousands} of {counted(n, 'row')}"] if thousands else []
    found += [f"{_SIGNS} in {signs} of {counted(n, 'row')}"] if signs else []
    return DataError(
        f"Column '{column}' holds numbers stored as text: with {' and with '.join(found)}. Save the file "
        f"with plain numbers, without these signs, {_OR_LEAVE_OUT}"
    )


_THOUSANDS = "thousands separators (such as 1,234.5, 1.234,5 or 1 234)"
_SIGNS = "a currency or percent sign (such as $5, 5 € or 5 %)"


def signs_around_numbers(thousands: int, signs: int, present: int) -> str:
    """The same of a column that a plan is about."""
    found = [f"{thousands} of {present} with thousands separators"] if thousands else []
    found += [f"{signs} of {present} with a currency or percent sign"] if signs else []
    return (
        f"numbers stored as text ({', '.join(found)}); save the source with plain numbers, without these "
        "signs, to have them masked"
    )


def numbers_among_text(numbers: int, present: int) -> str:
    """What a plan says of a column in which a few texts stand among numbers."""
    return (
        f"text, but {numbers} of {present} values are numbers; if the others mean missing, name them in "
        "missing_codes to have it masked"
    )


def doubtful_commas(column: str, count: int, n: int) -> DataError:
    """A thousand or one and a bit: a guess could be wrong by a factor of a thousand."""
    return DataError(
        f"Column '{column}' has numbers with commas before three digits in {count} of {counted(n, 'row')}: "
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
        f"Column '{column}' has numbers with a decimal comma in {count} of {counted(n, 'row')}, while the "
        f"{'delimiter is a comma too' if delimiter == ',' else 'decimal sign was said to be a point'}. "
        f"{remedy} {_OR_LEAVE_OUT}"
    )


def commas_beside_points(column: str, count: int, n: int) -> DataError:
    """Decimal commas in one column, decimal points in others: the file's sign is the point then."""
    return DataError(
        f"Column '{column}' has numbers with a decimal comma in {count} of {counted(n, 'row')}, while the "
        "decimal sign of the file is, or was said to be, the point. Give --decimal , if the commas are "
        f"right, or use one decimal sign throughout, {_OR_LEAVE_OUT}"
    )


def two_decimal_signs(column: str, count: int, n: int) -> DataError:
    """Points here, commas there."""
    return DataError(
        f"Column '{column}' has numbers with a decimal point in {count} of {counted(n, 'row')}, "
        "while others in the file have, or were said to have, a decimal comma. "
        f"Use one decimal sign throughout, {_OR_LEAVE_OUT}"
    )


def mixed_column(column: str, numbers: int, texts: int, dates: int, n: int) -> DataError:
    """Some values are numbers, some are not."""
    parts = [counted(numbers, "number")]
    parts += [counted(texts, "text")] if texts else []
    parts += [counted(dates, "date")] if dates else []
    return DataError(
        f"Column '{column}' holds something other than numbers in some of {counted(n, 'row')}: "
        f"{', '.join(parts[:-1])} and {parts[-1]}. "
        f"Replace what is no number (leave a cell empty if its value is missing), {_OR_LEAVE_OUT} If the "
        f"texts mean missing, protect takes them as such by --missing-codes {column}=TEXT."
    )


def not_numbers(kind: str) -> DataError:
    """An array of something else."""
    return DataError(
        f"The data hold {kind}; only numbers can be microaggregated. Convert or leave out the rest."
    )


def missing_values(column: str, count: int, n: int) -> DataError:
    """Empty cells or NaN."""
    return DataError(
        f"Column '{column}' has {counted(count, 'missing value')} in {counted(n, 'record')}. "
        "Remove or fill in these records, or leave the column out."
    )


def infinite_values(column: str, count: int) -> DataError:
    """Infinity cannot be averaged."""
    return DataError(
        f"Column '{column}' has {counted(count, 'infinite value')}. "
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
        f"The data to aggregate have {counted(found[0], 'record')}, the partition {needed}. "
        "Pass the same records in the same order."
    )


def different_columns(found: int, needed: int) -> DataError:
    """Data to aggregate with other attributes than were partitioned."""
    return DataError(
        f"The data to aggregate have {counted(found, 'column')}, the partitions {needed}. "
        "Pass the same columns in the same order."
    )
