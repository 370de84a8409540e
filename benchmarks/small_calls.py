"""How long small calls and the start of a process take: CPU time, the least of many runs.

    python -m benchmarks.small_calls              # a minute
    python -m benchmarks.small_calls --runs 5     # fewer runs of each

Calls work on 1,000 census-like records with 13 attributes, k = 5 and MDAV; the command protects a file of
six records. The last column has what sdcMicro 5.8.1 took on an idle machine: for a call
`microaggregation(method = "mdav")` of as many such records, for a start `library(sdcMicro)`. Times of a
machine that is busy with other work, or another one, cannot be compared with them.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import pandas as pd
import pyarrow as pa

import microagg
from benchmarks.markdown import grid
from microagg import datasets

SMALLEST_FILE = "surface,employees\n790,55\n710,44\n730,32\n810,17\n950,3\n510,25\n"
OF_SDCMICRO = {"start": "1.3 s", "call": "8 ms"}
UNKNOWN = ""


def least_seconds(action: Callable[[], object], runs: int) -> float:
    taken = []
    for _ in range(runs):
        begun = process_time()
        action()
        taken.append(process_time() - begun)
    return min(taken)


def least_seconds_of_process(arguments: list[str], folder: Path, runs: int) -> float:
    """CPU seconds of user and system together, with those of the process's own children."""
    taken = []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(taken)


def calls(runs: int) -> list[list[str]]:
    table = datasets.census_like(1_000)
    names = list(table.columns)
    frame = pd.DataFrame(table.values, columns=names)
    arrow = pa.Table.from_pandas(frame)
    actions: dict[str, Callable[[], object]] = {
        "partition, array": lambda: microagg.partition(table.values, 5, "mdav"),
        "partition, pandas frame": lambda: microagg.partition(frame, 5, "mdav"),
        "partition, Arrow table": lambda: microagg.partition(arrow, 5, "mdav"),
        "protect, pandas frame": lambda: microagg.protect(frame, 5, keys=names, method="mdav"),
        "protect, Arrow table": lambda: microagg.protect(arrow, 5, keys=names, method="mdav"),
    }
    return [
        [name, f"{1000 * least_seconds(action, 8 * runs):.1f} ms", OF_SDCMICRO["call"]]
        for name, action in actions.items()
    ]


def processes(runs: int) -> list[list[str]]:
    protect = "-m microagg protect smallest.csv -k 3 --keys surface,employees -o released.csv --force"
    commands = {
        "python, doing nothing": (["-c", "pass"], UNKNOWN),
        "import microagg": (["-c", "import microagg"], OF_SDCMICRO["start"]),
        "import microagg and use protect": (
            ["-c", "import microagg; microagg.protect"],
            OF_SDCMICRO["start"],
        ),
        "microagg --help": (["-m", "microagg", "--help"], UNKNOWN),
        "microagg protect, smallest file": (protect.split(), OF_SDCMICRO["start"]),
    }
    with TemporaryDirectory() as folder:
        Path(folder, "smallest.csv").write_text(SMALLEST_FILE)
        return [
            [name, f"{least_seconds_of_process(arguments, Path(folder), runs):.2f} s", other]
            for name, (arguments, other) in commands.items()
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU time of small calls and of starting")
    parser.add_argument(
        "--runs", type=int, default=10, help="runs of each process; calls run 8 times as often"
    )
    given = parser.parse_args()
    os.environ.pop("PYTHONPROFILEIMPORTTIME", None)
    print(grid(["", "CPU time", "sdcMicro"], processes(given.runs) + calls(given.runs)))


if __name__ == "__main__":
    main()
