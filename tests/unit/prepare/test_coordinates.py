"""Codes as points: squared distances are as the search and the taxonomy want them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from microagg.model import Table
from microagg.prepare.coordinates import MOST_COORDINATES, Coordinates, coordinates_of
from microagg.prepare.key_columns import KeyColumn


def made(codes: np.ndarray, paths: np.ndarray | None, importance: float = 1.0) -> Coordinates:
    kind = KeyColumn("nominal", pa.array([str(code) for code in range(int(codes.max()) + 1)]), paths=paths)
    table = Table(("job",), codes[:, np.newaxis].astype(np.float64))
    return coordinates_of(table, {"job": kind}, {"job": importance}, "zscore", False)


def shares(paths: np.ndarray) -> np.ndarray:
    return (paths[:, np.newaxis] != paths).mean(axis=2)


def test_codes_of_a_taxonomy_are_as_far_apart_as_their_levels_differ() -> None:
    paths = np.array([[0, 2, 5], [0, 2, 6], [0, 3, 7], [1, 4, 8]], dtype=np.int32)
    codes = np.array([0, 1, 2, 3, 0, 0, 1, 3])
    points = made(codes, paths, 2.0).attributes[0].points
    apart = ((points[:, np.newaxis] - points) ** 2).sum(axis=2)
    wanted = shares(paths)[np.ix_(codes, codes)]
    np.testing.assert_allclose(apart, wanted * (apart.max() / wanted.max()), atol=1e-12)
    # As a standardised number has it, times the importance.
    assert ((points - points.mean(axis=0)) ** 2).sum() == pytest.approx(2.0 * len(codes))


def test_large_taxonomies_have_few_coordinates() -> None:
    codes = np.arange(400)
    paths = np.stack([codes // 100, codes // 10 + 4, codes + 44], axis=1).astype(np.int32)
    points = made(codes, paths).attributes[0].points
    assert points.shape[1] == MOST_COORDINATES
    apart = ((points[:, np.newaxis] - points) ** 2).sum(axis=2)
    means = [apart[shares(paths) == share].mean() for share in (0.0, 1 / 3, 2 / 3, 1.0)]
    assert means == sorted(means)
    assert means[0] == 0.0


def test_costs_are_distances_as_shares_of_those_to_the_best_code() -> None:
    paths = np.array([[0, 2], [0, 3], [1, 4]], dtype=np.int32)
    codes = np.array([0, 0, 1, 2, 2])
    coordinates = made(codes, paths)
    one_for_all = min(shares(paths)[code][codes].sum() for code in range(3))
    assert coordinates.attributes[0].unit_cost == pytest.approx(5 / one_for_all)
    assert coordinates.totals([np.arange(5)]) == pytest.approx({"job": 5.0})
    problem = coordinates.problem(np.arange(5), [0], 2)
    assert problem.categories is not None
    assert problem.categories.paths[0] is paths


def test_a_single_code_costs_nothing() -> None:
    coordinates = made(np.zeros(4, dtype=np.int64), np.array([[0, 1]], dtype=np.int32))
    assert coordinates.totals([np.arange(4)]) == {"job": 0.0}
    assert not coordinates.attributes[0].points.any()
