"""Every kernel against the oracle written from the paper: the very same labels."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from microagg import _core
from microagg.methods.fixed_size import Cbfs, Centroid, Diameter, MaximumDistance, Mdav
from microagg.methods.objective import sse_of_parts
from microagg.methods.paths import GroupTour, NearestNext, PathCut
from microagg.methods.recipe import stage_of
from microagg.methods.run import Run
from microagg.methods.stage import Stage, evaluate, one_group, solve
from microagg.model import Labels, Problem
from tests.differential.adversarial import KINDS, cases, points
from tests.oracles import exhaustive, objective, paths, peel, univariate

PEELS = {
    "mdav": (Mdav(), peel.mdav),
    "mdav:stop=2k": (Mdav(stop="2k"), lambda x, k: peel.mdav(x, k, stop="2k")),
    "md": (MaximumDistance(), peel.md),
    "cbfs": (Cbfs(), peel.cbfs),
    "mdav:stop=2k:leftovers=jointly": (Mdav("2k", leftovers="jointly"), peel.mdav_jointly),
    "mdav:first=earlier": (Mdav(first="earlier"), peel.mdav_earlier_first),
    "md:leftovers=record": (
        MaximumDistance(leftovers="record"),
        lambda x, k: peel.md(x, k, leftovers="record"),
    ),
    "md:shared=in-turns": (
        MaximumDistance("in-turns"),
        lambda x, k: peel.md_in_turns(x, k, leftovers="centroid"),
    ),
    "md:shared=in-turns:leftovers=record": (MaximumDistance("in-turns", "record"), peel.md_in_turns),
    "cbfs:divisor=all": (Cbfs("all"), peel.cbfs_divided_by_all),
    "diameter": (Diameter(), peel.diameter),
    "centroid": (Centroid(), peel.centroid),
}
LEVELS = [level for level in ("baseline", "avx2", "avx512") if _core.force_simd_level(level)]


@pytest.fixture(autouse=True)
def _best_level() -> Iterator[None]:
    yield
    assert _core.force_simd_level(LEVELS[-1])


def test_the_readings_of_a_recipe_are_those_compared_here() -> None:
    for name, (stage, _) in PEELS.items():
        assert stage_of(name) == stage, name


def labels_of(stage: Stage, x: NDArray[np.float64], k: int, threads: int = 1) -> Labels:
    problem = Problem(x, k)
    return solve(stage, problem, one_group(problem), Run(threads=threads)).labels


@pytest.mark.parametrize("name", PEELS)
def test_peel(name: str) -> None:
    stage, oracle = PEELS[name]
    for kind, x, k in cases(108, 60, seed=1):
        found, expected = labels_of(stage, x, k), oracle(x, k)
        assert np.array_equal(found, expected), (kind, x.shape, k)


@pytest.mark.parametrize("name", PEELS)
def test_peel_on_more_records(name: str) -> None:
    stage, oracle = PEELS[name]
    records = 150 if name.partition(":")[0] in ("md", "diameter") else 400
    for kind in KINDS:
        x = points(kind, np.random.default_rng(2), records, 4)
        assert np.array_equal(labels_of(stage, x, 4), oracle(x, 4)), kind


@pytest.mark.parametrize("kind", KINDS)
def test_levels_agree(kind: str) -> None:
    x = points(kind, np.random.default_rng(3), 3000, 7)
    for stage in (Mdav(), Centroid(), PathCut(NearestNext()), PathCut(NearestNext(), cyclic=True)):
        found = []
        for level in LEVELS:
            assert _core.force_simd_level(level)
            found.append(labels_of(stage, x, 5))
        assert all(np.array_equal(labels, found[0]) for labels in found)


def test_nearest_next() -> None:
    for kind, x, k in cases(108, 60, seed=4):
        found = NearestNext()(Problem(x, k), one_group(Problem(x, k)), Run())
        assert np.array_equal(found, paths.nearest_next(x)), (kind, x.shape)
        found = NearestNext("pair")(Problem(x, k), one_group(Problem(x, k)), Run())
        assert np.array_equal(found, paths.nearest_next_from_pair(x)), (kind, x.shape)


def test_group_tour() -> None:
    for kind, x, k in cases(108, 60, seed=5):
        problem, labels = Problem(x, k), peel.cbfs(x, k)
        for tour, first in (
            (GroupTour(), paths.farthest_from_centroid(x)),
            (GroupTour("pair"), paths.farthest_pair(x)[0] if len(x) > 1 else 0),
            (GroupTour("second of pair"), paths.farthest_pair(x)[1] if len(x) > 1 else 0),
        ):
            found = tour(problem, evaluate(problem, labels), Run())
            assert np.array_equal(found, paths.group_tour(x, labels, first)), (kind, x.shape, k)


@pytest.mark.parametrize(
    ("method", "groups", "first"),
    [
        ("md-mhm", peel.md, 0),
        ("md-mhm:start=second", peel.md, 1),
        ("md-mhm:shared=in-turns:leftovers=record", peel.md_in_turns, 0),
        ("mdav-mhm:first=earlier", peel.mdav_earlier_first, None),
        ("cbfs-mhm:divisor=all", peel.cbfs_divided_by_all, None),
    ],
)
def test_readings_of_paths_through_groups(method: str, groups: object, first: int | None) -> None:
    """The recipe's partition: the better of the groups and the best cut of the path through them."""
    rng = np.random.default_rng(41)
    for n, k in ((40, 3), (57, 4), (64, 5), (45, 2)):
        x = rng.normal(size=(n, 3))
        labels = groups(x, k)  # type: ignore[operator]
        begin = paths.farthest_from_centroid(x) if first is None else paths.farthest_pair(x)[first]
        cut = paths.mhm(x, paths.group_tour(x, labels, begin), k)
        assert np.array_equal(labels_of(stage_of(method), x, k), cut), (n, k)


def test_npn_from_the_farthest_pair() -> None:
    rng = np.random.default_rng(42)
    for n, k in ((40, 3), (57, 4), (64, 5)):
        x = rng.normal(size=(n, 3))
        expected = paths.mhm(x, paths.nearest_next_from_pair(x), k)
        assert np.array_equal(labels_of(stage_of("npn-mhm:start=pair"), x, k), expected)


@pytest.mark.parametrize("cyclic", [False, True])
def test_path_cut(cyclic: bool) -> None:
    oracle = paths.tour_to_assignment if cyclic else paths.mhm
    rng = np.random.default_rng(6)
    for kind, x, k in cases(108, 40, seed=7):
        order = rng.permutation(len(x)).astype(np.int32)
        found = _core.path_cut(x, order, k, cyclic, _core.Deadline.IGNORE, _core.Watch())
        expected = oracle(x, order, k)
        if kind == "normal":
            assert np.array_equal(found, expected), (x.shape, k)
        # On tied data several cuts are best, and rounding picks among them: the costs agree.
        scale = objective.sst(x) + 1e-300
        assert objective.sse(x, found) / scale == pytest.approx(
            objective.sse(x, expected) / scale, rel=1e-9, abs=1e-13
        ), (kind, x.shape, k)


def test_univariate() -> None:
    for kind, x, k in cases(450, 80, seed=8):
        column = np.ascontiguousarray(x[:, 0])
        found, sse = _core.optimal_univariate(column, k, _core.Watch())
        expected, best = univariate.optimal_univariate(column, k)
        if kind == "normal":
            assert np.array_equal(found, expected)
        cost = univariate_cost(column, found)
        assert cost <= best * (1 + 1e-12), (kind, len(column), k)
        assert sse == pytest.approx(cost, rel=1e-12, abs=1e-300), (kind, len(column), k)
        assert sse == _core.sse(column.reshape(-1, 1), found), (kind, len(column), k)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [2, 3, 10, 37])
def test_univariate_on_more_values(kind: str, k: int) -> None:
    column = points(kind, np.random.default_rng(9), 200, 1)[:, 0].copy()
    found, sse = _core.optimal_univariate(column, k, _core.Watch())
    _, best = univariate.optimal_univariate(column, k)
    assert univariate_cost(column, found) <= best * (1 + 1e-12)
    assert sse == pytest.approx(univariate_cost(column, found), rel=1e-12, abs=1e-300)
    assert sse == _core.sse(column.reshape(-1, 1), found)


def test_the_cost_of_parts_is_that_of_the_whole() -> None:
    rng = np.random.default_rng(12)
    for kind, x, k in cases(300, 80, seed=12):
        labels = _core.by_first_appearance(rng.integers(0, len(x) // k + 1, len(x)).astype(np.int32))
        block = rng.integers(0, 4, labels.max() + 1)[labels]
        parts = [
            _core.sse_and_rest(
                np.ascontiguousarray(x[block == at]), _core.by_first_appearance(labels[block == at])
            )
            for at in np.unique(block)
        ]
        assert sse_of_parts(parts) == _core.sse(x, labels), (kind, x.shape, k)


def test_a_column_is_scaled_alike_alone_and_beside_others() -> None:
    for kind, x, _ in cases(300, 3_000, seed=13):
        for scale in (_core.Scale.ZSCORE, _core.Scale.RANGE, _core.Scale.ROBUST, _core.Scale.RANK):
            beside, usable = _core.standardise(np.ascontiguousarray(np.repeat(x[:, :1], 3, axis=1)), scale)
            alone, own = _core.standardise(np.ascontiguousarray(x[:, :1]), scale)
            assert np.array_equal(beside[:, :1], alone), (kind, scale)
            assert (usable == own[0]).all()


def univariate_cost(column: NDArray[np.float64], labels: Labels) -> float:
    """The objective in long doubles, group by group."""
    wide = column.astype(np.longdouble)
    groups = (wide[labels == group] for group in range(int(labels.max()) + 1))
    return float(sum(((members - members.mean()) ** 2).sum() for members in groups))


def test_exhaustive() -> None:
    for kind, x, k in cases(270, 9, seed=10):
        found = _core.exhaustive(x, k, _core.Watch())
        _, best = exhaustive.exhaustive(x, k)
        assert objective.sse(x, found) <= best * (1 + 1e-12) + 1e-300, (kind, x.shape, k)


def test_univariate_is_exhaustive_in_one_dimension() -> None:
    for _, x, k in cases(90, 12, seed=11):
        column = np.ascontiguousarray(x[:, :1])
        fast, _ = _core.optimal_univariate(column[:, 0].copy(), k, _core.Watch())
        slow = _core.exhaustive(column, k, _core.Watch())
        assert objective.sse(column, fast) <= objective.sse(column, slow) * (1 + 1e-12) + 1e-300


def exact_sse(x: NDArray[np.float64], labels: Labels) -> float:
    """In rational numbers: no rounding before the last step."""
    total = Fraction(0)
    for group in range(int(labels.max()) + 1):
        for column in x[labels == group].T:
            values = [Fraction(value) for value in column]
            mean = sum(values, Fraction(0)) / len(values)
            total += sum(((value - mean) ** 2 for value in values), Fraction(0))
    return float(total)


def test_objective() -> None:
    rng = np.random.default_rng(12)
    for kind, x, _ in cases(144, 60, seed=13):
        labels = objective.canonical(rng.integers(0, 5, size=len(x)).astype(np.int32))
        assert np.array_equal(_core.by_first_appearance(labels), labels)
        assert _core.sse(x, labels) == pytest.approx(exact_sse(x, labels), rel=1e-13, abs=0), kind
        everything = np.zeros(len(x), dtype=np.int32)
        assert _core.sst(x) == pytest.approx(exact_sse(x, everything), rel=1e-13, abs=0), kind
        assert np.array_equal(_core.group_sizes(labels), np.bincount(labels))
