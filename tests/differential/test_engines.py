"""Tree against brute force: the very same labels, whatever the data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from microagg import _core
from microagg._core import Engine
from tests.differential.engines import KINDS, METHODS, cases, points
from tests.differential.test_kernels import LEVELS


@pytest.fixture(autouse=True)
def _best_level() -> Iterator[None]:
    yield
    assert _core.force_simd_level(LEVELS[-1])


@pytest.mark.parametrize("method", METHODS)
def test_small_sets(method: str) -> None:
    labels = METHODS[method]
    for kind, x, k in cases(1600, 90, seed=21):
        found = labels(x, k, Engine.TREE)
        assert np.array_equal(found, labels(x, k, Engine.BRUTE)), (kind, x.shape, k)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_several_levels_of_boxes(method: str, kind: str) -> None:
    labels = METHODS[method]
    x = np.ascontiguousarray(points(kind, np.random.default_rng(22), 5000, 3))
    expected = labels(x, 4, Engine.BRUTE)
    assert np.array_equal(labels(x, 4, Engine.TREE), expected)
    assert np.array_equal(labels(x, 4, Engine.AUTO), expected)


@pytest.mark.parametrize("p", [1, 2, 13, 50, 64, 65, 200])
def test_attributes(p: int) -> None:
    rng = np.random.default_rng(23)
    for kind in ("normal", "integers", "flat", "outlier"):
        if kind == "flat" and p < 2:
            continue
        x = np.ascontiguousarray(points(kind, rng, 2500, p))
        expected = METHODS["mdav"](x, 5, Engine.BRUTE)
        for engine in (Engine.TREE, Engine.AUTO):
            assert np.array_equal(METHODS["mdav"](x, 5, engine), expected), (kind, engine)


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e-150, 1e-140, 1e-130, 1e130, 1e140, 1e150])
def test_extreme_scales(scale: float) -> None:
    """Boxes give up where squares would leave the range of numbers, and before."""
    x = np.random.default_rng(24).normal(size=(2500, 4)) * scale
    expected = METHODS["mdav"](x, 3, Engine.BRUTE)
    for engine in (Engine.TREE, Engine.AUTO):
        assert np.array_equal(METHODS["mdav"](x, 3, engine), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_levels_of_instructions_agree(kind: str) -> None:
    x = np.ascontiguousarray(points(kind, np.random.default_rng(25), 3000, 7 if kind != "lattice" else 3))
    found = []
    for level in LEVELS:
        assert _core.force_simd_level(level)
        found.append(METHODS["mdav"](x, 5, Engine.TREE))
    assert all(np.array_equal(labels, found[0]) for labels in found)
