"""What keys hold, found over all records: numbers, dates or categories, by the same rules as in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

from microagg import wording
from microagg.arrow_types import is_text
from microagg.arrow_values import from_numbers
from microagg.engines.spark.source_checks import NUMERIC, refuse_text_among_numbers
from microagg.engines.spark.working_frame import NUMBER, normalised_text, number_column
from microagg.formats.spark_folders import FrameSource
from microagg.model import Microdata, Origin
from microagg.plan.protection import Protection
from microagg.prepare.key_columns import KeyColumn, key_column, numbers_by
from microagg.spark_functions import of_columns
from microagg.verify.frame_keys import different_values
from microagg.verify.one_pass import Asking


def key_kinds(
    source: FrameSource, protection: Protection, records: int, numbers: Mapping[str, pa.Table]
) -> dict[str, KeyColumn]:
    """By key that holds no numbers: what those stand for that take its place; `numbers`: of the others, as
    `numbers_among_keys` returns it.
    """
    columns = {name: f"c{source.at(name)}" for name in protection.grouped if name not in numbers}
    values = different_values(source.numbered, columns, protection)
    tables = {**numbers, **{name: pa.table({name: own}) for name, own in values.items()}}
    kinds = {}
    for name in protection.grouped:
        _, kind = key_column(Microdata(tables[name], _origin(source)), name, protection, records)
        if kind is not None:
            kinds[name] = kind
        elif source.kind(name) not in NUMERIC and not source.is_text:
            raise wording.not_numeric([name], [])
    return kinds


def numbers_column(source: FrameSource, name: str, kind: KeyColumn, protection: Protection) -> Column:
    """Moments or codes in the place of a key's values, null where it is missing."""
    origin = _origin(source)

    def numbers(values: Any) -> Any:
        table = pa.table({name: values})
        return from_numbers(numbers_by(kind, Microdata(table, origin), name, protection))

    found: Column = of_columns(numbers)(F.col(f"c{source.at(name)}"))
    return found


def _origin(source: FrameSource) -> Origin:
    return replace(source.origin, frame=None)


def numbers_among_keys(source: FrameSource, protection: Protection) -> Asking:
    """By key that holds numbers: a table of enough values to see whether there are others than 0 and 1."""
    given = {*protection.nominal, *protection.ordinal}
    numeric = (*NUMERIC, "string") if source.is_text else NUMERIC
    names = [name for name in protection.grouped if name not in given and source.kind(name) in numeric]
    rules: dict[str, list[Column]] = {}
    for name in names:
        column, codes = f"c{source.at(name)}", protection.missing_codes.get(name, ())
        value = number_column(source, column, codes)
        value = F.when(F.abs(value) < float("inf"), value)
        other = F.when(~value.isin(0.0, 1.0), value)
        rules[name] = [F.max(value.isNull()), F.min(value), F.max(value), F.min(other)]
        if source.is_text:
            is_number = normalised_text(source, column, codes).rlike(NUMBER)
            rules[name] += [F.count_if(is_number), F.count_if(~is_number)]
    found = iter((yield [rule for own in rules.values() for rule in own]))
    tables = {}
    for name, own in rules.items():
        gaps, *some = (next(found) for _ in own)
        if source.is_text:
            *some, read, wrong = some
            if wrong:
                refuse_text_among_numbers(source, name, read, wrong)
                continue
        present = set(some) - {None}
        values: Any = pa.array([*sorted(present), *([None] if gaps else [])], pa.float64())
        if present == {0.0, 1.0}:
            own = _arrow_type(source, name)
            values = values.cast(pa.int64()).cast(own) if is_text(own) else values.cast(own)
        tables[name] = pa.table({name: values})
    return tables


def _arrow_type(source: FrameSource, name: str) -> Any:
    return source.frame.select(source.frame.columns[source.at(name)]).limit(0).toArrow().schema.types[0]
