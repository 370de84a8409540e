"""Every method that asks for neighbours of the remaining records, by either engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg import _core
from microagg._core import Engine, Growth, Leftovers, Pivot
from tests.differential import adversarial

Matrix = NDArray[np.float64]
Labels = NDArray[np.int32]
Method = Callable[[Matrix, int, Engine], Labels]

HARD = ("clusters", "far clusters", "lattice", "half repeated", "dominating", "flat", "mixture")
KINDS = (*adversarial.KINDS, *HARD)


def points(kind: str, rng: np.random.Generator, n: int, p: int) -> Matrix:
    """(n, p) points of one kind; beyond the adversarial ones, those that are hard for boxes."""
    if kind in adversarial.KINDS:
        return adversarial.points(kind, rng, n, p)
    normal = rng.normal(size=(n, p))
    if kind == "clusters":
        return normal * 0.01 + rng.normal(size=(5, p))[rng.integers(0, 5, size=n)]
    if kind == "far clusters":  # single precision cannot tell the records of a cluster apart
        return normal * 1e-8 + rng.integers(0, 2, size=(n, 1)) * 1e3
    if kind == "lattice":
        return np.indices((int(np.ceil(n ** (1 / p))),) * p).reshape(p, -1).T[:n].astype(float)
    if kind == "half repeated":
        normal[n // 2 :] = normal[rng.integers(0, max(1, n // 2), size=n - n // 2)]
        return normal
    if kind == "dominating":
        normal[:, rng.integers(0, p)] *= 1e9
        return normal
    if kind == "flat":  # in a plane that no axis is part of
        return normal[:, :2] @ rng.normal(size=(min(2, p), p))
    if kind == "mixture":  # of scales from 1e-12 to 1e12
        return normal * 10.0 ** rng.integers(-12, 13, size=(n, 1))
    raise AssertionError(kind)


def cases(count: int, most: int, seed: int) -> Iterator[tuple[str, Matrix, int]]:
    """`count` triples (kind, points, k) with at most `most` records."""
    rng = np.random.default_rng(seed)
    for at in range(count):
        kind = KINDS[at % len(KINDS)]
        k = int(rng.integers(1, 12))
        n = int(rng.integers(k, most + 1))
        x = points(kind, rng, n, int(rng.integers(1, 9)))
        yield kind, np.ascontiguousarray(x[rng.permutation(len(x))]), min(k, len(x))


def _peel(pivot: Pivot, growth: Growth, stop: int, **reading: Any) -> Method:
    return lambda x, k, engine: _core.peel(x, k, pivot, growth, stop, _core.Watch(), engine, **reading)


METHODS: dict[str, Method] = {
    "mdav": _peel(Pivot.CENTROID_OPPOSITE, Growth.SEED, 3),
    "cbfs": _peel(Pivot.CENTROID, Growth.SEED, 1),
    "centroid": _peel(Pivot.CENTROID, Growth.CENTROID, 1),
    "tfrp": _peel(Pivot.REFERENCES, Growth.SEED, 1),
    "md": _peel(Pivot.PAIR, Growth.SEED, 2),
    "diameter": _peel(Pivot.PAIR, Growth.CENTROID, 2),
    "mdav, earlier first": _peel(Pivot.CENTROID_OPPOSITE, Growth.SEED, 3, earlier_first=True),
    "md in turns": _peel(Pivot.PAIR, Growth.SEED, 2, in_turns=True, leftovers=Leftovers.BY_RECORD),
    "cbfs, divided by all": _peel(Pivot.CENTROID, Growth.SEED, 1, divide_by_all=True),
    "v-mdav": lambda x, k, engine: _core.v_mdav(x, k, 0.5, _core.Watch(), engine),
}
