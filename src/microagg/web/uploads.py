"""What forms send: fields, and files that are written to a private folder while they arrive."""

from __future__ import annotations

import errno
import os
import re
import shutil
import unicodedata
from pathlib import Path
from urllib.parse import parse_qsl

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import File, FormParser, parse_options_header
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
        text = body.decode("utf-8")
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"))
    except ValueError:
        raise wording.form_unusable() from None


async def receive_file(request: Request, place: Path) -> Path:
    """Write the file of a form into this folder. `DataError` or `SettingsError` if there is none."""
    expected = request.headers.get("content-length", "")
    if expected.isdecimal() and int(expected) > MOST_BYTES:
        raise wording.upload_too_large(MOST_BYTES)
    if expected.isdecimal() and int(expected) > shutil.disk_usage(place).free:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"multipart/form-data" or b"boundary" not in options:
        raise wording.form_unusable()
    files: list[File] = []
    ends: list[bool] = []
    parser = FormParser(
        "multipart/form-data",
        on_field=None,
        on_file=files.append,
        on_end=lambda: ends.append(True),
        boundary=options[b"boundary"],
        config={"UPLOAD_DIR": str(place), "UPLOAD_DELETE_TMP": False, "MAX_MEMORY_FILE_SIZE": 0},
    )
    try:
        async for block in request.stream():
            parser.write(block)
            if parser.bytes_received > MOST_BYTES:
                raise wording.upload_too_large(MOST_BYTES)
    except FormParserError:
        raise wording.form_unusable() from None
    if not ends:
        raise wording.upload_incomplete()
    sent = next((file for file in files if file.file_name), None)
    if sent is None:
        raise wording.no_file()
    if sent.in_memory:  # it is empty
        sent.flush_to_disk()
    sent.close()
    name = safe_name((sent.file_name or b"").decode("utf-8", "replace"))
    return Path(os.fsdecode(sent.actual_file_name or b"")).rename(place / name)


def safe_name(name: str) -> str:
    """The last part of a path without signs that mean something to a file system or a terminal."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    kept = "".join(sign if sign.isprintable() and sign not in '<>:"|?*' else "_" for sign in last)
    stem, ending = Path(kept).stem.lstrip(".-~ ") or "data", Path(kept).suffix
    return stem[: LONGEST_NAME - len(ending)] + ending
