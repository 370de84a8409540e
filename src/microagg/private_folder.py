"""Private folders: for this user only, locked while their process lives, most of them swept afterwards."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from microagg import wording

LOCK = "lock"

_STARTING_SECONDS = 60.0
"""For so long, a folder without a lock may belong to a process that is just starting."""


class PrivateFolder:
    """A new folder of mode 0700, in the system's temporary folder unless `inside` is given."""

    def __init__(self, prefix: str, inside: Path | None = None) -> None:
        # Only when it is locked it gets the name by which `sweep` finds it.
        made = Path(tempfile.mkdtemp(prefix=f".{prefix}", dir=inside))
        self._lock = (made / LOCK).open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.path = made.rename(made.with_name(made.name.removeprefix(".")))

    def remove(self) -> None:
        remove(self.path)
        self._lock.close()


def locked(folder: Path) -> TextIO:
    """The lock of a folder that outlives its process. It is made if it is not there, and refused if others
    can read or write it.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    about = folder.stat()
    if about.st_uid != os.getuid() or stat.S_IMODE(about.st_mode) & 0o077:
        raise wording.keep_folder_open(str(folder))
    lock = (folder / LOCK).open("w")
    with suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return lock
    lock.close()
    raise wording.keep_folder_in_use(str(folder))


def remove(folder: Path) -> None:
    """Remove the folder and its content, as far as it still exists."""
    shutil.rmtree(folder, ignore_errors=True)


def sweep(prefix: str, inside: Path | None = None) -> int:
    """Remove folders of processes that were killed; returns their number.

    The operating system releases the lock of a process when it ends, however it ends.
    """
    swept = 0
    for folder in (inside or Path(tempfile.gettempdir())).glob(f"{prefix}*"):
        if _is_abandoned(folder):
            remove(folder)
            swept += 1
    return swept


def _is_abandoned(folder: Path) -> bool:
    try:
        found = folder.lstat()
        if folder.is_symlink() or not folder.is_dir() or found.st_uid != os.getuid():
            return False
        lock = folder / LOCK
        if not lock.exists():
            return time.time() - found.st_mtime > _STARTING_SECONDS
        with lock.open("r") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # locked by a living process, or gone in this moment
        return False
    return True
