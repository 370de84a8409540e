"""What forms send: fields, and files that are written to a private folder while they arrive."""

from __future__ import annotations

import errno
import os
import re
import shutil
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO
from urllib.parse import parse_qsl

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import Request

from microagg import wording

MOST_BYTES = 8_000_000_000
LONGEST_NAME = 120
MOST_OF_A_FORM = 16_000_000
"""Bytes of a form without files."""
MOST_FIELDS = 100_000


async def fields_of(request: Request) -> dict[str, str]:
    """The fields of a form without files; `SettingsError` for what is none."""
    body = b""
    async for block in request.stream():
        body += block
        if len(body) > MOST_OF_A_FORM:
            raise wording.form_unusable()
    try:
        pairs = parse_qsl(
            body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"
        )
    except ValueError:
        raise wording.form_unusable() from None
    return dict(pairs)


async def receive_file(request: Request, place: Path) -> str:
    """Write the file of a form into this folder; its name, or nothing if none was chosen."""
    expected = request.headers.get("content-length", "")
    if expected.isdecimal() and int(expected) > MOST_BYTES:
        raise wording.upload_too_large(MOST_BYTES)
    if expected.isdecimal() and int(expected) > shutil.disk_usage(place).free:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"multipart/form-data" or b"boundary" not in options:
        raise wording.form_unusable()
    part = _Part(place)
    callbacks = {
        "on_part_begin": part.begin,
        "on_header_field": part.add_to_header,
        "on_header_value": part.add_to_value,
        "on_header_end": part.end_header,
        "on_headers_finished": part.open,
        "on_part_data": part.write,
        "on_part_end": part.close,
        "on_end": part.finish,
    }
    parser = MultipartParser(options[b"boundary"], callbacks)  # type: ignore[arg-type]  # a dict of functions
    received = 0
    try:
        async for block in request.stream():
            received += len(block)
            if received > MOST_BYTES:
                raise wording.upload_too_large(MOST_BYTES)
            parser.write(block)
    except MultipartParseError:
        raise wording.form_unusable() from None
    finally:
        part.close()
    if not part.is_whole:
        raise wording.upload_incomplete()
    return part.name


@dataclass
class _Part:
    """The part of a form that is arriving; the first file among them is written."""

    place: Path
    name: str = ""
    is_whole: bool = False
    _header: bytes = b""
    _value: bytes = b""
    _headers: dict[bytes, bytes] = field(default_factory=dict)
    _file: BinaryIO | None = None

    def begin(self) -> None:
        self._headers = {}

    def add_to_header(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def add_to_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def end_header(self) -> None:
        self._headers[self._header.lower()] = self._value
        self._header = self._value = b""

    def open(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        given = options.get(b"filename", b"").decode("utf-8", "replace")
        if given and not self.name:
            self.name = safe_name(given)
            self._file = (self.place / self.name).open("xb")

    def write(self, data: bytes, start: int, end: int) -> None:
        if self._file is not None:
            self._file.write(data[start:end])

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def finish(self) -> None:
        self.is_whole = True


def safe_name(name: str) -> str:
    """The last part of a path without signs that mean something to a file system or a terminal."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    kept = "".join(sign if sign.isprintable() and sign not in '<>:"|?*' else "_" for sign in last)
    stem, ending = Path(kept).stem.lstrip(".-~ ") or "data", Path(kept).suffix
    return stem[: LONGEST_NAME - len(ending)] + ending
