"""Keys that hold no numbers in a frame of Spark: their different values, and what numbers stand for them.

The rules are those of `key_readings.py`; they need each value of a category once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute
from pyspark.sql import DataFrame

from microagg import wording
from microagg.arrow_types import in_utc
from microagg.arrow_values import from_numbers, in_one_piece, to_numpy
from microagg.settings.policy import ProtectionPolicy
from microagg.spark_functions import found_in, of_columns
from microagg.verdict import Finding
from microagg.verify.categories import LENGTHS
from microagg.verify.frame_columns import BeforeAfterColumns, quoted
from microagg.verify.key_readings import KeyReading, key_readings, reading_failures
from microagg.verify.promises import Notation

MOST_CATEGORIES = 100_000
"""Of a column: their list is kept by the driver and sent to every task."""


def different_values(
    frame: DataFrame, columns: Mapping[str, str], policy: ProtectionPolicy
) -> dict[str, Any]:
    """By name, of these columns of the frame, as Arrow arrays: null is a value too. Of dates and times that
    are no categories, some that show to which unit all are exact. `DataError` if a column has too many.
    """
    if not columns:
        return {}
    given = [name in policy.nominal or name in policy.ordinal for name in columns]

    def of_both(known: list[Any], more: list[Any]) -> list[Any]:
        return [
            one if other is None else _values_of_both(one, other, are_categories)
            for one, other, are_categories in zip(known, more, given, strict=True)
        ]

    def find(batches: Iterable[Any]) -> list[Any]:
        return reduce(of_both, (batch.columns for batch in batches), nothing)

    nothing: list[Any] = [None] * len(columns)
    found = reduce(of_both, found_in(frame.select(*map(quoted, columns.values())), find), nothing)
    for name, values in zip(columns, found, strict=True):
        if len(values) > MOST_CATEGORIES:
            raise wording.too_many_categories(name, MOST_CATEGORIES)
    return dict(zip(columns, found, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class FrameKey:
    """A key of a frame: how it is read, and its different values in the source."""

    reading: KeyReading
    values: Any

    def before(self, column: Any) -> Any:
        """Values of the source as numbers."""
        if self.reading.kind == "date" and not pa.types.is_string(self.values.type):
            return from_numbers(self.reading.numbers(column)[0])
        places = to_numpy(compute.index_in(in_utc(column), value_set=self.values))
        return from_numbers(self.reading.source[places])

    def after(self, column: Any) -> Any:
        """Released values as numbers."""
        return from_numbers(self.reading.numbers(column)[0])


def read_keys(
    source: DataFrame, sides: BeforeAfterColumns, policy: ProtectionPolicy, notation: Notation
) -> dict[str, FrameKey]:
    """Those that hold no numbers, by name; `source` has all of its records."""
    columns = {name: sides.before[name] for name in sides.keys}
    found = {}
    for name, values in different_values(source, columns, policy).items():
        readings = key_readings(pa.table({name: values}), policy, notation)
        if name in readings:
            found[name] = FrameKey(readings[name], values)
    return found


def with_key_numbers(
    frame: DataFrame, sides: BeforeAfterColumns, keys: Mapping[str, FrameKey]
) -> tuple[DataFrame, BeforeAfterColumns]:
    """The frame in which these keys are doubles too, before and after if it has both, and what these
    columns are called.
    """
    before, after, columns = dict(sides.before), dict(sides.after), []
    for at, (name, key) in enumerate(keys.items()):
        columns.append(of_columns(key.before)(quoted(before[name])).alias(f"before{at}"))
        if after[name] in frame.columns:
            columns.append(of_columns(key.after)(quoted(after[name])).alias(f"after{at}"))
        before[name], after[name] = f"before{at}", f"after{at}"
    return frame.select("*", *columns), replace(sides, before=before, after=after)


@contextmanager
def numbered(
    frame: DataFrame, sides: BeforeAfterColumns, keys: Mapping[str, FrameKey]
) -> Iterator[tuple[DataFrame, BeforeAfterColumns]]:
    """`with_key_numbers`, kept by Spark meanwhile: otherwise each count would ask Python for them again."""
    frame, sides = with_key_numbers(frame, sides, keys)
    if keys:
        frame.persist()
    try:
        yield frame, sides
    finally:
        if keys:
            frame.unpersist()


def released_failures(
    frame: DataFrame, sides: BeforeAfterColumns, keys: Mapping[str, FrameKey]
) -> list[Finding]:
    """Keys that hold what the source has not, in another type, or dates that are too exact."""
    if not keys:
        return []
    readings = [key.reading for key in keys.values()]
    chosen = frame.select(*(quoted(sides.after[name]) for name in keys))
    types = [in_utc(column).type for column in chosen.limit(0).toArrow().columns]

    def count(batches: Iterable[Any]) -> Any:
        found = np.zeros((len(readings), 2), dtype=np.int64)
        for batch in batches:
            for at, reading in enumerate(readings):
                if reading.fits(types[at]):
                    numbers, unknown = reading.numbers(batch.column(at))
                    found[at] += unknown, reading.too_exact(numbers)
        return found

    total = sum(found_in(chosen, count), start=np.zeros((len(readings), 2), dtype=np.int64))
    return [
        failure
        for (name, key), kind, (unknown, wrong) in zip(keys.items(), types, total.tolist(), strict=True)
        for failure in reading_failures(name, key.reading, kind, unknown, wrong)
    ]


def _values_of_both(known: Any, more: Any, are_categories: bool) -> Any:
    """The different values of both; one more than there may be, if there are too many."""
    new = in_one_piece(in_utc(more)).unique()
    found = new if known is None else pa.concat_arrays([known, new]).unique()
    if not are_categories and (pa.types.is_date(found.type) or pa.types.is_timestamp(found.type)):
        return _some_dates(found)
    return found.slice(0, MOST_CATEGORIES + 1)


def _some_dates(dates: Any) -> Any:
    """A date, null, and of each unit one that is no multiple of it, as far as they are there."""
    chosen = [
        *np.flatnonzero(to_numpy(dates.is_null()))[:1],
        *np.flatnonzero(to_numpy(dates.is_valid()))[:1],
    ]
    if pa.types.is_timestamp(dates.type):
        ticks = to_numpy(dates.cast(pa.timestamp("us", dates.type.tz)).cast(pa.int64()).fill_null(0))
        for length in LENGTHS.values():
            chosen += [*np.flatnonzero(ticks % int(length * 1_000_000))[:1]]
    return dates.take(pa.array(sorted(set(map(int, chosen))), pa.int64()))
