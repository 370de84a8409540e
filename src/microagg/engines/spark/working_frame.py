"""A Spark frame as the engine works on it: columns by number, keys as doubles, hashes of each record.

Names of columns are the user's and may hold anything; inside, column 3 is `c3` as it is in the source, `x3`
as a number, `y3` masked, and `p3` as it is published if it holds no numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import and_
from types import MappingProxyType
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from pyspark.sql.types import LongType, StructField, StructType

from microagg.columns import MISSING_TEXTS
from microagg.engines.spark.part_job import HASH_A, HASH_B, STRATUM, WEIGHT
from microagg.formats.spark_folders import FrameSource
from microagg.plan.protection import Protection
from microagg.verify.frame_columns import RespondentColumn
from microagg.verify.frame_release import respondents_in_frame
from microagg.verify.one_pass import Asking

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


def released_names(source: FrameSource, protection: Protection) -> list[str]:
    """The released columns, in their order."""
    return [name for name in source.columns if name not in protection.drop]


def respondents(source: FrameSource, protection: Protection) -> Asking:
    """Columns that may say whose a record is, as the frame at work will have them."""
    known = {name: f"c{source.at(name)}" for name in source.columns}
    found = yield from respondents_in_frame(source.numbered, known, protection)
    return tuple(replace(each, own=f"u{source.at(each.name)}") for each in found)


def by_number(
    source: FrameSource,
    protection: Protection,
    respondents: Sequence[RespondentColumn] = (),
    keys: Mapping[str, Column] = MappingProxyType({}),
) -> DataFrame:
    """The source's columns by number, those to be masked as numbers, the weights as such, and hashes of
    what says whose a record is. `keys`: the numbers of those that hold others.
    """
    chosen: list[Column] = []
    for name in released_names(source, protection):
        at = source.at(name)
        if name in keys:
            chosen += [F.col(f"c{at}"), keys[name].alias(f"x{at}")]
        elif name in protection.changed:
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


def number_column(source: FrameSource, column: str, missing_codes: Sequence[Any]) -> Column:
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


def normalised_text(source: FrameSource, column: str, missing_codes: Sequence[Any] = ()) -> Column:
    """Text without blanks around it, with a decimal point; null for texts that mean missing."""
    text = F.trim(F.col(column))
    number = text
    if source.origin.csv is not None and source.origin.csv.decimal == ",":
        # A point is no decimal sign here: with it, the text is to be no number.
        point = F.concat(text, F.lit("?"))
        number = F.when(text.contains("."), point).otherwise(F.replace(text, F.lit(","), F.lit(".")))
    missing = [*MISSING_TEXTS, *(code for code in missing_codes if isinstance(code, str))]
    return F.when(~text.isin(*missing), number)


def with_hashes(frame: DataFrame) -> DataFrame:
    """The frame with two hashes of all columns, which distinguish records with the same keys."""
    content = [F.col(name) for name in content_of(frame.columns)]
    return frame.select(
        "*",
        F.xxhash64(*content).alias(HASH_A),
        F.xxhash64(F.lit(1), *content).alias(HASH_B),
    )


def content_of(columns: Sequence[str]) -> list[str]:
    """The columns of the source: as they are, or else as numbers."""
    own = [name for name in columns if name[0] in "cx" and name[1:].isdigit()]
    return [name for name in own if name[0] == "c" or f"c{name[1:]}" not in own]


def with_strata(frame: DataFrame, strata: Any, columns: list[str]) -> DataFrame:
    """The frame with the stratum of each record, which the Arrow table `strata` has."""
    if strata is None:
        return frame.withColumn(STRATUM, F.lit(0))
    known = {field.name: field for field in frame.schema.fields}
    kinds = [
        StructField(name, LongType() if name == STRATUM else known[name[1:]].dataType)
        for name in strata.column_names
    ]
    table = frame.sparkSession.createDataFrame(strata, StructType(kinds))
    same = [frame[name].eqNullSafe(table[f"={name}"]) for name in columns]
    joined = frame.join(F.broadcast(table), reduce(and_, same), "inner")
    return joined.drop(*(f"={name}" for name in columns))
