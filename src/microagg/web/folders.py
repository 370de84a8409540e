"""Private temporary folders: one for a server, and in it one for each browser session."""

from __future__ import annotations

import tempfile
from pathlib import Path

from microagg.write import private
from microagg.write.private import PrivateFolder, remove

__all__ = ["ServerFolder", "remove", "sweep"]

PREFIX = "microagg-serve-"


class ServerFolder(PrivateFolder):
    """Where a server keeps all files of its sessions; mode 0700, locked as long as the server lives."""

    def __init__(self) -> None:
        super().__init__(PREFIX)

    def new(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self.path))


def sweep() -> int:
    """Remove what servers have left that were killed; returns how many there were."""
    return private.sweep(PREFIX)
