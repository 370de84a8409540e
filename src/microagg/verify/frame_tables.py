"""What became of the categories of keys in a frame, and of tables of any two columns, over the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations
from operator import and_
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 (what everybody calls it)

from microagg.arrow_values import to_numpy
from microagg.model import Doubles
from microagg.spark_functions import found_in
from microagg.verdict import CategoryChanges
from microagg.verify.categories import CATEGORIES, TIE, moved_shares, wrong_modes, wrong_nearest_codes
from microagg.verify.classes import Classes
from microagg.verify.frame_columns import NUMERIC, PairedFrame
from microagg.verify.shape import (
    categories_of,
    class_columns,
    key_columns,
    masked_columns,
    unmasked_confidential,
)

ROWS = 100
"""Of a table, and one for what is missing; categories beyond share them."""

BANDS = 20
"""Of equal counts, of numbers."""

QUANTILES = 256
"""Of a column of numbers, by which it is judged what is near."""

STEPS = 8
"""So many different quantiles may lie between the mean of a class and what it publishes."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column before and after, as numbers unless `kind` is None; `subset`: whose class it is of."""

    before: Column
    after: Column
    kind: str | None = None
    subset: int | None = None


def quantiles_in_frame(
    frame: DataFrame, columns: Sequence[Column], many: int
) -> list[np.ndarray[Any, Any]]:
    """Of each column of numbers: its least value, so many others at equal distances, and the largest."""
    if not columns:
        return []
    shares = F.lit([at / many for at in range(many + 1)])
    found = frame.agg(*(F.percentile_approx(each, shares, 10_000).alias("q") for each in columns))
    ends = frame.agg(*(F.array(F.min(each), F.max(each)) for each in columns)).collect()[0]
    return [
        np.sort(np.array([*(own or ()), *end], dtype=np.float64))
        for own, end in zip(found.collect()[0], ends, strict=True)
    ]


def two_way(
    frame: DataFrame, columns: Sequence[TableColumn], classes: Sequence[Sequence[Column]], weight: Column
) -> tuple[float, float]:
    """The mean total variation distance of tables of two columns, of what is released, and if classes
    published median levels and modes; `classes`: by subset, the released columns that make them.
    """
    numbers = [each for each in columns if each.kind in ("number", "date")]
    edges = dict(
        zip(
            map(id, numbers),
            quantiles_in_frame(frame, [each.before for each in numbers], BANDS),
            strict=True,
        )
    )
    own = [weight.alias("w")]
    for at, each in enumerate(columns):
        own += [each.before.alias(f"b{at}"), each.after.alias(f"a{at}")]
    for number, keys in enumerate(classes):
        own += [F.xxhash64(*keys).alias(f"s{number}"), F.xxhash64(F.lit(1), *keys).alias(f"t{number}")]
    wide = frame.select(*own)
    for number in range(len(classes)):
        chosen = [(at, each.kind or "") for at, each in enumerate(columns) if each.subset == number]
        wide = wide.join(_middles(wide, number, chosen), [f"s{number}", f"t{number}"])
    rows: list[Column] = []
    for at, each in enumerate(columns):
        middle = f"m{at}" if each.subset is not None and each.kind in CATEGORIES else f"a{at}"
        for side in (f"b{at}", f"a{at}", middle):
            rows.append(_row_of_table(F.col(side), each.kind, edges.get(id(each))).alias(f"r{len(rows)}"))
    return _distances(wide.select(F.col("w").cast("double"), *rows), len(columns))


def _middles(frame: DataFrame, number: int, chosen: Sequence[tuple[int, str]]) -> DataFrame:
    """By class of a subset: median levels and most frequent codes."""
    keys = [f"s{number}", f"t{number}"]
    found = frame.groupBy(*keys).agg(F.count("*").alias(f"n{number}"))
    categories = [(at, kind) for at, kind in chosen if kind in CATEGORIES]
    if not categories:
        return found
    codes = F.posexplode(F.array(*(F.col(f"b{at}").cast("double") for at, _ in categories)))
    cells = frame.select(*keys, "w", codes).where("col is not null")
    cells = cells.groupBy(*keys, "pos", "col").agg(F.sum("w").alias("many"))
    here = Window.partitionBy(*keys, "pos")
    cells = cells.withColumn("total", F.sum("many").over(here))
    cells = cells.withColumn("up_to", F.sum("many").over(here.orderBy("col")))
    enough = F.col("up_to") >= F.col("total") / 2.0 * (1.0 - TIE)
    each = cells.groupBy(*keys, "pos").agg(
        F.min(F.when(enough, F.col("col"))).alias("ordinal"),
        F.max_by("col", F.struct("many", -F.col("col"))).alias("nominal"),
    )
    wanted = [
        F.max(F.when(F.col("pos") == place, F.col(kind))).alias(f"m{at}")
        for place, (at, kind) in enumerate(categories)
    ]
    return found.join(each.groupBy(*keys).agg(*wanted), keys, "left")


def _row_of_table(value: Column, kind: str | None, edges: np.ndarray[Any, Any] | None) -> Column:
    """In which row of a table a value stands; a missing one in the last."""
    if edges is not None:
        starts = F.lit(np.unique(edges[~np.isnan(edges)])[1:].tolist() or [0.0])
        row = F.size(F.filter(starts, lambda start: start <= value))
    elif kind is None:
        row = F.pmod(F.xxhash64(value), F.lit(ROWS))
    else:
        row = F.pmod(value.cast("bigint"), F.lit(ROWS))
    return F.when(value.isNull(), ROWS).otherwise(row).cast("bigint")


def _distances(rows: DataFrame, many: int) -> tuple[float, float]:
    """From weights, and the rows of each column before, after and with middles."""
    pairs = list(combinations(range(many), 2))
    if not pairs:
        return 0.0, 0.0

    def count(batches: Iterable[Any]) -> Iterator[Any]:
        cells = (ROWS + 1) ** 2
        for batch in batches:
            weight, *own = (to_numpy(batch.column(at)) for at in range(batch.num_columns))
            for number, (one, other) in enumerate(pairs):
                places = [own[3 * one + at] * (ROWS + 1) + own[3 * other + at] for at in range(3)]
                sums = [np.bincount(each, weight, cells) for each in places]
                used = np.flatnonzero(reduce(np.logical_or, (each > 0.0 for each in sums)))
                content = {name: each[used] for name, each in zip("bam", sums, strict=True)}
                yield pa.RecordBatch.from_pydict({"cell": used + number * cells, **content})

    found = rows.mapInArrow(count, "cell bigint, b double, a double, m double")
    found = found.groupBy("cell").agg(*(F.sum(name).alias(name) for name in "bam"))
    off = [F.sum(F.abs(F.col("b") - F.col(name))) for name in "am"]
    released, middles, total = found.agg(*off, F.sum("b")).collect()[0]
    return 0.5 * released / total, 0.5 * middles / total


@dataclass(frozen=True, eq=False)
class FrameCategories(PairedFrame):
    """What is counted of categories, and of tables with them."""

    def category_changes(self) -> CategoryChanges | None:
        by_subset = categories_of(self.claims)
        names = [name for each in by_subset for name in each if name in key_columns(self.claims)]
        if not names:
            return None
        source = self.frame if self.everything is None else self.everything
        before, after = ([side(name) for name in names] for side in (self.before, self.after))
        own = [f"n{at}" for at in range(len(names))]
        known = source.select(*before).toDF(*own).distinct().withColumn("known", F.lit(True))
        released = self.frame.select(*after).toDF(*own).groupBy(*own).count()
        same = [released[name].eqNullSafe(known[name]) for name in own]
        new, many = F.col("known").isNull(), F.col("count")
        figures = [F.count("*"), F.count_if(new), F.sum(F.when(new, many).otherwise(0))]
        joined = released.join(known, reduce(and_, same), "left")
        combinations, new_ones, new_records = joined.agg(*figures).collect()[0]
        equal = [F.count_if(old.eqNullSafe(now)) for old, now in zip(before, after, strict=True)]
        unchanged = sum(self.frame.agg(*equal).collect()[0])
        moved = self._moved_shares(names, source.select(F.array(*before), self.weight()), after)
        existing = self.claims.categories == "existing"
        missing = sum(map(self._not_in_source, filter(None, by_subset))) if existing else 0
        keeps_tables = self.claims.categories == "tables"
        distance, of_middles, effective = self._two_way() if keeps_tables else (None, 0.0, 1.0)
        return CategoryChanges(
            tuple(names),
            combinations,
            new_ones,
            new_records,
            moved,
            unchanged=unchanged,
            cells=len(names) * self.records,
            two_way=distance,
            two_way_of_middles=of_middles,
            effective_records=effective,
            not_in_source=missing,
        )

    @cached_property
    def near_quantiles(self) -> dict[str, Doubles]:
        """Of numbers that follow tables."""
        names = [name for name in masked_columns(self.claims) if self.claims.follows_tables(name)]
        found = quantiles_in_frame(
            self.frame, [self.before(name).cast("double") for name in names], QUANTILES
        )
        return dict(zip(names, found, strict=True))

    def _two_way(self) -> tuple[float, float, float]:
        """How far tables of two columns moved, and how far they would have with the middles of classes; and
        how many records of equal weight these are.
        """
        claims = self.claims
        columns: list[TableColumn] = []
        classes: list[list[Column]] = []
        for names in (*claims.subsets, *claims.own_subsets):
            columns += [
                TableColumn(
                    self.before(name).cast("double"),
                    self.after(name).cast("double"),
                    claims.kinds.get(name, "number"),
                    len(classes),
                )
                for name in names
            ]
            classes.append([*map(self.after, class_columns(claims, names[0]))])
        for name in (*claims.strata, *unmasked_confidential(claims)):
            is_number = self.column_kinds[self.sides.after[name]] in NUMERIC
            side = self.after(name).cast("double") if is_number else self.after(name)
            columns.append(TableColumn(side, side, "number" if is_number else None))
        weight = self.weight().cast("double")
        total, squares = self.frame.agg(F.sum(weight), F.sum(weight * weight)).collect()[0]
        return *two_way(self.frame, columns, classes, self.weight()), float(total**2 / squares)

    def _not_in_source(self, names: tuple[str, ...]) -> int:
        """Combinations of these categories that no record of the source has; of records that publish all of
        them.
        """
        own = [f"n{at}" for at in range(len(names))]
        source = self.frame if self.everything is None else self.everything
        known = source.select(*map(self.before, names)).toDF(*own).distinct()
        released = self.frame.select(*map(self.after, names)).toDF(*own).dropna().distinct()
        return released.join(known, own, "left_anti").count()

    def _moved_shares(self, names: list[str], source: DataFrame, after: list[Column]) -> dict[str, float]:
        """By column, from the weight of each of its codes; `source` has all codes of each record."""
        tables = []
        for codes in (source, self.frame.select(F.array(*after), self.weight())):
            each = codes.toDF("codes", "weight").select(F.posexplode("codes"), "weight")
            sums = each.groupBy("pos", "col").agg(F.sum("weight").alias("weight")).toArrow()
            tables.append({name: to_numpy(sums.column(name)) for name in ("pos", "col", "weight")})
        moved = {}
        for at, name in enumerate(names):
            here = [table["pos"] == at for table in tables]
            (old, new), (weight, new_weight) = (
                [table[what][rows] for table, rows in zip(tables, here, strict=True)]
                for what in ("col", "weight")
            )
            moved[name] = moved_shares(old, new, weight, new_weight)
        return moved

    def wrong_codes(self, keys: tuple[str, ...], name: str) -> int:
        """Classes that publish another category than they have to: those of each task are counted as all
        are in memory.
        """
        after = [*map(self.after, keys)]
        by_code = self.frame.groupBy(*after, self.before(name).alias("code"))
        cells = by_code.agg(F.sum(self.weight()).alias("many"))
        sums = cells.groupBy("code").agg(F.sum("many").alias("many")).toArrow()
        taxonomy = self.claims.taxonomy.get(name)
        codes = to_numpy(sums.column("code")).astype(np.int64)
        overall = np.zeros(max(int(codes.max(initial=0)) + 1, len(taxonomy or ())))
        # To fewer digits than depend on the order in which weights are added up.
        overall[codes] = [float(f"{each:.12g}") for each in sums.column("many").to_pylist()]
        listed = F.collect_list(F.struct("code", "many")).alias("cells")
        classes = cells.groupBy(*after).agg(listed).select(self.after(name).alias("new"), "cells")

        def count(batches: Iterable[Any]) -> int:
            return sum(_wrong_codes(batch, overall, taxonomy) for batch in batches if batch.num_rows)

        return sum(found_in(classes, count))


def _wrong_codes(batch: Any, overall: Doubles, taxonomy: Sequence[Sequence[int]] | None) -> int:
    """Of classes, each with its published code and the weight of all codes that its records had."""
    cells, sizes = batch.column(1).flatten(), to_numpy(compute.list_value_length(batch.column(1)))
    labels = np.repeat(np.arange(batch.num_rows), sizes)
    before, many = (to_numpy(cells.field(at)) for at in range(2))
    after = np.repeat(to_numpy(batch.column(0)), sizes)
    classes = Classes(labels, batch.num_rows)
    if taxonomy is not None:
        return wrong_nearest_codes(before, after, classes, many, taxonomy, overall)
    return wrong_modes(before, after, classes, many, overall)
