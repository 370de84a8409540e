"""Which records are solved together: strata, and the blocks of those that are too large for one task.

A *block* is a problem of its own: a whole stratum, or a block of a large one. A *part* is what one task
gets: a block, or several small ones. All of it is small, known before the work starts, and sent to every
task; where a record belongs follows from its own values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from microagg.methods.splitters import Axes, Tree, join_small_leaves
from microagg.model import Doubles, Points, Whole
from microagg.prepare.spaces import Space

Pattern = int
"""Bit i: key i is missing; bit p + i: it is zero, where zeros are kept apart."""

Counts = Mapping[tuple[int, Pattern], int]
"""Records of each stratum by pattern."""

SHARE_OF_TARGET = 0.6
"""Blocks should have this share of the largest size: samples err, and no block may be larger than that."""


def _none() -> Whole:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Sizes:
    """k, and how many records a block may have at most."""

    k: int
    target: int

    @property
    def aim(self) -> int:
        """The number of records that a block should have."""
        return int(SHARE_OF_TARGET * self.target)

    @property
    def heavy(self) -> int:
        """Combinations of keys that at least this many records share have a block of their own."""
        return max(self.aim // 4, 2 * self.k)


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """How the records of one stratum and pattern are cut: by a tree; `heavy` are combinations of
    keys that many records share, which have a block of their own.
    """

    tree: Tree
    heavy: Points

    @property
    def places(self) -> int:
        """The number of places: leaves first, then heavy combinations."""
        return self.tree.leaves + len(self.heavy)

    def place_of(self, values: Points, coordinates: Doubles) -> Whole:
        """The place of each record within this cut, from 0 on."""
        places = self.tree.leaf_of(coordinates)
        for at, combination in enumerate(self.heavy):
            same = ((values == combination) | (np.isnan(values) & np.isnan(combination))).all(axis=1)
            places[same] = self.tree.leaves + at
        return places


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Where the records of one subset of keys belong.

    Places are numbered through: whole strata first, then the places of each cut. `block` joins places that
    are too small; `part` is what is worked at together, or -1 for blocks whose records are all the same.
    """

    space: Space
    """In which cuts are made; that of the sample, for it is known first."""
    of_stratum: Whole
    """The place of each stratum; -1 for those that are cut."""
    axes: Axes = field(default_factory=lambda: Axes(np.empty((0, 0))))
    patterns: bool = False
    zeros: bool = False
    substitute_pattern: Mapping[tuple[int, Pattern], Pattern] = field(default_factory=dict)
    """For patterns that too few have, the one whose cut they take."""
    cuts: Mapping[tuple[int, Pattern], Cut] = field(default_factory=dict)
    first: Mapping[tuple[int, Pattern], int] = field(default_factory=dict)
    """The first place of each cut."""
    block: Whole = field(default_factory=_none)
    sizes: Whole = field(default_factory=_none)
    """Records of each block; 0 where a place was joined with another."""
    part: Whole = field(default_factory=_none)
    """The part of each block."""
    spread: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    """For blocks whose records are all the same: their first part, and how many they have."""
    parts: int = 0

    @property
    def count(self) -> int:
        """The number of places."""
        return len(self.block)

    @property
    def heavy_places(self) -> list[int]:
        """Where all records have the same keys."""
        return [
            self.first[key] + cut.tree.leaves + at
            for key, cut in self.cuts.items()
            for at in range(len(cut.heavy))
        ]

    def with_cuts(self, cuts: Mapping[tuple[int, Pattern], Cut]) -> Blocks:
        first, place = {}, int((self.of_stratum >= 0).sum())
        for key, cut in cuts.items():
            first[key] = place
            place += cut.places
        return replace(self, cuts=dict(cuts), first=first, block=np.arange(place))

    def cut_of(self, stratum: int, pattern: Pattern) -> tuple[int, Pattern]:
        """The key of the cut that records of this stratum and pattern take."""
        return stratum, self.substitute_pattern.get((stratum, pattern), pattern)

    def codes(self, values: Points) -> Whole:
        """The pattern of each record."""
        return pattern_codes(values, self.patterns, self.zeros, self.space.numbers)

    def coordinates(self, values: Points) -> Doubles:
        return self.axes.coordinates(self.space.points(values))

    def places(self, stratum: Whole, values: Points) -> Whole:
        """The place of each record."""
        found = self.of_stratum[stratum]
        rows = np.flatnonzero(found < 0)
        if not len(rows):
            return found
        own, coordinates = values[rows], self.coordinates(values[rows])
        for number, code, here in by_pairs(stratum[rows], self.codes(own)):
            key = self.cut_of(number, code)
            found[rows[here]] = self.first[key] + self.cuts[key].place_of(own[here], coordinates[here])
        return found

    def part_of(self, stratum: Whole, values: Points, hashes: Whole) -> Whole:
        """The part of each record; `hashes` spreads the records of blocks that need no work."""
        places = self.places(stratum, values)
        blocks = self.block[places]
        found = self.part[blocks]
        for block, (first, many) in self.spread.items():
            here = blocks == block
            # The few that are too few to be alone go to the first of its parts.
            found[here] = first + np.where(places[here] == block, hashes[here] % many, 0)
        return found


def by_pairs(strata: Whole, codes: Whole) -> Iterator[tuple[int, Pattern, Whole]]:
    """The records of each stratum and pattern, by their places."""
    if len(strata) and (strata == strata[0]).all() and (codes == codes[0]).all():  # by far the most often
        yield int(strata[0]), int(codes[0]), np.arange(len(strata))
        return
    order = np.lexsort([codes, strata])
    changes = (np.diff(strata[order]) != 0) | (np.diff(codes[order]) != 0)
    for rows in np.split(order, np.flatnonzero(changes) + 1):
        if len(rows):
            yield int(strata[rows[0]]), int(codes[rows[0]]), rows


def pattern_codes(values: Points, patterns: bool, zeros: bool, numbers: Sequence[bool]) -> Whole:
    """The pattern of each record: which keys are missing, and which are zero, where that matters."""
    codes = np.zeros(len(values), dtype=np.int64)
    for at, (column, is_number) in enumerate(zip(values.T, numbers, strict=True)):
        if patterns:
            codes |= np.isnan(column).astype(np.int64) << at
        if zeros and is_number:
            codes |= (column == 0.0).astype(np.int64) << (values.shape[1] + at)
    return codes


def substitutes(counts: Counts, keys: int, k: int) -> dict[tuple[int, Pattern], Pattern]:
    """For each pattern of a large stratum that fewer than k records have, another one.

    Rare patterns of zeros take the most alike of those that miss the same keys. Of missing keys, they take
    the pattern with most keys; among its records they are mended as in memory.
    """
    substitute_pattern: dict[tuple[int, Pattern], Pattern] = {}
    for stratum in sorted({stratum for stratum, _ in counts}):
        own = {code: count for (number, code), count in counts.items() if number == stratum}
        for code, other in _substitutes(own, (1 << keys) - 1, k).items():
            substitute_pattern[stratum, code] = other
    return substitute_pattern


def _substitutes(counts: Mapping[Pattern, int], missing: int, k: int) -> dict[Pattern, Pattern]:
    """`substitutes` of one stratum; `missing` has the bits of missing keys."""
    by_gaps: dict[int, dict[Pattern, int]] = {}
    for code, count in sorted(counts.items()):
        by_gaps.setdefault(code & missing, {})[code] = count
    common: dict[int, list[Pattern]] = {}
    substitute_pattern: dict[Pattern, Pattern] = {}
    for gaps, codes in by_gaps.items():
        if sum(codes.values()) >= k:
            common[gaps] = [code for code, count in codes.items() if count >= k] or [min(codes)]
            for code in codes.keys() - set(common[gaps]):
                substitute_pattern[code] = min(
                    common[gaps], key=lambda other: ((code ^ other).bit_count(), -codes[other], other)
                )
    if not common:
        first = min(counts)
        return {code: first for code in counts if code != first}
    host = min(common, key=lambda gaps: (gaps.bit_count(), -sum(by_gaps[gaps].values()), gaps))
    for gaps in by_gaps.keys() - common.keys():
        substitute_pattern |= dict.fromkeys(by_gaps[gaps], common[host][0])
    return substitute_pattern


def with_counts(blocks: Blocks, counts: Whole, sizes: Sizes) -> Blocks:
    """With the number of records at each place known: small ones joined, and parts made of blocks."""
    block = np.arange(blocks.count)
    apart = blocks.heavy_places
    for key, cut in blocks.cuts.items():
        first = blocks.first[key]
        leaves = np.arange(first, first + cut.tree.leaves)
        block[leaves] = leaves[join_small_leaves(counts[leaves], 2 * sizes.k, sizes.target)]
        if len(cut.heavy) and 0 < counts[leaves].sum() < sizes.k:
            block[leaves] = first + cut.tree.leaves
    total = np.bincount(block, weights=counts, minlength=blocks.count).astype(np.int64)
    part = np.full(blocks.count, -1, dtype=np.int64)
    spread: dict[int, tuple[int, int]] = {}
    number, filled = -1, sizes.target
    for place in np.setdiff1d(np.flatnonzero(total), apart).tolist():
        if filled + total[place] > sizes.aim:
            number, filled = number + 1, 0
        part[place] = number
        filled += int(total[place])
    number += 1
    for place in apart:
        if total[place]:
            many = -(-int(total[place]) // sizes.aim)
            spread[place] = number, many
            number += many
    return replace(blocks, block=block, sizes=total, part=part, spread=spread, parts=number)
