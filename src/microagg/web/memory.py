"""What outlives a server: choices and the figures of releases, by the names of the columns. They hold names
of columns and settings, no records. With a folder to keep, also what is needed to go on with its files.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

MOST_FILES = 20
"""Files whose choices are remembered."""

State = Mapping[str, Any]
"""Of a project, see `Project.state`: among others its `folder`, `columns`, `made` and `releases`."""


def usual_place() -> Path:
    """Where programs of this user keep their state."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "microagg"


class Memory:
    """`place`: the folder of its file, None: nothing outlives the server. `keeps_files`: so do folders of
    projects, and every project is remembered, chosen or not.
    """

    def __init__(self, place: Path | None, keeps_files: bool = False) -> None:
        self._file = None if place is None else place / "choices.json"
        self.keeps_files = keeps_files
        self._lock = threading.Lock()
        self.states: list[State] = []
        """The newest first."""
        if self._file is not None:
            with suppress(OSError, ValueError, TypeError):  # none yet, or not ours
                found = json.loads(self._file.read_text("utf-8"))
                self.states = [
                    each for each in found if {"folder", "columns", "made", "releases"} <= {*each}
                ]

    def recall(self, columns: list[str]) -> State | None:
        """The last project with these columns."""
        return next((each for each in self.states if each["columns"] == columns), None)

    def keep(self, state: State) -> None:
        if state["made"] or state["releases"] or self.keeps_files:
            self._replace(state, [state])

    def forget(self, state: State) -> None:
        self._replace(state, [])

    def _replace(self, old: State, new: list[State]) -> None:
        """The state of this project, and those with the same columns whose files are gone."""
        with self._lock:
            if self._file is None:
                return
            others = [
                each
                for each in self.states
                if each["folder"] != old["folder"]
                and (each["columns"] != old["columns"] or Path(each["folder"]).exists())
            ]
            self.states = [*new, *others][: None if self.keeps_files else MOST_FILES]
            try:
                self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with NamedTemporaryFile("w", dir=self._file.parent, delete=False) as draft:  # mode 0600
                    json.dump(self.states, draft, default=str)
                Path(draft.name).replace(self._file)
                if not self.states:
                    self._file.unlink()
            except OSError:  # a convenience that is not to be had here
                self._file, self.states = None, []
