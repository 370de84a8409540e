"""CSV -> Arrow table. Arrow parses; its options come from the user or from a sample of the file."""

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
from microagg.read.columns import HEXADECIMAL, count_matches, require_numeric_columns, select_columns
from microagg.read.commas import detect_decimal, has_decimal_commas
from microagg.read.dialect import (
    DELIMITERS,
    byte_offset_after_lines,
    count_uneven_rows,
    detect_delimiter,
    detect_encoding,
    detect_look,
    find_row_below_titles,
    has_byte_order_mark,
    has_hexadecimals,
    has_quotes,
    has_zero_bytes,
    offset_after_lines,
    parse_rows,
    read_sample,
    transcode_to_utf_8,
)
from microagg.read.header import ROWS_COMPARED, are_numbered_names, numbered_names, refuse_record_as_names


def read_csv(
    file: BinaryIO,
    path: Path | None,
    source: str,
    columns: Sequence[str] | None,
    given: CsvFormat,
    layout: Layout,
) -> pa.Table:
    """Read the named columns (default: all), all of which must be numbers.

    `file` is open, at `path` if it has one; `source` is what messages call it.

    Decimal commas are assumed if every number of some column fits them and no column has decimal points.
    The file is read once to check its encoding and once to parse it; if decimal commas are detected, it is
    parsed twice.
    """
    csv_file = _CsvFile.detect(file, path, source, given, layout)
    decimal = given.decimal or "."
    with csv_file.refusing_uneven_rows():
        table = csv_file.select(csv_file.parse(decimal), columns)
        if given.decimal is None and csv_file.delimiter != "," and has_decimal_commas(table):
            decimal = ","
            table = csv_file.select(csv_file.parse(decimal), columns)
        if has_hexadecimals(file, csv_file.encoding):
            table = _without_hexadecimals(table, csv_file.select(csv_file.parse_text(), columns))
    require_numeric_columns(table, decimal, csv_file.delimiter)
    return table


def read_csv_as_text(
    file: BinaryIO, path: Path | None, source: str, given: CsvFormat, layout: Layout
) -> tuple[pa.Table, CsvFormat, CsvLook]:
    """Read all columns as text, null where a field is empty; and how the file is written."""
    csv_file = _CsvFile.detect(file, path, source, given, layout)
    with csv_file.refusing_uneven_rows():
        table = csv_file.select(csv_file.parse_text(), None)
    decimal = given.decimal or ("." if csv_file.delimiter == "," else detect_decimal(table))
    sample = read_sample(file, csv_file.encoding)
    look = detect_look(
        sample[offset_after_lines(sample, csv_file.above) :], csv_file.delimiter, table.column_names
    )
    return table, CsvFormat(csv_file.delimiter, csv_file.encoding_with_mark(), decimal), look


def read_csv_again(file: BinaryIO, path: Path, source: str, known: CsvFormat) -> pa.Table:
    """Read all columns as text of a file whose format is known: nothing is detected."""
    if known.delimiter is None or known.encoding is None:
        raise wording.contract_broken("read_back", "the format of the CSV file is not given")
    encoding = detect_encoding(file, source, known.encoding)
    csv_file = _CsvFile(file, path, source, encoding, known.delimiter, has_quotes(file, encoding))
    with csv_file.refusing_uneven_rows():
        return select_columns(csv_file.parse_text(), None)


@dataclass(frozen=True, slots=True)
class _CsvFile:
    """A CSV file whose encoding, delimiter and header are known, but not its decimal sign."""

    file: BinaryIO
    path: Path | None
    source: str
    encoding: str
    delimiter: str
    quoted: bool
    above: int = 0
    """Lines above the names."""
    named: bool = True
    """Whether the first row holds the names."""

    @classmethod
    def detect(
        cls, file: BinaryIO, path: Path | None, source: str, given: CsvFormat, layout: Layout
    ) -> _CsvFile:
        """`DataError` for a file that is no CSV, has no records, or has no header where it should."""
        encoding = detect_encoding(file, source, given.encoding)
        above = (layout.header_row or 1) - 1
        sample = read_sample(file, encoding)
        if "\0" in sample or has_zero_bytes(file, encoding):
            raise wording.not_text(source)
        if above and not sample[offset_after_lines(sample, above) :].strip():
            raise wording.no_such_row(source, above + 1)
        sample = sample[offset_after_lines(sample, above) :]
        if not sample.strip():
            raise wording.no_records()
        try:
            delimiter = detect_delimiter(sample, source, given.delimiter)
            rows = parse_rows(sample, delimiter)
        except csv.Error:
            raise wording.field_too_long(source, csv.field_size_limit()) from None
        named = layout.header != "no" or are_numbered_names([_clean_name(text) for text in rows[0]])
        if len(rows) < (2 if named else 1):
            raise wording.no_records()
        if layout.header is None:
            if len(rows[0]) == 1 and layout.header_row is None:
                below = find_row_below_titles(sample, given.delimiter or DELIMITERS)
                if below is not None:
                    raise wording.title_above_names(source, below)
            refuse_record_as_names(
                rows[0], parse_rows(sample, delimiter, ROWS_COMPARED + 1)[1:], source, above + 1
            )
        if delimiter == given.decimal == ",":
            raise wording.comma_twice()
        return cls(file, path, source, encoding, delimiter, has_quotes(file, encoding), above, named)

    def select(self, table: pa.Table, columns: Sequence[str] | None) -> pa.Table:
        return select_columns(table, columns, self.above + 1)

    def encoding_with_mark(self) -> str:
        """The encoding's name, which for UTF-8 differs where the file has a byte order mark."""
        if self.encoding == "utf-8-sig":
            return "utf-8-sig" if has_byte_order_mark(self.file) else "utf-8"
        return self.encoding

    def parse(self, decimal: str) -> pa.Table:
        """Columns of the types that Arrow detects, with this decimal sign."""
        names = None if self.named else numbered_names(self._width())
        table = self._read(
            arrow.ReadOptions(column_names=names), arrow.ConvertOptions(decimal_point=decimal)
        )
        return table.rename_columns([_clean_name(name) for name in table.column_names])

    def parse_text(self) -> pa.Table:
        # The header is read as a record: Arrow needs the types by name before it has read the names.
        width = self._width()
        types = {f"f{at}": pa.large_string() for at in range(width)}
        table = self._read(
            arrow.ReadOptions(autogenerate_column_names=True),
            arrow.ConvertOptions(column_types=types, strings_can_be_null=True, null_values=[""]),
        )
        if not self.named:
            return table.rename_columns(numbered_names(width))
        names = [_clean_name(column[0].as_py() or "") for column in table.columns]
        return table.slice(1).rename_columns(names)

    def _width(self) -> int:
        sample = read_sample(self.file, self.encoding)
        rows = parse_rows(sample[offset_after_lines(sample, self.above) :], self.delimiter, 1)
        if not rows:
            raise wording.no_records()
        return len(rows[0])

    def _read(self, read: object, convert: object) -> pa.Table:
        """Let Arrow read, without giving it any Python object, neither a file nor a function to call.

        Its threads may release such objects while Python exits, which can abort the process.
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
        """The file in UTF-8, from the row of the names on."""
        text = transcode_to_utf_8(self.file, self.encoding)
        return text.slice(byte_offset_after_lines(memoryview(text), self.above))

    @contextmanager
    def refusing_uneven_rows(self) -> Iterator[None]:
        """Raise `DataError` in place of Arrow's exceptions, whose messages quote values."""
        try:
            yield
        except MemoryError:  # Arrow's is one of its own exceptions too, but does not concern the file
            raise
        except pa.ArrowException as refusal:
            if is_shortage(refusal):
                raise MemoryError from None
            try:
                uneven, fields = count_uneven_rows(self.file, self.encoding, self.delimiter, self.above)
            except csv.Error:
                raise wording.field_too_long(self.source, csv.field_size_limit()) from None
            raise (
                wording.uneven_rows(self.source, uneven, fields, self.delimiter)
                if uneven
                else wording.unreadable_content(self.source, "CSV")
            ) from None


def _without_hexadecimals(table: pa.Table, text: pa.Table) -> pa.Table:
    """Replace columns in which Arrow has taken 0x1F and the like for integers by their text."""
    for at, name in enumerate(table.column_names):
        if count_matches(text.column(at), HEXADECIMAL):
            table = table.set_column(at, name, text.column(at))
    return table


def _clean_name(text: str) -> str:
    return text.strip().removeprefix("\ufeff")
