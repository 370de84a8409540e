"""Data that lie badly: one huge stratum, many tiny ones, empty partitions, heavy ties, constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import microagg
from tests.campaigns import SAMPLE
from tests.spark.conftest import rows_of

KEYS = ["a", "b"]


def skewed(n: int, tiny: int, seed: int = 0) -> pa.Table:
    """Nine tenths in one stratum, in which half of the records have the same keys; `tiny` others, of four
    records each, the rest in one more.
    """
    random = np.random.default_rng(seed)
    values = random.integers(0, 30, size=(n, 2)).astype(np.float64)
    values[: n // 2] = 0.0
    stratum = np.zeros(n, dtype=np.int64)
    small = np.arange(n - n // 10, n)
    stratum[small] = 1 + np.minimum(np.arange(len(small)) // 4, tiny)
    return pa.table({"a": values[:, 0], "b": values[:, 1], "stratum": stratum, "c": random.normal(size=n)})


def check(session: Any, frame: Any, table: pa.Table, **words: Any) -> Any:
    release = microagg.protect(frame, k=3, rest="pass", keys=KEYS, pass_=["c"], method="mdav", **words)
    assert release.verdict.records == len(table)
    assert release.verdict.subsets[0].smallest >= 3
    released = release.data.toArrow()
    for name in ("stratum", "c"):
        assert sorted(released[name].to_pylist()) == sorted(table[name].to_pylist())
    return release


def test_one_huge_stratum_and_many_tiny_ones(session: Any, block_records: Callable[[int], None]) -> None:
    block_records(120)
    table = skewed(1_600, 30)
    frame = session.createDataFrame(table)
    one = check(session, frame.coalesce(1), table, strata=["stratum"])
    # Sorted by stratum, so that keys are constant in some partitions; and most partitions are empty.
    other = check(session, frame.repartition(6, "stratum"), table, strata=["stratum"])
    assert rows_of(one.data) == rows_of(other.data)
    parts = [found for own in one.found for found in own]
    assert max(found.records for found in parts) <= 2 * 120
    assert len(parts) > 10


def test_constant_keys(session: Any, block_records: Callable[[int], None]) -> None:
    """All records but two have the same keys, and they are more than a block may have."""
    block_records(100)
    n = 600
    table = pa.table(
        {
            "a": np.r_[np.full(n - 2, 5.0), 7.0, 9.0],
            "b": np.ones(n),
            "stratum": np.zeros(n, dtype=np.int64),
            "c": np.arange(n) / 7.0,
        }
    )
    release = check(session, session.createDataFrame(table), table)
    assert release.verdict.subsets[0].classes == 2
    own = next(each for each in release.verdict.notes if each.rule == "unchanged")
    assert min(own.figures["records"].values()) > n - 40


@pytest.mark.long
def test_larger_skew(session: Any, block_records: Callable[[int], None]) -> None:
    share = 4 if SAMPLE else 1
    block_records(5_000 // share)
    table = skewed(200_000 // share, 4_000 // share)
    frame = session.createDataFrame(table)
    one = check(session, frame, table, strata=["stratum"])
    other = check(session, frame.repartition(9), table, strata=["stratum"])
    assert rows_of(one.data) == rows_of(other.data)
