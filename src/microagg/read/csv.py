"""CSV -> Arrow table. Arrow parses; what it is told comes from the user or from a sample."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from microagg import errors
from microagg.model import CsvFormat
from microagg.read.columns import (
    COMMA_THOUSANDS,
    WHOLE_OR_COMMA_NUMBER,
    chosen,
    is_text,
    matching,
    refuse_values_as_names,
    refuse_what_is_no_number,
)
from microagg.read.dialect import delimiter_of, encoding_of, in_utf_8, rows_of, sample_of, uneven_rows

if TYPE_CHECKING:
    import pyarrow as pa


def read_csv(
    file: BinaryIO, path: Path | None, source: str, columns: Sequence[str] | None, given: CsvFormat
) -> pa.Table:
    """The named columns (default: all), all of them of numbers.

    `file` is open, at `path` if it has one; `source` is what messages call it.

    A decimal comma is taken if every number of some column reads that way and no column has decimal points.
    The file is read once to check its encoding and once to parse it; with decimal commas that were not
    announced it is parsed twice.
    """
    import pyarrow as pa

    encoding = encoding_of(file, source, given.encoding)
    sample = sample_of(file, encoding)
    if "\0" in sample:
        raise errors.not_text(source)
    if not sample.strip():
        raise errors.no_records()
    try:
        delimiter = delimiter_of(sample, source, given.delimiter)
        rows = rows_of(sample, delimiter)
    except csv.Error:  # a quote that is never closed makes a field too long
        raise errors.unreadable_content(source, "CSV") from None
    if len(rows) < 2:
        raise errors.no_records()
    refuse_values_as_names([name.strip() for name in rows[0]], source)
    if delimiter == given.decimal == ",":
        raise errors.comma_twice()
    content = str(path) if path is not None and encoding == "utf-8-sig" else in_utf_8(file, encoding)
    parser = _Parser(content, delimiter, quoted='"' in sample)
    decimal = given.decimal or "."
    try:
        table = chosen(parser.parse(decimal), columns)
        if given.decimal is None and delimiter != "," and _has_decimal_commas(table):
            decimal = ","
            table = chosen(parser.parse(decimal), columns)
    except pa.ArrowException:  # its words quote values
        uneven = uneven_rows(file, encoding, delimiter)
        raise (
            errors.uneven_rows(source, uneven, len(rows[0]), delimiter)
            if uneven
            else errors.unreadable_content(source, "CSV")
        ) from None
    refuse_what_is_no_number(table, decimal, delimiter)
    return table


@dataclass(frozen=True, slots=True)
class _Parser:
    """Arrow's parser for one file.

    Arrow is never given a Python object, neither a file nor a function to call: its threads may let go of
    those while Python exits, which can abort the process.
    """

    content: str | pa.Buffer
    """The path of a file in UTF-8, or such a file in memory."""
    delimiter: str
    quoted: bool

    def parse(self, decimal: str) -> pa.Table:
        import pyarrow as pa
        from pyarrow import csv as arrow

        table = arrow.read_csv(
            # The types of pyarrow leave its own readers out.
            self.content if isinstance(self.content, str) else pa.BufferReader(self.content),  # type: ignore[arg-type]
            parse_options=arrow.ParseOptions(
                delimiter=self.delimiter,
                newlines_in_values=self.quoted,  # slower, and needless without quotes
            ),
            convert_options=arrow.ConvertOptions(decimal_point=decimal),
        )
        return table.rename_columns([name.strip().removeprefix("\ufeff") for name in table.column_names])


def _has_decimal_commas(table: pa.Table) -> bool:
    """Whether the commas of some column of text can only be decimal signs.

    `DataError` if there are but commas that may as well separate thousands.
    """
    from pyarrow import compute

    doubtful = None
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not is_text(column.type):
            continue
        values = column.drop_null()
        with_comma = values.filter(compute.match_substring(values, ","))
        if len(with_comma) == 0 or matching(values, WHOLE_OR_COMMA_NUMBER) < len(values):
            continue
        if matching(with_comma, COMMA_THOUSANDS) < len(with_comma):
            return True
        doubtful = doubtful or (name, len(with_comma))
    if doubtful:
        raise errors.doubtful_commas(*doubtful, table.num_rows)
    return False
