"""Every case by name. A name is made of the part and its settings, and is the key of the case's line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from benchmarks.speed.jobs import engines, kernels, peers, pieces, roofline, whole
from benchmarks.speed.measuring import Figures
from microagg.methods.catalogue import METHODS

DECADES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
PART_OF_A_DECADE = 3
ENGINE_RECORDS = 30_000
"""As few as make the tree worth choosing."""
OVERHEADS = (
    ("mdav", 10_000, 3), ("mdav", 10_000, 10), ("mdav", 100_000, 3), ("mdav", 100_000, 10),
    ("blocks", 1_000_000, 3), ("univariate", 1_000_000, 3), ("univariate", 1_000_000, 10),
)  # fmt: skip
SLOW_METHODS = (
    "auto", "anneal", "assignment", "adaptive", "exact", "neighbourhoods", "decomposition",
    "udo-pv", "mdo-pv", "genetic-groups", "icsm:iterations=400",
)  # fmt: skip
"""Ten seconds and more, on the data that every method is run on."""
LIMITS = (
    "md", "mdav", "cbfs", "npn-mhm", "diameter", "centroid", "tfrp-1", "tfrp", "dissolve", "diameter-plus",
    "centroid-plus", "m-d", "m-c", "two-swap", "icsm",
)  # fmt: skip
"""Methods whose largest sensible n is measured."""


@dataclass(frozen=True, slots=True)
class Case:
    """One measurement, in a process of its own."""

    part: str
    job: Callable[..., Figures]
    settings: dict[str, Any]
    asked: bool = False
    """Takes long beside what it adds to the page: run only if `--only` has a pattern for it."""

    @property
    def name(self) -> str:
        return name_of(self.part, **self.settings)


def name_of(part: str, **settings: object) -> str:
    """`mdav n=100000 k=3 engine=auto`."""
    return " ".join((part, *(f"{word}={value}" for word, value in settings.items())))


def sizes(least: int, most: int) -> list[int]:
    """1, 3, 10, 30, … thousand."""
    every = [n * step for n in DECADES for step in (1, PART_OF_A_DECADE)]
    return [n for n in every if least <= n <= most]


def _growth() -> Iterator[Case]:
    for k in (3, 10):
        for n in sizes(1_000, 1_000_000):
            yield Case("mdav", kernels.mdav, {"n": n, "k": k, "engine": "auto"})
    for n in sizes(1_000, 100_000):
        yield Case("mdav", kernels.mdav, {"n": n, "k": 3, "engine": "brute"})
    for k in (3, 10):
        for n in (*sizes(10_000, 1_000_000), 10_000_000):
            yield Case("blocks", kernels.blocks, {"n": n, "k": k, "threads": 1}, asked=k == 10)
    for n in (1_000_000, 10_000_000):
        yield Case("blocks", kernels.blocks, {"n": n, "k": 3, "threads": 2}, asked=n > 1_000_000)
    for k in (3, 10, 100):
        for n in (*sizes(1_000, 1_000_000), 10_000_000):
            yield Case("univariate", kernels.univariate, {"n": n, "k": k}, asked=k == 10)
    for n in sizes(1_000, 1_000_000):
        yield Case("neighbours", kernels.neighbours, {"n": n, "threads": 1})
    yield Case("neighbours", kernels.neighbours, {"n": 1_000_000, "threads": 2}, asked=True)


def _peers() -> Iterator[Case]:
    for n in (1_000_000, 10_000_000):
        for k in (3, 10, 100):
            yield Case("microagg1d", peers.microagg1d, {"n": n, "k": k})
    for n, k in ((1_000, 3), (5_000, 3), (5_000, 10)):
        yield Case("k-means-constrained", peers.k_means_constrained, {"n": n, "k": k}, asked=n < 5_000)
    for n in (10_000, 30_000):
        yield Case("scikit-learn", peers.nearest_neighbors, {"n": n})
    yield Case("k-means", peers.k_means, {"n": 10_000, "k": 3})
    for n in (10_000, 30_000, 100_000):
        yield Case("sdcmicro", peers.sdcmicro, {"n": n, "k": 3}, asked=n > 30_000)


def _engines() -> Iterator[Case]:
    for method in engines.METHODS:
        for n in (10_000, ENGINE_RECORDS, 100_000):
            for k in (3, 10):
                for data in engines.DATA:
                    settings = {"method": method, "data": data, "n": n, "k": k}
                    asked = (method, n, k) != ("mdav", ENGINE_RECORDS, 3)
                    yield Case("engines", engines.engines, settings, asked)


def _rest() -> Iterator[Case]:
    for n, k, seconds in ((100_000, 3, 20), (100_000, 10, 20), (1_000_000, 3, 120), (1_000_000, 10, 120)):
        yield Case("refinement", kernels.refinement, {"n": n, "k": k, "seconds": seconds})
    for method, n, k in OVERHEADS:
        yield Case("overhead", kernels.overhead, {"method": method, "n": n, "k": k})
    for method in ("blocks", "univariate"):
        yield Case("pieces", pieces.pieces, {"method": method, "n": 1_000_000, "k": 3})
    for what, n in (("blocks", 300_000), ("annealing", 30_000), ("neighbour lists", 100_000)):
        for count in (1, 2, 16):
            yield Case("threads", kernels.threads, {"what": what, "n": n, "threads": count})
    for n in (10_000, 100_000):
        yield Case("roofline", roofline.roofline, {"n": n, "k": 3})
    for k in (3, 10):
        yield Case("mhm", kernels.mhm, {"n": 1_000_000, "k": k})
    yield Case("start", whole.start, {})
    for ending in ("parquet", "csv"):
        yield Case("protect", whole.protect, {"n": 1_000_000, "ending": ending}, asked=ending == "csv")
    for data in ("normal", "photograph"):
        yield Case("tfrp", whole.tfrp, {"data": data, "k": 10})
    for method in LIMITS:
        settings = {"method": method, "n": METHODS[method].largest_n}
        yield Case("limits", whole.limit, settings, asked=method != "centroid")
    for method in METHODS:
        # Left out: for tiny data, for one attribute, and as many times icsm as there are starts.
        if method not in ("exhaustive", "univariate", "icsm-restarts"):
            name = "icsm:iterations=400" if method == "icsm" else method
            yield Case("methods", whole.method, {"name": name}, asked=name in SLOW_METHODS)


CASES: dict[str, Case] = {case.name: case for make in (_growth, _peers, _engines, _rest) for case in make()}
PARTS = tuple(dict.fromkeys(case.part for case in CASES.values()))


def chosen(patterns: Iterable[str]) -> list[Case]:
    """The cases of some parts, or whose names match a pattern; all parts without any. Cases that want to
    be asked for come by patterns only.
    """
    wanted = list(patterns) or list(PARTS)
    for one in wanted:
        if one not in PARTS and not any(fnmatchcase(name, one) for name in CASES):
            raise SystemExit(f"no case is called {one}; --list shows all of them")
    return [
        case
        for name, case in CASES.items()
        if any(fnmatchcase(name, one) or (one == case.part and not case.asked) for one in wanted)
    ]
