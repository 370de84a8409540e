"""A plan as the command line that does the same."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from microagg.settings.declared import options_of_command

_ELSEWHERE = ("output", "k")


def command_of(settings: Mapping[str, Any], source: str, target: str) -> str:
    """`microagg protect` with these settings of a plan, for a shell; names of columns are quoted for it."""
    parts = ["microagg", "protect", _in_folder(source), "-k", str(settings["k"])]
    for name, each in options_of_command("protect").items():
        if name in settings and name not in _ELSEWHERE:
            parts += each.kind.arguments(each.flags[-1], settings[name])
    return shlex.join([*parts, "-o", target])


def repetition_of(record: str, source: str, target: str) -> str:
    """The command that makes a release again from its internal record."""
    parts = ["microagg", "protect", _in_folder(source), "--repeat", _in_folder(record)]
    return shlex.join([*parts, "-o", _in_folder(target)])


def _in_folder(name: str) -> str:
    """A name that begins like an option is given as one in this folder."""
    return f"./{name}" if name.startswith("-") else name
