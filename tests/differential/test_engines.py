"""Tree against brute force: the very same labels, whatever the data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from microagg import _core
from microagg._core import Engine
from tests.differential.engines import KINDS, METHODS, Matrix, Method, cases, points
from tests.differential.test_kernels import LEVELS

PIVOTS = ["mdav", "md"]
"""Between them, these two ask all there is to ask."""


def assert_engines_agree(
    labels: Method, x: Matrix, k: int, engines: Sequence[Engine] = (Engine.TREE, Engine.AUTO)
) -> None:
    expected = labels(x, k, Engine.BRUTE)
    for engine in engines:
        assert np.array_equal(labels(x, k, engine), expected), engine


@pytest.fixture(autouse=True)
def _best_level() -> Iterator[None]:
    yield
    assert _core.force_simd_level(LEVELS[-1])


@pytest.mark.parametrize("method", METHODS)
def test_small_sets(method: str) -> None:
    labels = METHODS[method]
    for kind, x, k in cases(800, 90, seed=21):
        found = labels(x, k, Engine.TREE)
        assert np.array_equal(found, labels(x, k, Engine.BRUTE)), (kind, x.shape, k)


@pytest.mark.parametrize("method", METHODS)
def test_several_levels_of_boxes(method: str) -> None:
    for kind in KINDS:
        x = np.ascontiguousarray(points(kind, np.random.default_rng(22), 3000, 3))
        assert_engines_agree(METHODS[method], x, 4)


@pytest.mark.parametrize("method", PIVOTS)
@pytest.mark.parametrize("p", [1, 2, 3, 13, 50, 64, 65, 200, 1000])
def test_attributes(method: str, p: int) -> None:
    rng = np.random.default_rng(23)
    for kind in ("normal", "integers", "flat", "outlier"):
        if kind == "flat" and p < 2:
            continue
        x = np.ascontiguousarray(points(kind, rng, 2500 if p <= 3 else 1000 if p <= 65 else 300, p))
        assert_engines_agree(METHODS[method], x, 5)


@pytest.mark.parametrize("method", PIVOTS)
@pytest.mark.parametrize(
    "scale", [5e-324, 1e-320, 1e-300, 1e-150, 1e-140, 1e-130, 1e130, 1e140, 1e150, 1e300]
)
def test_extreme_scales(method: str, scale: float) -> None:
    """Boxes give up where squares would leave the range of numbers, and before."""
    x = np.round(np.random.default_rng(24).normal(size=(2500, 4)), 2) * scale
    x[::5] = x[1::5]
    assert_engines_agree(METHODS[method], x, 3)


@pytest.mark.parametrize("n", range(13_484, 13_490))
def test_where_trees_begin(n: int) -> None:
    """Two attributes and k = 2 have a tree from 13,486 records on."""
    assert_engines_agree(METHODS["mdav"], np.random.default_rng(26).normal(size=(n, 2)), 2)


@pytest.mark.parametrize("method", PIVOTS)
@pytest.mark.parametrize("engine", [Engine.BRUTE, Engine.TREE])
def test_levels_of_instructions_agree(method: str, engine: Engine) -> None:
    for kind in KINDS:
        attributes = 7 if kind != "lattice" else 3
        x = np.ascontiguousarray(points(kind, np.random.default_rng(25), 3000, attributes))
        found = []
        for level in LEVELS:
            assert _core.force_simd_level(level)
            found.append(METHODS[method](x, 5, engine))
        assert all(np.array_equal(labels, found[0]) for labels in found), kind


@pytest.mark.long
@pytest.mark.parametrize("method", PIVOTS)
@pytest.mark.parametrize("kind", KINDS)
def test_large_sets(method: str, kind: str) -> None:
    x = np.ascontiguousarray(points(kind, np.random.default_rng(27), 40_000, 5))
    assert_engines_agree(METHODS[method], x, 3, [Engine.AUTO])
