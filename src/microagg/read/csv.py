"""CSV -> Arrow table. Arrow parses; what it is told comes from the user or from a sample."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
from pyarrow import csv as arrow

from microagg import wording
from microagg.model import CsvFormat, CsvLook, Layout
from microagg.process import is_shortage
from microagg.read.columns import HEXADECIMAL, chosen, matching, refuse_what_is_no_number
from microagg.read.commas import decimal_of, has_decimal_commas
from microagg.read.dialect import (
    DELIMITERS,
    after_lines,
    after_lines_of_bytes,
    delimiter_of,
    encoding_of,
    has_hexadecimals,
    has_mark,
    has_quotes,
    has_zero_bytes,
    in_utf_8,
    look_of,
    row_below_titles,
    rows_of,
    sample_of,
    uneven_rows,
)
from microagg.read.header import ROWS, are_given_names, given_names, refuse_record_as_names


def read_csv(
    file: BinaryIO,
    path: Path | None,
    source: str,
    columns: Sequence[str] | None,
    given: CsvFormat,
    layout: Layout,
) -> pa.Table:
    """The named columns (default: all), all of them of numbers.

    `file` is open, at `path` if it has one; `source` is what messages call it.

    A decimal comma is taken if every number of some column reads that way and no column has decimal points.
    The file is read once to check its encoding and once to parse it; with decimal commas that were not
    announced it is parsed twice.
    """
    csv_file = _CsvFile.found(file, path, source, given, layout)
    decimal = given.decimal or "."
    with csv_file.refusing_uneven_rows():
        table = csv_file.chosen(csv_file.parse(decimal), columns)
        if given.decimal is None and csv_file.delimiter != "," and has_decimal_commas(table):
            decimal = ","
            table = csv_file.chosen(csv_file.parse(decimal), columns)
        if has_hexadecimals(file, csv_file.encoding):
            table = _without_hexadecimals(table, csv_file.chosen(csv_file.parse_text(), columns))
    refuse_what_is_no_number(table, decimal, csv_file.delimiter)
    return table


def read_csv_as_text(
    file: BinaryIO, path: Path | None, source: str, given: CsvFormat, layout: Layout
) -> tuple[pa.Table, CsvFormat, CsvLook]:
    """All columns as they stand there, null where a field is empty; and how the file is written."""
    csv_file = _CsvFile.found(file, path, source, given, layout)
    with csv_file.refusing_uneven_rows():
        table = csv_file.chosen(csv_file.parse_text(), None)
    decimal = given.decimal or ("." if csv_file.delimiter == "," else decimal_of(table))
    sample = sample_of(file, csv_file.encoding)
    look = look_of(sample[after_lines(sample, csv_file.above) :], csv_file.delimiter, table.column_names)
    return table, CsvFormat(csv_file.delimiter, csv_file.encoding_with_mark(), decimal), look


def read_csv_again(file: BinaryIO, path: Path, source: str, known: CsvFormat) -> pa.Table:
    """All columns as text, of a file of which everything is known: nothing is guessed."""
    if known.delimiter is None or known.encoding is None:
        raise wording.contract_broken("read_back", "it was not told how the CSV file is written")
    encoding = encoding_of(file, source, known.encoding)
    csv_file = _CsvFile(file, path, source, encoding, known.delimiter, has_quotes(file, encoding))
    with csv_file.refusing_uneven_rows():
        return chosen(csv_file.parse_text(), None)


@dataclass(frozen=True, slots=True)
class _CsvFile:
    """A CSV file of which is known how it is written, but for its decimal sign."""

    file: BinaryIO
    path: Path | None
    source: str
    encoding: str
    delimiter: str
    quoted: bool
    above: int = 0
    """So many lines stand above the names."""
    named: bool = True
    """The first row holds the names."""

    @classmethod
    def found(
        cls, file: BinaryIO, path: Path | None, source: str, given: CsvFormat, layout: Layout
    ) -> _CsvFile:
        """`DataError` for what is no CSV file with records and, unless said otherwise, a header."""
        encoding = encoding_of(file, source, given.encoding)
        above = (layout.header_row or 1) - 1
        sample = sample_of(file, encoding)
        if "\0" in sample or has_zero_bytes(file, encoding):
            raise wording.not_text(source)
        if above and not sample[after_lines(sample, above) :].strip():
            raise wording.no_such_row(source, above + 1)
        sample = sample[after_lines(sample, above) :]
        if not sample.strip():
            raise wording.no_records()
        try:
            delimiter = delimiter_of(sample, source, given.delimiter)
            rows = rows_of(sample, delimiter)
        except csv.Error:
            raise wording.field_too_long(source, csv.field_size_limit()) from None
        named = layout.header != "no" or are_given_names([_name(text) for text in rows[0]])
        if len(rows) < (2 if named else 1):
            raise wording.no_records()
        if layout.header is None:
            if len(rows[0]) == 1 and layout.header_row is None:
                below = row_below_titles(sample, given.delimiter or DELIMITERS)
                if below is not None:
                    raise wording.title_above_names(source, below)
            refuse_record_as_names(rows[0], rows_of(sample, delimiter, ROWS + 1)[1:], source, above + 1)
        if delimiter == given.decimal == ",":
            raise wording.comma_twice()
        return cls(file, path, source, encoding, delimiter, has_quotes(file, encoding), above, named)

    def chosen(self, table: pa.Table, columns: Sequence[str] | None) -> pa.Table:
        """The named columns (default: all)."""
        return chosen(table, columns, self.above + 1)

    def encoding_with_mark(self) -> str:
        """A name of the encoding that says whether there is a byte order mark."""
        if self.encoding == "utf-8-sig":
            return "utf-8-sig" if has_mark(self.file) else "utf-8"
        return self.encoding

    def parse(self, decimal: str) -> pa.Table:
        """Columns of the types that Arrow finds, with this decimal sign."""
        names = None if self.named else given_names(self._width())
        table = self._read(
            arrow.ReadOptions(column_names=names), arrow.ConvertOptions(decimal_point=decimal)
        )
        return table.rename_columns([_name(name) for name in table.column_names])

    def parse_text(self) -> pa.Table:
        """Columns of text."""
        # The header is read as a record: Arrow wants the types of columns by name before it has read any.
        width = self._width()
        types = {f"f{at}": pa.large_string() for at in range(width)}
        table = self._read(
            arrow.ReadOptions(autogenerate_column_names=True),
            arrow.ConvertOptions(column_types=types, strings_can_be_null=True, null_values=[""]),
        )
        if not self.named:
            return table.rename_columns(given_names(width))
        names = [_name(column[0].as_py() or "") for column in table.columns]
        return table.slice(1).rename_columns(names)

    def _width(self) -> int:
        sample = sample_of(self.file, self.encoding)
        rows = rows_of(sample[after_lines(sample, self.above) :], self.delimiter, 1)
        if not rows:
            raise wording.no_records()
        return len(rows[0])

    def _read(self, read: object, convert: object) -> pa.Table:
        """By Arrow, which is never given a Python object, neither a file nor a function to call.

        Its threads may let go of those while Python exits, which can abort the process.
        """
        in_place = self.path is not None and self.encoding == "utf-8-sig" and self.above == 0
        content = str(self.path) if in_place else pa.BufferReader(self._text())
        return arrow.read_csv(
            content,  # type: ignore[arg-type]  # the types of pyarrow leave its own readers out
            read_options=read,  # type: ignore[arg-type]
            parse_options=arrow.ParseOptions(
                delimiter=self.delimiter,
                newlines_in_values=self.quoted,  # slower, and needless without quotes
            ),
            convert_options=convert,  # type: ignore[arg-type]
        )

    def _text(self) -> pa.Buffer:
        """In UTF-8, from the names on."""
        text = in_utf_8(self.file, self.encoding)
        return text.slice(after_lines_of_bytes(memoryview(text), self.above))

    @contextmanager
    def refusing_uneven_rows(self) -> Iterator[None]:
        """`DataError` in our own words for what Arrow refuses: its words quote values."""
        try:
            yield
        except MemoryError:  # Arrow's is one of its own exceptions too, but no word about the file
            raise
        except pa.ArrowException as refusal:
            if is_shortage(refusal):
                raise MemoryError from None
            try:
                uneven, fields = uneven_rows(self.file, self.encoding, self.delimiter, self.above)
            except csv.Error:
                raise wording.field_too_long(self.source, csv.field_size_limit()) from None
            raise (
                wording.uneven_rows(self.source, uneven, fields, self.delimiter)
                if uneven
                else wording.unreadable_content(self.source, "CSV")
            ) from None


def _without_hexadecimals(table: pa.Table, text: pa.Table) -> pa.Table:
    """Columns of text in place of those in which Arrow has taken 0x1F and the like for whole numbers."""
    for at, name in enumerate(table.column_names):
        if matching(text.column(at), HEXADECIMAL):
            table = table.set_column(at, name, text.column(at))
    return table


def _name(text: str) -> str:
    return text.strip().removeprefix("\ufeff")
