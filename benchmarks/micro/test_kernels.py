"""Kernels on census-like data that take milliseconds, in CPU seconds of one thread; nothing is asserted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import microagg
from microagg import _core, datasets
from microagg._core import Deadline, Engine, Growth, Pivot
from microagg.methods.anneal import Anneal
from microagg.methods.fixed_size import Mdav
from microagg.methods.local_search import Descent
from microagg.methods.neighbours import LEAVES
from microagg.methods.run import Run
from microagg.methods.stage import Stage, one_group, solve
from microagg.model import Points, Problem, Table
from microagg.prepare.units import to_points

Benchmark = Callable[..., Any]
"""pytest-benchmark's fixture: calls what it is given again and again."""


@pytest.fixture(scope="module")
def table() -> Table:
    return datasets.census_like(20_000, seed=0)


@pytest.fixture(scope="module")
def points(table: Table) -> Points:
    return to_points(table, "zscore")


@pytest.mark.parametrize("k", [3, 10])
@pytest.mark.parametrize(
    ("n", "engine"), [(20_000, Engine.TREE), (5_000, Engine.BRUTE)], ids=["tree", "brute"]
)
def test_mdav(benchmark: Benchmark, points: Points, n: int, engine: Engine, k: int) -> None:
    x = np.ascontiguousarray(points[:n])
    benchmark(_core.peel, x, k, Pivot.CENTROID_OPPOSITE, Growth.SEED, 3, _core.Watch(), engine)


def test_v_mdav(benchmark: Benchmark, points: Points) -> None:
    benchmark(_core.v_mdav, points[:5_000], 3, 0.2, _core.Watch())


@pytest.mark.parametrize("k", [3, 10, 100])
def test_univariate(benchmark: Benchmark, k: int) -> None:
    values = np.random.default_rng(0).normal(size=100_000)
    benchmark(_core.optimal_univariate, values, k, _core.Watch())


def test_neighbour_lists(benchmark: Benchmark, points: Points) -> None:
    benchmark(_core.neighbour_lists, points[:10_000], 20, LEAVES, 1, _core.Watch())


def test_path_cut(benchmark: Benchmark, points: Points) -> None:
    order = np.arange(len(points), dtype=np.int32)
    benchmark(_core.path_cut, points, order, 3, False, Deadline.IGNORE, _core.Watch())


def test_standardise(benchmark: Benchmark, table: Table) -> None:
    benchmark(to_points, table, "zscore")


def test_sse(benchmark: Benchmark, points: Points) -> None:
    benchmark(_core.sse, points, np.arange(len(points), dtype=np.int32) // 3)


@pytest.mark.parametrize("stage", [Descent(), Anneal(300_000)], ids=["descent", "anneal"])
def test_search(benchmark: Benchmark, points: Points, stage: Stage) -> None:
    """Neighbour lists included: each run makes its own."""
    problem = Problem(np.ascontiguousarray(points[:2_000]), 3)
    start = solve(Mdav(), problem, one_group(problem), Run(threads=1))
    benchmark(lambda: solve(stage, problem, start, Run(threads=1)))


@pytest.mark.parametrize("method", ["mdav", "blocks"])
def test_whole_call(benchmark: Benchmark, table: Table, method: str) -> None:
    benchmark(microagg.partition, table, 3, method, threads=1)


def test_small_call(benchmark: Benchmark) -> None:
    """Eleven records: what a call costs by itself."""
    benchmark(microagg.partition, datasets.sme(), 3, "mdav", threads=1)
