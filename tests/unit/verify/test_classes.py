"""Records that share values, counted by two ways; columns counted at the same time."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import microagg
from microagg.verify import check_source, threads, verify_protected
from microagg.verify.classes import Classes, TableClasses, codes_of
from microagg.verify.values import rank_correlation


def random_table(seed: int) -> pa.Table:
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 300))
    gaps = random.random(n) < 0.1
    return pa.table(
        {
            "code": random.integers(0, 3, n).astype(str),
            "whole": pa.array(random.integers(-4, 9, n), mask=gaps),
            "number": pa.array(random.normal(size=n).round(1) + 0.0, mask=random.random(n) < 0.05),
            "far": random.choice([-(2**63), 2**63 - 1, 0], n),
            "own": random.permutation(n) * 1e-3,
        }
    )


@pytest.mark.parametrize("seed", range(30))
def test_unique_records_are_those_whose_combination_occurs_once(seed: int) -> None:
    table = random_table(seed)
    names = tuple(np.random.default_rng(seed).permutation(table.column_names)[: seed % 5 + 1])
    rows = list(zip(*(table[name].to_pylist() for name in names), strict=True))
    once = sum(times == 1 for times in Counter(rows).values())
    classes = TableClasses(table)
    assert classes.unique_by(names) == once
    assert classes.by(names).unique == once
    assert classes.unique_by(names) == once
    first = Classes.whole(len(rows)).refined([codes_of(table[names[0]])])
    assert first.unique_with(classes.codes(name) for name in names[1:]) == once


@pytest.mark.parametrize("seed", range(10))
def test_rank_correlation_is_that_of_dense_ranks(seed: int) -> None:
    random = np.random.default_rng(seed)
    one, other = random.normal(size=(2, 50)).round(seed % 3)
    one[random.random(50) < 0.1] = np.nan
    one[3], one[4] = 0.0, -0.0
    there = ~np.isnan(one)
    ranks = [stats.rankdata(each[there], "dense") for each in (one, other)]
    assert rank_correlation(one, other) == pytest.approx(np.corrcoef(ranks)[0, 1])
    place = np.arange(50.0)
    ranks[1] = np.arange(float(there.sum()))
    assert rank_correlation(one, place) == pytest.approx(np.corrcoef(*ranks)[0, 1])


def test_threads_do_not_change_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    table = pa.table({f"x{at}": random.normal(size=400).round(2) for at in range(6)})
    settings: dict[str, Any] = {"k": 3, "keys": ["x0", "x1", "x2"], "rest": "pass", "seed": 1}
    release = microagg.protect(table, **settings)
    released, source = release.verified.microdata.table, check_source(release.source)
    monkeypatch.setattr(threads, "FEW_RECORDS", 0)
    verdict = verify_protected(source, released, release.rows, release.protection)
    assert verdict == release.verdict
