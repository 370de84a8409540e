"""A certificate is believed only as far as its own arithmetic goes, whoever wrote it."""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
import math
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from numpy.typing import NDArray

from microagg.certificate import Checked, check, document, load
from microagg.certificate.arithmetic import scaled
from microagg.certificate.duals import Cuts, Duals
from microagg.certificate.search import Search
from microagg.errors import CertificateError, DataError, SettingsError
from microagg.model import Problem, ScaleName, Table
from microagg.prepare.units import to_points
from tests.oracles import columns as oracle
from tests.oracles.exhaustive import exhaustive
from tests.oracles.objective import canonical, sse
from tests.oracles.subsets import Group, admitted_groups, nearest_shares, raised, reduced_cost
from tests.refusals import refusal

Floats = NDArray[np.float64]
NONE = np.empty(0)


def sst(points: Floats) -> float:
    return sse(points - points[0], np.zeros(len(points), dtype=np.int32))


def points_of(rng: np.random.Generator, n: int) -> Floats:
    """Small data of some difficult kind."""
    p = int(rng.integers(1, 4))
    points = rng.normal(size=(n, p))
    kind = rng.integers(5)
    if kind == 0:
        points = np.round(2 * points)  # ties
    elif kind == 1:
        points = points[rng.integers(0, max(2, n // 2), size=n)]  # duplicates
    elif kind == 2:
        points[rng.integers(n)] += 100.0  # an outlier
    elif kind == 3:
        points = 1e6 + np.arange(n * p, dtype=np.float64).reshape(n, p) % 7  # a grid far from zero
    return np.ascontiguousarray(points)


def cuts_of(rng: np.random.Generator, n: int) -> list[Group]:
    sizes = [size for size in (3, 5) if size <= n]
    return [
        tuple(int(row) for row in rng.choice(n, size=rng.choice(sizes), replace=False))
        for _ in range(rng.integers(0, 4) if sizes else 0)
    ]


def some_partition(rng: np.random.Generator, n: int, k: int) -> NDArray[np.int32]:
    rows = rng.permutation(n)
    labels = np.minimum(np.arange(n) // k, n // k - 1)
    return canonical(labels[np.argsort(rows)])


def proven(
    points: Floats,
    k: int,
    leaves: list[Any],
    cuts: list[Group] | None = None,
    screens: list[Any] | None = None,
    labels: NDArray[np.int32] | None = None,
    bound: float = 0.0,
) -> Checked:
    """What is proven about unscaled points, of an optimal partition unless there is another."""
    labels = exhaustive(points, k)[0] if labels is None else labels
    cost = sse(points - points[0], labels)
    fields = document(
        points, k, "none", labels, cost, sst(points), bound, cuts or [], screens or [], leaves
    )
    return check(fields, points)


# --- the search ---


def found_groups(search: Search, duals: Duals, below: float) -> dict[Group, float]:
    """With the reduced costs that were computed."""
    groups = search.groups(duals, below, lambda _: None)
    listed = [tuple(row) for part in groups for row in part.members.tolist()]
    assert len(listed) == len(set(listed)), "a group twice"
    return dict(zip(listed, np.concatenate([duals.reduced(part) for part in groups]).tolist(), strict=True))


def test_search_finds_all_groups_below(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(300):
        with monkeypatch.context() as patch:
            if seed % 5 == 0:
                patch.setattr(Search, "CELLS", 8)
            check_search(seed)


def check_search(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(4, 10)), int(rng.integers(2, 5))
    n = max(n, k)
    points, cuts = points_of(rng, n), cuts_of(rng, n)
    shares = nearest_shares(points, k)
    unit = max(float(shares.mean()), 0.1)
    prices = rng.choice([0.5, 1.0, 1.5, 2.5]) * shares + rng.choice([0.0, 0.1, 1.0]) * unit * rng.normal(
        size=n
    )
    multipliers = rng.uniform(0.0, unit, size=rng.integers(0, len(cuts) + 1))
    pairs = [(int(i), int(j)) for i, j in (np.sort(rng.choice(n, 2, replace=False)) for _ in range(2))]
    apart, together = ((), ()) if seed % 3 else (pairs[:1], pairs[1:] if pairs[1] != pairs[0] else ())
    below = float(rng.choice([-1.0, -0.1, 0.0, 0.0, 0.3, 3.0])) * unit
    charge = float(rng.choice([0.0, 0.1, 1.0, 5.0])) * unit
    search = Search(Problem(points, k), Cuts.of(cuts, n))
    found = found_groups(search, Duals(prices, multipliers, charge, tuple(apart), tuple(together)), below)
    groups = admitted_groups(n, k, apart, together)
    costs = {group: reduced_cost(points, group, prices, cuts, multipliers, charge) for group in groups}
    slack = 1e-9 * (unit + charge + float(np.abs(prices).max()))
    assert {group for group, cost in costs.items() if cost < below - slack} <= set(found) <= set(groups)
    assert all(abs(cost - costs[group]) <= slack for group, cost in found.items())


@pytest.mark.parametrize(
    ("k", "stretch", "below"), [(3, 1.0, 2.0), (3, 2.0, 0.0), (3, 3.0, -0.3), (4, 1.6, 0.0)]
)
def test_search_in_larger_data(k: int, stretch: float, below: float) -> None:
    rng = np.random.default_rng(7)
    n = 22 if k == 3 else 15
    points = np.ascontiguousarray(rng.normal(size=(n, 3)) * np.exp(rng.normal(size=(n, 1))))
    prices = stretch * nearest_shares(points, k)
    found = found_groups(Search(Problem(points, k), Cuts.of([], n)), Duals(prices, NONE), below)
    distances = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    expected = set()
    for m in range(k, 2 * k):
        groups = np.array(list(combinations(range(n), m)))
        costs = distances[groups[:, :, None], groups[:, None, :]].sum(axis=(1, 2)) / (2 * m)
        expected |= {tuple(row) for row in groups[costs - prices[groups].sum(axis=1) < below].tolist()}
    assert expected
    assert set(found) == expected


def test_search_among_many_equal_records() -> None:
    """Their prices are 0, and no group of them has a negative reduced cost: there is nothing to list."""
    points = np.concatenate([np.zeros((60, 2)), np.random.default_rng(1).normal(size=(40, 2))])
    prices = nearest_shares(points, 3)
    found = found_groups(Search(Problem(points, 3), Cuts.of([], 100)), Duals(prices, NONE), 0.0)
    assert len(found) < 100


def test_search_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("microagg.certificate.search.MOST_GROUPS", 100)
    points = np.random.default_rng(1).normal(size=(12, 2))
    with pytest.raises(CertificateError, match="more than 100 groups"):
        proven(points, 3, [((), (), np.full(12, 50.0), NONE, 0.0)])


# --- what is proven ---


def test_two_far_clusters_are_proved_optimal() -> None:
    points = np.array([[0.0], [1.0], [2.0], [100.0], [101.0], [102.0]])
    result = proven(points, 3, [((), (), np.full(6, 2 / 3), NONE, 0.0)], bound=4.0 * (1 - 1e-12))
    assert result.bound == pytest.approx(4.0, rel=1e-12)
    assert result.bound <= result.sse == 4.0
    assert result.proved
    assert result.information_loss == pytest.approx(100 * 4.0 / result.sst)
    assert result.bound_loss == pytest.approx(result.information_loss)
    assert (result.screens, result.leaves) == (0, 1)


def test_nearest_shares_need_no_repair() -> None:
    points = np.random.default_rng(3).normal(size=(10, 2))
    shares = nearest_shares(points, 3)
    assert proven(points, 3, [((), (), shares, NONE, 0.0)]).bound == pytest.approx(shares.sum(), rel=1e-12)


def test_prices_too_high_are_lowered_by_what_the_worst_group_is_short_of() -> None:
    points = np.array([[0.0], [1.0], [2.0], [100.0], [101.0], [102.0]])
    # The first group is short of 3 × 0.5; larger groups are dear.
    assert proven(
        points, 3, [((), (), np.repeat([2 / 3 + 0.5, 2 / 3], 3), NONE, 0.0)]
    ).bound == pytest.approx(4.0)


def test_a_partition_that_is_not_optimal_has_a_gap() -> None:
    points = np.array([[0.0], [1.0], [2.0], [100.0], [101.0], [102.0]])
    labels = np.array([0, 0, 1, 0, 1, 1], dtype=np.int32)
    result = proven(points, 3, [((), (), np.full(6, 2 / 3), NONE, 0.0)], labels=labels)
    assert result.bound == pytest.approx(4.0)
    assert not result.proved
    assert result.gap == pytest.approx(100 * (sse(points, labels) / 4.0 - 1))


def tree(rng: np.random.Generator, n: int) -> list[tuple[list[Any], list[Any]]]:
    """The pairs of the leaves of a random tree."""
    leaves: list[tuple[list[Any], list[Any]]] = [([], [])]
    for _ in range(rng.integers(0, 4)):
        apart, together = leaves.pop(int(rng.integers(len(leaves))))
        pair = [int(row) for row in rng.choice(n, 2, replace=False)]
        if sorted(pair) in [sorted(known) for known in apart + together]:
            leaves.append((apart, together))
            continue
        leaves += [([*apart, pair], together), (apart, [*together, pair])]
    return leaves


def test_no_bound_is_above_the_optimum() -> None:
    """Whatever the prices, cuts, screens, tree and partition."""
    for seed in range(100):
        check_bound(seed)


def check_bound(seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    k = int(rng.integers(2, 4))
    n = int(rng.integers(2 * k, 9))
    points, cuts = points_of(rng, n), cuts_of(rng, n)
    best_labels, optimum = exhaustive(points, k)
    labels = best_labels if seed % 2 else some_partition(rng, n, k)
    shares = nearest_shares(points, k)

    def duals(apart: Any = (), together: Any = ()) -> tuple[Floats, Floats, float]:
        multipliers = rng.uniform(0, max(shares.mean(), 0.1), size=rng.integers(0, len(cuts) + 1))
        charge = float(rng.choice([0.0, rng.uniform(0, 3.0)]) * max(shares.mean(), 0.1))
        if rng.random() < 0.7:
            groups = admitted_groups(n, k, apart, together)
            if rng.random() < 0.3:  # prices that others contradict
                groups = [group for group in groups if rng.random() < 0.7]
            start = rng.uniform(0.3, 1.0) * shares
            prices = raised(points, groups, start, cuts, multipliers, charge)
        else:
            prices = rng.uniform(-1.0, 3.0, size=n) * shares.max()
        return prices, multipliers, charge

    screens = [duals() for _ in range(rng.integers(0, 3))]
    leaves = [(apart, together, *duals(apart, together)) for apart, together in tree(rng, n)]
    result = proven(points, k, leaves, cuts, screens, labels)
    assert result.bound <= optimum * (1 + 1e-12)
    assert result.leaves == len(leaves)


@pytest.mark.parametrize("seed", [44, 54])
def test_a_screen_leaves_out_groups_that_contradict_the_leaf(seed: int) -> None:
    """Prices of a leaf that some group contradicts, but no group that a better partition could have."""
    points = np.random.default_rng(seed).normal(size=(9, 2))
    labels, optimum = exhaustive(points, 3)
    groups = admitted_groups(9, 3)
    first = raised(points, groups, nearest_shares(points, 3), [], NONE)
    room = optimum - first.sum()
    passing = [group for group in groups if reduced_cost(points, group, first, [], NONE) <= room]
    second = raised(points, passing, np.zeros(9), [], NONE)
    alone = proven(points, 3, [((), (), second, NONE, 0.0)], labels=labels)
    screened = proven(points, 3, [((), (), second, NONE, 0.0)], screens=[(first, NONE, 0.0)], labels=labels)
    assert alone.bound < screened.bound == pytest.approx(min(optimum, second.sum()))
    again = [(first, NONE, 0.0), (second, NONE, 0.0)]
    assert (
        proven(points, 3, [((), (), second, NONE, 0.0)], screens=again, labels=labels).bound
        == screened.bound
    )


def test_a_screen_keeps_what_a_better_partition_has() -> None:
    """A partition that is nearly optimal, and a screen with all of its gap in one group of the optimum."""
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.01], [1.0, 1.01]])
    worse = np.array([0, 1, 0, 1], dtype=np.int32)
    screen = (np.array([0.0, 0.0, 0.25, 0.25]), NONE, 0.0)
    leaf = (
        (),
        (),
        np.full(4, 1.01**2 / 4),
        NONE,
        0.0,
    )  # the worse were optimal, but for the better
    result = proven(points, 2, [leaf], screens=[screen], labels=worse)
    assert 0.9 < result.bound <= 1.0 < result.sse


def test_cuts_and_branches_prove_more() -> None:
    """The corners of a pentagon, in pairs that are half chosen each: without more, no prices get beyond."""
    angle = 2 * np.pi * np.arange(5) / 5
    points = np.column_stack([np.cos(angle), np.sin(angle)])
    side = float(((points[0] - points[1]) ** 2).sum())
    optimum = exhaustive(points, 2)[1]
    plain = proven(points, 2, [((), (), np.full(5, side / 4), NONE, 0.0)])
    assert plain.bound == pytest.approx(1.25 * side)
    # At most two pairs in one partition.
    triple = sse(points[:3], np.zeros(3, dtype=np.int32))
    price = triple - side / 2
    cut = proven(
        points, 2, [((), (), np.full(5, price), [2 * price - side / 2], 0.0)], cuts=[(0, 1, 2, 3, 4)]
    )
    assert cut.bound == pytest.approx(optimum) == side / 2 + triple
    assert cut.proved
    leaves = []
    for apart, together in (([(0, 1)], []), ([], [(0, 1)])):
        prices = raised(points, admitted_groups(5, 2, apart, together), np.zeros(5), [], NONE)
        leaves.append((apart, together, prices, NONE, 0.0))
    assert proven(points, 2, leaves).bound == pytest.approx(1.5 * side)


def test_the_count_of_groups_proves_more() -> None:
    """Eight records around one place, k = 3: two groups at most, where prices alone allow 8/3 of them."""
    points = np.random.default_rng(4).normal(size=(8, 2))
    groups = admitted_groups(8, 3)
    optimum = exhaustive(points, 3)[1]
    without = oracle.best_bound(points, 3, count_cut=False)[0]
    best, prices, charge = oracle.best_bound(points, 3, count_cut=True)
    assert without < 0.99 * best
    assert charge > 0.0
    assert min(reduced_cost(points, group, prices, [], NONE, charge) for group in groups) > -1e-9
    result = proven(points, 3, [((), (), prices, NONE, charge)])
    assert result.bound == pytest.approx(best, rel=1e-6)
    assert result.bound <= optimum * (1 + 1e-12)


def test_a_forged_charge_proves_nothing_false() -> None:
    for seed in range(10):
        check_forged_charge(seed)


def check_forged_charge(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 4))
    n = int(rng.integers(2 * k, 10))
    points = points_of(rng, n)
    labels, optimum = exhaustive(points, k)
    _, prices, charge = oracle.best_bound(points, k, count_cut=True)
    for factor in (0.0, 0.5, 0.99, 1.01, 2.0, 1e3, 1e200):
        for raise_prices in (0.0, 1.0):  # by what the charge gives to a record of a group of k
            forged = factor * charge + (factor - 1.0 if factor > 1.0 and not charge else 0.0)
            leaf = ((), (), prices + raise_prices * (forged - charge) / k, NONE, forged)
            assert proven(points, k, [leaf], labels=labels).bound <= optimum * (1 + 1e-12)
            screens = [leaf[2:]]
            assert proven(points, k, [leaf], screens=screens, labels=labels).bound <= optimum * (1 + 1e-12)


def test_a_certificate_without_charges_is_read_as_before() -> None:
    """Version 1, which had none; its entries may not have one, nor may those of version 2 be without."""
    old = copy.deepcopy(FIELDS) | {"version": 1, "bound": 0.0}
    with pytest.raises(CertificateError, match="unknown fields: 'charge'"):
        check(sealed(old), VALUES)
    for entry in [*old["screens"], *old["leaves"]]:
        del entry["charge"]
    zero = copy.deepcopy(FIELDS) | {"bound": 0.0}
    for entry in [*zero["screens"], *zero["leaves"]]:
        entry["charge"] = 0.0
    assert check(sealed(old), VALUES) == check(sealed(zero), VALUES)
    with pytest.raises(CertificateError, match="'charge'"):
        check(sealed(old | {"version": 2}), VALUES)


def test_the_number_of_groups_is_not_taken_from_the_certificate() -> None:
    for name in ("groups", "count", "most_groups"):
        with pytest.raises(CertificateError, match="unknown fields"):
            check(sealed(FIELDS | {name: 1}), VALUES)


def inflated(k: int) -> tuple[dict[str, Any], Floats]:
    """A forged certificate: with its prices nearly every group has a negative reduced cost."""
    points = np.random.default_rng(0).normal(size=(100, 2))
    labels = np.repeat(np.arange(20, dtype=np.int32), 5)
    cost = sse(points - points[0], labels)
    leaf = ((), (), np.full(100, 1e3), NONE, 0.0)
    return document(points, k, "none", labels, cost, sst(points), 0.9 * cost, [], [], [leaf]), points


@pytest.mark.parametrize("calls", [1, 8])
def test_the_check_of_inflated_prices_ends_when_its_time_is_over(
    calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that goes a second forward whenever it is looked at: within one record's search too."""
    ticks = itertools.count()
    monkeypatch.setattr("microagg.certificate.clock.monotonic", lambda: float(next(ticks)))
    forged, points = inflated(5)
    done: list[float] = []
    with pytest.raises(CertificateError, match="nothing is proven") as refusal:
        check(forged, points, seconds=calls, progress=done.append)
    assert f"within {calls} seconds" in str(refusal.value)
    assert not done
    assert next(ticks) == calls + 1


@pytest.mark.parametrize("seconds", [0, -1.0, math.nan, math.inf, "ten", True])
def test_wrong_limits_of_time_are_refused(seconds: Any) -> None:
    forged, points = inflated(5)
    with pytest.raises(SettingsError, match="seconds"):
        check(forged, points, seconds=seconds)


def test_what_is_proven_names_k_scale_and_records() -> None:
    points = np.array([[0.0], [1.0], [2.0], [100.0], [101.0], [102.0]])
    result = proven(points, 3, [((), (), np.full(6, 2 / 3), NONE, 0.0)])
    assert (result.k, result.scale, result.records) == (3, "none", 6)


def test_data_without_spread() -> None:
    result = proven(np.zeros((6, 2)), 3, [((), (), np.zeros(6), NONE, 0.0)])
    assert (result.bound, result.sse, result.gap, result.proved) == (0.0, 0.0, 0.0, True)


def test_groups_of_equal_records_may_cost_next_to_nothing() -> None:
    points = np.repeat([[0.1, 0.7], [1.3, 5.9]], 3, axis=0)
    labels = np.repeat(np.arange(2, dtype=np.int32), 3)
    for cost, accepted in ((0.0, True), (1e-31, True), (1e-12, False)):
        leaf = ((), (), np.zeros(6), NONE, 0.0)
        fields = document(points, 3, "none", labels, cost, sst(points), cost, [], [], [leaf])
        if accepted:
            assert check(fields, points).proved
        else:
            with pytest.raises(CertificateError, match="'sse'"):
                check(fields, points)


def test_progress_goes_from_0_to_1() -> None:
    points = np.random.default_rng(3).normal(size=(9, 2))
    labels, cost = exhaustive(points, 3)
    shares = nearest_shares(points, 3)
    fields = document(
        points,
        3,
        "none",
        labels,
        cost,
        sst(points),
        0.0,
        [],
        [(shares, NONE, 0.0)],
        [((), (), shares, NONE, 0.0)],
    )
    seen: list[float] = []
    check(fields, points, progress=seen.append)
    assert seen == sorted(seen)
    assert 0.0 < seen[0] < seen[-1] == 1.0


# --- trees ---

A, B, C = (0, 1), (1, 2), (0, 2)


@pytest.mark.parametrize(
    ("leaves", "complete"),
    [
        ([{}], True),
        ([{A: 0}, {A: 1}], True),
        ([{A: 0}, {A: 1, B: 0}, {A: 1, B: 1}], True),
        ([{A: 0, B: 0}, {B: 1, A: 0}, {A: 1, C: 0}, {C: 1, A: 1}], True),
        ([{A: 0, B: 0}, {A: 0, B: 1}, {A: 1, B: 0}, {A: 1, B: 1}], True),
        ([], False),
        ([{}, {}], False),
        ([{A: 0}], False),
        ([{A: 0}, {A: 0}], False),
        ([{A: 0}, {A: 1}, {A: 1}], False),
        ([{A: 0}, {A: 1}, {}], False),
        ([{A: 0}, {B: 1}], False),
        ([{A: 0}, {A: 1, B: 0}], False),
        ([{A: 0, B: 0}, {A: 1, B: 1}], False),
        ([{A: 0, B: 0}, {A: 0, B: 1}, {A: 1, B: 1}], False),
    ],
)
def test_leaves_are_those_of_a_tree(leaves: list[dict[Any, int]], complete: bool) -> None:
    points = np.arange(6.0)[:, None]
    sides = [[[pair for pair in leaf if leaf[pair] == side] for side in (0, 1)] for leaf in leaves]
    entries = [(apart, together, np.zeros(6), NONE, 0.0) for apart, together in sides]
    if complete:
        assert proven(points, 3, entries).leaves == len(leaves)
    else:
        with refusal(CertificateError, "certificate_leaves_incomplete"):
            proven(points, 3, entries)


def test_a_pair_is_the_same_from_either_end() -> None:
    points = np.arange(6.0)[:, None]
    leaves = [([[0, 1]], [], np.zeros(6), NONE, 0.0), ([], [[1, 0]], np.zeros(6), NONE, 0.0)]
    assert proven(points, 3, leaves).leaves == 2


# --- scales ---


@pytest.mark.parametrize("scale", get_args(ScaleName))
def test_scales_are_those_of_the_package(scale: ScaleName) -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(size=(31, 4)) * [1, 100, 1e-3, 1] + [0, 1e6, 5, 0]
    values[:20, 0] = np.round(values[:20, 0])
    values[:, 3] = 7.25
    ours = scaled(values, scale)
    theirs = to_points(Table(tuple("abcd"), values), scale)
    np.testing.assert_allclose(ours - ours[0], theirs - theirs[0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("scale", ["zscore", "range", "rank"])
def test_extreme_values_can_be_scaled(scale: ScaleName) -> None:
    values = np.array([[1e308 * (-1) ** i, 5e-324 * i] for i in range(12)])
    theirs = to_points(Table(("a", "b"), values), scale)
    ours = scaled(values, scale)
    np.testing.assert_allclose(ours - ours[0], theirs - theirs[0], atol=1e-12)


@pytest.mark.parametrize(
    ("scale", "values"),
    [
        ("none", [[1e200], [0.0], [1.0]]),
        ("none", [[1e-200], [0.0], [2e-200]]),
        ("none", [[math.nan], [0.0], [1.0]]),
        ("robust", [[0.0], [0.0], [1.0]]),
        ("zscore", [[math.inf], [0.0], [1.0]]),
    ],
)
def test_data_that_cannot_be_scaled(scale: ScaleName, values: list[list[float]]) -> None:
    table = np.array(values)
    fields = document(
        table, 2, scale, np.zeros(3, np.int32), 1.0, 1.0, 0.0, [], [], [((), (), np.zeros(3), [], 0.0)]
    )
    with pytest.raises(CertificateError, match="scale"):
        check(fields, table)


# --- alterations ---

SECRET = 98765.4321
"""A respondent's value."""


def sealed(fields: dict[str, Any]) -> dict[str, Any]:
    """With the digest made anew, as anybody can."""
    plain = {name: value for name, value in fields.items() if name != "digest"}
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    return plain | {"digest": hashlib.sha256(text.encode()).hexdigest()}


def example() -> tuple[dict[str, Any], Floats, float]:
    """A certificate with all there can be in one, its data, and their optimum."""
    rng = np.random.default_rng(11)
    values = np.concatenate([centre + rng.normal(size=(3, 2)) for centre in (0.0, 4.0, 9.0)])
    values[0, 0] = SECRET
    values[1:, 0] = SECRET - 3.0 + values[1:, 0]
    points = scaled(values, "zscore")
    labels, optimum = exhaustive(points, 3)
    groups = admitted_groups(9, 3)
    cuts: list[Group] = [(0, 1, 4), (2, 3, 5, 6, 8)]
    multipliers = np.array([0.01, 0.02])
    screen = raised(points, groups, nearest_shares(points, 3), cuts, multipliers[:1], 0.05)
    of_group = [sse(points[labels == group], np.zeros(3, np.int32)) / 3 for group in range(3)]
    prices = 0.9 * np.array(of_group)[labels]
    leaves = []
    for apart, together in (([(0, 5)], []), ([], [(0, 5)])):
        admitted = admitted_groups(9, 3, apart, together)
        leaves.append((apart, together, raised(points, admitted, prices, [], NONE, 0.03), NONE, 0.03))
    fields = document(
        values,
        3,
        "zscore",
        labels,
        optimum,
        sst(points),
        0.0,
        cuts,
        [(screen, multipliers[:1], 0.05)],
        leaves,
    )
    bound = check(fields, values).bound
    return sealed(fields | {"bound": bound}), values, optimum


FIELDS, VALUES, OPTIMUM = example()


def paths(node: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where all values are, of long lists the first and last."""
    if isinstance(node, dict):
        for name, child in node.items():
            yield from paths(child, (*at, name))
    elif isinstance(node, list):
        yield at
        for place in sorted({0, len(node) - 1} if node else set()):
            yield from paths(node[place], (*at, place))
    else:
        yield at


def altered(path: tuple[Any, ...], change: Callable[[Any], Any]) -> dict[str, Any]:
    fields = copy.deepcopy(FIELDS)
    node: Any = fields
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = change(node[path[-1]])
    return fields


def other(value: Any) -> Any:
    if isinstance(value, str):
        return value[:-1] + ("0" if value[-1] != "0" else "1")
    if isinstance(value, list):
        return value[:-1] if value else [0]
    return value + 1


PATHS = list(paths(FIELDS))


def test_the_example_holds() -> None:
    result = check(FIELDS, VALUES)
    assert 0.9 * OPTIMUM < result.bound <= OPTIMUM * (1 + 1e-12)
    assert check(json.loads(json.dumps(FIELDS)), VALUES) == result


def test_any_change_is_noticed() -> None:
    for path in PATHS:
        with pytest.raises(CertificateError) as raised_error:
            check(altered(path, other), VALUES)
        assert str(SECRET) not in str(raised_error.value), path


CHANGES: dict[str, Callable[[Any], Any]] = {
    "longer": lambda value: [*value, value[-1]] if isinstance(value, list) and value else other(value),
    "shorter": lambda value: other(value) if isinstance(value, list | str) else value - 1,
    "negative": lambda value: -1 - value if isinstance(value, int | float) else [],
    "nan": lambda _: math.nan,
    "inf": lambda _: math.inf,
    "text": lambda _: "1",
    "none": lambda _: None,
    "true": lambda _: True,
    "huge": lambda _: 10**400,
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_with_a_new_digest_proves_nothing_false(name: str) -> None:
    for path in PATHS:
        if path != ("digest",):
            check_changed(path, name)


def check_changed(path: tuple[Any, ...], name: str) -> None:
    fields = sealed(altered(path, CHANGES[name]))
    free = {"cuts", "screens", "leaves", "bound"}  # where another value can be as true
    try:
        result = check(fields, VALUES)
    except CertificateError:
        return
    assert path[0] in free
    assert name not in {"nan", "inf", "text", "none", "true", "huge"}
    assert fields["bound"] <= result.bound * (1 + 1e-9)
    assert result.bound <= OPTIMUM * (1 + 1e-12)


@pytest.mark.parametrize("name", [name for name in FIELDS if name != "digest"])
def test_missing_and_unknown_fields(name: str) -> None:
    without = {key: value for key, value in FIELDS.items() if key != name}
    for fields in (without, sealed(without), sealed(FIELDS | {f"{name}_": 1}), FIELDS | {"digest": None}):
        with pytest.raises(CertificateError):
            check(fields, VALUES)
    with pytest.raises(
        CertificateError, match="entry of the certificate's 'leaves' has unknown fields: 'x'"
    ):
        check(sealed(altered(("leaves", 0), lambda leaf: leaf | {"x": 1})), VALUES)


def test_no_change_of_the_proof_supports_a_bound_above_the_optimum() -> None:
    for seed in range(60):
        check_changed_prices(seed)


def check_changed_prices(seed: int) -> None:
    rng = np.random.default_rng(seed)
    fields = copy.deepcopy(FIELDS)
    fields["bound"] = OPTIMUM * (1 + 1e-6)
    for entry in [*fields["screens"], *fields["leaves"]]:
        factor = rng.choice([0.0, 1.0, 1.1, 10.0])
        entry["prices"] = [float(factor * price + rng.normal() * 0.1) for price in entry["prices"]]
    if rng.random() < 0.5:
        fields["screens"] *= 2
    with pytest.raises(CertificateError, match="claims that no partition loses less"):
        check(sealed(fields), VALUES)


@pytest.mark.parametrize("price", [1e6, 1e150, 1e279, -1e279])
def test_enormous_prices_prove_nothing(price: float) -> None:
    fields = copy.deepcopy(FIELDS)
    for entry in [*fields["screens"], *fields["leaves"]]:
        entry["prices"] = [price] * 9
    with pytest.raises(CertificateError, match="claims that no partition loses less"):
        check(sealed(fields), VALUES)
    assert check(sealed(fields | {"bound": 0.0}), VALUES).bound <= OPTIMUM


def test_another_partition_with_all_digests_made_anew() -> None:
    labels = np.array([0, 0, 1, 0, 1, 1, 2, 2, 2], dtype=np.int32)
    points = scaled(VALUES, "zscore")
    digest = hashlib.sha256(labels.astype("<i4").tobytes()).hexdigest()
    fields = FIELDS | {"labels": labels.tolist()}
    with refusal(CertificateError, "certificate_of_other_partition"):
        check(sealed(fields), VALUES)
    with refusal(CertificateError, "certificate_figure_differs", name="sse"):
        check(sealed(fields | {"partition_digest": digest}), VALUES)
    # An honest SSE of a worse partition makes a worse but true claim.
    result = check(
        sealed(fields | {"partition_digest": digest, "sse": sse(points, labels), "bound": 0.0}), VALUES
    )
    assert result.bound <= OPTIMUM < result.sse


def test_other_data() -> None:
    for values in (VALUES + 1e-6, VALUES[:, ::-1], VALUES[1:], VALUES[:, :1], np.zeros(3)):
        with pytest.raises(CertificateError, match="other data"):
            check(FIELDS, values)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("format",), "another", "not a certificate"),
        (("version",), 0, "version other than 1 to 2"),
        (("version",), 3, "version other than 1 to 2"),
        (("version",), True, "version other than 1 to 2"),
        (("records",), 9.0, "'records'.* whole number"),
        (("k",), 1, "'k'.* from 2 to 9"),
        (("k",), 4, "group of 3 records; with k = 4"),
        (("scale",), "feet", "'scale'.* zscore"),
        (("labels", 0), 1, "'labels'.* first appearance"),
        (("labels", 8), 9, "'labels'.* from 0 to 8"),
        (("sse",), -1.0, "'sse'.* at least 0"),
        (("sst",), 1.0, "'sst' does not follow"),
        (("bound",), 1e9, "claims"),
        (("cuts", 0), [0, 1], "'cuts'.* 3, 5, 7"),
        (("cuts", 0), [0, 1, 2, 3], "'cuts'.* 3, 5, 7"),
        (("cuts", 0), [0, 1, 1], "'cuts'.* twice"),
        (("cuts", 0, 0), 9, "'cuts'.* from 0 to 8"),
        (("cuts", 0), {}, "'cuts'.* a list"),
        (("screens", 0), [], "'screens'.* objects"),
        (("screens", 0, "multipliers"), [0.0] * 3, "'multipliers'.* at most 2"),
        (("screens", 0, "multipliers"), [-1e-9], "'multipliers'.* at least 0"),
        (("screens", 0, "charge"), -1e-9, "'charge'.* at least 0"),
        (("leaves", 0, "charge"), [0.0], "'charge'"),
        (("screens", 0, "prices"), [0.0] * 8, "'prices'.* 9 of them"),
        (("leaves", 0, "apart"), [[0, 5, 6]], "'apart'.* pairs"),
        (("leaves", 0, "apart"), [[0, 0]], "'apart'.* twice"),
        (("leaves", 0, "together"), [[5, 0]], "'leaves'.* decided twice"),
        (("leaves",), [], "incomplete"),
    ],
)
def test_what_is_wrong_is_said(path: tuple[Any, ...], value: Any, words: str) -> None:
    with pytest.raises(CertificateError, match=words):
        check(sealed(altered(path, lambda _: value)), VALUES)


@pytest.mark.parametrize("fields", [None, [], "x", {}])
def test_something_else(fields: Any) -> None:
    with pytest.raises(CertificateError, match="not a certificate"):
        check(fields, VALUES)


# --- files ---


def test_a_file_keeps_the_certificate(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps(FIELDS))
    assert check(load(path), VALUES) == check(FIELDS, VALUES)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{",
        b'{"sse": NaN}',
        b'{"sse": Infinity}',
        b'{"k": 3, "k": 4}',
        b"\xff{}",
        b"[" * 100_000,
    ],
)
def test_files_that_are_no_certificates(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(content)
    with pytest.raises(CertificateError, match=r"c\.json is not a JSON object"):
        load(path)


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="no file"):
        load(tmp_path / "none.json")
    with pytest.raises(DataError, match="folder"):
        load(tmp_path)
    path = tmp_path / "c.json"
    path.write_text(json.dumps(FIELDS))
    monkeypatch.setattr("microagg.certificate.file.LARGEST_FILE_BYTES", 100)
    with pytest.raises(CertificateError, match="more than 100 bytes"):
        load(path)
