"""Speed of the main kernels, through the Python face, against peers in the same run.

    python -m benchmarks.speed [--only univariate|mdav|mhm|start|methods]

Each figure is the best of several runs, one thread. Peers: microagg1d (extra `bench`).
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

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
    """Exact MDAV on census-like data, brute engine."""
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


JOBS = {"univariate": univariate, "mdav": mdav, "mhm": mhm, "start": start, "methods": methods}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", choices=JOBS)
    only = parser.parse_args().only
    for name, job in JOBS.items():
        if only in (None, name):
            job()


if __name__ == "__main__":
    main()
