"""Attributes in common units, for any finite data."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import numpy as np
import pytest
from numpy.typing import NDArray

import microagg
from microagg.errors import DataError
from microagg.methods.objective import sst
from microagg.model import ScaleName, Table
from microagg.prepare.units import LARGEST_SQUARED, to_points

SCALES = get_args(ScaleName)
X = np.random.default_rng(11).normal(size=(101, 3)) * [1, 100, 1e-3] + [0, 1e6, 5]
X[:40, 0] = np.round(X[:40, 0])  # ties


def table(values: NDArray[np.float64]) -> Table:
    return Table(tuple(f"c{at}" for at in range(values.shape[1])), values)


def ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average rank divided by n, by counting."""
    below = (values[:, None] > values[None, :]).sum(axis=1)
    equal = (values[:, None] == values[None, :]).sum(axis=1)
    return (below + (equal + 1) / 2) / len(values)


EXPECTED: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "zscore": lambda x: (x - x.mean()) / x.std(),
    "range": lambda x: (x - x.min()) / (x.max() - x.min()),
    "robust": lambda x: (x - np.median(x)) / np.median(np.abs(x - np.median(x))),
    "rank": ranks,
    "none": lambda x: x,
}


@pytest.mark.parametrize("scale", SCALES)
def test_definition(scale: ScaleName) -> None:
    points = to_points(table(X), scale)
    expected = np.column_stack([EXPECTED[scale](column) for column in X.T])
    if scale == "rank":  # ranks may count from 0, ½ or 1: distances are the same
        points, expected = points - points.min(axis=0), expected - expected.min(axis=0)
    np.testing.assert_allclose(points, expected, rtol=1e-9, atol=1e-9)


def test_zscores_have_a_total_of_n_times_p() -> None:
    assert sst(to_points(table(X), "zscore")) == pytest.approx(X.size)


@pytest.mark.parametrize("scale", SCALES)
def test_input_is_not_changed_and_output_is_ready_for_kernels(scale: ScaleName) -> None:
    values = X.copy()
    values.flags.writeable = False
    points = to_points(table(values), scale)
    np.testing.assert_array_equal(values, X)
    assert points.dtype == np.float64
    assert points.flags.c_contiguous
    assert points.shape == X.shape


@pytest.mark.parametrize("scale", [scale for scale in SCALES if scale != "none"])
@pytest.mark.parametrize("constant", [0.0, 7.25, 0.1, -1e308])
def test_a_constant_column_becomes_zero(scale: ScaleName, constant: float) -> None:
    values = np.column_stack([X[:, 0] + np.arange(101), np.full(101, constant)])
    points = to_points(table(values), scale)
    assert np.ptp(points[:, 1]) == 0.0
    assert np.ptp(points[:, 0]) > 0.0


def test_robust_needs_spread_in_the_middle() -> None:
    values = np.column_stack([np.arange(12.0), [0.0] * 10 + [1.0, 2.0]])
    with pytest.raises(DataError, match=r"'?c1'?: at least half .* zscore, range or rank"):
        to_points(table(values), "robust")


@pytest.mark.parametrize("outlier", [1e3, 1e9, 1e13, 1e17, 1e100])
def test_robust_units_do_not_depend_on_the_size_of_an_outlier(outlier: float) -> None:
    """What the scale is for: the other records keep their places to full precision."""
    values = np.array([0.1, 0.2, 0.4, 0.7, 1.1, 1.6, 2.2, 2.9, outlier])
    points = to_points(table(values[:, None]), "robust")[:, 0]
    np.testing.assert_allclose(points[:-1], EXPECTED["robust"](values)[:-1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("size", [1e308, -1e308, 1.01 * LARGEST_SQUARED])
def test_unscaled_values_too_large_to_square(size: float) -> None:
    values = np.column_stack([np.arange(5.0), [size, 0, 1, 2, 3]])
    with pytest.raises(DataError, match=r"c1.*zscore"):
        to_points(table(values), "none")


EXTREMES = {
    "1e308 alternating": np.array([[1e308 * (-1) ** i, i] for i in range(12)]),
    "1e308 among small": np.array([[1e308], [-1e308], *([float(i)] for i in range(9))]),
    "1e200 among small": np.array([[1e200], *([float(i)] for i in range(9))]),
    "largest double": np.array([[np.finfo(float).max / 11 * i, -i] for i in range(12)]),
    "subnormal": np.arange(12.0)[:, None] * 5e-324,
    "1e-200": np.arange(12.0)[:, None] * 1e-200,
    "1e-16 beside 1": 1 + np.arange(12.0)[:, None] * 2.0**-52,
}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", EXTREMES)
def test_sums_of_squares_neither_overflow_nor_vanish(name: str, scale: ScaleName) -> None:
    """Kernels compare sums of squares: infinities make them loop or lie, zeros look like optima."""
    values = EXTREMES[name]
    try:
        points = to_points(table(values), scale)
    except DataError:
        return
    assert np.isfinite(points).all()
    assert 0.0 < sst(points) < np.inf
    assert sst(points) < 1e300, "no room for sums over groups"


def test_unscaled_columns_far_from_zero_keep_their_differences() -> None:
    values = 1e14 + np.random.default_rng(3).normal(size=(50, 2)) * [1.0, 1e13]
    points = to_points(Table(("far", "wide"), values), "none")
    assert np.array_equal(np.diff(points[:, 0]), np.diff(values[:, 0]))
    assert np.abs(points[:, 0]).max() < 10.0
    assert np.array_equal(points[:, 1], values[:, 1])


@pytest.mark.parametrize("scale", ["zscore", "range", "robust", "rank"])
@pytest.mark.parametrize("exponent", [1013, 980, -900, -1040, -1060])
def test_units_do_not_matter(scale: ScaleName, exponent: int) -> None:
    """Values near 1e300 and down to 1e-316, where numbers lose their digits, have the groups of others."""
    x = np.random.default_rng(0).integers(-1000, 1000, size=(300, 3)).astype(float)
    for method in ("mdav", "md"):
        expected = microagg.partition(x, 3, method=method, scale=scale).labels
        found = microagg.partition(np.ldexp(x, exponent), 3, method=method, scale=scale).labels
        assert np.array_equal(found, expected)
