"""`microagg protect` as a process, and files for it.

Keys hold numbers that begin with `MARK`, so that no message can show one unnoticed.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.bad_files import leaks
from tests.e2e.fork_server import outcome

COMMAND = Path(sys.executable).parent / "microagg"
TRACES = ("Traceback", "Internal error", "nanobind", "Warning", "Error:\n")

COMPANIES = """company,surface,employees,turnover,profit
A&A Ltd,790,55,3212334,313250
B&B SpA,710,44,2283340,299876
C&C Inc,730,32,1989233,200213
D&D BV,810,17,984983,143211
E&E SL,950,3,194232,51233
F&F GmbH,510,25,119332,20333
G&G AG,400,45,3012444,501233
H&H SA,330,50,4233312,777882
I&I LLC,510,5,159999,60388
J&J Co,760,52,5333442,1001233
K&K Sarl,50,12,645223,333010
"""
"""VLDBJ06, Table 1."""
COMPANY_ROLES = ("--keys", "surface,employees", "--drop", "company", "--pass", "turnover,profit")

SURVEY = ["region", "age", "income", "zeros", "weight", "disease", "note"]
"""The columns of `survey`."""


def survey_rows(n: int = 24) -> list[list[object]]:
    """Two regions of the same size, four keys or less, and something for every policy."""
    return [
        [
            "north" if at % 2 else "south",
            98765432 + (at * 7) % 20,
            f"{987654321.25 + (at * at) % 17:.2f}",
            0 if at % 3 == 0 else 98765432 + at,
            1 + at % 3,
            "abcd"[at % 4],
            f"n{at % 5}",
        ]
        for at in range(n)
    ]


def write_rows(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> Path:
    """A CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    return path


def survey(path: Path, n: int = 24) -> Path:
    return write_rows(path, SURVEY, survey_rows(n))


def rows_of(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    """The records of a CSV file, read without microagg."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def column(path: Path, name: str) -> list[str]:
    return [row[name] for row in rows_of(path)]


def smallest_class(rows: Sequence[dict[str, str]], *names: str) -> int:
    """Records of the rarest combination."""
    return min(Counter(tuple(row[name] for name in names) for row in rows).values())


def rest_of(arguments: Sequence[object]) -> tuple[str, ...]:
    """Columns without a role are released, unless a plan or the test itself says otherwise."""
    given = {str(each).partition("=")[0] for each in arguments}
    return () if given & {"--plan", "--rest", "--shuffle", "--allow-pairs"} else ("--rest=pass",)


def run(
    *arguments: object,
    folder: Path | None = None,
    given: str | bytes = b"",
    command: str = "protect",
    **more: Any,
) -> subprocess.CompletedProcess[str]:
    """The outcome of `microagg protect`; nothing that it prints may show a value or a stack trace."""
    rest = rest_of(arguments) if command == "protect" else ()
    done = outcome(command, *arguments, *rest, folder=folder, given=given, **more)
    printed = done.stdout + done.stderr
    assert not leaks(printed), printed
    assert not any(trace in printed for trace in TRACES), printed
    return done


def run_without_privileges(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    """Like `run`, in a process to which permissions apply even if it is root's."""
    words = [COMMAND, "protect", *map(str, arguments), *rest_of(arguments)]
    if os.geteuid() == 0:
        less = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
        if shutil.which("setpriv") is None or subprocess.run([*less, "true"], check=False).returncode:
            pytest.skip("root may read and write everything, and cannot give that up here: NOT TESTED")
        words = [*less, *words]
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder, timeout=600)
    assert not leaks(done.stdout + done.stderr)
    assert not any(trace in done.stdout + done.stderr for trace in TRACES), done.stderr
    return done


def protected(*arguments: object, **more: Any) -> str:
    """What a command that must succeed prints, all of it on standard output."""
    done = run(*arguments, **more)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def refused(code: int, folder: Path, *arguments: object, **more: Any) -> str:
    """The message of a command that must fail with this code and leave `folder` as it was."""
    before = listing(folder)
    done = run(*arguments, folder=folder, **more)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("microagg: ")
    assert listing(folder) == before
    return done.stderr


def listing(folder: Path) -> dict[str, tuple[int, str]]:
    """Everything below a folder, hidden files too: permissions and content."""
    found = {}
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent) / name
            mode = stat.S_IMODE(path.lstat().st_mode)
            content = digest(path) if path.is_file() and os.access(path, os.R_OK) else ""
            found[str(path.relative_to(folder))] = (mode, content)
    return found


def digest(path: Path) -> str:
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def record_of(path: Path, folder: Path | None = None) -> dict[str, Any]:
    """The internal record of the run that wrote this file."""
    folder = path.parent / "microagg-internal" if folder is None else folder
    return json.loads((folder / f"{path.name}.microagg.json").read_text())
