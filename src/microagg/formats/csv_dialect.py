"""How a CSV file is written: its encoding and delimiter, given or detected, its quotes and line ends."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, BinaryIO

import pyarrow as pa

from microagg import wording
from microagg.model import CsvLook

DELIMITERS = ";,\t|"  # the first one for a single column, in which commas may be decimal signs
_OTHER_SIGNS = ": ^~!#&/\\"  # not supported; looked for to explain a refusal
_SAMPLE_BYTES = 1 << 20
_SAMPLE_ROWS = 200
_BLOCK = 1 << 20
_NUMBER = re.compile(r"\s*[-+]?[\d.]+([eE][-+]?\d+)?\s*")
_NUMBER_OR_COMMA = re.compile(r"\s*[-+]?[\d.,]+([eE][-+]?\d+)?\s*")


def detect_encoding(file: BinaryIO, source: str, given: str | None) -> str:
    """Python's name of an encoding in which the whole file can be read; `given`, if that is one.

    Otherwise by its byte order mark, else UTF-8, else Windows-1252. Reads the file once or twice.
    """
    if given is not None:
        try:
            "a".encode(given)  # refuses codecs that are not of text, such as base64
            # A byte order mark does not belong to the first name.
            encoding = "utf-8-sig" if codecs.lookup(given).name == "utf-8" else given
            readable = _decodes(file, encoding)
        except (LookupError, UnicodeError):
            raise wording.unknown_encoding(given) from None
        if not readable:
            raise wording.wrong_encoding(source, given)
        return encoding
    file.seek(0)
    beginning = file.read(_SAMPLE_BYTES)
    if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        candidates = {"utf-16": "UTF-16"}
    elif b"\0" in beginning:
        raise wording.not_text(source)
    else:
        candidates = {"utf-8-sig": "UTF-8", "cp1252": "Windows-1252"}
    for encoding in candidates:
        if _decodes(file, encoding):
            return encoding
    raise wording.no_encoding(source, list(candidates.values()))


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


def transcode_to_utf_8(file: BinaryIO, encoding: str) -> pa.Buffer:
    """The file in UTF-8, in Arrow's own memory."""
    decoder = codecs.getincrementaldecoder(encoding)()
    stream = pa.BufferOutputStream()
    file.seek(0)
    while block := file.read(_BLOCK):
        stream.write(decoder.decode(block).encode(errors="replace"))
    return stream.getvalue()


def has_quotes(file: BinaryIO, encoding: str) -> bool:
    """Whether there may be a quote anywhere; certainly not if its last byte occurs nowhere."""
    return _occurs(file, '"'.encode(encoding)[-1:])


def has_zero_bytes(file: BinaryIO, encoding: str) -> bool:
    """Whether there is a NUL character anywhere, which no text has."""
    if b"\0" not in "a".encode(encoding):
        return _occurs(file, b"\0")
    decoder = codecs.getincrementaldecoder(encoding)()
    file.seek(0)
    return any("\0" in decoder.decode(block) for block in iter(lambda: file.read(_BLOCK), b""))


def _occurs(file: BinaryIO, sought: bytes) -> bool:
    file.seek(0)
    end = b""
    while block := file.read(_BLOCK):
        if sought in block or sought in end + block[: len(sought)]:
            return True
        end = block[-len(sought) :]
    return False


def count_uneven_rows(file: BinaryIO, encoding: str, delimiter: str, above: int = 0) -> tuple[int, int]:
    """How many rows have more or fewer fields than the header, and how many fields the header has.

    `above`: lines before the header, which do not count. Slow: for files that were refused. `csv.Error`
    for a field that has no end.
    """
    file.seek(0)
    text = io.TextIOWrapper(file, encoding, newline="")
    try:
        for _ in range(above):
            text.readline()
        widths = (len(row) for row in csv.reader(text, delimiter=delimiter) if row)
        header = next(widths)
        return sum(width != header for width in widths), header
    finally:
        text.detach()  # else it would close the file


def read_sample(file: BinaryIO, encoding: str) -> str:
    """Whole lines from the beginning of the file, without byte order mark."""
    file.seek(0)
    beginning = file.read(_SAMPLE_BYTES)
    complete = not file.read(1)
    text = codecs.getincrementaldecoder(encoding)().decode(beginning).removeprefix("\ufeff")
    return text if complete else text[: max(text.rfind("\n"), text.rfind("\r")) + 1] or text


def parse_rows(sample: str, delimiter: str, most: int = _SAMPLE_ROWS) -> list[list[str]]:
    """The first rows of a sample that are not blank."""
    return [row for _, row in islice(_numbered_rows(sample, delimiter), most)]


def parse_rows_to_long_field(sample: str, delimiter: str, most: int) -> list[list[str]]:
    """The same, but only rows before one with a field that Python's csv module finds too long."""
    return [row for _, row in _rows_to_long_field(sample, delimiter, most)]


def _rows_to_long_field(sample: str, delimiter: str, most: int) -> Iterator[tuple[int, list[str]]]:
    with suppress(csv.Error):
        yield from islice(_numbered_rows(sample, delimiter), most)


def _numbered_rows(sample: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, with the numbers of the lines in which they begin."""
    rows = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
    line = 1
    for row in rows:
        if len(row) > 1 or "".join(row).strip():
            yield line, row
        line = rows.line_num + 1


def offset_after_lines(text: str | memoryview, count: int) -> int:
    """Where the text, or text in UTF-8, after the first `count` lines begins."""
    if count == 0:
        return 0
    line_end: Any = "\r\n|\r|\n" if isinstance(text, str) else rb"\r\n|\r|\n"
    last: Any = next(islice(re.finditer(line_end, text), count - 1, None), None)
    return len(text) if last is None else int(last.end())


def find_row_below_titles(sample: str, signs: str) -> int | None:
    """The line of the names, if a title of a single field stands above a table.

    A table has rows of the same length below names that are no numbers, and some column of numbers.
    """
    for sign in signs:
        rows = list(_rows_to_long_field(sample, sign, _SAMPLE_ROWS))
        start = next((at for at, (_, row) in enumerate(rows) if len(row) > 1), 0)
        if start == 0:
            continue
        line, names = rows[start]
        records = [row for _, row in rows[start + 1 :]]
        if not records or any(len(row) != len(names) for row in records):
            continue
        numeric = any(
            all(_NUMBER.fullmatch(value) for value in column) for column in zip(*records, strict=True)
        )
        if numeric and not any(_NUMBER.fullmatch(name) for name in names):
            return line
    return None


def detect_delimiter(sample: str, source: str, given: str | None) -> str:
    """The sign between the fields; `given`, unless the header shows that it is another one.

    For a file with a single column, any sign that does not occur. By a wrong sign a long line is one field,
    which may be too long; `csv.Error` if one is too long by the right sign.
    """
    found = max(DELIMITERS, key=lambda sign: _score(sample, sign))
    separated = _most_fields(parse_rows(sample, found)) > 1
    if given is not None:
        if separated and _most_fields(parse_rows_to_long_field(sample, given, 1)) <= 1:
            raise wording.wrong_delimiter(source, given, found)
        return given
    for sign in "" if separated else _OTHER_SIGNS:
        widths = {len(row) for row in _rows_or_none(sample, sign)}
        if len(widths) == 1 and widths != {1}:
            raise wording.unknown_delimiter(source, sign, widths.pop())
    return found


def _most_fields(rows: list[list[str]]) -> int:
    return len(rows[0]) if rows else 0


def _rows_or_none(sample: str, delimiter: str) -> list[list[str]]:
    """The first rows of a sample; none if a field would be too long."""
    try:
        return parse_rows(sample, delimiter)
    except csv.Error:
        return []


def _score(sample: str, delimiter: str) -> tuple[bool, bool, float, float, int]:
    """Score of a delimiter: no field is too long, more than one of them, as many in each row as in the
    header, many numbers.
    """
    rows = _rows_or_none(sample, delimiter)
    width = _most_fields(rows)
    number = _NUMBER if delimiter == "," else _NUMBER_OR_COMMA
    cells = [cell for row in rows[1:] for cell in row]
    regular = sum(len(row) == width for row in rows) / max(len(rows), 1)
    numeric = sum(number.fullmatch(cell) is not None for cell in cells) / max(len(cells), 1)
    return bool(rows), width > 1, regular, numeric, width


def detect_look(sample: str, delimiter: str, names: Sequence[str]) -> CsvLook:
    """How lines end and what is quoted, judged by the first rows of a sample.

    A column counts as quoted if all of its values are, at least one of them without need. Missing values
    count as quoted if all those of quoted columns are; if there are none, if every column is quoted.
    """
    rows = list(islice(_unparsed_rows(sample, delimiter), _SAMPLE_ROWS))
    header, records = rows[0][0], [fields for fields, _ in rows[1:] if len(fields) == len(names)]
    columns = {name: [fields[at] for fields in records] for at, name in enumerate(names)}
    quoted = tuple(name for name, fields in columns.items() if _is_quoted(fields, delimiter))
    gaps = [field for name in quoted for field in columns[name] if not field.strip('"')]
    return CsvLook(
        rows[0][1] or "\n",
        quoted,
        _is_quoted(header, delimiter),
        all(gaps) if gaps else len(quoted) == len(names),
    )


def _is_quoted(fields: list[str], delimiter: str) -> bool:
    """Whether all fields that are not empty are quoted, at least one of them without need."""
    filled = [field for field in fields if field.strip('"')]
    if not all(field.startswith('"') for field in filled):
        return False
    return any(not set(field[1:-1]) & {delimiter, '"', "\n", "\r"} for field in filled)


def _unparsed_rows(sample: str, delimiter: str) -> Iterator[tuple[list[str], str]]:
    """The fields of each row as they are written, with their quotes, and the line break after it."""
    fields: list[str] = []
    start, inside = 0, False
    for found in re.finditer(rf'"|{re.escape(delimiter)}|\r\n|\n|\r', sample):
        sign = found[0]
        if sign == '"':
            inside = not inside if inside or found.start() == start else inside
        elif not inside:
            fields.append(sample[start : found.start()])
            start = found.end()
            if sign != delimiter:
                if fields != [""]:
                    yield fields, sign
                fields = []
    if start < len(sample) or fields:
        yield [*fields, sample[start:]], ""
