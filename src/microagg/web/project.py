"""What one browser session works on: a file, choices, jobs and releases. It outlives any single page."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from microagg import errors, wording
from microagg.settings.declared import PLAN_OPTIONS, CompareSettings, options_of_command
from microagg.web.choices import Choices
from microagg.web.cures import cures_of
from microagg.web.folders import remove
from microagg.web.jobs import Job, Lane, Queue
from microagg.web.memory import Memory

COMPARED = tuple(name for name in options_of_command("compare") if name in PLAN_OPTIONS and name != "k")
"""Options that a comparison has too; it tries k and methods of its own."""

NEWS = {
    ("check", "done"): wording.settings_can_run(),
    ("check", "refused"): wording.settings_cannot_run(),
    ("protect", "done"): wording.run_ended_well(),
    ("protect", "refused"): wording.run_was_refused(),
    ("bound", "done"): wording.proof_ended(),
    ("compare", "done"): wording.comparison_ended(),
}
"""How jobs end, in a sentence."""

MOST_RELEASES = 5
"""Releases that are kept; one that was not downloaded yet is kept in any case."""


@dataclass(frozen=True)
class Source:
    """The file: `path` as jobs call it from `home`, `name` as people call it."""

    name: str
    path: str
    home: Path
    opened: bool = False
    """By its path, not uploaded."""
    csv: dict[str, Any] = field(default_factory=dict)
    """What is given about how it is written."""
    cache: Path = Path()
    """A folder for the data as they were read."""

    @property
    def known_as(self) -> str:
        """How a plan or a command names it."""
        return self.path if self.opened else self.name

    def arguments(self) -> dict[str, Any]:
        places = {"source": self.path, "home": str(self.home), "cache": str(self.cache)}
        return {"name": self.name, "known_as": self.known_as, "csv": self.csv, **places}


@dataclass
class Release:
    """A run that ended well. `folder` is None if only its settings are known, from an earlier server."""

    id: str
    made: str
    """When, as a date and time of day."""
    source: Source
    answer: dict[str, Any]
    folder: Path | None = None
    downloaded: bool = False


class Project:
    """All state of a browser session. `version` counts its changes, for pages.

    Requests and the queue's threads change it, one at a time.
    """

    def __init__(self, folder: Path, queue: Queue, memory: Memory | None = None) -> None:
        self.folder = folder
        self.queue = queue
        self.memory = memory or Memory(None)
        self.version = 0
        self.news = ""
        """The last thing that happened by itself, in one sentence, for the line that is read aloud."""
        self.source: Source | None = None
        self.found: dict[str, Any] | None = None
        """What the file holds, as the job that looked at it answered."""
        self.incoming: Source | None = None
        """A file that is being read, or was refused; until it was read, all stays as it is."""
        self.choices = Choices()
        self.taken_over = 0
        """Choices that were made for another file, or earlier, and are in force for this one."""
        self.jobs: dict[str, Job] = {}
        """The last of each kind."""
        self.releases: list[Release] = []
        """The newest first."""
        self.release: Release | None = None
        """The one that Result and Hand over show."""
        usual = CompareSettings()
        self.comparison = {
            "ks": ", ".join(map(str, usual.k)),
            "methods": ", ".join(usual.methods),
            "max_risk": str(usual.max_risk),
        }
        self.closed = False
        self.lock = threading.RLock()

    # --- data ---------------------------------------------------------------------------------

    def new_place(self) -> Path:
        """A folder for what is about to arrive; `SettingsError` if the session has ended."""
        if self.closed:
            raise wording.session_is_over()
        place = self.folder / secrets.token_hex(8)
        place.mkdir(mode=0o700)
        return place

    def open(self, source: Source) -> None:
        """Read another file, or the same in another format; it takes the place of this one once it was
        read.
        """
        with self.lock:
            self._forget_incoming(unless_in=source.home)
            source = Source(**{**vars(source), "cache": self.new_place()})
            self.incoming = source
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

    def read_again(self, csv: Mapping[str, Any]) -> None:
        """The file that was refused, or else the one that is open, written as `csv` says."""
        old = self.incoming or self.source
        if old is not None:
            self.open(Source(old.name, old.path, old.home, old.opened, dict(csv)))

    def cancel_reading(self) -> None:
        """What was open before stays open."""
        with self.lock:
            self._forget_incoming()
            self.jobs.pop("look", None)
            self.changed()

    def _forget_incoming(self, unless_in: Path | None = None) -> None:
        """Its files are removed, but not those in a folder that is still needed."""
        self.give_up("look")
        if self.incoming is not None:
            remove(self.incoming.cache)
            if self.incoming.home not in (unless_in, self.source and self.source.home):
                self._remove_home(self.incoming)
            self.incoming = None

    def _remove_home(self, source: Source) -> None:
        if not source.opened and source.home != self.folder:
            remove(source.home)

    def _take_in(self, found: dict[str, Any]) -> None:
        """The file was read: it takes the place of the last one, and choices are carried over by name."""
        assert self.incoming is not None
        old, self.source, self.incoming = self.source, self.incoming, None
        if old is not None:
            remove(old.cache)
            if old.home != self.source.home:
                self._remove_home(old)
        for kind in ("check", "protect", "bound", "compare"):
            self.give_up(kind)
            self.jobs.pop(kind, None)
        self.found = found
        earlier = self.choices.made()
        self.choices = Choices.suggested(found["columns"], found["settings"])
        if not earlier:
            earlier, history = self.memory.recall(list(self.choices.roles))
            known = {each.id for each in self.releases}
            self.releases += [
                Release(each["id"], each["made"], self.source, each["answer"])
                for each in history
                if each["id"] not in known
            ]
        self.taken_over = self.choices.take_over(earlier)

    # --- choices ------------------------------------------------------------------------------

    def choose(self, name: str, value: object, column: str | None = None) -> None:
        with self.lock:
            self.choices.set(name, value, column)
            self.changed()

    def take_suggestions(self) -> None:
        """Forget what was chosen."""
        with self.lock:
            if self.found is not None:
                self.choices = Choices.suggested(self.found["columns"], self.found["settings"])
                self.taken_over = 0
                self.changed()

    def load(self, plan: Mapping[str, Any]) -> None:
        """Choose what a plan has; if it cannot be used, nothing changes."""
        with self.lock:
            if self.found is None:
                raise wording.no_data_for_plan()
            choices = Choices.suggested(self.found["columns"], self.found["settings"])
            choices.load(plan)
            self.choices, self.taken_over = choices, 0
            self.changed()

    @property
    def refusal(self) -> tuple[str, list[dict[str, Any]]] | None:
        """Why the settings cannot be, by themselves, and what would settle it."""
        try:
            self.choices.effective()
        except errors.SettingsError as error:
            return str(error), cures_of(error)
        return None

    def check(self) -> Job | None:
        """The job that checks the settings against the data, started if these are others than the last;
        None if they are refused by themselves.
        """
        with self.lock:
            if self.found is None or self.refusal is not None:
                return None
            settings = self.choices.effective()[0]
            job = self.jobs.get("check")
            if job is None or job.arguments["settings"] != settings or job.state in ("stopped", "failed"):
                self._start("check", {**self._arguments(), "settings": settings}, "quick")
            return self.jobs["check"]

    # --- work ---------------------------------------------------------------------------------

    def run(self) -> None:
        """Protect the file with the settings as they are; `SettingsError` for what cannot be."""
        if self.source is None:
            return
        settings = self.choices.effective()[0]
        folder = self.new_place()
        try:
            arguments = {**self._arguments(), "settings": settings, "folder": str(folder)}
            self._start("protect", arguments, "long")
        except errors.SettingsError:
            remove(folder)
            raise

    def prove(self) -> None:
        with self.lock:
            release = self.release
            if self.can_prove and release is not None and release.folder is not None:
                about = {"settings": release.answer["asked"], "folder": str(release.folder)}
                arguments = {**self._arguments(), **about, "file": release.answer["file"], "of": release.id}
                self._start("bound", arguments, "long")

    @property
    def can_prove(self) -> bool:
        """Whether the data of the release that is shown are open."""
        return self.release is not None and self.release.source == self.source

    def compare(self, ks: list[int], methods: list[str], max_risk: float) -> None:
        """Every k with every method, other settings as they are."""
        if self.source is None:
            return
        about = {"ks": ks, "methods": methods, "max_risk": max_risk}
        self._start("compare", {**self._arguments(), "settings": self.compared_settings(), **about}, "long")

    def compared_settings(self) -> dict[str, Any]:
        plan = self.choices.effective()[0]
        if "each" in plan:
            plan["keys"] = [*plan.get("keys", []), *([column] for column in plan["each"])]
        return {name: value for name, value in plan.items() if name in COMPARED}

    def stop(self, kind: str) -> None:
        if kind in self.jobs:
            self.queue.stop(self.jobs[kind])
            self.changed()

    def give_up(self, kind: str) -> None:
        if kind in self.jobs and self.jobs[kind].active:
            self.queue.give_up(self.jobs[kind])

    def is_active(self, kind: str) -> bool:
        return kind in self.jobs and self.jobs[kind].active

    @property
    def busy(self) -> bool:
        return any(job.active for job in list(self.jobs.values()))

    # --- releases -----------------------------------------------------------------------------

    @property
    def settings_changed(self) -> bool:
        """Whether the choices are no longer those of the release that is shown."""
        from microagg.plan.protection import Protection

        if self.release is None:
            return False
        try:
            now = dict(Protection.of(self.choices.effective()[0]).settings)
        except errors.SettingsError:
            return True
        return self.release.source != self.source or now != self.release.answer["asked"]

    def show(self, name: str) -> None:
        """Go back to an earlier release; if only its settings are known, take these."""
        with self.lock:
            chosen = next((each for each in self.releases if each.id == name), None)
            if chosen is not None and chosen.folder is not None:
                self.release = chosen
                self.jobs.pop("bound", None)
                self.changed()
            elif chosen is not None:
                self.load(chosen.answer["asked"])

    @property
    def not_downloaded(self) -> list[Release]:
        return [each for each in self.releases if each.folder is not None and not each.downloaded]

    def _keep(self, job: Job) -> None:
        """A run is over: its release is the first of the list, or there is none."""
        folder = Path(job.arguments["folder"])
        if self.jobs.get("protect") is not job or job.state != "done" or self.source is None:
            remove(folder)
            return
        made = datetime.now().strftime("%Y-%m-%d %H:%M")
        self.release = Release(secrets.token_hex(4), made, self.source, job.answer, folder)
        self.releases.insert(0, self.release)
        self.give_up("bound")
        self.jobs.pop("bound", None)
        for each in self.releases[MOST_RELEASES:]:
            if each.downloaded or each.folder is None:
                self.releases.remove(each)
                if each.folder is not None:
                    remove(each.folder)

    # --- the end, and what outlives it --------------------------------------------------------

    def close(self) -> None:
        """Everything is ended; files are removed by the session."""
        with self.lock:
            self.closed = True
            for kind in list(self.jobs):
                self.give_up(kind)
            left = list(self.jobs.values())
        for job in left:
            job.over.wait(5.0)

    def changed(self) -> None:
        """Pages look again, and what shall outlive the server is kept."""
        self.version += 1
        if self.found is not None and not self.closed:
            history = [
                {"id": each.id, "made": each.made, "answer": each.answer}
                for each in self.releases
                if set(each.answer.get("columns", ())) == set(self.choices.roles)
            ]
            self.memory.keep(list(self.choices.roles), self.choices.made(), history)
            self.memory.keep_project(self.folder, self._state)

    def _state(self) -> dict[str, Any]:
        """All that is needed to go on with the files of this project, as plain values."""
        releases = [{**vars(each), "source": asdict(each.source)} for each in self.releases]
        source = None if self.source is None else asdict(self.source)
        return {"source": source, "made": self.choices.made(), "releases": releases}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where another server ended: its releases are there, and its file is read again."""
        with self.lock:
            self.releases = [
                Release(**{**each, "source": _source(each["source"]), "folder": _path(each["folder"])})
                for each in state["releases"]
            ]
            self.release = next((each for each in self.releases if each.folder is not None), None)
            self.choices.touched = {(name, column): value for name, column, value in state["made"]}
            if state["source"] is not None:
                remove(Path(state["source"]["cache"]))
                self.open(_source(state["source"]))

    # --- jobs ---------------------------------------------------------------------------------

    def _arguments(self) -> dict[str, Any]:
        assert self.source is not None
        assert self.found is not None
        return {**self.source.arguments(), "stamp": self.found["stamp"]}

    def _start(self, kind: str, arguments: dict[str, Any], lane: Lane) -> None:
        """In place of the last one of its kind; `SettingsError` if too many jobs wait already."""
        with self.lock:
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
                self.changed()

    def _ended(self, job: Job) -> None:
        """Called by the queue's thread."""
        with self.lock:
            is_current = self.jobs.get(job.kind) is job
            if is_current and job.kind == "look" and job.state == "done":
                self._take_in(job.answer)
            if job.kind == "protect":
                job.answer |= {"columns": list(self.choices.roles)} if job.state == "done" else {}
                self._keep(job)
            if is_current and job.kind == "bound" and job.state == "done":
                for each in self.releases:
                    if each.id == job.arguments["of"]:
                        each.answer["bound"] = job.answer["bound"]
            if is_current:
                name = job.arguments["name"]
                self.news = NEWS.get((job.kind, job.state), wording.job_ended_otherwise())
                if job.kind == "look":
                    is_read = job.state == "done"
                    self.news = wording.file_was_read(name) if is_read else wording.file_was_refused(name)
                self.changed()


def _source(state: Mapping[str, Any]) -> Source:
    return Source(**{**state, "home": Path(state["home"]), "cache": Path(state["cache"])})


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)
