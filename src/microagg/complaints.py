"""What a terminal shows of an exception that nobody expected: its kind and place. Its text, and the paths
of a traceback, may hold what is private.
"""

from __future__ import annotations

import sys
import threading
import traceback
import warnings
from pathlib import Path
from typing import Any

from microagg import wording


def hide_tracebacks() -> None:
    """From now on nothing in this process prints a traceback or the text of a warning."""
    traceback.print_exception = print_place
    threading.excepthook = lambda thrown: print_place(thrown.exc_value)
    sys.excepthook = lambda _kind, error, _trace: print_place(error)
    warnings.showwarning = _print_warning_place


def print_place(*thrown: Any, file: Any = None, **_settings: object) -> None:
    """Called like `traceback.print_exception`: by an exception, or by its kind, itself and its trace."""
    error = next((each for each in thrown if isinstance(each, BaseException)), None)
    if error is not None:
        text = wording.page_failed(type(error).__name__, place_of(error))
        print(text, file=file or sys.stderr)


def place_of(error: BaseException) -> str:
    """Unknown for what a finalizer in C has raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown place"


def _print_warning_place(*warned: Any, **_settings: object) -> None:
    """Called like `warnings.showwarning`."""
    _, category, filename, line = warned[:4]
    print(wording.page_warned(category.__name__, f"{Path(filename).name}:{line}"), file=sys.stderr)
