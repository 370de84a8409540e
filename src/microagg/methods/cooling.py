"""How an anneal cools: steps by effort and seconds, temperatures, and lengths of anneals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg import _core
from microagg.methods.blocks import ONE_BLOCK_RECORDS
from microagg.methods.run import Run
from microagg.model import Effort, Problem, Rows

HALVINGS = 7
"""Temperatures form 2⁷ equal steps of a geometric sequence: its ratio is a root taken seven times, which,
unlike a power, is the same on every machine.
"""
LEVELS = 2**HALVINGS

HOTTEST_SHARE, HOTTEST_PLACE = 0.3, 5
"""The first temperature: this share of the sixth widest neighbourhood, so no single outlier sets it."""
COLDEST_SHARE = 0.01
"""The last temperature: this share of a record's average part of the SSE or, where far outliers make
that large, of the average neighbourhood without the widest 2k or 1 %.
"""
ACTIVE_WIDTH_SHARE = 0.7
"""At each temperature records are drawn whose neighbourhood is wider than this share of it."""
FREEZING_SHARES = (0.04, 0.3)
"""A record's group is decided while the temperature is between these shares of its neighbourhood."""
DRAWN_WEIGHT, IDLE_WEIGHT = 0.05, 0.02
"""What another record that is drawn, and any record, adds to the steps of a level, against 1 for one whose
group is being decided.
"""

MOST_ROUNDS, LEAST_ROUNDS, STEPS_PER_RECORD_AND_ROUND = 64, 4, 50
"""How often large data are cut into other blocks during an anneal, each time for at least these steps."""
STEPS_PER_RECORD: dict[Effort, int] = {"fast": 1_000, "balanced": 10_000, "best": 60_000}
MOST_STEPS: dict[Effort, int] = {"fast": 100_000_000, "balanced": 600_000_000, "best": 10_000_000_000}
MOST_STEPS_GIVEN = 10**12
BEST_STEPS, BEST_STEPS_PER_RECORD = 1_000_000_000, 1_000_000
"""The best effort does this many steps even on few records: about a minute of one core."""


def steps_of_run(problem: Problem, run: Run, of: int = 0) -> int:
    """Steps for the run's effort, and no more than its seconds allow at a fixed rate.

    Where the problem is a part of `of` records, its share of the steps for all of them.
    """
    return planned_steps(problem, run, of, seconds_beside(problem), _seconds_a_step(problem) / 0.95)


def planned_steps(problem: Problem, run: Run, of: int, seconds_beside: float, seconds_a_step: float) -> int:
    """As `steps_of_run`, for these times of a step and of the work beside the steps."""
    n = max(len(problem.points), of)
    steps = min(STEPS_PER_RECORD[run.effort] * n, MOST_STEPS[run.effort])
    if run.effort == "best":
        steps = max(steps, min(BEST_STEPS, BEST_STEPS_PER_RECORD * n))
    if run.seconds is not None:
        steps = min(steps, int(max(run.seconds - seconds_beside, 0.0) / seconds_a_step))
    return steps * len(problem.points) // n


# Measured on a core of 2024. These numbers only decide how many steps fit into a user's seconds, so that a
# result does not depend on the clock; where they are wrong, time is left over or anneals are shortened.


def _seconds_a_step(problem: Problem) -> float:
    p, k = float(problem.points.shape[1]), problem.k
    in_blocks = 1.5 if len(problem.points) > ONE_BLOCK_RECORDS else 1.0
    return 1e-9 * (37.0 + 0.9 * p + 3.0 * min(k, 10) + 0.8 * max(k - 10, 0)) * in_blocks


def seconds_beside(problem: Problem) -> float:
    """Time of MDAV, neighbour lists and descent on one core."""
    n, p, k = len(problem.points), float(problem.points.shape[1]), problem.k
    more = 3.0 if n > ONE_BLOCK_RECORDS else 1.0  # than what fits into the cache
    return seconds_of_mdav(problem) + more * (5e-6 * n * max(1.0, p / 13.0) + 2e-6 * n * k)


def seconds_of_mdav(problem: Problem) -> float:
    n, p = problem.points.shape
    return 3.2e-11 * float(min(n * n, 10**10)) * float(p) / problem.k


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """Cooling: for each level its temperature, how many of the records in `order` are drawn, and the
    number of steps; `place` is where a record stands in the order.
    """

    order: Rows
    place: Rows
    temperatures: NDArray[np.float64]
    active: NDArray[np.int64]
    steps: NDArray[np.int64]


def neighbourhood_widths(problem: Problem, lists: Rows) -> NDArray[np.float64]:
    """Each record's squared distance to its (k−1)-th nearest: the scale at which its group is decided."""
    place = min(problem.k - 1, lists.shape[1]) - 1
    return np.asarray(_core.list_distances(problem.points, lists, place))


def falling_temperatures(hot: float, ratio: float) -> NDArray[np.float64]:
    """From the first on, all levels of a cooling that would end at `ratio` times the first."""
    for _ in range(HALVINGS):
        ratio = float(np.sqrt(ratio))
    return np.multiply.accumulate(np.concatenate([[hot], np.full(LEVELS - 1, ratio)]))


def schedule(
    problem: Problem, lists: Rows, sse: float, steps: int, first: int = 0, hottest: float = HOTTEST_SHARE
) -> Schedule:
    """Temperatures and effort by the widths of neighbourhoods. Levels before the first get no steps."""
    n, k = len(problem.points), problem.k
    widths = neighbourhood_widths(problem, lists)
    order = np.argsort(-widths, kind="stable").astype(np.int32)
    widths = widths[order]
    cold = COLDEST_SHARE * part_of_record(widths, k, sse)
    hot = max(hottest * float(widths[min(HOTTEST_PLACE, n - 1)]), 4.0 * cold)
    temperatures = falling_temperatures(hot, cold / hot)
    active = np.searchsorted(-widths, -ACTIVE_WIDTH_SHARE * temperatures)
    active = np.minimum(np.maximum(active, 2 * k + 5), n).astype(np.int64)
    freezing = np.searchsorted(-widths, temperatures / -FREEZING_SHARES[1]) - np.searchsorted(
        -widths, temperatures / -FREEZING_SHARES[0]
    )
    weights = freezing + DRAWN_WEIGHT * active + IDLE_WEIGHT * n
    # What is decided badly costs as much as the temperature: the hotter levels deserve more.
    weights *= np.sqrt(np.sqrt(temperatures))
    weights[:first] = 0.0
    so_far = np.cumsum(weights)
    ends = np.floor(so_far * (steps / so_far[-1])).astype(np.int64)
    place = np.empty_like(order)
    place[order] = np.arange(n, dtype=np.int32)
    return Schedule(order, place, temperatures, active, np.diff(ends, prepend=0))


def part_of_record(widths: NDArray[np.float64], k: int, sse: float) -> float:
    """A record's average part of the SSE or, where far outliers make that large, the average neighbourhood
    without the widest 2k or 1 %.
    """
    n = len(widths)
    inner = -np.sort(-widths)[min(max(2 * k, n // 100), n - 1) :]
    typical = float(np.cumsum(inner)[-1]) / len(inner)  # unlike sum(), the same on every machine
    return min(sse / n, typical) if typical > 0.0 else sse / n


SHORT_STEPS_PER_RECORD = 500
"""If there are fewer steps, they are spent on one anneal."""
GROWTH = 8
"""Length of the later anneals, as a multiple of the first, short one."""
REPEATED_STEPS_PER_RECORD, MOST_REPEATED = 30_000, 100
"""With four times this many steps there are two long anneals, with nine times as many three, and so on:
they end in one of a few good partitions, and which one is a matter of luck as much as of their length.
"""
FIRST_STEPS_PER_RECORD_ON_LARGE = 100
"""Of the first anneal of large data: less than a second for 100,000 records."""


FIRST_LEVEL_IF_SHORT = LEVELS // 4
"""First level of a short anneal of large data after a descent: hotter levels would undo it."""


def first_level(n: int, steps: int) -> int:
    """The first level of an anneal of large data after a descent."""
    return FIRST_LEVEL_IF_SHORT if steps < SHORT_STEPS_PER_RECORD * n else 0


def rounds_of(cooling: Schedule) -> int:
    """How often the blocks of an anneal are cut anew: a power of two."""
    wanted = int(cooling.steps.sum()) // (STEPS_PER_RECORD_AND_ROUND * len(cooling.order))
    rounds = LEAST_ROUNDS
    while rounds < min(wanted, MOST_ROUNDS):
        rounds *= 2
    return rounds


def lengths_of_anneals(steps: int, n: int, whole: bool) -> list[int]:
    """Lengths of complete anneals that share `steps`: a short one, so that something finished is at hand
    soon, then long ones, whose number and length grow alike. Large data average over so many regions that
    anneals of one length hardly differ: there a short one, then the rest.
    """
    if not whole:
        first = min(steps // 8, FIRST_STEPS_PER_RECORD_ON_LARGE * n)
        return [first, steps - first]
    if steps < SHORT_STEPS_PER_RECORD * n:
        return [steps]
    times = min(max(math.isqrt(steps // (REPEATED_STEPS_PER_RECORD * n)), 1), MOST_REPEATED)
    parts = [1, *[GROWTH] * times]
    return [steps * part // sum(parts) for part in parts]
