"""A Spark frame as the engine works on it: columns by number, keys as doubles, hashes of each record.

Names of columns are the user's and may hold anything; inside, column 3 is `c3` as it is in the source, `x3`
as a number, `r3` with merged codes, and `y3` masked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from pyspark.sql.types import DataType, LongType, StringType, StructField, StructType

from microagg import wording
from microagg.columns import (
    COMMA_THOUSANDS,
    MISSING_TEXTS,
    NUMBER_WITH_SIGN,
    POINT_THOUSANDS,
    SPACE_THOUSANDS,
)
from microagg.engines.spark.packet_job import HASH_A, HASH_B, STRATUM, WEIGHT
from microagg.model import Origin, positions_of
from microagg.plan.protection import Protection
from microagg.prepare.prepared import LARGEST_WEIGHT
from microagg.read.select import refuse_duplicates
from microagg.verify.distributed import respondent_columns
from microagg.verify.recount import RespondentColumn

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_NUMERIC = ("byte", "short", "integer", "long", "float", "double", "decimal")
_NEITHER = ("map", "variant", "interval", "void", "geometry", "geography")
_BY_BYTES = "UTF8_BINARY"


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A frame of Spark and where it comes from; `origin.csv` is set where all its columns are text."""

    frame: DataFrame
    origin: Origin

    @property
    def columns(self) -> list[str]:
        return list(self.frame.columns)

    def kind(self, name: str) -> str:
        """What Spark calls the type of a column."""
        return str(self.frame.schema.fields[self.columns.index(name)].dataType.typeName())

    def at(self, name: str) -> int:
        return self.columns.index(name)

    @property
    def numbered(self) -> DataFrame:
        """The frame with its columns called by number."""
        return self.frame.toDF(*(f"c{at}" for at in range(len(self.columns))))

    @property
    def is_text(self) -> bool:
        """Whether numbers are text, as in CSV files."""
        return self.origin.csv is not None


def check_source(source: Source, protection: Protection) -> None:
    """`DataError` for columns that are not there, or that Spark could not work with."""
    refuse_duplicates(source.columns)
    alike = {name.casefold(): name for name in source.columns}
    if len(alike) < len(source.columns):
        raise wording.columns_not_on_spark([n for n in source.columns if n not in alike.values()])
    positions_of([column for column, _ in protection.columns_by_role()], source.columns)
    numbers = [*protection.changed, *([protection.weight] if protection.weight is not None else [])]
    for name in source.columns:
        kind = source.kind(name)
        if name not in protection.drop:
            _refuse_type(name, source.frame.schema.fields[source.at(name)].dataType)
        if name in numbers:
            if kind == "string" and source.is_text:
                continue
            if kind in ("date", "timestamp", "timestamp_ntz", "time"):
                raise wording.dates([name], 0, [])
            if kind not in _NUMERIC:
                raise wording.not_numeric([name], [])
    for name, codes in protection.missing_codes.items():
        marks = [code for code in codes if isinstance(code, str)]
        if marks and source.kind(name) != "string":
            raise wording.text_codes_of_numbers(name, marks)
    for name in protection.strata:
        if source.kind(name) in ("array", "struct"):
            raise wording.no_codes(name, source.kind(name))


def _refuse_type(name: str, kind: DataType) -> None:
    """`DataError` for what Spark cannot compare, or takes for the same though files hold it apart."""
    for part in _parts(kind):
        if any(name in part.typeName() for name in _NEITHER):
            raise wording.unusable_on_spark(name, part.typeName())
        collation = getattr(part, "collation", _BY_BYTES)
        if collation != _BY_BYTES:
            raise wording.collated(name, collation)


def _parts(kind: Any) -> Iterator[DataType]:
    """A type and all types nested in it."""
    yield kind
    if kind.typeName() == "array":
        yield from _parts(kind.elementType)
    elif kind.typeName() == "struct":
        for field in kind.fields:
            yield from _parts(field.dataType)


def released(source: Source, protection: Protection) -> list[str]:
    """The released columns, in their order."""
    return [name for name in source.columns if name not in protection.drop]


def respondents(source: Source, protection: Protection) -> Iterator[RespondentColumn]:
    """Columns that may say whose a record is, as the frame at work will have them."""
    known = {name: f"c{source.at(name)}" for name in source.columns}
    for found in respondent_columns(source.numbered, known, protection):
        yield replace(found, own=f"u{source.at(found.name)}")


def by_number(
    source: Source, protection: Protection, respondents: Sequence[RespondentColumn] = ()
) -> DataFrame:
    """The source's columns by number, those to be masked as numbers, the weights as such, and hashes of
    what says whose a record is.
    """
    chosen: list[Column] = []
    for name in released(source, protection):
        at = source.at(name)
        if name in protection.changed:
            codes = protection.missing_codes.get(name, ())
            chosen.append(number_column(source, f"c{at}", codes).alias(f"x{at}"))
        else:
            chosen.append(F.col(f"c{at}"))
    if protection.weight is not None:
        chosen.append(number_column(source, f"c{source.at(protection.weight)}", ()).alias(WEIGHT))
    for each in respondents:
        value = F.col(f"c{source.at(each.name)}")
        chosen.append(F.xxhash64(F.trim(value.cast("string"))).alias(each.own))
    return source.numbered.select(*chosen)


def number_column(source: Source, column: str, missing_codes: Sequence[Any]) -> Column:
    """A column as doubles; null where it is missing, and where text is no number."""
    found = F.col(column)
    if source.is_text:
        text = normalised_text(source, column, missing_codes)
        found = F.when(text.rlike(NUMBER), text)
    found = found.cast("double")
    gone = F.isnan(found)
    for code in missing_codes:
        if not isinstance(code, str):
            gone = gone | (found == float(code))
    # Adding nought makes a negative zero a plain one: Spark takes the two for the same, NumPy does not.
    return F.when(~gone, found + F.lit(0.0))


def normalised_text(source: Source, column: str, missing_codes: Sequence[Any] = ()) -> Column:
    """Text without blanks around it, with a decimal point; null for texts that mean missing."""
    text = F.trim(F.col(column))
    number = text
    if source.origin.csv is not None and source.origin.csv.decimal == ",":
        # A point is no decimal sign here: with it, the text is to be no number.
        point = F.concat(text, F.lit("?"))
        number = F.when(text.contains("."), point).otherwise(F.replace(text, F.lit(","), F.lit(".")))
    missing = [*MISSING_TEXTS, *(code for code in missing_codes if isinstance(code, str))]
    return F.when(~text.isin(*missing), number)


def refuse_text(source: Source, protection: Protection) -> None:
    """`DataError` for text among the numbers of CSV files."""
    names = [*protection.changed, *([protection.weight] if protection.weight is not None else [])]
    texts = [name for name in names if source.is_text and source.kind(name) == "string"]
    rules = {}
    for name in texts:
        codes = protection.missing_codes.get(name, ())
        rules[name] = ~normalised_text(source, f"c{source.at(name)}", codes).rlike(NUMBER)
    for name, wrong in count_records(source.numbered, rules).items():
        if wrong:
            _refuse_numbers_with_signs(source, name, wrong)
            raise wording.no_numbers_in_text(name, wrong, source.frame.count())


def _refuse_numbers_with_signs(source: Source, name: str, wrong: int) -> None:
    """`DataError` if all texts that are no numbers are some with separators of thousands or a currency."""
    text = F.col(f"c{source.at(name)}")
    separated = "|".join((COMMA_THOUSANDS, POINT_THOUSANDS, SPACE_THOUSANDS))
    rules = {"thousands": text.rlike(separated), "signs": text.rlike(NUMBER_WITH_SIGN)}
    found = count_records(source.numbered, rules)
    if sum(found.values()) == wrong:
        raise wording.numbers_with_signs(name, found["thousands"], found["signs"], source.frame.count())


def count_records(frame: DataFrame, rules: Mapping[str, Column]) -> dict[str, int]:
    """How many records fulfil each of these conditions, all counted in one pass."""
    if not rules:
        return {}
    return dict(zip(rules, frame.agg(*map(F.count_if, rules.values())).collect()[0], strict=True))


def refuse_invalid_text(source: Source, protection: Protection) -> None:
    """`DataError` for text that is not in UTF-8: Spark takes its bytes as they are, nothing else does."""
    rules = {
        name: ~F.is_valid_utf8(F.col(f"c{source.at(name)}"))
        for name in released(source, protection)
        if source.kind(name) == "string" and not source.is_text  # what Spark itself has decoded is valid
    }
    for name, wrong in count_records(source.numbered, rules).items():
        if wrong:
            raise wording.not_utf_8(name)


def refuse_weights(frame: DataFrame, name: str) -> None:
    """`DataError` if one of the survey weights is none."""
    weight = F.col(WEIGHT)
    wrong = {
        "missing": weight.isNull(),
        "infinite": F.abs(weight) == float("inf"),
        "negative or zero": weight <= 0.0,
        "too large": weight > LARGEST_WEIGHT,
    }
    for what, records in count_records(frame, wrong).items():
        if records:
            raise wording.bad_weights(name, what, records)


def with_hashes(frame: DataFrame) -> DataFrame:
    """The frame with two hashes of all columns, which distinguish records with the same keys."""
    content = [F.col(name) for name in content_of(frame)]
    return frame.select(
        "*",
        F.xxhash64(*content).alias(HASH_A),
        F.xxhash64(F.lit(1), *content).alias(HASH_B),
    )


def content_of(frame: DataFrame) -> list[str]:
    """The columns of the source, or the numbers in their place."""
    return [name for name in frame.columns if name[0] in "cx" and name[1:].isdigit()]


def with_strata(frame: DataFrame, strata: Any, columns: list[str]) -> DataFrame:
    """The frame with the stratum of each record and merged codes, which the Arrow table `strata` has."""
    if strata is None:
        return frame.withColumn(STRATUM, F.lit(0))
    known = {field.name: field for field in frame.schema.fields}
    kinds = [
        StructField(name, known[name[1:]].dataType) if name[1:] in known
        else StructField(name, LongType() if name == STRATUM else StringType())
        for name in strata.column_names
    ]  # fmt: skip
    table = frame.sparkSession.createDataFrame(strata, StructType(kinds))
    same = [frame[name].eqNullSafe(table[f"={name}"]) for name in columns]
    rule = same[0]
    for further in same[1:]:
        rule = rule & further
    joined = frame.join(F.broadcast(table), rule, "inner")
    return joined.drop(*(f"={name}" for name in columns))
