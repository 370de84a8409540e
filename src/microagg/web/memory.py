"""What outlives a server: choices and the history of releases, by the names of the columns; with a folder
to keep, also the data and the files of releases. Choices hold names of columns and settings, no records.
"""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from microagg import wording

MOST_FILES = 20
"""Files whose choices are remembered."""
STATE = "project.json"
"""In the folder of a project that is kept."""

Made = list[tuple[str, str | None, Any]]


def usual_place() -> Path:
    """Where programs of this user keep their state."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "microagg"


class Memory:
    """`place`: the folder of the file with choices, None: nothing outlives the server. `keeps_projects`:
    also what is needed to go on with the files of a project is written into its folder.
    """

    def __init__(self, place: Path | None, keeps_projects: bool = False) -> None:
        self._file = None if place is None else place / "choices.json"
        self._keeps_projects = keeps_projects
        self._lock = threading.Lock()
        self._entries: list[dict[str, Any]] = []
        if self._file is not None:
            with suppress(OSError, ValueError, TypeError):  # none yet, or not ours
                self._entries = [
                    each for each in json.loads(self._file.read_text("utf-8")) if _is_entry(each)
                ]

    def recall(self, columns: list[str]) -> tuple[Made, list[dict[str, Any]]]:
        """What was chosen for a file with these columns, and its releases."""
        for each in self._entries:
            if each["columns"] == columns:
                return [tuple(one) for one in each["made"]], list(each["history"])
        return [], []

    def keep(self, columns: list[str], made: Made, history: list[dict[str, Any]]) -> None:
        if self._file is None or not (made or history):
            return
        with self._lock:
            others = [each for each in self._entries if each["columns"] != columns]
            new = {"columns": columns, "made": made, "history": history}
            if self._entries[:1] != [new]:
                self._entries = [new, *others][:MOST_FILES]
                self._write()

    def forget(self, columns: list[str]) -> None:
        with self._lock:
            self._entries = [each for each in self._entries if each["columns"] != columns]
            self._write()

    def keep_project(self, folder: Path, state: Callable[[], Mapping[str, Any]]) -> None:
        if self._keeps_projects:
            with suppress(OSError):  # the session has just ended
                _write_private(folder / STATE, state())

    def _write(self) -> None:
        if self._file is None:
            return
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write_private(self._file, self._entries)
        except OSError:  # a convenience that is not to be had here
            self._file, self._entries = None, []


def kept_projects(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Folders of projects that another server has kept, with their state, the newest first."""
    found = sorted(folder.glob(f"*/{STATE}"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in found:
        with suppress(OSError, ValueError):
            yield file.parent, json.loads(file.read_text("utf-8"))


def check_keep_folder(folder: Path) -> None:
    """Make the folder, or refuse one that others can read or write."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    about = folder.stat()
    if about.st_uid != os.getuid() or stat.S_IMODE(about.st_mode) & 0o077:
        raise wording.keep_folder_open(str(folder))


def _is_entry(each: object) -> bool:
    return isinstance(each, dict) and {"columns", "made", "history"} <= set(each)


def _write_private(path: Path, content: object) -> None:
    """As a whole or not at all; for this user only."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    with os.fdopen(
        os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
    ) as file:
        json.dump(content, file, default=str)
    draft.replace(path)
