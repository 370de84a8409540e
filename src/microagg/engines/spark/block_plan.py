"""The blocks of all records: what each task will have to do, known before any starts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from microagg import wording
from microagg.columns import NumberForm
from microagg.engines.spark.frame_counts import (
    Crowd,
    FrameCounts,
    FrameProfile,
    count_frame,
    count_patterns,
    crowds,
    profile_frame,
    sample_frame,
)
from microagg.methods.splitters import Axes, Tree
from microagg.model import Doubles, Points, ScaleName, Whole
from microagg.plan.protection import Protection
from microagg.prepare.exact_sums import units_of
from microagg.prepare.key_columns import KeyColumn
from microagg.prepare.large_strata import (
    Blocks,
    Cut,
    Pattern,
    Sizes,
    by_pairs,
    substitutes,
    with_counts,
)
from microagg.prepare.spaces import Space
from microagg.prepare.units import Units, require_squarable_values

SAMPLE = 200_000
"""Number of sampled records from which cuts are computed."""

MOST_CUTTING_ROUNDS = 8
"""Of cutting again what has too many records. Each halves them at least; two are enough for most data."""

_MOST_KEYS = 31


@dataclass(frozen=True, slots=True, eq=False)
class BlockPlan:
    """Units and blocks for every subset, and what was found about the keys on the way."""

    profile: FrameProfile
    notations: tuple[NumberForm, ...]
    space: Space
    """Of all keys."""
    overall: tuple[Doubles, ...]
    """By key that holds categories: how frequent each is among all records."""
    blocks: tuple[Blocks, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """The columns to be masked in groups, as the frame at work calls them; subsets by their places."""

    columns: tuple[str, ...]
    names: tuple[str, ...]
    subsets: tuple[tuple[int, ...], ...]
    kinds: tuple[KeyColumn | None, ...]
    importance: tuple[float, ...]

    @property
    def levels(self) -> list[int]:
        """How many each column has; 0 if it holds no categories."""
        return [0 if kind is None or kind.levels is None else len(kind.levels) for kind in self.kinds]

    @property
    def are_ordered(self) -> NDArray[np.bool_]:
        return np.array([kind is not None and kind.kind == "ordinal" for kind in self.kinds])

    def is_nominal(self, at: int) -> bool:
        kind = self.kinds[at]
        return kind is not None and kind.kind == "nominal"

    def part(self, subset: Sequence[int]) -> Keys:
        """Those of one subset."""
        return Keys(
            tuple(self.columns[at] for at in subset),
            tuple(self.names[at] for at in subset),
            (tuple(range(len(subset))),),
            tuple(self.kinds[at] for at in subset),
            tuple(self.importance[at] for at in subset),
        )

    def space(self, units: Units, counts: Sequence[Whole]) -> Space:
        own = [count if levels else None for count, levels in zip(counts, self.levels, strict=True)]
        return Space.of(units, self.kinds, self.importance, own)


def plan_blocks(
    frame: DataFrame, protection: Protection, keys: Keys, strata: Whole, sizes: Sizes, share: float = 0.5
) -> BlockPlan:
    """`frame` is the frame at work; `strata` are the numbers of records in each stratum; each cut leaves
    `share` of the records on one side.
    """
    large = np.flatnonzero(strata > sizes.target)
    profile = profile_frame(frame, keys.columns)
    _refuse_values(profile, protection, keys, int(strata.sum()))
    scale, ranges = protection.method.scale, Units.from_ranges(profile.low.tolist(), profile.high.tolist())
    if scale == "none":
        require_squarable_values(keys.names, profile.low, profile.high)
    if len(large):
        blocks = _first_blocks(frame, protection, keys, strata, large, ranges, sizes, share)
    else:
        whole = np.arange(len(strata))
        plain = keys.space(ranges, [np.ones(many, np.int64) for many in keys.levels])
        blocks = [Blocks(plain.part(places), whole, block=whole) for places in keys.subsets]
    counted, final = _settle(frame, keys, blocks, ranges, strata, sizes)
    units, standard = (units_of(each, ranges, profile.high, counted.sums) for each in (scale, "zscore"))
    space = keys.space(units.replaced(keys.are_ordered, standard), counted.levels)
    # To fewer digits than depend on the order in which weights are added up.
    overall = tuple(np.array([float(f"{each:.12g}") for each in own]) for own in counted.weights)
    return BlockPlan(profile, counted.notations, space, overall, final)


def _refuse_values(found: FrameProfile, protection: Protection, keys: Keys, records: int) -> None:
    if found.source.records != records:
        raise wording.source_changed()
    for at, name in enumerate(keys.names):
        if found.infinite[at]:
            raise wording.infinite_values(name, int(found.infinite[at]))
        if found.missing[at] and protection.missing != "by-pattern":
            if keys.is_nominal(at):  # where a missing value is a category, so that this is a new one
                raise wording.source_changed()
            raise wording.missing_keys(name, int(found.missing[at]), records)


def _first_blocks(
    frame: DataFrame,
    protection: Protection,
    keys: Keys,
    strata: Whole,
    large: Whole,
    ranges: Units,
    sizes: Sizes,
    share: float,
) -> list[Blocks]:
    """Before any is counted: whole strata, and cuts of large ones from a sample."""
    by_pattern, apart = protection.missing == "by-pattern", protection.zeros == "apart"
    most = max(len(places) for places in keys.subsets)
    if (by_pattern or apart) and most > _MOST_KEYS:
        raise wording.too_many_keys(most, _MOST_KEYS)
    of_stratum = np.cumsum(strata <= sizes.target) - 1
    of_stratum[large] = -1
    in_sample = min(1.0, SAMPLE / int(strata[large].sum()))
    of_sample, sample = sample_frame(frame, keys.columns, large, in_sample)
    blocks = []
    for places in keys.subsets:
        counts = {(stratum, 0): int(strata[stratum]) for stratum in large.tolist()}
        if by_pattern or apart:
            columns = [keys.columns[at] for at in places]
            zeros = [apart and keys.kinds[at] is None for at in places]
            counts = count_patterns(frame, columns, large, by_pattern, zeros)
        values = sample[:, places]
        space = _space_of_sample(values, protection.method.scale, ranges.of(places), keys.part(places))
        points = space.points(values)
        own = Blocks(
            space,
            of_stratum,
            Axes.of(points) if len(values) > 1 else Axes(np.eye(points.shape[1])[:, :1]),
            by_pattern,
            apart,
            substitutes(counts, len(places), sizes.k),
        )
        blocks.append(_with_first_cuts(own, counts, of_sample, values, sizes, share))
    return blocks


def _with_first_cuts(
    blocks: Blocks,
    counts: Mapping[tuple[int, Pattern], int],
    of_sample: Whole,
    values: Points,
    sizes: Sizes,
    share: float,
) -> Blocks:
    records: dict[tuple[int, Pattern], int] = defaultdict(int)
    for key, many in sorted(counts.items()):
        records[blocks.cut_of(*key)] += many
    rows: dict[tuple[int, Pattern], list[Whole]] = defaultdict(list)
    for stratum, code, some in by_pairs(of_sample, blocks.codes(values)):
        rows[blocks.cut_of(stratum, code)].append(some)
    coordinates = blocks.coordinates(values)
    cuts = {}
    for key, many in records.items():
        own = np.sort(np.concatenate([np.empty(0, np.int64), *rows[key]]))
        weights = np.full(len(own), many / max(len(own), 1))
        tree = Tree.grown(coordinates[own], weights, sizes.aim, share)
        cuts[key] = Cut(tree, np.empty((0, values.shape[1])))
    return blocks.with_cuts(cuts)


def _space_of_sample(values: Points, scale: ScaleName, ranges: Units, keys: Keys) -> Space:
    """Every level has a place of its own, even if the sample has none."""
    units, standard = (_units_of_sample(values, each, ranges) for each in (scale, "zscore"))
    present = [column[~np.isnan(column)].astype(np.int64) for column in values.T]
    counts = [
        np.maximum(np.bincount(codes, minlength=many), 1) if many else np.empty(0, np.int64)
        for codes, many in zip(present, keys.levels, strict=True)
    ]
    return keys.space(units.replaced(keys.are_ordered, standard), counts)


def _units_of_sample(values: Points, scale: ScaleName, ranges: Units) -> Units:
    if scale != "zscore" or not len(values):
        return replace(ranges, factor=np.ones(len(ranges.factor))) if scale == "none" else ranges
    steps = ranges.points(values)
    kept = ~np.isnan(steps)
    many = np.maximum(kept.sum(axis=0), 1)
    centre = np.where(kept, steps, 0.0).sum(axis=0) / many
    spread = np.sqrt((np.where(kept, steps - centre, 0.0) ** 2).sum(axis=0) / many)
    return replace(ranges, centre=centre, spread=np.where(ranges.spread > 0.0, spread, 0.0))


def _settle(
    frame: DataFrame, keys: Keys, blocks: Sequence[Blocks], ranges: Units, strata: Whole, sizes: Sizes
) -> tuple[FrameCounts, tuple[Blocks, ...]]:
    """Count the records at each place; where there are too many, cut again and count again."""
    final = list(blocks)
    counts = dict.fromkeys(range(len(blocks)), strata[strata <= sizes.target])
    open_ = {number: own for number, own in enumerate(blocks) if own.cuts}
    first: FrameCounts | None = None
    for _ in range(MOST_CUTTING_ROUNDS):
        counted = count_frame(frame, keys.columns, keys.subsets, ranges, open_, keys.levels)
        first = first or counted
        counts |= counted.places
        for number, own in list(open_.items()):
            full = np.flatnonzero(counts[number] > sizes.target)
            full = np.setdiff1d(full, own.heavy_places)
            if not len(full):
                del open_[number]
                continue
            columns = [keys.columns[at] for at in keys.subsets[number]]
            there = crowds(frame, columns, own, counts[number], full.tolist(), sizes)
            final[number] = open_[number] = _cut_again(own, there, sizes)
        if not open_:
            break
    for number in open_:
        raise wording.not_cut(int(counts[number].max()), sizes.target)
    assert first is not None
    return first, tuple(with_counts(own, counts[number], sizes) for number, own in enumerate(final))


def _cut_again(blocks: Blocks, there: Mapping[int, Crowd], sizes: Sizes) -> Blocks:
    cuts: dict[tuple[int, Pattern], Cut] = {}
    for key, cut in blocks.cuts.items():
        parts: dict[int, Tree] = {}
        heavy: list[Doubles] = [cut.heavy]
        for leaf in range(cut.tree.leaves):
            crowd = there.get(blocks.first[key] + leaf)
            if crowd is None:
                continue
            alone = crowd.counts >= sizes.heavy
            heavy.append(crowd.values[alone])
            rest, counts = crowd.values[~alone], crowd.counts[~alone]
            if len(rest):
                left = crowd.records - int(crowd.counts[alone].sum())
                weights = counts * (left / counts.sum())
                parts[leaf] = Tree.grown(blocks.coordinates(rest), weights, sizes.aim)
        tree, _ = cut.tree.with_cut_leaves(parts)
        cuts[key] = Cut(tree, np.concatenate(heavy))
    return blocks.with_cuts(cuts)
