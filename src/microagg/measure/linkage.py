"""Distance-based record linkage: whom would an intruder take for whom?

The intruder knows original values of every record, and its stratum, and takes the nearest released record
of that stratum for it. Released records that are equally near are equally likely, so that a correct link
counts as one over the number of them. Distances are Euclidean, in the original's standard deviations
(see `coordinates` for categories and missing values). Since masked records take few distinct values, each
of these is one target that weighs as many records as share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from microagg import _core
from microagg.measure.intruder_view import SAME, extremes, known, released, scaled_places
from microagg.measure.pair import Codes, MeasureResult, Pair, Values
from microagg.measure.requirements import AT_LEAST_ONE, POSITIVE, SHARE
from microagg.measure.shared_values import (
    class_sizes,
    column_codes,
    combine_codes,
    first_rows,
    released_classes,
)
from microagg.methods.run import Run
from microagg.model import Whole
from microagg.wording.phrases import count

SEED = 20_060_525  # of all samples and noise here: figures repeat
LEAST = 1e-18  # so are those that differ by less, in variances of the original


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """The distinct released records: their coordinates, strata, and how many records share each."""

    points: Values
    strata: Codes
    sizes: Codes


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Of some rows: how many released records are as near as the own one (0: another one is nearer), and
    how many share the own one's values.
    """

    rows: Whole
    tied: Codes
    alike: Codes

    @property
    def to_record(self) -> float:
        """Share of right links."""
        return float(self._chances.mean())

    @property
    def to_group(self) -> float:
        """Share of links to a record with the same released values."""
        return float((self._chances * self.alike).mean())

    @property
    def _chances(self) -> Values:
        return np.divide(1.0, self.tied, out=np.zeros(len(self.tied)), where=self.tied > 0)


def linkage_distance(pair: Pair, *, most_records: int | None = 100_000) -> MeasureResult:
    """Share of records that are linked to their own masked record. See the catalogue.

    Of more than `most_records` records a fixed random sample is linked, to all masked records.
    """
    links = _all_links(pair, most_records)
    classes = whole_targets(pair)[0].sizes.size
    parts = {"1 / mean group size": classes / pair.n}
    if pair.k is not None:
        parts = {"1 / k": 1.0 / pair.k, **parts}
    lines = " and ".join(f"{name} = {100.0 * value:.4g} %" for name, value in parts.items())
    note = f"Compare with {lines}; it comes to the last if every record is nearest to its own group."
    note = note_on_sample(pair, links.rows.size, note)
    return MeasureResult(links.to_record, parts, note, allowed=next(iter(parts.values())))


def linkage_groups(pair: Pair, *, most_records: int | None = 100_000) -> MeasureResult:
    """Share of records that are linked to a record of their own group."""
    links = _all_links(pair, most_records)
    note = "Inside the right group all records look alike, so that this alone identifies nobody."
    return MeasureResult(links.to_group, {}, note_on_sample(pair, links.rows.size, note))


def linkage_subsets(
    pair: Pair, *, largest: int = 3, most_subsets: int = 128, most_records: int | None = 10_000
) -> MeasureResult:
    """`linkage_distance` of intruders who know some keys only: the worst subset of at most `largest` keys.

    Sizes are taken as long as all subsets fit into `most_subsets`; of single keys, the first ones.
    """
    AT_LEAST_ONE.check("largest", largest)
    AT_LEAST_ONE.check("most_subsets", most_subsets)
    largest = min(largest, pair.p)
    subsets: list[tuple[int, ...]] = []
    size = 0
    while size < largest and (size == 0 or len(subsets) + comb(pair.p, size + 1) <= most_subsets):
        size += 1
        subsets += list(combinations(range(pair.p), size))[:most_subsets]
    rows = sample_rows(pair.n, most_records)
    shares = {}
    for subset in subsets:
        links = _links(pair, known(pair, rows, subset), *_projected(pair, subset, rows), rows)
        shares[" + ".join(pair.columns[column] for column in subset)] = links.to_record
    worst = dict(sorted(shares.items(), key=lambda item: -item[1]))
    note = f"Largest of {len(subsets)} subsets of at most {size} of {pair.p} keys"
    if size < largest or len(subsets) < sum(comb(pair.p, s) for s in range(1, size + 1)):
        note += f" (limited to {most_subsets} subsets)"
    return MeasureResult(max(shares.values()), worst, note_on_sample(pair, rows.size, note + "."))


def linkage_noisy(
    pair: Pair,
    *,
    noise: float = 0.1,
    others: Sequence[float] = (0.05, 0.25, 0.5),
    most_records: int | None = 10_000,
) -> MeasureResult:
    """`linkage_distance` of an intruder whose values are off by noise of `noise` standard deviations.

    Normal noise, drawn for each value with a fixed seed (`SEED`), so that figures repeat; parts show
    `others` too. Categories without order are known as they are.
    """
    for level in (noise, *others):
        POSITIVE.check("noise", level)
    rows = sample_rows(pair.n, most_records)
    exact = known(pair, rows)
    draws = np.random.default_rng(SEED).standard_normal((rows.size, pair.p))
    draws *= ~np.isnan(pair.original[rows])
    targets, own = whole_targets(pair)
    shares = {}
    for level in sorted({noise, *others}):
        noisy = exact.copy()
        for column, place in scaled_places(pair).items():
            noisy[:, place] += level * draws[:, column]
        shares[level] = _links(pair, noisy, targets, own[rows], rows).to_record
    parts = {f"noise of {level:g} sd": share for level, share in shares.items()}
    note = f"At noise of {noise:g} standard deviations of each column; random, with a fixed seed."
    return MeasureResult(shares[noise], parts, note_on_sample(pair, rows.size, note))


def outlier_linkage(pair: Pair, *, share: float = 0.01) -> MeasureResult:
    """`linkage_distance` of the most extreme records, by their distance from the mean."""
    SHARE.check("share", share)
    rows = extremes(pair, share)
    links = _whole_links(pair, rows)
    parts = {"to the right group": links.to_group}
    note = f"Of the {count(rows.size, 'record')} farthest from the mean."
    return MeasureResult(links.to_record, parts, note_on_sample(pair, pair.n, note))


def sample_rows(n: int, most: int | None) -> Whole:
    """All rows, or `most` of them drawn with the fixed seed."""
    if most is None or n <= most:
        return np.arange(n)
    AT_LEAST_ONE.check("most_records", most)
    return np.sort(np.random.default_rng(SEED).choice(n, most, replace=False))


def nearest_targets(pair: Pair, rows: Whole, length: int) -> Codes:
    """Of `whole_targets` the nearest to some rows, `length` each; -1 where a stratum has no more."""
    targets, _ = whole_targets(pair)
    stacked = _stacked(pair, known(pair, rows), targets, rows)
    run = Run()
    found = run.call(
        lambda: _core.nearest_targets(stacked, len(targets.points), length, run.threads, run.watch)
    ).astype(np.int64)
    inside = (found >= 0) & (targets.strata[found] == pair.strata[rows][:, None])
    return np.where(inside, found, -1)


def whole_targets(pair: Pair) -> tuple[Targets, Codes]:
    """Distinct combinations of stratum and all masked values, and each record's own."""

    def compute() -> tuple[Targets, Codes]:
        own = released_classes(pair, range(pair.p))
        first = first_rows(own)
        return Targets(released(pair, first), pair.strata[first], class_sizes(own)), own

    return pair.remember("targets", compute)


def note_on_sample(pair: Pair, linked: int, note: str) -> str:
    """The note, with the number of records that were linked."""
    if linked < pair.n:
        note += f" Estimated from a fixed random sample of {linked:,} of {pair.n:,} records."
    if pair.strata.any():
        note += " The intruder knows the stratum."
    return note


def _projected(pair: Pair, columns: Sequence[int], rows: Whole) -> tuple[Targets, Codes]:
    """Distinct combinations of stratum and some columns, and those of some rows.

    They come from the combinations of all columns, of which there are fewer than records.
    """
    whole, own = whole_targets(pair)
    codes = column_codes(pair)
    first = pair.remember("first rows", lambda: first_rows(own))
    merged = combine_codes([whole.strata, *(codes[column][first] for column in columns)])
    sizes = np.bincount(merged, weights=whole.sizes).astype(np.int64)
    chosen = first[first_rows(merged)]
    return Targets(released(pair, chosen, columns), pair.strata[chosen], sizes), merged[own[rows]]


def _all_links(pair: Pair, most_records: int | None) -> Links:
    rows = sample_rows(pair.n, most_records)
    return pair.remember(f"links of {rows.size}", lambda: _whole_links(pair, rows))


def _whole_links(pair: Pair, rows: Whole) -> Links:
    targets, own = whole_targets(pair)
    return _links(pair, known(pair, rows), targets, own[rows], rows)


def _links(pair: Pair, sought: Values, targets: Targets, own: Codes, rows: Whole) -> Links:
    """Link what is known of some rows, whose own targets are `own`, to the nearest targets."""
    stacked = _stacked(pair, sought, targets, rows)
    small = own.astype(np.int32)
    run = Run()
    tied = run.call(
        lambda: _core.rivals(stacked, targets.sizes, small, SAME, LEAST, run.threads, run.watch)
    )
    return Links(rows, tied, targets.sizes[own])


def _stacked(pair: Pair, sought: Values, targets: Targets, rows: Whole) -> Values:
    """Targets, then what is known of the rows, as the core wants them."""
    points = np.vstack([targets.points, sought])
    if pair.strata.any():
        # One more coordinate, the same within a stratum and farther away than anything else otherwise.
        width = 2.0 * float(np.sqrt((np.ptp(points, axis=0) ** 2).sum())) + 1.0
        places = width * np.concatenate([targets.strata, pair.strata[rows]])
        points = np.hstack([points, places[:, None]])
    return np.ascontiguousarray(points)
