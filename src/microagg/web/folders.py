"""Private temporary folders: one for a server, and in it one for each browser session."""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from microagg import wording
from microagg.write import private
from microagg.write.private import PrivateFolder, remove

__all__ = ["ServerFolder", "remove", "sweep"]

PREFIX = "microagg-serve-"


class ServerFolder(PrivateFolder):
    """Where a server keeps all files of its sessions; mode 0700, locked as long as the server lives.

    `keep`: a folder that has the files of sessions instead, and is still there when the server has ended.
    """

    def __init__(self, keep: Path | None = None) -> None:
        self._keep_lock = None if keep is None else _locked(keep)
        self.keep = keep
        super().__init__(PREFIX)

    def new(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self.keep or self.path))

    def remove(self) -> None:
        super().remove()
        if self._keep_lock is not None:
            self._keep_lock.close()


def _locked(folder: Path) -> TextIO:
    """The lock of a folder that is made if it is not there, and refused if others can read or write it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    about = folder.stat()
    if about.st_uid != os.getuid() or stat.S_IMODE(about.st_mode) & 0o077:
        raise wording.keep_folder_open(str(folder))
    lock = (folder / private.LOCK).open("w")
    with suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return lock
    lock.close()
    raise wording.keep_folder_in_use(str(folder))


def sweep() -> int:
    """Remove what servers have left that were killed; returns how many there were."""
    return private.sweep(PREFIX)
