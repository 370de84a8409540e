"""Speed of the main kernels, through the Python face, against peers in the same run.

    python -m benchmarks.speed [--only univariate|mdav|mhm|start|methods|protect]

Each figure is the best of several runs, one thread (protect: one run, all threads). Peers: microagg1d
(extra `bench`).
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

import microagg
from microagg import _core, datasets
from microagg.methods.catalogue import METHODS
from microagg.methods.paths import PathCut
from microagg.methods.run import Run
from microagg.methods.stage import one_group
from microagg.model import Partition, Problem


def best_of(times: int, job: Callable[[], object]) -> float:
    seconds = []
    for _ in range(times):
        start = perf_counter()
        job()
        seconds.append(perf_counter() - start)
    return min(seconds)


def univariate() -> None:
    """The optimum for one attribute at n = 1e6, against microagg1d's default method."""
    try:
        import microagg1d
    except ModuleNotFoundError:
        print("univariate: microagg1d is not installed (make bench installs it); no comparison")
        return
    x = np.random.default_rng(0).normal(size=1_000_000)
    column = x.reshape(-1, 1)
    print("univariate, n = 1,000,000, whole call        microagg   microagg1d   ratio   SSE ours / theirs")
    for k in (3, 10, 100):
        microagg1d.univariate_microaggregation(x[:10_000].copy(), k)  # compiles at first use
        ours = best_of(7, lambda k=k: microagg.partition(x, k, "univariate", threads=1))
        theirs = best_of(7, lambda k=k: microagg1d.univariate_microaggregation(x, k))
        found = microagg.partition(x, k, "univariate", scale="none").sse
        labels = microagg1d.univariate_microaggregation(x, k).astype(np.int32)
        share = found / _core.sse(column, labels)
        print(f"  k = {k:<4} {'':32} {ours:7.3f} s  {theirs:8.3f} s  {theirs / ours:5.1f}×   {share:.6f}")


def mdav() -> None:
    """Exact MDAV on census-like data."""
    print(
        f"mdav, census-like, p = 13 ({_core.simd_level()})           seconds   peak memory of the process"
    )
    for n, k in ((10_000, 3), (100_000, 3), (100_000, 10)):
        data = datasets.census_like(n, seed=0)
        seconds = best_of(3, lambda: microagg.partition(data, k, "mdav", threads=1))  # noqa: B023
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"  n = {n:<8,} k = {k:<4} {'':22} {seconds:7.2f} s   {peak:6.0f} MiB")


def mhm() -> None:
    """The path cut alone, on a path that is there already."""

    def given(problem: Problem, start: Partition, run: Run) -> np.ndarray:
        return np.arange(len(problem.points), dtype=np.int32)

    given.needs_start = False  # type: ignore[attr-defined]
    points = np.random.default_rng(0).normal(size=(1_000_000, 13))
    start = one_group(Problem(points, 3))
    print("mhm (cut of a given path), n = 1,000,000, p = 13   seconds")
    for k in (3, 10):
        seconds = best_of(3, lambda k=k: PathCut(given)(Problem(points, k), start, Run()))  # type: ignore[arg-type]
        print(f"  k = {k:<4} {'':38} {seconds:7.2f} s")


def start() -> None:
    """Time to import the package and to print the command's help, in new processes."""
    command = Path(sys.executable).parent / "microagg"
    bare = best_of(5, lambda: subprocess.run([sys.executable, "-c", ""], check=True))
    imported = best_of(5, lambda: subprocess.run([sys.executable, "-c", "import microagg"], check=True))
    helped = best_of(5, lambda: subprocess.run([command, "--help"], check=True, capture_output=True))
    print(f"import microagg {imported - bare:.2f} s (beyond Python itself); microagg --help {helped:.2f} s")


def methods() -> None:
    """Every method of the catalogue that takes several attributes, on 10,000 records."""
    data = datasets.synthetic(0)
    print("every method, 10,000 × 10, k = 3               information loss   seconds")
    for name in METHODS:
        if name in ("exhaustive", "univariate", "icsm-restarts"):
            continue  # for tiny data, one attribute, and as many times icsm as there are starts
        method = "icsm:iterations=400" if name == "icsm" else name
        result = microagg.partition(data, 3, method, threads=1)
        print(f"  {method:42} {result.information_loss:14.4f} % {result.seconds:9.2f}")


def protect() -> None:
    """A million records with 13 keys and two other columns, from file to verified file, at the fast effort;
    and the partition alone, in the same run.
    """
    n = 1_000_000
    census = datasets.census_like(n, seed=1)
    random = np.random.default_rng(0)
    columns = {"region": random.integers(0, 8, n), "class": random.integers(0, 5, n)}
    columns |= dict(zip(census.columns, np.round(census.values, 2).T, strict=True))
    table = pa.table(columns)
    keys = np.stack([columns[name] for name in census.columns], axis=1)
    alone = best_of(1, lambda: microagg.partition(keys, 3, effort="fast"))
    print(f"protect, n = {n:,}, 13 keys and 2 others, k = 3, fast; the partition alone {alone:.1f} s")
    with tempfile.TemporaryDirectory() as folder:
        parquet.write_table(table, f"{folder}/data.parquet")
        csv.write_csv(table, f"{folder}/data.csv")
        for ending in ("parquet", "csv"):
            seconds, peak = _run_protect(folder, ending, census.columns)
            print(f"  {ending:8} {seconds:5.1f} s   {peak:,.0f} MiB")


def _run_protect(folder: str, ending: str, keys: tuple[str, ...]) -> tuple[float, float]:
    """Wall-clock seconds and peak memory of one command."""
    command = [
        Path(sys.executable).parent / "microagg", "protect", f"{folder}/data.{ending}", "-k", "3",
        "--keys", ",".join(keys), "--pass", "region,class", "--effort", "fast", "--json",
    ]  # fmt: skip
    start = perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise subprocess.CalledProcessError(status, command)
    return perf_counter() - start, usage.ru_maxrss / 1024


JOBS = {
    "univariate": univariate,
    "mdav": mdav,
    "mhm": mhm,
    "start": start,
    "methods": methods,
    "protect": protect,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", choices=JOBS)
    only = parser.parse_args().only
    for name, job in JOBS.items():
        if only in (None, name):
            job()


if __name__ == "__main__":
    main()
