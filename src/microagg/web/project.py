"""What one browser session works on: a file, choices, jobs and releases. It outlives any single page."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import Any

from microagg import errors, wording
from microagg.settings.declared import PLAN_OPTIONS, CompareSettings, options_of_command
from microagg.web.choices import Choices
from microagg.web.cures import cures_of
from microagg.web.folders import remove
from microagg.web.jobs import Job, Queue
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
MOST_NOTICES = 20


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
    cache: Path | None = None
    """A folder for the data as they were read."""

    @property
    def known_as(self) -> str:
        """How a plan or a command names it."""
        return self.path if self.opened else self.name

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> Source:
        """As it was before it was written down."""
        return cls(**{**state, "home": Path(state["home"]), "cache": Path(state["cache"])})


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

    def file(self, what: str) -> Path | None:
        """One of the files that its run has left."""
        name = self.answer["files"].get(what)
        return self.folder / name if self.folder is not None and name else None


class Project:
    """All state of a browser session. `version` counts its changes, for pages.

    Requests and the queue's threads change it, one at a time.
    """

    def __init__(self, folder: Path, queue: Queue, memory: Memory | None = None) -> None:
        self.id = secrets.token_urlsafe(32)
        """The value of the browser's cookie."""
        self.folder = folder
        self.queue = queue
        self.memory = memory or Memory(None)
        self.version = 0
        self.news = ""
        """The last thing that happened by itself, in one sentence, for the line that is read aloud."""
        self.notices: dict[str, str] = {}
        """Why something was refused, by the name that the address of a page has for it."""
        self.pages = 0
        """Open ones."""
        self.last_seen = monotonic()
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

    def seen(self) -> None:
        """Its browser is still there."""
        self.last_seen = monotonic()

    def note(self, text: str) -> str:
        """The name of a new notice; old ones are forgotten."""
        name = secrets.token_hex(4)
        self.notices = dict([*self.notices.items(), (name, text)][-MOST_NOTICES:])
        return name

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
            new = replace(source, cache=self.new_place())
            try:
                self._start("look", vars(new))
            except errors.SettingsError:
                self._remove(new)
                self.cancel_reading()
                raise
            old, self.incoming = self.incoming, new
            self._remove(old)

    def open_path(self, text: str, allowed: bool) -> None:
        """A file of this machine, read where it is."""
        if not allowed:
            raise wording.paths_not_allowed()
        if not text.strip():
            raise wording.no_path()
        path = Path.cwd() / Path(text.strip()).expanduser()
        self.open(Source(path.name, str(path), self.folder, opened=True))

    def read_again(self, csv: Mapping[str, Any]) -> None:
        """The file that was refused, or else the one that is open, written as `csv` says."""
        old = self.incoming or self.source
        if old is not None:
            self.open(replace(old, csv=dict(csv)))

    def read_as(self, ending: str) -> None:
        """A file that was refused, since it is of another format than its name says."""
        with self.lock:
            old = self.incoming
            if old is not None and not old.opened and not self.is_active("look"):
                name = Path(old.name).with_suffix(ending).name
                (old.home / old.path).rename(old.home / name)
                self.open(replace(old, name=name, path=name, csv={}))

    def cancel_reading(self) -> None:
        """What was open before stays open."""
        with self.lock:
            self.give_up("look")
            self.jobs.pop("look", None)
            old, self.incoming = self.incoming, None
            self._remove(old)
            self.changed()

    def _remove(self, old: Source | None) -> None:
        """Files of a source that is neither read nor open any more."""
        if old is not None and old.cache is not None:
            remove(old.cache)
            needed = [each.home for each in (self.source, self.incoming) if each is not None]
            if not old.opened and old.home not in needed:
                remove(old.home)

    def _take_in(self, found: dict[str, Any]) -> None:
        """The file was read: it takes the place of the last one, and choices are carried over by name."""
        assert self.incoming is not None
        old, self.source, self.incoming = self.source, self.incoming, None
        self._remove(old)
        for kind in [each for each in self.jobs if each != "look"]:
            self.give_up(kind)
            self.jobs.pop(kind, None)
        earlier = self.choices.made()
        self.found = found
        self.choices = Choices.suggested(found["columns"], found["settings"])
        known = {each.id for each in self.releases}
        if not earlier and (state := self.memory.recall(list(self.choices.columns))):
            earlier = state["made"]
            self.releases += [
                Release(each["id"], each["made"], self.source, each["answer"])
                for each in state["releases"]
                if each["id"] not in known and each["answer"]["columns"] == state["columns"]
            ]
        self.choices.take_over(earlier)
        self.taken_over = len(self.choices.chosen)

    # --- choices ------------------------------------------------------------------------------

    def choose(self, name: str, value: object, column: str | None = None) -> None:
        with self.lock:
            self.choices.set(name, value, column)
            self.changed()

    def take_suggestions(self) -> None:
        """Forget what was chosen."""
        self.load({})

    def load(self, plan: Mapping[str, Any]) -> None:
        """Choose what a plan has; if it cannot be used, nothing changes. Without a plan, what is
        suggested.
        """
        with self.lock:
            if self.found is None:
                raise wording.no_data_for_plan()
            choices = Choices.suggested(self.found["columns"], self.found["settings"])
            if plan:
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

    def examine(self, kind: str) -> Job | None:
        """The job that holds the settings against the data, started if these are others than the last: a
        "check", or the "risk" of the file as it is. None if they are refused by themselves.
        """
        with self.lock:
            if self.found is None or self.refusal is not None:
                return None
            settings = self.choices.effective()[0]
            job = self.jobs.get(kind)
            if job is None or job.arguments["settings"] != settings or job.state == "stopped":
                self._start_on_data(kind, settings)
            return self.jobs[kind]

    # --- work ---------------------------------------------------------------------------------

    def run(self) -> None:
        """Protect the file with the settings as they are; `SettingsError` for what cannot be."""
        if self.source is None:
            return
        settings = self.choices.effective()[0]
        folder = self.new_place()
        try:
            self._start_on_data("protect", settings, folder=folder)
        except errors.SettingsError:
            remove(folder)
            raise

    def prove(self) -> None:
        with self.lock:
            release = self.release
            if self.can_prove and release is not None and release.folder is not None:
                about = {"folder": release.folder, "files": release.answer["files"], "of": release.id}
                self._start_on_data("bound", release.answer["asked"], **about)

    @property
    def can_prove(self) -> bool:
        """Whether the data of the release that is shown are open."""
        return self.release is not None and self.release.source == self.source

    def compare(self, ks: list[int], methods: list[str], max_risk: float) -> None:
        """Every k with every method, other settings as they are."""
        if self.source is not None:
            about = {"ks": ks, "methods": methods, "max_risk": max_risk}
            self._start_on_data("compare", self.compared_settings(), **about)

    def compared_settings(self) -> dict[str, Any]:
        """Also those without effect on the method that is chosen, for they may act on another."""
        plan = self.choices.plan()
        if "each" in plan:
            plan["keys"] = [*plan.get("keys", []), *([column] for column in plan["each"])]
        return {name: value for name, value in plan.items() if name in COMPARED}

    def stop(self, kind: str) -> None:
        if kind in self.jobs:
            self.queue.stop(self.jobs[kind])
            self.changed()

    def give_up(self, kind: str) -> None:
        if self.is_active(kind):
            self.queue.give_up(self.jobs[kind])

    def is_active(self, kind: str) -> bool:
        return kind in self.jobs and self.jobs[kind].active

    @property
    def busy(self) -> bool:
        return any(job.active for job in list(self.jobs.values()))

    def _start_on_data(self, kind: str, settings: Mapping[str, Any], **more: Any) -> None:
        assert self.source is not None
        assert self.found is not None
        about = {"known_as": self.source.known_as, "stamp": self.found["stamp"], "settings": settings}
        self._start(kind, {**vars(self.source), **about, **more})

    def _start(self, kind: str, arguments: Mapping[str, Any]) -> None:
        """In place of the last one of its kind; `SettingsError` if too many jobs wait already."""
        with self.lock:
            if self.closed:
                raise wording.session_is_over()
            self.give_up(kind)
            self.jobs[kind] = job = Job(kind, arguments, self._ended)
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
            is_current, is_done = self.jobs.get(job.kind) is job, job.state == "done"
            if job.kind == "protect":
                self._keep(job, is_current and is_done)
            if not is_current:
                return
            if job.kind == "look":
                name = job.arguments["name"]
                self.news = wording.file_was_read(name) if is_done else wording.file_was_refused(name)
            elif job.kind != "risk":
                self.news = NEWS.get((job.kind, job.state), wording.job_ended_otherwise())
            if job.kind == "look" and is_done:
                self._take_in(job.answer)
            for each in self.releases:
                if job.kind == "bound" and is_done and each.id == job.arguments["of"]:
                    each.answer["bound"] = job.answer["bound"]
            self.changed()

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

    def _keep(self, job: Job, is_released: bool) -> None:
        """A run is over: its release is the first of the list, or there is none."""
        folder = job.arguments["folder"]
        if not is_released or self.source is None:
            remove(folder)
            return
        made = datetime.now().strftime("%Y-%m-%d %H:%M")
        self.release = Release(secrets.token_hex(4), made, self.source, job.answer, folder)
        self.releases.insert(0, self.release)
        self.give_up("bound")
        self.jobs.pop("bound", None)
        for each in self.releases[MOST_RELEASES:]:
            if each not in self.not_downloaded:
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
            self.memory.keep(self.state)

    @property
    def state(self) -> dict[str, Any]:
        """All that is needed to go on with the files of this project."""
        return {
            "folder": str(self.folder),
            "columns": list(self.choices.columns),
            "made": self.choices.made(),
            "source": None if self.source is None else asdict(self.source),
            "releases": [{**vars(each), "source": asdict(each.source)} for each in self.releases],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where another server ended: its releases are there, and its file is read again."""
        with self.lock:
            for each in state["releases"]:
                folder = None if each["folder"] is None else Path(each["folder"])
                self.releases.append(
                    Release(**{**each, "source": Source.of(each["source"]), "folder": folder})
                )
            self.release = next((each for each in self.releases if each.folder is not None), None)
            self.choices.chosen = {(name, column): value for name, column, value in state["made"]}
            remove(Path(state["source"]["cache"]))
            self.open(Source.of(state["source"]))
