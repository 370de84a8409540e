"""Files written whole or not at all."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from microagg import errors


def check_output(path: Path) -> None:
    """Refuse a path that cannot be written before any work is done for it."""
    if not path.parent.is_dir():
        raise errors.no_output_folder(str(path.parent))
    if path.exists():
        raise errors.output_exists(str(path))


def write_labels(path: Path, labels: Iterable[int]) -> None:
    """The group of each record, in the order of the input: columns `record` (from 1) and `group`."""
    check_output(path)
    temporary: str | None = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(["record", "group"])
            rows.writerows((at + 1, group) for at, group in enumerate(labels))
            file.flush()
            os.fsync(file.fileno())
        os.link(temporary, path)  # fails when the path came to exist meanwhile, unlike rename
    except FileExistsError:
        raise errors.output_exists(str(path)) from None
    except OSError as error:
        raise errors.cannot_write(str(path), error.strerror or "writing failed") from None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
