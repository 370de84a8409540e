"""Every method by name, one composition each. `recipe.py` turns what a user writes into a stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from microagg.methods.exact import MOST_RECORDS, Exhaustive
from microagg.methods.fixed_size import Cbfs, Centroid, Diameter, MaximumDistance, Mdav
from microagg.methods.paths import GroupTour, NearestNext, PathCut
from microagg.methods.sorting import OptimalUnivariate
from microagg.methods.stage import Stage, chain


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
    """Beyond about this many records it takes more than a few minutes on one core."""
    starts_from: str | None = None
    """For a refinement: the method it starts from when it is written alone."""


def _mdav(stop: Literal["3k", "2k"] = "3k") -> Stage:
    return Mdav(stop)


def _mhm(cyclic: bool = False) -> Stage:
    return PathCut(GroupTour(), cyclic)


def _then_mhm(groups: Stage, first: Literal["centroid", "pair"] = "centroid") -> Callable[..., Stage]:
    def build(path_k: int | None = None, cyclic: bool = False) -> Stage:
        if path_k is None:
            return chain(groups, PathCut(GroupTour(first), cyclic))
        return PathCut(GroupTour(first, groups, path_k), cyclic)

    return build


def _npn_mhm(cyclic: bool = False) -> Stage:
    return PathCut(NearestNext(), cyclic)


_FIXED = "groups of k; the last or a few of up to 2k−1"
_ON_PATH = "groups of k to 2k−1; best partition along its path"

METHODS: dict[str, Method] = {
    "mdav": Method(
        _mdav,
        "groups around the record farthest from the centroid and its opposite",
        "VLDBJ06 §4.2.3", "O(n²p/k)", _FIXED, 500_000,
    ),
    "md": Method(
        MaximumDistance,
        "groups around the two most distant records",
        "VLDBJ06 §4.2.2", "O(n³p/k) at worst", _FIXED, 20_000,
    ),
    "cbfs": Method(
        Cbfs,
        "groups around the record farthest from the centroid",
        "VLDBJ06 §4.2.3", "O(n²p/k)", _FIXED, 500_000,
    ),
    "diameter": Method(
        Diameter,
        "md, each group growing towards its own centroid",
        "TFRP07 §2.2, CMP98", "O(n³p/k) at worst", _FIXED, 20_000,
    ),
    "centroid": Method(
        Centroid,
        "cbfs, each group growing towards its own centroid",
        "TFRP07 §2.2", "O(n²p)", _FIXED, 200_000,
    ),
    "npn-mhm": Method(
        _npn_mhm,
        "the best cut of a path that always goes on to the nearest record",
        "VLDBJ06 §4.2.1", "O(n²p)", _ON_PATH, 200_000,
    ),
    "md-mhm": Method(
        _then_mhm(MaximumDistance(), "pair"),
        "md, then the best cut of a path through its groups",
        "VLDBJ06 §4.2.2", "O(n³p/k) at worst", _ON_PATH, 20_000,
    ),
    "mdav-mhm": Method(
        _then_mhm(Mdav()),
        "mdav, then the best cut of a path through its groups",
        "VLDBJ06 §4.2.3", "O(n²p/k)", _ON_PATH, 500_000,
    ),
    "cbfs-mhm": Method(
        _then_mhm(Cbfs()),
        "cbfs, then the best cut of a path through its groups",
        "VLDBJ06 §4.2.3", "O(n²p/k)", _ON_PATH, 500_000,
    ),
    "mhm": Method(
        _mhm,
        "a refinement: the best cut of a path through the groups it is given",
        "VLDBJ06 §4.1, ICSM15 §4.2", "O(n²p/k²)", "never worse than its start", 500_000,
        starts_from="mdav",
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
}  # fmt: skip
