"""Every method by name, one composition each. `recipe.py` turns what a user writes into a stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from microagg import wording
from microagg.methods.anneal import Anneal
from microagg.methods.assignment import Adaptive, Assignment
from microagg.methods.auto import Auto
from microagg.methods.blocks import BLOCK_RECORDS, KdBlocks
from microagg.methods.decomposition import WORK_IN_BLOCKS, Decomposition, RestrictedMaster
from microagg.methods.exact import MOST_PRICED, MOST_RECORDS, Exact, Exhaustive, Neighbourhoods
from microagg.methods.fixed_size import Cbfs, Centroid, Diameter, MaximumDistance, Mdav, Tfrp
from microagg.methods.local_search import Cycle, Descent, Dissolve, Pool, Restarts, TwoSwap
from microagg.methods.paths import GroupTour, NearestNext, PathCut
from microagg.methods.relocate import Relocate
from microagg.methods.sorting import Axis, ByColumn, ByComponent, ByZScores, FixedRuns, OptimalUnivariate
from microagg.methods.stage import Escalate, Stage, Within, chain
from microagg.methods.variable_size import Genetic, GeneticGroups, KWard, MstCut, Vmdav


@dataclass(frozen=True, slots=True)
class Method:
    """A catalogue entry: how it is built, and what a user wants to know before choosing it."""

    build: Callable[..., Stage]
    """A function of the method's own keyword settings."""
    summary: str
    paper: str
    cost: str
    guarantee: str
    largest_n: int
    """So many records take at most a few minutes on one core; docs/speed.md has what was measured."""
    below_2k: bool = False
    """Every group has fewer than 2k records."""
    starts_from: tuple[str, ...] = ()
    """For a refinement written alone: it starts from the best of these."""
    aliases: tuple[str, ...] = ()
    """Other names for it, which a recipe may use as well."""


_Leftovers = Literal["each", "jointly"]
_First = Literal["farthest", "earlier"]
_Shared = Literal["first", "in-turns"]
_ByRecord = Literal["centroid", "record"]
_Divisor = Literal["remaining", "all"]
_OrderOfGroups = Literal["formed", "inwards"]


def _mdav(
    stop: Literal["3k", "2k"] = "3k", leftovers: _Leftovers = "each", first: _First = "farthest"
) -> Stage:
    return Mdav(stop, leftovers, first)


def _mhm(cyclic: bool = False) -> Stage:
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


def _mdav_mhm(path_k: int | None = None, cyclic: bool = False, first: _First = "farthest") -> Stage:
    return _then_mhm(Mdav(first=first), path_k, cyclic)


def _cbfs_mhm(path_k: int | None = None, cyclic: bool = False, divisor: _Divisor = "remaining") -> Stage:
    return _then_mhm(Cbfs(divisor), path_k, cyclic)


def _md_mhm(
    path_k: int | None = None,
    cyclic: bool = False,
    shared: _Shared = "first",
    leftovers: _ByRecord = "centroid",
    start: Literal["first", "second"] = "first",
) -> Stage:
    """`start`: at which of the two most distant records the path begins."""
    groups = MaximumDistance(shared, leftovers)
    return _then_mhm(groups, path_k, cyclic, "pair" if start == "first" else "second of pair")


def _npn_mhm(cyclic: bool = False, start: Literal["centroid", "pair"] = "centroid") -> Stage:
    return PathCut(NearestNext(start), cyclic)


def _ufs_pv(column: int | None = None, descending: bool = False) -> Stage:
    return FixedRuns(ByColumn(column), descending)


def _ufs_sz(descending: bool = False) -> Stage:
    return FixedRuns(ByZScores(), descending)


def _ufs_fpc(descending: bool = False) -> Stage:
    return FixedRuns(ByComponent(), descending)


def _udo_pv(column: int | None = None) -> Stage:
    return KWard(ByColumn(column), projected=True)


def _mdo_pv(column: int | None = None) -> Stage:
    return KWard(ByColumn(column))


def _mdo_md(swap: Literal["no", "yes", "drawn"] = "no") -> Stage:
    return KWard(swap=swap == "yes", drawn=swap == "drawn")


def _genetic(
    generations: int = 1_000,
    axis: Literal["component", "zscores", "column"] = "component",
    column: int | None = None,
) -> Stage:
    if column is not None and axis != "column":
        raise wording.no_effect("column", "genetic", f"its records are sorted by {axis}.")
    axes: dict[str, Axis] = {"component": ByComponent(), "zscores": ByZScores(), "column": ByColumn(column)}
    return Genetic(generations, axes[axis])


def _v_mdav(gamma: float | None = None) -> Stage:
    return Vmdav(gamma)


def _icsm_rounds(
    iterations: int | None = None, tries: int = 3, pool: int | None = None, lists: bool = True
) -> Stage:
    """Closed path cuts and pools of simple changes while they improve, else a cycle, and again."""
    steps = (chain(PathCut(cyclic=True), Pool(pool, lists)), Cycle(tries, lists))
    return Escalate(steps) if iterations is None else Escalate(steps, iterations)


def _icsm(
    iterations: int | None = None, tries: int = 3, pool: int | None = None, lists: bool = True
) -> Stage:
    """`tries=1`, `pool=100` and `lists=no` are the paper's own."""
    return chain(Mdav("2k"), _icsm_rounds(iterations, tries, pool, lists))


def _icsm_restarts(starts: int = 1_600, tries: int = 3) -> Stage:
    return chain(Mdav("2k"), Restarts(_icsm_rounds(tries=tries), starts))


def _blocks(
    inner: Literal["mdav", "mdav-mhm", "cbfs", "cbfs-mhm"] = "mdav", size: int = BLOCK_RECORDS
) -> Stage:
    return Within(METHODS[inner].build(), by=KdBlocks(size))


def _auto(prove: bool = True) -> Stage:
    return Auto(prove=prove)


def _anneal(steps: int | None = None, first: int = 0) -> Stage:
    return Anneal(steps, first)


def _assignment(rounds: int | None = None) -> Stage:
    return Assignment(rounds)


def _adaptive(steps: int | None = None) -> Stage:
    return Adaptive(steps)


def _relocate(steps: int | None = None, anneals: bool = True) -> Stage:
    return Relocate(steps, anneals)


def _decomposition(
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


def _decomposition_anneal(
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


_FIXED = "groups of k; the last or a few of up to 2k−1"
_VARIABLE = "groups of k to 2k−1"
_ON_PATH = "groups of k to 2k−1; best partition along its path"
_REFINES = "never worse than its start"

METHODS: dict[str, Method] = {
    # --- ours ---
    "auto": Method(
        _auto,
        "chooses for you: univariate, exhaustive, or mdav (in blocks, for large n), anneal and exact",
        "ours", "by effort", "groups of k to 2k−1; not worse than mdav up to 200,000 records", 10_000_000,
        below_2k=True,
    ),
    "anneal": Method(
        _anneal,
        "a refinement: descent and simulated annealing, the lowest loss of all",
        "ours", "by effort, or steps", _REFINES, 10_000_000, starts_from=("mdav",),
    ),
    "relocate": Method(
        _relocate,
        "a refinement: anneals, then groups given up and founded elsewhere; for k of 15 and more",
        "ours", "by effort, or steps", _REFINES, 1_000_000, starts_from=("mdav",),
    ),
    "assignment": Method(
        _assignment,
        "a refinement: a record of every group is given away, all are put back at the least cost",
        "ours", "by effort, or rounds", _REFINES, 10_000_000, starts_from=("descent",),
    ),
    "adaptive": Method(
        _adaptive,
        "a refinement: descent, then assignment rounds or annealing, by the sizes of the groups",
        "ours", "by effort, or steps", _REFINES, 10_000_000, starts_from=("mdav",),
    ),
    "descent": Method(
        Descent,
        "a refinement: records and groups change while any change improves",
        "ours", "O(np) a sweep", _REFINES, 1_000_000, starts_from=("mdav",),
    ),
    "blocks": Method(
        _blocks,
        "mdav (or another inner method) inside blocks of near records",
        "ours", "O(n·size·p/k)", _VARIABLE, 10_000_000, below_2k=True,
    ),
    "exact": Method(
        Exact,
        "a refinement: column generation with cuts and branching, the optimum or a bound with proof",
        "ours, after CGS22 §4", "exponential in k", "never worse than its start; a proven bound",
        MOST_PRICED, starts_from=("anneal",),
    ),
    "neighbourhoods": Method(
        Neighbourhoods,
        "a refinement: column generation in compact neighbourhoods, again and again",
        "ours, after CGS22", "O(n) a round, for small k", _REFINES, 100_000, starts_from=("descent",),
    ),
    # --- VLDBJ06 ---
    "mdav": Method(
        _mdav,
        "groups around the record farthest from the centroid and its opposite",
        "VLDBJ06 §4.2.3", "O(n²p/k)", _FIXED, 500_000, below_2k=True,
    ),
    "md": Method(
        MaximumDistance,
        "groups around the two most distant records",
        "VLDBJ06 §4.2.2", "O(n²p) in practice", _FIXED, 200_000, below_2k=True,
    ),
    "cbfs": Method(
        Cbfs,
        "groups around the record farthest from the centroid",
        "VLDBJ06 §4.2.3", "O(n²p/k)", _FIXED, 500_000, below_2k=True,
    ),
    "npn-mhm": Method(
        _npn_mhm,
        "the best cut of a path that always goes on to the nearest record",
        "VLDBJ06 §4.2.1", "O(n²p)", _ON_PATH, 200_000, below_2k=True,
    ),
    "md-mhm": Method(
        _md_mhm,
        "md, then the best cut of a path through its groups",
        "VLDBJ06 §4.2.2", "O(n²p) in practice", _ON_PATH, 200_000, below_2k=True,
    ),
    "mdav-mhm": Method(
        _mdav_mhm,
        "mdav, then the best cut of a path through its groups",
        "VLDBJ06 §4.2.3", "O(n²p/k)", _ON_PATH, 500_000, below_2k=True,
    ),
    "cbfs-mhm": Method(
        _cbfs_mhm,
        "cbfs, then the best cut of a path through its groups",
        "VLDBJ06 §4.2.3", "O(n²p/k)", _ON_PATH, 500_000, below_2k=True,
    ),
    "mhm": Method(
        _mhm,
        "a refinement: the best cut of a path through the groups it is given",
        "VLDBJ06 §4.1, ICSM15 §4.2", "O(n²p/k²)", _REFINES, 500_000, starts_from=("mdav",),
    ),
    "univariate": Method(
        OptimalUnivariate,
        "the optimum for one attribute",
        "VLDBJ06 §2", "O(n) in practice", "optimal, with proof", 100_000_000,
    ),
    "exhaustive": Method(
        Exhaustive,
        "the optimum of a tiny data set by trying everything",
        "VLDBJ06 §3", "O(3ⁿ)", "optimal, with proof", MOST_RECORDS,
    ),
    # --- CMP98 ---
    "ufs-pv": Method(
        _ufs_pv,
        "runs of k records sorted by one attribute (the best one, unless given)",
        "CMP98 §2.1", "O(np² + pn log n)", _FIXED, 10_000_000, below_2k=True,
    ),
    "ufs-sz": Method(
        _ufs_sz,
        "runs of k records sorted by their sum of z-scores",
        "CMP98 §2.1", "O(np + n log n)", _FIXED, 100_000_000, below_2k=True,
    ),
    "ufs-fpc": Method(
        _ufs_fpc,
        "runs of k records sorted by the first principal component",
        "CMP98 §2.1", "O(np² + n log n)", _FIXED, 100_000_000, below_2k=True,
    ),
    "udo-pv": Method(
        _udo_pv,
        "k-Ward on one attribute (the best one, unless given)",
        "CMP98 §2.2", "O(n²p)", _VARIABLE, 10_000, below_2k=True,
    ),
    "udo-sz": Method(
        lambda: KWard(ByZScores(), projected=True),
        "k-Ward on the sum of z-scores",
        "CMP98 §2.2", "O(n²)", _VARIABLE, 30_000, below_2k=True,
    ),
    "udo-fpc": Method(
        lambda: KWard(ByComponent(), projected=True),
        "k-Ward on the first principal component",
        "CMP98 §2.2", "O(n²)", _VARIABLE, 30_000, below_2k=True,
    ),
    "mdo-pv": Method(
        _mdo_pv,
        "multivariate k-Ward from the extremes of one attribute (the best one, unless given)",
        "CMP98 §3.2", "O(n²p²)", _VARIABLE, 5_000, below_2k=True,
    ),
    "mdo-sz": Method(
        lambda: KWard(ByZScores()),
        "multivariate k-Ward from the extremes of the sum of z-scores",
        "CMP98 §3.2", "O(n²p)", _VARIABLE, 20_000, below_2k=True,
    ),
    "mdo-fpc": Method(
        lambda: KWard(ByComponent()),
        "multivariate k-Ward from the extremes of the first principal component",
        "CMP98 §3.2", "O(n²p)", _VARIABLE, 20_000, below_2k=True,
    ),
    "mdo-md": Method(
        _mdo_md,
        "multivariate k-Ward from the two most distant records",
        "CMP98 §3.2", "O(n²p)", _VARIABLE, 20_000, below_2k=True,
    ),
    "genetic": Method(
        _genetic,
        "a genetic search over the cuts of an order (the first principal component's, unless given)",
        "CMP98 §2.2", "O(n) a child", _VARIABLE, 100_000, below_2k=True,
    ),
    "genetic-groups": Method(
        GeneticGroups,
        "a genetic search over group labels with repair",
        "CMP98 §3.2 (ours)", "O(n²p/k) at first", _VARIABLE, 10_000, below_2k=True,
    ),
    # --- TFRP07 ---
    "diameter": Method(
        Diameter,
        "md, each group growing towards its own centroid",
        "TFRP07 §2.2, CMP98 §3.1", "O(n²p) in practice", _FIXED, 200_000,
        below_2k=True, aliases=("mfs-md",),
    ),
    "centroid": Method(
        Centroid,
        "cbfs, each group growing towards its own centroid",
        "TFRP07 §2.2", "O(n²p)", _FIXED, 500_000, below_2k=True,
    ),
    "tfrp-1": Method(
        Tfrp,
        "groups around the records farthest from two fixed points",
        "TFRP07 §3.1", "O(n²p/k)", _FIXED, 500_000, below_2k=True,
    ),
    "tfrp": Method(
        lambda: chain(Tfrp(), Dissolve()),
        "tfrp-1, then groups of low homogeneity are dissolved",
        "TFRP07 §3.2", "O(n²p/k) at worst", _VARIABLE, 200_000, below_2k=True,
    ),
    "dissolve": Method(
        lambda: Dissolve(),
        "a refinement: groups of low homogeneity are scattered where that pays",
        "TFRP07 §3.2", "O(n²p/k) at worst", _REFINES, 200_000, starts_from=("mdav",),
    ),
    "diameter-plus": Method(
        lambda: chain(Diameter(), Dissolve(Diameter())),
        "diameter, then groups of low homogeneity are dissolved",
        "TFRP07 §3.2", "O(n²p) in practice", _VARIABLE, 200_000, below_2k=True,
    ),
    "centroid-plus": Method(
        lambda: chain(Centroid(), Dissolve(Centroid())),
        "centroid, then groups of low homogeneity are dissolved",
        "TFRP07 §3.2", "O(n²p)", _VARIABLE, 200_000, below_2k=True,
    ),
    "m-d": Method(
        lambda: chain(MstCut(), Within(Diameter())),
        "the spanning tree cut at long edges, large parts re-split by diameter",
        "TFRP07 §2.3, VLDBJ06 §5", "O(n²p)", "groups of at least k", 50_000,
    ),
    "m-c": Method(
        lambda: chain(MstCut(), Within(Centroid())),
        "the spanning tree cut at long edges, large parts re-split by centroid",
        "TFRP07 §2.3", "O(n²p)", "groups of at least k", 50_000,
    ),
    # --- CGS22 ---
    "v-mdav": Method(
        _v_mdav,
        "groups that take further near records (the best of 21 γ, unless given)",
        "CGS22 §2", "O(n²p), 21 times", "groups of at least k", 50_000,
    ),
    "two-swap": Method(
        TwoSwap,
        "a refinement: the best exchange of two records, again and again",
        "CGS22 §3", "O(n²p) at first", _REFINES, 20_000, starts_from=("mdav", "v-mdav"),
    ),
    "decomposition": Method(
        _decomposition,
        "mdav or v-mdav, two-swap, column generation and an integer program in s blocks, two-swap",
        "CGS22 §2", "O(n²p), and by k in blocks", "groups of at least k", 10_000,
    ),
    "decomposition-anneal": Method(
        _decomposition_anneal,
        "decomposition with short anneals, cuts and rounding in its blocks",
        "ours, after CGS22 §2", "O(n²p), and by k in blocks", "groups of at least k", 10_000,
    ),
    # --- ICSM15 ---
    "icsm": Method(
        _icsm,
        "mdav, then pools of changes, closed path cuts and cyclic shifts",
        "ICSM15 §4", "O(n²p) a round", _VARIABLE, 20_000, below_2k=True,
    ),
    "icsm-restarts": Method(
        _icsm_restarts,
        "icsm from many perturbed starts; the best is kept",
        "ICSM15 §5.3", "as icsm, for each start", _VARIABLE, 2_000, below_2k=True,
    ),
}  # fmt: skip

ALIASES = {alias: name for name, method in METHODS.items() for alias in method.aliases}

MEANINGS = {
    "anneals": "anneal before and after relocating; without them only relocate and descend",
    "axis": "what records are sorted by: the first principal component, the sum of z-scores, an attribute",
    "column": "the attribute to sort by, counted from 1; without it the one with the least loss",
    "cyclic": "cut a closed tour instead of a path with two ends",
    "descending": "sort from the highest to the lowest",
    "divisor": "the sum of the remaining records is divided by their number or by that of all records",
    "exact.gap": "end when the gap between loss and bound is at most this many percent",
    "exact.nodes": "most nodes of the branching tree; 1: no branching; without it by effort",
    "exact.work": "most work of pricing; without it by effort",
    "first": "whose group of the two is formed first: that of the record farthest from the centroid, or "
    "that of the record that stands earlier in the array",
    "anneal.first": "the first of 128 levels, for large data whose start is good already; up to 6,000 "
    "records without effect",
    "first_swap": "two-swap before the blocks are solved",
    "gamma": "how readily groups grow; without it 0, 0.1, … 2 are tried",
    "generations": "generations of the search",
    "inner": "the method inside the blocks",
    "iterations": "most rounds that improve; without it until none does",
    "keep": "begin a block with its groups and keep them where nothing better is found; the paper begins "
    "afresh",
    "last_swap": "two-swap after the blocks are solved",
    "leftovers": "who takes the records left over after `stop=2k`: for each the nearest group, or one "
    "for all of them",
    "md.leftovers": "a record left over goes to the group with the nearest centroid or the nearest record",
    "md-mhm.leftovers": "as for `md`",
    "lists": "beyond 5,000 records look only at the nearest 30 records of each; the paper looks at all",
    "order": "groups are put together as they were formed, or from the outside inwards",
    "path_k": "size of the groups that the path visits; without it k, else the result may be worse than "
    "the groups",
    "patience": "end after so many rounds without an improvement",
    "pool": "changes in the pool; without it 100, beyond 5,000 records n/20; the paper has 100",
    "prove": "column generation, which can prove the optimum, where it is worth its time",
    "rounds": "rounds of assignment; without it by effort and seconds",
    "s": "number of blocks",
    "shared": "a record that both groups want goes to the one formed first, or they choose in turns",
    "size": "records in a block at most",
    "descent.size": "descend in blocks of so many records, for very large data; without it in all of them",
    "neighbourhoods.size": "records in a block; without it 900/k",
    "npn-mhm.start": "where the path begins: at the record farthest from the centroid or at the first of "
    "the two most distant ones",
    "md-mhm.start": "at which of the two most distant records the path begins",
    "starts": "how many starts",
    "steps": "annealing steps in all; without it by effort and seconds",
    "stop": "a pair of groups is formed while 3k or while 2k records remain",
    "swap": "which extreme comes first at a split: always the lower row, always the higher one, or drawn "
    "anew each time",
    "tries": "from how many groups, those of lowest score, a cycle may start; the paper has 1",
    "work": "most work of pricing in all blocks together",
    "neighbourhoods.work": "most work of pricing in a block",
}
"""What a setting means, by its name; with the method's name before it where methods differ."""

COMMON = ("auto", "anneal", "descent", "blocks", "exact", "mdav", "mdav-mhm", "univariate")
"""What most users need; the others are for those who look for a paper's method."""
