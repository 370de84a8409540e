"""How far tables of any two columns of a frame moved, counted over the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 (what everybody calls it)

from microagg.arrow_values import to_numpy
from microagg.verify.categories import CATEGORIES, TIE

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
