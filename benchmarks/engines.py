"""CPU seconds of the peeling methods by brute force and by the engine chosen, on easy and on hard data.

    python -m benchmarks.engines [--n 100000] [--method mdav] [--only census-like ...] [--no-brute]

One thread, the kernel alone, best of several runs where runs are short. `same` compares all labels.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import thread_time

import numpy as np
from numpy.typing import NDArray

from microagg import _core, datasets
from microagg._core import Engine, Growth, Pivot

Matrix = NDArray[np.float64]
Labels = NDArray[np.int32]
Method = Callable[[Matrix, int, Engine], Labels]


def _peel(pivot: Pivot, growth: Growth, stop: int) -> Method:
    return lambda x, k, engine: _core.peel(x, k, pivot, growth, stop, _core.Watch(), engine)


METHODS: dict[str, Method] = {
    "mdav": _peel(Pivot.CENTROID_OPPOSITE, Growth.SEED, 3),
    "cbfs": _peel(Pivot.CENTROID, Growth.SEED, 1),
    "centroid": _peel(Pivot.CENTROID, Growth.CENTROID, 1),
    "tfrp": _peel(Pivot.REFERENCES, Growth.SEED, 1),
    "md": _peel(Pivot.PAIR, Growth.SEED, 2),
    "diameter": _peel(Pivot.PAIR, Growth.CENTROID, 2),
    "v-mdav": lambda x, k, engine: _core.v_mdav(x, k, 0.2, _core.Watch(), engine),
}

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


def seconds(method: Method, x: Matrix, k: int, engine: Engine) -> tuple[float, Labels]:
    """CPU seconds of this thread (those of NumPy's linear algebra spin on for a while after the data were
    made), best of up to five runs within about two seconds.
    """
    best, spent = np.inf, 0.0
    for _ in range(5):
        start = thread_time()
        labels = method(x, k, engine)
        spent += thread_time() - start
        best = min(best, thread_time() - start)
        if spent > 2.0:
            break
    return best, labels


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    arguments.add_argument("--n", type=int, nargs="+", default=[10_000, 100_000])
    arguments.add_argument("--k", type=int, nargs="+", default=[3, 10])
    arguments.add_argument("--method", choices=METHODS, default="mdav")
    arguments.add_argument("--only", choices=DATA, nargs="+", default=list(DATA))
    arguments.add_argument("--no-brute", action="store_true")
    arguments.add_argument("--level", help="baseline, avx2 or avx512; the best there is by default")
    given = arguments.parse_args()
    if given.level and not _core.force_simd_level(given.level):
        arguments.error(f"this machine or build has no {given.level}")
    print(f"{given.method}, CPU seconds, {_core.simd_level()}           chosen    brute   ratio")
    for n in given.n:
        for name in given.only:
            x = np.ascontiguousarray(DATA[name](np.random.default_rng(0), n))
            for k in given.k:
                chosen, labels = seconds(METHODS[given.method], x, k, Engine.AUTO)
                line = f"  {name:14} n = {n:<9,} k = {k:<3} {chosen:9.4f}"
                if not given.no_brute:
                    brute, expected = seconds(METHODS[given.method], x, k, Engine.BRUTE)
                    same = "same" if np.array_equal(labels, expected) else "DIFFERENT"
                    line += f" {brute:8.4f} {chosen / brute:6.2f}×  {same}"
                print(line, flush=True)


if __name__ == "__main__":
    main()
