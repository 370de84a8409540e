"""The data sets of the campaign, and what is run on each.

EIA comes twice: with its eleven attributes, as VLDBJ06 and ICSM15 measure it, and as `eia-10` without
UTILITYID, as TFRP07 does. The losses of the two are not comparable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from microagg import datasets
from microagg.model import Table

GRID_KS = (3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 30, 50)
TFRP_KS = (3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 35, 40, 45, 50)
FEW_KS = (3, 10)
BUDGETS = (1.0, 10.0, 60.0)
ICSM_RECORDS = 5_000
"""ICSM's time grows too fast for more."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """Data with its part in the campaign: which k, methods and budgets (None: without seconds)."""

    name: str
    about: str
    make: Callable[[], Table]
    part: str
    ks: tuple[int, ...]
    methods: tuple[str, ...] = ("mdav", "icsm", "descent", "auto")
    budgets: tuple[float | None, ...] = BUDGETS
    threads: int = 1


# --- other data -------------------------------------------------------------------------------

# Other kinds of data. `curve` had no part in choosing annealing's settings; `lognormal`, `mixture` and
# `counts` were looked at. Values are rounded, since the last bits of an exponential or a matrix product
# differ between machines.


def _table(values: NDArray[np.float64]) -> Table:
    return Table(tuple(f"x{place}" for place in range(1, values.shape[1] + 1)), np.round(values, 6))


def lognormal() -> Table:
    """3,000 × 6: long right tails, neighbouring attributes alike (correlation 0.6 of the logarithms)."""
    rng = np.random.default_rng(101)
    logs = np.empty((3000, 6))
    logs[:, 0] = rng.standard_normal(3000)
    for place in range(1, 6):
        logs[:, place] = 0.6 * logs[:, place - 1] + 0.8 * rng.standard_normal(3000)
    return _table(np.exp(logs))


def mixture() -> Table:
    """2,000 × 4: 30 round normal clusters, whose sizes and spreads vary widely."""
    rng = np.random.default_rng(102)
    centres = rng.uniform(-10.0, 10.0, (30, 4))
    spreads = rng.uniform(0.05, 2.5, 30)
    clusters = rng.choice(30, size=2000, p=rng.dirichlet(np.full(30, 2.0)))
    return _table(centres[clusters] + spreads[clusters, np.newaxis] * rng.standard_normal((2000, 4)))


def counts() -> Table:
    """2,000 × 5: gamma values rounded to whole numbers, so that many records are equal or tie."""
    rng = np.random.default_rng(103)
    level = rng.gamma(2.0, 1.0, (2000, 1))
    return _table(np.rint(level * rng.gamma(1.5, 1.0, (2000, 5))))


def curve() -> Table:
    """2,500 × 3: a noisy helix, a line of low dimension bent through space."""
    rng = np.random.default_rng(104)
    turn = rng.uniform(0.0, 6.0 * np.pi, 2500)
    helix = np.column_stack([np.cos(turn), np.sin(turn), turn / 6.0])
    return _table(helix + 0.05 * rng.standard_normal((2500, 3)))


# --- all of them ------------------------------------------------------------------------------


def _eia_measures() -> Table:
    table = datasets.load("eia")
    return table.select(*(column for column in table.columns if column != "UTILITYID"))


def _other(name: str, make: Callable[[], Table]) -> DataSet:
    about = (make.__doc__ or "").rstrip(".")
    return DataSet(name, about, make, "other", FEW_KS, ("mdav", "auto"), (1.0,))


_ALL = (
    DataSet("tarragona", "Reference file, 834 × 13", lambda: datasets.load("tarragona"), "grid", TFRP_KS),
    DataSet("census", "Reference file, 1,080 × 13", lambda: datasets.load("census"), "grid", TFRP_KS),
    DataSet("eia", "Reference file, 4,092 × 11", lambda: datasets.load("eia"), "grid", GRID_KS),
    # Here for the comparison with TFRP07 alone, which is at 10 seconds.
    DataSet(
        "eia-10",
        "Reference file without UTILITYID, 4,092 × 10",
        _eia_measures,
        "grid",
        TFRP_KS,
        budgets=(10.0,),
    ),
    DataSet("sim-u", "`sim_u(0)`, 1,000 × 10, uniform", datasets.sim_u, "grid", GRID_KS),
    DataSet(
        "sim-c",
        "`sim_c(0)`, 1,800 × 10, 100 tight clusters and a quarter of strays",
        datasets.sim_c,
        "grid",
        GRID_KS,
    ),
    DataSet(
        "census-like",
        "`census_like(10_000, seed=0)`, 10,000 × 13",
        lambda: datasets.census_like(10_000, seed=0),
        "grid",
        GRID_KS,
    ),
    DataSet(
        "census-like-20000",
        "`census_like(20_000, seed=0)`, 20,000 × 13",
        lambda: datasets.census_like(20_000, seed=0),
        "large",
        FEW_KS,
        ("mdav", "auto"),
        (10.0,),
    ),
    DataSet(
        "census-like-100000",
        "`census_like(100_000, seed=0)`, 100,000 × 13",
        lambda: datasets.census_like(100_000, seed=0),
        "large",
        FEW_KS,
        ("mdav", "auto"),
        (None,),
        threads=2,
    ),
    _other("lognormal", lognormal),
    _other("mixture", mixture),
    _other("counts", counts),
    _other("curve", curve),
)
SETS = {one.name: one for one in _ALL}


def part(name: str) -> list[DataSet]:
    """The sets of one part of the campaign: "grid", "large" or "other"."""
    return [one for one in _ALL if one.part == name]


@cache
def load(name: str) -> Table:
    """Made or read once a process. DataError where a reference file is not there."""
    return SETS[name].make()
