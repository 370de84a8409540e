"""Refuses sources that Spark cannot work with, and columns that need a role or hold no numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from pyspark.sql.types import DataType

from microagg import wording
from microagg.columns import COMMA_THOUSANDS, NUMBER_WITH_SIGN, POINT_THOUSANDS, SPACE_THOUSANDS
from microagg.engines.spark.part_job import WEIGHT
from microagg.engines.spark.working_frame import NUMBER, normalised_text, released_names
from microagg.formats.spark_folders import FrameSource
from microagg.identifiers import identifying_name, nearly_unique, numbers_of_units
from microagg.model import positions_of
from microagg.plan.protection import Protection
from microagg.plan.roles import check_acceptances, refuse_without_role
from microagg.prepare.prepared import LARGEST_WEIGHT, SMALLEST_WEIGHT
from microagg.read.select import refuse_duplicates
from microagg.verify.one_pass import Asking

NUMERIC = ("byte", "short", "integer", "long", "float", "double", "decimal")
_KEYS = ("string", "boolean", "date", "timestamp", "timestamp_ntz")
_DATES = ("date", "timestamp", "timestamp_ntz", "time")
_MAY_NUMBER_UNITS = ("string", "byte", "short", "integer", "long")
_MAY_BE_DISTINCT = (*_MAY_NUMBER_UNITS, *_DATES)
_NOT_COMPARED = ("map", "variant", "interval", "void", "geometry", "geography")
_BY_BYTES = "UTF8_BINARY"

ERROR = 0.02
"""Distinct values are counted with such an error; so a column is suspected a little earlier."""

NAMED = "its name is that of an identifier"
NUMBERED = "its name is that of a unit, and it has many values"
DISTINCT = "nearly all of its values are distinct"


def check_types(source: FrameSource, protection: Protection) -> None:
    """`DataError` for columns that are not there, or that Spark could not work with."""
    refuse_duplicates(source.columns)
    spelt = [name.casefold() for name in source.columns]
    if len(set(spelt)) < len(spelt):
        alike = [name for name, one in zip(source.columns, spelt, strict=True) if spelt.count(one) > 1]
        raise wording.columns_not_on_spark(alike)
    positions_of([column for column, _ in protection.columns_by_role()], source.columns)
    for name in released_names(source, protection):
        _refuse_type(name, source.frame.schema.fields[source.at(name)].dataType)
    for name in protection.grouped:
        if source.kind(name) not in (*NUMERIC, *_KEYS):
            raise wording.unusable_key(name, source.kind(name))
    if protection.weight is not None:
        _refuse_as_weight(source, protection.weight)
    for name, codes in protection.missing_codes.items():
        marks = [code for code in codes if isinstance(code, str)]
        if marks and source.kind(name) != "string":
            raise wording.text_codes_of_numbers(name, marks)
    for name in protection.strata:
        if source.kind(name) in ("array", "struct"):
            raise wording.no_codes(name, source.kind(name))


def _refuse_as_weight(source: FrameSource, name: str) -> None:
    kind = source.kind(name)
    if kind in _DATES:
        raise wording.dates([name], 0, [])
    if kind not in NUMERIC and not (kind == "string" and source.is_text):
        raise wording.not_numeric([name], [])


def _refuse_type(name: str, kind: DataType) -> None:
    """`DataError` for what Spark cannot compare, or takes for the same though files hold it apart."""
    for part in _nested_types(kind):
        if any(name in part.typeName() for name in _NOT_COMPARED):
            raise wording.unusable_on_spark(name, part.typeName())
        collation = getattr(part, "collation", _BY_BYTES)
        if collation != _BY_BYTES:
            raise wording.collated(name, collation)


def _nested_types(kind: Any) -> Iterator[DataType]:
    """A type and all types nested in it."""
    yield kind
    if kind.typeName() == "array":
        yield from _nested_types(kind.elementType)
    elif kind.typeName() == "struct":
        for field in kind.fields:
            yield from _nested_types(field.dataType)


def check_roles(source: FrameSource, protection: Protection) -> Asking:
    """`SettingsError` for columns that nobody has given a role, unless the rest may be released."""
    check_acceptances(protection, source.columns)
    roles = dict(protection.columns_by_role())
    without = [name for name in source.columns if name not in roles]
    if protection.rest != "drop" and without:
        refuse_without_role(protection, without, (yield from _likely_identifiers(source, without)))


def _likely_identifiers(source: FrameSource, names: list[str]) -> Asking:
    """Which of the columns may show who a record is, and why."""
    names = [name for name in names if source.kind(name) != "boolean"]
    columns = [F.col(f"c{source.at(name)}") for name in names]
    counts = [F.count(column) for column in columns]
    counts += [F.approx_count_distinct(F.xxhash64(column), ERROR) for column in columns]
    found = yield counts
    reasons = {}
    for name, present, distinct in zip(names, found[: len(names)], found[len(names) :], strict=True):
        kind = source.kind(name)
        if present == 0 or distinct <= 2 < present:
            continue
        if identifying_name(name, kind == "string"):
            reasons[name] = NAMED
        elif kind not in _MAY_BE_DISTINCT:
            continue  # amounts may all be distinct
        elif nearly_unique(int(distinct * (1.0 + 3.0 * ERROR)), present):
            reasons[name] = DISTINCT
        elif kind in _MAY_NUMBER_UNITS and numbers_of_units(name, kind != "string", distinct):
            reasons[name] = NUMBERED
    return reasons


def count() -> Asking:
    """How many records there are."""
    (records,) = yield [F.count("*")]
    return records


def refuse_invalid_text(source: FrameSource, protection: Protection) -> Asking:
    """`DataError` for text that is not in UTF-8: Spark takes its bytes as they are, nothing else does."""
    names = [
        name
        for name in released_names(source, protection)
        if source.kind(name) == "string" and not source.is_text  # what Spark itself has decoded is valid
    ]
    found = yield [F.count_if(~F.is_valid_utf8(F.col(f"c{source.at(name)}"))) for name in names]
    for name, records in zip(names, found, strict=True):
        if records:
            raise wording.not_utf_8(name)


def refuse_text_among_weights(source: FrameSource, protection: Protection) -> None:
    """`DataError` for text among the weights of CSV files."""
    name = protection.weight
    if name is None or not source.is_text or source.kind(name) != "string":
        return
    text = normalised_text(source, f"c{source.at(name)}", ())
    for wrong in count_records(source.numbered, {name: ~text.rlike(NUMBER)}).values():
        refuse_text_among_numbers(source, name, wrong, wrong)


def refuse_text_among_numbers(source: FrameSource, name: str, numbers: int, wrong: int) -> None:
    """`DataError` for a column of a CSV file that holds so many numbers and so many other texts, if these
    should be numbers too.
    """
    _refuse_numbers_with_signs(source, name, wrong)
    if numbers:
        raise wording.no_numbers_in_text(name, wrong, source.frame.count())


def _refuse_numbers_with_signs(source: FrameSource, name: str, wrong: int) -> None:
    """`DataError` if all texts that are no numbers are some with separators of thousands or a currency."""
    text = F.col(f"c{source.at(name)}")
    separated = "|".join((COMMA_THOUSANDS, POINT_THOUSANDS, SPACE_THOUSANDS))
    rules = {"thousands": text.rlike(separated), "signs": text.rlike(NUMBER_WITH_SIGN)}
    found = {"thousands": 0, "signs": 0, **count_records(source.numbered, rules)}
    if sum(found.values()) == wrong:
        raise wording.numbers_with_signs(name, found["thousands"], found["signs"], source.frame.count())


def refuse_weights(frame: DataFrame, name: str) -> None:
    """`DataError` if one of the survey weights is none."""
    weight = F.col(WEIGHT)
    wrong = {
        "missing": weight.isNull(),
        "infinite": F.abs(weight) == float("inf"),
        "negative or zero": weight <= 0.0,
        "too small": weight < SMALLEST_WEIGHT,
        "too large": weight > LARGEST_WEIGHT,
    }
    for what, records in count_records(frame, wrong).items():
        raise wording.bad_weights(name, what, records)


def refuse_negative_zeros(source: FrameSource, frame: DataFrame, names: tuple[str, ...]) -> None:
    """Spark groups them with zeros; files keep them apart."""
    values = {
        name: F.col(f"c{source.at(name)}") for name in names if source.kind(name) in ("double", "float")
    }
    rules = {name: (value == 0.0) & value.cast("string").startswith("-") for name, value in values.items()}
    for name, records in count_records(frame, rules).items():
        raise wording.negative_zeros(name, records)


def count_records(frame: DataFrame, rules: Mapping[str, Column]) -> dict[str, int]:
    """How many records fulfil each of these conditions, without those that none does, in one pass."""
    counts = frame.agg(*map(F.count_if, rules.values())).collect()[0] if rules else ()
    return {name: records for name, records in zip(rules, counts, strict=True) if records}
