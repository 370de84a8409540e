"""What is counted in all records before they are grouped, and some of them as a sample."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from microagg.columns import NumberForm
from microagg.engines.spark.part_job import HASH_A, HASH_B, STRATUM, WEIGHT
from microagg.engines.spark.part_work import doubles_in
from microagg.model import Doubles, Points, Whole
from microagg.prepare.exact_sums import Sums, sums_of, total_of
from microagg.prepare.large_strata import Blocks, Pattern, Sizes
from microagg.prepare.units import Units
from microagg.spark_functions import found_in
from microagg.verify.frame_release import Fingerprint, fingerprint_in, sums_of_hashes

POINTS = 1024
"""By which the spread of a column of numbers is known."""

_SPREAD = 20_000
"""About so many rare values are looked at for it."""

MOST_COMBINATIONS = 20_000
"""At each place that has too many records."""


@dataclass(frozen=True, slots=True, eq=False)
class FrameProfile:
    """All records, and by key: its range, how many records lack it, and how many have an infinite one."""

    source: Fingerprint
    low: Doubles
    high: Doubles
    missing: Whole
    infinite: Whole


def profile_frame(frame: DataFrame, columns: Sequence[str]) -> FrameProfile:
    """A key without any value has the range 0 to 0."""
    rules = [F.count("*").alias("n"), *sums_of_hashes(F.col(HASH_A), F.col(HASH_B), "source")]
    for at, key in enumerate(map(F.col, columns)):
        rules += [
            F.min(key).alias(f"low{at}"),
            F.max(key).alias(f"high{at}"),
            F.count_if(key.isNull()).alias(f"missing{at}"),
            F.count_if(F.abs(key) == math.inf).alias(f"infinite{at}"),
        ]
    found = frame.agg(*rules).collect()[0]
    low, high, missing, infinite = (
        np.array([found[f"{what}{at}"] or 0 for at in range(len(columns))], dtype=kind)
        for what, kind in (("low", float), ("high", float), ("missing", int), ("infinite", int))
    )
    return FrameProfile(fingerprint_in(found, "source"), low, high, missing, infinite)


def sample_frame(
    frame: DataFrame, columns: Sequence[str], strata: Whole, share: float
) -> tuple[Whole, Points]:
    """Strata and values of a share of the records of these strata, in an order of their content."""
    # The upper half of the hash: the lower one spreads records over parts.
    chosen = F.shiftrightunsigned(HASH_A, 32) < share * 2.0**32
    some = frame.where(chosen & _is_in(strata)).select(STRATUM, HASH_A, *columns).toArrow()
    of_sample, values = some.column(STRATUM).to_numpy().astype(np.int64), doubles_in(some, columns)
    order = np.lexsort([some.column(HASH_A).to_numpy(), *values.T[::-1], of_sample])
    return of_sample[order], values[order]


def spread_of(frame: DataFrame, column: str, records: int) -> Doubles:
    """Values of a column, each as often as it is frequent: those that many records have, and of the others
    some, the same ones however they lie.
    """
    value, many = F.col(column), F.col("count")
    counts = frame.where(value.isNotNull()).groupBy(value).count()
    often = many >= records / POINTS
    chosen = F.pmod(F.xxhash64(value), F.lit(-(-records // _SPREAD))) == 0
    total = counts.agg(F.sum(many), F.sum(F.when(often, many).otherwise(0))).collect()[0]
    table = counts.where(often | chosen).toArrow()
    values, weights = (table.column(at).to_numpy().astype(np.float64) for at in range(2))
    rare = weights < records / POINTS
    weights[rare] *= ((total[0] or 0) - (total[1] or 0)) / max(weights[rare].sum(), 1.0)
    order = np.argsort(values)
    ends = np.cumsum(weights[order])
    if not len(ends):
        return ends
    places = np.searchsorted(ends, np.arange(POINTS + 1) / POINTS * ends[-1] * (1.0 - 1e-12))
    found: Doubles = values[order][places]
    return found


def count_patterns(
    frame: DataFrame, columns: Sequence[str], strata: Whole, missing: bool, zeros: Sequence[bool]
) -> dict[tuple[int, Pattern], int]:
    """The records of these strata by their patterns of missing keys, if these matter, and of zeros in the
    columns in which they do.
    """
    code = F.lit(0)
    for at, (key, matters) in enumerate(zip(map(F.col, columns), zeros, strict=True)):
        code = code + F.when(key.isNull(), 1 << at).otherwise(0) if missing else code
        code = code + F.when(key == 0.0, 1 << (len(columns) + at)).otherwise(0) if matters else code
    counted = frame.where(_is_in(strata)).groupBy(STRATUM, code.alias("pattern")).count()
    return {(stratum, pattern): records for stratum, pattern, records in counted.collect()}


def _is_in(strata: Whole) -> Column:
    return F.col(STRATUM).isin(strata.tolist())


@dataclass(frozen=True, slots=True, eq=False)
class FrameCounts:
    """Of some records, or of all: sums of each key in steps of its range, how its numbers are written, and
    how many records are at each place of the blocks of some subsets; of categories, how many records have
    each level, and how much weight these have.
    """

    sums: tuple[Sums, ...]
    notations: tuple[NumberForm, ...]
    places: Mapping[int, Whole]
    levels: tuple[Whole, ...]
    weights: tuple[Doubles, ...]

    def __add__(self, other: FrameCounts) -> FrameCounts:
        return FrameCounts(
            total_of([self.sums, other.sums], len(self.sums)),
            tuple(one + more for one, more in zip(self.notations, other.notations, strict=True)),
            {number: counts + other.places[number] for number, counts in self.places.items()},
            tuple(one + more for one, more in zip(self.levels, other.levels, strict=True)),
            tuple(one + more for one, more in zip(self.weights, other.weights, strict=True)),
        )


def count_frame(
    frame: DataFrame,
    columns: Sequence[str],
    subsets: Sequence[Sequence[int]],
    ranges: Units,
    blocks: Mapping[int, Blocks],
    levels: Sequence[int],
) -> FrameCounts:
    """`blocks` are those of some of the subsets, by number; `levels`: of each column, 0 if it is none of
    categories.
    """
    weight = [WEIGHT] if WEIGHT in frame.columns else []
    nothing = FrameCounts(
        (Sums(),) * len(columns),
        (NumberForm(),) * len(columns),
        {number: np.zeros(own.count, dtype=np.int64) for number, own in blocks.items()},
        tuple(np.zeros(many, dtype=np.int64) for many in levels),
        tuple(np.zeros(many) for many in levels),
    )

    def count(before: FrameCounts, batch: Any) -> FrameCounts:
        values, strata = doubles_in(batch, columns), batch.column(STRATUM).to_numpy().astype(np.int64)
        places = {number: own.places(strata, values[:, subsets[number]]) for number, own in blocks.items()}
        weights = doubles_in(batch, weight)[:, 0] if weight else None
        by_level = [_by_level(column, many, None) for column, many in zip(values.T, levels, strict=True)]
        weighted = [_by_level(column, many, weights) for column, many in zip(values.T, levels, strict=True)]
        return FrameCounts(
            total_of([before.sums, sums_of(values, ranges)], len(columns)),
            tuple(
                known.including(column[np.isfinite(column)])
                for known, column in zip(before.notations, values.T, strict=True)
            ),
            {
                number: before.places[number] + np.bincount(at, minlength=blocks[number].count)
                for number, at in places.items()
            },
            tuple(one + more for one, more in zip(before.levels, by_level, strict=True)),
            tuple(one + more for one, more in zip(before.weights, weighted, strict=True)),
        )

    chosen = frame.select(*columns, STRATUM, *weight)
    return sum(found_in(chosen, lambda batches: reduce(count, batches, nothing)), start=nothing)


def _by_level(codes: Doubles, levels: int, weights: Doubles | None) -> NDArray[Any]:
    """How many records, or how much weight, each level has."""
    if not levels:
        return np.zeros(0, dtype=np.int64)
    there = ~np.isnan(codes)
    own = None if weights is None else weights[there]
    return np.bincount(codes[there].astype(np.int64), own, levels)


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """Some combinations of keys at one place, each with the number of its records."""

    records: int
    values: Points
    counts: Whole


def crowds(
    frame: DataFrame,
    columns: Sequence[str],
    blocks: Blocks,
    counts: Whole,
    places: Sequence[int],
    sizes: Sizes,
) -> dict[int, Crowd]:
    """What is at places that have too many records: a sample of their combinations of keys, and all that
    very many records share.
    """
    names = [f"k{at}" for at in range(len(columns))]

    def there(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            values = doubles_in(batch, columns)
            at = blocks.places(batch.column(STRATUM).to_numpy().astype(np.int64), values)
            rows = np.flatnonzero(np.isin(at, places))
            kept = {name: pa.array(values[rows, i], from_pandas=True) for i, name in enumerate(names)}
            yield pa.RecordBatch.from_pydict({"place": pa.array(at[rows]), **kept})

    schema = ", ".join(["place bigint", *(f"{name} double" for name in names)])
    selected = frame.select(*columns, STRATUM).mapInArrow(there, schema)
    found = selected.groupBy("place", *names).agg(F.count("*").alias("many"))
    # By hash, so that the same ones are taken however the records lie.
    hashed = F.pmod(F.xxhash64(*names), F.lit(1_000_000))
    chosen = F.col("many") >= sizes.heavy
    for place in places:
        share = MOST_COMBINATIONS / max(int(counts[place]), 1)
        chosen = chosen | ((F.col("place") == place) & (hashed < int(share * 1_000_000)))
    rows = found.where(chosen).toArrow().sort_by([(name, "ascending") for name in ("place", *names)])
    values, many = doubles_in(rows, names), rows.column("many").to_numpy()
    at = rows.column("place").to_numpy()
    return {place: Crowd(int(counts[place]), values[at == place], many[at == place]) for place in places}
