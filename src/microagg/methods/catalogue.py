"""Every method by name, one composition each. `recipe.py` turns what a user writes into a stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from microagg.methods import compositions
from microagg.methods.anneal import Anneal
from microagg.methods.assignment import Adaptive, Assignment
from microagg.methods.blocks import BLOCK_RECORDS, KdBlocks
from microagg.methods.exact import (
    MOST_RECORDS_EXHAUSTIVE,
    MOST_RECORDS_PRICED,
    Exact,
    Exhaustive,
    Neighbourhoods,
)
from microagg.methods.fixed_size import (
    Cbfs,
    Centroid,
    Diameter,
    MaximumDistance,
    Mdav,
    MdavGeneric,
    Tfrp,
)
from microagg.methods.local_search import Descent, Dissolve, TwoSwap
from microagg.methods.published import Published
from microagg.methods.relocate import Relocate
from microagg.methods.sorting import ByComponent, ByZScores, OptimalUnivariate
from microagg.methods.stage import Stage, Within, chain
from microagg.methods.variable_size import GeneticGroups, KWard, MstCut, Vmdav


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
    """Records that take at most a few minutes on one core; docs/speed.md has measurements."""
    below_2k: bool = False
    """Every group has fewer than 2k records."""
    starts_from: tuple[str, ...] = ()
    """Where a refinement that is written alone starts: from the best of these."""
    aliases: tuple[str, ...] = ()
    """Other names for it, which a recipe may use as well."""


def _blocks(
    inner: Literal["mdav", "mdav-mhm", "cbfs", "cbfs-mhm"] = "mdav", size: int = BLOCK_RECORDS
) -> Stage:
    return Within(METHODS[inner].build(), by=KdBlocks(size))


_FIXED = "groups of k; the last or a few of up to 2k−1"
_VARIABLE = "groups of k to 2k−1"
_ON_PATH = "groups of k to 2k−1; best partition along its path"
_REFINES = "never worse than its start"

METHODS: dict[str, Method] = {
    # --- ours ---
    "auto": Method(
        compositions.auto,
        "chooses for you: univariate, exhaustive, or mdav (in blocks, for large n), anneal and exact; "
        "published where keys are categories",
        "ours", "by effort", "groups of k to 2k−1; not worse than mdav up to 200,000 records", 10_000_000,
        below_2k=True,
    ),
    "anneal": Method(
        Anneal,
        "a refinement: descent and simulated annealing, the lowest loss of all",
        "ours", "by effort, or steps", _REFINES, 10_000_000, starts_from=("mdav",),
    ),
    "published": Method(
        Published,
        "a refinement where keys are categories: annealing of what is really published",
        "ours", "by effort, or steps", "publishes at no higher loss than its start", 10_000_000,
        starts_from=("descent",),
    ),
    "relocate": Method(
        Relocate,
        "a refinement: anneals, then groups given up and founded elsewhere; for k of 15 and more",
        "ours", "by effort, or steps", _REFINES, 1_000_000, starts_from=("mdav",),
    ),
    "assignment": Method(
        Assignment,
        "a refinement: a record of every group is given away, all are put back at the least cost",
        "ours", "by effort, or rounds", _REFINES, 10_000_000, starts_from=("descent",),
    ),
    "adaptive": Method(
        Adaptive,
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
        MOST_RECORDS_PRICED, starts_from=("anneal",),
    ),
    "neighbourhoods": Method(
        Neighbourhoods,
        "a refinement: column generation in compact neighbourhoods, again and again",
        "ours, after CGS22", "O(n) a round, for small k", _REFINES, 100_000, starts_from=("descent",),
    ),
    # --- VLDBJ06 ---
    "mdav": Method(
        Mdav,
        "groups around the record farthest from the centroid and its opposite",
        "VLDBJ06 §4.2.3", "O(n²p/k)", _FIXED, 500_000, below_2k=True,
    ),
    "mdav-generic": Method(
        MdavGeneric,
        "mdav over numbers, ordered levels and categories that are equal or not; the usual baseline",
        "Domingo-Ferrer and Torra 2005", "O(n²p/k)", _FIXED, 100_000, below_2k=True,
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
        compositions.npn_mhm,
        "the best cut of a path that always goes on to the nearest record",
        "VLDBJ06 §4.2.1", "O(n²p)", _ON_PATH, 200_000, below_2k=True,
    ),
    "md-mhm": Method(
        compositions.md_mhm,
        "md, then the best cut of a path through its groups",
        "VLDBJ06 §4.2.2", "O(n²p) in practice", _ON_PATH, 200_000, below_2k=True,
    ),
    "mdav-mhm": Method(
        compositions.mdav_mhm,
        "mdav, then the best cut of a path through its groups",
        "VLDBJ06 §4.2.3", "O(n²p/k)", _ON_PATH, 500_000, below_2k=True,
    ),
    "cbfs-mhm": Method(
        compositions.cbfs_mhm,
        "cbfs, then the best cut of a path through its groups",
        "VLDBJ06 §4.2.3", "O(n²p/k)", _ON_PATH, 500_000, below_2k=True,
    ),
    "mhm": Method(
        compositions.mhm,
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
        "VLDBJ06 §3", "O(3ⁿ)", "optimal, with proof", MOST_RECORDS_EXHAUSTIVE,
    ),
    # --- CMP98 ---
    "ufs-pv": Method(
        compositions.ufs_pv,
        "runs of k records sorted by one attribute (the best one, unless given)",
        "CMP98 §2.1", "O(np² + pn log n)", _FIXED, 10_000_000, below_2k=True,
    ),
    "ufs-sz": Method(
        compositions.ufs_sz,
        "runs of k records sorted by their sum of z-scores",
        "CMP98 §2.1", "O(np + n log n)", _FIXED, 100_000_000, below_2k=True,
    ),
    "ufs-fpc": Method(
        compositions.ufs_fpc,
        "runs of k records sorted by the first principal component",
        "CMP98 §2.1", "O(np² + n log n)", _FIXED, 100_000_000, below_2k=True,
    ),
    "udo-pv": Method(
        compositions.udo_pv,
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
        compositions.mdo_pv,
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
        compositions.mdo_md,
        "multivariate k-Ward from the two most distant records",
        "CMP98 §3.2", "O(n²p)", _VARIABLE, 20_000, below_2k=True,
    ),
    "genetic": Method(
        compositions.genetic,
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
        Vmdav,
        "groups that take further near records (the best of 21 γ, unless given)",
        "CGS22 §2", "O(n²p), 21 times", "groups of at least k", 50_000,
    ),
    "two-swap": Method(
        TwoSwap,
        "a refinement: the best exchange of two records, again and again",
        "CGS22 §3", "O(n²p) at first", _REFINES, 20_000, starts_from=("mdav", "v-mdav"),
    ),
    "decomposition": Method(
        compositions.decomposition,
        "mdav or v-mdav, two-swap, column generation and an integer program in s blocks, two-swap",
        "CGS22 §2", "O(n²p), and by k in blocks", "groups of at least k", 10_000,
    ),
    "decomposition-anneal": Method(
        compositions.decomposition_anneal,
        "decomposition with short anneals, cuts and rounding in its blocks",
        "ours, after CGS22 §2", "O(n²p), and by k in blocks", "groups of at least k", 10_000,
    ),
    # --- ICSM15 ---
    "icsm": Method(
        compositions.icsm,
        "mdav, then pools of changes, closed path cuts and cyclic shifts",
        "ICSM15 §4", "O(n²p) a round", _VARIABLE, 20_000, below_2k=True,
    ),
    "icsm-restarts": Method(
        compositions.icsm_restarts,
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
"""What most users need; the other methods are those of papers."""
