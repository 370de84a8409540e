"""Files that cannot be read or written."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence

from microagg.errors import DataError, OutputError, SettingsError
from microagg.wording.message import option_name, use
from microagg.wording.phrases import count, hidden_parts, listed, nearest_names, quoted


def no_such_file(path: str) -> DataError:
    return DataError(f"There is no file {path}. Check the name and the folder.")


def is_a_folder(path: str) -> DataError:
    return DataError(f"{path} is a folder; give a file.")


def unknown_format(path: str, known: Sequence[str]) -> DataError:
    return DataError(
        f"The format of {path} cannot be recognised by its name, which must end in one of "
        f"{listed(known, 20)}."
    )


def first_row_is_a_record(path: str, row: int = 1) -> DataError:
    if row > 1:
        return DataError(
            f"Row {row} of {path} looks like a record instead of column names: its fields are numbers, or "
            f"values that occur again below. Give another {use('header_row')}, or, if the row does hold "
            "the "
            f"names, add {use('header', 'yes')}."
        )
    return DataError(
        f"The first row of {path} looks like a record instead of column names: its fields are numbers, or "
        f"values that occur again below. If it is a record, give {use('header', 'no')} (the columns are "
        "then "
        "called column1, column2, …), or add a line with the names of the columns at the top. If it does "
        f"hold the names, give {use('header', 'yes')}."
    )


def header_row_without_header() -> SettingsError:
    return SettingsError(
        f"{use('header_row')} gives the row of the column names, but {use('header', 'no')} means that "
        "there "
        "is no such row. Keep one of the two."
    )


def no_such_row(source: str, row: int) -> DataError:
    return DataError(
        f"{source} has nothing in row {row} or below it, where the column names should be "
        f"({use('header_row', row)}). Give another row."
    )


def title_above_names(source: str, row: int) -> DataError:
    return DataError(
        f"{source} begins with a line of one field, perhaps a title, while row {row} and those below it "
        "have "
        f"several fields. If row {row} holds the column names, give {use('header_row', row)}."
    )


def no_such_sheet(source: str, sheet: str, sheets: Sequence[str]) -> DataError:
    return DataError(
        f"{source} has no sheet '{sheet}'{nearest_names(sheet, sheets)}. The sheets are: {quoted(sheets)}."
    )


def several_sheets(source: str, sheets: Sequence[str]) -> DataError:
    return DataError(
        f"{source} has several sheets that are not empty: {quoted(sheets)}. Choose one by the option "
        f"{use('sheet')}."
    )


def hidden_sheets(source: str, hidden: Sequence[str], visible: Sequence[str]) -> DataError:
    which = "a hidden sheet" if len(hidden) == 1 else "hidden sheets"
    others = f" beside {quoted(visible)}" if visible else ""
    return DataError(
        f"{source} has {which}, {quoted(hidden)}{others}. Choose the sheet that you want with "
        f"{use('sheet')}."
    )


def hidden_cells(source: str, sheet: str, columns: Sequence[str], rows: int) -> DataError:
    them = "it" if len(columns) + rows == 1 else "them"
    return DataError(
        f"Sheet '{sheet}' of {source} has {hidden_parts(columns, rows)}, which would be released with the "
        f"others. Delete or show {them}, or, to read {them} as well, choose the sheet by its name "
        f"({use('sheet', sheet)})."
    )


def unknown_encoding(name: str) -> SettingsError:
    return SettingsError(
        f"There is no encoding '{name}'. Use one such as utf-8, utf-16, windows-1252 or latin-1, "
        f"or leave out {use('encoding')} to have it detected."
    )


def wrong_encoding(source: str, name: str) -> DataError:
    return DataError(
        f"{source} is not encoded in {name}: it has bytes that mean nothing in this encoding. "
        f"Give another one, or leave out {use('encoding')} to have it detected."
    )


def no_encoding(source: str, tried: Sequence[str]) -> DataError:
    names = {"utf-8-sig": "UTF-8", "cp1252": "Windows-1252", "utf-16": "UTF-16"}
    return DataError(
        f"{source} is not encoded in {' or '.join(names[name] for name in tried)}. "
        f"Check that it is complete, give its encoding ({use('encoding')}), or save it as UTF-8 (in a "
        "spreadsheet: 'CSV UTF-8')."
    )


def not_text(source: str) -> DataError:
    return DataError(
        f"{source} is not a CSV file: it has bytes that text in UTF-8 or Windows-1252 does not have. If it "
        f"is text in UTF-16, give {use('encoding', 'utf-16-le')} (or utf-16-be); otherwise give its name "
        "the ending of its format."
    )


def bad_delimiter(sign: str) -> SettingsError:
    return SettingsError(
        f"The delimiter is {sign!r}; it must be one character that numbers and names do not have, "
        r"such as , ; | or \t for the tab."
    )


def comma_twice() -> SettingsError:
    return SettingsError(
        "The comma cannot be both the delimiter and the decimal sign. If numbers have decimal points, "
        "leave "
        f"out {use('decimal')}; otherwise save the file with another delimiter, such as the semicolon."
    )


_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars (|)", " ": "spaces"}


def wrong_delimiter(source: str, given: str, found: str) -> DataError:
    return DataError(
        f"The first line of {source} has no {_DELIMITERS.get(given, given)}, the delimiter that was given, "
        f"but {_DELIMITERS[found]}. Give that delimiter, or leave out {use('delimiter')} to have it "
        "detected."
    )


def unknown_delimiter(source: str, sign: str, fields: int) -> DataError:
    return DataError(
        f"{source} has no commas, semicolons, tabs or vertical bars between its fields; "
        f"{_DELIMITERS.get(sign, sign)} would make {fields} columns. "
        f"Give {use('delimiter', sign)} if that is right."
    )


def uneven_rows(source: str, rows: int, fields: int, delimiter: str) -> DataError:
    return DataError(
        f"{source} cannot be read as CSV: the header has {fields} fields, separated by "
        f"{_DELIMITERS.get(delimiter, delimiter)}, but {count(rows, 'row')} "
        f"{'has' if rows == 1 else 'have'} more or fewer. Check that the file is complete and that fields "
        f"with a delimiter inside are in quotes, or give another {use('delimiter')}; if there are titles "
        f"above the column names, give the row of the names with {use('header_row')}."
    )


def not_csv(source: str, kind: str, options: Sequence[str]) -> SettingsError:
    return SettingsError(
        f"{listed([option_name(option) for option in options])} would have no effect: {source} has the "
        f"format {kind}{'' if kind == 'CSV' else ', not CSV'}. "
        f"Leave {'it' if len(options) == 1 else 'them'} out."
    )


def other_content(source: str, kind: str, found: str, endings: Sequence[str]) -> DataError:
    remedy = (
        f"Give it a name that ends in {' or '.join(endings)}"
        if endings
        else f"Save or unpack the data as {kind} first"
    )
    return DataError(
        f"{source} cannot be read as {kind}: it begins like a file of the format {found}. {remedy}."
    )


def password_protected(source: str) -> DataError:
    return DataError(f"{source} is protected by a password. Save a copy without a password and use that.")


def old_excel(source: str) -> DataError:
    return DataError(
        f"{source} is not an .xlsx file, but has an older Office format. "
        "Save it as .xlsx in a spreadsheet program."
    )


def empty_sheet(source: str) -> DataError:
    return DataError(
        f"The sheet of {source} is empty, so there are no records. Put the data on it, with the column "
        f"names in the first row, or choose another sheet ({use('sheet')})."
    )


def unreadable_content(path: str, kind: str) -> DataError:
    remedy = ", that every row has as many fields as the header," if kind == "CSV" else ""
    return DataError(
        f"{path} cannot be read as {kind}. Check that it is complete{remedy} "
        "and that its name has the ending of its format."
    )


def input_is_no_file(path: str) -> DataError:
    return DataError(
        f"{path} is a pipe or a device, which cannot be read twice as a file can. Save its content to a "
        f"file, or use standard input: microagg protect - < {path}"
    )


def changed_while_read(path: str) -> DataError:
    return DataError(
        f"{path} was changed while it was read. Wait until no program writes to it any more, and try again."
    )


def field_too_long(source: str, most: int) -> DataError:
    return DataError(
        f"{source} cannot be read as CSV: a field has more than {most:,} characters, probably because a "
        "quote "
        "is opened but never closed. Close it; if a text is really that long, leave it out."
    )


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


def output_exists(path: str, replaceable: bool = False) -> SettingsError:
    force = f", or replace it with {use('force', True)}" if replaceable else " or remove it first"
    return SettingsError(f"{path} exists already. Choose another name{force}.")


def output_is_a_folder(path: str) -> SettingsError:
    return SettingsError(f"{path} is a folder; give the name of a new file in it.")


def not_a_folder(path: str) -> SettingsError:
    return SettingsError(f"{path} is a file; give a folder, which need not exist yet.")


def output_is_no_file(path: str) -> SettingsError:
    return SettingsError(f"{path} is not a file but a device or a pipe; give the name of a new file.")


def output_is_a_link(path: str) -> SettingsError:
    return SettingsError(f"{path} is a link; internal files are not written through links. Remove it.")


def internal_beside_release(folder: str, usual: str) -> SettingsError:
    return SettingsError(
        f"The internal record must not be in {folder}, the folder of the release. Give another folder, or "
        f"none: then it is {usual}."
    )


def output_is_input(path: str) -> SettingsError:
    return SettingsError(
        f"{path} is the file that is read; a release must not replace its source. Choose another name."
    )


def unknown_output_format(path: str, known: Sequence[str]) -> SettingsError:
    return SettingsError(
        f"The format of {path} cannot be recognised by its name, which must end in one of "
        f"{listed(known, 20)}."
    )


def not_written(path: str, kind: str, known: Sequence[str]) -> SettingsError:
    return SettingsError(
        f"{path} cannot be written: {kind} files can only be read. Use a name that ends in one of "
        f"{listed(known, 20)}, such as .csv, .sav for SPSS or .xpt for SAS."
    )


def bad_names_for(kind: str, names: Sequence[str], needed: str) -> DataError:
    which = "name" if len(names) == 1 else "names"
    return DataError(
        f"{kind} files cannot have the column {which} {quoted(names)}; they take {needed}. "
        "Rename these columns, or choose another format by the ending of the output, such as .csv."
    )


def too_many_for(kind: str, what: str, found: int, most: int) -> DataError:
    return DataError(
        f"{kind} files hold at most {most:,} {what}; there are {found:,}. "
        "Choose another format by the ending of the output, such as .csv or .parquet."
    )


def text_too_long_for(kind: str, column: str, most: int) -> DataError:
    return DataError(
        f"Column '{column}' has text of more than {most:,} bytes, the most that {kind} files can hold. "
        "Drop the column, or choose another format by the ending of the output, such as .csv."
    )


def unwritable_column(kind: str, column: str, content: str) -> DataError:
    return DataError(
        f"Column '{column}' holds {content}, which cannot be written to {kind} files. "
        "Drop the column, or choose another format by the ending of the output, such as .parquet."
    )


def not_encodable(path: str, column: str, encoding: str) -> DataError:
    return DataError(
        f"Column '{column}' has characters that the encoding {encoding} of {path} does not have. "
        "Save the source as UTF-8, or choose another format by the ending of the output."
    )


def refused_by_writer(path: str, kind: str) -> DataError:
    return DataError(
        f"{path} cannot be written as {kind}: the names, labels or values of some column do not fit into "
        "this format. Choose another one by the ending of the output, such as .csv or .parquet."
    )


def name_too_long(name: str, size: int, most: int) -> SettingsError:
    shown = f"{name[:40]}…{name[-20:]}"
    return SettingsError(
        f"{shown} is too long for the name of a file: it has {size} bytes, and in this folder at most "
        f"{most} "
        f"are possible. Shorten the name of the output by {count(size - most, 'byte')}."
    )


def working_folder_removed() -> SettingsError:
    return SettingsError(
        "The folder that microagg was started in was removed. Change to another folder, or give the full "
        "paths "
        "of files."
    )


def no_output_folder(path: str) -> SettingsError:
    return SettingsError(f"There is no folder {path} to write to. Create it first.")


def cannot_write(path: str, reason: str) -> OutputError:
    return OutputError(f"{path} was not written: {reason}. No partly written file is left.")


def not_put_back(kept: Mapping[str, str]) -> OutputError:
    places = "; ".join(f"{target} is now {place}" for target, place in kept.items())
    return OutputError(
        f"Writing failed, and older files could not be put back: {places}. Move them back before you write "
        "to the same folder again: hidden files are removed then."
    )


def no_reference_data(name: str, folder: str | None) -> DataError:
    place = f" in {folder}" if folder else ""
    return DataError(
        f"The reference file {name} was not found{place}. It is not shipped with microagg: put it into a "
        "folder of your own, and set the environment variable MICROAGG_DATA to that folder."
    )


def unknown_data_set(name: str, known: Sequence[str]) -> SettingsError:
    return SettingsError(f"There is no reference data set '{name}'; there are {listed(known)}.")


def no_standard_output() -> SettingsError:
    return SettingsError(
        "A release cannot be written to standard output, as it is read again and verified before it gets "
        "its name. Give a file, such as -o protected.csv."
    )


def no_standard_input() -> OSError:
    return OSError(
        "Standard input is closed, so there is nothing to read. Give a file, or pipe CSV into -."
    )


def cannot_print(reason: str, written: str | None) -> str:
    if written is None:
        return f"The result could not be printed: {reason}."
    return (
        f"{written} and all files that belong to it were written and are complete; only the summary could "
        f"not be printed: {reason}. There is no need to run the command again."
    )


def interrupted() -> str:
    return "Interrupted; nothing was written."
