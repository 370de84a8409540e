"""Descent against the brute-force neighbourhood, neighbour lists against brute force, and what annealing
promises: one answer for one seed and number of steps.
"""

from __future__ import annotations

import hashlib
from time import process_time

import numpy as np
import pytest
from numpy.typing import NDArray

from microagg import _core, datasets
from microagg.errors import SettingsError
from microagg.methods import anneal, auto, blocks
from microagg.methods.anneal import Anneal
from microagg.methods.auto import Auto, choose
from microagg.methods.blocks import KdBlocks
from microagg.methods.cooling import (
    GROWTH,
    LEVELS,
    MOST_REPEATED,
    lengths_of_anneals,
    schedule,
    steps_of_run,
)
from microagg.methods.fixed_size import Mdav
from microagg.methods.local_search import Descent
from microagg.methods.neighbours import LEAVES, list_length, near_lists
from microagg.methods.recipe import stage_of
from microagg.methods.run import Run
from microagg.methods.stage import Within, chain, evaluate, one_group, solve
from microagg.model import Labels, Partition, Points, Problem, gap_above, is_optimal
from tests.campaigns import SAMPLE, at_length
from tests.differential.adversarial import KINDS, points
from tests.differential.stopped import cancelled_in_a_kernel
from tests.oracles import neighbourhood, objective


def in_units(x: NDArray[np.float64]) -> Points:
    return np.ascontiguousarray((x - x.mean(axis=0)) / x.std(axis=0))


def census_like(n: int, seed: int = 0) -> Points:
    return in_units(datasets.census_like(n, seed=seed).values)


def from_mdav(x: Points, k: int, run: Run | None = None) -> tuple[Problem, Partition]:
    problem = Problem(x, k)
    return problem, solve(Mdav(), problem, one_group(problem), run or Run())


def allowed_partition(rng: np.random.Generator, n: int, k: int) -> Labels:
    """Random groups of k to 2k−1."""
    groups = n // k
    sizes = np.full(groups, k)
    for _ in range(n - groups * k):
        sizes[rng.choice(np.flatnonzero(sizes < 2 * k - 1))] += 1
    labels = np.repeat(np.arange(groups, dtype=np.int32), sizes)
    return _core.by_first_appearance(np.ascontiguousarray(rng.permutation(labels)))


# --- descent ----------------------------------------------------------------------------------


@pytest.mark.parametrize("trials", [8, pytest.param(25 if SAMPLE else 60, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", KINDS)
def test_descent_ends_in_a_local_optimum(kind: str, trials: int) -> None:
    """No partition of the stated neighbourhood, all of them recomputed from scratch, is better."""
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(trials):
        k = int(rng.integers(2, 6))
        n = int(rng.integers(2 * k, 41))
        x = points(kind, rng, n, int(rng.integers(1, 4)))
        length = int(rng.integers(1, n))
        lists = neighbourhood.nearest_lists(x, length)
        start = allowed_partition(rng, n, k)
        rows = rng.permutation(n).astype(np.int32)
        own = _core.by_first_appearance(np.ascontiguousarray(start[rows]))
        place = np.argsort(rows).astype(np.int32)
        found, truncated = _core.descent(x, rows, own, k, lists, place, None, _core.Watch())
        labels = np.empty_like(found)
        labels[rows] = found
        assert not truncated
        sizes = np.bincount(labels)
        assert sizes[sizes > 0].min() >= k
        assert sizes.max() <= 2 * k - 1
        cost = objective.sse(x, labels)
        assert cost <= objective.sse(x, start) * (1 + 1e-12)
        best, move = neighbourhood.best_neighbour(x, labels, k, lists)
        assert best >= cost * (1 - 1e-9), (kind, move)


def test_descent_uses_every_kind_of_move() -> None:
    """A group too far apart is disbanded, one that is missing is founded."""
    rng = np.random.default_rng(5)
    clumps = np.repeat([0.0, 10.0, 20.0], 6)[:, None] + rng.normal(size=(18, 2)) * 0.1
    problem = Problem(np.ascontiguousarray(clumps), 3)
    # Three groups of five and a scattered one of three: six records to each clump.
    scattered = np.array([0, 0, 0, 0, 0, 3, 1, 1, 1, 1, 1, 3, 2, 2, 2, 2, 2, 3], dtype=np.int32)
    found = Descent()(problem, evaluate(problem, scattered), Run())
    assert [len(set(found.labels[first : first + 6])) for first in (0, 6, 12)] == [2, 2, 2]
    # Two groups of five around a clump of four that has none.
    x = (
        np.concatenate([np.zeros(3), np.full(4, 5.0), np.full(3, 10.0)])[:, None]
        + np.arange(10)[:, None] * 1e-3
    )
    problem = Problem(np.ascontiguousarray(x), 3)
    two = np.repeat(np.array([0, 1], dtype=np.int32), 5)
    found = Descent()(problem, evaluate(problem, two), Run())
    assert np.array_equal(found.labels, np.repeat(np.array([0, 1, 2], dtype=np.int32), [3, 4, 3]))


@pytest.mark.parametrize("k", [3, 10])
def test_descent_improves_on_mdav(k: int) -> None:
    problem, start = from_mdav(census_like(2_000), k)
    found = Descent()(problem, start, Run())
    assert found.sse < 0.95 * start.sse
    assert np.array_equal(Descent()(problem, found, Run()).labels, found.labels)


# --- neighbour lists and blocks ---------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_neighbour_lists_are_exact_on_small_data(kind: str) -> None:
    rng = np.random.default_rng(100 + KINDS.index(kind))
    for n in (2, 5, 40, 300):
        x = points(kind, rng, n, int(rng.integers(1, 20)))
        length = int(rng.integers(1, min(n, 60)))
        found = _core.neighbour_lists(x, length, LEAVES, 2, _core.Watch())
        gaps = ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2)
        np.fill_diagonal(gaps, np.inf)
        for row in range(n):
            assert row not in found[row]
            assert len(set(found[row].tolist())) == length
            expected = np.sort(gaps[row])[:length]
            assert gaps[row][found[row]] == pytest.approx(expected, rel=1e-9, abs=1e-300), kind


def test_long_neighbour_lists_are_full() -> None:
    """Leaves looked at until every list is full, however long."""
    x = census_like(2_000)
    for length in (1_999, 800):
        found = _core.neighbour_lists(x, length, LEAVES, 2, _core.Watch())
        for row in range(0, 2_000, 200):
            assert row not in found[row]
            assert len(set(found[row].tolist())) == length


def test_more_threads_than_can_be_had() -> None:
    x = census_like(300)
    expected = _core.neighbour_lists(x, 5, LEAVES, 1, _core.Watch())
    assert np.array_equal(_core.neighbour_lists(x, 5, LEAVES, 100_000, _core.Watch()), expected)


def test_neighbour_lists_follow_the_oracle_in_ties() -> None:
    x = np.random.default_rng(3).integers(0, 4, size=(500, 3)).astype(np.float64)
    found = _core.neighbour_lists(x, 25, LEAVES, 1, _core.Watch())
    assert np.array_equal(found, neighbourhood.nearest_lists(x, 25))


def test_neighbour_lists_are_nearly_exact_on_large_data() -> None:
    x = census_like(20_000)
    found = _core.neighbour_lists(x, 20, LEAVES, 2, _core.Watch())
    assert np.array_equal(found, _core.neighbour_lists(x, 20, LEAVES, 1, _core.Watch()))
    sample = range(0, 20_000, 400)
    hits = 0
    for row in sample:
        gaps = ((x - x[row]) ** 2).sum(axis=1)
        gaps[row] = np.inf
        hits += len(set(np.argsort(gaps, kind="stable")[:20]) & set(found[row].tolist()))
    assert hits > 0.95 * 20 * len(sample)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [2, 5])
def test_blocks_have_the_sizes_asked_for(kind: str, k: int) -> None:
    x = points(kind, np.random.default_rng(k), 1_003, 3)
    problem = Problem(x, k)
    found = KdBlocks(50)(problem, one_group(problem), Run())
    sizes = np.bincount(found)
    assert sizes.max() <= 50
    assert sizes.min() >= 2 * k
    assert np.count_nonzero(sizes % k) <= 1


def test_blocks_of_groups_keep_groups_whole_and_differ_by_seed() -> None:
    problem, start = from_mdav(census_like(14_000), 3)
    cuts = [blocks.blocks_of_groups(problem, start.labels, seed, Run()) for seed in (1, 2, 1)]
    for cut in cuts:
        pairs = np.unique(np.stack([start.labels, cut]), axis=1)
        assert pairs.shape[1] == start.labels.max() + 1
        assert np.bincount(cut).max() <= blocks.ONE_BLOCK_RECORDS
    assert np.array_equal(cuts[0], cuts[2])
    assert not np.array_equal(cuts[0], cuts[1])


# --- annealing --------------------------------------------------------------------------------


def fixed_points(n: int, p: int) -> Points:
    """Coordinates from integer arithmetic alone: the same on every machine."""
    state = np.arange(1, n * p + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    unit = (state >> np.uint64(40)).astype(np.float64) / 2.0**24
    return np.ascontiguousarray((unit * unit).reshape(n, p))


def hash_of(labels: Labels) -> str:
    return hashlib.sha256(labels.astype("<i4").tobytes()).hexdigest()[:16]


BOTH = {"baseline": [1, 2], "avx2": [1, 2], "avx512": [1, 2]}
"""Instruction sets, and numbers of threads to be tried with each."""


@pytest.mark.parametrize(
    ("n", "p", "k", "steps", "threads_by_level", "expected"),
    [
        (500, 3, 3, 200, BOTH, "46424cf5ce9cdd4e"),
        (400, 20, 5, 200, BOTH, "d9c262959b0ae4dd"),
        (7_000, 4, 4, 200, BOTH, "a762b79e1df7ec7d"),
        # Enough for regions: seconds each, so that all pairs are tried in the long campaign only.
        (400, 3, 4, 84_000, {"baseline": [1], "avx2": [2]}, "eb274f00867a993e"),
        pytest.param(400, 3, 4, 84_000, BOTH, "eb274f00867a993e", marks=at_length),
    ],
)
def test_one_seed_and_number_of_steps_one_answer(
    n: int, p: int, k: int, steps: int, threads_by_level: dict[str, list[int]], expected: str
) -> None:
    """On every machine, instruction set and number of threads: these hashes must never change without
    a note in the changelog that results do.
    """
    x = fixed_points(n, p)
    level = _core.simd_level()
    try:
        for name in threads_by_level:
            if not _core.force_simd_level(name):
                continue
            for threads in threads_by_level[name]:
                run = Run(seed=5, threads=threads)
                problem, start = from_mdav(x, k, run)
                found = solve(Anneal(steps * n), problem, start, run)
                assert hash_of(found.labels) == expected, (name, threads)
    finally:
        _core.force_simd_level(level)


def test_seeds_differ_and_more_steps_help() -> None:
    problem, start = from_mdav(census_like(1_000), 3)
    losses = [
        [Anneal(steps)(problem, start, Run(seed=seed)).sse for seed in range(3)]
        for steps in (10**5, 3 * 10**6)
    ]
    assert len(set(losses[0])) == 3
    assert max(losses[1]) < min(losses[0])
    assert max(losses[0]) < 0.93 * start.sse


def test_regions_of_both_kinds_are_the_same_on_any_number_of_threads() -> None:
    x = fixed_points(2_400, 3)
    steps = 2 * anneal.STEPS_PER_RECORD_AND_VISIT * len(x)
    found = []
    for threads in (1, 2):
        run = Run(seed=5, threads=threads)
        problem, start = from_mdav(x, 4, run)
        lists = near_lists(problem, list_length(len(x), 4), run)
        found.append(anneal._by_regions(problem, start, lists, start.sse, steps, run))
        assert found[-1].sse < 0.95 * start.sse
        assert not found[-1].truncated
    assert [hash_of(partition.labels) for partition in found] == ["63d8ae9812365faa"] * 2


@pytest.mark.parametrize(("first", "records"), anneal.REGIONS)
def test_regions_are_kept_only_where_they_got_better(first: int, records: int) -> None:
    problem, start = from_mdav(census_like(1_000), 5)
    lists = near_lists(problem, list_length(1_000, 5), Run())
    best = Anneal(10**5)(problem, start, Run())
    cooling = schedule(problem, lists, start.sse, 10**6, first)
    assert not cooling.steps[:first].any()
    assert cooling.steps.sum() == 10**6
    regions = blocks.blocks_of_groups(problem, best.labels, 1, Run(), records)
    levels = slice(first, LEVELS)
    found, late = anneal.anneal_levels(problem, best.labels, regions, lists, cooling, levels, Run(), True)
    assert not late
    changed = 0
    for region in range(regions.max() + 1):
        rows = np.flatnonzero(regions == region)
        before, after = (
            _core.sse(problem.points[rows], _core.by_first_appearance(labels[rows]))
            for labels in (best.labels, found)
        )
        assert after <= before
        changed += after < before
    assert changed


def test_annealing_in_blocks_is_as_good_as_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, start = from_mdav(census_like(3_000), 3)
    whole = Anneal(2_000 * 3_000)(problem, start, Run())
    monkeypatch.setattr(blocks, "ONE_BLOCK_RECORDS", 800)
    cut = Anneal(2_000 * 3_000)(problem, start, Run())
    assert cut.sse < 1.02 * whole.sse


def test_annealing_beats_mdav_on_data_of_every_kind() -> None:
    rng = np.random.default_rng(8)
    shapes = {
        "lognormal": np.exp(rng.normal(size=(600, 5)) @ rng.normal(size=(5, 5)) * 0.5),
        "clumps": rng.normal(size=(20, 3))[rng.integers(0, 20, 600)] * 4 + rng.normal(size=(600, 3)),
        "counts": np.round(rng.gamma(2.0, 3.0, size=(600, 4))),
        "uniform": rng.random((600, 2)),
        "heavy tails": rng.standard_t(2, size=(600, 4)),
    }
    for name, x in shapes.items():
        for k in (3, 10):
            problem, start = from_mdav(in_units(x), k)
            costs = [Anneal(2_000 * 600)(problem, start, Run(seed=seed)).sse for seed in range(3)]
            assert np.median(costs) < 0.95 * start.sse, (name, k)


@pytest.mark.parametrize(
    ("name", "x"),
    [
        ("all equal", np.full((60, 3), 7.0)),
        ("many duplicates", np.repeat(np.arange(6.0).reshape(3, 2), 20, axis=0)),
        ("duplicates and a few others", np.concatenate([np.zeros((50, 2)), np.eye(2)[[0, 1, 0, 1, 0]]])),
        ("far outlier", np.concatenate([fixed_points(60, 3), [[1e9, 1e9, 1e9]]])),
        ("two far clumps", np.concatenate([fixed_points(30, 2), fixed_points(30, 2) + 1e12])),
        ("tiny", fixed_points(60, 3) * 1e-150),
        ("huge", fixed_points(60, 3) * 1e140),
        ("one attribute", fixed_points(60, 1)),
        ("two hundred attributes", fixed_points(60, 200)),
        ("one attribute varies", np.concatenate([fixed_points(60, 1), np.zeros((60, 4))], axis=1)),
    ],
)
@pytest.mark.parametrize("method", ["descent", "anneal:steps=30000", "auto"])
def test_bad_inputs_have_defined_results(name: str, x: Points, method: str) -> None:
    for k in (2, 5, 29, 31, 40):
        problem = Problem(np.ascontiguousarray(x), k)
        found = solve(stage_of(method), problem, one_group(problem), Run(effort="fast"))
        sizes = np.bincount(found.labels)
        assert sizes.min() >= k
        assert sizes.max() < 2 * k or len(sizes) == 1, k
        assert found.sse <= solve(Mdav(), problem, one_group(problem), Run()).sse, k


def test_far_outliers_do_not_hide_what_can_be_gained() -> None:
    x = fixed_points(400, 3)
    problem, start = from_mdav(np.concatenate([x, [[1e6, 0.0, 0.0]]]), 4)
    alone, alone_start = from_mdav(x, 4)

    def beside_outlier(partition: Partition) -> float:
        others = partition.labels != partition.labels[400]
        return objective.sse(problem.points[others], partition.labels[others])

    # Descent from two starts ends in two local optima; annealing forgets its start.
    for stage, share in ((Descent(), 1.15), (Anneal(400_000), 1.03)):
        found = stage(problem, start, Run())
        assert beside_outlier(found) < 0.97 * beside_outlier(start)
        assert beside_outlier(found) < share * stage(alone, alone_start, Run()).sse


def test_cooling_follows_the_data() -> None:
    x = census_like(1_000)
    for factor in (1.0, 1e-3, 1e6):
        problem, start = from_mdav(np.ascontiguousarray(x * factor), 3)
        lists = near_lists(problem, list_length(1_000, 3), Run())
        cooling = schedule(problem, lists, start.sse, 100_000)
        assert cooling.steps.sum() == 100_000
        assert (np.diff(cooling.temperatures) < 0).all()
        assert (np.diff(cooling.active) >= 0).all()
        assert cooling.active[0] >= 11
        assert cooling.active[-1] > 900
        expected = 0.01 * start.sse / 1_000
        assert cooling.temperatures[-1] == pytest.approx(expected, rel=0.1)


def test_lengths_grow_and_spend_the_steps() -> None:
    assert lengths_of_anneals(100, 1_000, True) == [100]
    for times, steps in ((1, 10**8), (2, 12 * 10**7), (3, 27 * 10**7), (5, 10**9)):
        short, *long = lengths = lengths_of_anneals(steps, 1_000, True)
        assert len(long) == times
        assert long == [long[0]] * times
        assert 0 <= long[0] - GROWTH * short < GROWTH
        assert steps - len(lengths) <= sum(lengths) <= steps
    assert len(lengths_of_anneals(10**12, 20, True)) == 1 + MOST_REPEATED
    assert lengths_of_anneals(10**10, 100_000, False) == [10_000_000, 9_990_000_000]


@pytest.mark.parametrize("steps", [0, -5, 10**13])
def test_impossible_numbers_of_steps_are_refused(steps: int) -> None:
    with pytest.raises(SettingsError, match="steps"):
        Anneal(steps)


@pytest.mark.parametrize("stage", [Descent(), Anneal(10**9)])
def test_the_deadline_holds_for_large_groups_and_wide_data(stage: Descent | Anneal) -> None:
    """Far beyond the deadline would be minutes: the watch must be looked at inside a record's look."""
    for n, p, k in ((3_000, 4, 400), (1_000, 300, 3)):
        problem, start = from_mdav(fixed_points(n, p), k)
        begun = process_time()  # which other processes do not add to
        found = stage(problem, start, Run(seconds=0.3))
        assert process_time() - begun < 5.0
        if k == 400 or isinstance(stage, Anneal):  # a descent of the others may be done by then
            assert found.truncated


@pytest.mark.parametrize("steps", [1, 5, 60])
def test_without_a_deadline_nothing_is_late(steps: int) -> None:
    """Not even blocks so dense that they get no steps while others are hot."""
    dense = fixed_points(14_000, 4)
    dense[:7_000] *= 1e-4
    problem, start = from_mdav(dense, 4)
    assert not Anneal(steps * 14_000)(problem, start, Run()).truncated


def test_a_cancelled_resplit_returns_the_start() -> None:
    problem = Problem(census_like(20_000), 3)
    found = Descent()(problem, one_group(problem), cancelled_in_a_kernel())
    assert found.truncated
    assert found.labels.max() == 0


# --- auto -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "k", "start"),
    [
        ((50, 1), 3, "univariate"),
        ((12, 2), 3, "exhaustive"),
        ((50, 2), 30, "mdav"),
        ((500, 2), 3, "mdav+anneal:steps=500000"),
        ((2_999, 2), 3, "mdav+anneal:steps=2999000"),
        ((3_000, 2), 3, "mdav+adaptive:steps=3000000"),
        ((6_000, 2), 5, "mdav+anneal:steps=6000000"),
        ((6_001, 2), 5, "mdav+descent+anneal:steps=6001000"),
        ((200_000, 2), 3, "mdav+adaptive:steps=100000000"),
        ((200_001, 2), 3, "blocks+adaptive:steps=100000000"),
        ((200_001, 2), 5, "blocks+anneal:steps=100000000"),
        ((600_000, 2), 3, "blocks+descent:size=30000"),
    ],
)
def test_auto_says_what_it_chose_and_the_recipe_makes_it(
    shape: tuple[int, int], k: int, start: str
) -> None:
    problem = Problem(np.zeros(shape), k)
    choice = choose(problem, Run(effort="fast"))
    assert choice.recipe == start
    assert choice.stage == stage_of(choice.recipe)
    assert choice.reason


def test_auto_fits_into_its_seconds() -> None:
    problem = Problem(census_like(1_000), 3)
    few, many = (choose(problem, Run(seconds=seconds)).recipe for seconds in (0.1, 1e6))
    assert int(few.split("=")[1]) < int(many.split("=")[1]) == steps_of_run(problem, Run())
    assert choose(problem, Run(seconds=1e-6)).recipe == "mdav+descent"


def test_a_short_anneal_after_a_descent_begins_warm() -> None:
    problem = Problem(np.zeros((20_000, 5)), 5)
    choice = choose(problem, Run(seconds=1.5))
    assert choice.recipe.startswith("mdav+descent+anneal:steps=")
    assert choice.recipe.endswith(":first=32")
    assert choice.stage == stage_of(choice.recipe)
    x = census_like(7_000)
    problem, start = from_mdav(x, 5)
    start = solve(Descent(), problem, start, Run())
    found = [
        Anneal(100 * 7_000, first=32)(problem, start, Run(seed=2, threads=threads)) for threads in (1, 2)
    ]
    assert np.array_equal(found[0].labels, found[1].labels)
    assert found[0].sse < 0.99 * start.sse
    with pytest.raises(SettingsError, match="first"):
        Anneal(first=128)


def test_the_recipe_of_auto_gives_the_same_groups() -> None:
    problem = Problem(census_like(800), 4)
    chosen = solve(Auto(), problem, one_group(problem), Run(seed=3, effort="fast"))
    again = solve(stage_of(chosen.recipe), problem, one_group(problem), Run(seed=3))
    assert np.array_equal(chosen.labels, again.labels)


@pytest.mark.parametrize(
    ("shape", "k", "tried"),
    [
        ((100, 13), 5, True),
        ((101, 2), 5, False),
        ((400, 13), 2, True),
        ((400, 4), 3, True),
        ((400, 5), 3, False),
        ((30, 6), 6, True),
        ((31, 6), 6, False),
        ((30, 6), 9, False),
    ],
)
def test_auto_tries_to_prove_the_optimum_of_small_data(shape: tuple[int, int], k: int, tried: bool) -> None:
    problem = Problem(np.random.default_rng(1).normal(size=shape), k)
    steps = 10_000 * shape[0]
    choice = choose(problem, Run())
    expected = f"mdav+anneal:steps={steps}" + ("+exact:nodes=200:work=60000000" if tried else "")
    assert choice.recipe == expected
    assert choice.stage == stage_of(choice.recipe)
    assert ("column generation" in choice.reason) == tried
    assert "exact" not in choose(problem, Run(effort="fast")).recipe
    assert "exact" not in choose(problem, Run(), prove=False).recipe
    assert "exact" not in choose(problem, Run(effort="best", seconds=1e9), prove=False).recipe
    assert ("exact" in choose(problem, Run(effort="best")).recipe) == (tried or k <= 5)


def test_proofs_fit_into_seconds_and_shares() -> None:
    problem = Problem(np.random.default_rng(2).normal(size=(50, 3)), 3)

    def work(run: Run, of: int = 0) -> int:
        _, _, found = choose(problem, run, of).recipe.partition(":work=")
        return int(found or 0)

    assert work(Run()) == work(Run(seconds=1e6)) == 60_000_000
    assert 0 < work(Run(seconds=1.0)) < 0.8 * 30_000_000
    assert work(Run(seconds=0.05)) == 0
    assert work(Run(), of=100) == 30_000_000
    assert work(Run(), of=10_000) == 0
    part = Run()
    part.share = 0.25
    assert work(part) == 15_000_000


def test_small_data_are_proven_optimal_and_runs_agree() -> None:
    problem = Problem(np.random.default_rng(3).normal(size=(41, 6)), 3)
    found = [solve(Auto(), problem, one_group(problem), Run(seed=4, threads=threads)) for threads in (1, 2)]
    assert np.array_equal(found[0].labels, found[1].labels)
    assert found[0].bound == found[1].bound
    assert not found[0].truncated
    assert is_optimal(gap_above(found[0].bound, found[0].sse))
    again = solve(stage_of(found[0].recipe), problem, one_group(problem), Run(seed=4))
    assert np.array_equal(found[0].labels, again.labels)


def test_what_a_failed_proof_found_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """With next to no work: a bound, groups no worse than those of annealing, and the same again."""
    problem = Problem(np.random.default_rng(5).normal(size=(90, 8)), 5)
    monkeypatch.setattr(auto, "WORK_PER_SECOND", 500_000)
    plain = solve(Auto(prove=False), problem, one_group(problem), Run())
    found, again = (solve(Auto(), problem, one_group(problem), Run()) for _ in range(2))
    assert np.array_equal(found.labels, again.labels)
    assert not found.truncated
    assert 0.0 < found.bound < found.sse <= plain.sse


def test_efforts_do_more_and_more() -> None:
    problem = Problem(np.zeros((1_000, 3)), 3)
    steps = [steps_of_run(problem, Run(effort=effort)) for effort in ("fast", "balanced", "best")]
    assert steps == [1_000_000, 10_000_000, 1_000_000_000]


def test_descent_in_blocks_improves_and_does_not_depend_on_threads() -> None:
    problem = Problem(census_like(9_000), 3)
    start = solve(Within(Mdav(), by=KdBlocks()), problem, one_group(problem), Run())
    found = [solve(Descent(2_000), problem, start, Run(seed=1, threads=threads)) for threads in (1, 2)]
    assert np.array_equal(found[0].labels, found[1].labels)
    whole = solve(Descent(), problem, start, Run())
    assert whole.sse < found[0].sse < start.sse
    with pytest.raises(SettingsError, match="size"):
        Descent(0)


def test_very_large_data_are_polished_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(census_like(8_000), 3)
    start = solve(Mdav(), problem, one_group(problem), Run())
    monkeypatch.setattr(anneal, "BLOCKWISE_FROM_RECORDS", 3_000)
    found = solve(Anneal(800_000), problem, start, Run(seed=1))
    assert found.sse < 0.95 * start.sse


def test_blocks_then_annealing_across_their_borders() -> None:
    x = census_like(9_000)
    problem = Problem(x, 3)
    start = solve(Within(Mdav(), by=KdBlocks()), problem, one_group(problem), Run())
    mdav = solve(Mdav(), problem, one_group(problem), Run())
    found = solve(
        chain(Within(Mdav(), by=KdBlocks()), Anneal(500 * 9_000)), problem, one_group(problem), Run()
    )
    assert start.sse > mdav.sse
    assert found.sse < 0.95 * mdav.sse
