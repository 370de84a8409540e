"""Counts of a release in a Spark frame. What follows from them is decided in `rules.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (what everybody calls it)

from microagg.model import Claims
from microagg.verdict import NEGLIGIBLE, Count, Finding, Homogeneous, MeanChange, refuse
from microagg.verify.rules import (
    MeanFigures,
    SubsetResult,
    confidential_sides,
    mean_change,
    value_failures,
)
from microagg.verify.values import MISSING_TEXTS, as_read

TINY = 2.2250738585072014e-308
_NUMBER = r"^[-+]?([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eE][-+]?[0-9]+)?$"


@dataclass(frozen=True, slots=True)
class BeforeAfterColumns:
    """What the columns of the frame are called, by the user's names."""

    before: Mapping[str, str]
    """Masked columns and strata in the source; masked ones as doubles."""
    after: Mapping[str, str]
    """Every released column."""
    content: tuple[str, ...]
    """What the source's fingerprint was taken of."""
    weight: str | None = None
    whole: frozenset[str] = frozenset()
    """Masked columns that are released as whole numbers."""


def quoted(name: str) -> Any:
    """A column by its name, whatever signs that has."""
    return F.col("`" + name.replace("`", "``") + "`")


@dataclass(frozen=True, eq=False)
class Recount:
    """What is counted in a frame, and what is promised about it."""

    frame: DataFrame
    sides: BeforeAfterColumns
    claims: Claims
    figures: Mapping[str, MeanFigures] = field(default_factory=dict)
    """Of masked columns as a whole."""
    complete: frozenset[str] = frozenset()
    """Masked columns without a gap, before and after: their cells need not be counted by class."""

    def after(self, name: str) -> Column:
        found: Column = quoted(self.sides.after[name])
        return found

    def before(self, name: str) -> Column:
        found: Column = quoted(self.sides.before[name])
        return found

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

    def _as_count(self, names: tuple[str, ...], found: Any, own_values: int = 0) -> Count:
        smallest, below = found["smallest"] or 0, found["below"] or 0
        return Count(names, found["classes"], smallest, below, found["unique"], own_values)

    def recoded_failures(self) -> list[Finding]:
        """Merging maps each stratum to one."""
        if not self.claims.recoded:
            return []
        before = [self.before(name).alias(f"b{at}") for at, name in enumerate(self.claims.strata)]
        after = [self.after(name).alias(f"a{at}") for at, name in enumerate(self.claims.strata)]
        pairs = self.frame.select(*before, *after).distinct()
        split = pairs.groupBy(*(f"b{at}" for at in range(len(before)))).agg(F.count("*").alias("n"))
        wrong = split.where("n > 1").count()
        return [refuse("strata_split", *self.claims.strata, strata=wrong)] if wrong else []

    def subset(self, strata: tuple[str, ...], names: tuple[str, ...]) -> SubsetResult:
        claims, weighted = self.claims, self.sides.weight is not None
        weight = quoted(self.sides.weight) if self.sides.weight is not None else F.lit(1.0)
        rules = [F.count("*").alias("n")]
        shown, same = F.lit(False), F.lit(True)
        for at, name in enumerate(names):
            old, new = self.before(name), self.after(name).cast("double")
            off = old - new
            rules += [
                F.sum(weight * off).alias(f"off{at}"),
                F.sum(weight * F.abs(old)).alias(f"size{at}"),
            ]
            rules += [] if name in self.complete else [F.count(off).alias(f"cells{at}")]
            rules += [F.sum(F.when(off.isNotNull(), weight)).alias(f"total{at}")] if weighted else []
            same = same & old.eqNullSafe(new)
            shown = shown | new.isNotNull()
        if names:
            rules.append(F.count_if(same & shown).alias("own"))
        if weighted:
            rules += [F.max(weight).alias("heaviest"), F.sum(weight).alias("weight")]
        confidential = confidential_sides(claims)
        for at, (name, released) in enumerate(confidential):
            rules.append(self.distinct(name, released).alias(f"d{at}"))
        keys = strata + names
        classes = self.frame.groupBy(*map(self.after, keys)).agg(*rules)
        figures = [*self._sizes(), *self._over_classes(names, weighted, len(confidential))]
        found = classes.agg(*figures).collect()[0]
        failures = []
        for at, name in enumerate(names):
            counts = (found[f"{what}{at}"] or 0 for what in ("invented", "few", "far"))
            failures += value_failures(name, claims.k, *counts)
        if weighted and found["dominated"]:
            groups = found["dominated"]
            failures.append(refuse("dominant_weights", claims.weight or "", keys=keys, groups=groups))
        homogeneous = [
            Homogeneous(
                name, keys, found[f"poor{at}"], found[f"in_poor{at}"], released, name in self.spellings
            )
            for at, (name, released) in enumerate(confidential)
            if found[f"poor{at}"] and names not in claims.own_subsets
        ]
        own_values = found["own"] if names else 0
        return SubsetResult(self._as_count(keys, found, own_values), failures, homogeneous)

    def homogeneous(self, keys: tuple[str, ...]) -> list[Homogeneous]:
        return list(self.subset(keys, ()).homogeneous) if self.claims.confidential else []

    def _over_classes(self, names: tuple[str, ...], weighted: bool, confidential: int) -> list[Column]:
        """Figures of all classes, from those of each."""
        rules = [F.sum("own").alias("own")] if names else []
        for at, name in enumerate(names):
            # All records of a class show the same: a value, or none.
            given = self.after(name).isNotNull()
            cells = F.col("n" if name in self.complete else f"cells{at}")
            shown = F.when(given, F.col("n")).otherwise(0)
            total = F.col(f"total{at}") if weighted else cells.cast("double")
            off, size = F.col(f"off{at}"), F.when(given, F.col(f"size{at}"))
            rounding = self.claims.rounding.get(name)
            far = F.lit(False)
            if rounding is not None:
                slack = (rounding * (1.0 + NEGLIGIBLE) + TINY) * total + NEGLIGIBLE * size
                far = ~(F.abs(off) <= slack) & (cells > 0)
            rules += [
                F.count_if(far).alias(f"far{at}"),
                F.sum(shown - cells).alias(f"invented{at}"),
                F.sum(F.when((shown > 0) & (cells < self.claims.k), shown).otherwise(0)).alias(f"few{at}"),
            ]
        if weighted:
            # A half exactly is allowed, and its sum may be off in the last digits.
            heavy = 2 * F.col("heaviest") > F.col("weight") * (1 + 1e-12)
            rules.append(F.count_if(heavy).alias("dominated"))
        for at in range(confidential):
            poor = F.col(f"d{at}") < self.claims.min_distinct
            rules += [F.count_if(poor).alias(f"poor{at}")]
            rules += [F.sum(F.when(poor, F.col("n")).otherwise(0)).alias(f"in_poor{at}")]
        return rules

    def mean_changes(self) -> tuple[MeanChange, ...]:
        return tuple(mean_change(name, self.claims, found) for name, found in self.figures.items())

    def noise_findings(self) -> list[Finding]:
        return []  # noise is refused on Spark

    @cached_property
    def spellings(self) -> Mapping[str, tuple[int, int]]:
        found = {}
        for name in dict.fromkeys(name for name, _ in confidential_sides(self.claims)):
            side = self.before(name) if name in self.sides.before else self.after(name)
            if self.frame.select(side).schema.fields[0].dataType.typeName() != "string":
                continue
            texts = self.frame.select(F.trim(side).alias("t")).distinct()
            texts = texts.select("t", _read(F.col("t")).alias("r"))
            texts = texts.where((F.col("r") != "") & ~F.col("r").rlike(_NUMBER))
            many, read = texts.agg(F.count("*"), F.count_distinct("r")).collect()[0]
            if read < many:
                found[name] = (many, read)
        return found

    def distinct(self, name: str, released: bool) -> Column:
        """How many different values a class has of a column: two stand for many where that is enough."""
        side = self.after(name) if released or name not in self.sides.before else self.before(name)
        kind = self.frame.select(side).schema.fields[0].dataType.typeName()
        value = side
        if kind == "string":
            value = _understood(side)
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
        """By hashes, all columns in one shuffle."""
        names = [name for name in self.sides.after if name not in keys]
        if not names:
            return {}
        classes = [*map(self.after, keys)]
        values = F.array(*(F.xxhash64(self.after(name)) for name in names))
        rows = self.frame.select(
            F.xxhash64(*classes).alias("a"), F.xxhash64(F.lit(1), *classes).alias("b"), F.posexplode(values)
        )
        alone = rows.groupBy("a", "b", "pos", "col").agg(F.count("*").alias("n")).where("n = 1")
        found = alone.groupBy("pos").agg(F.count("*").alias("n")).collect()
        return {**dict.fromkeys(names, 0), **{names[row["pos"]]: row["n"] for row in found}}


def _read(side: Column) -> Column:
    """Text as a reader takes it: what `as_read` makes of it.

    Plain text is handled by Spark itself; only what has other letters or signs goes to Python.
    """
    plain = F.lower(F.trim(F.regexp_replace(side, " +", " ")))
    is_plain = side.rlike("^[ -~]*$")
    other = F.udf(_read_in_python, "string", useArrow=True)(F.when(~is_plain, side))
    return F.when(is_plain, plain).otherwise(other)


def _read_in_python(text: str | None) -> str | None:
    return None if text is None else as_read(text)


def _understood(side: Column) -> Column:
    """Text by what it means: its spelling does not count, 5 is 5.0."""
    text = _read(side)
    number = F.when(text.rlike(_NUMBER), F.replace(text, F.lit(","), F.lit("."))).cast("double")
    plain = F.when(F.abs(number) < 2.0**53, (number + F.lit(0.0)).cast("string")).otherwise(text)
    return F.when((text != "") & ~F.trim(side).isin(list(MISSING_TEXTS)), plain)
