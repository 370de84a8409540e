"""Hidden files that a killed process has left, removed by the next one that writes to their folder."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_HIDDEN = re.compile(r"\.microagg-[0-9a-f]{16}")
_TRIES, _PAUSE_SECONDS = 200, 0.01


def hidden_name() -> str:
    """A new name, of a form that `claim_folder` recognises."""
    return f".microagg-{secrets.token_hex(8)}"


def claim_folder(folder: int, with_folders: bool = False) -> None:
    """Mark hidden files in the folder as in use, for other processes, as long as this descriptor is open.

    If no other process uses the folder, hidden files of killed processes are removed first; `with_folders`
    the folders of a release on Spark too. Where folders cannot be locked, nothing is removed.
    """
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        pass
    else:
        _sweep(folder, with_folders)
    for _ in range(_TRIES):  # another process may be sweeping at this moment
        try:
            fcntl.flock(folder, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(_PAUSE_SECONDS)
        except OSError:
            return


def _sweep(folder: int, with_folders: bool) -> None:
    with suppress(OSError):
        for name in os.listdir(folder):
            if _HIDDEN.fullmatch(name) is None:
                continue
            with suppress(OSError):
                found = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if found.st_uid != os.geteuid():
                    continue
                if stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode):
                    os.unlink(name, dir_fd=folder)
                elif with_folders and stat.S_ISDIR(found.st_mode):
                    shutil.rmtree(name, dir_fd=folder)


@contextmanager
def claimed(path: Path | None) -> Iterator[None]:
    """`claim_folder` by path, as long as the block runs; None is no folder of this machine."""
    if path is None:
        yield
        return
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        claim_folder(folder, with_folders=True)
        yield
    finally:
        os.close(folder)
