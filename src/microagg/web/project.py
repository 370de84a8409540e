"""What one browser session works on: a file, choices, jobs and a release. It outlives any single page."""

from __future__ import annotations

import secrets
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from microagg import errors, wording
from microagg.plan.settings import PLAN_OPTIONS, options_of_command
from microagg.web.choices import Choices
from microagg.web.folders import remove
from microagg.web.jobs import Job, Lane, Queue

COMPARED = tuple(name for name in options_of_command("compare") if name in PLAN_OPTIONS and name != "k")
"""Options that a comparison has too; it tries k and methods of its own."""


@dataclass(frozen=True)
class Source:
    """The file: `path` as jobs call it from `home`, `name` as people call it."""

    name: str
    path: str
    home: Path
    opened: bool = False
    """By its path, not uploaded."""
    csv: dict[str, Any] = field(default_factory=dict)
    """What was said about its format."""

    def arguments(self) -> dict[str, Any]:
        return {"name": self.name, "source": self.path, "home": str(self.home), "csv": self.csv}


class Project:
    """All state of a browser session. `versions` counts the changes of each of its parts, for pages.

    Pages, uploads and the queue's threads change it, one at a time.
    """

    def __init__(self, folder: Path, queue: Queue) -> None:
        self.folder = folder
        self.queue = queue
        self.versions: Counter[str] = Counter()
        self.source: Source | None = None
        self.choices = Choices()
        self.refusal = ""
        """Why the words cannot be, by themselves."""
        self.jobs: dict[str, Job] = {}
        """The last of each kind."""
        self.release: dict[str, Any] | None = None
        """What the last job that protected has answered; its files are in `release_folder`."""
        self.release_folder: Path | None = None
        self.closed = False
        self._lock = threading.RLock()

    # --- data ---------------------------------------------------------------------------------

    def new_place(self) -> Path:
        """A folder for a file that is about to arrive; `SettingsError` if the session has ended."""
        if self.closed:
            raise wording.session_is_over()
        place = self.folder / secrets.token_hex(8)
        place.mkdir(mode=0o700)
        return place

    def open(self, source: Source) -> None:
        """Another file, or the same in another format: everything about the last one is gone."""
        with self._lock:
            for kind in list(self.jobs):
                self.give_up(kind)
            self.jobs.clear()
            last = self.source
            if last is not None and not last.opened and last.home != source.home:
                remove(last.home)
            if self.release_folder is not None:
                remove(self.release_folder)
            self.source, self.choices, self.refusal = source, Choices(), ""
            self.release = self.release_folder = None
            self.changed("source", "words", "run", "check", "bound", "compare")
            self._start("look", source.arguments(), "quick")

    def open_path(self, text: str, allowed: bool) -> None:
        """A file of this machine, read where it is."""
        if not allowed:
            raise wording.paths_not_allowed()
        if not text.strip():
            raise wording.no_path()
        path = Path(text.strip()).expanduser()
        if not path.is_absolute():
            path = Path.cwd() / path
        self.open(Source(path.name, str(path), self.folder, opened=True))

    def _arguments(self) -> dict[str, Any]:
        found = self.found
        assert self.source is not None
        return {**self.source.arguments(), "stamp": found and found["stamp"]}

    @property
    def found(self) -> dict[str, Any] | None:
        job = self.jobs.get("look")
        return job.answer if job is not None and job.state == "done" else None

    # --- choices ------------------------------------------------------------------------------

    def say(self, word: str, value: object, column: str | None = None) -> None:
        self.choices.set(word, value, column)
        self.changed("words")

    def check(self, against_data: bool) -> None:
        """The words by themselves, at once; then perhaps against the data, by a job."""
        from microagg.plan.protection import Protection

        self.give_up("check")
        self.jobs.pop("check", None)
        self.refusal = ""
        if self.source is None or self.found is None:
            return
        try:
            words = self.choices.plan()
            Protection.of(words)
            if against_data:
                self._start("check", {**self._arguments(), "words": words}, "quick")
        except errors.SettingsError as refusal:
            self.refusal = str(refusal)
        self.changed("check")

    # --- work ---------------------------------------------------------------------------------

    def run(self) -> None:
        """Protect the file with the words as they are; `SettingsError` for what cannot be."""
        if self.source is None:
            return
        words = self.choices.plan()
        folder = self.new_place()
        try:
            self._start("protect", {**self._arguments(), "words": words, "folder": str(folder)}, "long")
        except errors.SettingsError:
            remove(folder)
            raise
        self.changed("run")

    def prove(self) -> None:
        with self._lock:
            if self.source is not None and self.release is not None:
                arguments = {**self._arguments(), "words": self.release["words"]}
                self._start("bound", arguments, "long")

    def compare(self, ks: list[int], methods: list[str]) -> None:
        """Every k with every method, other words as they are."""
        if self.source is None:
            return
        words = {word: value for word, value in self.choices.plan().items() if word in COMPARED}
        arguments = {**self._arguments(), "words": words, "ks": ks, "methods": methods}
        self._start("compare", arguments, "long")

    def stop(self, kind: str) -> None:
        if kind in self.jobs:
            self.queue.stop(self.jobs[kind])
            self.changed(kind)

    def give_up(self, kind: str) -> None:
        if kind in self.jobs and self.jobs[kind].active:
            self.queue.give_up(self.jobs[kind])

    @property
    def busy(self) -> bool:
        return any(job.active for job in list(self.jobs.values()))

    def close(self) -> None:
        """Everything is ended; files are removed by the session."""
        with self._lock:
            self.closed = True
            for kind in list(self.jobs):
                self.give_up(kind)
            left = list(self.jobs.values())
        for job in left:
            job.over.wait(5.0)

    def changed(self, *parts: str) -> None:
        """Pages that show these look again."""
        self.versions.update(parts)

    def _start(self, kind: str, arguments: dict[str, Any], lane: Lane) -> None:
        """In place of the last one of its kind; `SettingsError` if too many jobs wait already."""
        with self._lock:
            if self.closed:
                raise wording.session_is_over()
            self.give_up(kind)
            self.jobs[kind] = job = Job(kind, arguments, lane, self._ended)
            try:
                self.queue.submit(job)
            except errors.SettingsError:
                del self.jobs[kind]
                raise
            finally:
                self.changed(kind)

    def _ended(self, job: Job) -> None:
        """Called by the queue's thread."""
        with self._lock:
            current = self.jobs.get(job.kind) is job
            if current and job.kind == "look" and job.state == "done":
                self.choices = Choices.suggested(job.answer["columns"], job.answer["settings"])
                self.changed("source", "words")
            if job.kind == "protect":
                self._keep(job, taken=current and job.state == "done")
            if current:
                self.changed(job.kind)

    def _keep(self, job: Job, taken: bool) -> None:
        """The files of a run that is over, if it is `taken`, in place of the last ones; else nothing."""
        folder, last = Path(job.arguments["folder"]), self.release_folder
        if not taken:
            remove(folder)
            return
        self.release, self.release_folder = job.answer, folder
        if last is not None:
            remove(last)
        self.give_up("bound")
        self.jobs.pop("bound", None)
        self.changed("release", "bound")
