"""CSV files: their bytes are those of a second serialisation, made of Python's strings."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.types as kinds

from microagg.arrow_values import to_numpy
from microagg.verdict import Finding, refuse
from microagg.verify.values import missing, plain

if TYPE_CHECKING:
    from microagg.verify.files import WrittenFile

_ROWS_AT_ONCE = 1 << 15
_WHOLE = 2.0**53
"""Smaller whole numbers are written without a decimal sign or an exponent."""
_POSITIONAL = (-6, 10)
"""Powers of ten between which other numbers are written without an exponent."""
_PLAIN = (1e-4, 1e10)


def csv_findings(file: WrittenFile) -> list[Finding]:
    """Compare block by block: nothing is held in memory as a whole."""
    try:
        with file.path.open("rb") as written:
            for expected in _serialised(file):
                if written.read(len(expected)) != expected:
                    return [refuse("written_bytes")]
            return [refuse("written_bytes")] if written.read(1) else []
    except UnicodeEncodeError:
        return [refuse("written_bytes")]


def _serialised(file: WrittenFile) -> Iterator[bytes]:
    table, look, csv = file.released, file.origin.csv_look, file.csv
    delimiter, decimal = csv.delimiter or ",", csv.decimal or "."
    encoder = codecs.getincrementalencoder(csv.encoding or "utf-8")()
    header = [
        _quoted(name) if look.quoted_header or _needs_quotes(name, delimiter) else name
        for name in table.column_names
    ]
    yield encoder.encode(_written_lines([[field] for field in header], delimiter, look.line_end))
    quotes = [name in look.quoted_columns for name in table.column_names]
    for start in range(0, table.num_rows, _ROWS_AT_ONCE):
        part = table.slice(start, _ROWS_AT_ONCE)
        columns = [
            _written_fields(column, delimiter, decimal, always, look.quoted_gaps)
            for column, always in zip(part.columns, quotes, strict=True)
        ]
        yield encoder.encode(_written_lines(columns, delimiter, look.line_end))
    yield encoder.encode("", True)


def _written_lines(columns: Sequence[Sequence[str]], delimiter: str, line_end: str) -> str:
    if len(columns) == 1:  # an empty line would be no record
        rows: Any = (field or '""' for field in columns[0])
    else:
        rows = map(delimiter.join, zip(*columns, strict=True))
    return line_end.join([*rows, ""])


def _written_fields(column: Any, delimiter: str, decimal: str, always: bool, gaps: bool) -> list[str]:
    array = plain(column)
    if kinds.is_floating(array.type):
        texts = _number_texts(array)
    else:
        texts = ["" if text is None else text for text in array.cast(pa.large_string()).to_pylist()]
    if decimal != "." and (kinds.is_floating(array.type) or kinds.is_decimal(array.type)):
        texts = [text.replace(".", decimal) for text in texts]
    if always:
        return [_quoted(text) if text or gaps else text for text in texts]
    together = "".join(texts)
    if _needs_quotes(together, delimiter):
        return [_quoted(text) if _needs_quotes(text, delimiter) else text for text in texts]
    return texts


def _needs_quotes(text: str, delimiter: str) -> bool:
    return delimiter in text or '"' in text or "\n" in text or "\r" in text


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _number_texts(array: Any) -> list[str]:
    """Each number in the fewest digits that mean it, "" for NaN and null."""
    gone = missing(array)
    values = to_numpy(array)
    different, codes = np.unique(values, return_inverse=True)
    texts = np.array([*map(number_text, different), ""], dtype=object)
    codes = np.where(gone | np.isnan(values), len(different), codes.reshape(-1))
    found: list[str] = texts[codes].tolist()
    return found


def number_text(value: np.floating[Any]) -> str:
    size = abs(float(value))
    if size < _WHOLE and value == np.floor(value):
        return str(int(value))
    if _PLAIN[0] <= size < _PLAIN[1] and isinstance(value, float):  # a double, which Python shows so too
        return repr(float(value))
    if not np.isfinite(value):
        return "-inf" if value < 0 else "inf"
    digits, exponent = np.format_float_scientific(value, unique=True, trim="-").split("e")
    if _POSITIONAL[0] <= int(exponent) < _POSITIONAL[1]:
        return str(np.format_float_positional(value, unique=True, trim="-"))
    return f"{digits}e{int(exponent):+d}"
