"""Private temporary folders: for this user alone, locked while their process lives, swept after that."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path

LOCK = "lock"

_YOUNG = 60.0
"""Seconds for which a folder without a lock may be that of a process which is just starting."""


class PrivateFolder:
    """A new folder of mode 0700, in the temporary one of the system unless another is named."""

    def __init__(self, prefix: str, inside: Path | None = None) -> None:
        # It gets the name under which it may be swept once it is locked.
        made = Path(tempfile.mkdtemp(prefix=f".{prefix}", dir=inside))
        self._lock = (made / LOCK).open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.path = made.rename(made.with_name(made.name.removeprefix(".")))

    def remove(self) -> None:
        """With all that is in it."""
        remove(self.path)
        self._lock.close()


def remove(folder: Path) -> None:
    """The folder and all that is in it, as far as it is still there."""
    shutil.rmtree(folder, ignore_errors=True)


def sweep(prefix: str, inside: Path | None = None) -> int:
    """Remove what processes have left that were killed; returns how many folders there were.

    The system drops the lock of a process that is gone, whatever it died of.
    """
    swept = 0
    for folder in (inside or Path(tempfile.gettempdir())).glob(f"{prefix}*"):
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
    except OSError:  # locked by a living process, or gone in this moment
        return False
    return True
