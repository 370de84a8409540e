"""Distances a second of the brute-force kernel beside what the core could do at most."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from benchmarks.speed.jobs.kernels import peel_mdav, points
from benchmarks.speed.measuring import AbsentError, Figures, seconds_of
from microagg._core import Engine

SOURCE = Path(__file__).with_name("fma_peak.cpp")


def roofline(n: int, k: int) -> Figures:
    """MDAV by brute force. A round looks at all remaining records from r (nearest and farthest in one pass)
    and from s; the farthest from the centroid is mostly known from before and not counted.
    """
    x = points(n)
    figures, _ = seconds_of(lambda: peel_mdav(x, k, Engine.BRUTE), 5, 4.0)
    distances = sum(2 * left - k for left in range(n, 3 * k - 1, -2 * k))
    return {**figures, "p": x.shape[1], "distances": distances / figures["cpu"], "fma": fma_peak()}


def fma_peak() -> float:
    """Single-precision multiply-adds a second of one core."""
    compiler = shutil.which(os.environ.get("CXX", "c++")) or shutil.which("g++")
    if compiler is None:
        raise AbsentError("no C++ compiler for the peak of the core")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "fma_peak"
        options = ["-std=c++20", "-O3", "-march=native", "-ffp-contract=fast"]
        subprocess.run([compiler, *options, "-o", program, SOURCE], check=True)
        done = subprocess.run([program], capture_output=True, text=True, check=True)
        return float(done.stdout.split()[0])
