"""The recount of a release that no single machine holds, by group-bys of Spark.

The frame has each record once, with the source's values and the released ones side by side. That it holds
the source's records, all of them and unchanged, is known by a fingerprint: their number, and sums of two
hashes of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (what everybody calls it)
from pyspark.sql.types import ArrayType, StructField, StructType

from microagg.model import Claims
from microagg.verdict import Verdict, refuse, unsafe_release
from microagg.verify.recount import BeforeAfterColumns, Recount, Sums, WholeColumn, quoted
from microagg.verify.rules import k_failures
from microagg.verify.shape import key_columns, masked_columns


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Of a set of records, in whatever order: how many, and the sums of two hashes modulo 2^64."""

    records: int
    sums: tuple[int, int]

    def __str__(self) -> str:
        return "-".join(["xxhash64-sums:" + str(self.records), *(f"{part:016x}" for part in self.sums)])


def released_columns(frame: DataFrame, sides: BeforeAfterColumns) -> list[Column]:
    """What is released: values under the user's names, without the source's metadata of columns."""
    found = []
    for name, own in sides.after.items():
        value = quoted(own)
        if name in sides.whole:
            value = value.cast("bigint")
        elif (kind := frame.schema[own].dataType).typeName() in ("array", "struct"):
            value = value.cast(_bare(kind))
        found.append(value.alias(name, metadata={}))
    return found


def _bare(kind: Any) -> Any:
    """A type without metadata, as files have it."""
    if kind.typeName() == "array":
        return ArrayType(_bare(kind.elementType))
    if kind.typeName() == "struct":
        return StructType([StructField(field.name, _bare(field.dataType)) for field in kind.fields])
    return kind


def fingerprints(frame: DataFrame, *contents: Sequence[Column]) -> list[Fingerprint]:
    """Of each of these sets of columns, in one pass."""
    rules = [rule for at, content in enumerate(contents) for rule in _sums(content, f"f{at}")]
    found = frame.agg(F.count("*").alias("n"), *rules).collect()[0]
    return [_as_fingerprint(found, f"f{at}") for at in range(len(contents))]


def _sums(content: Sequence[Column], name: str) -> list[Column]:
    hashes = [F.xxhash64(*content), F.xxhash64(F.lit(1), *content)]
    # Sums of 64 bits would overflow, which Spark refuses; those of a few bits do not, and are quick.
    return [
        F.sum(F.shiftright(hashed, shift).bitwiseAND(F.lit(2**_BITS - 1))).alias(f"{name}_{at}_{shift}")
        for at, hashed in enumerate(hashes)
        for shift in _SHIFTS
    ]


_BITS = 22
_SHIFTS = (0, 22, 44)
"""Of the parts of a hash; the last one has its highest 20 bits and two that repeat its sign."""


def _as_fingerprint(found: Any, name: str) -> Fingerprint:
    one, other = (
        sum((found[f"{name}_{at}_{shift}"] or 0) << shift for shift in _SHIFTS) % 2**64 for at in range(2)
    )
    return Fingerprint(found["n"], (one, other))


def verify_frame(
    frame: DataFrame,
    sides: BeforeAfterColumns,
    claims: Claims,
    source: Fingerprint,
    suppressed: int,
    everything: DataFrame | None = None,
) -> tuple[Verdict, Fingerprint]:
    """Recount from the frame what `claims` promise; `source` are the records that were to be masked, and
    `everything` those with the records that are left out, if any are: a frame with the same names.

    The fingerprint is that of what is to be released.
    """
    names = masked_columns(claims)
    wrong = []
    for at, name in enumerate(names):
        value = quoted(sides.after[name]).cast("double")
        gap = value.isNull() | quoted(sides.before[name]).isNull()
        wrong.append(F.count_if(F.isnan(value) | (F.abs(value) == float("inf"))).alias(f"w{at}"))
        wrong.append(F.count_if(gap).alias(f"g{at}"))
    wrong += _column_sums(names, sides, sides.before, "b") + _column_sums(names, sides, sides.after, "a")
    sums = _sums([quoted(name) for name in sides.content], "source")
    sums += _sums(released_columns(frame, sides), "released")
    found = frame.agg(F.count("*").alias("n"), *sums, *wrong).collect()[0]
    here, released = (_as_fingerprint(found, name) for name in ("source", "released"))
    if here != source:
        failure = refuse("source_records_differ", records=here.records, needed=source.records)
        return Verdict(claims.k, (failure,), records=here.records), released
    failures = [
        refuse("not_a_number", name, records=found[f"w{at}"])
        for at, name in enumerate(names)
        if found[f"w{at}"]
    ]
    complete = frozenset(name for at, name in enumerate(names) if not found[f"g{at}"])
    of_all = found
    if everything is not None and suppressed:
        of_all = everything.agg(*_column_sums(names, sides, sides.before, "b")).collect()[0]
    columns = {
        name: WholeColumn(_sums_of(of_all, f"b{at}"), _sums_of(found, f"b{at}"), _sums_of(found, f"a{at}"))
        for at, name in enumerate(names)
    }
    recount = Recount(frame, sides, claims, complete, columns)
    return recount.verdict(failures, here.records, suppressed), released


def _column_sums(
    names: Sequence[str], sides: BeforeAfterColumns, columns: Mapping[str, str], letter: str
) -> list[Column]:
    """Of each column, on one side: its values, their weights and their weighted sum."""
    weight = quoted(sides.weight) if sides.weight is not None else F.lit(1.0)
    rules = []
    for at, name in enumerate(names):
        value = quoted(columns[name]).cast("double")
        rules += [
            F.count(value).alias(f"{letter}{at}_cells"),
            F.sum(F.when(value.isNotNull(), weight)).alias(f"{letter}{at}_weight"),
            F.sum(weight * value).alias(f"{letter}{at}_sum"),
        ]
    return rules


def _sums_of(found: Any, name: str) -> Sums:
    return Sums(found[f"{name}_cells"], found[f"{name}_weight"] or 0.0, found[f"{name}_sum"] or 0.0)


def check_files(written: DataFrame, released: Fingerprint, verdict: Verdict, claims: Claims) -> None:
    """`UnsafeRelease` unless the files, read again, hold the verified records, k of each combination."""
    verdict.raise_if_unsafe()
    failures = []
    if fingerprints(written, [quoted(name) for name in written.columns]) != [released]:
        failures.append(refuse("written_by_spark_differs"))
    recount = Recount(written, BeforeAfterColumns({}, {name: name for name in written.columns}, ()), claims)
    counts = [recount.count(claims.strata + subset) for subset in claims.subsets or ((),)]
    counts += [recount.count(subset) for subset in claims.own_subsets]
    joint = recount.count(key_columns(claims)) if len(claims.subsets) > 1 else None
    failures += k_failures(claims, tuple(counts), joint)
    if failures:
        raise unsafe_release(failures)
