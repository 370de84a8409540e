"""How methods with settings of their own are composed: one function of its settings for each.

Parameters are the settings that a recipe may write; their annotations are the values that it accepts.
"""

from __future__ import annotations

from typing import Literal

from microagg import wording
from microagg.methods.auto import Auto
from microagg.methods.decomposition import WORK_IN_BLOCKS, Decomposition, RestrictedMaster
from microagg.methods.exact import Exact
from microagg.methods.fixed_size import Cbfs, MaximumDistance, Mdav
from microagg.methods.local_search import Cycle, Pool, Restarts, TwoSwap
from microagg.methods.paths import GroupTour, NearestNext, PathCut
from microagg.methods.sorting import Axis, ByColumn, ByComponent, ByZScores, FixedRuns
from microagg.methods.stage import Escalate, Stage, chain
from microagg.methods.variable_size import Genetic, KWard

_First = Literal["farthest", "earlier"]
_Shared = Literal["first", "in-turns"]
_ByRecord = Literal["centroid", "record"]
_Divisor = Literal["remaining", "all"]
_OrderOfGroups = Literal["formed", "inwards"]


def mhm(cyclic: bool = False) -> Stage:
    return PathCut(GroupTour(), cyclic)


def _then_mhm(
    groups: Stage,
    path_k: int | None,
    cyclic: bool,
    first: Literal["centroid", "pair", "second of pair"] = "centroid",
) -> Stage:
    if path_k is None:
        return chain(groups, PathCut(GroupTour(first), cyclic))
    return PathCut(GroupTour(first, groups, path_k), cyclic)


def mdav_mhm(path_k: int | None = None, cyclic: bool = False, first: _First = "farthest") -> Stage:
    return _then_mhm(Mdav(first=first), path_k, cyclic)


def cbfs_mhm(path_k: int | None = None, cyclic: bool = False, divisor: _Divisor = "remaining") -> Stage:
    return _then_mhm(Cbfs(divisor), path_k, cyclic)


def md_mhm(
    path_k: int | None = None,
    cyclic: bool = False,
    shared: _Shared = "first",
    leftovers: _ByRecord = "centroid",
    start: Literal["first", "second"] = "first",
) -> Stage:
    """`start`: at which of the two most distant records the path begins."""
    groups = MaximumDistance(shared, leftovers)
    return _then_mhm(groups, path_k, cyclic, "pair" if start == "first" else "second of pair")


def npn_mhm(cyclic: bool = False, start: Literal["centroid", "pair"] = "centroid") -> Stage:
    return PathCut(NearestNext(start), cyclic)


def ufs_pv(column: int | None = None, descending: bool = False) -> Stage:
    return FixedRuns(ByColumn(column), descending)


def ufs_sz(descending: bool = False) -> Stage:
    return FixedRuns(ByZScores(), descending)


def ufs_fpc(descending: bool = False) -> Stage:
    return FixedRuns(ByComponent(), descending)


def udo_pv(column: int | None = None) -> Stage:
    return KWard(ByColumn(column), projected=True)


def mdo_pv(column: int | None = None) -> Stage:
    return KWard(ByColumn(column))


def mdo_md(swap: Literal["no", "yes", "drawn"] = "no") -> Stage:
    return KWard(swap=swap == "yes", drawn=swap == "drawn")


def genetic(
    generations: int = 1_000,
    axis: Literal["component", "zscores", "column"] = "component",
    column: int | None = None,
) -> Stage:
    if column is not None and axis != "column":
        raise wording.no_effect("column", "genetic", f"its records are sorted by {axis}.")
    axes: dict[str, Axis] = {"component": ByComponent(), "zscores": ByZScores(), "column": ByColumn(column)}
    return Genetic(generations, axes[axis])


def _icsm_rounds(
    iterations: int | None = None, tries: int = 3, pool: int | None = None, lists: bool = True
) -> Stage:
    """Closed path cuts and pools of simple changes while they improve, else a cycle, and again."""
    steps = (chain(PathCut(cyclic=True), Pool(pool, lists)), Cycle(tries, lists))
    return Escalate(steps) if iterations is None else Escalate(steps, iterations)


def icsm(
    iterations: int | None = None, tries: int = 3, pool: int | None = None, lists: bool = True
) -> Stage:
    """`tries=1`, `pool=100` and `lists=no` are the paper's own."""
    return chain(Mdav("2k"), _icsm_rounds(iterations, tries, pool, lists))


def icsm_restarts(starts: int = 1_600, tries: int = 3) -> Stage:
    return chain(Mdav("2k"), Restarts(_icsm_rounds(tries=tries), starts))


def auto(prove: bool = True) -> Stage:
    return Auto(prove=prove)


def decomposition(
    s: int = 5,
    first_swap: bool = True,
    last_swap: bool = True,
    order: _OrderOfGroups = "formed",
    keep: bool = True,
    work: int = WORK_IN_BLOCKS,
) -> Stage:
    """CGS22, section 2: steps 2 to 7, steps 3 and 7 only with `first_swap` and `last_swap`."""
    inside = RestrictedMaster(max(work // max(s, 1), 1), keep)
    return _decomposed(inside, s, first_swap, last_swap, order)


def decomposition_anneal(
    s: int = 5,
    first_swap: bool = True,
    last_swap: bool = True,
    order: _OrderOfGroups = "formed",
    work: int = WORK_IN_BLOCKS,
) -> Stage:
    """The same with `exact` in the blocks: short anneals, cuts and rounding by descent."""
    inside = Exact(0.0, 1, max(work // max(s, 1), 1))
    return _decomposed(inside, s, first_swap, last_swap, order)


def _decomposed(inside: Stage, s: int, first_swap: bool, last_swap: bool, order: _OrderOfGroups) -> Stage:
    return chain(Decomposition(inside, s, first_swap, order), *((TwoSwap(),) if last_swap else ()))
