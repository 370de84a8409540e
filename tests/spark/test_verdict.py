"""Frames that are broken on purpose do not pass."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import microagg
from microagg.engines.spark.release import SparkRelease
from microagg.verify.frame_release import verify_frame
from tests.refusals import open_in, rules
from tests.spark.test_both_engines import EDUCATION, MIXED, mixed
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


def with_wrong_values(table: pa.Table) -> pa.Table:
    """All groups with another sign, one record with a value of its own, one without a number, and one whose
    weight is nearly all of its group's.
    """
    own = table["y0"].to_numpy()
    group = np.flatnonzero(own == own[0])
    table = table.set_column(table.column_names.index("y0"), "y0", pa.array(-own))
    for row in group:
        table = with_value(table, "weight", int(row), 1000.0 if row == group[0] else 1.0)
    other = int(np.flatnonzero(own != own[0])[0])
    return with_value(with_value(table, "y0", other, 123.0), "y1", other, float("nan"))


BROKEN: dict[str, tuple[Callable[[pa.Table], pa.Table], set[str]]] = {
    "values": (with_wrong_values, {"combination_too_rare", "not_the_mean", "not_a_number", "dominated"}),
    "a record twice, another not at all": (
        lambda table: pa.concat_tables([table.slice(1), table.slice(5, 1)]), {"source_records_differ"},
    ),
    "a column that was to stay changed": (
        lambda table: with_value(table, "c5", 3, 9.0), {"source_records_differ"},
    ),
    "a record lost": (lambda table: table.slice(1), {"source_records_differ"}),
}  # fmt: skip


def test_broken_frames(session: Any, made: tuple[SparkRelease, pa.Table]) -> None:
    release, table = made
    for how, (broken, expected) in BROKEN.items():
        frame = session.createDataFrame(broken(table), release.paired.schema)
        columns = release.source.columns
        verdict, _ = verify_frame(frame, release.sides, release.protection, columns, release.fingerprint, 0)
        assert not verdict.safe, how
        assert expected <= set(rules(open_in(verdict))), (how, open_in(verdict))


def in_group(table: pa.Table, name: str, change: Callable[[Any, set[Any]], Any]) -> pa.Table:
    """Another published value in all records of the first one's group; it may depend on those they had."""
    groups, values = table["group0"].to_pylist(), table[name].to_pylist()
    rows = [row for row, group in enumerate(groups) if group == groups[0]]
    had = {table[f"c{name[1:]}"][row].as_py() for row in rows}
    for row in rows:
        table = with_value(table, name, row, change(values[row], had))
    return table


def with_other_published_values(table: pa.Table) -> pa.Table:
    """Of one group another category, level and date; one of its records has another category still."""
    table = in_group(table, "p6", lambda _, had: next(each for each in "NSEW" if each not in had))
    table = in_group(table, "p3", lambda level, _: next(each for each in EDUCATION if each != level))
    table = in_group(table, "p4", lambda day, _: day + timedelta(days=400))
    return with_value(table, "p1", 0, "f" if table["p1"][0].as_py() == "m" else "m")


def with_values_that_cannot_be(table: pa.Table) -> pa.Table:
    table = in_group(table, "p5", lambda moment, _: moment + timedelta(hours=1))
    return in_group(table, "p6", lambda _, had: "Atlantis")


KINDS: tuple[tuple[Callable[[pa.Table], pa.Table], set[tuple[str, tuple[str, ...]]]], ...] = (
    (
        with_other_published_values,
        {
            ("not_the_mode", ("region",)),
            ("not_the_median_level", ("education",)),
            ("not_the_date", ("born",)),
            ("combination_too_rare", tuple(MIXED)),
        },
    ),
    (with_values_that_cannot_be, {("date_too_exact", ("seen",)), ("new_category", ("region",))}),
    (
        lambda table: with_value(
            table, "c3", 0, "none" if table["c3"][0].as_py() == "school" else "school"
        ),
        {("source_records_differ", ())},
    ),
)


def test_broken_frames_with_keys_of_any_kind(session: Any) -> None:
    table = mixed(60).select([*MIXED, "nr"])
    words: dict[str, Any] = {
        "k": 3, "keys": MIXED, "pass_": ["nr"], "ordinal": {"education": EDUCATION},
        "resolution": {"seen": "day"}, "method": "mdav",
    }  # fmt: skip
    release: Any = microagg.protect(session.createDataFrame(table), **words)
    paired = release.paired.toArrow()
    for broken, expected in KINDS:
        frame = session.createDataFrame(broken(paired), release.paired.schema)
        columns = release.source.columns
        verdict, _ = verify_frame(frame, release.sides, release.protection, columns, release.fingerprint, 0)
        found = {(finding.rule, tuple(finding.columns)) for finding in open_in(verdict)}
        assert expected <= found, open_in(verdict)
    here: Any = microagg.protect(table, **words)
    assert release.verdict.category_changes == here.verdict.category_changes
    assert release.losses.columns.keys() == here.losses.columns.keys()


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
