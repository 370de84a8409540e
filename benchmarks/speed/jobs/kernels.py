"""The kernels alone, and what whole calls add to them. Census-like data, 13 attributes, z-scored."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import microagg
from benchmarks.speed.measuring import Figures, cost_of, seconds_of
from microagg import _core, datasets
from microagg._core import Engine, Growth, Pivot
from microagg.methods.catalogue import METHODS
from microagg.methods.neighbours import LEAVES
from microagg.methods.paths import PathCut
from microagg.methods.run import Run
from microagg.methods.stage import one_group, solve
from microagg.model import Labels, Partition, Points, Problem, Rows, Table
from microagg.prepare.units import to_points


def table(n: int) -> Table:
    return datasets.census_like(n, seed=0)


def points(n: int) -> Points:
    return to_points(table(n), "zscore")


def column(n: int) -> Points:
    return np.random.default_rng(0).normal(size=n)


def loss(x: Points, labels: Labels) -> float:
    """Information loss in percent."""
    return 100.0 * _core.sse(x, labels) / _core.sst(x)


def peel_mdav(x: Points, k: int, engine: Engine) -> Labels:
    return _core.peel(x, k, Pivot.CENTROID_OPPOSITE, Growth.SEED, 3, _core.Watch(), engine)


# --- growth -----------------------------------------------------------------------------------


def mdav(n: int, k: int, engine: str) -> Figures:
    """Exact MDAV, by the engine that is chosen (`auto`) or by brute force."""
    x = points(n)
    figures, labels = cost_of(lambda: peel_mdav(x, k, Engine[engine.upper()]))
    return {**figures, "il": loss(x, labels)}


def blocks(n: int, k: int, threads: int) -> Figures:
    """MDAV in blocks, with the cutting and the cost of the groups, without scaling."""
    x = points(n)
    problem = Problem(x, k)
    start, stage = one_group(problem), METHODS["blocks"].build()
    figures, found = cost_of(lambda: solve(stage, problem, start, Run(threads=threads)), 3)
    return {**figures, "data": x.nbytes / 2**20, "il": loss(x, found.labels)}


def univariate(n: int, k: int) -> Figures:
    """The optimum for one attribute."""
    x = column(n)
    figures, _ = cost_of(lambda: _core.optimal_univariate(x, k, _core.Watch()), 7)
    return figures


def neighbours(n: int, threads: int) -> Figures:
    """Lists of the 20 nearest of each record, as local searches use them."""
    x = points(n)
    figures, _ = cost_of(lambda: _core.neighbour_lists(x, 20, LEAVES, threads, _core.Watch()), 3)
    return figures


# --- the rest ---------------------------------------------------------------------------------


def refinement(n: int, k: int, seconds: int) -> Figures:
    """The least loss that `auto` reaches in this time on two threads."""
    data = table(n)
    figures, found = cost_of(
        lambda: microagg.partition(data, k, "auto", effort="best", seconds=seconds, threads=2), 1
    )
    return {**figures, "il": found.information_loss, "recipe": found.recipe, "truncated": found.truncated}


def mhm(n: int, k: int) -> Figures:
    """The best cut of a path that is there already."""

    class Given:
        """The records as they stand."""

        needs_start = False

        def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Rows:
            return np.arange(len(problem.points), dtype=np.int32)

    problem = Problem(points(n), k)
    start, stage = one_group(problem), PathCut(Given())
    figures, _ = cost_of(lambda: stage(problem, start, Run()), 3)
    return figures


def overhead(method: str, n: int, k: int) -> Figures:
    """CPU seconds of `partition()` on one thread beside those of the kernel inside."""
    data: Table | Points
    kernel: Callable[[], object]
    if method == "univariate":
        data = x = column(n)
        kernel = lambda: _core.optimal_univariate(x, k, _core.Watch())  # noqa: E731
    elif method == "mdav":
        data, x = table(n), points(n)
        kernel = lambda: peel_mdav(x, k, Engine.AUTO)  # noqa: E731
    else:
        data, problem = table(n), Problem(points(n), k)
        start, stage = one_group(problem), METHODS[method].build()
        kernel = lambda: stage(problem, start, Run(threads=1))  # noqa: E731
    inside, whole = float("inf"), float("inf")
    call = lambda: microagg.partition(data, k, method, threads=1)  # noqa: E731
    for _ in range(5):  # in turns, so that a busy moment hits both
        inside = min(inside, seconds_of(kernel, 2, 0.4)[0]["cpu"])
        whole = min(whole, seconds_of(call, 2, 0.4)[0]["cpu"])
    return {"kernel": inside, "cpu": whole}


def threads(what: str, n: int, threads: int) -> Figures:
    """The same work on so many threads."""
    x = points(n)
    if what == "neighbour lists":
        job: Callable[[], object] = lambda: _core.neighbour_lists(x, 20, LEAVES, threads, _core.Watch())  # noqa: E731
    else:
        method = {"blocks": "blocks", "annealing": f"blocks+anneal:steps={50 * n}"}[what]
        job = lambda: microagg.partition(x, 3, method, threads=threads)  # noqa: E731
    figures, _ = seconds_of(job, 3)
    return figures
