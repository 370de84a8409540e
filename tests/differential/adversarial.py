"""Inputs on which kernels go wrong when they go wrong: ties, repeats, lines, offsets, tiny scales."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

KINDS = ("normal", "integers", "repeats", "collinear", "offset", "tiny", "outlier", "lognormal", "equal")


def points(kind: str, rng: np.random.Generator, n: int, p: int) -> NDArray[np.float64]:
    """(n, p) points of one kind."""
    normal = rng.normal(size=(n, p))
    if kind == "normal":
        return normal
    if kind == "integers":
        return rng.integers(-2, 3, size=(n, p)).astype(float)
    if kind == "repeats":
        return normal[rng.integers(0, max(1, n // 3), size=n)]
    if kind == "collinear":
        return np.ascontiguousarray(rng.integers(0, n, size=(n, 1)) * np.arange(1.0, p + 1.0))
    if kind == "offset":
        return normal * 1e-3 + 1e8
    if kind == "tiny":
        return normal * 1e-9 + 1.0
    if kind == "outlier":
        normal[rng.integers(0, n)] *= 1e8
        return normal
    if kind == "lognormal":
        return np.round(np.exp(2.0 * normal), 1)
    if kind == "equal":
        return np.full((n, p), 3.25)
    raise AssertionError(kind)


def cases(count: int, most: int, seed: int) -> Iterator[tuple[str, NDArray[np.float64], int]]:
    """`count` triples (kind, points, k) with at most `most` records."""
    rng = np.random.default_rng(seed)
    for at in range(count):
        kind = KINDS[at % len(KINDS)]
        k = int(rng.integers(2, 8))
        n = int(rng.integers(k, most + 1))
        yield kind, points(kind, rng, n, int(rng.integers(1, 6))), k
