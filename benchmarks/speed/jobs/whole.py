"""What a user waits for: starting, whole commands, every method."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

import microagg
from benchmarks.speed.measuring import AbsentError, Figures, reset_peak, seconds_of
from microagg import datasets

COMMAND = Path(sys.executable).parent / "microagg"


def start() -> Figures:
    """Wall-clock seconds to import the package, beyond Python itself, and to print the command's help."""

    def least(*words: str | Path) -> float:
        figures, _ = seconds_of(lambda: subprocess.run(words, check=True, capture_output=True))
        return float(figures["wall"])

    bare = least(sys.executable, "-c", "")
    return {
        "import": least(sys.executable, "-c", "import microagg") - bare,
        "help": least(COMMAND, "--help"),
    }


def method(name: str) -> Figures:
    """One method on ICSM15's Synthetic: 10,000 × 10, k = 3, one thread."""
    data = datasets.synthetic(0)
    figures, found = seconds_of(lambda: microagg.partition(data, 3, name, threads=1), 3, 1.0)
    return {**figures, "il": found.information_loss}


def tfrp(data: str, k: int) -> Figures:
    """TFRP and Centroid on 65,536 × 4, in turns in one process: TFRP07 promises that TFRP is fast."""
    if data == "photograph":
        from tests.papers.figures import DATA

        if lacks := DATA["hopper-2x2"].lacks():
            raise AbsentError(lacks)
        values = DATA["hopper-2x2"].make(1)
    else:
        values = np.random.default_rng(1).normal(size=(65_536, 4))
    least = {"tfrp": float("inf"), "centroid": float("inf")}
    for _ in range(3):
        for name in least:
            figures, _ = seconds_of(lambda n=name: microagg.partition(values, k, n, threads=1), 1)
            least[name] = min(least[name], figures["cpu"])
    return least


def limit(method: str, n: int) -> Figures:
    """One method on as many census-like records as the catalogue calls sensible, k = 3, one thread."""
    data = datasets.census_like(n, seed=1)
    figures, _ = seconds_of(lambda: microagg.partition(data, 3, method, threads=1), 1)
    return figures


def protect(n: int, ending: str) -> Figures:
    """Records with 13 keys and two other columns, from file to verified file at the fast effort, on all
    threads.
    """
    census = datasets.census_like(n, seed=1)
    random = np.random.default_rng(0)
    columns = {"region": random.integers(0, 8, n), "class": random.integers(0, 5, n)}
    columns |= dict(zip(census.columns, np.round(census.values, 2).T, strict=True))
    with tempfile.TemporaryDirectory() as folder:
        source = f"{folder}/data.{ending}"
        write = {"parquet": parquet.write_table, "csv": csv.write_csv}[ending]
        write(pa.table(columns), source)
        seconds, peak = _run_protect(source, census.columns)
    return {"wall": seconds, "peak": peak}


def _run_protect(source: str, keys: tuple[str, ...]) -> tuple[float, float]:
    """Wall-clock seconds and peak memory in MiB of one command."""
    command = [
        COMMAND, "protect", source, "-k", "3",
        "--keys", ",".join(keys), "--pass", "region,class", "--effort", "fast", "--json",
    ]  # fmt: skip
    reset_peak()  # a process begins with its parent's high-water mark, and this one has made the data
    started = perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise subprocess.CalledProcessError(status, command)
    return perf_counter() - started, usage.ru_maxrss / 1024
