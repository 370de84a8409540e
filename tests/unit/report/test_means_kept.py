"""What is said of a mean speaks of the whole column, with values set to missing and records left out."""

from __future__ import annotations

import html
import math

import numpy as np
import pandas as pd
import pytest

import microagg
from microagg.engines.release import Release
from microagg.report import reporting
from microagg.report.html_pages import internal_page
from microagg.verdict import MeanChange, Verdict


def with_rare_patterns(seed: int = 0, n: int = 60) -> pd.DataFrame:
    """Incomes, of which the highest are of records without age: too few for a pattern of their own."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.normal(40, 9, n), "income": rng.normal(3000, 400, n), "sex": 1})
    frame.loc[:1, "age"] = None
    frame.loc[:1, "income"] = 90_000.0
    return frame


def by_pattern(frame: pd.DataFrame, **more: object) -> Release:
    return microagg.protect(  # type: ignore[return-value]
        frame,
        k=3,
        rest="pass",
        keys=["age", "income"],
        pass_=["sex"],
        missing="by-pattern",
        method="mdav",
        **more,
    )


def change_of(release: Release, column: str) -> MeanChange:
    return next(change for change in release.verdict.mean_changes if change.column == column)


def test_means_kept_speaks_of_the_whole_column() -> None:
    source = with_rare_patterns()
    release = by_pattern(source)
    released = release.data
    lost = [name for name in ("age", "income") if released[name].isna().sum() > source[name].isna().sum()]
    assert lost, "the example has to lose cells"
    shown = str(release)
    for name in lost:
        change = change_of(release, name)
        assert change.set_to_missing == released[name].isna().sum() - source[name].isna().sum()
        assert change.cells == released[name].notna().sum()
        assert change.left_out == 0
        moved = released[name].mean() - source[name].mean()
        assert change.column_mean == pytest.approx(moved)
        assert change.column_relative == pytest.approx(moved / source[name].mean())
        assert f"over the {change.cells} released cells; with the {change.set_to_missing} set to" in shown
    kept = [line for line in shown.splitlines() if line.startswith("means kept:")]
    assert not any(name in line for name in lost for line in kept)


def test_means_kept_where_no_value_is_lost() -> None:
    source = with_rare_patterns().dropna()
    release = by_pattern(source)
    for name in ("age", "income"):
        change = change_of(release, name)
        assert (change.set_to_missing, change.left_out, change.cells) == (0, 0, len(source))
        assert change.column_mean == change.mean
    assert "set to missing" not in str(release)


def test_means_say_if_records_were_left_out() -> None:
    source = with_rare_patterns().dropna().reset_index(drop=True)
    source.loc[:1, "sex"] = 2
    source.loc[:1, "income"] = 50_000.0
    release = microagg.protect(
        source,
        k=3,
        rest="pass",
        keys=["age", "income"],
        strata=["sex"],
        small_strata="suppress",
        method="mdav",
    )
    change = change_of(release, "income")  # type: ignore[arg-type]
    assert (change.set_to_missing, change.left_out) == (0, 2)
    moved = release.data["income"].mean() - source["income"].mean()
    assert change.column_mean == pytest.approx(moved)
    percent = f"{100 * abs(moved) / source['income'].mean():.2g}" if moved else ""
    assert f"with the 2 of records left out the column's mean is {percent} % lower" in str(release)


def test_weighted_means_of_whole_columns() -> None:
    source = with_rare_patterns()
    source["w"] = np.linspace(1, 2, len(source))
    release = by_pattern(source, weight="w", keep_order=True)
    for name in ("age", "income"):
        there, before = release.data[name].notna(), source[name].notna()
        new = np.average(release.data[name][there], weights=source["w"][there])
        old = np.average(source[name][before], weights=source["w"][before])
        assert change_of(release, name).column_mean == pytest.approx(new - old, abs=1e-9)


def test_means_of_whole_columns_are_values_of_the_record() -> None:
    release = by_pattern(with_rare_patterns())
    told = {entry["column"]: entry for entry in release.verdict.as_dict()["counted"]["mean_changes"]}
    for change in release.verdict.mean_changes:
        entry = told[change.column]
        assert entry["set_to_missing"] == change.set_to_missing
        assert entry["column_mean"] == change.column_mean
        assert entry["column_relative"] == change.column_relative


def test_means_of_whole_columns_in_the_internal_report_and_the_browser() -> None:
    """The browser's result is the main part of the internal report."""
    release = by_pattern(with_rare_patterns())
    page = html.unescape(internal_page(reporting.internal_facts(release)))
    for change in release.verdict.mean_changes:
        if not change.is_whole:
            assert change.description in page
            assert f"Kept: {change.column}" not in page


MISSING = "with the 36 set to missing"


def change(**more: object) -> MeanChange:
    base: dict[str, object] = {
        "column": "income", "mean": 0.0, "total": 0.0, "relative": 0.0, "tolerance": 0.5, "kept": True,
        "cells": 1424, "set_to_missing": 36, "left_out": 0, "column_mean": -104.2,
        "column_relative": -0.0211,
    }  # fmt: skip
    return MeanChange(**{**base, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            {},
            f"kept over the 1,424 released cells; {MISSING} the column's mean is 2.1 % lower",
        ),
        (
            {"mean": 0.2, "relative": 1e-4},
            f"kept but for rounding over the 1,424 released cells; {MISSING} the column's mean is 2.1 % "
            "lower",
        ),
        (
            {"mean": 7.0, "relative": 0.01, "tolerance": None, "left_out": 4},
            f"changed by +7 (+1 %) over the 1,424 released cells; {MISSING} and the 4 of records left out "
            "the column's mean is 2.1 % lower",
        ),
        (
            {"column_mean": 3.0, "column_relative": None},
            f"kept over the 1,424 released cells; {MISSING} the column's mean is higher by 3",
        ),
        (
            {"column_relative": -1e-7, "cells": 1},
            f"kept over the 1 released cell; {MISSING} the column's mean is less than 0.001 % lower",
        ),
        ({"cells": 0, "column_mean": math.nan}, f"no value is released, {MISSING}"),
    ],
)
def test_what_is_said_of_a_column_that_is_not_whole(more: dict[str, object], words: str) -> None:
    assert change(**more).description == words
    verdict = Verdict(3, mean_changes=(change(**more),))
    assert f"means of columns with values set to missing or left out:\n  income  {words}" in str(verdict)


def test_a_column_whose_mean_stays_although_values_are_lost_is_kept() -> None:
    assert "means kept: income" in str(
        Verdict(3, mean_changes=(change(column_mean=0.0, column_relative=0.0),))
    )


def test_no_percents_are_taken_of_a_mean_near_zero() -> None:
    """As that of a standardised column is: the change would be millions of percent."""
    frame = with_rare_patterns()
    for column in frame.select_dtypes("number"):
        frame[column] -= frame[column].mean()
    lost = [each for each in by_pattern(frame).verdict.mean_changes if not each.is_whole]
    assert lost
    assert all(each.column_relative is None for each in lost)
    assert all("%" not in each.description for each in lost)
