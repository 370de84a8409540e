"""Frames that are broken on purpose do not pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import microagg
from microagg.engines.spark.release import SparkRelease
from microagg.verify.frame_release import verify_frame
from tests.refusals import open_in, rules
from tests.spark.test_protect import KEYS, people


@pytest.fixture(scope="module")
def made(session: Any) -> tuple[SparkRelease, pa.Table]:
    """A release, and the frame behind it."""
    release: Any = microagg.protect(
        session.createDataFrame(people(60)), k=3, rest="pass",
        keys=KEYS, strata=["region"], confidential=["illness"],
        weight="weight", method="mdav", accept="distinct", min_distinct=3,
    )  # fmt: skip
    return release, release.paired.toArrow()


def with_value(table: pa.Table, name: str, row: int, value: Any) -> pa.Table:
    values = table[name].to_pylist()
    values[row] = value
    return table.set_column(
        table.column_names.index(name), name, pa.array(values, table.schema.field(name).type)
    )


def broken(table: pa.Table, how: str) -> pa.Table:
    own = table["y0"].to_numpy()
    if how == "one record with a value of its own":
        return with_value(table, "y0", 0, 123.0)
    if how == "two groups exchanged":
        return table.set_column(table.column_names.index("y0"), "y0", pa.array(-own))
    if how == "a record twice, another not at all":
        return pa.concat_tables([table.slice(1), table.slice(5, 1)])
    if how == "a column that was to stay changed":
        return with_value(table, "c5", 3, 9.0)
    if how == "a record lost":
        return table.slice(1)
    if how == "not a number":
        return with_value(table, "y1", 4, float("nan"))
    group = np.flatnonzero(own == own[0])
    for row in group:  # one weight is nearly all of its group's
        table = with_value(table, "weight", int(row), 1000.0 if row == group[0] else 1.0)
    return table


BREAKS = {
    "one record with a value of its own": "combination_too_rare",
    "two groups exchanged": "not_the_mean",
    "a record twice, another not at all": "source_records_differ",
    "a column that was to stay changed": "source_records_differ",
    "a record lost": "source_records_differ",
    "not a number": "not_a_number",
    "a heavy record": "dominated",
}


def test_broken_frames(session: Any, made: tuple[SparkRelease, pa.Table]) -> None:
    release, table = made
    for how, rule in BREAKS.items():
        frame = session.createDataFrame(broken(table, how), release.paired.schema)
        columns = release.source.columns
        verdict, _ = verify_frame(frame, release.sides, release.protection, columns, release.fingerprint, 0)
        assert not verdict.safe, how
        assert rule in rules(open_in(verdict)), (how, open_in(verdict))


def test_homogeneous_groups_are_counted_as_in_memory(made: tuple[SparkRelease, pa.Table]) -> None:
    release, _ = made
    here = microagg.protect(
        people(60).sort_by([(name, "ascending") for name in KEYS]), k=3, rest="pass",
        keys=KEYS, strata=["region"],
        confidential=["illness"], weight="weight", method="mdav", accept="distinct", min_distinct=3,
    )  # fmt: skip
    assert here.verdict.accepted
    assert release.verdict.accepted == here.verdict.accepted
    assert release.verdict.unique == here.verdict.unique
    assert release.verdict.not_counted == here.verdict.not_counted
