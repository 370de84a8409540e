"""Work in processes of their own, with limits of memory and time, a small queue, and a clean end."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import Any, Literal

from microagg import wording
from microagg.web import worker

State = Literal["waiting", "running", "stopping", "done", "refused", "failed", "stopped"]

QUICK = ("look", "check", "risk")
AT_ONCE = 2
"""So many quick jobs run, and so many others: what is quick does not wait behind what takes long."""
MOST_WAITING = 10
GRACE = 60.0
"""Seconds that a job gets to come to an end with the best so far, once its time is over."""
MOST_POINTS = 400
"""Of a curve: more are thinned out."""
LISTEN = 0.1
"""Seconds between two looks whether a job is to be stopped."""

_CONTEXT = multiprocessing.get_context("forkserver")
# Imported once, in a process that does nothing else: a job begins within milliseconds.
_CONTEXT.set_forkserver_preload(["microagg.web.preloaded"])


@dataclass(frozen=True, slots=True)
class Limits:
    memory: int
    """Bytes."""
    minutes: float

    @classmethod
    def of(cls, gibibytes: float | None, minutes: float) -> Limits:
        """By default, a part of the machine's memory for each of the jobs that may run at once."""
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        usual = max(machine // (2 * AT_ONCE), 2**30)
        return cls(usual if gibibytes is None else int(gibibytes * 2**30), minutes)


@dataclass(eq=False)
class Job:
    """One piece of work. A thread of the queue fills it in; everybody else only reads."""

    kind: str
    arguments: Mapping[str, Any]
    ended: Callable[[Job], None]
    """Called once, when the state is final."""
    state: State = "waiting"
    stage: str = ""
    done: float = 0.0
    """Share of the whole job."""
    curve: list[tuple[float, float]] = field(default_factory=list)
    """Seconds and information loss of the best so far."""
    mdav: float | None = None
    began: float = 0.0
    took: float | None = None
    """Seconds, once it has ended."""
    answer: dict[str, Any] = field(default_factory=dict)
    """A run has it as soon as its release is verified and written; it then still draws its reports."""
    message: str = ""
    """Why there is no answer."""
    cures: list[dict[str, Any]] = field(default_factory=list)
    """What would settle a refusal, see `cures.py`."""
    process: BaseProcess | None = None
    given_up: bool = False
    over: threading.Event = field(default_factory=threading.Event)
    """Its process is gone."""

    @property
    def is_quick(self) -> bool:
        return self.kind in QUICK

    @property
    def active(self) -> bool:
        """Waiting, running or about to stop."""
        return self.state in ("waiting", "running", "stopping")

    @property
    def seconds(self) -> float:
        """For which it has run, also while its process says nothing."""
        return monotonic() - self.began if self.took is None else self.took

    def take(self, loss: float | None = None, **message: Any) -> None:
        """What its process says: some of these fields, and the loss of the best groups so far."""
        for name, value in message.items():
            setattr(self, name, value)
        if loss is not None and (not self.curve or loss < self.curve[-1][1]):
            self.curve.append((self.seconds, loss))
            if len(self.curve) > MOST_POINTS:
                self.curve[1:-1:2] = []


class Queue:
    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._jobs: list[Job] = []
        """Those that wait or run, in their order."""
        self.lock = threading.RLock()
        """Held while the state of a job changes. Where both are needed, a project's lock is taken first."""
        self._closed = False

    def submit(self, job: Job) -> None:
        """Start it as soon as there is room. It is stopped if too many wait."""
        with self.lock:
            self._jobs.append(job)
            if self._closed or sum(each.state == "waiting" for each in self._jobs) > MOST_WAITING:
                self.stop(job, str(wording.queue_full(MOST_WAITING)))
            self._start_next()

    def where(self, job: Job) -> str:
        """What it is doing, or how many it waits for, in a few words."""
        with self.lock:
            if job.state == "waiting":
                before = takewhile(lambda each: each is not job, self._jobs)
                like = [each for each in before if (each.state, each.is_quick) == ("waiting", job.is_quick)]
                return wording.job_waits(len(like) + 1)
            if job.state == "stopping":
                return wording.where_it_is("Coming to an end", job.seconds, 0.0)
            return wording.where_it_is(job.stage, job.seconds, job.done)

    def stop(self, job: Job, reason: str | None = None) -> None:
        """End it with the best so far; one that has not begun has nothing to keep."""
        with self.lock:
            waited = job.state == "waiting"
            if waited:
                self._jobs.remove(job)
                job.state, job.message = "stopped", reason or wording.job_stopped()
            elif job.state == "running":
                job.state = "stopping"
        if waited:
            job.ended(job)
            job.over.set()

    def give_up(self, job: Job) -> None:
        """End it at once, without an answer."""
        job.given_up = True
        self.stop(job)

    def close(self) -> None:
        """End everything, when the server stops."""
        with self.lock:
            self._closed = True
            left = list(self._jobs)
        self.end(left)

    def end(self, jobs: list[Job]) -> None:
        """Give them up, and wait until their processes are gone."""
        for job in jobs:
            self.give_up(job)
        for job in jobs:
            job.over.wait(5.0)

    def _start_next(self) -> None:
        running = Counter(job.is_quick for job in self._jobs if job.state != "waiting")
        for job in self._jobs:
            if job.state == "waiting" and running[job.is_quick] < AT_ONCE:
                running[job.is_quick] += 1
                job.state, job.began = "running", monotonic()
                threading.Thread(target=self._attend, args=(job,), daemon=True).start()

    def _attend(self, job: Job) -> None:
        """See to it until its process is gone, and make room for the next."""
        try:
            last = self._work(job)
        except (OSError, RuntimeError):  # no process to be had
            last = _failed(wording.job_ended())
        with self.lock:
            self._jobs.remove(job)
            job.answer, job.took = {}, job.seconds
            job.take(**({"state": "stopped", "message": wording.job_stopped()} if job.given_up else last))
            self._start_next()
        job.ended(job)
        job.over.set()

    def _work(self, job: Job) -> dict[str, Any]:
        """Start the process and listen to it until it ends; what it says last."""
        ours, theirs = _CONTEXT.Pipe()
        about = (theirs, job.kind, dict(job.arguments), self.limits.memory)
        job.process = _CONTEXT.Process(target=worker.run_job, args=about, daemon=True)
        with ours:
            with theirs:
                job.process.start()
            last = self._listen(job, job.process, ours)
            job.process.join()
        return last

    def _listen(self, job: Job, process: BaseProcess, pipe: Connection) -> dict[str, Any]:
        deadline = monotonic() + 60.0 * self.limits.minutes
        is_told, last = False, dict[str, Any]()
        while "state" not in last:
            job.take(**last)
            if monotonic() > deadline:
                self.stop(job)
            if job.given_up or monotonic() > deadline + GRACE:
                process.kill()
            try:
                last = pipe.recv() if pipe.poll(LISTEN) else {}
                if job.state == "stopping" and not is_told:
                    is_told = True
                    with suppress(OSError):  # it may just have ended
                        pipe.send("stop")
            except (EOFError, OSError):
                last = _failed(wording.job_ended())
        if last["state"] != "done" and monotonic() > deadline:
            last = _failed(str(wording.job_out_of_time(self.limits.minutes)))
        return last


def _failed(message: str) -> dict[str, Any]:
    return {"state": "failed", "message": message}
