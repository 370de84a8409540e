"""How long progress is silent at most, from file to verified file.

    python -m benchmarks.silence                 # a million records, CSV: some minutes
    python -m benchmarks.silence --n 3000000 --seconds 20
    python -m benchmarks.silence --method mdav   # one method instead of `auto`

`protect` and `save` are given a function that notes when it is called and from which stage. The longest
times between two calls are printed, with the stages before and after. On a busy machine they are
longer; the CPU seconds of the process in the same time say whether it was it that was busy.
"""

from __future__ import annotations

import argparse
import tempfile
from itertools import pairwise
from pathlib import Path
from time import monotonic, process_time

import numpy as np
import pyarrow as pa
from pyarrow import csv

import microagg
from microagg import datasets
from microagg.methods.run import Progress

SHOWN = 5


class Recorder:
    """When progress was called, what the process had used of its cores, and from which stage."""

    def __init__(self) -> None:
        self.calls = [(monotonic(), process_time(), "the beginning")]

    def __call__(self, progress: Progress) -> None:
        self.calls.append((monotonic(), process_time(), progress.stage))

    def show(self) -> None:
        self.calls.append((monotonic(), process_time(), "the end"))
        begun = self.calls[0][0]
        gaps = [
            (after - before, used_after - used, before - begun, was, then)
            for (before, used, was), (after, used_after, then) in pairwise(self.calls)
        ]
        print(f"{len(self.calls) - 2:,} calls in {self.calls[-1][0] - begun:.1f} s; longest silences:")
        for silent, used, at, was, then in sorted(gaps, reverse=True)[:SHOWN]:
            print(f"  {silent:5.2f} s ({used:.2f} CPU s) at {at:6.1f} s, after {was}, before {then}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="how long progress is silent at most")
    parser.add_argument("--n", type=int, default=1_000_000, help="census-like records (1,000,000)")
    parser.add_argument("--method", default="auto", help="recipe (auto)")
    parser.add_argument("--seconds", type=float, default=10.0, help="limit of the search (10)")
    given = parser.parse_args()
    table = datasets.census_like(given.n, seed=1)
    columns = dict(zip(table.columns, np.round(table.values, 2).T, strict=True))
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "data.csv"
        csv.write_csv(pa.table(columns), source)
        del columns
        recorder = Recorder()
        release = microagg.protect(
            source,
            k=3,
            keys=list(table.columns),
            method=given.method,
            seconds=given.seconds if given.method == "auto" else None,
            progress=recorder,
        )
        release.save(Path(folder) / "protected.csv", labels=True, progress=recorder)
        recorder.show()


if __name__ == "__main__":
    main()
