"""Files that cannot be read or written."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence

from microagg.errors import DataError, OutputError, SettingsError
from microagg.wording.phrases import counted, listed, nearest_names, quoted


def no_such_file(path: str) -> DataError:
    """The input does not exist."""
    return DataError(f"There is no file {path}. Check the name and the folder.")


def is_a_folder(path: str) -> DataError:
    """A folder where a file is needed."""
    return DataError(f"{path} is a folder; give a file.")


def unknown_format(path: str, known: Sequence[str]) -> DataError:
    """The ending of the name says nothing to us."""
    return DataError(
        f"The format of {path} is not known by its name; it must end in one of {listed(known, 20)}."
    )


def first_row_is_a_record(path: str, row: int = 1) -> DataError:
    """Its fields are not quoted: they are somebody's values. `row`: as `header_row` has it."""
    if row > 1:
        return DataError(
            f"Row {row} of {path} looks like a record instead of column names: its fields are numbers, or "
            "values that occur again below. Give another --header-row (in Python: header_row), or, if it "
            "does hold the names, --header yes beside it (in Python: header='yes')."
        )
    return DataError(
        f"The first row of {path} looks like a record instead of column names: its fields are numbers, or "
        "values that occur again below. If it is a record, give --header no (in Python: header='no'), and "
        "the columns are called column1, column2, …, or add a line with the names of the columns at the "
        "top. If it does hold the names, give --header yes (in Python: header='yes')."
    )


def header_row_without_header() -> SettingsError:
    """Two settings that exclude each other."""
    return SettingsError(
        "header_row says which row holds the names of the columns, header='no' that none does. Keep one."
    )


def no_such_row(source: str, row: int) -> DataError:
    """The names are to be in a row that is not there."""
    return DataError(
        f"{source} has nothing in row {row} or below, where --header-row says that the names are."
    )


def title_above_names(source: str, row: int) -> DataError:
    """One field at the top, several below."""
    return DataError(
        f"{source} begins with a line of one field, a title perhaps, while the rows from row {row} on have "
        f"several. If the names of the columns are there, give --header-row {row} (in Python: "
        f"header_row={row})."
    )


def no_such_sheet(source: str, sheet: str, sheets: Sequence[str]) -> DataError:
    """A sheet that the workbook lacks."""
    return DataError(
        f"{source} has no sheet '{sheet}'{nearest_names(sheet, sheets)}. There are: {quoted(sheets)}."
    )


def several_sheets(source: str, sheets: Sequence[str]) -> DataError:
    """Which one is meant is not for us to say."""
    return DataError(
        f"{source} has several sheets that are not empty: {quoted(sheets)}. Choose one by --sheet "
        "(in Python: sheet='…')."
    )


def hidden_sheets(source: str, hidden: Sequence[str], visible: Sequence[str]) -> DataError:
    """What nobody sees is not released, nor left out, unless the user knows of it."""
    which = "a hidden sheet" if len(hidden) == 1 else "hidden sheets"
    others = f" beside {quoted(visible)}" if visible else ""
    return DataError(
        f"{source} has {which}, {quoted(hidden)}{others}. Choose the sheet that is meant by --sheet "
        "(in Python: sheet='…')."
    )


def hidden_cells(source: str, sheet: str, columns: Sequence[str], rows: int) -> DataError:
    """They would be released like all others, and be visible then."""
    found = _hidden(columns, rows)
    return DataError(
        f"Sheet '{sheet}' of {source} has {found}, which would be released with the others. Delete or show "
        f"{'it' if len(columns) + rows == 1 else 'them'}, or choose the sheet with all that it holds by "
        "--sheet (in Python: sheet='…')."
    )


def hidden_cells_note(sheet: str, columns: Sequence[str], rows: int) -> str:
    """Not an error: the sheet was chosen with what it holds."""
    was = "is" if len(columns) + rows == 1 else "are"
    return f"Sheet '{sheet}' has {_hidden(columns, rows)}, which {was} read like the others."


def _hidden(columns: Sequence[str], rows: int) -> str:
    parts = []
    if columns:
        parts.append(f"the hidden {'column' if len(columns) == 1 else 'columns'} {listed(columns, 20)}")
    if rows:
        parts.append(counted(rows, "hidden row"))
    return " and ".join(parts)


def unknown_encoding(name: str) -> SettingsError:
    """Python knows no such encoding of text."""
    return SettingsError(
        f"There is no encoding '{name}'. Use one such as utf-8, utf-16, windows-1252 or latin-1, "
        "or leave it out to have it found."
    )


def wrong_encoding(source: str, name: str) -> DataError:
    """Some bytes mean nothing in the encoding given."""
    return DataError(
        f"{source} is not encoded in {name}, as was said: it has bytes that mean nothing there. "
        "Give another encoding, or leave it out to have it found."
    )


def no_encoding(source: str, tried: Sequence[str]) -> DataError:
    """Some bytes mean nothing in any encoding that is tried."""
    names = {"utf-8-sig": "UTF-8", "cp1252": "Windows-1252", "utf-16": "UTF-16"}
    return DataError(
        f"{source} is not encoded in {' or '.join(names[name] for name in tried)}. "
        "Check that it is complete, "
        "give its encoding (--encoding), or save it as UTF-8 (in a spreadsheet: 'CSV UTF-8')."
    )


def not_text(source: str) -> DataError:
    """Zero bytes, which text does not have unless it is in UTF-16."""
    return DataError(
        f"{source} is not a CSV file: it has bytes that no text in UTF-8 or Windows-1252 has. "
        "If it is text in UTF-16, give --encoding utf-16-le (or -be); else let its ending name its format."
    )


def bad_delimiter(sign: str) -> SettingsError:
    """More than one character, or one that numbers and quotes need."""
    return SettingsError(
        f"The delimiter is {sign!r}; it must be one sign that numbers and names do not have, "
        r"such as , ; | or \t for the tab."
    )


def comma_twice() -> SettingsError:
    """Fields and decimals cannot both use the comma."""
    return SettingsError(
        "The comma cannot be both delimiter and decimal sign. Leave --decimal out if numbers have decimal "
        "points, or save the file with another delimiter, such as the semicolon."
    )


_SIGNS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars (|)", " ": "spaces"}


def wrong_delimiter(source: str, given: str, found: str) -> DataError:
    """The header has no such sign, but another."""
    return DataError(
        f"The first line of {source} has no {_SIGNS.get(given, given)}, as was said, but {_SIGNS[found]}. "
        "Give that delimiter, or leave it out to have it found."
    )


def unknown_delimiter(source: str, sign: str, fields: int) -> DataError:
    """One column by the usual signs, several by another."""
    return DataError(
        f"{source} has no commas, semicolons, tabs or vertical bars between its fields; "
        f"{_SIGNS.get(sign, sign)} would make {fields} columns. "
        f"If that is meant, give --delimiter '{sign}'."
    )


def uneven_rows(source: str, count: int, fields: int, delimiter: str) -> DataError:
    """Rows with more or fewer fields than names."""
    return DataError(
        f"{source} cannot be read as CSV: {counted(count, 'row')} {'has' if count == 1 else 'have'} "
        f"not as many fields as the header, which has {fields}, separated by "
        f"{_SIGNS.get(delimiter, delimiter)}. Check that the file is complete and that fields with a "
        "delimiter inside are in quotes, or give another --delimiter; if there are titles above the names, "
        "say in which row the names are by --header-row."
    )


def not_csv(source: str, kind: str, options: Sequence[str]) -> SettingsError:
    """Options for CSV files have no effect on others."""
    return SettingsError(
        f"{listed(options)} would have no effect: {source} is a file of the format {kind}"
        f"{'' if kind == 'CSV' else ', not CSV'}. "
        f"Leave {'it' if len(options) == 1 else 'them'} out."
    )


def other_content(source: str, kind: str, found: str, endings: Sequence[str]) -> DataError:
    """The name says one format, the first bytes another."""
    remedy = (
        f"Let its name end in {' or '.join(endings)}"
        if endings
        else f"Save or unpack the data as {kind} first"
    )
    return DataError(
        f"{source} cannot be read as {kind}: it begins like a file of the format {found}. {remedy}."
    )


def password_protected(source: str) -> DataError:
    """An encrypted workbook."""
    return DataError(f"{source} is protected by a password. Save a copy without password and use that.")


def old_excel(source: str) -> DataError:
    """A workbook of before 2007, or another file of that family."""
    return DataError(
        f"{source} is not an .xlsx file but of an older Office format. "
        "Save it as .xlsx in a spreadsheet program."
    )


def empty_sheet(source: str) -> DataError:
    """No cell of any sheet, or of the one that was chosen, is filled."""
    return DataError(
        f"The sheet of {source} is empty, so there are no records. Put the data on it, with the names of "
        "the columns in the first row, or choose another by --sheet (in Python: sheet='…')."
    )


def extended_missing_note(columns: Sequence[str]) -> str:
    """Not an error: Stata's and SAS's letters for kinds of missing values are not kept."""
    return (
        f"Extended missing values (.a to .z) count as plain missing ones, and are written as such, in "
        f"{'column' if len(columns) == 1 else 'columns'} {quoted(columns)}."
    )


def mixed_cells_note(columns: Sequence[str]) -> str:
    """Not an error: a column of an Arrow table has one type."""
    return (
        f"Cells of different types are read, and written, as text in "
        f"{'column' if len(columns) == 1 else 'columns'} {quoted(columns)}."
    )


def unreadable_content(path: str, kind: str) -> DataError:
    """A broken file. The parser's own words may quote values, so they are not passed on."""
    remedy = ", that every row has as many fields as the header," if kind == "CSV" else ""
    return DataError(
        f"{path} cannot be read as {kind}. Check that it is complete{remedy} "
        "and that its ending names its format."
    )


def input_is_no_file(path: str) -> DataError:
    """A named pipe, a device, a socket: what cannot be read twice."""
    return DataError(
        f"{path} is a pipe or a device, not a file, and files are read more than once. Save its content "
        f"to a file, or pipe CSV in: microagg protect - < {path}"
    )


def changed_while_read(path: str) -> DataError:
    """What was read may be a mixture, and its digest would be that of something else."""
    return DataError(
        f"{path} was changed while it was read. Wait until nothing writes to it any more, and start again."
    )


def field_too_long(source: str, most: int) -> DataError:
    """Longer than any text in a table, as what follows an open quote is."""
    return DataError(
        f"{source} cannot be read as CSV: a field has more than {most:,} letters. A quote that is opened "
        "but never closed makes such fields. If the text is meant to be that long, leave it out."
    )


def cannot_read(path: str, error: OSError) -> OSError:
    """The operating system refused to hand over the file, or its content."""
    if error.errno is None:  # in our own words already
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
    """Nothing is overwritten unless that is asked for."""
    force = ", or replace it by --force (force=True in Python)" if replaceable else " or remove it first"
    return SettingsError(f"{path} exists already. Choose another name{force}.")


def output_is_a_folder(path: str) -> SettingsError:
    """A folder where a file is to be written."""
    return SettingsError(f"{path} is a folder; give the name of a new file in it.")


def not_a_folder(path: str) -> SettingsError:
    """A file where internal files are to be written."""
    return SettingsError(f"{path} is a file; give a folder, which need not exist yet.")


def output_is_no_file(path: str) -> SettingsError:
    """A device, a pipe, a socket."""
    return SettingsError(f"{path} is not a file but a device or a pipe; give the name of a new file.")


def output_is_a_link(path: str) -> SettingsError:
    """A link where something internal is to be kept."""
    return SettingsError(f"{path} is a link; what is internal is not written through links. Remove it.")


def internal_beside_release(folder: str, usual: str) -> SettingsError:
    """Whoever gets the folder of the release would get the record too."""
    return SettingsError(
        f"The internal record must not lie beside the release, in {folder}. Give another folder, or none: "
        f"then it is {usual}."
    )


def output_is_input(path: str) -> SettingsError:
    """The release would replace the data, perhaps by way of a link."""
    return SettingsError(
        f"{path} is the file that is read; a release must not replace its source. Choose another name."
    )


def unknown_output_format(path: str, known: Sequence[str]) -> SettingsError:
    """The ending of the output says nothing to us."""
    return SettingsError(
        f"The format to write {path} in is not known by its name; let it end in one of {listed(known, 20)}."
    )


def not_written(path: str, kind: str, known: Sequence[str]) -> SettingsError:
    """Formats that are read only."""
    return SettingsError(
        f"{path} cannot be written: {kind} files are only read. Let its name end in one of "
        f"{listed(known, 20)}, such as .csv, .sav for SPSS or .xpt for SAS."
    )


def bad_names_for(kind: str, names: Sequence[str], needed: str) -> DataError:
    """Column names that a format does not take."""
    which = "name" if len(names) == 1 else "names"
    return DataError(
        f"{kind} files cannot have the column {which} {quoted(names)}; they take {needed}. "
        "Rename these columns, or choose another format by the ending of the output."
    )


def too_many_for(kind: str, what: str, found: int, most: int) -> DataError:
    """More rows or columns than a format has room for."""
    return DataError(
        f"{kind} files hold at most {most:,} {what}; there are {found:,}. "
        "Choose another format by the ending of the output, such as .csv or .parquet."
    )


def text_too_long_for(kind: str, column: str, most: int) -> DataError:
    """Longer text than a format has room for."""
    return DataError(
        f"Column '{column}' has text of more than {most:,} bytes, the most that {kind} files can hold. "
        "Drop the column, or choose another format by the ending of the output, such as .csv."
    )


def unwritable_column(kind: str, column: str, content: str) -> DataError:
    """A type of values that a format has no place for."""
    return DataError(
        f"Column '{column}' holds {content}, which cannot be written to {kind} files. "
        "Drop the column, or choose another format by the ending of the output, such as .parquet."
    )


def not_encodable(path: str, column: str, encoding: str) -> DataError:
    """Letters that the source's encoding lacks."""
    return DataError(
        f"Column '{column}' has letters that the encoding {encoding} of {path} cannot express. "
        "Save the source as UTF-8, or choose another format by the ending of the output."
    )


def refused_by_writer(path: str, kind: str) -> DataError:
    """The library that writes the format refused. Its words may quote values, so they are not passed on."""
    return DataError(
        f"{path} cannot be written as {kind}: the names, labels or values of some column do not fit into "
        "that format. Choose another one by the ending of the output, such as .csv or .parquet."
    )


def name_too_long(name: str, size: int, most: int) -> SettingsError:
    """Longer than the file system allows, perhaps only with the ending that internal files get."""
    shown = f"{name[:40]}…{name[-20:]}"
    return SettingsError(
        f"{shown} is too long for the name of a file: it has {size} bytes, and this folder takes at most "
        f"{most}. Shorten the name of the output by {counted(size - most, 'byte')}."
    )


def working_folder_removed() -> SettingsError:
    """Relative names lead nowhere."""
    return SettingsError(
        "The folder that microagg was started in was removed. Change to another folder, or give files with "
        "their whole paths."
    )


def no_output_folder(path: str) -> SettingsError:
    """The folder to write to is missing."""
    return SettingsError(f"There is no folder {path} to write to. Create it first.")


def cannot_write(path: str, reason: str) -> OutputError:
    """Disk full, no permission."""
    return OutputError(f"{path} was not written: {reason}. Nothing was left behind.")


def not_put_back(kept: Mapping[str, str]) -> OutputError:
    """Writing failed, and so did putting back what had been replaced by then."""
    places = "; ".join(f"that of {target} is now {place}" for target, place in kept.items())
    return OutputError(
        f"Writing failed, and older files could not be put back: {places}. Move them to where they belong "
        "before you write to the same folder again: hidden files are removed then."
    )


def no_reference_data(name: str, folder: str | None) -> DataError:
    place = f" in {folder}" if folder else ""
    return DataError(
        f"The reference file {name} was not found{place}. It is not shipped with microagg: put it into a "
        "folder of your own, and set the environment variable MICROAGG_DATA to that folder."
    )


def unknown_data_set(name: str, known: Sequence[str]) -> SettingsError:
    """No such reference file."""
    return SettingsError(f"There is no reference data set '{name}'; there are {listed(known)}.")


def no_standard_output() -> SettingsError:
    """A release is read back before it gets its name."""
    return SettingsError(
        "A release cannot go to standard output: it is read back and counted before it gets its name. "
        "Give a file, such as -o protected.csv."
    )


def no_standard_input() -> OSError:
    """It was closed before the command began."""
    return OSError(
        "Standard input is closed, so there is nothing to read. Give a file, or pipe CSV into -."
    )


def cannot_print(reason: str, written: str | None) -> str:
    """Standard output takes nothing, for instance since the disk it goes to is full."""
    if written is None:
        return f"The result could not be printed: {reason}."
    return (
        f"{written} and all that belongs to it were written and are complete; only the summary could not "
        f"be printed: {reason}. There is no need to run it again."
    )


def interrupted() -> str:
    """Before anything was written."""
    return "Interrupted; nothing was written."
