"""The recount of a release that no single machine holds, by group-bys of Spark.

The frame has each record once, with the source's values and the released ones side by side. That it holds
the source's records, all of them and unchanged, is known by a fingerprint: their number, and sums of two
hashes of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (what everybody calls it)
from pyspark.sql.types import ArrayType, StructField, StructType

from microagg.model import Claims
from microagg.settings.declared import NO_RESPONDENT
from microagg.settings.policy import ProtectionPolicy
from microagg.verdict import Changes, Finding, Verdict, refuse, unsafe_release
from microagg.verify.frame_columns import NUMERIC, BeforeAfterColumns, RespondentColumn, escaped, quoted
from microagg.verify.frame_counting import FrameCounting
from microagg.verify.frame_keys import numbered, read_keys, released_failures, with_key_numbers
from microagg.verify.means import MeanFigures
from microagg.verify.one_pass import Asking
from microagg.verify.promises import MOST_DECIMALS, Notation, promises_of
from microagg.verify.respondents import SAMPLE, ColumnLook, candidates
from microagg.verify.rules import k_counts, k_failures, verdict_of
from microagg.verify.shape import masked_columns
from microagg.verify.values import numbers


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


def has_metadata(kind: Any) -> bool:
    """Whether a schema, or a type, says more about a column than its name and type."""
    if isinstance(kind, ArrayType):
        return has_metadata(kind.elementType)
    if not isinstance(kind, StructType):
        return False
    return any(field.metadata or has_metadata(field.dataType) for field in kind.fields)


def fingerprints(frame: DataFrame, *contents: Sequence[Column]) -> list[Fingerprint]:
    """Of each of these sets of columns, in one pass."""
    rules = [rule for at, content in enumerate(contents) for rule in _sums_of_content(content, f"f{at}")]
    found = frame.agg(F.count("*").alias("n"), *rules).collect()[0]
    return [fingerprint_in(found, f"f{at}") for at in range(len(contents))]


_BITS = 22
_SHIFTS = (0, 22, 44)
"""Of the parts of a hash; the last one has its highest 20 bits and two that repeat its sign."""


def _sums_of_content(content: Sequence[Column], name: str) -> list[Column]:
    return sums_of_hashes(F.xxhash64(*content), F.xxhash64(F.lit(1), *content), name)


def sums_of_hashes(one: Column, other: Column, name: str) -> list[Column]:
    """What `fingerprint_in` makes a fingerprint of, from two hashes of each record."""
    # Sums of 64 bits would overflow, which Spark refuses; those of a few bits do not, and are quick.
    return [
        F.sum(F.shiftright(hashed, shift).bitwiseAND(F.lit(2**_BITS - 1))).alias(f"{name}_{at}_{shift}")
        for at, hashed in enumerate((one, other))
        for shift in _SHIFTS
    ]


def fingerprint_in(found: Any, name: str) -> Fingerprint:
    """From a row with sums of hashes and the number of records, n."""
    one, other = (
        sum((found[f"{name}_{at}_{shift}"] or 0) << shift for shift in _SHIFTS) % 2**64 for at in range(2)
    )
    return Fingerprint(found["n"], (one, other))


def verify_frame(
    frame: DataFrame,
    sides: BeforeAfterColumns,
    policy: ProtectionPolicy,
    columns: Sequence[str],
    source: Fingerprint,
    suppressed: int,
    everything: DataFrame | None = None,
    parts: int = 1,
    notation: Notation | None = None,
) -> tuple[Verdict, Fingerprint]:
    """Count in the frame everything that these settings promise about a source with these columns.

    `source` are the records that were to be masked, and `everything` those with the records that are left
    out, if any are: a frame with the same names. `parts`: how many were masked each by itself. `notation`:
    how text is written. The fingerprint is that of what is to be released.
    """
    names = policy.changed
    released_values = released_columns(frame, sides)
    keys = read_keys(frame if everything is None else everything, sides, policy, notation or Notation())
    wrong_keys = released_failures(frame, sides, keys)
    everything = None if everything is None else with_key_numbers(everything, sides, keys)[0]
    with numbered(frame, sides, keys) as (frame, sides):
        rules = _sums_of_content([quoted(name) for name in sides.content], "source")
        rules += _sums_of_content(released_values, "released")
        measured = [name not in keys and name not in policy.decimals for name in names]
        for at, name in enumerate(names):
            rules += _rules_of_column(sides, name, at, measured[at])
        rules += _counts_of_recoded(sides, policy)
        of_source = [rule for at, name in enumerate(names) for rule in _rules_of_source(sides, name, at)]
        found = frame.agg(F.count("*").alias("n"), *rules, *of_source).collect()[0]
        decimals = {name: _decimals_found(found, at) for at, name in enumerate(names) if measured[at]}
        readings = {name: key.reading for name, key in keys.items()}
        claims = promises_of(policy, columns, decimals, readings)
        here, released = (fingerprint_in(found, name) for name in ("source", "released"))
        if here != source:
            wrong_keys = [refuse("source_records_differ", records=here.records, needed=source.records)]
        if wrong_keys:
            return Verdict(
                claims.k, tuple(wrong_keys), here.records, source_reading="same library"
            ), released
        of_all = found
        if everything is not None and suppressed:
            of_all = everything.agg(*of_source).collect()[0]
        figures = {name: _figures(found, of_all, at) for at, name in enumerate(names)}
        counting = FrameCounting(
            frame,
            sides,
            claims,
            figures,
            complete=frozenset(name for name in names if figures[name].cells == here.records),
            changes=_changes(claims, figures, found, suppressed),
            records=here.records,
            own_values={name: found[f"own{at}"] for at, name in enumerate(names)},
            parts=parts,
            everything=everything if suppressed else None,
        )
        failures = _first_failures(claims, found, suppressed) + counting.recoded_failures()
        # Spark alone can read what no single machine holds.
        return replace(verdict_of(counting, failures), source_reading="same library"), released


def _rules_of_column(sides: BeforeAfterColumns, name: str, at: int, measured: bool) -> list[Column]:
    """What is counted of a masked column, before and after; `measured`: its decimals too."""
    weight = quoted(sides.weight) if sides.weight is not None else F.lit(1.0)
    old, new = (quoted(side[name]).cast("double") for side in (sides.before, sides.after))
    both = (new - old).isNotNull()
    return [
        F.count_if(F.isnan(new) | (F.abs(new) == float("inf"))).alias(f"wrong{at}"),
        F.count(old).alias(f"before{at}"),
        F.count_if(both).alias(f"cells{at}"),
        F.sum(F.when(both, weight)).alias(f"weight{at}"),
        F.sum(weight * (new - old)).alias(f"total{at}"),
        F.sum(F.when(both, weight * F.abs(old))).alias(f"size{at}"),
        F.sum(F.when(both, weight * new)).alias(f"released{at}"),
        F.count_if(old == new).alias(f"own{at}"),
        *(_rules_of_decimals(sides.before[name], at) if measured else []),
    ]


def _rules_of_source(sides: BeforeAfterColumns, name: str, at: int) -> list[Column]:
    """What is counted of a masked column in the source, with the records that are left out."""
    weight = quoted(sides.weight) if sides.weight is not None else F.lit(1.0)
    old = quoted(sides.before[name]).cast("double")
    return [
        F.count(old).alias(f"values{at}"),
        (F.sum(weight * old) / F.sum(F.when(old.isNotNull(), weight))).alias(f"mean{at}"),
    ]


def _first_failures(claims: Claims, found: Any, suppressed: int) -> list[Finding]:
    """What is wrong with values, and with how many records there are."""
    failures = [
        refuse("not_a_number", name, records=found[f"wrong{at}"])
        for at, name in enumerate(masked_columns(claims))
        if found[f"wrong{at}"]
    ]
    if suppressed and not claims.leaves_out_strata:
        failures.append(refuse("records_left_out", records=suppressed))
    return failures


def _changes(claims: Claims, figures: Mapping[str, MeanFigures], found: Any, suppressed: int) -> Changes:
    recoded = {name: found[f"recoded{at}"] for at, name in enumerate(claims.recoded)}
    return Changes(
        masked=masked_columns(claims),
        aggregate=claims.aggregate,
        kinds={**claims.kinds, **dict.fromkeys(claims.taxonomy, "taxonomy")},
        categories=claims.categories,
        near_means=tuple(filter(claims.follows_tables, masked_columns(claims))),
        recoded={name: records for name, records in recoded.items() if records},
        set_to_missing={name: each.set_to_missing for name, each in figures.items() if each.set_to_missing},
        left_out=suppressed,
        dropped=len(claims.dropped),
        shuffled=not claims.keep_order,
    )


def _counts_of_recoded(sides: BeforeAfterColumns, policy: ProtectionPolicy) -> list[Column]:
    """By stratum column: how many records have another code than in the source."""
    counts = []
    for at, name in enumerate(promises_of(policy, (), {}).recoded):
        before, after = (quoted(side[name]) for side in (sides.before, sides.after))
        counts.append(F.count_if(~before.eqNullSafe(after)).alias(f"recoded{at}"))
    return counts


def _rules_of_decimals(column: str, at: int) -> list[Column]:
    """Of the numbers of a column: how many decimals they have at most, as doubles and as singles, and
    whether all are singles. As text, which Spark reads at once: it would be hundreds of calls of Java.
    """
    value = f"CAST({escaped(column)} AS DOUBLE)"
    found = []
    for name, kind in (("decimals", "DOUBLE"), ("as_single", "FLOAT")):
        cases = "".join(
            f" WHEN CAST(round({value}, {places}) AS {kind}) = CAST({value} AS {kind}) THEN {places}"
            for places in range(MOST_DECIMALS + 1)
        )
        case = f"CASE WHEN {value} IS NULL THEN NULL WHEN abs({value}) >= {2.0**53:.1f}D THEN 0{cases}"
        found.append(F.expr(f"max({case} ELSE {MOST_DECIMALS + 1} END)").alias(f"{name}{at}"))
    single = f"CAST(CAST({value} AS FLOAT) AS DOUBLE)"
    return [*found, F.expr(f"bool_and({single} = {value})").alias(f"single{at}")]


def _decimals_found(found: Any, at: int) -> int | None:
    most = found[f"as_single{at}"] if found[f"single{at}"] else found[f"decimals{at}"]
    most = 0 if most is None else most
    return None if most > MOST_DECIMALS else most


def respondents_in_frame(frame: DataFrame, columns: Mapping[str, str], policy: ProtectionPolicy) -> Asking:
    """Columns of a source that say whose a record is, as a list of `RespondentColumn`; `columns` are the
    frame's names by the user's.
    """
    claims = promises_of(policy, list(columns), {})
    if claims.respondent == NO_RESPONDENT:
        return []
    if claims.respondent is not None:
        return [RespondentColumn(claims.respondent, columns[claims.respondent], False)]
    kinds = {field.name: field.dataType.typeName() for field in frame.schema.fields}
    may_number = ("string", *NUMERIC)
    names = [name for name in candidates(list(columns), claims) if kinds[columns[name]] in may_number]
    if not names:
        return []
    rules = []
    for name in names:
        own = quoted(columns[name])
        rules += [F.count(own), F.approx_count_distinct(own, 0.02)]
    found = yield rules
    masked = [name for name in masked_columns(claims) if name in columns]
    some = frame.select(*(quoted(columns[name]) for name in (*names, *masked))).limit(SAMPLE).toArrow()
    keys = [values for name in masked if (values := numbers(some.column(columns[name]))) is not None]
    looks = [
        ColumnLook(name, present, distinct, some.column(columns[name]))
        for name, present, distinct in zip(names, found[::2], found[1::2], strict=True)
    ]
    reasons = {look.name: look.reason(keys) for look in looks}
    return [
        RespondentColumn(name, columns[name], reason == "shape")
        for name, reason in reasons.items()
        if reason
    ]


def _figures(found: Any, of_all: Any, at: int) -> MeanFigures:
    """Of one masked column, from the sums over the records of the release and of the source."""
    cells, before = found[f"cells{at}"], found[f"before{at}"]
    counts = cells, before - cells, of_all[f"values{at}"] - before
    weight = found[f"weight{at}"]
    if not weight:
        return MeanFigures(*counts)
    return MeanFigures(
        *counts,
        change=found[f"total{at}"] / weight,
        total=found[f"total{at}"],
        size=found[f"size{at}"] / weight,
        released_mean=found[f"released{at}"] / weight,
        source_mean=of_all[f"mean{at}"],
    )


def check_files(written: DataFrame, released: Fingerprint, verdict: Verdict, claims: Claims) -> None:
    """`UnsafeRelease` unless the files, read again, hold the verified records, k of each combination."""
    verdict.raise_if_unsafe()
    failures = []
    if fingerprints(written, [quoted(name) for name in written.columns]) != [released]:
        failures.append(refuse("written_by_spark_differs"))
    counting = FrameCounting(
        written, BeforeAfterColumns({}, {name: name for name in written.columns}, ()), claims
    )
    failures += k_failures(claims, k_counts(claims, counting.count)[0])
    if failures:
        raise unsafe_release(failures)
