"""Set partitioning as a linear and as an integer program, solved by HiGHS."""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray

from microagg import _core
from microagg.methods.exact.group_columns import (
    NO_CUTS,
    Cuts,
    GroupColumns,
    Prices,
    concatenate_columns,
)
from microagg.methods.exact.work_limit import OF_ITERATION, OF_PROGRAM, Work
from microagg.model import Doubles, Labels


@dataclass(frozen=True, slots=True, eq=False)
class LpSolution:
    """Optimal `values` of the columns with their `cost`, and the dual solution as `prices`."""

    cost: float
    values: Doubles
    prices: Prices


class Master:
    """The linear program over the columns it was given: each record covered once, at most `most_groups`
    columns in sum, the cuts observed, at the least cost. One artificial column a record, dearer than any
    partition, keeps it feasible. Its rows are those of the records, of the count, of the cuts.

    `unit`: about the cost of a record, for HiGHS' absolute tolerances.
    """

    def __init__(
        self, n: int, most_groups: float, unit: float, dearest: float, work: Work, watch: _core.Watch
    ) -> None:
        self.n = n
        self.cuts = NO_CUTS
        self.columns = GroupColumns(np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0))
        self._unit = unit
        self._work = work
        self._watch = watch
        self._lp = _solver(watch)
        self._lp.setOptionValue("dual_feasibility_tolerance", 1e-9)
        self._lp.setOptionValue("primal_feasibility_tolerance", 1e-9)
        self._lp.setOptionValue("presolve", "off")
        _add_rows(self._lp, n, most_groups)
        rows = np.arange(n, dtype=np.int32)
        self._lp.addCols(
            n, np.full(n, dearest / unit), np.zeros(n), np.full(n, np.inf), n, rows, rows, np.ones(n)
        )

    def add_columns(self, new: GroupColumns) -> None:
        if not len(new):
            return
        column, cut, times = new.cut_entries(self.n, self.cuts).T
        _add_columns(self._lp, self.n, new, self._unit, (column, self.n + 1 + cut, times))
        self.columns = concatenate_columns([self.columns, new])

    def add_cuts(self, new: Cuts) -> None:
        column, cut, times = self.columns.cut_entries(self.n, new).T
        order = np.argsort(cut, kind="stable")
        counts = np.bincount(cut, minlength=len(new))
        self._lp.addRows(
            len(new),
            np.full(len(new), -np.inf),
            new.limits,
            len(column),
            (np.cumsum(counts) - counts).astype(np.int32),
            (self.n + column[order]).astype(np.int32),
            times[order].astype(np.float64),
        )
        self.cuts = Cuts(
            np.concatenate([self.cuts.rows, new.rows]), np.concatenate([self.cuts.sizes, new.sizes])
        )

    def keep_columns(self, which: NDArray[np.bool_]) -> None:
        """Remove all other columns."""
        gone = np.flatnonzero(~which)
        self._lp.deleteCols(len(gone), (self.n + gone).astype(np.int32))
        self.columns = self.columns.take(np.flatnonzero(which))

    def allow(self, which: NDArray[np.bool_]) -> None:
        """Only these columns may be used until the next call."""
        count = len(which)
        where = np.arange(self.n, self.n + count, dtype=np.int32)
        self._lp.changeColsBounds(count, where, np.zeros(count), np.where(which, np.inf, 0.0))

    def solve(self) -> LpSolution | None:
        """The optimum; None if the watch cut it short, or the solver fails twice."""
        if not self._is_solved():
            self._lp.clearSolver()
            if self._watch.expired or not self._is_solved():
                return None
        solution = self._lp.getSolution()
        duals = np.array(solution.row_dual) * self._unit
        return LpSolution(
            self._lp.getInfo().objective_function_value * self._unit,
            np.array(solution.col_value)[self.n :],
            Prices(duals[: self.n], np.maximum(-duals[self.n + 1 :], 0.0), max(-float(duals[self.n]), 0.0)),
        )

    def _is_solved(self) -> bool:
        self._lp.run()
        iterations = self._lp.getInfo().simplex_iteration_count
        size = self._lp.getNumRow() + self._lp.getNumCol()
        self._work.spend(OF_PROGRAM + OF_ITERATION * size * max(iterations, 0))
        return bool(self._lp.getModelStatus() == highspy.HighsModelStatus.kOptimal)


def best_partition(
    columns: GroupColumns,
    start: NDArray[np.bool_],
    most_groups: float,
    unit: float,
    nodes: int,
    watch: _core.Watch,
) -> Labels | None:
    """The cheapest partition made of these columns, from one given as the columns of `start`, so far as
    a tree of `nodes` nodes finds it; None if the solver was stopped before.
    """
    n, count = int(columns.sizes[start].sum()), len(columns)
    mip = _solver(watch)
    mip.setOptionValue("mip_max_nodes", nodes)
    mip.setOptionValue("mip_rel_gap", 1e-9)
    mip.setOptionValue("mip_abs_gap", 1e-9)
    _add_rows(mip, n, most_groups)
    _add_columns(mip, n, columns, unit)
    every = np.arange(count, dtype=np.int32)
    mip.changeColsIntegrality(count, every, np.full(count, highspy.HighsVarType.kInteger))
    mip.setSolution(count, every, start.astype(np.float64))
    mip.run()
    chosen = np.array(mip.getSolution().col_value) > 0.5
    return labels_of_columns(columns.take(np.flatnonzero(chosen)), n)


def labels_of_columns(columns: GroupColumns, n: int) -> Labels | None:
    """The partition whose groups these columns are; None if they do not form one."""
    if len(columns.members) != n or len(np.unique(columns.members)) != n:
        return None
    labels = np.empty(n, dtype=np.int32)
    labels[columns.members] = np.repeat(np.arange(len(columns), dtype=np.int32), columns.sizes)
    return _core.by_first_appearance(labels)


def _add_rows(program: highspy.Highs, n: int, most_groups: float) -> None:
    """One row for each record, and one for the number of groups."""
    least, most = np.append(np.ones(n), -np.inf), np.append(np.ones(n), most_groups)
    nothing = np.empty(0, np.int32)
    program.addRows(n + 1, least, most, 0, np.zeros(n + 1, np.int32), nothing, np.empty(0))


Entries = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Columns, rows and coefficients."""
NO_ENTRIES: Entries = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))


def _add_columns(
    program: highspy.Highs, n: int, new: GroupColumns, unit: float, of_cuts: Entries = NO_ENTRIES
) -> None:
    """Add columns to the rows of their records, of the number of groups, and of the cuts."""
    each = np.arange(len(new))
    owners = np.concatenate([np.repeat(each, new.sizes), each, of_cuts[0]])
    rows = np.concatenate([new.members, np.full(len(new), n), of_cuts[1]])
    values = np.concatenate([np.ones(len(new.members) + len(new)), of_cuts[2]])
    order = np.argsort(owners, kind="stable")
    counts = np.bincount(owners, minlength=len(new))
    program.addCols(
        len(new),
        new.costs / unit,
        np.zeros(len(new)),
        np.full(len(new), np.inf),
        len(rows),
        (np.cumsum(counts) - counts).astype(np.int32),
        rows[order].astype(np.int32),
        values[order],
    )


def _solver(watch: _core.Watch) -> highspy.Highs:
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.silent()
    solver.setOptionValue("threads", 1)

    def look(event: highspy.highs.HighsCallbackEvent) -> None:
        if watch.expired:
            event.interrupt()

    solver.cbSimplexInterrupt += look
    solver.cbMipInterrupt += look
    return solver
