"""The kernels of CMP98, TFRP07, CGS22 and ICSM15 against the oracles written from the papers.

Where a method decides by comparing sums (Ward's joins, exchanges, cycles), exact ties are broken by
rounding, which differs between any two ways of adding up: labels are compared on data without ties.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import microagg
from microagg import _core
from microagg.methods.decomposition import Decomposition, RestrictedMaster
from microagg.methods.fixed_size import Centroid, Diameter, Mdav, Tfrp
from microagg.methods.local_search import Cycle, Dissolve, Pool, TwoSwap
from microagg.methods.neighbours import LEAVES
from microagg.methods.recipe import stage_of
from microagg.methods.run import Run
from microagg.methods.sorting import ByColumn, ByComponent, ByZScores, FixedRuns
from microagg.methods.stage import Stage, Within, chain, evaluate, one_group, solve
from microagg.methods.variable_size import KWard, MstCut, Vmdav
from microagg.model import Labels, Problem
from tests.differential.adversarial import cases
from tests.oracles import (
    decomposition,
    icsm,
    k_ward,
    mst,
    objective,
    paths,
    peel,
    sorting,
    tfrp,
    two_swap,
    v_mdav,
)

Points = NDArray[np.float64]


def labels_of(stage: Stage, x: Points, k: int) -> Labels:
    problem = Problem(x, k)
    return solve(stage, problem, one_group(problem), Run()).labels


def refined(stage: Stage, x: Points, k: int, labels: Labels) -> Labels:
    problem = Problem(x, k)
    return solve(stage, problem, evaluate(problem, labels), Run()).labels


def untied(count: int, most: int, seed: int) -> list[tuple[Points, int]]:
    return [(x, k) for kind, x, k in cases(count * 9, most, seed) if kind == "normal"]


def test_tfrp_1() -> None:
    for kind, x, k in cases(180, 60, seed=21):
        assert np.array_equal(labels_of(Tfrp(), x, k), tfrp.tfrp_1(x, k)), (kind, x.shape, k)


def test_tfrp() -> None:
    for x, k in untied(60, 60, seed=22):
        found = labels_of(chain(Tfrp(), Dissolve()), x, k)
        assert np.array_equal(found, tfrp.tfrp(x, k)), (x.shape, k)


@pytest.mark.parametrize("start", [peel.mdav, peel.centroid])
def test_dissolve_after_others(start: object) -> None:
    for x, k in untied(40, 50, seed=23):
        labels = start(x, k)  # type: ignore[operator]
        expected = tfrp.dissolve(x, labels, k, tfrp.tfrp_1)
        assert np.array_equal(refined(Dissolve(), x, k, labels), expected), (x.shape, k)


def test_dissolve_with_many_groups() -> None:
    """Enough groups for a tree of their centroids, which move as groups dissolve."""
    rng = np.random.default_rng(48)
    for n, p, k in ((700, 2, 3), (900, 4, 4), (600, 9, 2), (500, 1, 2)):
        x = rng.normal(size=(n, p)) * (1 + 9 * (rng.random((n, 1)) < 0.1))
        labels = tfrp.tfrp_1(x, k)
        expected = tfrp.dissolve(x, labels, k, tfrp.tfrp_1)
        assert np.array_equal(refined(Dissolve(), x, k, labels), expected), (n, p, k)


@pytest.mark.parametrize(
    ("method", "oracle"), [("centroid-plus", peel.centroid), ("diameter-plus", peel.diameter)]
)
def test_the_second_phase_splits_again_with_the_method_s_own_first(method: str, oracle: object) -> None:
    """TFRP07, appendix C: large groups go through phase I of the method they came from."""
    told_apart = 0
    for x, k in untied(40, 100, seed=40):
        labels = oracle(x, k)  # type: ignore[operator]
        expected = tfrp.dissolve(x, labels, k, oracle)
        told_apart += not np.array_equal(expected, tfrp.dissolve(x, labels, k, tfrp.tfrp_1))
        assert np.array_equal(labels_of(stage_of(method), x, k), expected), (x.shape, k)
    assert told_apart > 0


def test_spanning_tree() -> None:
    for kind, x, k in cases(360, 50, seed=24):
        found = labels_of(MstCut(), x, k)
        if kind in ("normal", "offset", "tiny", "outlier"):
            assert np.array_equal(found, mst.mst_cut(x, k)), (kind, x.shape, k)
        assert np.bincount(found).min() >= min(k, len(x))


@pytest.mark.parametrize(("resplit", "oracle"), [(Diameter(), mst.m_d), (Centroid(), mst.m_c)])
def test_spanning_tree_methods(resplit: Stage, oracle: object) -> None:
    for x, k in untied(40, 60, seed=25):
        found = labels_of(chain(MstCut(), Within(resplit)), x, k)
        assert np.array_equal(found, oracle(x, k)), (x.shape, k)  # type: ignore[operator]


@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0, 1.7])
def test_v_mdav(gamma: float) -> None:
    for kind, x, k in cases(135, 50, seed=26):
        found = labels_of(Vmdav(gamma), x, k)
        assert np.array_equal(found, v_mdav.v_mdav(x, k, gamma)), (kind, x.shape, k)


def test_groups_are_numbered_as_they_are_formed() -> None:
    for kind, x, k in cases(180, 50, seed=41):
        problem = Problem(x, k)
        assert np.array_equal(Mdav().formed(problem, Run()), peel.mdav(x, k, formed=True)), (kind, k)
        assert np.array_equal(Vmdav(0.3).formed(problem, Run()), v_mdav.v_mdav(x, k, 0.3, formed=True)), (
            kind,
            k,
        )


def test_two_swap_keeps_the_numbers_of_groups() -> None:
    # In pairs, two exchanges make the same groups with the numbers the other way round.
    for x, k in [(x, k) for x, k in untied(40, 40, seed=42) if k > 2]:
        formed = peel.mdav(x, k, formed=True)
        found, _ = _core.two_swap(x, formed, _core.Watch(), _core.Numbering.KEPT)
        assert np.array_equal(found, two_swap.exchanged(x, formed)), (x.shape, k)


@pytest.mark.parametrize("first_swap", [True, False])
@pytest.mark.parametrize("last_swap", [True, False])
def test_decomposition(first_swap: bool, last_swap: bool) -> None:
    rng = np.random.default_rng(43)
    for _ in range(5):
        n, p, k = int(rng.integers(20, 34)), int(rng.integers(2, 5)), int(rng.integers(3, 5))
        x = np.ascontiguousarray(rng.normal(size=(n, p)))
        s = -(-n // 8)
        expected, subsets = decomposition.decomposition(x, k, s, first_swap, last_swap)
        assert np.bincount(subsets).max() <= 12
        for keep in ("yes", "no"):
            recipe = f"decomposition:s={s}:first_swap={first_swap}:last_swap={last_swap}:keep={keep}"
            found = labels_of(stage_of(recipe.replace("True", "yes").replace("False", "no")), x, k)
            assert np.array_equal(found, expected), (n, p, k, s, keep)


def test_blocks_of_a_decomposition_from_the_outside_inwards() -> None:
    x = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1], [-3.0], [-3.1]])
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3], dtype=np.int32)
    problem = Problem(x, 2)
    for order, expected in (("formed", [0, 0, 1, 1]), ("inwards", [1, 1, 0, 0])):
        stage = Decomposition(RestrictedMaster(), s=2, order=order)  # type: ignore[arg-type]
        assert np.array_equal(stage.blocks(problem, groups), np.repeat(expected, 2))


def test_axes() -> None:
    for kind, x, _ in cases(180, 40, seed=27):
        if len(x) < 3:
            continue
        assert np.array_equal(ByColumn(1).values(x)[0], sorting.order_by_column(x, 0))
        if kind == "normal":
            assert ByZScores().values(x)[0] == pytest.approx(sorting.order_by_zscores(x), abs=1e-9)
            # Two weights of the same size and opposite sign (p = 2) leave the direction open.
            found, expected = ByComponent().values(x)[0], sorting.order_by_component(x)
            assert np.abs(found) == pytest.approx(np.abs(expected), abs=1e-9)


@pytest.mark.parametrize("descending", [False, True])
def test_fixed_runs(descending: bool) -> None:
    for kind, x, k in cases(180, 60, seed=28):
        values = sorting.order_by_column(x, 0)
        found = labels_of(FixedRuns(ByColumn(1), descending), x, k)
        assert np.array_equal(found, sorting.ufs(values, k, descending)), (kind, x.shape, k)


def test_k_ward_by_values() -> None:
    for x, k in untied(60, 40, seed=29):
        values = sorting.order_by_column(x, 0)
        extremes = k_ward.extremes_by_values(values, k)
        assert np.array_equal(labels_of(KWard(ByColumn(1)), x, k), k_ward.k_ward(x, k, extremes))
        projected = k_ward.k_ward(values.reshape(-1, 1), k, extremes)
        assert np.array_equal(labels_of(KWard(ByColumn(1), projected=True), x, k), projected)


@pytest.mark.parametrize("swap", [False, True])
def test_k_ward_by_distance(swap: bool) -> None:
    for x, k in untied(60, 40, seed=30):
        extremes = k_ward.extremes_by_distance(x, k, swap)
        assert np.array_equal(labels_of(KWard(swap=swap), x, k), k_ward.k_ward(x, k, extremes))


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_k_ward_with_a_choice_at_each_split(seed: int) -> None:
    """CMP98 leaves open which extreme comes first in each instance of step 1."""
    both_ways = 0
    for x, k in untied(30, 60, seed=43):
        drawn = np.random.default_rng(seed).integers(0, 2, len(x), dtype=np.int32)
        expected = k_ward.k_ward(x, k, k_ward.extremes_by_distance(x, k, drawn=drawn))
        problem = Problem(x, k)
        found = solve(stage_of("mdo-md:swap=drawn"), problem, one_group(problem), Run(seed=seed)).labels
        assert np.array_equal(found, expected), (x.shape, k)
        fixed = (labels_of(KWard(swap=swap), x, k) for swap in (False, True))
        both_ways += all(not np.array_equal(found, labels) for labels in fixed)
    assert both_ways > 0


def test_two_swap() -> None:
    for x, k in untied(60, 50, seed=31):
        start = peel.mdav(x, k)
        assert np.array_equal(refined(TwoSwap(), x, k, start), two_swap.two_swap(x, start)), (x.shape, k)


def test_two_swap_ends_in_a_local_optimum_on_ties_too() -> None:
    for kind, x, k in cases(90, 30, seed=32):
        labels = refined(TwoSwap(), x, k, peel.cbfs(x, k))
        total = objective.sse(x, labels)
        again = objective.sse(x, two_swap.two_swap(x, labels))
        assert again >= total * (1 - 1e-9) - 1e-300, (kind, x.shape, k)


@pytest.mark.parametrize("size", [3, 100])
def test_pool(size: int) -> None:
    for x, k in untied(60, 50, seed=33):
        start = random_partition(x, k)
        found = refined(Pool(size), x, k, start)
        assert np.array_equal(found, objective.canonical(icsm.pool_pass(x, start, k, size))), (x.shape, k)


def test_cycle() -> None:
    shifted = 0
    for x, k in untied(60, 30, seed=34):
        start = labels_of(Mdav("2k"), x, k)
        moves = icsm.best_cycle(x, start, k)
        expected = start.copy()
        for record, group in moves or []:
            expected[record] = group
        shifted += bool(moves)
        assert np.array_equal(refined(Cycle(tries=1), x, k, start), objective.canonical(expected)), (
            x.shape,
            k,
        )
    assert shifted > 10


def test_cycle_with_neighbour_lists_keeps_the_contract() -> None:
    x = np.random.default_rng(35).normal(size=(300, 3))
    start = labels_of(Mdav(), x, 3)
    lists = _core.neighbour_lists(x, 5, LEAVES, 1, _core.Watch())
    found = _core.best_cycle(x, start, 3, 3, lists, _core.Watch())
    assert np.bincount(found).min() >= 3
    assert np.bincount(found).max() <= 5
    assert objective.sse(x, found) <= objective.sse(x, start)


def random_partition(x: Points, k: int) -> Labels:
    """Groups of k .. 2k−1 records without any sense: plenty to improve."""
    rng = np.random.default_rng(len(x))
    rows = rng.permutation(len(x))
    labels = np.empty(len(x), dtype=np.int32)
    groups = max(1, len(x) // k)
    labels[rows] = np.minimum(np.arange(len(x)) // k, groups - 1)
    return objective.canonical(labels)


def test_genetic_improves_its_first_population_and_nears_the_optimum_of_its_order() -> None:
    x = np.random.default_rng(36).normal(size=(400, 3))
    order = np.argsort(ByComponent().values(x)[0], kind="stable").astype(np.int32)
    best = _core.path_cut(x, order, 3, False, _core.Deadline.IGNORE, _core.Watch())
    first, last = (
        objective.sse(x, _core.genetic(x, order, 3, generations, 0, _core.Watch()))
        for generations in (0, 1000)
    )
    optimum = objective.sse(x, best)
    assert optimum * (1 - 1e-12) <= last < first
    assert last < optimum + 0.25 * (first - optimum)


def best_runs(values: Points, x: Points, k: int) -> float:
    """The SSE of the best cut of an order, for which a genetic search looks."""
    return objective.sse(x, paths.mhm(x, np.argsort(values, kind="stable"), k))


@pytest.mark.parametrize(
    ("method", "axis"),
    [
        ("genetic:generations=300", sorting.order_by_component),
        ("genetic:generations=300:axis=zscores", sorting.order_by_zscores),
        ("genetic:generations=300:axis=column:column=2", lambda x: sorting.order_by_column(x, 1)),
    ],
)
def test_genetic_cuts_the_order_it_is_given(method: str, axis: Callable[[Points], Points]) -> None:
    """CMP98, section 2.2: single-axis sorting, by a variable, the z-scores or the first component."""
    x = np.random.default_rng(44).normal(size=(90, 3))
    values = axis(x)
    labels = labels_of(stage_of(method), x, 3)
    along = labels[np.argsort(values, kind="stable")]
    assert np.count_nonzero(along[1:] != along[:-1]) == labels.max(), "groups are runs of that order"
    optimum = best_runs(values, x, 3)
    assert optimum * (1 - 1e-12) <= objective.sse(x, labels) < 1.1 * optimum


def test_genetic_with_individual_sorting() -> None:
    """CMP98, section 2.2: each variable by itself, with a partition of its own."""
    x = np.random.default_rng(45).normal(size=(80, 2))
    found = microagg.partition_each(x, 3, "genetic:generations=300", scale="none")
    for column, result in zip(x.T, found.results, strict=True):
        along = result.labels[np.argsort(column, kind="stable")]
        assert np.count_nonzero(along[1:] != along[:-1]) == result.labels.max()
        optimum = best_runs(column, column.reshape(-1, 1), 3)
        assert optimum * (1 - 1e-12) <= result.sse < 1.2 * optimum


def test_icsm_to_the_letter() -> None:
    """ICSM15, Algorithm 2: one group tried for a cycle, a pool of given size, every group looked at."""
    for x, k in untied(24, 40, seed=46):
        labels = peel.mdav(x, k, "2k")
        while True:
            before = objective.sse(x, labels)
            simple = icsm.pool_pass(x, closed_cut(x, labels, k), k, pool=5)
            if objective.sse(x, simple) < before:
                labels = simple
                continue
            moves = icsm.best_cycle(x, labels, k)
            if moves is None:
                break
            for record, group in moves:
                labels[record] = group
            labels = objective.canonical(labels)
        found = labels_of(stage_of("icsm:tries=1:pool=5:lists=no"), x, k)
        assert np.array_equal(found, labels), (x.shape, k)


def closed_cut(x: Points, labels: Labels, k: int) -> Labels:
    """The best cut of the closed path through the groups, or the groups where it is no better."""
    tour = paths.group_tour(x, labels, paths.farthest_from_centroid(x))
    cut = paths.tour_to_assignment(x, tour, k)
    return cut if objective.sse(x, cut) < objective.sse(x, labels) else labels


@pytest.mark.parametrize("stage", [Pool(100, lists=False), Cycle(tries=1, lists=False)])
def test_icsm_without_lists_looks_at_every_group_of_many_records(stage: Stage) -> None:
    """Beyond 5,000 records, where lists would be used: the same labels as a kernel without any."""
    x = np.random.default_rng(47).normal(size=(5_100, 2))
    start = labels_of(Mdav("2k"), x, 3)
    none = np.empty((0, 0), dtype=np.int32)
    if isinstance(stage, Pool):
        expected = _core.pool_pass(x, start, 3, 100, none, _core.Watch())
    else:
        expected = _core.best_cycle(x, start, 3, 1, none, _core.Watch())
    assert np.array_equal(refined(stage, x, 3, start), expected)


def test_genetic_groups_improves_its_first_population() -> None:
    x = np.random.default_rng(37).normal(size=(300, 3))
    first, last = (
        objective.sse(x, _core.genetic_groups(x, 3, generations, 0, _core.Watch()))
        for generations in (0, 1000)
    )
    assert last < first


def test_distances_that_agree_only_in_their_roots() -> None:
    """Squared distances one unit in the last place apart have the same root: the farther must win."""
    for seed in range(40):
        angle = np.random.default_rng(seed).uniform(0, np.pi, 8)
        half = np.column_stack([np.cos(angle), np.sin(angle)])
        x = np.concatenate([half, -half])
        assert np.array_equal(labels_of(Vmdav(0.0), x, 3), v_mdav.v_mdav(x, 3, 0.0)), seed
        assert np.array_equal(labels_of(Tfrp(), x, 3), tfrp.tfrp_1(x, 3)), seed


def test_genetic_groups_with_nothing_but_full_groups() -> None:
    """Inherited groups of 2k−1 records leave stragglers no room."""
    for seed in range(100):
        x = np.random.default_rng(seed).normal(size=(7, 2))
        sizes = np.bincount(_core.genetic_groups(x, 2, 300, seed, _core.Watch()))
        assert sizes.min() >= 2
        assert sizes.max() <= 3


@pytest.mark.parametrize("axis", [None, ByComponent()])
def test_k_ward_on_equal_records(axis: ByComponent | None) -> None:
    x = np.ones((2000, 2))
    sizes = np.bincount(labels_of(KWard(axis), x, 3))
    assert sizes.min() >= 3
    assert sizes.max() < 6


def test_two_swap_ends_far_from_zero() -> None:
    """Gains that are nothing but rounding must not keep the search going."""
    x = 1e14 + np.random.default_rng(39).normal(size=(300, 3))
    start = labels_of(Mdav(), x, 3)
    found = refined(TwoSwap(), x, 3, start)
    assert np.bincount(found).min() >= 3
