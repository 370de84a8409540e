"""Cuts that are found from a sample and applied to records anywhere; blocks and parts made of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.columns import NumberForm, decimals_of
from microagg.methods.splitters import Axes, Tree, join_small_leaves
from microagg.model import Table
from microagg.prepare.exact_sums import sums_of, total_of, units_of
from microagg.prepare.large_strata import Blocks, Cut, Sizes, pattern_codes, substitutes, with_counts
from microagg.prepare.spaces import Space
from microagg.prepare.units import Units, to_points


def grown(points: np.ndarray, most: int) -> tuple[Axes, Tree]:
    axes = Axes.of(points)
    return axes, Tree.grown(axes.coordinates(points), np.ones(len(points)), most)


def test_leaves_hold_what_they_should() -> None:
    points = np.random.default_rng(0).normal(size=(4_000, 5))
    axes, tree = grown(points, 300)
    sizes = np.bincount(tree.leaf_of(axes.coordinates(points)), minlength=tree.leaves)
    assert sizes.max() <= 300
    assert sizes.min() >= 100


def test_a_record_finds_the_same_leaf_in_any_company() -> None:
    points = np.random.default_rng(1).normal(size=(3_000, 7)) * 10.0 ** np.arange(7)
    axes, tree = grown(points, 50)
    all_at_once = tree.leaf_of(axes.coordinates(points))
    for cut in (1, 3, 16, 1_000):
        apart = [tree.leaf_of(axes.coordinates(part)) for part in np.split(points, range(cut, 3_000, cut))]
        np.testing.assert_array_equal(np.concatenate(apart), all_at_once)


def test_equal_records_are_not_cut() -> None:
    points = np.repeat(np.arange(4.0), 500)[:, None] * np.ones((1, 3))
    axes, tree = grown(points, 100)
    leaf = tree.leaf_of(axes.coordinates(points))
    assert tree.leaves == 4
    assert all(len(np.unique(leaf[at : at + 500])) == 1 for at in range(0, 2_000, 500))


def test_leaves_can_be_cut_again() -> None:
    points = np.random.default_rng(2).normal(size=(2_000, 3))
    axes, tree = grown(points, 400)
    coordinates = axes.coordinates(points)
    before = tree.leaf_of(coordinates)
    parts = {
        leaf: Tree.grown(coordinates[before == leaf], np.ones((before == leaf).sum()), 60)
        for leaf in (0, 3)
    }
    finer, came_from = tree.with_cut_leaves(parts)
    after = finer.leaf_of(coordinates)
    np.testing.assert_array_equal(came_from[after], before)
    assert finer.leaves == tree.leaves - 2 + parts[0].leaves + parts[3].leaves
    assert np.bincount(after)[came_from == 0].max() <= 60


@given(st.lists(st.integers(0, 40), min_size=1, max_size=30))
def test_joined_leaves_are_large_enough(sizes: list[int]) -> None:
    counts = np.array(sizes)
    target = join_small_leaves(counts, 10, 60)
    total = np.bincount(target, weights=counts, minlength=len(counts))
    assert total.sum() == counts.sum()
    held = total[total > 0]
    assert len(held) <= 1 or held.min() >= 10
    assert held.max(initial=0) <= max(60, counts.max() + 10, 0) or len(held) == 1


def test_exact_sums_do_not_depend_on_the_cut() -> None:
    random = np.random.default_rng(3)
    values = random.lognormal(sigma=4.0, size=(5_000, 3)) * [1.0, 1e200, 1e-200] + [1e6, 0.0, 0.0]
    values[::7, 1] = np.nan
    low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
    ranges = Units.from_ranges(low.tolist(), high.tolist())
    found = []
    for pieces in (1, 13, 300):
        order = random.permutation(len(values))
        parts = np.array_split(values[order], pieces)
        units = units_of("zscore", ranges, high, total_of((sums_of(part, ranges) for part in parts), 3))
        found.append((units.centre.tobytes(), units.spread.tobytes()))
    assert len(set(found)) == 1


@pytest.mark.parametrize("scale", ["zscore", "range", "none"])
def test_points_are_those_of_the_local_engine(scale: str) -> None:
    values = np.random.default_rng(4).normal(size=(1_000, 3)) * [1.0, 100.0, 1e-3] + [0.0, 1e5, 5.0]
    values[:, 2] = 7.0
    low, high = values.min(axis=0), values.max(axis=0)
    ranges = Units.from_ranges(low.tolist(), high.tolist())
    units = units_of(scale, ranges, high, sums_of(values, ranges))  # type: ignore[arg-type]
    here = to_points(Table(("a", "b", "c"), values), scale)  # type: ignore[arg-type]
    there = units.points(values)
    np.testing.assert_allclose(there - there[0], here - here[0], rtol=0.0, atol=1e-8)


@given(st.lists(st.lists(st.floats(-1e6, 1e6, width=32) | st.integers(-999, 999).map(lambda i: i / 100))))
def test_notation_of_parts(parts: list[list[float]]) -> None:
    arrays = [np.array(part, dtype=np.float64) for part in parts]
    whole = np.concatenate([*arrays, np.empty(0)])
    together = sum((NumberForm().including(part) for part in arrays), start=NumberForm())
    assert together.decimals_shown == decimals_of(whole)


def test_rare_patterns_take_others() -> None:
    counts = {(0, 0): 50, (0, 1): 40, (0, 2): 2, (1, 0): 2, (1, 3): 60}
    assert substitutes(counts, 2, 3) == {(0, 2): 0, (1, 0): 3}
    # Two keys, zeros in bits 2 and 3: the rare pattern is most like the one with the same first zero.
    zeros = {(0, 0b0000): 9, (0, 0b0100): 9, (0, 0b1100): 2}
    assert substitutes(zeros, 2, 3) == {(0, 0b1100): 0b0100}
    codes = pattern_codes(np.array([[0.0, np.nan], [1.0, 2.0]]), True, True, (True, True))
    assert codes.tolist() == [0b0110, 0]


def blocks_of(heavy: np.ndarray, tree: Tree, axes: Axes, strata: int) -> Blocks:
    units = Units(np.zeros(2), np.ones(2), np.zeros(2), np.ones(2))
    cut = Cut(tree, heavy)
    of_stratum = np.r_[-1, np.arange(strata)]
    place = np.arange(strata + cut.places)
    first = {(0, 0): strata}
    space = Space.of(units, (None, None), (1.0, 1.0), (None, None))
    return Blocks(space, of_stratum, axes, cuts={(0, 0): cut}, first=first, block=place)


def test_parts_hold_whole_blocks() -> None:
    random = np.random.default_rng(5)
    values = np.concatenate([random.normal(size=(1_000, 2)), np.zeros((900, 2))])
    stratum = np.r_[np.zeros(1_900, dtype=np.int64), np.repeat(np.arange(1, 41), 5)]
    values = np.concatenate([values, random.normal(size=(200, 2))])
    axes, tree = grown(values[:1_000], 90)
    blocks = blocks_of(np.zeros((1, 2)), tree, axes, 40)
    counts = np.bincount(blocks.places(stratum, values), minlength=blocks.count)
    final = with_counts(blocks, counts, Sizes(3, 150))
    of_block = final.block[final.places(stratum, values)]
    part = final.part_of(stratum, values, random.integers(0, 2**40, len(values)))
    assert part.min() >= 0
    assert part.max() < final.parts
    alone = of_block != blocks.count - 1
    assert all(len(np.unique(part[of_block == block])) == 1 for block in np.unique(of_block[alone]))
    assert np.bincount(part[alone]).max() <= 150
    assert len(np.unique(part[~alone])) == 10  # what needs no work is spread
    sizes = np.bincount(of_block, minlength=final.count)
    np.testing.assert_array_equal(sizes, final.sizes)


def test_what_is_too_few_beside_a_heavy_combination_joins_it() -> None:
    values = np.concatenate([np.zeros((900, 2)), [[5.0, 5.0], [6.0, 6.0]]])
    axes = Axes(np.eye(2))
    tree = Tree.grown(axes.coordinates(values[900:]), np.ones(2), 100)
    blocks = replace(blocks_of(np.zeros((1, 2)), tree, axes, 0), of_stratum=np.array([-1]))
    stratum = np.zeros(902, dtype=np.int64)
    counts = np.bincount(blocks.places(stratum, values), minlength=blocks.count)
    final = with_counts(blocks, counts, Sizes(3, 150))
    part = final.part_of(stratum, values, np.arange(902))
    assert len(np.unique(part[900:])) == 1
    assert (part[:900] == part[900]).sum() >= 3
