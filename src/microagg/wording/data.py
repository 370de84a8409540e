"""Data that cannot be used as they are."""

from __future__ import annotations

from microagg.errors import DataError
from microagg.wording.message import use
from microagg.wording.phrases import count
from microagg.wording.template import PHRASES, data_error, fill_in, settings_error, text

_OR_LEAVE_OUT = fill_in(PHRASES["OR_LEAVE_OUT"], {})

not_two_dimensional = data_error("dimensions")("""
    The data have {dimensions} dimensions; give a table with one row per record and one column per
    variable.""")
not_a_table = data_error("kind")("""
    The data are of type {kind}; give an array or a data frame of numbers. Read a file first, for example
    with pandas.read_csv or polars.read_parquet.""")
not_a_frame = data_error("kind")("""
    The data are of type {kind}; give the path of a file, or a data frame with column names, such as one of
    pandas, polars, PyArrow or DuckDB.""")
ragged = data_error()("The rows have different lengths; give a table with the same columns in each row.")
no_records = data_error()("The data have no records; at least k records are needed.")
no_columns = data_error()("The data have no columns; at least one numeric column is needed.")
duplicate_columns = data_error("names")("""
    Column names occur more than once: {names:quoted}. Rename them so that each is unique.""")
not_utf_8 = data_error("column")("""
    Column '{column}' is declared as text, but some of its bytes are not valid UTF-8. Write the file again
    with the program that made it, with the text converted to UTF-8 (it may be Latin-1 or Windows-1252 now),
    or without this column.""")
names_not_utf_8 = data_error()("""
    The name of a column is not valid UTF-8. Write the file again with other names, with the program that
    made it.""")
unnamed_column = data_error("place", "row")("""
    Column {place} of the file has no name. {row:?If there are titles above the names, give the row of the
    names, such as {--header_row=row}; otherwise give|Give} it a name, or remove it: a column of row
    numbers, as some programs write, should not be released.""")
unknown_columns = data_error("names", "known")(
    "No such column: {names:hinted in known}. The columns are: {known:long list}."
)
column_named_twice = settings_error("name")("Column '{name}' is named twice; name each column once.")
not_numeric = data_error("columns", "numeric")("""
    {columns:Column|Columns} {columns:quoted} {columns:holds|hold} something other than numbers.
    {ONLY_NUMERIC}""")
dates = data_error("columns", "n", "numeric")("""
    {columns:Column|Columns} {columns:quoted} {columns:holds|hold} dates or times in {n:row}, something
    other than numbers. {ONLY_NUMERIC} A date can be converted to, for example, days since a fixed day.""")
numbers_as_text = data_error("column", "cells", "n")("""
    Column '{column}' holds numbers stored as text in {cells} of {n:row}. Convert it to numbers in the
    program that wrote the file, {OR_LEAVE_OUT}""")
quoted_line_breaks = data_error("column", "numbers")("""
    Column '{column}' has {numbers:number}, some with line breaks inside quotes or other characters around
    them. Check that every quote is closed, {OR_LEAVE_OUT}""")


def numbers_with_signs(column: str, thousands: int, signs: int, n: int) -> DataError:
    found = [f"{_THOUSANDS} in {thousands} of {count(n, 'row')}"] if thousands else []
    found += [f"{_SIGNS} in {signs} of {count(n, 'row')}"] if signs else []
    return DataError(
        f"Column '{column}' holds numbers stored as text: with {' and with '.join(found)}. Save the file "
        f"with plain numbers, without these characters, {_OR_LEAVE_OUT}"
    )


_THOUSANDS = "thousands separators (such as 1,234.5, 1.234,5 or 1 234)"
_SIGNS = "a currency or percent sign (such as $5, 5 € or 5 %)"


def signs_around_numbers(thousands: int, signs: int, present: int) -> str:
    found = [f"{thousands} of {present} with thousands separators"] if thousands else []
    found += [f"{signs} of {present} with a currency or percent sign"] if signs else []
    return (
        f"numbers stored as text ({', '.join(found)}); to mask them, save the source with plain numbers, "
        "without these characters"
    )


numbers_among_text = text("numbers", "present")("""
    text, but {numbers} of {present} values are numbers; if the others mean missing, name them in
    missing_codes to mask the column""")
doubtful_commas = data_error("column", "cells", "n")("""
    Column '{column}' has numbers with commas before three digits in {cells} of {n:row}: these can be
    decimal commas or thousands separators (such as 1,234). Give {--decimal ,} if they are decimal commas,
    or save the file without the separators.""")


def decimal_commas(column: str, cells: int, n: int, delimiter: str) -> DataError:
    remedy = (
        "Save the file with decimal points, or with semicolons between the fields,"
        if delimiter == ","
        else f"Give {use('decimal', ',')} or leave that option out,"
    )
    return DataError(
        f"Column '{column}' has numbers with a decimal comma in {cells} of {count(n, 'row')}, while the "
        f"{'delimiter is a comma too' if delimiter == ',' else 'decimal sign was given as a point'}. "
        f"{remedy} {_OR_LEAVE_OUT}"
    )


commas_beside_points = data_error("column", "cells", "n")("""
    Column '{column}' has numbers with a decimal comma in {cells} of {n:row}, while the decimal sign of the
    file is, or was given as, the point. Give {--decimal ,} if the commas are right, or use one decimal sign
    throughout, {OR_LEAVE_OUT}""")
two_decimal_signs = data_error("column", "cells", "n")("""
    Column '{column}' has numbers with a decimal point in {cells} of {n:row}, while the decimal sign of the
    file is, or was given as, the comma. Use one decimal sign throughout, {OR_LEAVE_OUT}""")


def mixed_column(column: str, numbers: int, texts: int, dates: int, n: int) -> DataError:
    parts = [count(numbers, "number")]
    parts += [count(texts, "text")] if texts else []
    parts += [count(dates, "date")] if dates else []
    return DataError(
        f"Column '{column}' holds something other than numbers in some of {count(n, 'row')}: "
        f"{', '.join(parts[:-1])} and {parts[-1]}. "
        f"Replace what is not a number (leave a cell empty if its value is missing), {_OR_LEAVE_OUT} "
        f"If the texts mean missing, name them in protect with {use('missing_codes', {column: 'TEXT'})}; "
        f"if all are categories, use {use('nominal', column)} there."
    )


dates_beside_text = data_error("column", "dates", "texts")("""
    Column '{column}' has {dates:date} and {texts:text} that {texts:is no date|are no dates}. Correct the
    texts, leave the cell empty if a date is missing, or use {--nominal=column} to treat all of them as
    categories.""")
dates_unreadable = data_error("column")("""
    The dates of column '{column}' are not all written in one form that can be read. Write them as
    2020-12-31, or use {--nominal=column} to treat them as categories.""")
unusable_key = data_error("column", "kind")("""
    Column '{column}' has the type {kind}, of which there are no means and no categories. Convert it to
    numbers, dates or text, or leave it out ({--drop=column}).""")
dates_ambiguous = data_error("column")("""
    The dates of column '{column}' can be read in two ways: the day may come first, or the month. Write them
    as 2020-12-31, or use {--nominal=column} to treat them as categories.""")
finer_than_source = data_error("column", "resolution", "own")("""
    {--resolution <name>} of '{column}' is {resolution}, but the source has no date that is more exact than
    the {own}. Leave it out, or choose a coarser one.""")
not_for_kind = settings_error("option", "column", "kind")("""
    {option:option} has no effect on column '{column}', which {kind:kind of key}. Leave it out.""")
no_categories = settings_error("how")("""
    {--categories=how} would have no effect: no key holds categories or ordered levels. Leave it out, or
    name keys that do ({--nominal}, {--ordinal}).""")
too_many_categories_for_tables = settings_error("column", "categories", "most")("""
    Column '{column}' has {categories:,} categories, more than the {most:,} of which tables can be kept. Use
    coarser ones, or {--categories mode}.""")
as_many_categories_as_records = data_error("column", "levels")("""
    Column '{column}' has {levels:,} different values, as many as there are records: it tells who
    somebody is and cannot be masked as a category. Leave it out ({--drop=column}).""")


def dates_without_means(column: str) -> DataError:
    return DataError(
        f"Column '{column}' holds weeks, months, quarters or other dates of which there are no means. Use "
        f"{use('ordinal', {column: []})}, so that groups publish the median of their records, or leave it "
        f"out ({use('drop', column)})."
    )


def levels_missing(column: str, unknown: int, levels: int) -> DataError:
    return DataError(
        f"{unknown} of the {count(levels, 'value')} of column '{column}' "
        f"{'is' if unknown == 1 else 'are'} not among its levels. Name all levels, the lowest first "
        f"({use('ordinal', _levels_of(column))}), or those that mean missing "
        f"({use('missing_codes', {column: 'TEXT'})}); if they have no order, use {use('nominal', column)}."
    )


def levels_not_given(column: str, levels: int) -> DataError:
    return DataError(
        f"Column '{column}' has {count(levels, 'different text')}, and the file does not say in which "
        f"order they are. Name them, the lowest first ({use('ordinal', _levels_of(column))}); if they "
        f"have no order, use {use('nominal', column)}; leave out free text ({use('drop', column)})."
    )


def _levels_of(column: str) -> dict[str, list[str]]:
    return {column: ["LOWEST", "...", "HIGHEST"]}


not_numbers = data_error("kind")("""
    The data hold {kind}; only numbers can be microaggregated. Convert or leave out the rest.""")
missing_values = data_error("column", "cells", "n")("""
    Column '{column}' has {cells:missing value} in {n:record}. Fill in these values, remove these records,
    or leave the column out.""")
infinite_values = data_error("column", "cells")("""
    Column '{column}' has {cells:infinite value}. Replace or remove such values, or leave the column
    out.""")
too_large_to_square = data_error("column", "limit")("""
    Column '{column}' has values beyond {limit:.0e}, too large to be squared. Use another scale, such as
    {--scale zscore}.""")
too_small_to_square = data_error("column", "limit")("""
    Column '{column}' varies by less than {limit:.0e}, too little to be squared. Use another scale, such as
    {--scale zscore}.""")
too_far_out = data_error("column")("""
    Column '{column}' has values so many median absolute deviations from its median that they are too large
    to be squared. Use the scale zscore, range or rank.""")
no_robust_spread = data_error("column")("""
    Column '{column}': at least half of its values are equal, so its median absolute deviation is zero. Use
    the scale zscore, range or rank.""")
different_records_to_aggregate = data_error("found", "needed")("""
    The data to aggregate have {found:record}, the partition {needed}. Pass the same records in the same
    order.""")
different_columns = data_error("found", "needed")("""
    The data to aggregate have {found:column}, the partitions {needed}. Pass the same columns in the same
    order.""")
