"""Browser sessions: each has a project of its own, for as long as its browser is there."""

from __future__ import annotations

import importlib
import secrets
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic

from microagg.errors import SettingsError
from microagg.web.folders import ServerFolder, remove
from microagg.web.jobs import Queue
from microagg.web.memory import Memory, kept_projects
from microagg.web.project import Project, Source

IDLE = 20 * 60.0
"""Seconds for which a session outlives its last page and its last job."""

MOST_NOTICES = 20

PRELOAD_MODULE = "microagg.plan.protection"
PRELOAD_AFTER = 1.5
"""A module, and after how many seconds of a session it is imported."""


@dataclass(eq=False)
class Session:
    """One browser: the value of its cookie, and what it works on."""

    id: str
    project: Project
    pages: int = 0
    """Open ones."""
    last: float = 0.0
    notices: dict[str, str] = field(default_factory=dict)
    """Why something was refused, by the name that the address of a page has for it."""

    def note(self, text: str) -> str:
        """The name of a new notice; old ones are forgotten."""
        name = secrets.token_hex(4)
        self.notices = dict([*self.notices.items(), (name, text)][-MOST_NOTICES:])
        return name

    def seen(self) -> None:
        self.last = monotonic()

    def opened(self) -> None:
        self.pages += 1
        self.seen()

    def closed(self) -> None:
        self.pages -= 1
        self.seen()


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
        self._known: dict[str, Session] = {}
        self._lock = threading.Lock()

    def new(self) -> Session:
        """With an empty project, or with the file that all begin with, or with one that was kept."""
        with self._lock:
            session = Session(secrets.token_urlsafe(32), self._kept_project() or self._empty_project())
            self._known[session.id] = session
        session.seen()
        if self._first is not None:
            with suppress(SettingsError):  # too many jobs wait: the first page has all ways to open it
                session.project.open(self._first)
        # While the first page is looked at, and not before: what the second one needs takes a while.
        later = threading.Timer(PRELOAD_AFTER, self._prepare)
        later.daemon = True
        later.start()
        return session

    def _empty_project(self) -> Project:
        return Project(self._folder.new(), self._queue, self._memory)

    def _kept_project(self) -> Project | None:
        """Of an earlier server, if nobody works on it."""
        if self._folder.keep is None:
            return None
        in_use = {session.project.folder for session in self._known.values()}
        for folder, state in kept_projects(self._folder.keep):
            if folder not in in_use:
                project = Project(folder, self._queue, self._memory)
                with suppress(SettingsError, KeyError, TypeError):  # not written by this version
                    project.restore(state)
                    return project
        return None

    def _prepare(self) -> None:
        self._queue.warm_up()
        importlib.import_module(PRELOAD_MODULE)

    def get(self, name: str) -> Session | None:
        return self._known.get(name)

    def end(self, session: Session, forget: bool = False) -> None:
        """Its jobs are ended and its files removed, unless they are to be kept; `forget`: removed in any
        case, with what would have been remembered.
        """
        with self._lock:
            self._known.pop(session.id, None)
        session.project.close()
        if forget:
            self._memory.forget(list(session.project.choices.roles))
        if forget or self._folder.keep is None:
            remove(session.project.folder)

    def end_forgotten(self) -> None:
        """Those whose browser has been away for long."""
        now = monotonic()
        for session in list(self._known.values()):
            if session.pages or session.project.busy:
                session.seen()
            elif now - session.last > self._idle:
                self.end(session)

    def end_all(self) -> None:
        for session in list(self._known.values()):
            self.end(session)
