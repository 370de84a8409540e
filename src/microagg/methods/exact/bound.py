"""A proven lower bound on the SSE of every partition, for data of any size."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from microagg import _core, errors
from microagg.methods import memory_needs
from microagg.methods.blocks import near_in_memory
from microagg.methods.neighbours import EVERY_LEAF, MOST_ENTRIES
from microagg.methods.run import Run
from microagg.model import Problem

MOST_TRIPLES = 350_000_000
"""Records times the square of the length of their lists, at most: a round then takes five to eight seconds
of one thread, and there are about five rounds.
"""
FEW_TRIPLES = 10_000_000
"""Lists may be longer as long as there are fewer triples than this: they take hardly any time."""
TIGHTER_FROM_LONG_LISTS = 3
"""For this k longer lists raise the bound by 0.7 to 1 %, for twice the time; for others they do little."""
MOST_SHARING_ROUNDS = 20
MOST_REMOTE = 100
"""Outliers whose distances from each other are looked at however far they are: with heavy tails, they make
up most of the SSE.
"""


def record_shares(problem: Problem, run: Run) -> NDArray[np.float64]:
    """Shares of the bound, one for each record and none negative: the shares of any k or more records add
    up to no more than the SSE of these records as a group. So all of them together are a lower bound.

    Proof. A group of k records costs 1/k of the squared distances D of its pairs. Split each pair's:
    v_ij + v_ji = D_ij. Record i pays to k−1 others, at least its k−1 smallest v_ij; 1/k of these is its
    share. Before splitting, pairs may give to each other within triples of records: the pairs of a group
    together cost the same, and each pair then costs no less than with the k−2 triples that give it least.
    Of a group of m > k, take the average over all groups of k within: shares fall to k/m, costs to
    (k−1)/(m−1), which is no larger. How pairs far apart are bounded without looking at them, how splits
    and gifts are found, and how rounding is allowed for, stands in neighbour_bound.hpp.

    Exact neighbour lists first, then O(n · length²) a round. At the deadline the best shares so far, which
    are zeros before the search has ended; else the same on any number of threads.
    """
    n = len(problem.points)
    k = min(problem.k, n)
    if k < 2 or run.overdue:
        return np.zeros(n)
    length, rounds = effort_for(n, k)
    try:
        order = near_in_memory(problem, run)
        near = np.ascontiguousarray(problem.points[order])
        lists = run.call(
            lambda: _core.neighbour_lists(near, length, EVERY_LEAF, run.threads, run.watch),
            needs=memory_needs.of_lists(near, length),
        )
        found = run.call(
            lambda: _core.neighbour_bound(
                near, lists, k, min(n, MOST_REMOTE), rounds, run.threads, run.watch
            ),
            needs=memory_needs.of_bound(n, length, rounds, run.threads),
        )
    except (errors.DeadlinePassed, errors.Cancelled):
        return np.zeros(n)
    shares = np.empty(n)
    shares[order] = found
    return shares


def bound_of(shares: NDArray[np.float64]) -> float:
    """The bound: all shares together, rounded down."""
    return max(0.0, math.nextafter(math.fsum(shares), -math.inf))


def effort_for(n: int, k: int) -> tuple[int, int]:
    """The length of lists and the number of rounds; no rounds, which need 2k neighbours or more, where n
    and k are too large.
    """
    longest = math.isqrt(MOST_TRIPLES // n)
    if longest < 2 * k:
        return min(n - 1, max(1, min(2 * k + 4, MOST_ENTRIES // n))), 0
    short, long = 3 * k + 15, 6 * k + 30
    wanted = max(short, min(long, math.isqrt(FEW_TRIPLES // n)))
    if k == TIGHTER_FROM_LONG_LISTS:
        wanted = long
    return min(n - 1, wanted, longest), MOST_SHARING_ROUNDS
