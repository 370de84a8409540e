"""Work in processes of their own, with limits of memory and time, a small queue, and a clean end."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
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

_CONTEXT = multiprocessing.get_context("forkserver")
# Imported once, in a process that does nothing else: a job begins within milliseconds.
_CONTEXT.set_forkserver_preload(["microagg.web.work", "pyarrow.csv", "pyarrow.compute", "pyarrow.parquet"])


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
    seconds: float = 0.0
    answer: dict[str, Any] = field(default_factory=dict)
    """A run has it as soon as its release is verified and written; it then still draws its reports."""
    message: str = ""
    """Why there is no answer."""
    cures: list[dict[str, Any]] = field(default_factory=list)
    """What would settle a refusal, see `cures.py`."""
    process: BaseProcess | None = None
    pipe: Connection | None = None
    given_up: bool = False
    late: bool = False
    over: threading.Event = field(default_factory=threading.Event)
    """Its process is gone."""

    @property
    def is_quick(self) -> bool:
        return self.kind in QUICK

    @property
    def active(self) -> bool:
        """Waiting, running or about to stop."""
        return self.state in ("waiting", "running", "stopping")

    def take(self, message: Mapping[str, Any]) -> None:
        for name in ("stage", "done", "mdav", "seconds", "answer"):
            if name in message:
                setattr(self, name, message[name])
        loss = message.get("loss")
        if loss is not None and (not self.curve or loss < self.curve[-1][1]):
            self.curve.append((message["seconds"], loss))
            if len(self.curve) > MOST_POINTS:
                self.curve[1:-1:2] = []


class Queue:
    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._waiting: deque[Job] = deque()
        self._running: set[Job] = set()
        self.lock = threading.RLock()
        """Held while the state of a job changes. Where both are needed, a project's lock is taken first."""
        self._closed = False

    def warm_up(self) -> None:
        """Start the process from which jobs are forked, without waiting for it."""
        from multiprocessing import forkserver

        threading.Thread(target=forkserver.ensure_running, daemon=True).start()

    def submit(self, job: Job) -> None:
        """Start it as soon as there is room; `SettingsError` if too many wait."""
        with self.lock:
            if self._closed or len(self._waiting) >= MOST_WAITING:
                raise wording.queue_full(MOST_WAITING)
            self._waiting.append(job)
            self._start_next()

    def place(self, job: Job) -> int:
        with self.lock:
            own = [other for other in self._waiting if other.is_quick == job.is_quick]
            return own.index(job) if job in own else 0

    def stop(self, job: Job) -> None:
        """End it with the best so far; one that has not begun has nothing to keep."""
        with self.lock:
            waited = job in self._waiting
            if waited:
                self._waiting.remove(job)
                job.message = wording.job_stopped()
                job.state = "stopped"
            elif job.state == "running":
                job.state = "stopping"
                if job.pipe is not None:
                    with suppress(OSError):  # it may just have ended
                        job.pipe.send("stop")
        if waited:
            job.ended(job)
            job.over.set()

    def give_up(self, job: Job) -> None:
        self.stop(job)
        with self.lock:
            job.given_up = True
            if job.process is not None and job.active:
                job.process.kill()

    def close(self) -> None:
        """End everything, when the server stops."""
        with self.lock:
            self._closed = True
            left = [*self._waiting, *self._running]
        for job in left:
            self.give_up(job)
        for job in left:
            job.over.wait(5.0)

    def _start_next(self) -> None:
        for job in list(self._waiting):
            if sum(other.is_quick == job.is_quick for other in self._running) < AT_ONCE:
                self._waiting.remove(job)
                self._running.add(job)
                job.state = "running"
                threading.Thread(target=self._attend, args=(job,), daemon=True).start()

    def _attend(self, job: Job) -> None:
        """See to it until its process is gone, and make room for the next."""
        try:
            state, answer = self._work(job)
        except (OSError, RuntimeError):  # no process to be had
            state, answer = "gone", None
        with self.lock:
            self._running.discard(job)
            self._settle(job, state, answer)
            self._start_next()
        job.ended(job)
        job.over.set()

    def _work(self, job: Job) -> tuple[str, Any]:
        """Start the process and listen to it until it ends."""
        ours, theirs = _CONTEXT.Pipe()
        process = _CONTEXT.Process(
            target=worker.run, args=(theirs, job.kind, dict(job.arguments), self.limits.memory), daemon=True
        )
        with ours:
            with theirs:
                process.start()
            with self.lock:
                job.pipe, job.process = ours, process
                if job.given_up:
                    process.kill()
                elif job.state == "stopping":
                    with suppress(OSError):  # it may just have ended
                        ours.send("stop")
            message = self._listen(job, ours)
            process.join()
        return message

    def _listen(self, job: Job, pipe: Connection) -> tuple[str, Any]:
        """What the process says last."""
        deadline = monotonic() + 60.0 * self.limits.minutes
        while True:
            try:
                if pipe.poll(0.5):
                    kind, message = pipe.recv()
                    if kind != "progress":
                        return kind, message
                    job.take(message)
            except (EOFError, OSError):
                return "gone", None
            if monotonic() > deadline and not job.late:
                job.late = True
                self.stop(job)
            if monotonic() > deadline + GRACE and job.process is not None:
                job.process.kill()

    def _settle(self, job: Job, state: str, answer: Any) -> None:
        if state == "done" and not job.given_up:
            job.state, job.answer = "done", answer
            return
        job.state, job.answer = "failed", {}
        if job.late:
            job.message = str(wording.job_out_of_time(self.limits.minutes))
        elif job.given_up or state == "stopped":
            job.state, job.message = "stopped", wording.job_stopped()
        elif state == "refused":
            job.state, (job.message, job.cures) = "refused", answer
        elif state == "memory":
            job.message = str(wording.job_out_of_memory(self.limits.memory))
        else:
            job.message = answer or wording.job_ended()
