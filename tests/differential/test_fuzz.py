"""The long campaign: tens of thousands of adversarial inputs against the oracles (`make test-long`)."""

from __future__ import annotations

import numpy as np
import pytest

from microagg import _core
from microagg.methods.paths import GroupTour, NearestNext
from microagg.methods.run import Run
from microagg.methods.stage import evaluate, one_group
from microagg.model import Problem
from tests.campaigns import SAMPLE
from tests.differential import engines
from tests.differential.adversarial import cases
from tests.differential.test_kernels import PEELS, labels_of, univariate_cost
from tests.oracles import paths, peel, univariate

pytestmark = pytest.mark.long

# Continuous integration runs a fixed sample, so that it takes a minute or two.
COUNT = 900 if SAMPLE else 18_000


@pytest.mark.parametrize("name", PEELS)
@pytest.mark.parametrize("most", [25, 120])
def test_peel(name: str, most: int) -> None:
    stage, oracle = PEELS[name]
    for kind, x, k in cases(COUNT // (1 if most == 25 else 6), most, seed=101 + most):
        assert np.array_equal(labels_of(stage, x, k), oracle(x, k)), (kind, x.shape, k)


@pytest.mark.parametrize("method", engines.METHODS)
@pytest.mark.parametrize(("most", "share"), [(40, 1), (400, 6), (6000, 180)])
def test_engines(method: str, most: int, share: int) -> None:
    labels = engines.METHODS[method]
    for kind, x, k in engines.cases(COUNT // share, most, seed=104 + most):
        expected = labels(x, k, _core.Engine.BRUTE)
        assert np.array_equal(labels(x, k, _core.Engine.TREE), expected), (kind, x.shape, k)
        assert np.array_equal(labels(x, k, _core.Engine.AUTO), expected), (kind, x.shape, k)


def test_paths() -> None:
    for kind, x, k in cases(COUNT, 40, seed=102):
        problem, labels = Problem(x, k), peel.mdav(x, k)
        found = NearestNext()(problem, one_group(problem), Run())
        assert np.array_equal(found, paths.nearest_next(x)), (kind, x.shape)
        found = NearestNext("pair")(problem, one_group(problem), Run())
        assert np.array_equal(found, paths.nearest_next_from_pair(x)), (kind, x.shape)
        one, other = paths.farthest_pair(x) if len(x) > 1 else (0, 0)
        for tour, begin in (
            (GroupTour(), paths.farthest_from_centroid(x)),
            (GroupTour("pair"), one),
            (GroupTour("second of pair"), other),
        ):
            found = tour(problem, evaluate(problem, labels), Run())
            assert np.array_equal(found, paths.group_tour(x, labels, begin)), (kind, x.shape, k, tour)


def test_univariate() -> None:
    for kind, x, k in cases(COUNT, 60, seed=103):
        column = np.ascontiguousarray(x[:, 0])
        found, sse = _core.optimal_univariate(column, k, _core.Watch())
        _, best = univariate.optimal_univariate(column, k)
        cost = univariate_cost(column, found)
        assert cost <= best * (1 + 1e-12), (kind, len(column), k)
        assert sse == pytest.approx(cost, rel=1e-12, abs=1e-300), (kind, len(column), k)
