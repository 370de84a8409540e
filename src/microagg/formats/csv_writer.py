"""Arrow table -> CSV, in the dialect of the source."""

from __future__ import annotations

import codecs
from typing import Any, BinaryIO

import pyarrow as pa
from pyarrow import compute

from microagg import wording
from microagg.arrow_types import is_binary
from microagg.arrow_values import from_texts, scalar
from microagg.formats.format import Output
from microagg.model import CsvFormat, CsvLook

DEFAULT_CSV_FORMAT = CsvFormat(",", "utf-8", ".")
"""Of a release whose source is no CSV file."""

_PLAIN_LOOK = CsvLook()
_ROWS_AT_ONCE = 1 << 16
_LARGEST_EXACT_INT = 2.0**53


def write(table: pa.Table, output: Output) -> None:
    with output.path.open("wb") as file:
        write_csv(table, file, output.name, output.csv or DEFAULT_CSV_FORMAT, output.source.csv_look)


def write_csv(
    table: pa.Table,
    file: BinaryIO,
    path: str = "",
    csv_format: CsvFormat = DEFAULT_CSV_FORMAT,
    look: CsvLook = _PLAIN_LOOK,
) -> None:
    """Write text unchanged, quoted where it must be or where the source's column is; numbers in the fewest
    digits that give the same number; missing values as empty fields.

    `DataError` for columns that are no scalars and for letters that the encoding lacks.
    """
    delimiter, encoding = csv_format.delimiter, csv_format.encoding
    for field in table.schema:
        kind = field.type
        stored = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
        if pa.types.is_nested(stored) or pa.types.is_interval(stored) or is_binary(stored):
            raise wording.unwritable_column("CSV", field.name, f"values of type {kind}")
    padded = [name for name in table.column_names if name != name.strip()]
    if padded:
        raise wording.bad_names_for("CSV", padded, "names without blanks around them")
    encoder = _Encoder(encoding, path, delimiter, look.line_end)
    always = [name in look.quoted_columns for name in table.column_names]
    header = [from_texts([name]) for name in table.column_names]
    file.write(encoder.begin())
    header_fields = [_quote(name, delimiter, look.quoted_header) for name in header]
    file.write(encoder.encode(header_fields, table.column_names))
    for part in (pa.Table.from_batches([b]) for b in table.to_batches(_ROWS_AT_ONCE)):
        fields = [
            _quote(_to_text(column, csv_format.decimal), delimiter, quotes, look.quoted_gaps)
            for column, quotes in zip(part.columns, always, strict=True)
        ]
        file.write(encoder.encode(fields, table.column_names))
    file.write(encoder.end())


class _Encoder:
    """Encodes rows of text, with a byte order mark if the encoding has one."""

    def __init__(self, encoding: str, path: str, delimiter: str, line_end: str) -> None:
        self._encoding, self._path, self._delimiter, self._line_end = encoding, path, delimiter, line_end
        self._utf_8 = codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
        self._state = codecs.getincrementalencoder(encoding)()

    def begin(self) -> bytes:
        return codecs.BOM_UTF8 if codecs.lookup(self._encoding).name == "utf-8-sig" else b""

    def encode(self, fields: list[pa.Array[Any]], names: list[str]) -> bytes | memoryview:
        rows = _join_rows(fields, self._delimiter, self._line_end)
        if self._utf_8:
            return rows
        try:
            return self._state.encode(str(rows, "utf-8"))
        except UnicodeEncodeError:
            guilty = next(name for name, field in zip(names, fields, strict=True) if not self._fits(field))
            raise wording.not_encodable(self._path, guilty, self._encoding) from None

    def _fits(self, field: pa.Array[Any]) -> bool:
        try:
            str(_join_rows([field], self._delimiter, self._line_end), "utf-8").encode(self._encoding)
        except UnicodeEncodeError:
            return False
        return True

    def end(self) -> bytes:
        return b"" if self._utf_8 else self._state.encode("", final=True)


def _to_text(column: pa.ChunkedArray[Any], decimal: str) -> pa.Array[Any]:
    """Values as text, "" where they are missing."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    array: pa.Array[Any] = pa.concat_arrays(column.chunks)
    if pa.types.is_floating(array.type):
        array = _shortest_digits(array)
    array = array.cast(pa.large_string())
    if decimal != "." and (pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)):
        array = compute.replace_substring(array, ".", decimal)
    return array.fill_null(_scalar(""))


def _shortest_digits(numbers: pa.Array[Any]) -> pa.Array[Any]:
    """Arrow's shortest digits; integers without exponent, decimal sign or negative zero."""
    numbers = compute.if_else(compute.is_nan(numbers), scalar(None, numbers.type), numbers)
    whole = compute.and_(
        compute.equal(compute.floor(numbers), numbers),
        compute.less(compute.abs(numbers), scalar(_LARGEST_EXACT_INT, numbers.type)),
    )
    digits = numbers.cast(pa.large_string())
    if not compute.any(whole).as_py():
        return digits
    wholes = compute.if_else(whole, numbers, scalar(None, numbers.type)).cast(pa.int64())
    return compute.coalesce(wholes.cast(pa.large_string()), digits)


def _quote(text: pa.Array[Any], delimiter: str, always: bool, gaps: bool = True) -> pa.Array[Any]:
    """Quote fields that contain a delimiter, a quote or a line break; or all of them if `always`, and then
    empty ones too if `gaps`.
    """
    if always:
        special = compute.or_(compute.not_equal(text, _scalar("")), scalar(gaps, pa.bool_()))
    else:
        special = compute.match_substring(text, delimiter)
        for sign in '"\n\r':
            special = compute.or_(special, compute.match_substring(text, sign))
    if not compute.any(special).as_py():
        return text
    doubled = compute.replace_substring(text, '"', '""')
    quoted = _join(_scalar('"'), doubled, _scalar('"'), separator="")
    result: pa.Array[Any] = compute.if_else(special, quoted, text)
    return result


def _scalar(text: str) -> Any:
    return scalar(text, pa.large_string())


def _join(*parts: Any, separator: str) -> pa.Array[Any]:
    joined: pa.Array[Any] = compute.binary_join_element_wise(*parts, _scalar(separator))
    return joined


def _join_rows(fields: list[pa.Array[Any]], delimiter: str, line_end: str) -> memoryview:
    """The rows as bytes: the buffer of an Arrow array whose values are lines."""
    if len(fields) == 1:  # an empty line would be no record
        empty = compute.equal(fields[0], _scalar(""))
        fields = [compute.if_else(empty, _scalar('""'), fields[0])]
    lines = _join(_join(*fields, separator=delimiter), _scalar(""), separator=line_end)
    offsets, data = lines.buffers()[1:]
    if offsets is None or data is None:
        return memoryview(b"")
    ends = memoryview(offsets).cast("q")
    return memoryview(data)[ends[lines.offset] : ends[lines.offset + len(lines)]]
