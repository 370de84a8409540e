"""The peeling methods by brute force and by the engine that is chosen, on easy and on hard data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tests.differential.engines import METHODS, Labels, Matrix

from benchmarks.speed.measuring import Figures, seconds_of
from microagg import datasets
from microagg._core import Engine

Random = np.random.Generator
DATA: dict[str, Callable[[Random, int], Matrix]] = {
    "census-like": lambda r, n: datasets.census_like(n, seed=0).values,
    "uniform 13": lambda r, n: r.random((n, 13)),
    "uniform 4": lambda r, n: r.random((n, 4)),
    "normal 13": lambda r, n: r.normal(size=(n, 13)),
    "far clusters": lambda r, n: r.normal(size=(n, 13)) * 1e-6 + r.integers(0, 2, (n, 1)) * 1e3,
    "clusters": lambda r, n: r.normal(size=(n, 13)) * 1e-3 + r.normal(size=(50, 13))[r.integers(0, 50, n)],
    "ties 5": lambda r, n: r.integers(-2, 3, (n, 5)).astype(float),
    "ties 13": lambda r, n: r.integers(0, 2, (n, 13)).astype(float),
    "nearly equal": lambda r, n: np.where(r.random((n, 3)) < 0.001, 1.0, 0.0),
    "dominating": lambda r, n: r.normal(size=(n, 13)) * np.r_[1e9, np.ones(12)],
    "outlier": lambda r, n: np.vstack([r.normal(size=(n - 1, 13)), np.full((1, 13), 1e8)]),
    "lognormal": lambda r, n: np.exp(2.0 * r.normal(size=(n, 13))),
    "sphere 13": lambda r, n: (lambda x: x / np.linalg.norm(x, axis=1)[:, None])(r.normal(size=(n, 13))),
    "offset": lambda r, n: r.normal(size=(n, 13)) * 1e-3 + 1e8,
    "scales": lambda r, n: r.normal(size=(n, 13)) * 10.0 ** r.integers(-12, 13, size=(n, 1)),
    "equal": lambda r, n: np.full((n, 3), 3.25),
    "half repeated": lambda r, n: r.normal(size=(n, 13))[np.minimum(np.arange(n), r.integers(0, n, n))],
    "normal 1": lambda r, n: r.normal(size=(n, 1)),
    "uniform 2": lambda r, n: r.random((n, 2)),
    "uniform 3": lambda r, n: r.random((n, 3)),
    "normal 50": lambda r, n: r.normal(size=(n, 50)),
    "normal 200": lambda r, n: r.normal(size=(n, 200)),
    "plane 50": lambda r, n: r.normal(size=(n, 4)) @ r.normal(size=(4, 50)),
}


def engines(method: str, data: str, n: int, k: int) -> Figures:
    """CPU seconds of the kernel with either engine, in turns; the labels must be the same."""
    x = np.ascontiguousarray(DATA[data](np.random.default_rng(0), n))
    least = {Engine.AUTO: float("inf"), Engine.BRUTE: float("inf")}
    labels: dict[Engine, Labels] = {}
    for _ in range(2):
        for engine in least:
            figures, labels[engine] = seconds_of(lambda e=engine: METHODS[method](x, k, e), 3, 0.5)
            least[engine] = min(least[engine], figures["cpu"])
    if not np.array_equal(*labels.values()):
        raise RuntimeError("the engines found different groups. This is a bug.")
    return {"cpu": least[Engine.AUTO], "brute": least[Engine.BRUTE]}
