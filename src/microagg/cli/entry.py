"""The command-line face."""

from __future__ import annotations

import codecs
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TextIO

import click
from click.shell_completion import shell_complete

from microagg import wording
from microagg.cli.commands import app
from microagg.cli.starting import INTERRUPTED, Termination, asked_to_end
from microagg.complaints import place_of
from microagg.errors import (
    Cancelled,
    ContractError,
    DataError,
    MissingExtra,
    NotEnoughMemory,
    SettingsError,
    UnsafeRelease,
)
from microagg.process import is_near_limit, is_shortage, last_committed
from microagg.wording import visible_lines

# Exit codes; `run` maps exceptions to them.
USAGE, UNSAFE, FILES, INTERNAL = 2, 3, 4, 70

COMPLETION = "_MICROAGG_COMPLETE"
"""The variable by which a shell asks for completions."""

_AS_BYTES = "microagg-as-bytes"


def repeat_lost_signals() -> None:
    """Signals in finalizers, where Python drops what is raised, are not lost."""
    signal.signal(signal.SIGALRM, _once_more)
    sys.unraisablehook = _ask_again


def run(begin: Callable[[], None]) -> int:
    """The command, and the exit code of what happened; `begin` is called when signals can be answered."""
    with wording.shown_by(wording.on_command_line):
        return _run_and_explain(begin)


def _run_and_explain(begin: Callable[[], None]) -> int:
    try:
        begin()
        # Not app(): Click's own main() swallows Ctrl-C and closed pipes before we see them.
        if asked := os.environ.get(COMPLETION):
            return shell_complete(app, {}, "microagg", COMPLETION, asked)
        with app.make_context("microagg", sys.argv[1:]) as context:
            app.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        return _show_usage(error)
    except Termination as stop:
        return int(stop.code or 0)
    except KeyboardInterrupt as stop:
        return _complain_and_end(str(stop) or wording.interrupted(), INTERRUPTED)
    except (click.Abort, Cancelled):
        return _complain_and_end(wording.interrupted(), INTERRUPTED)
    except (SettingsError, DataError, MissingExtra) as error:
        return _complain_and_end(str(error), USAGE)
    except UnsafeRelease as error:
        return _complain_and_end(str(error), UNSAFE)
    except BrokenPipeError:
        # The reader of our output has gone, as `| head` does; keep Python from complaining at exit.
        _discard(sys.stdout)
        return 0
    except _NotPrintedError as error:
        _discard(sys.stdout)
        return _complain_and_end(wording.cannot_print(str(error), last_committed()), FILES)
    except OSError as error:
        return _complain_and_end(error.strerror or str(error), FILES)
    except (NotEnoughMemory, ContractError) as error:
        return _complain_and_end(str(error), INTERNAL)
    except MemoryError:
        return _complain_and_end(wording.out_of_memory(), INTERNAL)
    except Exception as error:
        return _complain_and_end(wording.out_of_memory() if is_near_limit() else _internal(error), INTERNAL)
    return 0


def _show_usage(error: click.ClickException) -> int:
    shown = io.StringIO()
    error.show(shown)
    with _dropping():
        click.echo(visible_lines(shown.getvalue()), err=True, nl=False)
    return USAGE


def show_any_name() -> None:
    r"""Names of files need not be text: bytes that are none are printed as \xff, not refused."""
    codecs.register_error(_AS_BYTES, _as_bytes)
    if sys.stdout is sys.__stdout__ and isinstance(sys.stdout, io.TextIOWrapper):
        encoding, by_line = sys.stdout.encoding, sys.stdout.line_buffering
        sys.stdout = _Output(sys.stdout.detach(), encoding, _AS_BYTES, line_buffering=by_line)
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors=_AS_BYTES)


def _as_bytes(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    shown = wording.shown(error.object[error.start : error.end])
    return shown.encode("ascii", "backslashreplace").decode(), error.end


class _NotPrintedError(OSError):
    """Standard output has failed, and nothing else."""


class _Output(io.TextIOWrapper):
    """Standard output, whose failures are distinguished from those of files that are read and written."""

    def write(self, text: str, /) -> int:
        with _marking_failures():
            return super().write(text)

    def flush(self) -> None:
        with _marking_failures():
            super().flush()


@contextmanager
def _marking_failures() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _NotPrintedError(error.strerror or "writing failed") from None


def _discard(stream: TextIO) -> None:
    """Let what is still waiting to be printed vanish, so that Python does not complain at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _internal(error: Exception) -> str:
    """An unexpected exception's own message might quote data: name only its kind and place."""
    return (
        f"Internal error: {type(error).__name__} at {place_of(error)}. "
        "This is a bug in microagg; please report it with the command you typed."
    )


def _complain_and_end(message: str, code: int) -> int:
    asked = asked_to_end()
    if asked is not None and asked != INTERRUPTED:
        return asked
    if asked == INTERRUPTED and code != INTERRUPTED:
        message, code = wording.interrupted(), INTERRUPTED
    elif is_shortage(sys.exception()):
        known = isinstance(sys.exception(), NotEnoughMemory)  # beforehand, with figures
        message, code = message if known else wording.out_of_memory(), INTERNAL
    with _dropping():
        click.echo(f"microagg: {visible_lines(message)}", err=True)
    return code


@contextmanager
def _dropping() -> Iterator[None]:
    """What cannot be printed to standard error is dropped: the exit code remains."""
    try:
        yield
    except OSError:
        _discard(sys.stderr)


def _ask_again(lost: sys.UnraisableHookArgs) -> None:
    """A signal in a finalizer raises where Python can only drop it: repeat it shortly after."""
    if issubclass(lost.exc_type, Termination | KeyboardInterrupt):
        asked = asked_to_end()
        _dropped.append(signal.SIGINT if asked is None else signal.Signals(asked - 128))
        signal.setitimer(signal.ITIMER_REAL, _SHORTLY)
    elif isinstance(lost.exc_value, Exception) and not (is_shortage(lost.exc_value) or is_near_limit()):
        with _dropping():
            click.echo(f"microagg: {_internal(lost.exc_value)}", err=True)


def _once_more(_signal: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code is _ask_again.__code__:  # Python would drop it there once more
            signal.setitimer(signal.ITIMER_REAL, _SHORTLY)
            return
        frame = frame.f_back
    if _dropped:
        signal.raise_signal(_dropped.pop())


_dropped: list[signal.Signals] = []
_SHORTLY = 0.01
