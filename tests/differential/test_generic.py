"""Records of any kind: MDAV-generic and the published cost against the oracles, and what annealing that
cost promises.
"""

from __future__ import annotations

import numpy as np
import pytest

from microagg import _core
from microagg.methods.fixed_size import Mdav, MdavGeneric
from microagg.methods.local_search import Descent
from microagg.methods.published import Published, bound_on_published, published_cost
from microagg.methods.run import Run
from microagg.methods.stage import chain, one_group, solve
from microagg.model import Categories, Labels, Partition, Problem
from tests.campaigns import at_length
from tests.oracles import generic


def mixed_problem(seed: int, n: int, k: int, taxonomy: bool = True) -> Problem:
    """Numbers on a grid, so that sums are exact and there are ties; an ordered, a nominal and a yes/no
    attribute, and one with a taxonomy.
    """
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-8, 9, (n, int(rng.integers(0, 4)))) / 4.0
    levels = rng.integers(0, 5, n)
    few, yes_or_no, tree = rng.integers(0, 4, n), rng.integers(0, 2, n), rng.integers(0, 9, n)
    codes = np.stack([levels, few, yes_or_no, *([tree] if taxonomy else [])], axis=1).astype(np.int32)
    corners = [np.eye(int(codes[:, at].max()) + 1)[codes[:, at]] for at in range(1, codes.shape[1])]
    points = np.concatenate([numbers, levels[:, np.newaxis] / 2.0, *corners], axis=1)
    widths = [1, *(block.shape[1] for block in corners)]
    paths = np.stack([np.arange(9) // 3, np.arange(9)], axis=1).astype(np.int32)
    categories = Categories(
        codes=codes,
        ordered=np.arange(codes.shape[1]) == 0,
        cost=np.array([0.5, 2.0, 1.0, 4.0])[: codes.shape[1]],
        starts=numbers.shape[1] + np.concatenate([[0], np.cumsum(widths)]),
        paths=(None, None, None, paths)[: codes.shape[1]],
    )
    return Problem(np.ascontiguousarray(points), k, categories)


def cost_by_oracle(problem: Problem, labels: Labels) -> list[float]:
    categories = problem.categories
    assert categories is not None
    numbers = problem.points[:, : int(categories.starts[0])]
    costs = [generic.cost_of_numbers(numbers, labels) if numbers.shape[1] else 0.0]
    for at, path in enumerate(categories.paths):
        codes = categories.codes[:, at]
        if categories.ordered[at]:
            units: float = generic.changes_of_level(codes, labels)
        elif path is None:
            units = generic.changed_cells(codes, labels)
        else:
            units = generic.distance_in_taxonomy(codes, path, labels) / path.shape[1]
        costs.append(float(categories.cost[at] * units))
    return costs


def some_start(problem: Problem) -> Partition:
    return solve(chain(Mdav(), Descent()), problem, one_group(problem), Run(seed=3))


@pytest.mark.parametrize(
    "inputs", [range(40), pytest.param(range(40, 2_000), marks=at_length)], ids=["few", "many"]
)
def test_mdav_generic_is_that_of_the_definition(inputs: range) -> None:
    for seed in inputs:
        n, k = 5 + seed % 40, 2 + seed % 4
        problem = mixed_problem(seed, n, k)
        categories = problem.categories
        assert categories is not None
        numbers = int(categories.starts[0])
        ordered = [False] * numbers + [True]
        expected = generic.mdav_generic(
            problem.points[:, : numbers + 1], ordered, categories.codes[:, 1:], k
        )
        found = MdavGeneric()(problem, one_group(problem), Run())
        assert found.labels.tolist() == expected.tolist(), f"seed {seed}"


def test_without_categories_mdav_generic_is_mdav() -> None:
    problem = Problem(np.ascontiguousarray(np.random.default_rng(0).normal(size=(50, 3))), 4)
    found, expected = (stage(problem, one_group(problem), Run()) for stage in (MdavGeneric(), Mdav()))
    assert found.labels.tolist() == expected.labels.tolist()


@pytest.mark.parametrize(
    "inputs", [range(60), pytest.param(range(60, 2_000), marks=at_length)], ids=["few", "many"]
)
def test_published_cost_is_that_of_the_definition(inputs: range) -> None:
    for seed in inputs:
        n, k = 6 + seed % 50, 2 + seed % 4
        problem = mixed_problem(seed, n, k)
        labels = np.random.default_rng(seed).integers(0, max(n // k, 1), n).astype(np.int32)
        labels = _core.by_first_appearance(labels)
        found = published_cost(problem, labels)
        assert found.tolist() == pytest.approx(cost_by_oracle(problem, labels), abs=1e-12), f"seed {seed}"


@pytest.mark.parametrize(
    "inputs", [range(15), pytest.param(range(15, 300), marks=at_length)], ids=["few", "many"]
)
def test_annealing_the_published_cost_never_raises_it(inputs: range) -> None:
    for seed in inputs:
        n, k = 20 + 7 * (seed % 9), 2 + seed % 5
        problem = mixed_problem(seed, n, k)
        start = some_start(problem)
        found = solve(Published(30 * n), problem, start, Run(seed=seed))
        sizes = np.bincount(found.labels)
        assert sizes.min() >= k
        assert sum(cost_by_oracle(problem, found.labels)) <= sum(cost_by_oracle(problem, start.labels))
        assert found.sse == pytest.approx(_core.sse(problem.points, found.labels))


def test_the_same_groups_on_any_number_of_threads() -> None:
    problem = mixed_problem(1, 400, 3)
    start = some_start(problem)
    stage = Published(800 * len(problem.points))
    one, two = (solve(stage, problem, start, Run(seed=5, threads=threads)) for threads in (1, 2))
    assert one.labels.tolist() == two.labels.tolist()
    other = solve(stage, problem, start, Run(seed=6))
    assert other.labels.tolist() != one.labels.tolist()


def test_numbers_alone_are_left_as_they_are() -> None:
    problem = Problem(np.ascontiguousarray(np.random.default_rng(0).normal(size=(50, 3))), 4)
    start = some_start(problem)
    assert solve(Published(), problem, start, Run()) is start


def test_a_bound_of_the_sse_bounds_the_published_cost() -> None:
    for seed in range(20):
        problem = mixed_problem(seed, 8, 3, taxonomy=False)
        least = min(
            (_core.sse(problem.points, labels), sum(cost_by_oracle(problem, labels)))
            for labels in _partitions_in_two(8, 3)
        )[0]
        bound = bound_on_published(problem, least)
        assert bound > 0.0
        for labels in _partitions_in_two(8, 3):
            assert bound <= sum(cost_by_oracle(problem, labels)) * (1.0 + 1e-12), f"seed {seed}"


def _partitions_in_two(n: int, k: int) -> list[Labels]:
    """All partitions of n < 3k records."""
    found = []
    for chosen in range(2 ** (n - 1)):
        labels = np.array([chosen >> row & 1 for row in range(n)], dtype=np.int32)
        if chosen == 0 or k <= labels.sum() <= n - k:
            found.append(labels)
    return found
