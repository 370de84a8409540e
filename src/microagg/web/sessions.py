"""Browser sessions: each has a project of its own, for as long as its browser is there."""

from __future__ import annotations

import importlib
import secrets
import threading
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic

from microagg.errors import SettingsError
from microagg.web.folders import ServerFolder, remove
from microagg.web.jobs import Queue
from microagg.web.project import Project, Source

KEEP = 20 * 60.0
"""Seconds for which a session outlives its last page and its last job."""


PRELOAD_MODULE = "microagg.plan.protection"
PRELOAD_AFTER = 1.5
"""A module, and after how many seconds of a session it is imported."""


@dataclass(eq=False)
class Session:
    """One browser: what its cookie says, and what it works on."""

    id: str
    project: Project
    pages: int = 0
    """Open ones."""
    last: float = 0.0

    def seen(self) -> None:
        self.last = monotonic()

    def opened(self) -> None:
        self.pages += 1
        self.seen()

    def closed(self) -> None:
        self.pages -= 1
        self.seen()


class Sessions:
    def __init__(self, folder: ServerFolder, queue: Queue, keep: float, first: Source | None) -> None:
        self._folder = folder
        self._queue = queue
        self._keep = keep
        self._first = first
        self._known: dict[str, Session] = {}
        self._lock = threading.Lock()

    def new(self) -> Session:
        """With an empty project, or with the file that all begin with."""
        session = Session(secrets.token_urlsafe(32), Project(self._folder.new(), self._queue))
        session.seen()
        if self._first is not None:
            with suppress(SettingsError):  # too many jobs wait: the first page has all ways to open it
                session.project.open(self._first)
        with self._lock:
            self._known[session.id] = session
        # While the first page is looked at, and not before: what the second one needs takes a while.
        later = threading.Timer(PRELOAD_AFTER, self._prepare)
        later.daemon = True
        later.start()
        return session

    def _prepare(self) -> None:
        self._queue.warm_up()
        importlib.import_module(PRELOAD_MODULE)

    def get(self, name: str) -> Session | None:
        return self._known.get(name)

    def end(self, session: Session) -> None:
        """Its jobs are ended and its files removed."""
        with self._lock:
            self._known.pop(session.id, None)
        session.project.close()
        remove(session.project.folder)

    def end_forgotten(self) -> None:
        """Those whose browser has been away for long."""
        now = monotonic()
        for session in list(self._known.values()):
            if session.pages or session.project.busy:
                session.seen()
            elif now - session.last > self._keep:
                self.end(session)

    def end_all(self) -> None:
        for session in list(self._known.values()):
            self.end(session)
