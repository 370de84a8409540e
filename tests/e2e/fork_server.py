"""The command `microagg` many times in processes of its own, of which only the first imports everything.

This file is both the server, when it is run, and what starts it and talks to it. For each command the
server forks: the child gets arguments, folder, and standard streams, and calls `microagg.cli.main`.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import microagg
from microagg import cli

LIBRARIES = (
    *("pandas", "openpyxl", "pyreadstat", "jinja2", "click"),
    *("pyarrow.compute", "pyarrow.csv", "pyarrow.dataset", "pyarrow.feather", "pyarrow.parquet"),
)
"""What commands import when they need it."""


def outcome(
    *words: object, folder: Path | None = None, given: str | bytes = b"", merged: bool = False, **more: Any
) -> subprocess.CompletedProcess[str]:
    """What `microagg` with these words does, in a folder, with this text on its standard input.

    `merged`: standard error goes to standard output. `more` is what `forked` takes.
    """
    arguments = list(map(str, words))
    with tempfile.TemporaryDirectory(prefix="streams-") as place:
        streams = [Path(place) / name for name in ("in", "out", "err")]
        streams[0].write_bytes(given.encode() if isinstance(given, str) else given)
        for stream in streams[1:]:
            stream.touch()
        paths = [str(stream) for stream in streams]
        if merged:
            paths[2] = paths[1]
        code = forked(
            {"arguments": arguments, "folder": str(folder or Path.cwd()), "streams": paths, **more}
        )
        printed = (stream.read_text("utf-8") for stream in streams[1:])
        return subprocess.CompletedProcess(arguments, code, *printed)


def signal_in_a_kernel(sent: int, marker: Path) -> dict[str, Any]:
    """For `outcome`: the signal is sent as soon as the first kernel runs, which touches the marker.

    A kernel that comes to its end, as if there had been no signal, makes the command print that.
    """
    before = f"""
from pathlib import Path
from microagg.methods.run import Run
call = Run.call
def marked(run, kernel, needs=0):
    def work():
        Path({str(marker)!r}).touch()
        found = kernel()
        print("The kernel was not stopped.")
        return found
    return call(run, work, needs)
Run.call = marked
"""
    return {"before": before, "signal": int(sent), "once": str(marker)}


def forked(command: dict[str, Any]) -> int:
    """The exit code of a command, or the negative number of the signal that ended it.

    `arguments`, `folder`, `streams` (three paths); perhaps `umask`, and `signal`, sent `after` so many
    seconds or `once` this file exists; `before`: Python to be run before the command, for tests that break
    something.
    """
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(command) + "\n")
    server.stdin.flush()
    return int(server.stdout.readline())


@cache
def _server() -> subprocess.Popen[str]:
    server = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(_stop, server)
    return server


def _stop(server: subprocess.Popen[str]) -> None:
    server.communicate(timeout=600)


def _serve() -> None:
    for module in (*LIBRARIES, *_own_modules()):
        importlib.import_module(module)
    importlib.import_module("microagg.report.rendering").compile_templates()
    gc.freeze()  # children share this memory until they write to it
    with os.fdopen(os.dup(0)) as commands, os.fdopen(os.dup(1), "w") as answers:
        for line in commands:
            command = json.loads(line)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # libraries have threads, which do nothing yet
                child = os.fork()
            if child == 0:
                _become(command)
                _end_with(cli.main)
            if command.get("signal"):
                _wait_for_the_moment(command, child)
                os.kill(child, command["signal"])
            _, status = os.waitpid(child, 0)
            answers.write(f"{os.waitstatus_to_exitcode(status)}\n")
            answers.flush()


def _wait_for_the_moment(command: dict[str, Any], child: int) -> None:
    """Until the signal is due, or the child has ended (a signal to a child that nobody has waited for yet
    is lost).
    """
    if "once" not in command:
        time.sleep(command["after"])
        return
    ended = os.WEXITED | os.WNOHANG | os.WNOWAIT
    while not Path(command["once"]).exists() and os.waitid(os.P_PID, child, ended) is None:
        time.sleep(0.01)


def _own_modules() -> Iterator[str]:
    """All but those of other faces and engines, which no command here uses."""
    others = ("microagg.__main__", "microagg.web", "microagg.estimator", "microagg.engines.spark")
    for module in pkgutil.walk_packages(microagg.__path__, "microagg."):
        if not module.name.startswith(others):
            yield module.name


def _end_with(main: Callable[[], object]) -> None:
    """Leave with the code of the command, but without Python's tidying up, which takes longest of all."""
    try:
        main()
    except SystemExit as end:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(end.code if isinstance(end.code, int) else 1)


def _become(command: dict[str, Any]) -> None:
    reading, writing, complaining = command["streams"]
    appending = os.O_WRONLY | os.O_APPEND
    for place, (path, flags) in enumerate(
        ((reading, os.O_RDONLY), (writing, appending), (complaining, appending))
    ):
        os.dup2(os.open(path, flags), place)
    os.umask(command.get("umask", 0o022))
    os.chdir(command["folder"])
    sys.argv = ["microagg", *command["arguments"]]
    if command.get("before"):
        exec(compile(command["before"], "before", "exec"), {})


if __name__ == "__main__":
    sys.path.remove(str(Path(__file__).parent))
    _serve()
