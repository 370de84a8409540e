"""The Spark engine on census-like data, from Parquet to verified Parquet, beside the local engine.

    python -m benchmarks.spark [--n 2000000 20000000] [--effort balanced] [--local]

Executors are processes of their own on this machine (local-cluster), held to 2 GiB each: 1,200 MiB of heap,
the rest for Python, whose peak is printed. `--local` also runs the local engine on the first n, for its
loss and time. Seconds are wall-clock, from the call of protect() to the folder that has its name; seconds
of CPU are those of all processes of Spark, its start included.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import sys
import tempfile
import threading
from pathlib import Path
from time import monotonic, process_time, sleep

import pyarrow as pa
from pyarrow import parquet

import microagg
from microagg import datasets

CHUNK = 500_000
HEAP = "1200m"


def write_folder(folder: Path, n: int) -> list[str]:
    """n records in files of half a million; the names of their columns."""
    folder.mkdir()
    columns: tuple[str, ...] = ()
    for number, first in enumerate(range(0, n, CHUNK)):
        table = datasets.census_like(min(CHUNK, n - first), seed=number)
        columns = table.columns
        arrays = {name: table.values[:, at] for at, name in enumerate(columns)}
        parquet.write_table(pa.table(arrays), folder / f"{number:05}.parquet")
    return list(columns)


def peak_mib() -> int:
    """Of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


class Memory:
    """Peaks of resident memory, in MiB, of the processes below this one, by what they are."""

    def __init__(self) -> None:
        self.peaks = {"driver (Java)": 0, "executor (Java)": 0, "Python worker": 0}
        self.seconds: dict[str, float] = {}
        """Of CPU, by process; what it takes on a machine that has other work, too."""
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.5):
            for path in Path("/proc").glob("[0-9]*"):
                try:
                    words = (path / "cmdline").read_bytes().decode(errors="replace").split("\0")
                    state = (path / "stat").read_text().rsplit(")", 1)[1].split()
                    if int(state[3]) != os.getsid(0):
                        continue
                    ticks = sum(map(int, state[11:13]))
                    mib = int((path / "statm").read_text().split()[1]) * 4096 // 2**20
                except (OSError, ValueError, IndexError):
                    continue
                kind = self._kind(words)
                if kind:
                    self.peaks[kind] = max(self.peaks[kind], mib)
                    self.seconds[path.name] = ticks / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def _kind(words: list[str]) -> str:
        if any("CoarseGrainedExecutorBackend" in word for word in words):
            return "executor (Java)"
        if any("pyspark.daemon" in word for word in words):
            return "Python worker"
        return "driver (Java)" if any("SparkSubmit" in word for word in words) else ""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    arguments.add_argument("--n", type=int, nargs="+", default=[2_000_000, 20_000_000])
    arguments.add_argument("--k", type=int, default=3)
    arguments.add_argument("--effort", default="balanced")
    arguments.add_argument("--executors", type=int, default=2)
    arguments.add_argument("--local", action="store_true", help="also run the local engine on the first n")
    arguments.add_argument("--folder", help="for data and scratch (default: a temporary one)")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as scratch:
        folder = Path(scratch)
        print(f"k = {given.k}, effort {given.effort}, {given.executors} executors of 2 GiB", flush=True)
        for at, n in enumerate(given.n):
            keys = write_folder(folder / "in.parquet", n)
            if given.local and at == 0:
                on_one_machine(folder, keys, n, given.k, given.effort)
            on_spark(folder, keys, n, given.k, given.effort, given.executors)
            for name in ("in.parquet", "out.parquet", "microagg-internal"):
                shutil.rmtree(folder / name, ignore_errors=True)


def on_one_machine(folder: Path, keys: list[str], n: int, k: int, effort: str) -> None:
    started, before = monotonic(), process_time()
    table = parquet.read_table(folder / "in.parquet")
    release = microagg.protect(table, k=k, keys=keys, effort=effort)
    release.save(folder / "local.parquet")
    seconds, cpu = monotonic() - started, process_time() - before
    print(
        f"local  n = {n:<11,} {seconds:7.1f} s, {cpu:.0f} s of CPU  loss {release.information_loss:.4f} %  "
        f"peak {peak_mib()} MiB",
        flush=True,
    )
    (folder / "local.parquet").unlink()
    shutil.rmtree(folder / "microagg-internal")


def on_spark(folder: Path, keys: list[str], n: int, k: int, effort: str, executors: int) -> None:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master(f"local-cluster[{executors},1,2048]")
        .config("spark.executor.memory", HEAP)
        .config("spark.driver.memory", "1g")
        .config("spark.local.dir", str(folder))
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    with Memory() as memory:
        started = monotonic()
        frame = session.read.parquet(str(folder / "in.parquet"))
        release = microagg.protect(frame, k=k, keys=keys, effort=effort)
        made = monotonic() - started
        release.save(folder / "out.parquet")
        seconds = monotonic() - started
        sleep(1.0)
    peaks = ", ".join(f"{kind} {mib}" for kind, mib in memory.peaks.items())
    print(
        f"Spark  n = {n:<11,} {seconds:7.1f} s ({made:.1f} s to the verdict), "
        f"{sum(memory.seconds.values()):.0f} s of CPU  "
        f"loss {release.information_loss:.4f} %  peaks in MiB: driver (Python) {peak_mib()}, {peaks}",
        flush=True,
    )
    session.stop()


if __name__ == "__main__":
    main()
