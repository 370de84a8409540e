"""Where the time of a whole call goes: its pieces one after the other, as the call does them."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import TypeVar

import numpy as np

from benchmarks.speed.jobs.kernels import column, peel_mdav, table
from benchmarks.speed.measuring import Figures
from microagg import _core, read
from microagg._core import Engine
from microagg.methods.blocks import KdBlocks
from microagg.methods.run import Run
from microagg.methods.stage import evaluate, one_group, rows_of_groups
from microagg.model import Labels, Problem
from microagg.prepare.units import to_points

Result = TypeVar("Result")


class Pieces:
    """CPU seconds by name, in the order of the call."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def time(self, name: str, piece: Callable[[], Result]) -> Result:
        start = process_time()
        result = piece()
        self.seconds[name] = round(process_time() - start, 6)
        return result


def pieces(method: str, n: int, k: int) -> Figures:
    """The second of two rounds, whose memory is not new."""
    rounds = {"blocks": _blocks, "univariate": _univariate}[method]
    data = table(n) if method == "blocks" else column(n)
    for _ in range(2):
        timed = Pieces()
        rounds(timed, data, k)
    return {"pieces": timed.seconds}


def _posed(timed: Pieces, data: object, k: int) -> Problem:
    known = timed.time("reading", lambda: read.table_of(data))
    points = timed.time("scaling", lambda: to_points(known, "zscore"))
    problem = Problem(points, k)
    timed.time("SST", lambda: one_group(problem))
    return problem


def _blocks(timed: Pieces, data: object, k: int) -> None:
    problem = _posed(timed, data, k)
    run, start = Run(threads=1), one_group(problem)
    blocks = timed.time("cutting blocks", lambda: KdBlocks()(problem, start, run))

    def gather() -> list[Problem]:
        return [Problem(np.ascontiguousarray(problem.points[rows]), k) for rows in rows_of_groups(blocks)]

    parts = timed.time("gathering records", gather)
    found = timed.time("MDAV in blocks", lambda: [peel_mdav(part.points, k, Engine.AUTO) for part in parts])
    timed.time("SSE of blocks", lambda: [evaluate(*pair) for pair in zip(parts, found, strict=True)])
    timed.time("putting together", lambda: _core.group_sizes(_together(found)))


def _together(found: list[Labels]) -> Labels:
    """One number for each group; that records stand in the order of blocks does not matter to the time."""
    first = np.cumsum([0, *(labels.max() + 1 for labels in found)], dtype=np.int32)
    return _core.by_first_appearance(
        np.concatenate([start + labels for start, labels in zip(first[:-1], found, strict=True)])
    )


def _univariate(timed: Pieces, data: object, k: int) -> None:
    problem = _posed(timed, data, k)
    values = problem.points.reshape(-1)
    optimum = lambda: _core.optimal_univariate(values, k, _core.Watch())[0]  # noqa: E731
    labels = timed.time("optimum and SSE", optimum)
    timed.time("sizes", lambda: _core.group_sizes(labels))
