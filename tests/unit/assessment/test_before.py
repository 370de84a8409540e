"""The risk of a file as it is, against counts by pandas."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import microagg
from microagg.assessment import before
from microagg.assessment.before import RiskBefore
from microagg.errors import DataError, SettingsError
from tests.refusals import refusal

RANDOM = np.random.default_rng(7)
N = 300
FRAME = pd.DataFrame(
    {
        "region": RANDOM.choice(["N", "S", "E"], N),
        "born": pd.to_datetime("1950-01-01") + pd.to_timedelta(RANDOM.integers(0, 60, N) * 365, unit="D"),
        "age": RANDOM.integers(20, 60, N),
        "education": RANDOM.choice(["low", "middle", "high", None], N),
        "income": RANDOM.normal(2000, 300, N).round(-2),
        "weight": RANDOM.integers(1, 3, N),
        "name": [f"n{at}" for at in range(N)],
    }
)
KEYS = ["born", "age", "education", "income"]


def risk(*given: Any, **options: Any) -> RiskBefore:
    found = microagg.assess(*given, **options)
    assert isinstance(found, RiskBefore)
    return found


def counted(columns: list[str], k: int) -> tuple[int, int, int]:
    """Combinations, unique records and records of combinations of fewer than k."""
    sizes = FRAME.groupby(columns, dropna=False).size()
    return len(sizes), int(sizes.eq(1).sum()), int(sizes[sizes < k].sum())


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_counts_are_those_of_pandas(kind: Any) -> None:
    """Keys of all types, with strata; pairs of both, the worst first; all columns."""
    found = risk(kind(FRAME), keys=KEYS, strata="region", k=4)
    assert found.records == N
    assert found.keys == ("region", *KEYS)
    whole = found.by_keys
    assert (whole.combinations, whole.unique, whole.below) == counted(["region", *KEYS], 4)
    assert len(found.by_pairs) == 10
    assert {pair.columns for pair in found.by_pairs} == set(combinations(found.keys, 2))
    for pair in found.by_pairs:
        assert (pair.combinations, pair.unique, pair.below) == counted(list(pair.columns), 4)
    worst = [pair.unique for pair in found.by_pairs]
    assert worst == sorted(worst, reverse=True)
    assert found.by_all.unique == N
    assert set(found.by_all.columns) == set(FRAME.columns)


def test_without_k_nothing_is_below_it() -> None:
    found = risk(FRAME, keys=["age"])
    assert found.by_keys.below is None
    assert found.by_pairs == ()
    assert "fewer than" not in str(found)


def test_a_csv_file_and_codes_for_missing_answers(tmp_path: Path) -> None:
    """Numbers written in several ways are one value, and so are all codes for a missing answer."""
    path = tmp_path / "people.csv"
    path.write_text("age;sex\n30;m\n30.0;m\n98;f\n99;f\n;f\n41;m\n")
    assert risk(path, keys="age", strata="sex").by_keys.unique == 4
    assert risk(path, keys="age", strata="sex", missing_codes={"age": [98, 99]}).by_keys.unique == 1
    assert risk(path, keys="age", delimiter=";").by_keys.combinations == 5


def test_text_and_dictionary() -> None:
    found = risk(FRAME, strata=["region", "education", "age"], k=3)
    text = str(found)
    assert text.startswith("300 records, keys: region, education, age\n\nThese 3 columns make ")
    assert "have a combination that fewer than 3 records share." in text
    assert "Together, the 7 columns of the file make 300 of 300 records (100 %) unique." in text
    assert "pairs of keys, the worst first" in text
    again = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert again["by_keys"]["unique"] == found.by_keys.unique
    assert len(again["by_pairs"]) == 3
    assert risk(FRAME, keys="age").summary.startswith("This column makes 1 of 300 records")


def test_a_notebook_shows_the_same_with_names_escaped() -> None:
    found = risk(FRAME.rename(columns={"age": "<i>age"}), keys=["<i>age", "born", "income"], k=3)
    shown = found._repr_html_()
    assert "<i>" not in shown
    assert "&lt;i&gt;age, born" in shown
    assert shown.count("<tr>") == 4
    assert "<table>" not in risk(FRAME, keys="age")._repr_html_()


def test_only_the_worst_pairs_are_shown() -> None:
    wide = pd.DataFrame(RANDOM.integers(0, 9, (50, 7)), columns=list("abcdefg"))
    found = risk(wide, keys=list("abcdefg"))
    assert len(found.by_pairs) == 21
    assert "  and 11 more pairs" in str(found)


def test_pairs_of_many_columns_are_of_those_with_most_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(before, "MOST_COLUMNS_IN_PAIRS", 3)
    found = risk(FRAME, keys=[*KEYS, "region"])
    assert {column for pair in found.by_pairs for column in pair.columns} == {"born", "age", "income"}
    assert found.left_out == ("education", "region")
    assert "2 columns are in no pair" in str(found)


def test_a_plan_has_roles_and_what_is_dropped(tmp_path: Path) -> None:
    data, plan = tmp_path / "people.csv", tmp_path / "plan.toml"
    FRAME.to_csv(data, index=False, sep="|")
    plan.write_text(
        'input = "people.csv"\ndelimiter = "|"\nk = 5\nkeys = [["age", "income"]]\nstrata = ["region"]\n'
        'drop = ["name"]\nweight = "weight"\nmissing = "by-pattern"\n'
    )
    found = risk(plan=plan)
    assert (found.keys, found.k, found.dropped) == (("region", "age", "income"), 5, ("name",))
    assert found.by_keys.below == counted(["region", "age", "income"], 5)[2]
    assert found.by_all.unique == counted([name for name in FRAME if name != "name"], 5)[1]
    assert "columns that are not dropped" in str(found)
    assert risk(plan=plan, keys="age", k=3).keys == ("region", "age")
    assert risk(FRAME.head(50), plan=plan).records == 50


@pytest.mark.parametrize("option", [{"id": "name"}, {"model": "income ~ age"}, {"measures": "il"}])
def test_options_that_need_a_protected_file(option: dict[str, str]) -> None:
    with refusal(SettingsError, "needs_protected", option=next(iter(option))):
        microagg.assess(FRAME, keys="age", **option)  # type: ignore[arg-type]


def test_refusals() -> None:
    with refusal(SettingsError, "nothing_to_count"):
        microagg.assess(FRAME)
    with refusal(SettingsError, "not_given", what="original"):
        microagg.assess(keys="age")
    with refusal(SettingsError, "two_roles"):
        microagg.assess(FRAME, keys="age", strata="age")
    with refusal(DataError, "unknown_columns"):
        microagg.assess(FRAME, keys="agee")
    with refusal(DataError, "unknown_columns"):
        microagg.assess(FRAME, keys="age", weight="nothing")
    with refusal(SettingsError, "bad_value", option="plan"):
        microagg.assess(FRAME, plan=3)  # type: ignore[arg-type]
