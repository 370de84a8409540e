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
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import typer


def forked(command: dict[str, Any]) -> int:
    """The exit code of a command, or the negative number of the signal that ended it.

    `arguments`, `folder`, `streams` (three paths); perhaps `umask`, and `signal` with `after`
    seconds; `before`: Python to be run before the command, for tests that break something.
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
    server.communicate(timeout=60)


def _serve() -> None:
    for module in ("pandas", "pyarrow.compute", "pyarrow.csv", "pyarrow.feather", "pyarrow.parquet"):
        importlib.import_module(module)
    for module in ("openpyxl", "pyreadstat", "microagg.api", "typer.main"):
        importlib.import_module(module)
    from microagg import cli

    typer.main.get_command(cli.app)
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
                time.sleep(command["after"])
                os.kill(child, command["signal"])
            _, status = os.waitpid(child, 0)
            answers.write(f"{os.waitstatus_to_exitcode(status)}\n")
            answers.flush()


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
    for place, (path, flags) in enumerate(
        ((reading, os.O_RDONLY), (writing, os.O_WRONLY), (complaining, os.O_WRONLY))
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
