"""Rules that give a key, counted in frames of Spark.

A sample is collected; what is right in it is counted in all records where they are: rules of single records
in one pass, codes by two group-bys, and orders inside the intervals between known values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (what everybody calls it)

from microagg.arrow_values import from_numpy, to_numpy
from microagg.verify.derived.finder import EXCEPTIONS, SAMPLED, Derivation, derivations_in
from microagg.verify.derived.readings import Reader
from microagg.verify.derived.relations import (
    CodeCount,
    CodeToValue,
    Linear,
    Monotone,
    Rule,
    SameText,
    in_order,
)
from microagg.verify.derived.sample import Sample
from microagg.verify.derived.tables import has_value, sampled_rows

_PARTS = 1_000_000_000
"""Of the range of hashes, of which a share is sampled."""
_MOST_TIMES = 5
"""So many times the records that are wanted are collected at most."""


def derivations_in_frame(
    frame: DataFrame, keys: Mapping[str, Column], others: Mapping[str, Column]
) -> list[Derivation]:
    """What columns that are released unchanged tell of each of the keys, given by the source's values."""
    if not keys or not others:
        return []
    columns = [column.alias(f"k{at}") for at, column in enumerate(keys.values())]
    columns += [column.alias(f"c{at}") for at, column in enumerate(others.values())]
    return derivations_in(_Frame(frame.select(*columns), tuple(keys), tuple(others)))


@dataclass(frozen=True, eq=False)
class _Sides:
    """What the columns k0, k1 … and c0, c1 … of a frame are."""

    keys: tuple[str, ...]
    others: tuple[str, ...]

    def readers(self, table: pa.Table) -> tuple[Reader, Reader]:
        keys = table.select([f"k{at}" for at in range(len(self.keys))])
        others = table.select([f"c{at}" for at in range(len(self.others))])
        return Reader(keys.rename_columns(list(self.keys))), Reader(
            others.rename_columns(list(self.others))
        )


@dataclass(frozen=True, eq=False)
class _Frame:
    """Keys and other columns of the same records."""

    frame: DataFrame
    keys: tuple[str, ...]
    others: tuple[str, ...]
    _samples: dict[str | None, tuple[Reader, Reader]] = field(default_factory=dict, repr=False)

    @property
    def sides(self) -> _Sides:
        return _Sides(self.keys, self.others)

    def _there(self, key: str) -> Column:
        """Whether a record has a value of the key."""
        name = f"k{self.keys.index(key)}"
        there = F.col(name).isNotNull()
        if self.frame.schema[name].dataType.typeName() in ("double", "float"):
            there = there & ~F.isnan(name)
        return there

    @cached_property
    def counts(self) -> tuple[int, Mapping[str, int]]:
        """The number of records, and of those with a value of each key."""
        rules = [F.count_if(self._there(key)) for key in self.keys]
        every, *some = self.frame.agg(F.count("*"), *rules).collect()[0]
        return every, dict(zip(self.keys, some, strict=True))

    def sample(self, key: str) -> Sample:
        every, some = self.counts
        own = key if some[key] < every else None
        if own not in self._samples:
            there = self.frame if own is None else self.frame.where(self._there(key))
            self._samples[own] = self._collected(there, SAMPLED, some[key])
        return self._of_key(key, *self._samples[own])

    def more(self, sample: Sample, rule: Linear, wrong: int) -> Sample:
        sides = self.sides

        def exceptions(batches: Iterable[Any]) -> Iterator[Any]:
            for batch in batches:
                keys, others = sides.readers(pa.Table.from_batches([batch]))
                is_wrong = has_value(keys.table, rule.key) & ~rule.is_computed(keys, others)
                yield batch.filter(from_numpy(is_wrong))

        found = self.frame.mapInArrow(exceptions, self.frame.schema)
        together = [
            pa.concat_tables([known.table.slice(0, 2 * EXCEPTIONS), more.table])
            for known, more in zip(
                (sample.keys, sample.others), self._collected(found, EXCEPTIONS, wrong), strict=True
            )
        ]
        rows = from_numpy(sampled_rows(np.arange(together[0].num_rows)))
        return self._of_key(rule.key, *(Reader(each.take(rows)) for each in together))

    def _collected(self, frame: DataFrame, most: int, of: int) -> tuple[Reader, Reader]:
        """About so many records of a frame, by their hashes: the same ones however they lie, in random
        order. Equal records are taken together, so that there may be more of them, to a limit.
        """
        hashed = frame.withColumn("hash", F.xxhash64(*frame.columns))
        if of > most:
            hashed = hashed.where(F.pmod("hash", F.lit(_PARTS)) < most * _PARTS // of)
        table = hashed.limit(_MOST_TIMES * most).toArrow().sort_by("hash")
        return self.sides.readers(table)

    def _of_key(self, key: str, keys: Reader, others: Reader) -> Sample:
        there = has_value(keys.table, key)
        if not there.all():
            rows = from_numpy(there)
            keys, others = Reader(keys.table.filter(rows)), Reader(others.table.filter(rows))
        return Sample(key, keys, others, self.counts[1][key], len(self.keys) * len(self.others))

    # --- counting ---------------------------------------------------------------------------------

    def right(self, rules: Sequence[Rule]) -> list[int]:
        by_record = [rule for rule in rules if isinstance(rule, Linear | SameText)]
        found = dict(zip(map(id, by_record), self._right_by_record(by_record), strict=True))
        for rule in rules:
            if isinstance(rule, CodeToValue):
                found[id(rule)] = self._right_by_code(rule)
            elif isinstance(rule, Monotone):
                found[id(rule)] = self._right_by_order(rule)
        return [found[id(rule)] for rule in rules]

    def _right_by_record(self, rules: Sequence[Linear | SameText]) -> list[int]:
        """All rules in one pass."""
        if not rules:
            return []
        sides = self.sides

        def counted(batches: Iterable[Any]) -> Iterator[Any]:
            right = np.zeros(len(rules), dtype=np.int64)
            for batch in batches:
                keys, others = sides.readers(pa.Table.from_batches([batch]))
                right += [int(rule.is_computed(keys, others).sum()) for rule in rules]
            yield pa.RecordBatch.from_arrays(
                [from_numpy(np.arange(len(rules))), from_numpy(right)], ["at", "n"]
            )

        counts = self.frame.mapInArrow(counted, "at bigint, n bigint").groupBy("at").agg(F.sum("n"))
        found = dict(map(tuple, counts.collect()))
        return [found.get(at, 0) for at in range(len(rules))]

    def _right_by_code(self, rule: CodeToValue) -> int:
        columns = [f"c{self.others.index(name)}" for name in rule.columns]
        there = self.frame.where(self._there(rule.key))
        pairs = there.groupBy(*columns, f"k{self.keys.index(rule.key)}").agg(F.count("*").alias("n"))
        codes = pairs.groupBy(*columns).agg(F.max("n").alias("most"), F.sum("n").alias("n"))
        repeated = F.when(F.col("n") > 1, F.col("most")).otherwise(0)
        found = codes.agg(F.count("*"), F.sum("n"), F.sum("most"), F.sum(repeated)).collect()[0]
        return rule.right(CodeCount(*(many or 0 for many in found)))

    def _right_by_order(self, rule: Monotone) -> int:
        """Records between known values do not contradict those elsewhere."""
        sides = self.sides

        def placed(batches: Iterable[Any]) -> Iterator[Any]:
            for batch in batches:
                found = rule.places(*sides.readers(pa.Table.from_batches([batch])))
                yield pa.RecordBatch.from_arrays([*map(from_numpy, found)], ["place", "x", "y"])

        def ordered(table: pa.Table) -> pa.Table:
            right = in_order(to_numpy(table.column("x")), to_numpy(table.column("y")))
            return pa.Table.from_arrays([from_numpy(np.array([right]))], ["n"])

        places = self.frame.mapInArrow(placed, "place bigint, x double, y double").groupBy("place")
        found = places.applyInArrow(ordered, "n bigint").agg(F.sum("n")).collect()[0][0]
        return found or 0
