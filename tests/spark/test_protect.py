"""The Spark engine beside the local one: the same release where all is one block, and the same policies."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import microagg
from microagg import datasets, errors
from microagg.aggregate.grouped import Grouped
from microagg.aggregate.masking import masked_subset
from microagg.engines.randomness import Randomness
from microagg.engines.spark import working_frame
from microagg.engines.spark.block_plan import Keys, plan_blocks
from microagg.engines.spark.limits import sizes_of
from microagg.engines.spark.strata_counts import count_strata
from microagg.formats.spark_folders import FrameSource
from microagg.methods.stage import one_group, solve
from microagg.model import Origin, Problem
from microagg.plan.protection import Protection
from microagg.prepare.tasks import Task
from microagg.verdict import Verdict
from tests.refusals import refusal
from tests.spark.conftest import rows_of

KEYS = ["a", "b", "c"]


def people(n: int, seed: int = 0, regions: str = "NSE") -> pa.Table:
    random = np.random.default_rng(seed)
    values = datasets.census_like(n, seed=seed).values
    return pa.table(
        {
            **{name: np.round(values[:, at], 3) for at, name in enumerate(KEYS)},
            "region": random.choice(list(regions), n),
            "illness": random.integers(0, 40, n).astype(str),
            "weight": np.round(random.uniform(0.8, 1.2, n), 2),
        }
    )


def with_gaps(table: pa.Table) -> pa.Table:
    """Some keys missing, in frequent and in rare patterns; some zero."""
    columns = {name: table[name].to_numpy().copy() for name in KEYS}
    n = len(table)
    columns["a"][: n // 5] = np.nan
    columns["b"][n // 5 - 2 : n // 5 + 1] = np.nan
    columns["c"][n // 2 :: 3] = 0.0
    for name, values in columns.items():
        table = table.set_column(
            table.column_names.index(name), name, pa.array(values, mask=np.isnan(values))
        )
    return table


POLICIES: dict[str, dict[str, Any]] = {
    "strata": {"keys": KEYS, "strata": ["region"], "confidential": ["illness"]},
    "weights, whole numbers": {"keys": KEYS, "weight": "weight", "decimals": {"a": 0, "b": 1}},
    "missing, left out": {
        "keys": KEYS, "missing": "by-pattern", "strata": ["region"], "small_strata": "suppress",
        "weight": "weight",
    },
    "subsets": {
        "keys": [["a", "b"], ["c"]], "confidential": ["weight"], "confidential_as": "subset",
        "accept": ["partial", "distinct"],
    },
    "medians, zeros": {
        "keys": KEYS, "missing": "by-pattern", "zeros": "apart", "aggregate": "median",
        "accept": ["real-values"], "scale": "range",
    },
}  # fmt: skip


@pytest.mark.parametrize("policy", POLICIES)
def test_one_block_is_released_as_the_local_engine_does(session: Any, policy: str) -> None:
    words = {"k": 3, "method": "mdav", "drop": ["illness"], **POLICIES[policy]}
    if "illness" in words.get("confidential", ()):
        del words["drop"]
    table = people(240)
    if "small_strata" in words:
        regions = pa.array(["S" if at in (17, 101) else "N" for at in range(240)])
        table = table.set_column(table.column_names.index("region"), "region", regions)
    if "missing" in words:
        table = with_gaps(table)
    here = microagg.protect(table.sort_by([(name, "ascending") for name in KEYS]), rest="pass", **words)
    there = microagg.protect(session.createDataFrame(table), rest="pass", **words)
    assert there.verdict.safe
    assert there.verdict.records == here.verdict.records
    assert there.information_loss == pytest.approx(here.information_loss, rel=0.02)
    assert [count.smallest >= 3 for count in there.verdict.subsets] == [True] * len(there.verdict.subsets)
    assert [entry.column for entry in there.verdict.not_counted] == [
        entry.column for entry in here.verdict.not_counted
    ]
    if policy == "subsets":  # of records with the same weight, others are grouped together
        assert [sorted(column.to_pylist()) for column in there.data.toArrow().columns] == [
            sorted(column.to_pylist()) for column in here.data.columns
        ]
    elif "missing" not in words:  # where cells are given up, ties are broken by the order of records
        assert rows_of(there.data) == rows_of(here.data)
        assert there.verdict.not_counted == here.verdict.not_counted
        assert there.verdict.subsets == here.verdict.subsets
    if policy != "medians, zeros":  # whose values given up differ, as above
        check_mean_changes(there.verdict, here.verdict)
    if policy == "missing, left out":
        assert any(change.set_to_missing for change in here.verdict.mean_changes)
        assert any(change.left_out for change in here.verdict.mean_changes)
    there.close()


def check_mean_changes(there: Verdict, here: Verdict) -> None:
    """Of the whole column, with cells set to missing and records left out: the same as in memory."""
    for one, other in zip(there.mean_changes, here.mean_changes, strict=True):
        assert (one.cells, one.set_to_missing, one.left_out) == (
            other.cells, other.set_to_missing, other.left_out,
        )  # fmt: skip
        assert one.column_mean == pytest.approx(other.column_mean, rel=1e-6, abs=1e-9)
        assert one.column_relative == pytest.approx(other.column_relative, rel=1e-6, abs=1e-9)
        if not one.is_whole:
            assert one.description in str(there)


def test_partitions_and_order_change_nothing(
    session: Any, adaptive: None, block_records: Callable[[int], None], tmp_path: Path
) -> None:
    """A release that is repeated has the same records in the same order, wherever they are, and whether
    Spark changes its plans while they run or not.
    """
    session.conf.set("spark.sql.adaptive.enabled", "false")
    block_records(150)
    table = people(1_000)
    words = {"k": 4, "keys": KEYS, "strata": ["region"], "drop": ["illness"], "effort": "fast"}
    order = np.random.default_rng(1).permutation(len(table))
    frames_of_it = [
        session.createDataFrame(table).coalesce(1),
        session.createDataFrame(table.take(order)).repartition(5),
    ]
    first: Any = microagg.protect(frames_of_it[0], rest="pass", **words)
    session.conf.set("spark.sql.adaptive.enabled", "true")
    record = tmp_path / "first.microagg.json"
    record.write_text(json.dumps(first.record))
    releases: list[Any] = [first, microagg.protect(frames_of_it[1], repeat=record)]
    assert releases[0].data.collect() == releases[1].data.collect()
    rows = [rows_of(release.data) for release in releases]
    assert rows[0] == rows[1]
    assert releases[0].information_loss == releases[1].information_loss
    assert releases[0].record["input"]["digest"] == releases[1].record["input"]["digest"]
    sizes = [found.records for own in releases[0].found for found in own]
    assert sum(sizes) == len(table)
    assert max(sizes) <= 150
    assert min(sizes) >= 8
    assert len(sizes) >= 7
    assert all(release.verdict.subsets[0].smallest >= 4 for release in releases)


def test_same_blocks_give_identical_labels(session: Any, block_records: Callable[[int], None]) -> None:
    """What tasks of Spark make of a block is what the stage makes of it in this process."""
    block_records(400)
    table = people(1_500).select([*KEYS, "region"])
    words = {"k": 3, "keys": KEYS, "strata": ["region"], "method": "mdav-mhm"}
    release = microagg.protect(session.createDataFrame(table), rest="pass", **words)
    paired = release.paired.toArrow()
    before = np.stack([paired[f"x{at}"].to_numpy() for at in range(3)], axis=1)
    after = np.stack([paired[f"y{at}"].to_numpy() for at in range(3)], axis=1)

    protection = Protection.of(words)
    source = FrameSource(session.createDataFrame(table), Origin("frame", "frame"))
    numbered = working_frame.by_number(source, protection)
    strata = count_strata(source, numbered, protection, len(table))
    frame = working_frame.with_hashes(working_frame.with_strata(numbered, strata.table, strata.columns))
    keys = Keys(("x0", "x1", "x2"), tuple(KEYS), ((0, 1, 2),), (None,) * 3, (1.0,) * 3)
    plan = plan_blocks(frame, protection, keys, strata.sizes, sizes_of(3, "400"))
    blocks = plan.blocks[0].block[
        plan.blocks[0].places(paired["stratum"].to_numpy().astype(np.int64), before)
    ]
    stage = next(Randomness.drawn(protection).plans(protection)).stage
    assert len(np.unique(blocks)) > 3
    for block in np.unique(blocks):
        rows = np.flatnonzero(blocks == block)
        rows = rows[np.lexsort(before[rows].T[::-1])]
        problem = Problem(plan.space.points(before[rows]), 3)
        found = solve(stage, problem, one_group(problem), microagg.methods.run.Run())
        task = Task(0, 0, np.arange(len(rows)), tuple(KEYS), problem)
        numbers = {name: before[rows, at] for at, name in enumerate(KEYS)}
        grouped = Grouped.of(KEYS, numbers, {}, None, [(task, found)])
        own, _ = masked_subset(grouped, protection, dict.fromkeys(KEYS, 5))
        for at, name in enumerate(KEYS):
            np.testing.assert_array_equal(own[name], after[rows, at])


def test_a_second_round_crosses_borders(session: Any, block_records: Callable[[int], None]) -> None:
    block_records(100)
    table = with_gaps(people(400, regions="N"))
    words = {"k": 3, "keys": KEYS, "drop": ["illness"], "missing": "by-pattern"}
    words["method"] = "mdav+anneal:steps=10"
    frame = session.createDataFrame(table)
    once = microagg.protect(frame, rest="pass", **words)
    twice = microagg.protect(frame.repartition(3), effort="best", rest="pass", **words)
    assert twice.information_loss < once.information_loss
    others = ["region", "weight"]
    assert rows_of(twice.data.select(others)) == rows_of(table.select(others))
    assert len(twice.found[0]) > 3
    assert twice.verdict.subsets[0].smallest >= 3


def test_categories_alone_are_cut_into_blocks(session: Any, block_records: Callable[[int], None]) -> None:
    """In blocks that lie elsewhere too, where groups cost less when they are published."""
    block_records(80)
    random, n = np.random.default_rng(2), 300
    kinds = random.integers(0, 3, n)
    table = pa.table(
        {
            "work": [f"job {each}" for each in random.integers(0, 45, n)],
            "town": random.choice(list("ABCDEFGH"), n),
            "married": pa.array((kinds + random.integers(0, 2, n)) > 1),
            "school": np.array(["low", "mid", "high"])[kinds],
        }
    )
    words = {"keys": table.column_names, "ordinal": {"school": ["low", "mid", "high"]}}
    words["method"] = "mdav+anneal:steps=10"
    frame = session.createDataFrame(table)
    once = microagg.protect(frame, 3, **words)
    assert len(once.found[0]) > 3
    assert once.verdict.subsets[0].smallest >= 3
    twice = microagg.protect(frame.repartition(3), 3, effort="best", **words)
    assert twice.information_loss < once.information_loss
    assert twice.verdict.subsets[0].smallest >= 3
    assert twice.losses.columns["school"].level_changes == sum(
        found.losses["x3"].level_changes for found in twice.found[0]
    )


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "nearest": ({"strata": ["region"], "small_strata": "nearest"}, "not possible on Spark"),
    "seconds": ({"seconds": 5}, "not possible on Spark"),
    "certify": ({"certify": True}, "not possible on Spark"),
    "threads": ({"threads": 2}, "not possible on Spark"),
    "robust": ({"scale": "robust"}, "not possible on Spark"),
    "noise": ({"confidential": ["illness"], "confidential_as": "noise"}, "not possible on Spark"),
    "nobody": ({"keys": ["a", "nobody"]}, "No such column"),
    "csv": ({"delimiter": ";"}, "CSV"),
}


def test_names_that_differ_in_capitals(session: Any) -> None:
    table = people(30)
    frame = session.createDataFrame(table.append_column("A", table["a"]))
    with refusal(errors.SettingsError, "columns_not_on_spark", columns=("a", "A")):
        microagg.protect(frame, k=3, keys=["b"], rest="drop")


@pytest.mark.parametrize("name", REFUSED)
def test_refused_words(session: Any, name: str) -> None:
    words, said = REFUSED[name]
    with pytest.raises((errors.SettingsError, errors.DataError), match=said):
        microagg.protect(
            session.createDataFrame(people(30)), **{"k": 3, "keys": KEYS, "rest": "pass", **words}
        )


def test_one_refused_block_refuses_all(session: Any) -> None:
    """Where two subsets are masked, and the first of them cannot be."""
    table = people(60)
    gone = table.set_column(0, "a", pa.array([None, None, *table["a"].to_pylist()[2:]], pa.float64()))
    few = gone.set_column(1, "b", pa.array([None, None, *gone["b"].to_pylist()[2:]], pa.float64()))
    with pytest.raises(errors.DataError, match="All keys of a subset would be missing"):
        microagg.protect(
            session.createDataFrame(few), k=3, rest="pass", keys=[["a", "b"], ["c"]], missing="by-pattern",
            accept="partial", drop=["illness"],
        )  # fmt: skip
