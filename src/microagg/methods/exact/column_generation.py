"""Column generation with cuts and branching: proven bounds, and optimal partitions of moderate problems.

Every partition into groups of k to 2k−1 records is a choice of columns C with costs w_C that covers each
record once; an optimal partition has no larger groups, for those could be split. Prices π of the records,
multipliers μ ≥ 0 of odd sets S of records and a charge F ≥ 0 on every group with

    Σ_{i∈C} π_i − Σ_S ⌊|C∩S|/2⌋ μ_S − F ≤ w_C    for every C                                    (1)

prove that no partition costs less than Σπ − Σ μ_S (|S|−1)/2 − F ⌊n/k⌋: add (1) over its groups, and note
that these hold at most (|S|−1)/2 disjoint pairs of S, and that there are at most ⌊n/k⌋ of them. Where (1)
fails, π_i + min(0, min_{C∋i} rc(C)/|C|) repairs it, rc being the right minus the left side: the prices of
a group then fall by −rc(C) at least. So any prices give a bound, whatever the solver that proposed them;
`Pricing` finds all C that violate (1).
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from microagg.methods.exact.branching import branches
from microagg.methods.exact.group_columns import (
    NO_CUTS,
    ColumnPool,
    Cuts,
    GroupColumns,
    Prices,
    cheapest_of_each,
    columns_of_labels,
    concatenate_columns,
    violated_cuts,
)
from microagg.methods.exact.lp_rounding import random_orders, round_to_partition
from microagg.methods.exact.master import LpSolution, Master, best_partition
from microagg.methods.exact.pricing import Duals, Node, Price, PriceAll, PriceListed, repair
from microagg.methods.exact.work_limit import OF_INTEGER_PROGRAM, OF_ROUNDED_RECORD, Work
from microagg.methods.local_search import descend
from microagg.methods.neighbours import list_length, near_lists
from microagg.methods.run import Run, derived_seed
from microagg.methods.stage import evaluate
from microagg.model import Doubles, Labels, Partition, Problem, gap_above

PROVEN = 1e-9
"""Relative gap at which a partition counts as optimal: what rounding and the solver's tolerances leave."""


MOST_LISTED, WORK_OF_LIST = 300_000, 300_000_000
"""Most groups in a list, and most work to make it."""
MOST_COLUMNS, LEAST_COLUMNS = 8, 2_000
"""Columns a record, and in all, that the program holds before it forgets the dearer half."""
CHEAPEST_ADDED = 3
"""Columns per record that a call of the pricing adds."""
FEW_COLUMNS, NODES_OF_MIP = 5_000, 200
"""Lists of at most FEW_COLUMNS are given to HiGHS as an integer program."""
ROUNDINGS, FEW_ROUNDINGS, IDLE_ROUNDS = 20, 4, 3
"""Partitions rounded from a solution; fewer after IDLE_ROUNDS solutions in a row without an improvement."""
SLOW_ROUNDS, SLOW_GAIN = 3, 0.03
"""Cuts are added until SLOW_ROUNDS rounds in a row close less than this share of the gap."""


@dataclass(frozen=True, slots=True, eq=False)
class Proof:
    """What was found and proven: the best partition, with its bound, and what the bound follows from.

    `leaves` are nodes that together hold all partitions. In them (1) holds for all groups that pass the
    `screens`: duals V one after the other, each satisfying (1) for the groups that passed those before it,
    and let pass by groups with reduced cost of at most SSE − V. A partition that is cheaper than
    `partition` has no others.
    """

    partition: Partition
    cuts: Cuts
    screens: tuple[Duals, ...]
    leaves: tuple[Node, ...]
    columns: int
    nodes: int


class ColumnGeneration:
    """One search of one problem."""

    def __init__(
        self,
        problem: Problem,
        start: Partition,
        others: list[Labels],
        shares: Doubles,
        work: int,
        run: Run,
        report: Callable[[ColumnGeneration], None],
    ) -> None:
        """`others`: partitions whose groups are columns to begin with; `shares`: prices that satisfy (1);
        `work`: how much may be done (see `Work`); `report` is called when something has been found.
        """
        n = len(problem.points)
        self.problem = problem
        self.best = start
        self.run = run
        self.unit = start.sse / n
        self.cuts: Cuts = NO_CUTS
        self.root = Node(repair(problem, Prices(shares, np.empty(0)), NO_CUTS, np.zeros(n)))
        self.open: list[tuple[float, int, Node]] = [(self.root.duals.value, 0, self.root)]
        self.leaves: list[Node] = []
        self.nodes = 1
        self._number = itertools.count(1)
        self.screens: list[Duals] = []
        self.listed_room = math.inf
        self.target = 0.0
        self.rounds = self.idle_rounds = 0
        self.cost_of_purge = math.inf
        self.last_lp: LpSolution | None = None
        self.lists = near_lists(problem, list_length(n, problem.k), run)
        self.pool = ColumnPool(problem.points)
        self.work = Work(work)
        # Where k divides n, the rows of the records imply the count cut.
        self.most_groups = n // problem.k if n % problem.k else math.inf
        self.master = Master(n, self.most_groups, self.unit, 10.0 * start.sse, self.work, run.watch)
        self.everything = PriceAll(problem, self.work, run.watch)
        self.price: Price = self.everything
        self.report = report
        for labels in [start.labels, *others]:
            self._add_groups(labels)

    @property
    def bound(self) -> float:
        """Proven: no partition costs less."""
        nodes = [node for _, _, node in self.open] + self.leaves
        return min([self.best.sse, *(node.duals.value for node in nodes)])

    @property
    def gap(self) -> float:
        """How far above the optimum the best partition is at most, as a share of the bound."""
        gap = gap_above(self.bound, self.best.sse)
        return math.inf if gap is None else gap / 100.0

    def proof(self) -> Proof:
        partition = replace(self.best, bound=max(self.best.bound, self.bound))
        leaves = (*self.leaves, *(node for _, _, node in sorted(self.open, key=lambda entry: entry[:2])))
        return Proof(
            partition, self.cuts, tuple(self.screens), leaves, len(self.master.columns), self.nodes
        )

    # --- the tree ---

    def solve(self, target: float, most_nodes: int) -> None:
        """Until the gap is at most `target`, the tree has `most_nodes`, the work is done, or the run is
        overdue.
        """
        self.target = max(target, PROVEN)
        self._solve_root(most_nodes)
        while self.open and not self._is_done() and self.nodes < most_nodes:
            node = self.open[0][2]
            cost = self.best.sse
            lp = self._raise_bound(node)
            if self._is_settled(node) or (lp is None and not self.run.overdue):
                self._close(node)  # nothing left to win, or the solver cannot go on with it
            elif lp is not None and not self._is_done():
                self._close(node, *branches(node, lp, self.master, self.best.sse - lp.cost))
            if self.best.sse < cost:
                self._list_all()

    def solve_restricted(self, most_columns: int) -> None:
        """As CGS22, section 4: the linear program to its end, without cuts, then the best partition made of
        its columns and of those of least reduced cost, `most_columns` of them at most. First of few, which
        often brings a partition that leaves few columns to choose from.
        """
        self._generate(self.root, exactness=PROVEN)
        for most in (most_columns // 10, most_columns // 3, most_columns):
            self.report(self)
            if self.run.overdue or self._is_settled(self.root):
                return
            listed, complete = self._least_reduced(most)
            self._choose_among(listed if complete else concatenate_columns([self.master.columns, listed]))
            if complete:
                return

    def _is_done(self) -> bool:
        return self.gap <= self.target or self.work.left == 0 or self.run.overdue

    def _is_settled(self, node: Node) -> bool:
        return node.duals.value >= self.best.sse * (1.0 - PROVEN)

    def _solve_root(self, most_nodes: int) -> None:
        """Cuts, better partitions, and a list of all groups that count, each helping the others."""
        helped = True
        while helped and not self._is_done():
            cost = self.best.sse
            if self._raise_bound(self.root) is None or self._is_done():
                return
            listed = self._list_all()
            if not listed and most_nodes > 1 and isinstance(self.price, PriceListed):
                self._look_for_better(self.price.columns)
            helped = listed or self.best.sse < cost

    def _close(self, node: Node, *children: Node) -> None:
        self.open = [entry for entry in self.open if entry[2] is not node]
        heapq.heapify(self.open)
        if not children:
            self.leaves.append(node)
        for child in children:
            self.nodes += 1
            heapq.heappush(self.open, (child.duals.value, next(self._number), child))

    # --- one node ---

    def _raise_bound(self, node: Node) -> LpSolution | None:
        """Columns and cuts until they no longer help; the last linear program, None when overdue or where
        the solver fails.
        """
        slow = 0
        while not self.run.overdue:
            before = node.duals.value
            lp = self._generate(node)
            if lp is None or self._is_settled(node):
                return lp
            cost = self.best.sse
            self._round(lp)
            self.report(self)
            if self._is_done():
                return lp
            if self.best.sse < cost:
                continue  # the program was solved only as exactly as the former best partition needed
            gained = node.duals.value - before
            slow = slow + 1 if gained < SLOW_GAIN * (self.best.sse - node.duals.value) else 0
            cuts = violated_cuts(self.master.columns, lp.values, self.cuts)
            if not len(cuts) or slow >= SLOW_ROUNDS:
                return lp
            self.master.add_cuts(cuts)
            self.cuts = self.master.cuts
        return None

    def _generate(self, node: Node, exactness: float = 0.01) -> LpSolution | None:
        """Column generation to the end: until the bound is nearer to the program's cost than this share of
        the program's distance from the best partition. Groups are priced between the best duals and the
        program's: nearer to the best, which satisfy (1), where those of the program leave too many groups
        to look at.
        """
        problem, fineness = self.problem, 0.1
        caution = 0.5
        self.cost_of_purge = math.inf
        self.master.allow(self.master.columns.obey(node.apart, node.together))
        while True:
            self._purge()
            lp = self.master.solve()
            self.last_lp = lp
            if lp is None or self.run.overdue:
                return None
            lag = lp.cost - node.duals.value
            if lag <= max(1e-10 * lp.cost, exactness * (self.best.sse - lp.cost)) or self._is_settled(node):
                return lp
            prices = node.duals.prices.towards(lp.prices, 1.0 - caution)
            # Groups that are hardly cheap are left out: they cost the bound little.
            below = -fineness * (1.0 - caution) * problem.k * lag / self.master.n
            columns, least, complete = self.price(node, prices, self.cuts, below)
            if self.run.overdue and not complete:
                return None
            if complete:
                least = np.minimum(least, below / problem.k)
                duals = repair(problem, prices, self.cuts, least)
                if duals.value > node.duals.value:
                    node.duals = duals
            helps = self._take_columns(columns, lp)
            if not complete:
                caution = 1.0 - (1.0 - caution) / 2.0
                if caution > 0.999 or self._is_done():
                    return lp
            elif helps:
                caution = max(0.5, 1.0 - (1.0 - caution) * 1.5)
            elif caution > 0.0:
                caution = max(0.0, 1.0 - (1.0 - caution) * 2.0)
            elif fineness > 1e-4:
                fineness /= 10.0
            else:
                return lp

    def _take_columns(self, columns: GroupColumns, lp: LpSolution) -> bool:
        """Give the program those that are cheap at its prices, a few for each record; whether there were
        any.
        """
        n = self.master.n
        reduced = columns.reduced_costs(lp.prices, self.cuts)
        cheap = np.flatnonzero(reduced < 0.0)
        few = cheapest_of_each(columns.take(cheap), reduced[cheap], n, CHEAPEST_ADDED)
        chosen = columns.take(cheap[few])
        new = self.pool.new(chosen.members, chosen.sizes)
        self.master.add_columns(new)
        return len(new) > 0

    def _purge(self) -> None:
        """Remove columns that have become expensive; not while a solution refers to them, and only after
        progress, or the same columns could come and go for ever.
        """
        lp, most = self.last_lp, max(MOST_COLUMNS * self.master.n, LEAST_COLUMNS)
        if lp is None or len(self.master.columns) <= most or lp.cost >= self.cost_of_purge * (1 - PROVEN):
            return
        self.cost_of_purge = lp.cost
        known = self.master.columns.reduced_costs(lp.prices, self.cuts)
        self._keep(known <= np.partition(known, most // 2)[most // 2])

    def _keep(self, which: NDArray[np.bool_]) -> None:
        self.master.keep_columns(which)
        self.pool = ColumnPool(self.problem.points)
        self.pool.new(self.master.columns.members, self.master.columns.sizes)

    def _round(self, lp: LpSolution) -> None:
        """Partitions near the program's solution, each made locally optimal."""
        problem, run = self.problem, self.run
        self.rounds += 1
        cost = self.best.sse
        tries = ROUNDINGS if self.idle_rounds < IDLE_ROUNDS else FEW_ROUNDINGS
        for order in random_orders(lp.values, tries, derived_seed(run.seed, self.rounds)):
            if run.overdue:
                return
            self.work.spend(OF_ROUNDED_RECORD * self.master.n)
            labels = round_to_partition(problem, self.master.columns, order, run)
            if labels is not None:
                self._note(descend(problem, labels, self.lists, run.watch, run)[0])
        self.idle_rounds = 0 if self.best.sse < cost else self.idle_rounds + 1

    def _note(self, labels: Labels | None) -> None:
        if labels is None:
            return
        found = evaluate(self.problem, labels, self.best.bound)
        if found.sse < self.best.sse:
            self.best = found
            self._add_groups(labels)

    def _add_groups(self, labels: Labels) -> None:
        groups = columns_of_labels(self.problem.points, labels)
        small = groups.take(np.flatnonzero(groups.sizes < 2 * self.problem.k))
        self.master.add_columns(self.pool.new(small.members, small.sizes))

    # --- the root ---

    def _look_for_better(self, listed: GroupColumns) -> None:
        """The best partition made of the listed columns, if they are few and it takes no more than a
        quarter of the work that is left.
        """
        cost = OF_INTEGER_PROGRAM * len(listed)
        if len(listed) <= FEW_COLUMNS and cost <= self.work.left // 4:
            self.work.spend(cost)
            self._choose_among(listed)

    def _choose_among(self, listed: GroupColumns) -> None:
        """The best partition made of the listed columns and of the groups of the best one."""
        mine = columns_of_labels(self.problem.points, self.best.labels)
        together = ColumnPool(self.problem.points)
        columns = concatenate_columns([together.new(part.members, part.sizes) for part in (mine, listed)])
        start = np.arange(len(columns)) < len(mine)
        self._note(
            best_partition(columns, start, self.most_groups, self.unit, NODES_OF_MIP, self.run.watch)
        )

    def _least_reduced(self, most: int) -> tuple[GroupColumns, bool]:
        """Columns of least reduced cost, `most` of them at most, and whether they are all that a better
        partition can have. None if the work is done before.
        """
        room = all_of_room = (self.best.sse - self.root.duals.value) * (1.0 + PROVEN) + PROVEN * self.unit
        while self.work.left > 0 and not self.run.overdue:
            listed = self.everything.every(self.root, self.cuts, room, most, WORK_OF_LIST)
            if listed is not None:
                return listed, room == all_of_room
            room *= 0.7
        return self.master.columns.take(np.empty(0, dtype=np.int64)), False

    def _list_all(self) -> bool:
        """List all groups that a better partition can have, if they are few: then only those count.
        True if the list is new or much shorter than before.
        """
        duals = self.root.duals
        room = (self.best.sse - duals.value) * (1.0 + PROVEN) + PROVEN * self.unit
        if isinstance(self.price, PriceListed):
            reduced = self.price.columns.reduced_costs(duals.prices, self.cuts)
            columns = self.price.columns.take(np.flatnonzero(reduced <= room))
            if len(columns) > 0.8 * len(self.price.columns):
                return False
        else:
            if room > 0.7 * self.listed_room:
                return False
            self.listed_room = room
            listed = self.everything.every(self.root, self.cuts, room, MOST_LISTED, WORK_OF_LIST)
            if listed is None:
                return False
            columns = listed
        self.screens.append(duals)
        self.price = PriceListed(columns, self.work)
        held = self.master.columns.reduced_costs(duals.prices, self.cuts)
        self._keep(held <= room)
        return True
