"""What groups publish: weighted means, medians, rounding that keeps totals, noise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.aggregate.groups import values_by_group
from microagg.aggregate.noise import with_noise
from microagg.aggregate.rounding import rounded
from microagg.errors import DataError
from microagg.secret_key import SecretKey

LABELS = np.array([0, 0, 0, 1, 1], dtype=np.int32)
VALUES = np.array([[1.0], [2.0], [6.0], [10.0], [20.0]])


def test_means_weighted_means_and_medians() -> None:
    assert values_by_group(VALUES, LABELS, "mean", None).tolist() == [[3.0], [15.0]]
    weights = np.array([1.0, 1.0, 2.0, 3.0, 1.0])
    assert values_by_group(VALUES, LABELS, "mean", weights)[:, 0] == pytest.approx([3.75, 12.5])
    assert values_by_group(VALUES, LABELS, "median", None).tolist() == [[2.0], [15.0]]


def test_weighted_means_keep_their_digits_beside_an_offset() -> None:
    weights = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    plain = values_by_group(VALUES, LABELS, "mean", weights)
    offset = values_by_group(VALUES + 1e9, LABELS, "mean", weights)
    assert (offset - 1e9)[:, 0] == pytest.approx(plain[:, 0], abs=1e-6)


def test_decimals_are_rounded_to_the_nearest() -> None:
    assert rounded(np.array([1.005, -0.001, 2.678]), np.ones(3), 2).tolist() == [1.0, 0.0, 2.68]
    assert rounded(np.array([1 / 3]), np.ones(1), None).tolist() == [1 / 3]


def test_the_example_of_vldbj06() -> None:
    assert rounded(np.array([45.75, 25 / 3, 33.0]), np.array([4.0, 3.0, 4.0]), 0).tolist() == [46, 8, 33]


@given(
    st.lists(st.tuples(st.integers(3, 5), st.integers(-1000, 1000)), min_size=1, max_size=60),
    st.integers(0, 2**32 - 1),
)
def test_whole_numbers_keep_the_total(groups: list[tuple[int, int]], seed: int) -> None:
    sizes = np.array([size for size, _ in groups], dtype=float)
    random = np.random.default_rng(seed)
    values = np.array([total + int(random.integers(0, size)) / size for size, total in groups])
    published = rounded(values, sizes, 0)
    assert (np.abs(published - values) < 1.0).all()
    assert (published == np.round(published)).all()
    assert abs(float((sizes * (published - values)).sum())) <= sizes.max() / 2 + 1e-6


def test_exchanges_bring_the_total_within_half_a_unit_where_sizes_allow() -> None:
    random = np.random.default_rng(3)
    for _ in range(50):
        sizes = random.integers(3, 6, 40).astype(float)
        values = np.floor(random.random(40) * 100) + random.integers(0, 3, 40) / sizes
        published = rounded(values, sizes, 0)
        assert abs(float((sizes * (published - values)).sum())) <= 0.5 + 1e-6


def test_noise_follows_from_the_key_and_keeps_missing_values() -> None:
    values = np.random.default_rng(0).normal(size=(50, 2))
    values[3, 1] = np.nan
    keys = SecretKey.drawn(), SecretKey.drawn()
    first, second = (with_noise(values, ["a", "b"], 0.1, True, key) for key in keys)
    assert not np.array_equal(first, second, equal_nan=True)
    assert np.array_equal(first, with_noise(values, ["a", "b"], 0.1, True, keys[0]), equal_nan=True)
    assert np.isnan(first).tolist() == np.isnan(values).tolist()


@pytest.mark.parametrize("correlated", [False, True])
def test_noise_in_expectation(correlated: bool) -> None:
    random = np.random.default_rng(1)
    common = random.normal(size=(200_000, 1))
    values = np.hstack([common * 3.0 + 100.0, common + random.normal(size=(200_000, 1))])
    noisy = with_noise(values, ["a", "b"], 0.5, correlated, SecretKey(b"1" * 32))
    assert noisy.mean(axis=0) == pytest.approx(values.mean(axis=0), abs=0.05)
    expected = np.cov(values.T)
    if not correlated:
        expected = expected + np.diag(0.25 * np.diag(expected))
    assert np.cov(noisy.T) == pytest.approx(expected, rel=0.03)
    change = noisy - values
    assert change.std(axis=0) / values.std(axis=0) == pytest.approx(0.5, rel=0.1)


def test_noise_on_a_constant_column_would_do_nothing() -> None:
    with pytest.raises(DataError, match="Column 'a' has fewer than two different values"):
        with_noise(np.ones((5, 1)), ["a"], 0.1, False, SecretKey.drawn())
