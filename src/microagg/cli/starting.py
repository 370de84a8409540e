"""The first and the last thing that the command does: signals, standard streams, limits, exit code.

Nothing large is imported here, so that signals are answered while everything else is imported.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

from microagg.cli.watched_process import watched_if_limited
from microagg.process import ENDING, forbid_core_dumps, is_shortage, last_committed

INTERRUPTED = 130
"""Exit code: 128 and the number of the signal."""

_NOT_BEGUN = 1


class Termination(SystemExit):
    """What a request to end the process raises, wherever it is at that moment."""


class _Run:
    """What is known about the run so far."""

    begun = False
    """Before that a signal ends the process at once: libraries that are being imported may make errors of
    their own of what is raised in their midst, and standard output is replaced."""
    asked_to_end: int | None = None
    """The signal that did."""
    reminded = False
    """A signal has come after all was written."""


def main() -> NoReturn:
    """Run the command and leave with the exit code of what happened."""
    forbid_core_dumps()
    for number in ENDING:
        if signal.getsignal(number) not in (None, signal.SIG_IGN):
            signal.signal(number, _end_by_signal)
    _open_closed_streams()
    code = watched_if_limited()
    if code is None:
        try:
            code = _import_and_run()
        except KeyboardInterrupt:  # in the last moment, when there is nothing left to interrupt
            code = INTERRUPTED
    # Everything is done but Python's own tidying up: from here on a signal changes nothing.
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    sys.exit(code)


def _import_and_run() -> int:
    try:
        from microagg.cli.entry import repeat_lost_signals, run, show_any_name
    except Exception as error:
        if not is_shortage(error):
            raise
        os._exit(_NOT_BEGUN)  # the process that watches prints why
    repeat_lost_signals()
    show_any_name()
    return run(_begin)


def _begin() -> None:
    _Run.begun = True


def asked_to_end() -> int | None:
    """The exit code that a signal has asked for: libraries may make another error of what it raised."""
    return None if _Run.asked_to_end is None else 128 + _Run.asked_to_end


def _end_by_signal(number: int, _frame: FrameType | None) -> None:
    if not _Run.begun:
        if number == signal.SIGINT:
            os.write(sys.stderr.fileno(), b"microagg: Interrupted; nothing was written.\n")
        os._exit(128 + number)
    if last_committed() is not None:  # the files of the run have their names: it has succeeded
        if _Run.reminded:  # whoever repeats it does not want to wait for what is still printed
            raise Termination(0)
        _Run.reminded = True
        return
    _Run.asked_to_end = number
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise Termination(128 + number)


def _open_closed_streams() -> None:
    """Let no file that is opened later become a standard stream that was closed.

    Nobody reads what is written to these; `sys.stdin` stays None, so that reading it can be refused.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != descriptor:
                os.dup2(opened, descriptor)
                os.close(opened)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
