"""What docs/what-protects-whom.md says, where it is about numbers or about what a run does."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from benchmarks import several_releases

import microagg
from microagg import datasets

PAGE = Path(__file__).parents[3] / "docs" / "what-protects-whom.md"


def test_all_values_of_a_group_but_one_give_the_last() -> None:
    frame = pd.DataFrame({"x": [3, 8, 22, 901, 907, 950]})
    released = microagg.protect(frame, k=3, rest="pass", keys=["x"], keep_order=True).data["x"]
    assert round(3 * released[0]) - 3 - 8 == 22
    whole = microagg.protect(frame, k=3, rest="pass", keys=["x"], decimals={"x": 0}, keep_order=True).data[
        "x"
    ]
    assert abs(3 * whole[3] - (901 + 907 + 950)) <= 3


def test_one_large_value_is_nearly_the_sum() -> None:
    mean = round((10 + 12 + 1_000_000) / 3, 2)
    assert f"publishes {mean:,}" in PAGE.read_text("utf-8")
    assert round(3 * mean) == 1_000_022
    assert abs(3 * mean / 1_000_000 - 1) < 0.003 / 100


def test_what_retry_rejected_gives_values_away() -> None:
    """The page's example: of all values that fit the release, the rejected groups leave one."""
    fitting = [
        values
        for values in product("pq", repeat=6)
        if sorted(values[at - 1] for at in (1, 2, 4)) == ["p", "p", "q"]
        and sorted(values[at - 1] for at in (3, 5, 6)) == ["p", "q", "q"]
    ]
    rejected = [values for values in fitting if len(set(values[:3])) == 1 or len(set(values[3:])) == 1]
    assert len(fitting) == 9
    assert rejected == [tuple("pppqqq")]


def test_two_heavy_weights_are_nearly_a_pair() -> None:
    frame = pd.DataFrame({"x": [1000.0, 2004, 1500, 10, 11, 12], "w": [1000, 1000, 1, 1, 1, 1]})
    released = microagg.protect(
        frame, k=3, rest="pass", keys=["x"], weight="w", scale="none", keep_order=True
    ).data["x"]
    assert 2 * released[0] - 1000 == pytest.approx(2004, rel=0.001)


def test_rows_of_one_respondent_make_a_group() -> None:
    frame = pd.DataFrame({"firm": ["A"] * 3 + ["B"] * 3, "x": [1.0, 2, 3, 100, 101, 105]})
    release = microagg.protect(frame, k=3, rest="pass", keys=["x"], drop=["firm"])
    assert sorted(release.data["x"]) == [2.0] * 3 + [102.0] * 3


def test_formulas_are_kept_in_csv_and_are_text_in_excel(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [1.0, 2, 3, 50, 51, 52], "remark": ["=1+1"] * 3 + ["none"] * 3})
    release = microagg.protect(frame, k=3, rest="pass", keys=["x"], keep_order=True)
    release.save(tmp_path / "out.csv")
    release.save(tmp_path / "out.xlsx")
    assert (tmp_path / "out.csv").read_text().splitlines()[1].endswith(",=1+1")
    cell = openpyxl.load_workbook(tmp_path / "out.xlsx").active["B2"]
    assert (cell.value, cell.data_type) == ("=1+1", "s")


def test_a_certificate_holds_the_groups() -> None:
    keys = datasets.sme().select("surface", "employees")
    found = microagg.lower_bound(keys, 3).certificate()
    assert len(found["labels"]) == 11
    assert (found["k"], found["scale"], found["records"], found["attributes"]) == (3, "zscore", 11, 2)


def test_several_releases_are_solved_and_one_is_not() -> None:
    values = several_releases.source(60, 2)
    releases = [several_releases.release(values, k) for k in (3, 4, 5)]
    assert not several_releases.solved(releases[:1])[0].any()
    known, found = several_releases.solved(releases)
    assert known.any()
    assert np.array_equal(found[known], values[known])
