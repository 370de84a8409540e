"""The command-line face."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from pathlib import Path
from types import FrameType
from typing import Annotated, NoReturn

import typer

from microagg.cli.assess import assess, explain
from microagg.cli.compare import compare
from microagg.cli.methods import methods
from microagg.cli.partition import bound, partition, verify_certificate
from microagg.cli.plan import plan
from microagg.cli.protect import protect
from microagg.errors import (
    Cancelled,
    ContractError,
    DataError,
    MissingExtra,
    NotEnoughMemory,
    SettingsError,
    UnsafeRelease,
)

# Exit codes; `main` maps exceptions to them.
USAGE, UNSAFE, FILES, INTERNAL, INTERRUPTED, TERMINATED = 2, 3, 4, 70, 130, 143

app = typer.Typer(
    help="Protect numeric microdata by microaggregation: groups of at least k similar records, "
    "published as their means.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Options of the command itself."""
    if show:
        from microagg import __version__

        typer.echo(f"microagg {__version__}")
        raise typer.Exit


for command in (
    plan,
    protect,
    assess,
    compare,
    explain,
    methods,
    partition,
    bound,
    verify_certificate,
):
    app.command()(command)


def main() -> NoReturn:
    """Run the command and leave with the exit code that says what happened."""
    signal.signal(signal.SIGTERM, _terminated)
    signal.signal(signal.SIGALRM, _once_more)
    sys.unraisablehook = _ask_again
    code = _run()
    # All is said and done: from here on a signal ends the process without a word of Python's.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(code)


def _run() -> int:
    try:
        # Not app(): Typer's own main() swallows Ctrl-C and closed pipes before we see them.
        command = typer.main.get_command(app)
        with command.make_context("microagg", sys.argv[1:]) as context:
            command.invoke(context)
        sys.stdout.flush()
    except typer.Exit as stop:
        return stop.exit_code
    except KeyboardInterrupt as stop:
        return _complain(str(stop) or "Interrupted; nothing was written.", INTERRUPTED)
    except (typer.Abort, Cancelled):
        return _complain("Interrupted; nothing was written.", INTERRUPTED)
    except (SettingsError, DataError, MissingExtra) as error:
        return _complain(str(error), USAGE)
    except UnsafeRelease as error:
        return _complain(str(error), UNSAFE)
    except BrokenPipeError:
        # The reader of our output has gone, as `| head` does; keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _complain(error.strerror or str(error), FILES)
    except NotEnoughMemory as error:
        return _complain(str(error), INTERNAL)
    except MemoryError:
        return _complain("There is not enough memory for these data and this method.", INTERNAL)
    except ContractError as error:
        return _complain(str(error), INTERNAL)
    except Exception as error:
        # Usage errors come from Typer, whose class for them moved between versions.
        show = getattr(error, "show", None)
        if callable(show):
            show()
            return USAGE
        return _complain(_internal(error), INTERNAL)
    return 0


def _internal(error: Exception) -> str:
    """An unexpected exception's own words might quote data: name only its kind and place."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"Internal error: {type(error).__name__} at {Path(last.filename).name}:{last.lineno}. "
        "This is a bug in microagg; please report it with the command you typed."
    )


def _complain(message: str, code: int) -> int:
    if (
        _termination.is_set()
    ):  # libraries may turn the exit that they are asked for into errors of their own
        return TERMINATED
    typer.echo(f"microagg: {message}", err=True)
    return code


_termination = threading.Event()


def _terminated(_signal: int, _frame: FrameType | None) -> None:
    _termination.set()
    raise _Termination(TERMINATED)


class _Termination(SystemExit):
    """What a request to end the process raises, wherever it is at that moment."""


def _ask_again(lost: sys.UnraisableHookArgs) -> None:
    """A signal in a finalizer raises where Python can only drop it: repeat it shortly after."""
    if issubclass(lost.exc_type, _Termination | KeyboardInterrupt):
        _dropped.append(signal.SIGTERM if issubclass(lost.exc_type, _Termination) else signal.SIGINT)
        signal.setitimer(signal.ITIMER_REAL, _SHORTLY)
    else:
        sys.__unraisablehook__(lost)


def _once_more(_signal: int, _frame: FrameType | None) -> None:
    if _dropped:
        signal.raise_signal(_dropped.pop())


_dropped: list[signal.Signals] = []
_SHORTLY = 0.01
