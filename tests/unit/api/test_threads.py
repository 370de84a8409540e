"""`threads` acts wherever there is something to share out, and never on what comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import microagg
from microagg import _core, datasets
from microagg.methods import run as running
from microagg.methods import solving
from microagg.methods.neighbours import EVERY_LEAF, LEAVES

COUNTS = (1, 2, 3, 8)
Answer = tuple[NDArray[Any], ...]
CENSUS = datasets.census_like(13_000, seed=4)


def few(n: int) -> NDArray[np.float64]:
    return np.ascontiguousarray(CENSUS.values[:n])


def people(n: int = 1_200) -> pd.DataFrame:
    frame = pd.DataFrame(few(n)[:, :4], columns=list("abcd"))
    frame["region"] = np.arange(n) % 5
    return frame


def labels(data: NDArray[np.float64], method: str, threads: int, **words: Any) -> Answer:
    found = microagg.partition(data, 3, method, seed=7, threads=threads, **words)
    return (found.labels, np.array([found.sse]))


def released(threads: int, **words: Any) -> Answer:
    release = microagg.protect(
        people(), 3, pass_="region", threads=threads, seed=7, effort="fast", keep_order=True, **words
    )
    return (release.data.to_numpy(), *(task.labels for task in release.partitions))


def released_by_region(threads: int) -> Answer:
    release = microagg.protect(
        people(), 3, rest="pass",
        keys=list("abcd"), strata="region", threads=threads, seed=7, effort="fast",
        keep_order=True,
    )  # fmt: skip
    return (release.data.to_numpy(), *(task.labels for task in release.partitions))


def each(threads: int) -> Answer:
    found = microagg.partition_each(few(2_000), 3, seed=7, threads=threads)
    return tuple(result.labels for result in found.results)


def each_at_random(threads: int) -> Answer:
    """A method with random choices."""
    found = microagg.partition_each(few(300), 3, "genetic:generations=20", seed=7, threads=threads)
    return tuple(result.labels for result in found.results)


def bound(threads: int) -> Answer:
    found = microagg.lower_bound(few(60), 3, threads=threads)
    return (np.array([found.sse]), found.incumbent.labels)


def strategies(threads: int) -> Answer:
    found = microagg.compare(people(300), [3, 4], ["mdav", "descent"], keys=list("abcd"), threads=threads)
    return (np.array([str(row) for row in found.table.drop(["seconds"]).to_pylist()]),)


JOBS: dict[str, Callable[[int], Answer]] = {
    "blocks": lambda threads: labels(few(9_000), "blocks:size=500", threads),
    "descent in blocks": lambda threads: labels(few(3_000), "blocks:size=500+descent:size=500", threads),
    "annealing in blocks": lambda threads: labels(few(13_000), "blocks+anneal:steps=150000", threads),
    "auto": lambda threads: labels(few(300), "auto", threads, effort="fast"),
    "restarts": lambda threads: labels(few(150), "icsm-restarts:starts=6", threads),
    "candidates": lambda threads: labels(few(600), "v-mdav", threads),
    "attributes": each,
    "attributes at random": each_at_random,
    "attributes of a release": lambda threads: released(threads, each=list("abcd"), accept="partial"),
    "subsets of a release": lambda threads: released(
        threads, keys=[["a", "b"], ["c", "d"]], accept="partial"
    ),
    "strata": released_by_region,
    "strategies": strategies,
    "bound": bound,
    "neighbour lists": lambda threads: (
        _core.neighbour_lists(few(9_000), 20, LEAVES, threads, _core.Watch()),
    ),
    "exact neighbour lists": lambda threads: (
        _core.neighbour_lists(few(5_000), 20, EVERY_LEAF, threads, _core.Watch()),
    ),
    "nearest targets": lambda threads: (
        _core.nearest_targets(few(4_000), 1_000, 3, threads, _core.Watch()),
    ),
}


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
def test_any_number_of_threads_gives_the_same(job: Callable[[int], Answer]) -> None:
    one, *others = (job(threads) for threads in COUNTS)
    for other in others:
        assert len(other) == len(one)
        for first, second in zip(one, other, strict=True):
            assert np.array_equal(first, second)


# --- threads that are asked for are used ------------------------------------------------------


@contextmanager
def pools(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The sizes of the pools that are made meanwhile."""
    made: list[int] = []

    def pool(size: int) -> ThreadPoolExecutor:
        made.append(size)
        return ThreadPoolExecutor(size)

    with monkeypatch.context() as patch:
        patch.setattr(running, "ThreadPoolExecutor", pool)
        yield made


SHARED = (
    "blocks", "descent in blocks", "annealing in blocks", "restarts", "candidates",
    "attributes", "attributes of a release", "strata",
)  # fmt: skip


@pytest.mark.parametrize("name", SHARED)
def test_as_many_threads_as_asked_for(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for threads in (1, 3):
        with pools(monkeypatch) as made:
            JOBS[name](threads)
        assert set(made) == (set() if threads == 1 else {threads})


def test_no_more_threads_than_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    with pools(monkeypatch) as made:
        microagg.partition_each(few(30)[:, :2], 3, threads=100)
    assert made == [2]


def test_long_columns_share_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """The optimum of one attribute takes one thread, however long it is; the columns go in parallel."""
    monkeypatch.setattr(solving, "PARALLEL_BELOW", 100)
    with pools(monkeypatch) as made:
        JOBS["attributes of a release"](3)
    assert made == [3]


KERNELS: dict[str, Callable[[int], object]] = {
    "neighbour_lists": lambda threads: labels(few(400), "descent", threads),
    "neighbour_bound": bound,
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_told_how_many(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    kernel = getattr(_core, name)

    def spy(*arguments: Any) -> object:
        told.append(arguments[-2])
        return kernel(*arguments)

    monkeypatch.setattr(_core, name, spy)
    KERNELS[name](3)
    assert set(told) == {3}
