"""Keys of every kind are read alike by the code that makes a release and by that which verifies it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from microagg.errors import DataError
from microagg.model import CsvFormat, Microdata, Origin, StatisticalLabels
from microagg.plan.protection import Protection
from microagg.prepare.dates import TEXT_FORMATS
from microagg.prepare.key_columns import key_column
from microagg.verify.key_readings import key_readings, released_numbers
from microagg.verify.second_reading import notation_of
from tests.campaigns import SAMPLE

TEXTS = ("north", "South", " east", "", "7", "007", "Ünder", "a,b", "NA", "x", "true", "1999", "é")
LEVELS = ("low", "middle", "high")
Made = tuple[Any, dict[str, Any], Origin]
"""A column, the settings of its key, and where it comes from."""


def in_memory(labels: StatisticalLabels | None = None) -> Origin:
    return Origin("frame", "test", labels=labels)


def gaps(draw: random.Random, values: list[Any]) -> list[Any]:
    share = draw.choice((0.0, 0.0, 0.2))
    return [None if draw.random() < share else value for value in values]


def drawn(draw: random.Random, values: tuple[Any, ...], n: int) -> list[Any]:
    some = draw.sample(values, draw.randrange(1, len(values) + 1))
    return gaps(draw, [draw.choice(some) for _ in range(n)])


def some_text(draw: random.Random, n: int) -> Made:
    kind = draw.choice((pa.string(), pa.large_string()))
    codes = {"missing_codes": {"x": ["north", 7]}} if draw.random() < 0.3 else {}
    return pa.array(drawn(draw, TEXTS, n), kind), {"nominal": ["x"], **codes}, in_memory()


def text_of_a_csv_file(draw: random.Random, n: int) -> Made:
    values = draw.choice((TEXTS, ("0", "1"), ("0", "1.0", "NA"), ("a", "b", "c"), ("3", "4", "5")))
    origin = Origin("CSV", "test", csv=CsvFormat(",", "utf-8", "."))
    column = [value or None for value in drawn(draw, values, n)]
    return pa.array(column, pa.large_string()), draw.choice(({}, {"nominal": ["x"]})), origin


def levels(draw: random.Random, n: int) -> Made:
    values = drawn(draw, LEVELS, n)
    if draw.random() < 0.5:
        return pa.array(values), {"ordinal": {"x": list(LEVELS)}}, in_memory()
    order = draw.sample(LEVELS, 3)
    codes = pa.array([None if value is None else order.index(value) for value in values], pa.int8())
    ordered = draw.random() < 0.5
    column = pa.DictionaryArray.from_arrays(codes, pa.array(order), ordered=ordered)
    return column, draw.choice(({}, {"ordinal": {"x": list(LEVELS)}})), in_memory()


def labelled_codes(draw: random.Random, n: int) -> Made:
    kind = draw.choice((pa.float64(), pa.int8(), pa.int64()))
    column = pa.array(drawn(draw, (1, 2, 3, 9), n), kind)
    texts = {1: "low", 2: "middle", 3: "high", 9: "refused"}
    if draw.random() < 0.3:
        del texts[2]
    about = StatisticalLabels(
        value_labels={"x": texts}, missing_ranges={"x": [9]} if draw.random() < 0.5 else {}
    )
    given: list[dict[str, Any]] = [{}, {"ordinal": {"x": []}}, {"nominal": ["x"]}]
    given += [{"missing_codes": {"x": [9]}}, {"ordinal": {"x": [*LEVELS, "refused"]}}]
    return column, draw.choice(given), in_memory(about)


def other_values(draw: random.Random, n: int) -> Made:
    values, kind = draw.choice(
        [
            ((True, False), pa.bool_()),
            ((0, 1), pa.uint8()),
            ((0.0, 1.0, float("nan")), pa.float32()),
            ((2**53, 2**53 + 1, -3), pa.int64()),
            ((Decimal("0"), Decimal("1")), pa.decimal128(4, 1)),
            ((Decimal("1.5"), Decimal("-2")), pa.decimal128(4, 1)),
            ((0.5, -0.0, 0.0, float("nan")), pa.float64()),
            ((b"a", b"b"), pa.binary()),
        ]
    )
    column = pa.array(drawn(draw, values, n), kind)
    if draw.random() < 0.2:
        column = column.dictionary_encode()
    given = draw.choice(({}, {"nominal": ["x"]})) if kind != pa.binary() else {"nominal": ["x"]}
    return column, given, in_memory()


def moments(draw: random.Random, n: int) -> list[datetime]:
    unit = draw.choice((1, 60, 3600, 86_400, 86_400))
    first = datetime(draw.choice((1915, 1969, 2024)), 2, 28, tzinfo=UTC)
    return [first + timedelta(seconds=unit * draw.randrange(1, 900)) for _ in range(n)]


def dates(draw: random.Random, n: int) -> Made:
    found = gaps(draw, moments(draw, n))
    kind = draw.choice(
        [
            pa.date32(),
            pa.date64(),
            *(
                pa.timestamp(unit, zone)
                for unit in ("s", "ms", "us", "ns")
                for zone in (None, "Asia/Tokyo")
            ),
        ]
    )
    values = [each and (each.date() if pa.types.is_date(kind) else each) for each in found]
    resolution = draw.choice(({}, {}, {"resolution": {"x": draw.choice(("month", "year"))}}))
    return pa.array(values, kind), resolution, in_memory()


def dates_as_text(draw: random.Random, n: int) -> Made:
    form = draw.choice(TEXT_FORMATS)
    texts = [each and each.strftime(form) for each in gaps(draw, moments(draw, n))]
    if draw.random() < 0.1:  # the first centuries, of which every platform writes other years
        texts = [each and each.replace("19", "00").replace("20", "09") for each in texts]
    if draw.random() < 0.2:
        texts[0] = draw.choice(("NA", f" {date(2001, 12, 31).strftime(form)} ", "soon"))
    origin = draw.choice((in_memory(), Origin("CSV", "test", csv=CsvFormat(",", "utf-8", "."))))
    return pa.array(texts, pa.large_string()), draw.choice(({}, {"nominal": ["x"]})), origin


COLUMNS: tuple[Callable[[random.Random, int], Made], ...] = (
    some_text, text_of_a_csv_file, levels, labelled_codes, other_values, dates, dates_as_text,
)  # fmt: skip


def compared(seed: int) -> str:
    """What the column holds as both read it, or "refused"."""
    draw = random.Random(seed)
    column, settings, origin = draw.choice(COLUMNS)(draw, draw.randrange(4, 40))
    source = Microdata(pa.table({"x": column}), origin)
    protection = Protection.of({"k": 3, "keys": ["x"], "missing": "by-pattern", **settings})
    try:
        numbers, kind = key_column(source, "x", protection)
    except DataError:
        return "refused"
    readings = key_readings(source.table, protection, notation_of(origin))
    assert (kind is None) == (not readings), seed
    if kind is None:
        return "number"
    reading = readings["x"]
    assert reading.kind == kind.kind, seed
    np.testing.assert_array_equal(reading.source, numbers, err_msg=str(seed))
    if kind.dates is not None:
        assert reading.resolution == kind.dates.resolution, seed
        there = ~np.isnan(numbers)
        numbers[there] = kind.dates.rounded(numbers[there])
    published = pa.table({"x": kind.published(numbers)})
    again, failures = released_numbers(published, readings)
    assert not failures, (seed, failures)
    np.testing.assert_array_equal(
        np.asarray(again.column("x").to_numpy(zero_copy_only=False)), numbers, err_msg=str(seed)
    )
    return kind.kind


def compare(seeds: range) -> None:
    counts = Counter(map(compared, seeds))
    assert min(counts[kind] for kind in ("nominal", "ordinal", "date", "number")) > len(seeds) // 50, counts


def test_1000_random_columns_are_read_alike() -> None:
    compare(range(1000))


@pytest.mark.long
def test_20000_random_columns_are_read_alike() -> None:
    compare(range(1000, 2000 if SAMPLE else 21_000))
