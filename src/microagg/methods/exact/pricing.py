"""Prices of records, and the groups that are too cheap for them.

Numbers in parentheses: `column_generation.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from microagg import _core
from microagg.methods.exact.group_columns import Cuts, GroupColumns, Prices, with_costs
from microagg.methods.exact.work_limit import OF_LISTED_COLUMN, Work
from microagg.model import Doubles, Problem, Rows

NO_PAIRS: Rows = np.empty((0, 2), dtype=np.int32)

SMALLEST = 2.0**-1060
"""A few units in the last place of numbers near zero."""


@dataclass(frozen=True, slots=True, eq=False)
class Duals:
    """Prices that satisfy (1), and the bound they prove."""

    prices: Prices
    value: float


def repair(problem: Problem, prices: Prices, cuts: Cuts, least: Doubles) -> Duals:
    """Duals that satisfy (1) in exact arithmetic.

    `least` is what `Pricing` computed in rounded arithmetic: per record, the least of 0 and rc(C)/|C|.
    A group whose rc is near 0 or negative has w_C and F ≤ T = Σ|π| + Σμ over its records and their
    cuts, all its sums have at most p + (2k)² + 4k + 2kc + 1 terms if no record is in more than c cuts, so
    that rounding changes rc by less than half of ρ·T with ρ = 8·(p + 4k² + 4k + 2kc + 17)·2⁻⁵³; each price
    is lowered by its part of ρ·T.
    """
    n, p, k = *problem.points.shape, problem.k
    most_cuts = int(np.bincount(cuts.rows, minlength=1).max())
    rho = 8.0 * (p + 4 * k * k + 4 * k + 2 * k * most_cuts + 17) * 2.0**-53
    terms = np.abs(prices.records)
    np.add.at(terms, cuts.rows, np.repeat(prices.multipliers, cuts.sizes))
    safe = prices.records + least - rho * terms - np.where(terms > 0.0, SMALLEST, 0.0)
    charges = prices.charge * (n // k)
    total = math.fsum(safe) - math.fsum(prices.multipliers * cuts.limits) - charges
    value = total - 8.0 * 2.0**-53 * (math.fsum(terms) + charges)
    return Duals(replace(prices, records=safe), value)


@dataclass(slots=True, eq=False)
class Node:
    """A part of all partitions: those that keep the pairs of `apart` in different groups and those of
    `together` in the same. `duals` satisfy (1) for the groups that remain.
    """

    duals: Duals
    apart: Rows = field(default_factory=lambda: NO_PAIRS)
    together: Rows = field(default_factory=lambda: NO_PAIRS)


class Price(Protocol):
    """Groups with a reduced cost below `below`: columns, `least` (per record the least of 0 and rc(C)/|C|),
    and whether `least` holds for all groups (so far as it is below `below`/k).
    """

    def __call__(
        self, node: Node, prices: Prices, cuts: Cuts, below: float
    ) -> tuple[GroupColumns, Doubles, bool]: ...


MOST_COLUMNS_A_CALL = 5_000
WORK_A_CALL = 100_000_000
"""Candidates that one call of the pricing looks at: about a second. On many records more, or no call would
ever get to the end.
"""
FIRST_WORK, MORE_WORK = 50, 4
"""A call looks at FIRST_WORK · n candidates from each record at first, as prices are far from right;
whenever that is not enough, the next call may look at MORE_WORK times as many.
"""


class PriceAll:
    """Prices all groups of the problem."""

    def __init__(self, problem: Problem, work: Work, watch: _core.Watch) -> None:
        self._pricing = _core.Pricing(problem.points, problem.k)
        self._work = work
        self._work_of_call = max(WORK_A_CALL, 2 * problem.k * len(problem.points) ** 2)
        self._work_of_one = FIRST_WORK * len(problem.points)
        self._points = problem.points
        self._watch = watch

    def __call__(
        self, node: Node, prices: Prices, cuts: Cuts, below: float
    ) -> tuple[GroupColumns, Doubles, bool]:
        """Those that were the cheapest of a record while searching."""
        found = self._run(node, prices, cuts, below, False, MOST_COLUMNS_A_CALL, self._work_of_call)
        if not found[2]:
            self._work_of_one = min(MORE_WORK * self._work_of_one, WORK_A_CALL)
        return found

    def every(
        self, node: Node, cuts: Cuts, below: float, most_columns: int, most_work: int
    ) -> GroupColumns | None:
        """All columns below; None if there are too many."""
        prices = node.duals.prices
        first = cuts.first(len(prices.multipliers))
        columns, _, complete = self._run(node, prices, first, below, True, most_columns, most_work)
        return columns if complete else None

    def _run(
        self,
        node: Node,
        prices: Prices,
        cuts: Cuts,
        below: float,
        every: bool,
        most_columns: int,
        most_work: int,
    ) -> tuple[GroupColumns, Doubles, bool]:
        members, sizes, _, least, complete = self._pricing.run(
            prices.records, cuts.rows, cuts.sizes, prices.multipliers, prices.charge, node.apart,
            node.together, below, every, most_columns, min(most_work, self._work.left),
            most_work if every else self._work_of_one, self._watch,
        )  # fmt: skip
        self._work.spend(self._pricing.work)
        return with_costs(self._points, members, sizes), least, complete


class PriceListed:
    """Prices a list of groups, which holds all that a partition below a known cost can have."""

    def __init__(self, columns: GroupColumns, work: Work) -> None:
        self.columns = columns
        self._work = work

    def __call__(
        self, node: Node, prices: Prices, cuts: Cuts, below: float
    ) -> tuple[GroupColumns, Doubles, bool]:
        """The cheapest, at most a few hundred."""
        self._work.spend(OF_LISTED_COLUMN * len(self.columns))
        reduced = self.columns.reduced_costs(prices, cuts)
        reduced[~self.columns.obey(node.apart, node.together)] = np.inf
        negative = np.flatnonzero(reduced < min(below, 0.0))
        found = self.columns.take(negative)
        least = np.zeros(len(prices.records))
        shares = np.repeat(reduced[negative] / found.sizes, found.sizes)
        np.minimum.at(least, found.members, shares)
        chosen = negative[np.argsort(reduced[negative], kind="stable")[:500]]
        return self.columns.take(np.sort(chosen)), least, True
