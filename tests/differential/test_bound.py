"""The bound from nearest neighbours: no group is charged more than it costs, in exact numbers, and no
neighbour is missed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from microagg import _core, datasets
from microagg.methods.exact import bound
from microagg.methods.exact.bound import bound_of, effort_for, record_shares
from microagg.methods.neighbours import EVERY_LEAF
from microagg.methods.objective import sse
from microagg.methods.recipe import stage_of
from microagg.methods.run import Run
from microagg.methods.stage import one_group, solve
from microagg.model import Points, Problem
from tests.campaigns import at_length
from tests.differential.adversarial import KINDS, points
from tests.differential.stopped import cancelled_in_a_kernel
from tests.oracles import exhaustive, neighbourhood
from tests.oracles.neighbour_bound import plain_shares, shares_and_costs

Shares = NDArray[np.float64]


def kernel_shares(x: Points, k: int, length: int, rounds: int, remote: int = 1) -> Shares:
    watch = _core.Watch()
    lists = _core.neighbour_lists(x, length, EVERY_LEAF, 1, watch)
    return _core.neighbour_bound(x, lists, k, remote, rounds, 1, watch)


def small_cases(count: int, seed: int) -> Iterator[tuple[str, Points, int]]:
    """Few records of every kind, at every scale, some with a clump or an outlier."""
    rng = np.random.default_rng(seed)
    for at in range(count):
        kind = KINDS[at % len(KINDS)]
        n = int(rng.integers(4, 11))
        k = int(rng.integers(2, min(5, n) + 1))
        x = points(kind, rng, n, int(rng.integers(1, 4)))
        change = rng.integers(0, 6)
        if change == 0:
            x = x * 10.0 ** rng.integers(-170, 155)
        elif change == 1:
            x[: n // 2] = x[: n // 2] * 1e-3 + 5.0
        elif change == 2:
            x[0] = x[0] * 1e6 + 1e7
        elif change == 3:
            x = np.round(x * 2.0) / 2.0
        yield kind, np.ascontiguousarray(x), k


def in_units(x: NDArray[np.float64]) -> Points:
    return np.ascontiguousarray((x - x.mean(axis=0)) / x.std(axis=0))


def census_like(n: int) -> Points:
    return in_units(datasets.census_like(n, seed=0).values)


# --- no group is charged more than it costs ---------------------------------------------------


@pytest.mark.parametrize("cases", [300, pytest.param(1_000, marks=at_length)])
@pytest.mark.parametrize("part", range(4))
def test_no_group_is_charged_more_than_it_costs(part: int, cases: int) -> None:
    """All groups of at least k, with lists of every length: unlisted pairs are where proofs go wrong."""
    rng = np.random.default_rng(part)
    for kind, x, k in small_cases(cases, seed=part):
        length = int(rng.integers(1, len(x)))
        remote = int(rng.integers(1, len(x)))
        shares = kernel_shares(x, k, length, int(rng.integers(0, 8)), remote)
        assert np.isfinite(shares).all()
        assert (shares >= 0.0).all()
        for charged, cost in shares_and_costs(x, shares, k):
            assert charged <= cost, (kind, k, length, remote)


def test_the_bound_is_below_every_partition() -> None:
    for kind, x, k in small_cases(150, seed=9):
        if np.abs(x).max() > 1e100:  # the oracle's sums would overflow
            continue
        best = exhaustive.exhaustive(x, k)[1]
        assert bound_of(record_shares(Problem(x, k), Run())) <= best * (1 + 1e-12), kind


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_is_never_below_the_plain_one(kind: str) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    for n in (10, 60, 300):
        for k in (2, 3, 6):
            x = points(kind, rng, n, 3)
            found = bound_of(record_shares(Problem(x, k), Run()))
            assert found >= bound_of(plain_shares(x, k)) * (1 - 1e-12)


def test_stars_alone_without_better_prices_are_the_plain_shares() -> None:
    x = points("normal", np.random.default_rng(3), 6, 2)
    all_equal = np.concatenate([x, x])  # every record has a twin: nothing to gain for k = 2
    assert kernel_shares(all_equal, 2, 5, 0) == pytest.approx(plain_shares(all_equal, 2), abs=0.0)


@pytest.mark.parametrize("k", [3, 5, 10])
def test_near_groups_of_many_records_cost_more_than_they_are_charged(k: int) -> None:
    """Every record with its nearest, with and without triples, where most pairs are unlisted."""
    rng = np.random.default_rng(k)
    heavy = np.ascontiguousarray(rng.standard_t(2, size=(1_200, 3)))
    for x in (census_like(1_200), heavy, np.round(heavy)):
        for length in (k // 2, k + 2, 4 * k):
            shares = kernel_shares(x, k, length, rounds=3, remote=int(rng.integers(1, 200)))
            near = np.column_stack(
                [np.arange(1_200), _core.neighbour_lists(x, k - 1, EVERY_LEAF, 2, _core.Watch())]
            )
            members = x[near]
            costs = ((members - members.mean(axis=1, keepdims=True)) ** 2).sum(axis=(1, 2))
            assert (shares[near].sum(axis=1) <= costs * (1 + 1e-9)).all()


# --- how good it is ---------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "share"), [(2, 0.85), (3, 0.84), (5, 0.78), (10, 0.75), (20, 0.72)])
def test_the_bound_is_near_what_searches_reach(k: int, share: float) -> None:
    problem = Problem(census_like(2_000), k)
    reached = solve(stage_of("mdav+descent"), problem, one_group(problem), Run()).sse
    assert share * reached < bound_of(record_shares(problem, Run())) < reached


def test_heavy_tails_gain_from_triples_and_from_remote_pairs() -> None:
    """Where prices differ by orders of magnitude, and outliers with short lists make up most of the SSE."""
    x = np.exp(np.random.default_rng(1).normal(size=(1_000, 4)))
    stars, with_remote, with_triples = (
        bound_of(kernel_shares(x, 10, 45, rounds, remote))
        for rounds, remote in ((0, 1), (0, 100), (20, 100))
    )
    assert with_remote > 1.05 * stars
    assert with_triples > 1.03 * with_remote


def test_few_triples_for_large_data() -> None:
    assert effort_for(1_000, 3) == (48, bound.MOST_SHARING_ROUNDS)
    assert effort_for(100_000, 3) == (48, bound.MOST_SHARING_ROUNDS)
    assert effort_for(1_000_000, 3) == (18, bound.MOST_SHARING_ROUNDS)
    assert effort_for(5, 3) == (4, bound.MOST_SHARING_ROUNDS)
    assert effort_for(100_000, 10) == (45, bound.MOST_SHARING_ROUNDS)
    assert effort_for(100_000, 20) == (59, bound.MOST_SHARING_ROUNDS)
    assert effort_for(100_000, 50) == (104, 0)
    assert effort_for(2_000_000, 1_000) == (32, 0)
    assert effort_for(10**9, 1_000) == (1, 0)


# --- edges ------------------------------------------------------------------------------------


def test_tiny_problems() -> None:
    for n in (1, 2, 3, 4):
        for k in (1, 2, 3, 9):
            x = np.arange(n, dtype=np.float64).reshape(n, 1) ** 2
            found = bound_of(record_shares(Problem(x, k), Run()))
            assert 0.0 <= found <= sse(x, np.zeros(n, dtype=np.int32)) * (1 + 1e-12)
            if 2 <= n <= k:  # one group: the halves are all that is needed
                assert found > 0.4 * sse(x, np.zeros(n, dtype=np.int32))


def test_equal_records_are_charged_nothing() -> None:
    x = np.repeat(np.random.default_rng(2).normal(size=(20, 3)), 6, axis=0)
    for k in (2, 3, 6):
        assert not record_shares(Problem(x, k), Run()).any()
    assert record_shares(Problem(x, 7), Run()).any()


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e-150, 1e140, 1e160, 1e300, 1.7e308])
def test_extreme_numbers_have_a_finite_bound(scale: float) -> None:
    x = np.random.default_rng(4).uniform(-1.0, 1.0, size=(400, 3)) * scale
    x[7] /= 1e100
    for k in (3, 8):
        shares = record_shares(Problem(x, k), Run())
        assert np.isfinite(shares).all()
        assert (shares >= 0.0).all()
        assert np.isfinite(bound_of(shares))
        if 1e-150 < scale < 1e150:
            assert bound_of(shares) >= bound_of(plain_shares(x, k)) * (1 - 1e-12)


@pytest.mark.parametrize("power", [-200, -60, 30, 200])
def test_the_unit_does_not_matter(power: int) -> None:
    x = points("lognormal", np.random.default_rng(5), 500, 3)
    one, other = (bound_of(record_shares(Problem(x * unit, 4), Run())) for unit in (1.0, 2.0**power))
    assert other == one * 2.0 ** (2 * power)


def test_the_sum_is_rounded_down() -> None:
    assert bound_of(np.zeros(5)) == 0.0
    assert bound_of(np.full(10, 0.1)) < 1.0
    assert bound_of(np.array([1.0, 2.0**-53, 2.0**-53])) <= 1.0 + 2.0**-52


# --- exact neighbours -------------------------------------------------------------------------


def assert_exact(x: Points, length: int) -> None:
    """The oracle's distances, at any number of threads; of equally far records, any will do."""
    found = _core.neighbour_lists(x, length, EVERY_LEAF, 1, _core.Watch())
    assert np.array_equal(_core.neighbour_lists(x, length, EVERY_LEAF, 3, _core.Watch()), found)
    assert (np.diff(np.sort(np.column_stack([found, np.arange(len(x))]), axis=1)) > 0).all()
    with np.errstate(over="ignore"):
        expected = neighbourhood.nearest_lists(x, length)
    for place in range(length):
        found_at = _core.list_distances(x, found, place)
        assert np.array_equal(found_at, _core.list_distances(x, expected.astype(np.int32), place))


@pytest.mark.parametrize("kind", KINDS)
def test_no_neighbour_is_missed(kind: str) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    for n, p in ((2, 1), (50, 2), (700, 1), (900, 3), (1_200, 6)):
        assert_exact(points(kind, rng, n, p), int(rng.integers(1, min(n, 40))))


def test_no_neighbour_is_missed_where_coordinates_are_rounded() -> None:
    """Distances far below what rounding does to principal coordinates, outliers, many attributes."""
    rng = np.random.default_rng(11)
    normal = rng.normal(size=(400, 4))
    far = normal.copy()
    far[5] = 1e13
    for x in (
        normal * 1e-6 + 1e9,
        far,
        normal * np.array([1e8, 1.0, 1e-4, 1e-8]),
        normal * 1e200,
        normal * 1e-160,
        rng.normal(size=(300, 90)),
        np.concatenate([normal, normal + 1e15]),
    ):
        assert_exact(x, 12)


def test_no_neighbour_of_large_data_is_missed() -> None:
    x = census_like(20_000)
    found = _core.neighbour_lists(x, 30, EVERY_LEAF, 2, _core.Watch())
    for row in range(0, 20_000, 100):
        gaps = ((x - x[row]) ** 2).sum(axis=1)
        gaps[row] = np.inf
        assert np.sort(gaps)[29] == pytest.approx(gaps[found[row, -1]], rel=1e-12)
        assert len(set(found[row].tolist())) == 30


# --- threads and time -------------------------------------------------------------------------


def test_threads_do_not_change_shares() -> None:
    problem = Problem(census_like(1_200), 4)
    one, many = (record_shares(problem, Run(threads=threads)) for threads in (1, 5))
    assert np.array_equal(one, many)


def test_at_the_deadline_the_best_so_far() -> None:
    problem = Problem(census_like(5_000), 8)
    assert not record_shares(problem, Run(seconds=0.0)).any()
    reached = solve(stage_of("blocks+descent"), problem, one_group(problem), Run()).sse
    for seconds in (0.05, 0.2, 0.5):
        assert 0.0 <= bound_of(record_shares(problem, Run(seconds=seconds))) < reached


def test_cancelling_ends_it() -> None:
    problem = Problem(census_like(1_500), 10)
    shares = record_shares(problem, cancelled_in_a_kernel())
    assert (shares >= 0.0).all()
    assert shares.sum() < record_shares(problem, Run()).sum()
