"""Data to try microaggregation on: a printed table, seeded recipes and the CASC reference files.

Nothing here comes from a file of the package. The example of VLDBJ06 is typed in, the simulated
sets of VLDBJ06 and ICSM15 are drawn from a seed, and the reference files are read from wherever
their holder keeps them.

A generator starts one numpy stream from its seed, so the same seed gives the same set. Two
generators given one seed share that stream: their sets are not independent of each other (`sim_3`
is `sim_2` with its centres twice as far apart). Use different seeds where independence matters.

VLDBJ06 is Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz and Sebé, "Efficient multivariate
data-oriented microaggregation"; ICSM15 is Mortazavi and Jalili, "A novel local search method for
microaggregation".
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from microagg import wording
from microagg.model import Table
from microagg.read.files import table_from_file

__all__ = [
    "CENSUS_CORRELATION",
    "SME_COMPANIES",
    "census_like",
    "load",
    "sim_1",
    "sim_2",
    "sim_3",
    "sim_c",
    "sim_u",
    "sme",
    "synthetic",
]

Matrix = NDArray[np.float64]


# --- printed in a paper -----------------------------------------------------------------------

_SME = (
    ("A&A Ltd", 790, 55, 3_212_334, 313_250),
    ("B&B SpA", 710, 44, 2_283_340, 299_876),
    ("C&C Inc", 730, 32, 1_989_233, 200_213),
    ("D&D BV", 810, 17, 984_983, 143_211),
    ("E&E SL", 950, 3, 194_232, 51_233),
    ("F&F GmbH", 510, 25, 119_332, 20_333),
    ("G&G AG", 400, 45, 3_012_444, 501_233),
    ("H&H SA", 330, 50, 4_233_312, 777_882),
    ("I&I LLC", 510, 5, 159_999, 60_388),
    ("J&J Co", 760, 52, 5_333_442, 1_001_233),
    ("K&K Sarl", 50, 12, 645_223, 333_010),
)

SME_COMPANIES = tuple(company for company, *_ in _SME)
"""The identifiers of the rows of `sme()`, which a release would suppress."""


def sme() -> Table:
    """Eleven small or medium enterprises (VLDBJ06, Table 1), in the order of SME_COMPANIES.

    The keys a snooper could know are surface (m²) and employees, `sme().select("surface",
    "employees")`; turnover and net_profit (euros) are the confidential outcomes.
    """
    columns = ("surface", "employees", "turnover", "net_profit")
    return Table(columns, np.array([values for _, *values in _SME], dtype=np.float64))


# --- drawn from a seed ------------------------------------------------------------------------


def sim_u(seed: int = 0) -> Table:
    """SimU of VLDBJ06: 1000 records, 10 attributes, uniform in [-10000, 10000]."""
    rng = np.random.default_rng(seed)
    return _simulated(rng.uniform(-10_000, 10_000, (1000, 10)))


def sim_c(seed: int = 0) -> Table:
    """SimC of VLDBJ06: 100 tight clusters and a third as many stray points, 10 attributes.

    Centres are uniform in [-10000, 10000]^10. The cluster of a centre is the centre itself and
    c points off it by a vector uniform in [-50, 50]^10, with c a whole number from 3 to 20; so it
    has c + 1 points, and some attribute may lie up to 50 outside the range of the centres. With m
    points so far, m // 3 uniform points follow. The paper leaves the order of the records open:
    here the clusters come one after another, each led by its centre, and the strays last.

    MDAV loses more on these sets than the paper prints: about 7.0, 11.3 and 18.3 for k = 3, 5 and
    10 against 4.34, 7.05 and 16.25. The recipe is kept as worded.
    """
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-10_000, 10_000, (100, 10))
    parts: list[Matrix] = []
    for centre in centres:
        others = int(rng.integers(3, 20, endpoint=True))
        parts += [centre[np.newaxis], centre + rng.uniform(-50, 50, (others, 10))]
    strays = sum(len(part) for part in parts) // 3
    parts.append(rng.uniform(-10_000, 10_000, (strays, 10)))
    return _simulated(np.concatenate(parts))


def sim_1(seed: int = 0) -> Table:
    """Sim-1 of ICSM15 (section 5.1): 100 records, 10 attributes, uniform in [-1000, 1000]."""
    rng = np.random.default_rng(seed)
    return _simulated(rng.uniform(-1000, 1000, (100, 10)))


def sim_2(seed: int = 0) -> Table:
    """Sim-2 of ICSM15 (section 5.1): 5 normal clusters of 20 records in d dimensions.

    d is a whole number from 4 to 8, centres are uniform in [0, 1]^d and each cluster has a
    standard deviation of its own, uniform in [0.1, 0.3] and equal in all directions. The clusters
    come one after another.
    """
    rng = np.random.default_rng(seed)
    p = int(rng.integers(4, 8, endpoint=True))
    return _simulated(_clusters(rng, clusters=5, size=20, p=p, side=1.0))


def sim_3(seed: int = 0) -> Table:
    """Sim-3 of ICSM15 (section 5.1): as Sim-2, but with centres in [0, 2]^d.

    This is the paper's own recipe. The information loss the paper prints for MDAV
    (15.51, 23.96 and 37.73 for k = 3, 5 and 10) is close to that of Sim-2; sets from this recipe
    lose about half of that, as their clusters are twice as far apart.
    """
    rng = np.random.default_rng(seed)
    p = int(rng.integers(4, 8, endpoint=True))
    return _simulated(_clusters(rng, clusters=5, size=20, p=p, side=2.0))


def synthetic(seed: int = 0) -> Table:
    """Synthetic of ICSM15 (section 5.1): 10 normal clusters of 1000 records, 10 attributes.

    The paper states neither the sizes of the clusters, nor where their centres lie, nor their
    spread. We use equal sizes and, for the rest, the recipe of its Sim-2: centres in [0, 1]^10,
    standard deviations in [0.1, 0.3]. That comes near the information loss printed for MDAV
    (6.74, 10.3 and 14.94 for k = 3, 5 and 10): about 7.7, 11.8 and 17.0.
    """
    rng = np.random.default_rng(seed)
    return _simulated(_clusters(rng, clusters=10, size=1000, p=10, side=1.0))


def _clusters(rng: np.random.Generator, *, clusters: int, size: int, p: int, side: float) -> Matrix:
    """Round normal clusters: centres uniform in [0, side]^p, deviations uniform in [0.1, 0.3]."""
    parts = []
    for _ in range(clusters):
        centre = rng.uniform(0.0, side, p)
        deviation = rng.uniform(0.1, 0.3)
        parts.append(centre + deviation * rng.standard_normal((size, p)))
    return np.concatenate(parts)


def _simulated(values: Matrix) -> Table:
    return Table(tuple(f"x{place}" for place in range(1, values.shape[1] + 1)), values)


# --- like Census ------------------------------------------------------------------------------

_CENSUS_COLUMNS = (
    "AFNLWGT", "AGI", "EMCONTRB", "FEDTAX", "PTOTVAL", "STATETAX", "TAXINC", "POTHVAL", "INTVAL",
    "PEARNVAL", "FICA", "WSALVAL", "ERNVAL",
)  # fmt: skip

CENSUS_CORRELATION = (
    (1.000,),
    (0.010, 1.000),
    (0.049, 0.491, 1.000),
    (-0.004, 0.945, 0.382, 1.000),
    (0.018, 0.774, 0.495, 0.798, 1.000),
    (-0.100, 0.779, 0.289, 0.790, 0.633, 1.000),
    (0.004, 0.980, 0.436, 0.979, 0.777, 0.788, 1.000),
    (-0.027, 0.138, -0.115, 0.200, 0.275, 0.130, 0.168, 1.000),
    (-0.024, 0.200, -0.058, 0.282, 0.272, 0.220, 0.234, 0.454, 1.000),
    (0.031, 0.730, 0.560, 0.726, 0.900, 0.589, 0.720, -0.173, 0.072, 1.000),
    (0.032, 0.709, 0.547, 0.688, 0.849, 0.570, 0.696, -0.189, 0.061, 0.955, 1.000),
    (0.039, 0.716, 0.559, 0.708, 0.879, 0.572, 0.706, -0.173, 0.070, 0.979, 0.910, 1.000),
    (0.036, 0.701, 0.550, 0.692, 0.859, 0.563, 0.689, -0.171, 0.075, 0.958, 0.894, 0.973, 1.000),
)
"""Correlations of the Census reference file to three decimals, the lower triangle row by row.

Rows and columns are in the file's order, AFNLWGT to ERNVAL. Rounding leaves the matrix slightly
indefinite (smallest eigenvalue -0.0006), which `census_like` repairs.
"""


def census_like(n: int = 10_000, seed: int = 0) -> Table:
    """n records of a 13-dimensional normal with mean 0 and the correlations of Census.

    A stand-in for LargeCensus (n = 10000) and Very LargeCensus (n = 100000) of VLDBJ06, which
    have the covariances of Census too but come from another generator. Census enters z-scored, so
    that every variance is 1. CENSUS_CORRELATION is made positive semi-definite first: negative
    eigenvalues become 0 and the diagonal is scaled back to 1, which moves no entry by as much
    as 0.0006. Values have six decimals.
    """
    if n < 1:
        raise wording.bad_number("n", n, "a whole number of at least 1")
    root = _symmetric_root(_repaired(_symmetric(CENSUS_CORRELATION)))
    noise = np.random.default_rng(seed).standard_normal((n, len(_CENSUS_COLUMNS)))
    # Linear algebra libraries differ in the last bits; rounding hides that from those who compare.
    return Table(_CENSUS_COLUMNS, np.round(noise @ root, 6))


def _symmetric(triangle: Sequence[Sequence[float]]) -> Matrix:
    """Fill in the upper triangle."""
    matrix = np.zeros((len(triangle), len(triangle)))
    for place, row in enumerate(triangle):
        matrix[place, : place + 1] = row
        matrix[: place + 1, place] = row
    return matrix


def _repaired(correlation: Matrix) -> Matrix:
    """A correlation matrix next to this one: eigenvalues clipped at 0, diagonal scaled to 1."""
    roots, vectors = np.linalg.eigh(correlation)
    clipped = (vectors * np.maximum(roots, 0.0)) @ vectors.T
    scale = np.sqrt(np.diag(clipped))
    repaired: Matrix = clipped / np.outer(scale, scale)
    return repaired


def _symmetric_root(matrix: Matrix) -> Matrix:
    """R with R R = matrix: the one root that does not depend on the signs of eigenvectors."""
    roots, vectors = np.linalg.eigh(matrix)
    # A zero eigenvalue arrives as ±1e-16 or so, whose root of 1e-8 would differ between machines.
    kept = np.where(roots > 1e-9, roots, 0.0)
    root: Matrix = (vectors * np.sqrt(kept)) @ vectors.T
    return root


# --- reference files --------------------------------------------------------------------------

_REFERENCE_COLUMNS = {
    "tarragona": (
        "FIXED.ASSETS", "CURRENT.ASSETS", "TREASURY", "UNCOMMITTED.FUNDS", "PAID.UP.CAPITAL",
        "SHORT.TERM.DEBT", "SALES", "LABOR.COSTS", "DEPRECIATION", "OPERATING.PROFIT",
        "FINANCIAL.OUTCOME", "GROSS.PROFIT", "NET.PROFIT",
    ),
    "census": _CENSUS_COLUMNS,
    # The file also has a name, a state and a date, which no paper microaggregates.
    "eia": (
        "UTILITYID", "RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES", "INDREVENUE", "INDSALES",
        "OTHREVENUE", "OTHRSALES", "TOTREVENUE", "TOTSALES",
    ),
}  # fmt: skip


def load(name: str) -> Table:
    """Read the reference file "tarragona", "census" or "eia" with the attributes papers use.

    They are the CASC files VLDBJ06 and ICSM15 measure on: 834 × 13, 1080 × 13 and 4092 × 11 (the
    TFRP paper leaves UTILITYID out: use `select` for its ten). They are not shipped. `<name>.csv`
    is looked for in the folder that the environment variable MICROAGG_DATA names.

    Raises SettingsError for another name and DataError for a file that is absent or broken.
    """
    if name not in _REFERENCE_COLUMNS:
        raise wording.unknown_data_set(name, tuple(_REFERENCE_COLUMNS))
    folder = os.environ.get("MICROAGG_DATA")
    path = Path(folder or "", f"{name}.csv")
    if not folder or not path.is_file():
        raise wording.no_reference_data(path.name, folder)
    return table_from_file(path, _REFERENCE_COLUMNS[name])
