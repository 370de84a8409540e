"""What one browser session works on: a file, choices, jobs and releases. It outlives any single page."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import Any

from microagg import errors, wording
from microagg.private_folder import remove
from microagg.settings.cures import cures_of
from microagg.settings.declared import REPRESENTATIVES, CompareSettings
from microagg.settings.options import options_of
from microagg.web.choices import Choices
from microagg.web.jobs import Job, Queue
from microagg.web.memory import Memory

MOST_RELEASES = 5
"""Releases that are kept; one that was not downloaded yet is kept in any case."""
MOST_NOTICES = 20


@dataclass(frozen=True)
class ChosenFile:
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
    def of(cls, state: Mapping[str, Any]) -> ChosenFile:
        """As it was before it was written down."""
        return cls(**{**state, "home": Path(state["home"]), "cache": Path(state["cache"])})


@dataclass
class ReleasedFile:
    """A run that ended well. `folder` is None if only its settings are known, from an earlier server."""

    id: str
    made: str
    """When, as a date and time of day."""
    source: ChosenFile
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
        self.source: ChosenFile | None = None
        self.found: dict[str, Any] | None = None
        """What the file holds, as the job that looked at it answered."""
        self.incoming: ChosenFile | None = None
        """A file that is being read, or was refused; until it was read, all stays as it is."""
        self.choices = Choices()
        self.taken_over = 0
        """Choices that were made for another file, or earlier, and are in force for this one."""
        self.jobs: dict[str, Job] = {}
        """The last of each kind."""
        self.releases: list[ReleasedFile] = []
        """The newest first."""
        self.release: ReleasedFile | None = None
        """The one that Result and Hand over show."""
        usual = CompareSettings()
        self.comparison = {
            "k": ", ".join(map(str, usual.k)),
            "methods": ", ".join(usual.methods),
            "max_risk": str(usual.max_risk),
            **dict.fromkeys(REPRESENTATIVES, ""),
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

    def open(self, source: ChosenFile) -> None:
        """Read another file, or the same in another format; it takes the place of this one once it was
        read and no run works on this one.
        """
        with self.lock:
            old, self.incoming = self.incoming, replace(source, cache=self.new_place())
            self._start("look", vars(self.incoming))
            self._remove(old)

    def open_path(self, text: str, allowed: bool) -> None:
        """A file of this machine, read where it is."""
        if not allowed:
            raise wording.paths_not_allowed()
        if not text.strip():
            raise wording.no_path()
        path = Path.cwd() / Path(text.strip()).expanduser()
        self.open(ChosenFile(path.name, str(path), self.folder, opened=True))

    def read_again(self, csv: Mapping[str, Any], keeping: bool = False) -> None:
        """The file that was refused, or else the one that is open, written as `csv` says, and `keeping` as
        was said before.
        """
        old = self.incoming or self.source
        if old is not None:
            self.open(replace(old, csv={**(old.csv if keeping else {}), **csv}))

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

    def _remove(self, old: ChosenFile | None) -> None:
        """Files of a source that is neither read nor open any more."""
        if old is not None and old.cache is not None:
            remove(old.cache)
            needed = [each.home for each in (self.source, self.incoming) if each is not None]
            if not old.opened and old.home not in needed:
                remove(old.home)

    def _take_in(self) -> None:
        """A file that was read takes the place of the last one as soon as no run works on that; choices are
        carried over by name.
        """
        look = self.jobs.get("look")
        with self.queue.lock:  # the answer is there as soon as the state is
            found = look.answer if look is not None and look.state == "done" else None
        if found is None or self.incoming is None or self.is_active("protect"):
            return
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
                ReleasedFile(each["id"], each["made"], self.source, each["answer"])
                for each in state["releases"]
                if each["id"] not in known and each["answer"]["columns"] == state["columns"]
            ]
        self.choices.take_over(earlier)
        self.taken_over = len(self.choices.chosen)

    # --- choices ------------------------------------------------------------------------------

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
    def settings(self) -> Mapping[str, Any] | None:
        """Those that act; None if they are refused by themselves."""
        with suppress(errors.SettingsError):
            return self.choices.effective()[0].settings
        return None

    @property
    def refusal(self) -> tuple[str, list[dict[str, Any]]] | None:
        """Why the settings cannot be, by themselves, and what would settle it."""
        try:
            self.choices.effective()
        except errors.SettingsError as error:
            return str(error), cures_of(error, self.choices.settings)
        return None

    def examine(self, kind: str) -> Job | None:
        """The job that holds the settings against the data, started if these are others than the last: a
        "check", or the "risk" of the file as it is. None if they are refused by themselves.
        """
        with self.lock:
            job, settings = self.jobs.get(kind), self.settings
            if settings is None:
                return None
            if job is None or job.arguments["settings"] != settings or job.state == "stopped":
                self._start_on_data(kind, settings)
            return self.jobs.get(kind)

    # --- work ---------------------------------------------------------------------------------

    def run(self) -> None:
        """Protect the file with the settings as they are; `SettingsError` for what cannot be."""
        self._start_on_data("protect", self.choices.effective()[0].settings, folder=self.new_place())

    def prove(self) -> None:
        with self.lock:
            if self.release is not None and self.can_prove:
                answer, folder = self.release.answer, self.release.folder
                about = {"folder": folder, "files": answer["files"], "of": self.release.id}
                self._start_on_data("bound", answer["asked"], **about)

    @property
    def can_prove(self) -> bool:
        """Whether the data of the release that is shown are open."""
        return self.release is not None and self.release.source == self.source

    def compare(self, given: Mapping[str, str]) -> None:
        """Every k with every method and what groups shall publish, other settings as they are; what was
        typed is kept.
        """
        self.comparison = {name: given.get(name, "").strip() for name in self.comparison}
        options, tried = options_of(CompareSettings), {}
        for name, text in self.comparison.items():
            if text or name not in REPRESENTATIVES:
                kind = options[name].kind
                value = kind.parse(name, [text]) if kind.repeatable else kind.from_form(text)
                tried[name] = kind.check(name, value)
        self._start_on_data("compare", self.compared_settings(), tried=tried)

    def compared_settings(self) -> dict[str, Any]:
        """Also those without effect on the method that is chosen, for they may act on another."""
        from microagg.plan.strategies import compared_settings

        return compared_settings(self.choices.plan())

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
        if self.source is not None and self.found is not None:
            about = {"known_as": self.source.known_as, "settings": settings}
            self._start(kind, {**vars(self.source), **about, **more})

    def _start(self, kind: str, arguments: Mapping[str, Any]) -> None:
        """In place of the last one of its kind."""
        with self.lock:
            if self.closed:
                raise wording.session_is_over()
            self.give_up(kind)
            self.jobs[kind] = Job(kind, arguments, self._ended)
            self.queue.submit(self.jobs[kind])
            self.changed()

    def _ended(self, job: Job) -> None:
        """Called by the queue's thread."""
        with self.lock:
            is_current, is_done = self.jobs.get(job.kind) is job, job.state == "done"
            if job.kind == "protect":
                self._keep(job, is_current and is_done)
            if not is_current:
                return
            if job.kind != "risk":
                self.news = wording.how_it_ended(job.kind, job.state, job.arguments["name"])
            self._take_in()
            for each in self.releases:
                if job.kind == "bound" and is_done and each.id == job.arguments["of"]:
                    each.answer["bound"] = job.answer["bound"]
            self.changed()

    # --- releases -----------------------------------------------------------------------------

    @property
    def settings_changed(self) -> bool:
        """Whether the choices are no longer those of the release that is shown."""
        if self.release is None:
            return False
        return self.release.source != self.source or self.release.answer["asked"] != self.settings

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
    def not_downloaded(self) -> list[ReleasedFile]:
        return [each for each in self.releases if each.folder is not None and not each.downloaded]

    def _keep(self, job: Job, is_released: bool) -> None:
        """A run is over: its release is the first of the list, or there is none."""
        folder = job.arguments["folder"]
        if not is_released or self.source is None:
            remove(folder)
            return
        made = datetime.now().strftime("%Y-%m-%d %H:%M")
        self.release = ReleasedFile(secrets.token_hex(4), made, self.source, job.answer, folder)
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
            left = list(self.jobs.values())
        self.queue.end(left)

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
                    ReleasedFile(**{**each, "source": ChosenFile.of(each["source"]), "folder": folder})
                )
            self.release = next((each for each in self.releases if each.folder is not None), None)
            self.choices.chosen = {(name, column): value for name, column, value in state["made"]}
            old = ChosenFile.of(state["source"])
            remove(Path(state["source"]["cache"]))
            self.open(old)
            for release in self.releases:
                if release.source == old and not old.opened:  # nobody else could change it
                    release.source = self.incoming or old
