"""The inside of a job's process: its limits, its line to the server, and what its errors become."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Mapping
from multiprocessing.connection import Connection
from time import monotonic
from typing import TYPE_CHECKING, Any

from microagg import errors, wording
from microagg.complaints import place_of
from microagg.process import forbid_core_dumps, limit_memory
from microagg.settings.cures import cures_of
from microagg.settings.declared import ON_PAGES

if TYPE_CHECKING:
    from microagg.methods.run import Progress

_EVERY = 0.15
"""Seconds between two reports of progress."""
_KINDER = 5
"""By so much a job gives way to the pages."""


class Line:
    """The line to the server: progress there, the wish to stop back."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._stop = threading.Event()
        self._last = 0.0
        self._lock = threading.Lock()
        self._done = 0.0
        self._stage, self._part = "", (0.0, 1.0)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        try:
            while self._pipe.recv() == "stop":
                self._stop.set()
        except (EOFError, OSError):
            os._exit(1)  # the server is gone: nobody wants the answer, and its files are swept

    def begin(self, stage: str, start: float = 0.0, end: float = 1.0) -> None:
        """A stage, and the part of the whole job that it takes, from 0 to 1."""
        self._stage, self._part = stage, (start, end)
        self.report(stage=stage, done=start)

    def report(self, done: float = 0.0, **message: object) -> None:
        """What the server shall know of the job, see `Job.take`; the share that is `done` never falls."""
        with self._lock:
            self._done = max(self._done, done)
            self._pipe.send({"done": self._done, **message})

    def watch(self, progress: Progress) -> bool:
        """What the engines call while they work; True asks them for the best so far."""
        if monotonic() - self._last >= _EVERY:
            self._last = monotonic()
            start, end = self._part
            stage = ", ".join(filter(None, [self._stage, progress.part]))
            if isinstance(progress.stage, wording.Step):
                stage = progress.stage.capitalize()
            done = start + (end - start) * progress.done
            self.report(done, loss=progress.information_loss, stage=stage)
        return self._stop.is_set()


def run_job(pipe: Connection, kind: str, arguments: Mapping[str, Any], memory: int) -> None:
    """What a job's process does: its work, and at last how it ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends its jobs itself
    os.nice(_KINDER)
    os.umask(0o077)
    line = Line(pipe)
    limit_memory(memory)
    forbid_core_dumps()
    with wording.shown_by(ON_PAGES):
        line.report(**_ending(kind, arguments, line, memory))


def _ending(kind: str, arguments: Mapping[str, Any], line: Line, memory: int) -> dict[str, Any]:
    """The state in which the job ends, with its answer or the reason why there is none."""
    try:
        from microagg.web.work import KINDS

        return {"state": "done", "answer": KINDS[kind](arguments, line)}
    except (errors.SettingsError, errors.DataError, errors.UnsafeRelease, errors.MissingExtra) as refusal:
        return {
            "state": "refused",
            "message": str(refusal),
            "cures": cures_of(refusal, arguments.get("settings", {})),
        }
    except errors.Cancelled:
        return {"state": "stopped", "message": wording.job_stopped()}
    except MemoryError:
        message = str(wording.job_out_of_memory(memory))
    except OSError as error:
        message = wording.job_failed_to_write(error.strerror or str(error))
    except Exception as error:
        message = wording.job_failed(type(error).__name__, place_of(error))
    return {"state": "failed", "message": message}
