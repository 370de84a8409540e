"""CSV, and other text with a delimiter. Arrow parses; its options come from the user or from a sample."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
from pyarrow import csv as arrow

from microagg import wording
from microagg.columns import detect_decimal
from microagg.formats.csv_dialect import (
    DELIMITERS,
    count_uneven_rows,
    detect_delimiter,
    detect_encoding,
    detect_look,
    find_row_below_titles,
    has_quotes,
    has_zero_bytes,
    offset_after_lines,
    parse_rows,
    parse_rows_to_long_field,
    read_sample,
    transcode_to_utf_8,
)
from microagg.formats.csv_writer import write
from microagg.formats.first_row import (
    ROWS_COMPARED,
    are_numbered_names,
    numbered_names,
    refuse_record_as_names,
)
from microagg.formats.format import Content, Format, Source
from microagg.model import CSV_OPTIONS, CsvFormat
from microagg.process import is_shortage


def read(source: Source) -> Content:
    """Read all columns as text, null where a field is empty; and how the file is written.

    The file is read once to check its encoding and once to parse it.
    """
    written = source.written_as
    csv_file = _CsvFile.detect(source) if written is None else _CsvFile.as_written(source, written)
    with csv_file.refusing_uneven_rows():
        table = csv_file.parse()
    decimal = source.layout.decimal if written is None else written.decimal
    decimal = decimal or ("." if csv_file.delimiter == "," else detect_decimal(table))
    look = detect_look(csv_file.sample(), csv_file.delimiter, table.column_names)
    csv_format = CsvFormat(csv_file.delimiter, csv_file.encoding_with_mark(), decimal)
    return Content(table, header_row=csv_file.above + 1, csv=csv_format, csv_look=look)


@dataclass(frozen=True, slots=True)
class _CsvFile:
    """A CSV file whose encoding, delimiter and header are known, but not its decimal sign."""

    source: Source
    encoding: str
    delimiter: str
    quoted: bool
    above: int = 0
    """Lines above the names."""
    named: bool = True
    """Whether the first row holds the names."""

    @classmethod
    def as_written(cls, source: Source, csv_format: CsvFormat) -> _CsvFile:
        """Nothing is detected."""
        encoding = detect_encoding(source.file, source.name, csv_format.encoding)
        return cls(source, encoding, csv_format.delimiter, has_quotes(source.file, encoding))

    @classmethod
    def detect(cls, source: Source) -> _CsvFile:
        """`DataError` for a file that is no CSV, has no records, or has no header where it should."""
        file, name, layout = source.file, source.name, source.layout
        encoding = detect_encoding(file, name, layout.encoding)
        above = (layout.header_row or 1) - 1
        sample = read_sample(file, encoding)
        if "\0" in sample or has_zero_bytes(file, encoding):
            raise wording.not_text(name)
        sample = sample[offset_after_lines(sample, above) :]
        if not sample.strip():
            raise wording.no_such_row(name, above + 1) if above else wording.no_records()
        try:
            delimiter = detect_delimiter(sample, name, layout.delimiter)
            rows = parse_rows(sample, delimiter)
        except csv.Error:
            raise wording.field_too_long(name, csv.field_size_limit()) from None
        named = layout.header != "no" or are_numbered_names([_clean_name(text) for text in rows[0]])
        if len(rows) < (2 if named else 1):
            raise wording.no_records()
        if layout.header is None:
            if len(rows[0]) == 1 and layout.header_row is None:
                below = find_row_below_titles(sample, layout.delimiter or DELIMITERS)
                if below is not None:
                    raise wording.title_above_names(name, below)
            records = parse_rows_to_long_field(sample, delimiter, ROWS_COMPARED + 1)[1:]
            refuse_record_as_names(rows[0], records, name, above + 1)
        if delimiter == layout.decimal == ",":
            raise wording.comma_twice()
        return cls(source, encoding, delimiter, has_quotes(file, encoding), above, named)

    def sample(self) -> str:
        """The beginning of the file, from the row of the names on."""
        sample = read_sample(self.source.file, self.encoding)
        return sample[offset_after_lines(sample, self.above) :]

    def encoding_with_mark(self) -> str:
        """The encoding's name, which for UTF-8 differs where the file has a byte order mark."""
        self.source.file.seek(0)
        marked = self.source.file.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8
        return "utf-8" if self.encoding == "utf-8-sig" and not marked else self.encoding

    def parse(self) -> pa.Table:
        # The header is read as a record: Arrow needs the types by name before it has read the names.
        rows = parse_rows(self.sample(), self.delimiter, 1)
        if not rows:
            raise wording.no_records()
        width = len(rows[0])
        types = {f"f{at}": pa.large_string() for at in range(width)}
        table = self._read(
            arrow.ReadOptions(autogenerate_column_names=True),
            arrow.ConvertOptions(column_types=types, strings_can_be_null=True, null_values=[""]),
        )
        if self.quoted and self._ends_inside_quotes(table):
            raise wording.unclosed_quote(self.source.name)
        if not self.named:
            return table.rename_columns(numbered_names(width))
        names = [_clean_name(column[0].as_py() or "") for column in table.columns]
        return table.slice(1).rename_columns(names)

    def _read(self, read: object, convert: object) -> pa.Table:
        """Let Arrow read, without giving it any Python object, neither a file nor a function to call.

        Its threads may release such objects while Python exits, which can abort the process.
        """
        in_place = self.source.path is not None and self.encoding == "utf-8-sig" and self.above == 0
        content = str(self.source.path) if in_place else pa.BufferReader(self._text())
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
        text = transcode_to_utf_8(self.source.file, self.encoding)
        return text.slice(offset_after_lines(memoryview(text), self.above))

    def _ends_inside_quotes(self, table: pa.Table) -> bool:
        """Whether the last field of all, as Arrow read it, has a quote before it and none behind.

        Arrow takes all that follows such a quote as one field, records included.
        """
        last = table.columns[-1][-1].as_py() or ""
        field = '"' + last.replace('"', '""')
        length = len(field.encode()) + 1
        if self.encoding == "utf-8-sig":
            file = self.source.file
            file.seek(max(file.seek(0, io.SEEK_END) - length, 0))
            end = file.read()
        else:
            end = memoryview(self._text())[-length:].tobytes()
        before = self.delimiter if table.num_columns > 1 else "\r\n"
        return any(end == (sign + field).encode() for sign in before)

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
                uneven, fields = count_uneven_rows(
                    self.source.file, self.encoding, self.delimiter, self.above
                )
            except csv.Error:
                raise wording.field_too_long(self.source.name, csv.field_size_limit()) from None
            raise (
                wording.uneven_rows(self.source.name, uneven, fields, self.delimiter)
                if uneven
                else wording.unreadable_content(self.source.name, "CSV")
            ) from None


def _clean_name(text: str) -> str:
    return text.strip().removeprefix("\ufeff")


FORMATS = (
    Format(
        "CSV",
        re.compile(rb"[\t\n\r\f\x20-\xff]*\Z"),
        read,
        write,
        options=(*CSV_OPTIONS, "header", "header_row"),
    ),
)
