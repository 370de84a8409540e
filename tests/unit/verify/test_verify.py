"""The verifier: what it counts, against a count by hand and by brute force."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg import errors
from microagg.model import Claims
from microagg.verdict import Count, Verdict, decide, note, refuse
from microagg.verify import check_written, verify
from tests.refusals import has, open_in, unsafe
from tests.unit.verify.releases import EMPLOYEES, GROUPS, Made, masked, put, small_release, two_subsets


@pytest.mark.parametrize("others", [["1", "2", "3"], ["x", "y", "z"], [1.0, 2.0, 3.0]], ids=str)
@pytest.mark.parametrize(
    ("values", "alike"),
    [
        (["5", "5.0", " 05"], True),
        (["5", "5,0", "5,00"], True),
        (["a", "a ", " a"], True),
        (["", "NA", None], True),
        (["9007199254740993", "9007199254740992", "9007199254740992"], False),
        (["5", "5", "6"], False),
        (["a", "a", "b"], False),
        (["a", "a", ""], False),
        ([0.0, -0.0, 0.0], True),
        ([float("nan"), None, float("nan")], True),
        ([0.0, None, 0.0], False),
    ],
)
def test_values_that_mean_the_same_are_not_different(
    values: list[Any], alike: bool, others: list[Any]
) -> None:
    if isinstance(values[0], float) != isinstance(others[0], float):
        others = [type(values[0])(at) for at in range(3)]
    column = pa.array(values + others * 3)
    made = small_release()
    made = replace(made, source=put(made.source, "turnover", column)).with_released("turnover", column)
    assert len(open_in(made.verdict(), "distinct")) == alike


def test_a_correct_release_passes() -> None:
    verdict = small_release().verdict()
    assert verdict.failures == ()
    assert verdict.safe
    verdict.raise_if_unsafe()
    assert verdict.sentence == (
        "at least 3 records share every combination of region, surface and employees (smallest 3)"
    )
    assert verdict.subsets == (Count(("region", "surface", "employees"), 4, 3, 0, 0),)
    assert verdict.joint is None
    assert verdict.records == 12
    assert [change.column for change in verdict.mean_changes] == ["surface", "employees"]
    assert all(abs(change.mean) < 1e-9 and change.kept for change in verdict.mean_changes)
    assert [(entry.column, entry.unique) for entry in verdict.not_counted] == [
        ("turnover", 12),
        ("note", 10),
        ("open", 4),
    ]


def test_a_verdict_is_a_json_object_and_a_short_text() -> None:
    verdict = two_subsets(joint=False).claiming(accept=("partial",)).verdict()
    found = json.loads(json.dumps(verdict.as_dict(), allow_nan=False))
    assert found["safe"] is True
    assert found["sentence"] == verdict.sentence
    assert found["counted"]["joint"]["columns"] == ["region", "surface", "employees"]
    first = verdict.not_counted[0]
    shown = {"column": "turnover", "unique": first.unique, "confidential": True}
    assert found["not_protected"]["columns"][0] == shown
    assert [each["rule"] for each in found["accepted"]] == ["partial"]
    assert found["to_decide"] == found["refused"] == []
    assert found["summary"] == list(verdict.summary)
    text = str(verdict)
    assert text.startswith("\n".join(verdict.summary))
    assert "\n  turnover  " in text
    assert f"\naccepted: {verdict.accepted[0]}" in text


def test_shuffled_and_suppressed_records() -> None:
    made = small_release()
    sector = pa.array(["small"] * 2 + ["large"] * 10)
    made = replace(
        made,
        source=made.source.append_column("sector", sector),
        released=made.released.append_column("sector", sector),
    ).claiming(strata=("region", "sector"), small_strata="suppress")
    rows = np.array([5, 3, 4, 11, 9, 10, 6, 8, 7])
    suppressed = replace(made, released=made.released.take(rows), rows=rows)
    # the third record of the first group is of a large stratum, and had to be released
    assert has(suppressed.verdict().failures, refuse("records_left_out", records=1))
    made = suppressed.with_source("sector", ["small"] * 3 + ["large"] * 9).claiming(k=3)
    assert has(made.verdict().failures, refuse("records_left_out", records=3))
    verdict = made.claiming(k=4).verdict()
    assert not has(verdict.failures, refuse("records_left_out"))
    assert verdict.suppressed == 3
    made = suppressed.claiming(small_strata="refuse")
    assert has(made.verdict().failures, refuse("records_left_out", records=3))


def test_two_subsets_that_agree_are_joint() -> None:
    verdict = two_subsets(joint=True).verdict()
    assert verdict.safe
    assert verdict.joint == Count(("region", "surface", "employees"), 4, 3, 0, 0)
    assert "every combination of region, surface and employees" in verdict.sentence


def test_two_subsets_that_cross_need_acceptance() -> None:
    made = two_subsets(joint=False)
    counts = Counter(zip(*(made.column(name) for name in ("region", "surface", "employees")), strict=True))
    unique = sum(1 for times in counts.values() if times == 1)
    below = sum(times for times in counts.values() if times < 3)
    assert unique
    verdict = made.verdict()
    assert not verdict.safe
    assert (
        verdict.sentence
        == f"k-anonymous per subset, NOT jointly ({unique} record{'' if unique == 1 else 's'} unique)"
    )
    assert verdict.joint is not None
    assert (verdict.joint.unique, verdict.joint.below) == (unique, below)
    assert verdict.to_decide == (decide("partial", k=3, unique=unique, below=below),)
    accepted = made.claiming(accept=("partial",)).verdict()
    assert accepted.safe
    assert accepted.sentence == verdict.sentence


def test_own_subsets_are_counted_without_strata_and_are_no_keys() -> None:
    made = small_release().claiming(own_subsets=(("turnover",),))
    groups = [at % 4 for at in range(12)]  # across regions
    turnover = made.source.column("turnover").to_pylist()
    made = made.with_released("turnover", masked(turnover, groups))
    verdict = made.verdict()
    assert verdict.failures == ()
    assert verdict.own_subsets == (Count(("turnover",), 4, 3, 0, 0),)
    assert [entry.column for entry in verdict.not_counted] == ["note", "open"]


def test_noise_is_noted() -> None:
    made = small_release().claiming(noised=("turnover",))
    verdict = made.with_released("turnover", [value + 1.25 for value in made.column("turnover")]).verdict()
    assert verdict.failures == ()
    assert has(verdict.notes, note("noised", "turnover"))
    [change] = [change for change in verdict.mean_changes if change.column == "turnover"]
    assert (change.mean, change.total, change.tolerance) == (1.25, 15.0, None)


def test_own_values_are_noted_not_refused() -> None:
    made = small_release().with_source("surface", [700.0] * 3 + [1.0, 2.0, 3.0] * 3)
    made = made.with_source("employees", [7.0] * 3 + [1.0, 2.0, 3.0] * 3)
    for name in ("surface", "employees"):
        made = made.with_released(name, masked(made.source.column(name).to_pylist(), GROUPS))
    verdict = made.verdict()
    assert verdict.failures == ()
    # three equal records, and the middle of each other group
    assert has(verdict.notes, note("unchanged", records={"surface": 6, "employees": 6}, of=12))


def test_weighted_means() -> None:
    made = small_release()
    weights = [1.0, 1.0, 1.5] * 4
    made = replace(made, source=made.source.append_column("weight", pa.array(weights)))
    made = replace(made, released=made.released.append_column("weight", pa.array(weights)))
    for name in ("surface", "employees"):
        made = made.with_released(name, masked(made.source.column(name).to_pylist(), GROUPS, weights))
    assert made.claiming(weight="weight").verdict().failures == ()


def test_missing_patterns() -> None:
    made = small_release()
    gone = [None] * 3
    surface = made.source.column("surface").to_pylist()
    made = made.with_source("surface", gone + surface[3:]).with_released(
        "surface", gone + made.column("surface")[3:]
    )
    assert made.verdict().failures == ()
    # a cell that was there may be left out
    made = small_release()
    made = made.with_released("surface", gone + made.column("surface")[3:])
    assert made.claiming(may_set_to_missing=True).verdict().failures == ()
    assert made.verdict().failures == (refuse("values_vanished", "surface", records=3),)


def test_strata_alone_are_keys() -> None:
    made = small_release()
    made = replace(made, released=made.source.drop_columns(["name"]))
    verdict = made.claiming(subsets=(), mean_tolerance={}).verdict()
    assert verdict.failures == ()
    assert verdict.subsets == (Count(("region",), 2, 6, 0, 0),)


COLUMNS = {
    "text": pa.array(["a", None, "b"] * 4),
    "categories": pa.array(["a", None, "b"] * 4).dictionary_encode(),
    "chunks": pa.chunked_array(
        [pa.array(["a", "b"]).dictionary_encode(), pa.array(["b"] * 10).dictionary_encode()]
    ),
    "whole": pa.array([2**60 + 1, None, 2**60] * 4),
    "unsigned": pa.array([2**64 - 1, 0, 1] * 4, pa.uint64()),
    "floats": pa.array([0.1, float("nan"), None] * 4),
    "halves": pa.array(np.array([0.5, 1, 2] * 4, np.float16)),
    "decimals": pa.array([Decimal("1.50"), None, Decimal("1.51")] * 4),
    "dates": pa.array([date(2020, 1, 1), None, date(2020, 1, 2)] * 4),
    "times": pa.array(
        [datetime(2020, 1, 1, 10), None, datetime(2020, 1, 2)] * 4, pa.timestamp("ns", "UTC")
    ),
    "truth": pa.array([True, None, False] * 4),
    "bytes": pa.array([b"a", None, b"b"] * 4),
    "lists": pa.array([[1], None, [2, 3]] * 4),
    "nothing": pa.nulls(12),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_every_type(name: str) -> None:
    made = small_release()
    made = replace(
        made,
        source=made.source.append_column("more", COLUMNS[name]),
        released=made.released.append_column("more", COLUMNS[name]),
    )
    verdict = made.verdict()
    assert verdict.failures == ()
    unique = {entry.column: entry.unique for entry in verdict.not_counted}
    values = [repr(value) for value in made.released.column("more").to_pylist()]
    assert unique["more"] == sum(
        1 for times in Counter(zip(GROUPS, values, strict=True)).values() if times == 1
    )
    rows = np.array([1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    swapped = replace(made, released=put(made.released, "more", made.released.column("more").take(rows)))
    assert swapped.verdict().safe == (values[0] == values[1])
    check_written(made.released, made.released, verdict, made.claims)


def test_every_nan_is_the_same() -> None:
    bits = np.full(12, np.float64("nan").view(np.int64))
    bits[::2] += 1
    made = small_release()
    made = replace(
        made,
        source=made.source.append_column("more", pa.array(bits.view(np.float64))),
        released=made.released.append_column("more", pa.array(np.full(12, np.nan))),
    )
    assert made.verdict().safe


# --- random tables against brute force ---------------------------------------------------------

CELL = st.sampled_from([None, -1.0, 0.0, 0.5, 2.0])
TEXT = st.sampled_from([None, "", "a", "b"])


@st.composite
def random_tables(draw: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]], Claims]:
    n = draw(st.integers(1, 24))
    kinds = {"s": TEXT, "x": CELL, "y": CELL, "z": CELL, "c": CELL, "o": TEXT}
    source = [{name: draw(kind) for name, kind in kinds.items()} for _ in range(n)]
    released = [dict(row) for row in source]
    for row in released:
        for name in "xyz":
            row[name] = draw(CELL)
    claims = Claims(
        k=draw(st.integers(2, 4)),
        subsets=draw(st.sampled_from([(("x",), ("y", "z")), (("x", "y", "z"),), (("x",), ("y",), ("z",))])),
        strata=draw(st.sampled_from([(), ("s",)])),
        confidential=("c",),
        min_distinct=draw(st.integers(1, 4)),
        accept=draw(st.sampled_from([(), ("distinct",), ("partial",), ("partial", "distinct")])),
        may_set_to_missing=True,
    )
    return source, released, claims


def classes_by_hand(
    rows: list[dict[str, Any]], columns: tuple[str, ...]
) -> dict[tuple[Any, ...], list[int]]:
    found = defaultdict(list)
    for at, row in enumerate(rows):
        found[tuple(row[name] for name in columns)].append(at)
    return found


def alone_by(rows: list[dict[str, Any]], columns: tuple[str, ...]) -> list[int]:
    return [those[0] for those in classes_by_hand(rows, columns).values() if len(those) == 1]


def table_of(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.table(
        {
            name: pa.array([row[name] for row in rows], pa.string() if name in "so" else pa.float64())
            for name in rows[0]
        }
    )


@settings(max_examples=120)
@given(random_tables())
def test_counts_are_those_of_brute_force(case: Any) -> None:
    source, released, claims = case
    n = len(source)
    verdict = verify(table_of(source), table_of(released), np.arange(n), claims)
    k, keys = claims.k, claims.strata + tuple(name for subset in claims.subsets for name in subset)
    short = False
    expected_poor = set()
    joint_ok = all(len(those) >= k for those in classes_by_hand(released, keys).values())
    looked_at = [claims.strata + subset for subset in claims.subsets]
    for columns, count in zip(looked_at, verdict.subsets, strict=True):
        sizes = [len(those) for those in classes_by_hand(released, columns).values()]
        assert count.columns == columns
        assert (count.classes, count.smallest) == (len(sizes), min(sizes))
        assert count.below == sum(size for size in sizes if size < k)
        assert count.unique == sizes.count(1)
        short |= min(sizes) < k
    for columns in looked_at + ([keys] if joint_ok and len(looked_at) > 1 else []):
        groups = classes_by_hand(released, columns).values()
        poor = [those for those in groups if len({source[at]["c"] for at in those}) < claims.min_distinct]
        if poor:
            expected_poor.add((columns, len(poor), sum(map(len, poor))))
    found_poor = [each.figures for each in verdict.findings if each.rule == "distinct"]
    assert {(each["keys"], each["groups"], each["records"]) for each in found_poor} == expected_poor
    if len(claims.subsets) > 1:
        sizes = [len(those) for those in classes_by_hand(released, keys).values()]
        assert verdict.joint is not None
        assert verdict.joint.unique == sizes.count(1)
        assert verdict.joint.below == sum(size for size in sizes if size < k)
    alone = sum(1 for those in classes_by_hand(released, keys).values() if len(those) == 1)
    for entry in verdict.not_counted:
        finer = classes_by_hand(released, (*keys, entry.column)).values()
        assert entry.unique == sum(1 for those in finer if len(those) == 1) - alone
    assert {entry.column for entry in verdict.not_counted} == set("cso") - set(keys)
    assert verdict.unique == len(alone_by(released, (*keys, *(set("so") - set(keys)))))
    assert verdict.unique_with_confidential == len(alone_by(released, tuple("cosxyz")))
    invented = any(
        new[name] is not None and old[name] is None
        for old, new in zip(source, released, strict=True)
        for name in "xyz"
    )
    refused = short or invented
    refused |= not (joint_ok or claims.accepts("partial") or len(claims.subsets) == 1)
    refused |= bool(expected_poor) and not claims.accepts("distinct")
    refused |= any(each.rule in ("predicted", "derived") for each in verdict.to_decide + verdict.failures)
    pairs = claims.k == 2
    assert verdict.safe != (refused or pairs)


# --- written files -----------------------------------------------------------------------------


def as_csv(table: pa.Table, comma: bool = False) -> pa.Table:
    """Every column as text, as a CSV file gives it back."""
    texts = {}
    for name in table.column_names:
        values = [
            None if value in (None, "") else repr(value) if isinstance(value, float) else str(value)
            for value in table.column(name).to_pylist()
        ]
        if comma and pa.types.is_floating(table.schema.field(name).type):
            values = [None if value is None else value.replace(".", ",") for value in values]
        texts[name] = pa.array(values, pa.large_string())
    return pa.table(texts)


def checked(made: Made, written: pa.Table, decimal: str = ".") -> None:
    check_written(made.released, written, made.verdict(), made.claims, decimal)


def test_a_csv_file_read_again() -> None:
    made = small_release()
    checked(made, as_csv(made.released))
    checked(made, as_csv(made.released, comma=True), ",")
    with unsafe(refuse("written_differs", "surface")):
        checked(made, as_csv(made.released), ",")


MOVES = {
    "whole numbers as doubles": ([1, None, 3], [1.0, None, 3.0]),
    "doubles as whole numbers": ([1.0, None, 3.0], [1, None, 3]),
    "floats as doubles": (pa.array([0.5, 0.1, None], pa.float32()), [0.5, float(np.float32(0.1)), None]),
    "decimals as doubles": ([Decimal("1.10"), None, Decimal("1234567.89")], [1.1, None, 1234567.89]),
    "decimals of another scale": ([Decimal("1.10")] * 3, [Decimal("1.1")] * 3),
    "decimals as text": ([Decimal("1.10")] * 3, ["1.1"] * 3),
    "whole numbers as text": ([1, None, 2**60 + 1], ["1", None, str(2**60 + 1)]),
    "whole doubles as text": ([1.0, None, 1e300], ["1", "", "1e300"]),
    "dates as timestamps": ([date(2020, 1, 1)] * 3, [datetime(2020, 1, 1)] * 3),
    "timestamps as dates": ([datetime(2020, 1, 1)] * 3, [date(2020, 1, 1)] * 3),
    "timestamps of other units": (
        pa.array([1, 2, 3], pa.timestamp("s")),
        pa.array([1000, 2000, 3000], pa.timestamp("ms")),
    ),
    "dates as text": ([date(2020, 1, 1)] * 3, ["2020-01-01"] * 3),
    "times as text": ([datetime(2020, 1, 1, 10)] * 3, ["2020-01-01 10:00:00"] * 3),
    "truth as text": ([True, None, False], ["true", None, "False"]),
    "truth as numbers": ([True, None, False], [1.0, None, 0.0]),
    "categories as text": (pa.array(["a", "b", None]).dictionary_encode(), ["a", "b", ""]),
    "missing text as empty": (["a", None, ""], ["a", "", None]),
    "nothing at all": (pa.nulls(3), pa.array([None] * 3, pa.float64())),
    "signs of zero": ([0.0, -0.0, 1.0], [-0.0, 0.0, 1.0]),
    "not a number": ([float("nan"), 1.0, None], ["nan", "1", ""]),
    "NaN as missing": ([1.0, float("nan"), 2.0], [1.0, None, 2.0]),
    "NaN as an empty field": ([1.0, float("nan"), 2.0], ["1", "", "2"]),
    "the fewest digits of single precision": (
        pa.array([1.1, 16777216.0, 1e-30], pa.float32()),
        ["1.1", "16777216", "1e-30"],
    ),
}

BREAKS = {
    "the last bit": ([0.1, 0.2, 0.3], [0.1, np.nextafter(0.2, 1), 0.3]),
    "the last digit of a text": ([0.1, 0.2, 0.3], ["0.1", "0.2", "0.30000000000000004"]),
    "single precision": ([0.1, 0.5, 0.3], pa.array([0.1, 0.5, 0.3], pa.float32())),
    "the last digit of single precision": (pa.array([1.1] * 3, pa.float32()), ["1.1", "1.1000001", "1.1"]),
    "rounded": ([0.126, 0.5, 0.3], ["0.13", "0.5", "0.3"]),
    "whole numbers cut off": ([1.5, 2.0, 3.0], [1, 2, 3]),
    "whole numbers too large for doubles": ([2**60 + 1, 1, 2], [float(2**60), 1.0, 2.0]),
    "whole numbers too large, as text": ([2**60 + 1, 1, 2], [str(2**60), "1", "2"]),
    "decimals cut off": ([Decimal("1.15")] * 3, [Decimal("1.1")] * 3),
    "decimals as whole numbers": ([Decimal("1.10")] * 3, [1] * 3),
    "the last digits of long decimals": (
        [Decimal("1234567890123456789.01")] * 3,
        [Decimal("1234567890123456789.012")] * 3,
    ),
    "a missing number as zero": ([1.0, None, 2.0], [1.0, 0.0, 2.0]),
    "zero as missing": ([1.0, 0.0, 2.0], [1.0, None, 2.0]),
    "missing as NaN": ([1.0, None, 2.0], [1.0, float("nan"), 2.0]),
    "missing text as a word": (["a", None, "b"], ["a", "NA", "b"]),
    "leading zeros": (["007", "008", "010"], [7, 8, 10]),
    "leading zeros in text": (["007", "008", "010"], ["7", "8", "10"]),
    "numbers from text": (["7", "8", "10"], [7, 8, 10]),
    "blanks": (["a ", "b", "c"], ["a", "b", "c"]),
    "cut text": (["abcdef", "b", "c"], ["abcde", "b", "c"]),
    "case": (["a", "b", "c"], ["A", "b", "c"]),
    "the time of the day": ([datetime(2020, 1, 1, 10)] * 3, [date(2020, 1, 1)] * 3),
    "a time from nowhere": ([date(2020, 1, 1)] * 3, [datetime(2020, 1, 1, 10)] * 3),
    "fractions of a second": (
        pa.array([1001, 2000, 3000], pa.timestamp("ms")),
        pa.array([1, 2, 3], pa.timestamp("s")),
    ),
    "the time zone": (
        pa.array([1, 2, 3], pa.timestamp("s", "UTC")),
        pa.array([1, 2, 3], pa.timestamp("s")),
    ),
    "another date": ([date(2020, 1, 1)] * 3, ["2020-01-01", "2020-01-02", "2020-01-01"]),
    "truth as other numbers": ([True, True, False], [1.0, 2.0, 0.0]),
    "truth turned": ([True, True, False], ["true", "false", "false"]),
    "numbers as truth": ([1.0, 1.0, 0.0], [True, True, False]),
    "words for numbers": ([1.0, 2.0, 3.0], ["1", "two", "3"]),
    "thousands": ([1000.0, 2.0, 3.0], ["1,000", "2", "3"]),
    "hexadecimal": ([31, 2, 3], ["0x1F", "2", "3"]),
    "swapped": ([1.0, 2.0, 3.0], [2.0, 1.0, 3.0]),
    "categories swapped": (
        pa.array(["a", "b", "b"]).dictionary_encode(),
        pa.array(["b", "a", "a"]).dictionary_encode(),
    ),
}


def written_as(before: Any, after: Any) -> None:
    key = pa.array([1.5] * 3)
    released = pa.table({"key": key, "column": before})
    claims = Claims(k=3, subsets=(("key",),))
    verdict = verify(released, released, np.arange(3), claims)
    check_written(released, pa.table({"key": key, "column": after}), verdict, claims)


@pytest.mark.parametrize("name", MOVES)
def test_types_that_a_format_may_change(name: str) -> None:
    written_as(*MOVES[name])


@pytest.mark.parametrize("name", BREAKS)
def test_values_that_no_format_may_change(name: str) -> None:
    with unsafe(refuse("written_differs", "column")):
        written_as(*BREAKS[name])


@settings(max_examples=200)
@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20), st.data())
def test_text_must_read_as_the_very_same_double(values: list[float], data: Any) -> None:
    n = len(values)
    released = pa.table({"key": [1.0] * (n + 2), "column": [*values, 1.0, 2.0]})
    claims = Claims(k=2, subsets=(("key",),), accept=("pairs",))
    verdict = verify(released, released, np.arange(n + 2), claims)
    texts = [repr(value) for value in released.column("column").to_pylist()]
    written = released.set_column(1, "column", pa.array(texts))
    check_written(released, written, verdict, claims)
    at = data.draw(st.integers(0, n - 1))
    other = float(np.nextafter(values[at], -np.inf if values[at] > 0 else np.inf))
    texts[at] = repr(other)
    with pytest.raises(errors.UnsafeRelease):
        check_written(released, released.set_column(1, "column", pa.array(texts)), verdict, claims)


def test_an_unsafe_verdict_is_never_written() -> None:
    made = two_subsets(joint=False)
    with unsafe(decide("partial")):
        checked(made, made.released)


def test_a_failure_that_the_file_does_not_show() -> None:
    made = small_release().claiming(mean_tolerance={"surface": float("nan")})
    with unsafe(refuse("mean_not_kept", "surface")):
        checked(made, made.released)


def test_a_verdict_of_another_table() -> None:
    made = small_release()
    verdict = replace(made.verdict(), records=11)
    with unsafe(refuse("written_rows_differ", written=12, verified=11)):
        check_written(made.released, made.released, verdict, made.claims)


def test_the_recount_of_the_file_stands_alone() -> None:
    # The release itself is wrong, its verdict forged: the file must hold by itself.
    made = small_release().with_released("surface", small_release().source.column("surface"))
    with unsafe(refuse("combination_too_rare", k=3)):
        check_written(made.released, made.released, Verdict(3, records=12), made.claims)


def test_the_recount_of_own_subsets_stands_alone() -> None:
    made = small_release().claiming(own_subsets=(("turnover",),))
    with unsafe(refuse("combination_too_rare", "turnover")):
        check_written(made.released, made.released, Verdict(3, records=12), made.claims)


def test_one_double_written_in_two_ways() -> None:
    made = small_release()
    written = as_csv(made.released)
    texts = written.column("employees").to_pylist()
    assert texts[3] == "15.0"
    with unsafe(refuse("combination_too_rare", k=3)):
        checked(made, put(written, "employees", [*texts[:3], "15", *texts[4:]]))


def test_more_unique_records_than_verified() -> None:
    made = two_subsets(joint=False).claiming(accept=("partial",))
    verdict = made.verdict()
    assert verdict.joint is not None
    fewer = replace(verdict, joint=replace(verdict.joint, unique=0))
    with unsafe(refuse("written_more_unique", verified=0)):
        check_written(made.released, made.released, fewer, made.claims)


def test_no_message_shows_a_value() -> None:
    made = small_release().with_released("employees", EMPLOYEES).with_released("region", ["secret"] * 12)
    verdict = made.with_released("note", ["hidden"] * 12).verdict()
    text = str(verdict) + json.dumps(verdict.as_dict())
    assert not verdict.safe
    for value in ("secret", "hidden", "firm 1", "790", "710"):
        assert value not in text
