"""Files that cannot be read or written."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence

from microagg.errors import DataError, OutputError, SettingsError
from microagg.wording.message import mention, use
from microagg.wording.phrases import count, hidden_parts, listed
from microagg.wording.template import data_error, error, output_error, settings_error, text

no_such_file = data_error("path")("There is no file {path}. Check the name and the folder.")
source_to_be_given = data_error("path")("""
    The record {path} does not say where the source is. Name it ({--source}).""")
no_parts = data_error("path")("{path} has no files of a release by Spark.")
is_a_folder = data_error("path")("{path} is a folder; give a file.")
unknown_format = data_error("path", "known")("""
    The format of {path} cannot be recognised by its name, which must end in one of {known:long list}.""")
first_row_is_a_record = data_error("path", "row")("""
    {row:>1?Row {row}|The first row} of {path} looks like a record instead of column names: its fields are
    numbers, or values that occur again below. {row:>1?Give another {--header_row}, or, if the row does hold
    the names, add {--header yes}|If it is a record, give {--header no} (the columns are then called
    column1, column2, …), or add a line with the names of the columns at the top. If it does hold the
    names, give {--header yes}}.""")
header_row_without_header = settings_error()("""
    {--header_row} gives the row of the column names, but {--header no} means that there is no such row.
    Keep one of the two.""")
no_such_row = data_error("source", "row")("""
    {source} has nothing in row {row} or below it, where the column names should be ({--header_row=row}).
    Give another row.""")
title_above_names = data_error("source", "row")("""
    {source} begins with a line of one field, perhaps a title, while row {row} and those below it have
    several fields. If row {row} holds the column names, give {--header_row=row}.""")
no_such_sheet = data_error("source", "sheet", "sheets")("""
    {source} has no sheet '{sheet}'{sheet:nearest in sheets}. The sheets are: {sheets:quoted}.""")
several_sheets = data_error("source", "sheets")("""
    {source} has several sheets that are not empty: {sheets:quoted}. Choose one by the option {--sheet}.""")
hidden_sheets = data_error("source", "hidden", "visible")("""
    {source} has {hidden:a hidden sheet|hidden sheets}, {hidden:quoted}{visible:? beside {visible:quoted}|}.
    Choose the sheet that you want with {--sheet}.""")


def hidden_cells(source: str, sheet: str, columns: Sequence[str], rows: int) -> DataError:
    them = "it" if len(columns) + rows == 1 else "them"
    return DataError(
        f"Sheet '{sheet}' of {source} has {hidden_parts(columns, rows)}, which would be released with the "
        f"others. Delete or show {them}, or, to read {them} as well, choose the sheet by its name "
        f"({use('sheet', sheet)})."
    )


unknown_encoding = settings_error("name")("""
    There is no encoding '{name}'. Use one such as utf-8, utf-16, windows-1252 or latin-1, or leave out
    {--encoding} to have it detected.""")
wrong_encoding = data_error("source", "name")("""
    {source} is not encoded in {name}: it has bytes that mean nothing in this encoding. Give another one, or
    leave out {--encoding} to have it detected.""")
no_encoding = data_error("source", "tried")("""
    {source} is not encoded in {tried:or}. Check that it is complete, give its encoding ({--encoding}), or
    save it as UTF-8 (in a spreadsheet: 'CSV UTF-8').""")
not_text = data_error("source")("""
    {source} is not a CSV file: it has bytes that text in UTF-8 or Windows-1252 does not have. If it is text
    in UTF-16, give {--encoding utf-16-le} (or utf-16-be); otherwise give its name the ending of its
    format.""")
bad_delimiter = settings_error("sign")("""
    The delimiter is {sign!r}; it must be one character that numbers and names do not have, such as , ; | or
    \\t for the tab.""")
comma_twice = settings_error()("""
    The comma cannot be both the delimiter and the decimal sign. If numbers have decimal points, leave out
    {--decimal}; otherwise save the file with another delimiter, such as the semicolon.""")
wrong_delimiter = data_error("source", "given", "found")("""
    The first line of {source} has no {given:delimiter}, the delimiter that was given, but
    {found:delimiter}. Give that delimiter, or leave out {--delimiter} to have it detected.""")
unknown_delimiter = data_error("source", "sign", "fields")("""
    {source} has no commas, semicolons, tabs or vertical bars between its fields; {sign:delimiter} would
    make {fields} columns. Give {--delimiter=sign} if that is right.""")
uneven_rows = data_error("source", "rows", "fields", "delimiter")("""
    {source} cannot be read as CSV: the header has {fields} fields, separated by {delimiter:delimiter}, but
    {rows:row} {rows:has|have} more or fewer. Check that the file is complete and that fields with a
    delimiter inside are in quotes, or give another {--delimiter}; if there are titles above the column
    names, give the row of the names with {--header_row}.""")
unclosed_quote = data_error("source")("""
    {source} ends inside quotes: it may be cut off, or one field may hold all records below it. Check that
    the file is complete and that every quote is closed.""")


def not_csv(source: str, kind: str, options: Sequence[str]) -> SettingsError:
    return SettingsError(
        f"{listed([mention(option) for option in options])} would have no effect: {source} has the "
        f"format {kind}{'' if kind == 'CSV' else ', not CSV'}. "
        f"Leave {'it' if len(options) == 1 else 'them'} out."
    )


other_content = data_error("source", "kind", "found", "endings")("""
    {source} cannot be read as {kind}: it begins like a file of the format {found}. {endings:?Give it a name
    that ends in {endings:or}|Save or unpack the data as {kind} first}.""")
password_protected = data_error("source")("""
    {source} is protected by a password. Save a copy without a password and use that.""")
old_excel = data_error("source")("""
    {source} is not an .xlsx file, but has an older Office format. Save it as .xlsx in a spreadsheet
    program.""")
empty_sheet = data_error("source")("""
    The sheet of {source} is empty, so there are no records. Put the data on it, with the column names in
    the first row, or choose another sheet ({--sheet}).""")


def unreadable_content(path: str, kind: str) -> DataError:
    remedy = ", that every row has as many fields as the header," if kind == "CSV" else ""
    return DataError(
        f"{path} cannot be read as {kind}. Check that it is complete{remedy} "
        "and that its name has the ending of its format."
    )


input_is_no_file = data_error("path")("""
    {path} is a pipe or a device, which cannot be read twice as a file can. Save its content to a file, or
    use standard input: microagg protect - < {path}""")
changed_while_read = data_error("path")("""
    {path} was changed while it was read. Wait until no program writes to it any more, and try again.""")
field_too_long = data_error("source", "most")("""
    {source} cannot be read as CSV: a field has more than {most:,} characters, probably because a quote is
    opened but never closed. Close it; if a text is really that long, leave it out.""")


def cannot_read(path: str, error: OSError) -> OSError:
    if error.errno is None:  # one of our messages already
        return error
    reason = os.strerror(error.errno)
    if error.errno in (errno.EMFILE, errno.ENFILE):
        remedy = "Allow more open files (ulimit -n), 64 at least."
    elif error.errno in (errno.EACCES, errno.EPERM):
        remedy = "Check its permissions."
    elif error.errno in (errno.EINVAL, errno.ENAMETOOLONG):
        remedy = "Check the name."
    else:
        remedy = "Check the disk or the network that it is on."
    return OSError(f"{path} cannot be opened: {reason}. {remedy}")


output_exists = settings_error("path", "replaceable")("""
    {path} exists already. Choose another name{replaceable:?, or replace it with {--force true}| or remove
    it first}.""")
output_is_a_folder = settings_error("path")("{path} is a folder; give the name of a new file in it.")
not_a_folder = settings_error("path")("{path} is a file; give a folder, which need not exist yet.")
output_is_no_file = settings_error("path")("""
    {path} is not a file but a device or a pipe; give the name of a new file.""")
output_is_a_link = settings_error("path")("""
    {path} is a link; internal files are not written through links. Remove it.""")
internal_beside_release = settings_error("folder", "usual")("""
    The internal record must not be in {folder}, the folder of the release. Give another folder, or leave it
    out: the record is then written to {usual}.""")
output_is_input = settings_error("path")("""
    {path} is the file that is read; a release must not replace its source. Choose another name.""")
unknown_output_format = settings_error("path", "known")("""
    The format of {path} cannot be recognised by its name, which must end in one of {known:long list}.""")
not_written = settings_error("path", "kind", "known")("""
    {path} cannot be written: {kind} files can only be read. Use a name that ends in one of {known:long
    list}, such as .csv, .sav for SPSS or .xpt for SAS.""")
bad_names_for = data_error("kind", "names", "needed")("""
    {kind} files cannot have the column {names:name|names} {names:quoted}; they take {needed}. Rename these
    columns, or choose another format by the ending of the output, such as .csv.""")
too_many_for = data_error("kind", "what", "found", "most")("""
    {kind} files hold at most {most:,} {what}; there are {found:,}. Choose another format by the ending of
    the output, such as .csv or .parquet.""")
blank_records_in_excel = data_error("records")("""
    {records:record} {records:has|have} no value in any column. A sheet ends with its last value, so that
    such records could get lost in an Excel file. Choose another format by the ending of the output, such as
    .csv or .parquet.""")
text_too_long_for = data_error("kind", "column", "most")("""
    Column '{column}' has text of more than {most:,} bytes, the most that {kind} files can hold. Drop the
    column, or choose another format by the ending of the output, such as .csv.""")
unwritable_column = data_error("kind", "column", "content")("""
    Column '{column}' holds {content}, which cannot be written to {kind} files. Drop the column, or choose
    another format by the ending of the output, such as .parquet.""")
not_encodable = data_error("path", "column", "encoding")("""
    Column '{column}' has characters that the encoding {encoding} of {path} does not have. Save the source
    as UTF-8, or choose another format by the ending of the output.""")
refused_by_writer = data_error("path", "kind")("""
    {path} cannot be written as {kind}: the names, labels or values of some column do not fit into this
    format. Choose another one by the ending of the output, such as .csv or .parquet.""")


def name_too_long(name: str, size: int, most: int) -> SettingsError:
    shown = f"{name[:40]}…{name[-20:]}"
    return SettingsError(
        f"{shown} is too long for the name of a file: it has {size} bytes, and in this folder at most "
        f"{most} "
        f"are possible. Shorten the name of the output by {count(size - most, 'byte')}."
    )


working_folder_removed = settings_error()("""
    The folder that microagg was started in was removed. Change to another folder, or give the full paths of
    files.""")
no_output_folder = settings_error("path")("There is no folder {path} to write to. Create it first.")
cannot_write = output_error("path", "reason")(
    "{path} was not written: {reason}. No partly written file is left."
)


def not_put_back(kept: Mapping[str, str]) -> OutputError:
    places = "; ".join(f"{target} is now {place}" for target, place in kept.items())
    return OutputError(
        f"Writing failed, and older files could not be put back: {places}. Move them back before you write "
        "to the same folder again: hidden files are removed then."
    )


no_reference_data = data_error("name", "folder")("""
    The reference file {name} was not found{folder:? in {folder}|}. It is not shipped with microagg: put it
    into a folder of your own, and set the environment variable MICROAGG_DATA to that folder.""")
unknown_data_set = settings_error("name", "known")(
    "There is no reference data set '{name}'; there are {known:list}."
)
no_standard_output = settings_error()("""
    A release cannot be written to standard output, as it is read again and verified before it gets its
    name. Give a file, such as -o protected.csv.""")
no_standard_input = error(OSError)("""
    Standard input is closed, so there is nothing to read. Give a file, or pipe CSV into -.""")


cannot_print = text("reason", "written")("""
    {written:?{written} and all files that belong to it were written and are complete; only the summary|The
    result} could not be printed: {reason}.{written:? There is no need to run the command again.|}""")
interrupted = text()("Interrupted; nothing was written.")
