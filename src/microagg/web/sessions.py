"""Browser sessions: each has a project of its own, for as long as its browser is there."""

from __future__ import annotations

import importlib
import threading
from contextlib import suppress
from pathlib import Path
from time import monotonic

from microagg.errors import SettingsError
from microagg.web.folders import ServerFolder, remove
from microagg.web.jobs import Queue
from microagg.web.memory import Memory
from microagg.web.project import Project, Source

IDLE = 20 * 60.0
"""Seconds for which a session outlives its last page and its last job."""

PRELOAD_MODULE = "microagg.plan.protection"
PRELOAD_AFTER = 1.5
"""A module, and after how many seconds of a session it is imported."""


class Sessions:
    """`idle`: seconds after which a session is ended whose browser is away; `first`: the file that all
    begin with.
    """

    def __init__(
        self, folder: ServerFolder, queue: Queue, idle: float, first: Source | None, memory: Memory
    ) -> None:
        self._folder = folder
        self._queue = queue
        self._idle = idle
        self._first = first
        self._memory = memory
        self._projects: dict[str, Project] = {}
        self._lock = threading.Lock()

    def new(self) -> Project:
        """Empty, or with the file that all begin with, or one that was kept."""
        with self._lock:
            project = self._kept() or Project(self._folder.new(), self._queue, self._memory)
            self._projects[project.id] = project
        if self._first is not None:
            with suppress(SettingsError):  # too many jobs wait: the first page has all ways to open it
                project.open(self._first)
        # While the first page is looked at, and not before: what the second one needs takes a while.
        later = threading.Timer(PRELOAD_AFTER, self._prepare)
        later.daemon = True
        later.start()
        return project

    def _kept(self) -> Project | None:
        """Of an earlier server, if nobody works on it."""
        in_use = {project.folder for project in self._projects.values()}
        for state in self._memory.states if self._memory.keeps_files else ():
            folder = Path(state["folder"])
            if folder.is_dir() and folder not in in_use:
                project = Project(folder, self._queue, self._memory)
                with suppress(SettingsError, KeyError, TypeError):  # not written by this version
                    project.restore(state)
                    return project
        return None

    def _prepare(self) -> None:
        self._queue.warm_up()
        importlib.import_module(PRELOAD_MODULE)

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
            self._memory.forget(project.state)
        if forget or not self._memory.keeps_files:
            remove(project.folder)

    def end_forgotten(self) -> None:
        """Those whose browser has been away for long."""
        for project in list(self._projects.values()):
            if project.pages or project.busy:
                project.seen()
            elif monotonic() - project.last_seen > self._idle:
                self.end(project)

    def end_all(self) -> None:
        for project in list(self._projects.values()):
            self.end(project)
