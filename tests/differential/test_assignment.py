"""Assignment rounds against SciPy, and what the stages that use them promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from microagg import _core
from microagg.errors import SettingsError
from microagg.methods import assignment
from microagg.methods.anneal import Anneal
from microagg.methods.assignment import (
    Adaptive,
    Assignment,
    planned_again,
    suits_assignment,
    temperatures_of,
)
from microagg.methods.local_search import Descent
from microagg.methods.pace import Pace
from microagg.methods.run import Run
from microagg.methods.stage import evaluate, solve
from tests.differential.adversarial import KINDS, points
from tests.differential.test_search import allowed_partition, census_like, fixed_points, from_mdav, hash_of
from tests.oracles import assignment as oracle
from tests.oracles import neighbourhood, objective


@pytest.mark.parametrize("kind", ["normal", "tied", "equal"])
def test_sparse_assignments_cost_as_little_as_those_of_scipy(kind: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        n = int(rng.integers(1, 40))
        dense = np.full((n, n), 1e9)
        starts, columns = [0], []
        for row in range(n):
            known = sorted({row, *rng.integers(0, n, int(rng.integers(0, 8))).tolist()})
            draws = {
                "normal": rng.normal(size=len(known)),
                "tied": rng.integers(0, 3, len(known)) / 7.0,
                "equal": np.full(len(known), 0.1),
            }
            dense[row, known] = draws[kind]
            columns.extend(known)
            starts.append(len(columns))
        rows = np.repeat(np.arange(n), np.diff(starts))
        found = _core.sparse_assignment(
            np.array(starts, dtype=np.int64),
            np.array(columns, dtype=np.int32),
            dense[rows, columns],
            _core.Watch(),
        )
        assert sorted(found) == list(range(n))
        assert dense[range(n), found].sum() == pytest.approx(
            dense[linear_sum_assignment(dense)].sum(), abs=1e-9
        )


@pytest.mark.parametrize("temperature", [0.0, 0.05])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_rounds_are_those_of_the_oracle(k: int, temperature: float) -> None:
    rng = np.random.default_rng(10 * k)
    for seed in range(8):
        n = int(rng.integers(4 * k, 80))
        x = rng.normal(size=(n, int(rng.integers(2, 5))))
        lists = neighbourhood.nearest_lists(x, min(12, n - 1))
        start = allowed_partition(rng, n, k)
        rows = np.arange(n, dtype=np.int32)
        temperatures = np.full(6, temperature)
        found, truncated = _core.assignment_rounds(
            x, rows, start, k, lists, rows, 8, 0.4, temperatures, seed, False, _core.Watch()
        )
        assert not truncated
        assert np.array_equal(found, oracle.rounds(x, start, k, lists, 8, 0.4, temperatures, seed))


@pytest.mark.parametrize("kind", KINDS)
def test_a_round_on_any_data_costs_as_little_as_that_of_the_oracle(kind: str) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    for seed in range(15):
        k = int(rng.integers(2, 5))
        n = int(rng.integers(2 * k, 50))
        x = points(kind, rng, n, int(rng.integers(1, 4)))
        lists = neighbourhood.nearest_lists(x, int(rng.integers(1, n)))
        start = allowed_partition(rng, n, k)
        rows = np.arange(n, dtype=np.int32)
        found, _ = _core.assignment_rounds(
            x, rows, start, k, lists, rows, 10, 0.3, np.zeros(1), seed, False, _core.Watch()
        )
        sizes = np.bincount(found)
        assert sizes.min() >= k
        assert sizes.max() <= 2 * k - 1
        cost, before = objective.sse(x, found), objective.sse(x, start)
        assert cost <= before * (1 + 1e-12)
        expected = objective.sse(x, oracle.rounds(x, start, k, lists, 10, 0.3, np.zeros(1), seed))
        assert cost == pytest.approx(expected, rel=1e-6, abs=1e-9 * before)


def test_every_prefix_improves() -> None:
    problem, start = from_mdav(census_like(1_000), 3)
    start = solve(Descent(), problem, start, Run())
    costs = [start.sse, *(Assignment(rounds)(problem, start, Run(seed=4)).sse for rounds in (1, 5, 20, 60))]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < 0.95 * costs[0]


@pytest.mark.parametrize(
    ("n", "p", "k", "rounds", "expected"),
    [
        (500, 3, 3, 30, "ee0cff2ebecfc9f1"),
        (500, 12, 4, 220, "0c6eb39a58ffd026"),
        (16_000, 4, 3, 45, "04b63dd290a9580f"),
    ],
)
def test_one_seed_and_number_of_rounds_one_answer(
    n: int, p: int, k: int, rounds: int, expected: str
) -> None:
    """On every machine, instruction set and number of threads, as for annealing."""
    level = _core.simd_level()
    try:
        for at, name in enumerate(("baseline", "avx2", "avx512")):
            if not _core.force_simd_level(name):
                continue
            for threads in (1, 2) if n < 10_000 else (1 + at % 2,):  # many records take seconds
                run = Run(seed=5, threads=threads)
                problem, start = from_mdav(fixed_points(n, p), k, run)
                found = solve(Assignment(rounds), problem, start, run)
                assert not found.truncated
                assert hash_of(found.labels) == expected, (name, threads)
    finally:
        _core.force_simd_level(level)


def test_noise_begins_after_the_safe_rounds_and_ends_before_the_last() -> None:
    assert not temperatures_of(assignment.FEWEST_ANNEALED_ROUNDS - 1, 1.0).any()
    for rounds, hot in ((300, assignment.HOT_SHARE), (2_000, assignment.HOT_SHARE_IF_LONG)):
        found = temperatures_of(rounds, 2.0)
        noisy = np.flatnonzero(found)
        assert len(found) == rounds
        assert noisy[0] == assignment.SAFE_ROUNDS
        assert noisy[-1] < 0.9 * rounds
        assert (np.diff(found[noisy]) <= 0).all()
        assert found[noisy[0]] == 2.0 * hot
        assert found[noisy[-1]] == pytest.approx(2.0 * assignment.COLD_SHARE, rel=0.05)


def test_late_rounds_are_planned_again() -> None:
    """Fewer rounds over the same temperatures, or none with noise where there is hardly any time."""
    run = Run()
    run.watch.simulate_clock(1.0)
    planned = temperatures_of(1_000, 1.0)
    pace = Pace(run)
    assert planned_again(planned, pace) is planned
    pace._seconds_a_unit = 1.0
    run.watch.set_deadline(500.0)
    found = planned_again(planned, pace)
    assert len(found) == 700  # colder ones are quicker
    assert found.max() == planned.max()
    assert found[-1] == 0.0
    run.watch.set_deadline(20.0)
    assert not planned_again(planned, pace).any()
    hot = planned[200:]
    assert 0 < len(planned_again(hot, pace)) < 50


def test_the_search_is_chosen_by_the_groups() -> None:
    smooth, start = from_mdav(census_like(3_000), 3)
    descended = solve(Descent(), smooth, start, Run())
    assert suits_assignment(smooth, descended)
    found = Adaptive(600_000)(smooth, start, Run(seed=1))
    rounds = Assignment(assignment.rounds_of_steps(smooth, 600_000))
    assert np.array_equal(found.labels, rounds(smooth, descended, Run(seed=1)).labels)

    flat, start = from_mdav(fixed_points(3_000, 2), 3)
    descended = solve(Descent(), flat, start, Run())
    assert not suits_assignment(flat, descended)
    found = Adaptive(600_000)(flat, start, Run(seed=1))
    assert np.array_equal(found.labels, Anneal(600_000)(flat, start, Run(seed=1)).labels)

    few, start = from_mdav(census_like(1_000), 3)
    assert not suits_assignment(few, start)
    many, start = from_mdav(census_like(3_000), 10)
    assert not suits_assignment(many, start)


@pytest.mark.parametrize("rounds", [0, -1, 10**10])
def test_impossible_numbers_of_rounds_are_refused(rounds: int) -> None:
    with pytest.raises(SettingsError, match="rounds"):
        Assignment(rounds)


def test_cancelled_rounds_return_the_best_so_far() -> None:
    problem, start = from_mdav(census_like(1_000), 3)
    run = Run()
    run.cancel()
    found = Assignment(50)(problem, start, run)
    assert found.truncated
    assert np.array_equal(found.labels, start.labels)
    large = evaluate(problem, np.zeros(1_000, dtype=np.int32))
    assert Assignment(50)(problem, large, Run()).sse < start.sse
