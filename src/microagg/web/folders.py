"""Private temporary folders: one for a server, and in it one for each browser session."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path

PREFIX = "microagg-serve-"
LOCK = "lock"

_YOUNG = 60.0
"""Seconds for which a folder without a lock may be that of a server which is just starting."""


class ServerFolder:
    """Where a server keeps all files of its sessions; mode 0700, locked as long as the server lives."""

    def __init__(self) -> None:
        # It gets the name under which it may be swept once it is locked.
        made = Path(tempfile.mkdtemp(prefix=f".{PREFIX}"))
        self._lock = (made / LOCK).open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.path = made.rename(made.with_name(made.name.removeprefix(".")))

    def new(self) -> Path:
        """A folder for one session, mode 0700."""
        return Path(tempfile.mkdtemp(dir=self.path))

    def remove(self) -> None:
        """With all that is in it."""
        remove(self.path)
        self._lock.close()


def remove(folder: Path) -> None:
    """The folder and all that is in it, as far as it is still there."""
    shutil.rmtree(folder, ignore_errors=True)


def sweep() -> int:
    """Remove what servers have left that were killed; returns how many there were.

    The system drops the lock of a process that is gone, whatever it died of.
    """
    swept = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if _left_behind(folder):
            remove(folder)
            swept += 1
    return swept


def _left_behind(folder: Path) -> bool:
    try:
        found = folder.lstat()
        if folder.is_symlink() or not folder.is_dir() or found.st_uid != os.getuid():
            return False
        lock = folder / LOCK
        if not lock.exists():
            return time.time() - found.st_mtime > _YOUNG
        with lock.open("r") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # locked by a living server, or gone in this moment
        return False
    return True
