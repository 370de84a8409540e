"""How a CSV file is written: its encoding and its delimiter, given or found from a sample."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO

from microagg import errors

if TYPE_CHECKING:
    import pyarrow as pa

DELIMITERS = ";,\t|"  # the first one for a single column, in which commas may be decimal signs
_OTHER_SIGNS = ": ^~!#&/\\"  # only looked for to say what is the matter
_SAMPLE_BYTES = 1 << 18
_SAMPLE_ROWS = 200
_BLOCK = 1 << 20
_NUMBER = re.compile(r"\s*[-+]?[\d.]+([eE][-+]?\d+)?\s*")
_NUMBER_OR_COMMA = re.compile(r"\s*[-+]?[\d.,]+([eE][-+]?\d+)?\s*")


def encoding_of(file: BinaryIO, source: str, given: str | None) -> str:
    """Python's name of an encoding in which the whole file can be read; `given`, if that is one.

    Else by its byte order mark, else UTF-8, else Windows-1252. Reads the file once, or twice.
    """
    if given is not None:
        try:
            "a".encode(given)  # refuses codecs that are not of text, such as base64
            # The file's mark, if it has one, is no part of the first name.
            encoding = "utf-8-sig" if codecs.lookup(given).name == "utf-8" else given
            readable = _decodes(file, encoding)
        except (LookupError, UnicodeError):
            raise errors.unknown_encoding(given) from None
        if not readable:
            raise errors.wrong_encoding(source, given)
        return encoding
    file.seek(0)
    beginning = file.read(_SAMPLE_BYTES)
    if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        candidates = ["utf-16"]
    elif b"\0" in beginning:
        raise errors.not_text(source)
    else:
        candidates = ["utf-8-sig", "cp1252"]
    for encoding in candidates:
        if _decodes(file, encoding):
            return encoding
    raise errors.no_encoding(source, candidates)


def _decodes(file: BinaryIO, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    file.seek(0)
    try:
        while block := file.read(_BLOCK):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeError:
        return False
    return True


def in_utf_8(file: BinaryIO, encoding: str) -> pa.Buffer:
    """The file in UTF-8, in Arrow's own memory."""
    import pyarrow as pa

    decoder = codecs.getincrementaldecoder(encoding)()
    stream = pa.BufferOutputStream()
    file.seek(0)
    while block := file.read(_BLOCK):
        stream.write(decoder.decode(block).encode(errors="replace"))
    return stream.getvalue()


def has_quotes(file: BinaryIO, encoding: str) -> bool:
    """Whether there may be a quote anywhere: not if its last byte occurs nowhere."""
    sign = '"'.encode(encoding)[-1:]
    file.seek(0)
    while block := file.read(_BLOCK):
        if sign in block:
            return True
    return False


def has_mark(file: BinaryIO) -> bool:
    """Whether a file in UTF-8 begins with a byte order mark."""
    file.seek(0)
    return file.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8


def uneven_rows(file: BinaryIO, encoding: str, delimiter: str) -> tuple[int, int]:
    """How many rows have more or fewer fields than the header, and how many that has.

    Slow: for files that were refused.
    """
    file.seek(0)
    text = io.TextIOWrapper(file, encoding, newline="")
    try:
        widths = (len(row) for row in csv.reader(text, delimiter=delimiter) if row)
        header = next(widths)
        return sum(width != header for width in widths), header
    except csv.Error:  # a field without end
        return 0, 0
    finally:
        text.detach()  # else it would close the file


def sample_of(file: BinaryIO, encoding: str) -> str:
    """Whole lines from the beginning of the file, without byte order mark."""
    file.seek(0)
    beginning = file.read(_SAMPLE_BYTES)
    complete = not file.read(1)
    text = codecs.getincrementaldecoder(encoding)().decode(beginning).removeprefix("\ufeff")
    return text if complete else text[: max(text.rfind("\n"), text.rfind("\r")) + 1] or text


def rows_of(sample: str, delimiter: str) -> list[list[str]]:
    """The first rows of a sample that are not blank."""
    rows = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
    filled: Iterable[list[str]] = (row for row in rows if len(row) > 1 or "".join(row).strip())
    return list(islice(filled, _SAMPLE_ROWS))


def delimiter_of(sample: str, source: str, given: str | None) -> str:
    """The sign between the fields; `given`, unless the header shows that it is another.

    A file of a single column has none: then one that does no harm.
    """
    found = max(DELIMITERS, key=lambda sign: _fit(rows_of(sample, sign), sign))
    separated = _width(rows_of(sample, found)) > 1
    if given is not None:
        if separated and _width(rows_of(sample, given)) == 1:
            raise errors.wrong_delimiter(source, given, found)
        return given
    for sign in "" if separated else _OTHER_SIGNS:
        widths = {len(row) for row in rows_of(sample, sign)}
        if len(widths) == 1 and widths != {1}:
            raise errors.unknown_delimiter(source, sign, widths.pop())
    return found


def _width(rows: list[list[str]]) -> int:
    return len(rows[0]) if rows else 0


def _fit(rows: list[list[str]], delimiter: str) -> tuple[bool, float, float, int]:
    """The larger, the likelier: more than one field, as many in each row as in the header, many numbers."""
    width = _width(rows)
    number = _NUMBER if delimiter == "," else _NUMBER_OR_COMMA
    cells = [cell for row in rows[1:] for cell in row]
    regular = sum(len(row) == width for row in rows) / max(len(rows), 1)
    numeric = sum(number.fullmatch(cell) is not None for cell in cells) / max(len(cells), 1)
    return width > 1, regular, numeric, width
