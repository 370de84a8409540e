"""From passes over the records to cells: what each task will have to do, known before any starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from pyspark.sql import DataFrame

from microagg import wording
from microagg.engines.spark.cells import (
    Cells,
    Cut,
    Pattern,
    Sizes,
    substitutes,
    with_counts,
)
from microagg.engines.spark.passes import (
    SAMPLE,
    CountingPass,
    Crowd,
    FrameProfile,
    ProfilePass,
    count_frame,
    crowds,
    profile_frame,
)
from microagg.methods.splitters import Axes, Tree
from microagg.model import Doubles, Points, ScaleName, Whole
from microagg.plan.protection import Protection
from microagg.prepare.exact_sums import Sums, units_of
from microagg.prepare.units import Units, require_squarable_values

MOST_CUTTING_ROUNDS = 8
"""Of cutting again what has too many records. Each halves them at least; two are enough for most data."""

_MOST_KEYS = 31


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """Units and cells for every subset, and what the passes have found."""

    profile: FrameProfile
    units: Units
    cells: tuple[Cells, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """The columns to be masked in groups, as the frame at work calls them; subsets by their places."""

    columns: tuple[str, ...]
    names: tuple[str, ...]
    subsets: tuple[tuple[int, ...], ...]


def planned(
    frame: DataFrame, protection: Protection, keys: Keys, strata: Whole, sizes: Sizes, share: float = 0.5
) -> Planned:
    """`frame` is the frame at work; `strata` are the numbers of records in each stratum; each cut leaves
    `share` of the records on one side.
    """
    by_pattern, apart = protection.missing == "by-pattern", protection.zeros == "apart"
    most = max(len(places) for places in keys.subsets)
    large = np.flatnonzero(strata > sizes.target)
    if (by_pattern or apart) and most > _MOST_KEYS and len(large):
        raise wording.too_many_keys(most, _MOST_KEYS)
    in_sample = min(1.0, SAMPLE / max(int(strata[large].sum()), 1))
    first = ProfilePass(keys.columns, keys.subsets, frozenset(large.tolist()), in_sample, by_pattern, apart)
    found = profile_frame(frame, first)
    _refuse_values(found, protection, keys, int(strata.sum()))
    scale = protection.method.scale
    empty = found.missing == found.records
    ranges = Units.from_ranges(
        np.where(empty, 0.0, found.low).tolist(), np.where(empty, 0.0, found.high).tolist()
    )
    if scale == "none":
        require_squarable_values(keys.names, found.low, found.high)
    cells = [
        _first(found, number, places, strata, large, scale, ranges, sizes, share, (by_pattern, apart))
        for number, places in enumerate(keys.subsets)
    ]
    sums, final = _settled(frame, keys, cells, ranges if scale == "zscore" else None, strata, sizes)
    return Planned(found, units_of(scale, ranges, found.high, sums), final)


def _refuse_values(found: FrameProfile, protection: Protection, keys: Keys, records: int) -> None:
    if found.records != records:
        raise wording.source_changed()
    for at, name in enumerate(keys.names):
        if found.infinite[at]:
            raise wording.infinite_values(name, int(found.infinite[at]))
        if found.missing[at] and protection.missing != "by-pattern":
            raise wording.missing_keys(name, int(found.missing[at]), records)


def _first(
    found: FrameProfile,
    number: int,
    places: Sequence[int],
    strata: Whole,
    large: Whole,
    scale: ScaleName,
    ranges: Units,
    sizes: Sizes,
    share: float,
    kept_apart: tuple[bool, bool],
) -> Cells:
    """Cells before any is counted: whole strata, and cuts from the sample."""
    own = ranges.of(places)
    of_stratum = np.cumsum(strata <= sizes.target) - 1
    of_stratum[large] = -1
    counts = found.patterns[number]
    substitute_pattern = substitutes(counts, len(places), sizes.k)
    sampled = found.sampled() if len(large) else (np.empty(0, np.int64), np.empty((0, len(own.middle))))
    of_sample, values = sampled[0], sampled[1][:, list(places)] if len(large) else sampled[1]
    units = _units_of_sample(values, scale, own)
    points = units.points(values)
    axes = Axes.of(points) if len(points) > 1 else Axes(np.eye(len(places))[:, :1])
    cells = Cells(units, axes, *kept_apart, of_stratum, substitute_pattern)
    total: dict[tuple[int, Pattern], int] = {}
    for (stratum, code), records in sorted(counts.items()):
        key = stratum, substitute_pattern.get((stratum, code), code)
        total[key] = total.get(key, 0) + records
    codes = cells.codes(values)
    for (stratum, code), other in substitute_pattern.items():
        codes[(of_sample == stratum) & (codes == code)] = other
    coordinates = cells.axes.coordinates(points)
    cuts = {}
    for (stratum, code), records in total.items():
        rows = np.flatnonzero((of_sample == stratum) & (codes == code))
        weights = np.full(len(rows), records / max(len(rows), 1))
        tree = Tree.grown(coordinates[rows], weights, sizes.aim, share)
        cuts[stratum, code] = Cut(tree, np.empty((0, len(places))))
    return _with_cuts(cells, cuts)


def _units_of_sample(values: Points, scale: ScaleName, ranges: Units) -> Units:
    if scale != "zscore" or not len(values):
        return replace(ranges, factor=np.ones(len(ranges.factor))) if scale == "none" else ranges
    steps = ranges.points(values)
    kept = ~np.isnan(steps)
    many = np.maximum(kept.sum(axis=0), 1)
    centre = np.where(kept, steps, 0.0).sum(axis=0) / many
    spread = np.sqrt((np.where(kept, steps - centre, 0.0) ** 2).sum(axis=0) / many)
    return replace(ranges, centre=centre, spread=np.where(ranges.spread > 0.0, spread, 0.0))


def _with_cuts(cells: Cells, cuts: Mapping[tuple[int, Pattern], Cut]) -> Cells:
    first, place = {}, int((cells.of_stratum >= 0).sum())
    for key, cut in cuts.items():
        first[key] = place
        place += cut.places
    return replace(cells, cuts=dict(cuts), first=first, cell=np.arange(place))


def _settled(
    frame: DataFrame, keys: Keys, cells: list[Cells], ranges: Units | None, strata: Whole, sizes: Sizes
) -> tuple[tuple[Sums, ...], tuple[Cells, ...]]:
    """Count the records at each place; where there are too many, cut again and count again."""
    sums: tuple[Sums, ...] = ()
    counts: dict[int, Whole] = {}
    open_ = {number: own for number, own in enumerate(cells) if own.cuts}
    whole = strata[strata <= sizes.target]
    for number, own in enumerate(cells):
        if not own.cuts:
            counts[number] = whole
    for _ in range(MOST_CUTTING_ROUNDS):
        if ranges is None and not open_:
            break
        new, found = count_frame(frame, CountingPass(keys.columns, ranges, open_, keys.subsets))
        sums, ranges = new if ranges is not None else sums, None
        for number, own in list(open_.items()):
            counts[number] = found[number]
            full = _too_full(own, found[number], sizes)
            if not full:
                del open_[number]
                continue
            columns = [keys.columns[at] for at in keys.subsets[number]]
            there = crowds(frame, columns, own, found[number], full, sizes)
            cells[number] = open_[number] = _cut_again(own, there, sizes)
    for number in open_:
        raise wording.not_cut(int(counts[number].max()), sizes.target)
    return sums, tuple(
        with_counts(own, counts[number], _same(own), sizes) for number, own in enumerate(cells)
    )


def _same(cells: Cells) -> list[int]:
    """The places of heavy combinations."""
    return [
        cells.first[key] + cut.tree.leaves + at
        for key, cut in cells.cuts.items()
        for at in range(len(cut.heavy))
    ]


def _too_full(cells: Cells, counts: Whole, sizes: Sizes) -> list[int]:
    same = set(_same(cells))
    return [place for place in np.flatnonzero(counts > sizes.target).tolist() if place not in same]


def _cut_again(cells: Cells, there: Mapping[int, Crowd], sizes: Sizes) -> Cells:
    cuts: dict[tuple[int, Pattern], Cut] = {}
    for key, cut in cells.cuts.items():
        parts: dict[int, Tree] = {}
        heavy: list[Doubles] = [cut.heavy]
        for leaf in range(cut.tree.leaves):
            crowd = there.get(cells.first[key] + leaf)
            if crowd is None:
                continue
            alone = crowd.counts >= sizes.heavy
            heavy.append(crowd.values[alone])
            rest, counts = crowd.values[~alone], crowd.counts[~alone]
            if len(rest):
                coordinates = cells.axes.coordinates(cells.units.points(rest))
                left = crowd.records - int(crowd.counts[alone].sum())
                parts[leaf] = Tree.grown(coordinates, counts * (left / counts.sum()), sizes.aim)
        tree, _ = cut.tree.with_cut_leaves(parts)
        cuts[key] = Cut(tree, np.concatenate(heavy))
    return _with_cuts(cells, cuts)
