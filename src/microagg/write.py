"""Files written whole or not at all."""

from __future__ import annotations

import csv
import errno
import json
import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TextIO

from microagg import errors


def check_output(path: Path) -> None:
    """Refuse a path that cannot be written before any work is done for it."""
    try:
        if not path.parent.is_dir():
            raise errors.no_output_folder(str(path.parent))
        if path.exists():
            raise errors.output_exists(str(path))
    except OSError as error:
        raise errors.cannot_write(str(path), error.strerror or "its name is not possible") from None


def write_labels(path: Path, labels: Iterable[int]) -> None:
    """The group of each record, in the order of the input: columns `record` (from 1) and `group`."""

    def content(file: TextIO) -> None:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["record", "group"])
        rows.writerows((at + 1, group) for at, group in enumerate(labels))

    _write(path, content)


def write_json(path: Path, content: Mapping[str, object]) -> None:
    """One JSON object."""
    _write(path, lambda file: json.dump(content, file, allow_nan=False))


def _write(path: Path, content: Callable[[TextIO], None]) -> None:
    check_output(path)
    temporary = path.parent / f".microagg-{secrets.token_hex(8)}"
    try:
        with temporary.open("x", newline="", encoding="utf-8") as file:
            content(file)
            file.flush()
            os.fsync(file.fileno())
        _commit(temporary, path)
    except FileExistsError:
        raise errors.output_exists(str(path)) from None
    except OSError as error:
        raise errors.cannot_write(str(path), error.strerror or "writing failed") from None
    finally:
        temporary.unlink(missing_ok=True)


def _commit(temporary: Path, path: Path) -> None:
    """Give the file its name, unless something of that name came to exist meanwhile."""
    try:
        os.link(temporary, path)  # fails on an existing name, unlike rename
    except OSError as error:
        # Some file systems have no hard links; every other failure is one.
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
            raise
        if path.exists():
            raise FileExistsError from None
        temporary.rename(path)
