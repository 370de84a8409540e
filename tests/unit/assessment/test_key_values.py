"""Keys of any kind in two files, read by their kinds, whatever type and form the protected file has."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import microagg
from microagg.assessment import assessing
from microagg.assessment.assessing import assess_release
from microagg.errors import DataError, SettingsError
from microagg.measure.descriptions import Measure
from microagg.measure.pair import MeasureResult, Pair

LEVELS = ["low", "middle", "high"]
PEOPLE = pd.DataFrame(
    {
        "region": ["N", "N", "S", "S", "W", "W"],
        "school": ["low", "high", "middle", "middle", "high", "low"],
        "employed": [0, 1, 1, 1, 0, 1],
        "born": [date(1980, month, 1) for month in (1, 2, 3, 7, 8, 9)],
        "age": [20, 22, 24, 60, 61, 65],
        "vote": ["x", "y", "x", "z", "z", "x"],
    }
)
RELEASED = PEOPLE.assign(
    region=["N"] * 3 + ["W"] * 3,
    school=["middle"] * 3 + ["middle"] * 3,
    employed=[1] * 6,
    born=[date(1980, 2, 1)] * 3 + [date(1980, 8, 1)] * 3,
    age=[22] * 3 + [62] * 3,
)
KEYS = ["region", "school", "employed", "born", "age"]
ORDINAL = {"school": LEVELS}
EXPECTED = {
    "region": ([0, 0, 1, 1, 2, 2], [0, 0, 0, 2, 2, 2]),
    "school": ([0, 2, 1, 1, 2, 0], [1, 1, 1, 1, 1, 1]),
    "employed": ([0, 1, 1, 1, 0, 1], [1, 1, 1, 1, 1, 1]),
    "age": ([20, 22, 24, 60, 61, 65], [22, 22, 22, 62, 62, 62]),
}


def pair_for(*files: Any, **words: Any) -> Pair:
    seen: list[Pair] = []

    def remember(pair: Pair) -> MeasureResult:
        seen.append(pair)
        return MeasureResult(0.0)

    measure = Measure("risk", "t", "D.", "f", "", "r", "h", "nobody", remember)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assessing, "MEASURES", {"seen": measure})
        microagg.assess(*(files or (PEOPLE, RELEASED)), **({"keys": KEYS, "ordinal": ORDINAL} | words))
    return seen[0]


def columns_of(pair: Pair) -> dict[str, tuple[list[float], list[float]]]:
    return {
        name: (pair.original[:, at].tolist(), pair.masked[:, at].tolist())
        for at, name in enumerate(pair.columns)
    }


def check(pair: Pair) -> None:
    found = columns_of(pair)
    before, after = found.pop("born")
    assert found == EXPECTED
    assert np.diff(before).tolist() == (86400 * np.array([31, 29, 122, 31, 31])).tolist()
    assert (after[0], after[3]) == (before[1], before[4])
    assert pair.kinds == {"region": "nominal", "school": "ordinal", "employed": "nominal", "born": "date"}
    assert pair.yes_no == {"employed"}
    assert pair.groups.tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas])
def test_frames(kind: Any) -> None:
    check(pair_for(kind(PEOPLE), kind(RELEASED)))


def test_files_of_other_types_and_forms(tmp_path: Path) -> None:
    before, after = tmp_path / "before.csv", tmp_path / "after.parquet"
    PEOPLE.to_csv(before, index=False)
    as_categories = RELEASED.assign(region=RELEASED.region.astype("category"))
    as_categories.to_parquet(after)
    check(pair_for(before, after))
    written_otherwise = RELEASED.assign(born=["01.02.1980"] * 3 + ["13.08.1980"] * 3)
    written_otherwise.to_csv(tmp_path / "after.csv", index=False)
    pair = pair_for(before, tmp_path / "after.csv")
    assert pair.masked[3, 3] - pair.original[4, 3] == 12 * 86400


def test_ordered_categories_need_no_levels() -> None:
    ordered = pd.CategoricalDtype(LEVELS, ordered=True)
    frames = [each.assign(school=each.school.astype(ordered)) for each in (PEOPLE, RELEASED)]
    check(pair_for(*frames, ordinal=None))


def test_a_missing_category_is_one_and_a_missing_level_is_missing() -> None:
    gone = [None, "N", "S", "S", "W", "W"], [None, "high", "middle", "middle", "high", "low"]
    original = PEOPLE.assign(region=gone[0], school=gone[1])
    pair = pair_for(original, RELEASED)
    assert pair.original[0, 0] == 3.0
    assert np.isnan(pair.original[0, 1])
    emptied = pair_for(PEOPLE, RELEASED.assign(region=[None] * 3 + ["W"] * 3))
    assert emptied.masked[:, 0].tolist() == [3, 3, 3, 2, 2, 2]


def test_categories_of_another_tool_are_new_ones() -> None:
    pair = pair_for(PEOPLE, RELEASED.assign(region=["N/S"] * 3 + ["W"] * 3))
    assert pair.masked[:, 0].tolist() == [3, 3, 3, 2, 2, 2]


def test_means_of_yes_and_no_are_numbers() -> None:
    pair = pair_for(PEOPLE, RELEASED.assign(employed=[2 / 3] * 6))
    assert "employed" not in pair.kinds
    assert pair.masked[0, 2] == pytest.approx(2 / 3)
    named = pair_for(PEOPLE, RELEASED.assign(employed=[2 / 3] * 3 + [1.0] * 3), nominal="employed")
    assert named.masked[:, 2].tolist() == [2, 2, 2, 1, 1, 1]


def test_codes_for_missing_answers_are_missing_in_both() -> None:
    original = PEOPLE.assign(region=["?", "N", "S", "S", "W", "W"])
    released = RELEASED.assign(region=["?"] * 3 + ["W"] * 3)
    pair = pair_for(original, released, missing_codes={"region": ["?"]})
    assert (pair.original[0, 0], pair.masked[0, 0]) == (3.0, 3.0)
    risk = microagg.assess(original, keys=KEYS, missing_codes={"region": ["?"]})
    assert risk.by_keys.unique == 6


def test_confidential_columns_that_have_changed() -> None:
    pair = pair_for(PEOPLE, RELEASED.assign(vote=["x"] * 6), confidential="vote")
    before, after = pair.changed_confidential["vote"]
    assert before.tolist() == [0, 1, 0, 2, 2, 0]
    assert after.tolist() == [0] * 6
    assert not pair_for(confidential="vote").changed_confidential
    assert not pair.changed_numbers
    numbers = pair_for(
        PEOPLE.assign(vote=[1.5, 2, 3, 4, 5, 6]), RELEASED.assign(vote=[2] * 6), confidential="vote"
    ).changed_numbers["vote"]
    assert [side.tolist() for side in numbers] == [[1.5, 2, 3, 4, 5, 6], [2] * 6]


@pytest.mark.parametrize(
    ("released", "words"),
    [
        (RELEASED.assign(school="basic"), {}),
        (RELEASED.assign(region="Q"), {}),
        (RELEASED.assign(born=1980), {}),
        (RELEASED.assign(born="spring"), {}),
        (RELEASED.assign(age="20-30"), {}),
        (RELEASED, {"ordinal": {"school": ["low", "high"]}}),
    ],
)
def test_refused(released: pd.DataFrame, words: dict[str, Any]) -> None:
    with pytest.raises(DataError) as caught:
        pair_for(PEOPLE, released, **words)
    for value in ("basic", "spring", "20-30", "middle"):
        assert value not in str(caught.value)


def test_one_file_has_no_kinds() -> None:
    with pytest.raises(SettingsError):
        microagg.assess(PEOPLE, keys=KEYS, nominal="age")
    assert microagg.assess(PEOPLE, keys=KEYS, k=3).by_keys.below == 6


def test_a_release_is_measured_as_its_loss_says() -> None:
    """The measure is that of the release, but for rounding."""
    random = np.random.default_rng(1)
    n = 120
    data = pd.DataFrame(
        {
            "region": random.choice(list("NSWE"), n),
            "school": random.choice(LEVELS, n),
            "employed": random.integers(0, 2, n),
            "income": random.lognormal(3, 1, n).round(2),
        }
    )
    release = microagg.protect(
        data,
        3,
        keys=list(data),
        ordinal=ORDINAL,
        importance={"income": 2.0},
        decimals={"income": 9},
        respondent="none",
        seed=1,
    )
    measured = assess_release(release, ["il", "changed_cells"]).findings
    assert measured["il"].value == pytest.approx(release.information_loss, rel=1e-6)
    by_column = {name: each.percent for name, each in release.losses.columns.items()}
    assert measured["il"].parts == pytest.approx(by_column, rel=1e-6)
    assert measured["changed_cells"].parts["region"] == pytest.approx(
        100 * (release.losses.columns["region"].changed or 0) / n
    )


def test_records_in_another_order_are_noted_for_categories_too() -> None:
    random = np.random.default_rng(2)
    data = pd.DataFrame({name: random.choice(list("abcdef"), 200) for name in ("p", "q")})
    shuffled = data.sample(frac=1.0, random_state=1).reset_index(drop=True)
    notes = microagg.assess(data, shuffled, keys=["p", "q"]).notes
    assert "far_apart" in {each.rule for each in notes}


PARENTS = {"N": "north", "S": "south", "W": "south", "north": "", "south": ""}


def test_taxonomies() -> None:
    pair = pair_for(PEOPLE, RELEASED.assign(region=["N/S"] * 3 + ["W"] * 3), taxonomy={"region": PARENTS})
    differ = pair.paths["region"][:, None, :] != pair.paths["region"][None, :, :]
    assert differ.mean(axis=2).tolist() == [
        [0.0, 1.0, 1.0, 1.0], [1.0, 0.0, 0.5, 1.0], [1.0, 0.5, 0.0, 1.0], [1.0, 1.0, 1.0, 0.0]
    ]  # fmt: skip
    for wrong in ({"vote": PARENTS}, {"school": PARENTS}, {"region": {"N": "", "S": ""}}):
        with pytest.raises(SettingsError):
            pair_for(taxonomy=wrong)
    with pytest.raises(SettingsError):
        microagg.assess(PEOPLE, keys=KEYS, taxonomy={"region": PARENTS})


def test_a_release_by_a_taxonomy_is_measured_and_compared_as_its_loss_says() -> None:
    random = np.random.default_rng(1)
    data = pd.DataFrame({"region": random.choice(list("NSW"), 90), "age": random.integers(18, 80, 90)})
    words: dict[str, Any] = {"keys": ["region", "age"], "taxonomy": {"region": PARENTS}}
    release = microagg.protect(data, 3, method="mdav", decimals={"age": 9}, respondent="none", **words)
    assert assess_release(release, ["il"]).findings["il"].value == pytest.approx(release.information_loss)
    compared = microagg.compare(data, 3, "mdav", **words)
    assert compared.table["il"].to_pylist() == pytest.approx([release.information_loss], rel=1e-4)


def test_strata_that_were_recoded_are_measured_as_keys() -> None:
    """As records of a small stratum are that have joined the nearest group; the loss counts them, too."""
    random = np.random.default_rng(4)
    data = pd.DataFrame(
        {"place": ["A"] * 40 + ["B"] * 40 + ["C"] * 2, "x": random.normal(size=82).round(3)}
    )
    release = microagg.protect(
        data, 3, keys="x", strata="place", small_strata="nearest", decimals={"x": 9}, respondent="none"
    )
    found = assess_release(release, ["il", "changed_cells", "k_anonymity"]).findings
    assert found["changed_cells"].parts["place"] == pytest.approx(100 * 2 / 82)
    assert found["il"].parts["place"] == pytest.approx(release.losses.columns["place"].percent)
    assert found["il"].value == pytest.approx(release.information_loss, rel=1e-6)
    assert found["k_anonymity"].value >= 3
    pair = pair_for(
        PEOPLE, RELEASED.assign(vote="x"), keys=["age"], ordinal=None, strata=["vote", "region"]
    )
    assert (pair.columns, pair.subsets) == (("age", "vote", "region"), ((0, 1, 2),))
