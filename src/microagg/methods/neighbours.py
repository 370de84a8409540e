"""Neighbour lists: what local searches look at instead of everything."""

from __future__ import annotations

from microagg import _core
from microagg.methods import memory_needs
from microagg.methods.run import Run
from microagg.model import Problem, Rows

MOST_ENTRIES = 64_000_000
"""Entries of all lists together (256 MB); longer lists are shortened, but not below 20 entries each."""


LEAVES, FEW_LEAVES, EVERY_LEAF = 96, 24, 0
"""How many leaves of the tree a list is looked for in: nearly all near records are found in 96; 24 take
half the time; a proof needs all that may matter.
"""


def list_length(n: int, k: int) -> int:
    """Entries of a record's list: 4k and at least 20, if there are as many other records."""
    wanted = max(20, 4 * k)
    return min(n - 1, max(20, min(wanted, MOST_ENTRIES // n)))


def near_lists(problem: Problem, length: int, run: Run, most_leaves: int = LEAVES) -> Rows:
    """The `length` records nearest to each, nearest first, one row each; computed once a run.

    Exact up to 4,096 records, very nearly so beyond. O(np) distances times a constant; raises
    `DeadlinePassed`.
    """

    def compute() -> Rows:
        return run.call(
            lambda: _core.neighbour_lists(problem.points, length, most_leaves, run.threads, run.watch),
            needs=memory_needs.of_lists(problem.points, length),
        )

    return run.remember(problem.points, ("near", length, most_leaves), compute)
