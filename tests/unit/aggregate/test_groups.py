"""Groups become means, the same number bit for bit for all members."""

from __future__ import annotations

import numpy as np
import pytest

from microagg.aggregate.groups import aggregate, modes, values_by_group
from microagg.errors import DataError

VALUES = np.random.default_rng(3).normal(size=(30, 4)) * 1e3
LABELS = np.repeat(np.arange(10, dtype=np.int32), 3)


def test_means_by_group() -> None:
    expected = VALUES.reshape(10, 3, 4).mean(axis=1).repeat(3, axis=0)
    np.testing.assert_allclose(aggregate(VALUES, LABELS), expected, rtol=1e-12)


def test_members_share_the_very_same_numbers() -> None:
    masked = aggregate(VALUES, LABELS)
    assert len(np.unique(masked.view(np.int64), axis=0)) == 10


def test_the_mean_of_all_is_kept_and_the_variance_falls() -> None:
    masked = aggregate(VALUES, LABELS)
    np.testing.assert_allclose(masked.mean(axis=0), VALUES.mean(axis=0))
    assert (masked.var(axis=0) < VALUES.var(axis=0)).all()


@pytest.mark.parametrize("constant", [0.1, -7.3e-300, 1.7e308])
def test_equal_members_keep_their_value(constant: float) -> None:
    values = np.full((30, 1), constant)
    np.testing.assert_array_equal(aggregate(values, LABELS), values)


def test_means_of_huge_values_do_not_overflow() -> None:
    values = np.tile([[1.5e308], [1.6e308], [1.7e308]], (10, 1))
    np.testing.assert_allclose(aggregate(values, LABELS), 1.6e308)


def test_weighted_means_of_small_values_are_exact_beside_large_ones() -> None:
    values = np.array([[1e-4], [3e-4], [1e5], [2e5], [3e5]])
    labels = np.array([0, 0, 1, 1, 1], dtype=np.int32)
    means = values_by_group(values, labels, "mean", np.array([1.0, 3.0, 1.0, 1.0, 2.0]))
    assert means[:, 0] == pytest.approx([2.5e-4, 225_000.0], rel=1e-14)


def test_inputs_are_not_changed() -> None:
    values, labels = VALUES.copy(), LABELS.copy()
    values.flags.writeable = labels.flags.writeable = False
    aggregate(values, labels)
    np.testing.assert_array_equal(values, VALUES)
    np.testing.assert_array_equal(labels, LABELS)


@pytest.mark.parametrize("n", [1, 29, 31])
def test_other_records_are_refused(n: int) -> None:
    with pytest.raises(DataError, match=rf"{n} record.*partition 30.*same order"):
        aggregate(np.zeros((n, 2)), LABELS)


def test_codes_that_are_nearest_in_a_taxonomy() -> None:
    random = np.random.default_rng(5)
    # Level by level; the last code stands higher than others, and repeats itself.
    paths = np.array([[0, 3, 7], [0, 3, 8], [0, 4, 9], [1, 5, 10], [1, 5, 11], [2, 6, 12]], dtype=np.int32)
    apart = (paths[:, np.newaxis] != paths).mean(axis=2)
    for trial in range(200):
        n = int(random.integers(3, 40))
        labels = np.sort(random.integers(0, 4, n)).astype(np.int32)
        labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
        codes = random.integers(0, 6, n)
        weights = random.integers(1, 4, n).astype(np.float64) if trial % 2 else None
        weight = np.ones(n) if weights is None else weights
        overall = np.bincount(codes, weights=weight, minlength=6)
        found = modes(codes.astype(np.float64), labels, weights, overall, paths)
        for group, chosen in enumerate(found.tolist()):
            own, of_own = codes[labels == group], weight[labels == group]
            expected = min(
                set(own.tolist()),
                key=lambda code: (round(float(apart[code][own] @ of_own), 9), -overall[code], code),
            )
            assert chosen == expected, trial
