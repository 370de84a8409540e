"""Browser sessions: each has a project of its own, for as long as its browser is there."""

from __future__ import annotations

import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import forkserver
from pathlib import Path
from time import monotonic

from microagg.errors import SettingsError
from microagg.private_folder import remove
from microagg.web.jobs import Queue
from microagg.web.memory import Memory
from microagg.web.project import ChosenFile, Project

IDLE = 20 * 60.0
"""Seconds for which a session outlives its last page and its last job."""

PRELOAD_AFTER = 1.5
"""Seconds of a session after which it gets ready for its second page."""


@dataclass(eq=False)
class Sessions:
    """`folder`: for those of sessions; `idle`: seconds after which a session is ended whose browser is
    away; `first`: the file that all begin with.
    """

    folder: Path
    queue: Queue
    idle: float
    first: ChosenFile | None
    memory: Memory
    _projects: dict[str, Project] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def new(self) -> Project:
        """Empty, or with the file that all begin with, or one that was kept."""
        with self._lock:
            project = self._kept() or Project(
                Path(tempfile.mkdtemp(dir=self.folder)), self.queue, self.memory
            )
            self._projects[project.id] = project
        if self.first is not None:
            project.open(self.first)
        # While the first page is looked at, and not before: what the second one needs takes a while.
        later = threading.Timer(PRELOAD_AFTER, _import_early)
        later.daemon = True
        later.start()
        return project

    def _kept(self) -> Project | None:
        """Of an earlier server, if nobody works on it."""
        in_use = {project.folder for project in self._projects.values()}
        for state in self.memory.states if self.memory.keeps_files else ():
            folder = Path(state["folder"])
            if folder.is_dir() and folder not in in_use:
                project = Project(folder, self.queue, self.memory)
                with suppress(SettingsError, KeyError, TypeError):  # not written by this version
                    project.restore(state)
                    return project
        return None

    def get(self, name: str) -> Project | None:
        return self._projects.get(name)

    def end(self, project: Project, forget: bool = False) -> None:
        """Its jobs are ended and its files removed, unless they are to be kept; `forget`: removed in any
        case, with what would have been remembered.
        """
        with self._lock:
            self._projects.pop(project.id, None)
        project.close()
        if forget:
            self.memory.forget(project.state)
        if forget or not self.memory.keeps_files:
            remove(project.folder)

    def end_forgotten(self) -> None:
        """Those whose browser has been away for long."""
        for project in list(self._projects.values()):
            if project.pages or project.busy:
                project.seen()
            elif monotonic() - project.last_seen > self.idle:
                self.end(project)

    def end_all(self) -> None:
        for project in list(self._projects.values()):
            self.end(project)


def _import_early() -> None:
    """What jobs are forked from, and what the other pages are made by."""
    forkserver.ensure_running()
    import microagg.plan.protection
    import microagg.web.views  # noqa: F401
