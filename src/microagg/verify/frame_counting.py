"""Counts of a release in a Spark frame. What follows from them is decided in `rules.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (what everybody calls it)

from microagg.arrow_values import from_numbers, to_numpy
from microagg.model import Doubles
from microagg.spark_functions import of_columns
from microagg.verdict import NEGLIGIBLE, Count, Finding, MeanChange, Respondents, refuse
from microagg.verify.categories import CATEGORIES, LEAST_OF_A_DATE, TIE, around
from microagg.verify.classes import codes_of
from microagg.verify.derived import Derivation, derivations
from microagg.verify.frame_columns import NUMBER, quoted, read_as, understood
from microagg.verify.frame_tables import STEPS, FrameCategories
from microagg.verify.linking import MOST_RECORDS, linked_shares
from microagg.verify.means import mean_change
from microagg.verify.promises import with_mean_tolerance
from microagg.verify.published_values import published_as, value_failures
from microagg.verify.rules import SubsetResult, too_few_values
from microagg.verify.shape import (
    class_columns,
    confidential_sides,
    key_columns,
    masked_columns,
    recoded_failures,
    unmasked_confidential,
)
from microagg.verify.two_way import are_far
from microagg.verify.values import numbers

SAMPLED = 20_000
"""Records in which columns are looked for that give a masked one back."""
_MOST_TIMES = 5
"""At most so many times the wanted number of records is collected."""
TINY = 2.2250738585072014e-308


@dataclass(frozen=True, eq=False)
class FrameCounting(FrameCategories):
    """What is counted in a frame, and what is promised about it."""

    def count(self, names: tuple[str, ...]) -> Count:
        classes = self.frame.groupBy(*map(self.after, names)).agg(F.count("*").alias("n"))
        return self._as_count(names, classes.agg(*self._sizes()).collect()[0])

    def _sizes(self) -> list[Column]:
        n = F.col("n")
        return [
            F.count("*").alias("classes"),
            F.min("n").alias("smallest"),
            F.sum(F.when(n < self.claims.k, n).otherwise(0)).alias("below"),
            F.count_if(n == 1).alias("unique"),
        ]

    def _as_count(self, names: tuple[str, ...], found: Any) -> Count:
        smallest, below = found["smallest"] or 0, found["below"] or 0
        return Count(names, found["classes"], smallest, below, found["unique"])

    def recoded_failures(self) -> list[Finding]:
        """By the combinations of codes, of which there are as many as strata."""
        names = list(self.claims.strata)
        if not self.claims.recoded:
            return []
        own = [f"{side}{at}" for side in "ba" for at in range(len(names))]
        codes = self.frame.select(*map(self.before, names), *map(self.after, names)).toDF(*own)
        pairs = codes.groupBy(*own).agg(F.count("*").alias("n")).toArrow()
        before, after = (
            pairs.select([name for name in own if name[0] == side]).rename_columns(names) for side in "ba"
        )
        return recoded_failures(before, after, self.claims, pairs.column("n").to_numpy())

    def subset(self, strata: tuple[str, ...], names: tuple[str, ...]) -> SubsetResult:
        claims, weighted = self.claims, self.sides.weight is not None
        rules = self._rules_of_classes(names)
        confidential = confidential_sides(claims)
        for at, (name, released) in enumerate(confidential):
            rules.append(self.distinct(name, released).alias(f"d{at}"))
        keys = strata + names
        classes = self.frame.groupBy(*map(self.after, keys)).agg(*rules)
        figures = [*self._sizes(), *self._over_classes(names, weighted, len(confidential))]
        found = classes.agg(*figures).collect()[0]
        failures: list[Finding] = []
        for at, name in enumerate(names):
            invented, few, far = (found[f"{what}{at}"] or 0 for what in ("invented", "few", "far"))
            kind = published_as(claims, name)
            far += self.wrong_codes(keys, name) if kind in ("nominal", "taxonomy") else 0
            vanished = 0 if claims.may_set_to_missing else self.figures[name].set_to_missing
            failures += value_failures(name, claims.k, invented, few, far, vanished, kind)
            if wrong := found[f"decimals{at}"]:
                allowed = claims.decimals[name]
                failures.append(refuse("too_many_decimals", name, records=wrong, decimals=allowed))
        too_few = [
            too_few_values(
                claims,
                name,
                keys,
                found[f"poor{at}"],
                found[f"in_poor{at}"],
                released,
                name in self.spellings,
            )
            for at, (name, released) in enumerate(confidential)
            if found[f"poor{at}"] and names not in claims.own_subsets
        ]
        amounts = {name: found[f"close{at}"] for at, name in enumerate(names) if name in claims.amounts}
        return SubsetResult(
            self._as_count(keys, found),
            failures,
            too_few,
            real_values=found["own"] if claims.aggregate == "median" else 0,
            dominated_weights=found["dominated"] if weighted else 0,
            dominated_amounts=amounts,
        )

    def _rules_of_classes(self, names: tuple[str, ...]) -> list[Column]:
        """What is counted of each class."""
        claims, weight, weighted = self.claims, self.weight(), self.sides.weight is not None
        rules = [F.count("*").alias("n")]
        own, differ = F.lit(False), F.lit(False)
        for at, name in enumerate(names):
            old, new = self.before(name), self.after(name).cast("double")
            off, kind = old - new, claims.kinds.get(name)
            rules += [
                F.sum(weight * off).alias(f"off{at}"),
                F.sum(weight * F.abs(off if kind == "date" else old)).alias(f"size{at}"),
            ]
            if kind in CATEGORIES and claims.categories != "mode":
                rules += [F.max(F.coalesce(old == new, F.lit(False))).alias(f"same{at}")]
            elif kind == "ordinal":
                rules += [F.sum(F.when(old < new, weight).otherwise(0)).alias(f"below{at}")]
                rules += [F.sum(F.when(old <= new, weight).otherwise(0)).alias(f"up_to{at}")]
            rules += [] if name in self.complete else [F.count(off).alias(f"cells{at}")]
            rules += [F.sum(F.when(off.isNotNull(), weight)).alias(f"total{at}")] if weighted else []
            own = own | F.coalesce(old == new, F.lit(False)) if kind is None else own
            differ = differ | (F.min(old) < F.max(old))
            if claims.aggregate == "median":
                rules.append(F.median(off if kind == "date" else old).alias(f"median{at}"))
            rules += [self._is_close(old).alias(f"close{at}")] if name in claims.amounts else []
        rules.append(F.max(own).alias("own"))
        if weighted:
            rules += [
                F.max(weight).alias("heaviest"),
                F.sum(weight).alias("weight"),
                differ.alias("differ"),
            ]
        return rules

    def _is_close(self, value: Column) -> Column:
        """Whether the largest amount of a class can be estimated too closely."""
        amounts = F.sort_array(F.collect_list(F.abs(value)), asc=False)
        largest, second = (F.coalesce(F.get(amounts, at), F.lit(0.0)) for at in range(2))
        rest = F.sum(F.abs(value)) * (1 + 1e-12) - largest - second
        return (largest > 0) & (rest < self.claims.p_percent / 100.0 * largest)

    def too_few_values(self, keys: tuple[str, ...]) -> list[Finding]:
        return list(self.subset(keys, ()).too_few_values) if self.claims.confidential else []

    def _over_classes(self, names: tuple[str, ...], weighted: bool, confidential: int) -> list[Column]:
        """Figures of all classes, from those of each."""
        rules = [F.count_if("own").alias("own")]
        for at, name in enumerate(names):
            # All records of a class show the same: a value, or none.
            given = self.after(name).isNotNull()
            cells = F.col("n" if name in self.complete else f"cells{at}")
            shown = F.when(given, F.col("n")).otherwise(0)
            total = F.col(f"total{at}") if weighted else cells.cast("double")
            far = self._is_far(name, at, total) & (cells > 0)
            rules += [
                F.count_if(far).alias(f"far{at}"),
                F.sum(shown - cells).alias(f"invented{at}"),
                F.sum(F.when((shown > 0) & (cells < self.claims.k), shown).otherwise(0)).alias(f"few{at}"),
                self._too_many_decimals(name).alias(f"decimals{at}"),
            ]
            if name in self.claims.amounts:
                rules.append(F.count_if(f"close{at}").alias(f"close{at}"))
        if weighted:
            # A half exactly is allowed, and its sum may be off in the last digits.
            heavy = 2 * F.col("heaviest") > F.col("weight") * (1 + 1e-12)
            rules.append(F.count_if(heavy & F.col("differ")).alias("dominated"))
        for at in range(confidential):
            poor = F.col(f"d{at}") < self.claims.min_distinct
            rules += [F.count_if(poor).alias(f"poor{at}")]
            rules += [F.sum(F.when(poor, F.col("n")).otherwise(0)).alias(f"in_poor{at}")]
        return rules

    def _is_far(self, name: str, at: int, total: Column) -> Column:
        """Whether a class publishes something other than it has to; modes are counted by themselves."""
        claims, new = self.claims, self.after(name).cast("double")
        what, rounding = published_as(claims, name), claims.rounding.get(name)
        off, size = F.col(f"off{at}"), F.col(f"size{at}")
        if what == "own category":
            return ~F.col(f"same{at}")
        if what == "ordinal":
            enough = total / 2.0 * (1.0 - TIE)
            return (F.col(f"below{at}") >= enough) | (F.col(f"up_to{at}") < enough)
        if what == "date":
            middle = F.col(f"median{at}") if claims.aggregate == "median" else off / total
            slack = LEAST_OF_A_DATE + NEGLIGIBLE * size / total
            low, high = (_limit(claims.resolution[name], side)(new) for side in range(2))
            is_near: Column = (middle >= low - slack) & (middle <= high + slack)
            return ~is_near
        if what in ("nominal", "taxonomy", "existing") or rounding is None:
            return F.lit(False)  # counted by themselves, or jointly
        if what == "near mean":
            far: Column = _far(self.near_quantiles[name], rounding)(new + off / total, new)
            return far
        if what == "median":
            median = F.col(f"median{at}")
            slack = rounding * (1.0 + NEGLIGIBLE) + NEGLIGIBLE * F.abs(median)
            return ~(F.abs(new - median) <= slack)
        slack = (rounding * (1.0 + NEGLIGIBLE) + TINY) * total + NEGLIGIBLE * size
        return ~(F.abs(off) <= slack)

    def _too_many_decimals(self, name: str) -> Column:
        """Records, all of a class alike, with more decimals than are allowed."""
        allowed = self.claims.decimals.get(name)
        if allowed is None:
            return F.lit(0)
        value = self.after(name).cast("double")
        is_small = F.abs(value) < 2.0**53 / 10.0**allowed
        wrong = is_small & (F.round(value, allowed) != value)
        return F.sum(F.when(wrong, F.col("n")).otherwise(0))

    def mean_changes(self) -> tuple[MeanChange, ...]:
        largest = {name: self._largest_share(name) for name in self.claims.rounding}
        claims = with_mean_tolerance(self.claims, largest)
        numbers = {name: found for name, found in self.figures.items() if name not in claims.kinds}
        return tuple(mean_change(name, claims, found) for name, found in numbers.items())

    def _largest_share(self, name: str) -> float:
        """How much of all records, or weight, can be moved by rounding whole numbers up or down."""
        if self.claims.decimals.get(name) != 0 or self.claims.aggregate == "median":
            return 1.0
        keys, weight = class_columns(self.claims, name), self.weight()
        shown = F.sum(F.when(self.after(name).isNotNull(), weight))
        classes = self.frame.groupBy(*map(self.after, keys)).agg(shown.alias("w"))
        largest, total = classes.agg(F.max("w"), F.sum("w")).collect()[0]
        return min(1.0, self.parts * largest / total) if total else 1.0

    def unchanged(self) -> Mapping[str, int]:
        kinds = self.claims.kinds
        return {name: many for name, many in self.own_values.items() if kinds.get(name) not in CATEGORIES}

    def respondents(self, keys: tuple[str, ...]) -> list[Respondents]:
        found = []
        for column in self.sides.respondents:
            each = F.count_distinct(F.coalesce(quoted(column.own), F.lit(0)))
            classes = self.frame.groupBy(*map(self.after, keys)).agg(each.alias("n"))
            n = F.col("n")
            figures = [F.min(n), F.count("*"), F.count_if(n < self.claims.k), F.count_if(n == 1)]
            smallest, many, below, alone = classes.agg(*figures).collect()[0]
            found.append(Respondents(column.name, smallest, many, below, alone, column.by_shape))
        return found

    def derivations(self) -> list[Derivation]:
        masked = [name for name in masked_columns(self.claims) if name in self.sides.before]
        others = [name for name in self.sides.after if name not in masked]
        return derivations_in_frame(
            self.frame,
            {name: self.before(name) for name in masked},
            {name: self.after(name) for name in others},
            self.records,
        )

    def linked_by(self) -> dict[str, float]:
        """Estimated by the records of some classes, where there are many."""
        names = unmasked_confidential(self.claims)
        if not names:
            return {}
        masked = [name for subset in self.claims.subsets for name in subset]
        classes = F.xxhash64(*map(self.after, key_columns(self.claims)))
        step = -(-self.records // MOST_RECORDS)
        columns = [
            classes.alias("class"),
            *(self.before(name).alias(f"b{at}") for at, name in enumerate(masked)),
        ]
        columns += [self.after(name).alias(f"a{at}") for at, name in enumerate(names)]
        table = self.frame.where(F.pmod(classes, F.lit(step)) == 0).select(*columns).toArrow()
        keys = [numbers(table.column(f"b{at}")) for at in range(len(masked))]
        labels = codes_of(table.column("class"))[0]
        _, labels = np.unique(labels, return_inverse=True)
        known = {name: table.column(f"a{at}") for at, name in enumerate(names)}
        return linked_shares([key for key in keys if key is not None], labels, known)

    def unique_by(self, names: tuple[str, ...]) -> int:
        return self._unique[frozenset(names).difference(key_columns(self.claims))]

    def order_findings(self) -> list[Finding]:
        return []  # a frame has no order; what is written is ordered by hashes with a secret

    def noise_findings(self) -> list[Finding]:
        return []  # noise is refused on Spark

    @cached_property
    def spellings(self) -> Mapping[str, tuple[int, int]]:
        found = {}
        for name in dict.fromkeys(name for name, _ in confidential_sides(self.claims)):
            column = self.sides.before.get(name) or self.sides.after[name]
            if self.column_kinds[column] != "string":
                continue
            side = quoted(column)
            texts = self.frame.select(F.trim(side).alias("t")).distinct()
            texts = texts.select("t", read_as(F.col("t")).alias("r"))
            texts = texts.where((F.col("r") != "") & ~F.col("r").rlike(NUMBER))
            many, read = texts.agg(F.count("*"), F.count_distinct("r")).collect()[0]
            if read < many:
                found[name] = (many, read)
        return found

    def distinct(self, name: str, released: bool) -> Column:
        """How many different values a class has of a column: two stand for many where that is enough."""
        sides = self.sides.after if released or name not in self.sides.before else self.sides.before
        kind, side = self.column_kinds[sides[name]], quoted(sides[name])
        value = side
        if kind == "string":
            value = understood(side)
        elif kind in ("double", "float"):
            value = F.when(~F.isnan(side), side + F.lit(0.0))
        elif kind in ("array", "struct"):
            value = F.when(side.isNotNull(), F.xxhash64(side))
        some_null = F.max(value.isNull().cast("int"))
        if self.claims.min_distinct > 2:
            return F.count_distinct(value) + some_null
        varied = F.when(F.min(value) < F.max(value), 2).when(F.count(value) > 0, 1).otherwise(0)
        return varied + some_null

    def unique_with(self, keys: tuple[str, ...]) -> dict[str, int]:
        masked = masked_columns(self.claims)
        names = [name for name in self.sides.after if name not in (*keys, *masked)]
        return {name: self._unique[frozenset([name])] for name in names}

    @cached_property
    def _unique(self) -> dict[frozenset[str], int]:
        """Records unique by keys and each other column, by all that are not confidential, and by all: by
        hashes, all in one shuffle.
        """
        keys, masked = key_columns(self.claims), masked_columns(self.claims)
        names = [name for name in self.sides.after if name not in (*keys, *masked)]
        open_ = [name for name in names if name not in self.claims.confidential]
        wanted = list(dict.fromkeys(map(frozenset, [*([name] for name in names), open_, names])))
        classes = [*map(self.after, keys)]
        # In their order: that of sets differs from process to process, and with it what is taken for equal.
        own = [[self.after(name) for name in names if name in some] for some in wanted]
        values = F.array(*(F.xxhash64(*some) if some else F.lit(0).cast("bigint") for some in own))
        rows = self.frame.select(
            F.xxhash64(*classes).alias("a"), F.xxhash64(F.lit(1), *classes).alias("b"), F.posexplode(values)
        )
        alone = rows.groupBy("a", "b", "pos", "col").agg(F.count("*").alias("n")).where("n = 1")
        found = alone.groupBy("pos").agg(F.count("*").alias("n")).collect()
        return {**dict.fromkeys(wanted, 0), **{wanted[row["pos"]]: row["n"] for row in found}}


def derivations_in_frame(
    frame: DataFrame, keys: Mapping[str, Column], others: Mapping[str, Column], records: int
) -> list[Derivation]:
    """What columns that are released unchanged tell of keys, given by the source's values: looked for in
    all records, or in about `SAMPLED` of so many, the same ones however they lie.
    """
    if not keys or not others:
        return []
    names = [f"{side}{at}" for side, columns in (("k", keys), ("c", others)) for at in range(len(columns))]
    some = frame.select(*keys.values(), *others.values()).toDF(*names)
    some = some.withColumn("hash", F.xxhash64(*names))
    if records > SAMPLED:
        some = some.where(F.pmod("hash", F.lit(records)) < SAMPLED)
    # Equal records are taken together, so that there may be more of them.
    table = some.limit(_MOST_TIMES * SAMPLED).toArrow().sort_by("hash")
    return derivations(
        table.select(names[: len(keys)]).rename_columns(list(keys)),
        table.select(names[len(keys) :]).rename_columns(list(others)),
    )


def _far(values: Doubles, rounding: float) -> Any:
    """A function of means and what is published: whether the latter is far."""

    def far(means: Any, published: Any) -> Any:
        mean, own = (np.nan_to_num(to_numpy(each)) for each in (means, published))
        return pa.array(are_far(mean, own, values, rounding, STEPS))

    return of_columns(far, "boolean")


def _limit(resolution: str | None, side: int) -> Any:
    """A function of published dates: how far the middle of a class may be before (0) or after (1) them."""

    def limit(published: Any) -> Any:
        dates = np.nan_to_num(to_numpy(published))
        return from_numbers(around(dates, resolution)[side])

    return of_columns(limit)
