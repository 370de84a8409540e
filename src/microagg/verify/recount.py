"""Counts of a release in a Spark frame. What follows from them is decided in `rules.py`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyarrow import csv
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (what everybody calls it)

from microagg.model import Claims
from microagg.verdict import (
    NEGLIGIBLE,
    Count,
    Finding,
    Homogeneous,
    MeanChange,
    NotCounted,
    Verdict,
    note,
    refuse,
)
from microagg.verify.rules import (
    change_with_share,
    confidential_failures,
    confidential_sides,
    k_failures,
    mean_failures,
    notes_of,
)
from microagg.verify.shape import key_columns, masked_columns
from microagg.verify.values import as_read

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


@dataclass(frozen=True, slots=True)
class Sums:
    """Of a column: how many values it has, their weight, and their weighted sum."""

    cells: int
    weight: float
    total: float

    @property
    def mean(self) -> float:
        """NaN if there is no value."""
        return self.total / self.weight if self.weight else math.nan


@dataclass(frozen=True, slots=True)
class WholeColumn:
    """A masked column in the source with all records, with those that are released, and as released."""

    everything: Sums
    before: Sums
    after: Sums


def quoted(name: str) -> Any:
    """A column by its name, whatever signs that has."""
    return F.col("`" + name.replace("`", "``") + "`")


@dataclass(frozen=True, slots=True, eq=False)
class Recount:
    """What is counted in a frame, and what is promised about it."""

    frame: DataFrame
    sides: BeforeAfterColumns
    claims: Claims
    complete: frozenset[str] = frozenset()
    """Masked columns without a gap, before and after: their cells need not be counted by class."""
    columns: Mapping[str, WholeColumn] = field(default_factory=dict)
    """Masked columns as a whole."""
    _spellings: list[dict[str, tuple[int, int]]] = field(default_factory=list)
    """What `spellings` has found, once it has."""

    def after(self, name: str) -> Column:
        found: Column = quoted(self.sides.after[name])
        return found

    def before(self, name: str) -> Column:
        found: Column = quoted(self.sides.before[name])
        return found

    def verdict(self, failures: list[Finding], records: int, suppressed: int) -> Verdict:
        """All that is counted, after what was found before."""
        claims = self.claims
        failures = failures + self.recoded_failures()
        counts: list[Count] = []
        own_counts: list[Count] = []
        homogeneous: list[Homogeneous] = []
        changes: dict[str, MeanChange] = {}
        for subset in claims.subsets or ((),):
            found = self.subset(claims.strata, subset)
            counts.append(found.count)
            failures += found.failures
            homogeneous += found.homogeneous
            changes |= found.changes
        for subset in claims.own_subsets:
            found = self.subset((), subset)
            own_counts.append(found.count)
            failures += found.failures
            changes |= found.changes
        keys = key_columns(claims)
        joint = self.count(keys) if len(claims.subsets) > 1 else None
        if joint is not None and not joint.below and claims.confidential:
            homogeneous += self.subset(keys, ()).homogeneous
        failures = [*k_failures(claims, (*counts, *own_counts), joint), *failures]
        mean_changes = tuple(changes[name] for name in masked_columns(claims) if name in changes)
        failures += confidential_failures(claims, tuple(homogeneous)) + mean_failures(mean_changes)
        return Verdict(
            claims.k,
            tuple(failures),
            records=records,
            suppressed=suppressed,
            subsets=tuple(counts),
            joint=joint,
            own_subsets=tuple(own_counts),
            homogeneous=tuple(homogeneous),
            mean_changes=mean_changes,
            not_counted=self.not_counted(keys, (joint or counts[0]).unique),
            notes=notes_of(
                claims,
                (*counts, *own_counts),
                joint,
                tuple(homogeneous),
                suppressed,
                records,
                [
                    note("spellings_counted_as_one", name, texts=texts, values=values)
                    for name, (texts, values) in self.spellings().items()
                ],
            ),
        )

    def count(self, names: tuple[str, ...]) -> Count:
        """How records share the combinations of these columns."""
        classes = self.frame.groupBy(*map(self.after, names)).agg(F.count("*").alias("n"))
        found = classes.agg(*self.figures()).collect()[0]
        return self.as_count(names, found)

    def figures(self) -> list[Column]:
        n = F.col("n")
        return [
            F.count("*").alias("classes"),
            F.min("n").alias("smallest"),
            F.sum(F.when(n < self.claims.k, n).otherwise(0)).alias("below"),
            F.count_if(n == 1).alias("unique"),
        ]

    def as_count(self, names: tuple[str, ...], found: Any, own_values: int = 0) -> Count:
        return Count(
            names,
            found["classes"],
            found["smallest"] or 0,
            found["below"] or 0,
            found["unique"],
            own_values,
        )

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

    def subset(self, strata: tuple[str, ...], names: tuple[str, ...]) -> _Subset:
        """The classes of one subset: their sizes, and whether what each publishes is its members' mean."""
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
        confidential = confidential_sides(self.claims)
        for at, (name, released) in enumerate(confidential):
            rules.append(self.distinct(name, released).alias(f"d{at}"))
        classes = self.frame.groupBy(*map(self.after, strata + names)).agg(*rules)
        found = classes.agg(
            *self.figures(), *self.over_classes(names, weighted, len(confidential))
        ).collect()[0]
        count = self.as_count(strata + names, found, found["own"] if names else 0)
        merged = self.spellings()
        failures, changes = [], {}
        for at, name in enumerate(names):
            failures += self.column_failures(name, found, at)
            changes[name] = self.mean_change(name, found, at)
        if weighted and found["dominated"]:
            failures.append(
                refuse(
                    "dominant_weights", claims.weight or "", keys=count.columns, groups=found["dominated"]
                )
            )
        homogeneous = [
            Homogeneous(
                name, count.columns, found[f"poor{at}"], found[f"in_poor{at}"], released, name in merged
            )
            for at, (name, released) in enumerate(confidential)
            if found[f"poor{at}"]
        ]
        return _Subset(count, failures, homogeneous, changes)

    def over_classes(self, names: tuple[str, ...], weighted: bool, confidential: int) -> list[Column]:
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
                F.sum(off).alias(f"off{at}"),
                F.sum(size).alias(f"size{at}"),
                F.sum(total).alias(f"total{at}"),
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

    def column_failures(self, name: str, found: Any, at: int) -> list[Finding]:
        """What is wrong with the values that classes publish in one column."""
        failures = []
        if found[f"invented{at}"]:
            failures.append(refuse("value_without_source", name, records=found[f"invented{at}"]))
        if found[f"few{at}"]:
            failures.append(refuse("too_few_observed", name, k=self.claims.k, records=found[f"few{at}"]))
        if found[f"far{at}"]:
            failures.append(refuse("not_the_mean", name, groups=found[f"far{at}"]))
        return failures

    def mean_change(self, name: str, found: Any, at: int) -> MeanChange:
        """Over the cells that both have, and of the whole column."""
        tolerance = self.claims.mean_tolerance.get(name)
        weight = found[f"total{at}"] or 0.0
        whole = self.columns[name]
        counts = (
            whole.after.cells,
            whole.before.cells - whole.after.cells,
            whole.everything.cells - whole.before.cells,
        )
        if not weight:
            return MeanChange(
                name, 0.0, 0.0, 0.0, tolerance, True, *counts, *change_with_share(math.nan, 0.0, 0.0)
            )
        total = -(found[f"off{at}"] or 0.0)
        mean, size = total / weight, (found[f"size{at}"] or 0.0) / weight
        kept = tolerance is None or bool(abs(mean) <= tolerance + NEGLIGIBLE * size)
        column = whole.after.mean - whole.everything.mean if any(counts[1:]) else mean
        relative = mean / size if size > 0 else mean
        of_column = change_with_share(column, whole.everything.mean, size)
        return MeanChange(name, mean, total, relative, tolerance, kept, *counts, *of_column)

    def spellings(self) -> dict[str, tuple[int, int]]:
        """Confidential columns of which some texts differ by spelling alone: how many there are, and how
        many read differently.
        """
        if self._spellings:
            return self._spellings[0]
        found = {}
        for name in dict.fromkeys(name for name, _ in confidential_sides(self.claims)):
            side = self.before(name) if name in self.sides.before else self.after(name)
            if self.frame.select(side).schema.fields[0].dataType.typeName() != "string":
                continue
            texts = (
                self.frame.select(F.trim(side).alias("t"))
                .distinct()
                .select("t", _read(F.col("t")).alias("r"))
            )
            texts = texts.where((F.col("r") != "") & ~F.col("r").rlike(_NUMBER))
            many, read = texts.agg(F.count("*"), F.count_distinct("r")).collect()[0]
            if read < many:
                found[name] = (many, read)
        self._spellings.append(found)
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

    def not_counted(self, keys: tuple[str, ...], unique: int) -> tuple[NotCounted, ...]:
        """What each other column would do to strata and keys; by hashes, all columns in one shuffle."""
        names = [name for name in self.sides.after if name not in keys]
        if not names:
            return ()
        classes = [*map(self.after, keys)]
        values = F.array(*(F.xxhash64(self.after(name)) for name in names))
        rows = self.frame.select(
            F.xxhash64(*classes).alias("a"), F.xxhash64(F.lit(1), *classes).alias("b"), F.posexplode(values)
        )
        alone = rows.groupBy("a", "b", "pos", "col").agg(F.count("*").alias("n")).where("n = 1")
        found = {
            row["pos"]: row["n"] for row in alone.groupBy("pos").agg(F.count("*").alias("n")).collect()
        }
        counted = [NotCounted(name, found.get(at, 0) - unique) for at, name in enumerate(names)]
        return tuple(sorted(counted, key=lambda entry: -entry.unique))


@dataclass(frozen=True, slots=True)
class _Subset:
    count: Count
    failures: list[Finding]
    homogeneous: list[Homogeneous]
    changes: dict[str, MeanChange]


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
    return F.when((text != "") & ~F.trim(side).isin(_missing_words()), plain)


def _missing_words() -> list[str]:
    """What a reader of CSV files takes for a missing number."""

    return list(csv.ConvertOptions().null_values or [])
