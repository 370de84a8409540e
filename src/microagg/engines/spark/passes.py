"""What is found out before records are grouped: small answers from passes over all of them."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from microagg.columns import Notation
from microagg.engines.spark.cells import Cells, Sizes, by_pairs, pattern_codes
from microagg.engines.spark.packet_job import HASH_A, HASH_B, STRATUM
from microagg.engines.spark.packets import numbers_in
from microagg.model import Doubles, Points, Whole
from microagg.prepare.exact_sums import Sums, sums_of, total_of
from microagg.prepare.units import Units

Answer = TypeVar("Answer")

SAMPLE = 200_000
"""Number of sampled records from which cuts are computed."""


@dataclass(slots=True)
class FrameProfile:
    """What the columns hold, of some records or of all."""

    low: Doubles
    high: Doubles
    missing: Whole
    infinite: Whole
    notations: list[Notation]
    patterns: list[Counter[tuple[int, int]]]
    """By subset: the patterns of large strata, with their numbers of records."""
    records: int = 0
    fingerprint: tuple[int, int] = (0, 0)
    """Sums of the two hashes of each record, modulo 2^64: the same only for the same records."""
    sample: list[tuple[Whole, Whole, Points]] = field(default_factory=list)
    """Parts of the sample: hashes, strata and values of records."""

    @classmethod
    def empty(cls, columns: int, subsets: int) -> FrameProfile:
        none = np.zeros(columns, dtype=np.int64)
        return cls(
            np.full(columns, np.inf),
            np.full(columns, -np.inf),
            none,
            none.copy(),
            [Notation()] * columns,
            [Counter() for _ in range(subsets)],
        )

    def __add__(self, other: FrameProfile) -> FrameProfile:
        return FrameProfile(
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.missing + other.missing,
            self.infinite + other.infinite,
            [one + more for one, more in zip(self.notations, other.notations, strict=True)],
            [one + more for one, more in zip(self.patterns, other.patterns, strict=True)],
            self.records + other.records,
            tuple(
                (one + more) % 2**64 for one, more in zip(self.fingerprint, other.fingerprint, strict=True)
            ),  # type: ignore[arg-type]
            self.sample + other.sample,
        )

    def sampled(self) -> tuple[Whole, Points]:
        """Strata and values of the sample, in an order that follows from its content."""
        hashes, strata, values = (np.concatenate(part) for part in zip(*self.sample, strict=True))
        order = np.lexsort([hashes, *values.T[::-1], strata])
        return strata[order], values[order]


@dataclass(frozen=True, slots=True, eq=False)
class ProfilePass:
    """The first pass over all records: what it looks for."""

    columns: tuple[str, ...]
    subsets: tuple[tuple[int, ...], ...]
    """Each subset as positions in `columns`."""
    large: frozenset[int]
    """Numbers of strata that will be cut."""
    share: float
    """Share of the records of large strata that go into the sample."""
    by_pattern: bool
    zeros_apart: bool

    def run(self, batches: Iterator[Any]) -> FrameProfile:
        """Profile the records of one partition."""
        found = FrameProfile.empty(len(self.columns), len(self.subsets))
        large = np.array(sorted(self.large), dtype=np.int64)
        for batch in batches:
            values = numbers_in(batch, self.columns)
            self._columns(values, found)
            hashed = (batch.column(name).to_numpy().view(np.uint64) for name in (HASH_A, HASH_B))
            one, other = (int(hashes.sum()) for hashes in hashed)  # which wraps around
            found.fingerprint = (found.fingerprint[0] + one) % 2**64, (found.fingerprint[1] + other) % 2**64
            if len(large):
                strata = batch.column(STRATUM).to_numpy().astype(np.int64)
                rows = np.flatnonzero(np.isin(strata, large))
                hashes = batch.column(HASH_A).to_numpy()[rows]
                self._large(values[rows], strata[rows], hashes, found)
        return found

    def _columns(self, values: Points, found: FrameProfile) -> None:
        found.records += len(values)
        found.missing += np.isnan(values).sum(axis=0)
        found.infinite += np.isinf(values).sum(axis=0)
        found.low = np.fmin(found.low, np.nanmin(values, axis=0, initial=np.inf))
        found.high = np.fmax(found.high, np.nanmax(values, axis=0, initial=-np.inf))
        for at, column in enumerate(values.T):
            found.notations[at] = found.notations[at].including(column[np.isfinite(column)])

    def _large(self, values: Points, strata: Whole, hashes: Whole, found: FrameProfile) -> None:
        for number, places in enumerate(self.subsets):
            codes = pattern_codes(values[:, places], self.by_pattern, self.zeros_apart)
            for stratum, code, rows in by_pairs(strata, codes):
                found.patterns[number][stratum, code] += len(rows)
        # The upper half of the hash: the lower one spreads records over packets.
        chosen = (hashes.view(np.uint64) >> np.uint64(32)) < self.share * 2.0**32
        found.sample.append((hashes[chosen], strata[chosen], values[chosen]))


def profile_frame(frame: DataFrame, first: ProfilePass) -> FrameProfile:
    """What the first pass finds over all partitions of the frame."""
    wanted = frame.select(*first.columns, STRATUM, HASH_A, HASH_B)
    return sum(
        _answers(wanted, first.run), start=FrameProfile.empty(len(first.columns), len(first.subsets))
    )


@dataclass(frozen=True, slots=True, eq=False)
class CountingPass:
    """What is to be counted in the second pass: sums for the units, and records at each place."""

    columns: tuple[str, ...]
    ranges: Units | None
    """None if the sums are known already."""
    cells: Mapping[int, Cells]
    subsets: tuple[tuple[int, ...], ...]

    def count(self, batches: Iterator[Any]) -> tuple[tuple[Sums, ...], dict[int, Whole]]:
        """Count the records of one partition."""
        sums = []
        counts = {number: np.zeros(cells.count, dtype=np.int64) for number, cells in self.cells.items()}
        for batch in batches:
            values = numbers_in(batch, self.columns)
            if self.ranges is not None:
                sums.append(sums_of(values, self.ranges))
            if counts:
                strata = batch.column(STRATUM).to_numpy().astype(np.int64)
            for number, cells in self.cells.items():
                places = cells.places(strata, values[:, self.subsets[number]])
                counts[number] += np.bincount(places, minlength=cells.count)
        return total_of(sums, len(self.columns)), counts


def count_frame(frame: DataFrame, counting: CountingPass) -> tuple[tuple[Sums, ...], dict[int, Whole]]:
    """What the second pass counts over all partitions of the frame."""
    answers = _answers(frame.select(*counting.columns, STRATUM), counting.count)
    sums = total_of((sums for sums, _ in answers), len(counting.columns))
    counts = {
        number: sum((counts[number] for _, counts in answers), start=np.zeros(cells.count, dtype=np.int64))
        for number, cells in counting.cells.items()
    }
    return sums, counts


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """Some combinations of keys at one place, each with the number of its records."""

    records: int
    values: Points
    counts: Whole


MOST_COMBINATIONS = 20_000
"""At each place that has too many records."""


def crowds(
    frame: DataFrame,
    columns: Sequence[str],
    cells: Cells,
    counts: Whole,
    places: Sequence[int],
    sizes: Sizes,
) -> dict[int, Crowd]:
    """What is at places that have too many records: a sample of their combinations of keys, and all that
    very many records share.
    """
    wanted = np.array(places, dtype=np.int64)
    names = [f"k{at}" for at in range(len(columns))]

    def there(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            values = numbers_in(batch, columns)
            at = cells.places(batch.column(STRATUM).to_numpy().astype(np.int64), values)
            rows = np.flatnonzero(np.isin(at, wanted))
            kept = {name: pa.array(values[rows, i], from_pandas=True) for i, name in enumerate(names)}
            yield pa.RecordBatch.from_pydict({"place": pa.array(at[rows]), **kept})

    schema = ", ".join(["place bigint", *(f"{name} double" for name in names)])
    selected = frame.select(*columns, STRATUM)
    found = selected.mapInArrow(there, schema).groupBy("place", *names).agg(F.count("*").alias("many"))
    # By hash, so that the same ones are taken however the records lie.
    shares = {place: MOST_COMBINATIONS / max(int(counts[place]), 1) for place in places}
    rule = F.lit(False)
    for place, share in shares.items():
        low = F.pmod(F.xxhash64(*names), F.lit(1_000_000)) < int(share * 1_000_000)
        rule = rule | ((F.col("place") == place) & low)
    rows = (
        found.where(rule | (F.col("many") >= sizes.heavy))
        .toArrow()
        .sort_by([("place", "ascending"), *((name, "ascending") for name in names)])
    )
    values, many = numbers_in(rows, names), rows.column("many").to_numpy()
    at = rows.column("place").to_numpy()
    return {place: Crowd(int(counts[place]), values[at == place], many[at == place]) for place in places}


def _answers(frame: DataFrame, work: Callable[[Iterator[Any]], Answer]) -> list[Answer]:
    """What `work` returns for the records of each partition."""

    def answered(batches: Iterator[Any]) -> Iterator[Any]:
        answer = pickle.dumps(work(batches))
        yield pa.RecordBatch.from_pydict({"answer": pa.array([answer], pa.binary())})

    return [pickle.loads(row.answer) for row in frame.mapInArrow(answered, "answer binary").collect()]
