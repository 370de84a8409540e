"""Two files side by side: how records and columns are matched, what is refused, what is said."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import microagg
from microagg import read, wording
from microagg.assessment import assessing
from microagg.assessment.assessing import assess_release
from microagg.assessment.matching import agreement, rows_matched
from microagg.errors import Cancelled, DataError, SettingsError
from microagg.measure import MEASURES, MOST_IMPORTANT
from microagg.measure.descriptions import Measure
from microagg.measure.pair import MeasureResult, Pair
from microagg.methods.run import Progress
from microagg.plan.assessment_plan import AssessmentPlan
from microagg.verdict import note, refuse
from tests.refusals import has, is_like, refusal, unsafe


def stand_in(kind: Any, compute: Any, unit: str = "%") -> Measure:
    return Measure(kind, "a title", "A sentence.", "a = b", unit, "0 to 1", "worse", "nobody", compute)


def distance(pair: Pair) -> MeasureResult:
    moved = np.nanmean(np.abs(pair.original - pair.masked), axis=0)
    return MeasureResult(
        float(moved.mean()), dict(zip(pair.columns, moved.tolist(), strict=True)), "a note"
    )


STAND_INS = {
    "distance": stand_in("utility", distance),
    "undefined": stand_in("utility", lambda pair: MeasureResult(math.nan), ""),
    "smallest": stand_in(
        "risk", lambda pair: MeasureResult(float(np.bincount(pair.groups).min())), "records"
    ),
}

ORIGINAL = pd.DataFrame(
    {
        "name": ["a", "b", "c", "d", "e", "f"],
        "region": ["N", "N", "N", "S", "S", "S"],
        "age": [20.0, 22.0, 24.0, 60.0, 61.0, 65.0],
        "income": [1.0, 2.0, 3.0, 7.0, 9.0, 11.0],
        "wealth": [5, 3, 8, 1, 9, 2],
        "illness": ["x", "y", "x", "x", "z", "x"],
        "weight": [1.0, 2.0, 1.0, 1.0, 2.0, 2.0],
    }
)
PROTECTED = ORIGINAL.assign(age=[22.0] * 3 + [62.0] * 3, income=[2.0] * 3 + [9.0] * 3)
KEYS = ["age", "income"]


@pytest.fixture
def catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assessing, "MEASURES", STAND_INS)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Pair]:
    """What the measures are given."""
    pairs: list[Pair] = []

    def remember(pair: Pair) -> MeasureResult:
        pairs.append(pair)
        return MeasureResult(0.0)

    monkeypatch.setattr(assessing, "MEASURES", {"seen": stand_in("risk", remember)})
    return pairs


def pair_for(seen: list[Pair], *frames: Any, **words: Any) -> Pair:
    microagg.assess(*(frames or (ORIGINAL, PROTECTED)), **({"keys": KEYS} | words))
    return seen[-1]


# --- what measures are given --------------------------------------------------------------------


def test_pair(seen: list[Pair]) -> None:
    pair = pair_for(seen, strata="region", confidential=["illness"], weight="weight", k=3)
    assert pair.columns == ("age", "income")
    np.testing.assert_array_equal(pair.original, ORIGINAL[KEYS])
    np.testing.assert_array_equal(pair.masked, PROTECTED[KEYS])
    assert pair.subsets == ((0, 1),)
    assert pair.groups.tolist() == pair.strata.tolist() == [0, 0, 0, 1, 1, 1]
    assert pair.weights is not None
    assert pair.weights.tolist() == ORIGINAL.weight.tolist()
    assert {name: codes.tolist() for name, codes in pair.confidential.items()} == {
        "illness": [0, 1, 0, 0, 2, 0]
    }
    assert list(pair.numbers) == ["wealth", "weight"]
    assert pair.k == 3


def test_subsets_and_each(seen: list[Pair]) -> None:
    assert pair_for(seen, keys=[["income"], ["age"]]).subsets == ((0,), (1,))
    pair = pair_for(seen, keys="income", each=["age"])
    assert (pair.columns, pair.subsets) == (("income", "age"), ((0,), (1,)))


def test_confidential_numbers_are_in_their_order(seen: list[Pair], tmp_path: Path) -> None:
    """Not in that of their texts, where 10 comes before 9; a missing value comes last."""
    before, after = tmp_path / "before.csv", tmp_path / "after.csv"
    original = ORIGINAL.assign(wealth=pd.array([10, 9, None, 100, 9, 10], dtype="Int64"))
    original.to_csv(before, index=False)
    original.assign(age=PROTECTED.age, income=PROTECTED.income).to_csv(after, index=False)
    pair = pair_for(seen, before, after, confidential="wealth")
    assert pair.confidential["wealth"].tolist() == [1, 0, 3, 2, 0, 1]


def test_groups_share_strata_and_all_keys(seen: list[Pair]) -> None:
    masked = PROTECTED.assign(income=[2.0, 2.0, None, None, 9.0, 9.0], age=62.0)
    assert pair_for(seen, ORIGINAL, masked).groups.tolist() == [0, 0, 1, 1, 2, 2]
    assert pair_for(seen, ORIGINAL, masked, strata="region").groups.tolist() == [0, 0, 1, 2, 3, 3]


def test_numbers_are_only_what_was_not_touched(seen: list[Pair]) -> None:
    noisy = PROTECTED.assign(wealth=PROTECTED.wealth + 0.5)
    assert list(pair_for(seen, ORIGINAL, noisy).numbers) == ["weight"]
    assert list(pair_for(seen, ORIGINAL, PROTECTED[KEYS]).numbers) == []


def test_missing_codes(seen: list[Pair]) -> None:
    original = ORIGINAL.assign(age=[99.0, *ORIGINAL.age[1:]])
    masked = PROTECTED.assign(age=[None, *PROTECTED.age[1:]])
    pair = pair_for(seen, original, masked, missing_codes={"age": [99]})
    assert np.isnan(pair.original).sum() == np.isnan(pair.masked).sum() == 1


@pytest.mark.parametrize("kind", [pl.from_pandas, pa.Table.from_pandas])
def test_frames_of_any_kind(seen: list[Pair], kind: Any) -> None:
    pair = pair_for(seen, ORIGINAL, kind(PROTECTED))
    np.testing.assert_array_equal(pair.masked, PROTECTED[KEYS])


# --- matching ------------------------------------------------------------------------------------


def test_by_id_in_any_order(seen: list[Pair]) -> None:
    shuffled = PROTECTED.iloc[[5, 0, 3, 2, 1, 4]].reset_index(drop=True)
    pair = pair_for(seen, ORIGINAL, shuffled, id="name")
    assert pair.original[:, 0].tolist() == [65.0, 20.0, 60.0, 24.0, 22.0, 61.0]
    np.testing.assert_array_equal(pair.masked, shuffled[KEYS])


def test_suppressed_records_with_an_id(seen: list[Pair]) -> None:
    found = microagg.assess(ORIGINAL, PROTECTED.iloc[1:], keys=KEYS, id="name")
    assert (found.records, found.suppressed) == (5, 1)
    assert has(found.notes, note("records_not_protected", records=1, of=6))


def test_ids_of_different_types(tmp_path: Path) -> None:
    """Text in a CSV file, whole numbers in a frame; 007 and 7 are two ids of a CSV file."""
    csv = tmp_path / "a.csv"
    csv.write_text("id,x\n3,1\n1,2\n2,4\n")
    original = read.microdata_from_file(csv)
    frame = read.microdata_of(pd.DataFrame({"id": [1, 2, 3], "x": [1.0, 2.0, 3.0]}))
    assert rows_matched(original, frame, "id").tolist() == [1, 2, 0]
    csv.write_text("id,x\n007,1\n7,2\n")
    texts = read.microdata_from_file(csv)
    assert rows_matched(texts, texts, "id").tolist() == [0, 1]


def test_numbers_written_in_other_ways_are_the_same(tmp_path: Path) -> None:
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("x;y\n1,50;a\n2,00;b\n")
    second.write_text("x,y\n1.5,a\n2,b\n")
    both = (read.microdata_from_file(first), read.microdata_from_file(second))
    assert agreement(*both, np.arange(2), ["x", "y"], True).same == ("x", "y")


# --- refusals --------------------------------------------------------------------------------------

REPEATED = ORIGINAL.assign(name=["a", "b", "b", "b", "e", "f"])
GAPS = ORIGINAL.assign(name=["a", None, None, "d", "e", "f"])
STRANGERS = PROTECTED.assign(name=["a", "b", "c", "x", "y", "z"])
TEXT = PROTECTED.assign(age=["20-30"] * 3 + ["60-70"] * 3)


@pytest.mark.parametrize(
    ("original", "protected", "words", "kind", "message"),
    [
        (ORIGINAL, PROTECTED, {"keys": None}, SettingsError, "No masked column is named"),
        (ORIGINAL, PROTECTED, {"keys": ["age", "incme"]}, DataError, "original file .*did you mean income"),
        (ORIGINAL, PROTECTED[["age"]], {}, DataError, "file has no column 'income', named in keys"),
        (ORIGINAL, PROTECTED[KEYS], {"confidential": "illness"}, DataError, "'illness', named in confid"),
        (ORIGINAL, PROTECTED[KEYS], {"strata": "region"}, DataError, "'region', named in strata"),
        (ORIGINAL, PROTECTED[KEYS], {"id": "name"}, DataError, "'name'.* named in id"),
        (ORIGINAL, PROTECTED, {"weight": "wght"}, DataError, "original file .*did you mean weight"),
        (ORIGINAL, PROTECTED.iloc[1:], {}, DataError, "has 6 records, the protected file 5"),
        (ORIGINAL, pd.concat([PROTECTED] * 2), {}, DataError, "has 6 records, the protected file 12"),
        (REPEATED, PROTECTED, {"id": "name"}, DataError, "of the original file repeats an id in 2 records"),
        (ORIGINAL, REPEATED, {"id": "name"}, DataError, "of the protected file repeats an id in 2 records"),
        (GAPS, PROTECTED, {"id": "name"}, DataError, "of the original file is missing in 2 records"),
        (ORIGINAL, STRANGERS, {"id": "name"}, DataError, "3 of 6 records of the protected file have an id"),
        (ORIGINAL, PROTECTED.iloc[::-1], {}, DataError, "different orders.*in 6 of 6 records"),
        (ORIGINAL, TEXT, {}, DataError, r"In the protected file \(.*'age' holds something other than num"),
        (ORIGINAL, PROTECTED, {"keys": ["age", "name"]}, DataError, "In the original file .*'name'"),
        (ORIGINAL, PROTECTED, {"nominal": "region"}, SettingsError, "which is not a key"),
        (ORIGINAL, PROTECTED, {"importance": {"region": 2}}, SettingsError, "which is not a key"),
        (ORIGINAL, PROTECTED, {"importance": {"age": 0}}, SettingsError, "importance"),
        (ORIGINAL, PROTECTED, {"nominal": "age", "ordinal": {"age": ["1", "2"]}}, SettingsError, "'age'"),
        (ORIGINAL.iloc[:1], PROTECTED.iloc[:1], {}, DataError, "only one record"),
        (ORIGINAL, PROTECTED.iloc[:1], {"id": "name"}, DataError, "only one record"),
        (ORIGINAL.assign(age=np.nan), PROTECTED, {}, DataError, "'age' has no value .*in the original"),
        (ORIGINAL, PROTECTED.assign(age=np.nan), {}, DataError, "'age' has no value .*in the protected"),
        (ORIGINAL, PROTECTED, {"keys": KEYS, "each": "age"}, SettingsError, "'age' is named twice in keys"),
        (ORIGINAL, PROTECTED, {"strata": "age"}, SettingsError, "'age' is named in keys and in strata"),
        (ORIGINAL, PROTECTED, {"k": 1}, SettingsError, "k is 1"),
        (ORIGINAL, PROTECTED, {"measures": ["distanc"]}, SettingsError, "did you mean distance"),
        (ORIGINAL, PROTECTED, {"missing_codes": {"wealth": [9]}}, SettingsError, "which is not a key"),
        (ORIGINAL.assign(weight=-1.0), PROTECTED, {"weight": "weight"}, DataError, "6 negative or zero"),
        (ORIGINAL, PROTECTED, {"delimiter": ";"}, SettingsError, "neither of the two files is a CSV file"),
        ("-", "-", {}, SettingsError, "Only one of the two"),
        (ORIGINAL.to_numpy(), PROTECTED, {}, DataError, "give the path of a file, or a data frame"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("catalogue")
def test_refused(original: Any, protected: Any, words: dict[str, Any], kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        microagg.assess(original, protected, **({"keys": KEYS} | words))
    assert not re.search(r"20-30|65", str(caught.value))


def test_values_never_seen_together() -> None:
    original = ORIGINAL.assign(age=[1.0, 2.0, 3.0] + [None] * 3)
    protected = PROTECTED.assign(age=[None] * 3 + [1.0, 2.0, 3.0])
    with pytest.raises(DataError, match="no record with a value in both files"):
        microagg.assess(original, protected, keys=KEYS)


@pytest.mark.usefixtures("catalogue")
def test_swapped_values_beside_a_column_that_agrees_are_no_other_order() -> None:
    swapped = PROTECTED.assign(wealth=ORIGINAL.wealth.to_numpy()[::-1])
    found = microagg.assess(ORIGINAL, swapped, keys=KEYS)
    assert has(found.notes, note("other_column_differs", "wealth", records=6))


# --- what is said ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("catalogue")
def test_a_file_that_equals_the_original_shouts() -> None:
    found = microagg.assess(ORIGINAL, ORIGINAL, keys=KEYS)
    assert str(found).startswith("THE PROTECTED FILE IS NOT PROTECTED: age and income have the original's")
    with unsafe(refuse("not_protected", records=6)):
        found.raise_if_unsafe()
    gaps = ORIGINAL.assign(age=[None, *ORIGINAL.age[1:]])
    assert microagg.assess(gaps, gaps, keys=KEYS).failures
    assert microagg.assess(ORIGINAL, ORIGINAL, keys=KEYS, k=3).failures


@pytest.mark.usefixtures("catalogue")
def test_combinations_that_were_frequent_enough_may_stay() -> None:
    """As those of a few yes/no columns are; without k nobody says how frequent is enough."""
    assert microagg.assess(ORIGINAL, ORIGINAL, keys="region").failures
    assert microagg.assess(ORIGINAL, ORIGINAL, keys="region", k=4).failures
    found = microagg.assess(ORIGINAL, ORIGINAL, keys="region", k=3)
    assert not found.failures
    assert has(found.notes, note("key_unchanged", "region"))


@pytest.mark.usefixtures("catalogue")
def test_a_key_left_as_it_was_is_noted() -> None:
    found = microagg.assess(ORIGINAL, PROTECTED.assign(age=ORIGINAL.age), keys=KEYS)
    assert not found.failures
    assert has(found.notes, note("key_unchanged", "age"))


@pytest.mark.usefixtures("catalogue")
def test_the_promised_k_is_counted() -> None:
    assert not microagg.assess(ORIGINAL, PROTECTED, keys=KEYS, k=3).failures
    assert not microagg.assess(ORIGINAL, PROTECTED, keys=KEYS).failures
    [failure] = microagg.assess(ORIGINAL, PROTECTED, keys=KEYS, k=4).failures
    assert is_like(failure, refuse("k_not_reached", "age", "income", k=4, below=6))
    by_region = PROTECTED.assign(age=40.0, income=5.0)
    assert not microagg.assess(ORIGINAL, by_region, keys=KEYS, k=6).failures
    assert microagg.assess(ORIGINAL, by_region, keys=KEYS, strata="region", k=6).failures


@pytest.mark.usefixtures("catalogue")
def test_k_of_each_subset_but_not_jointly_is_noted() -> None:
    crossed = PROTECTED.assign(age=[22.0, 22.0, 22.0, 62.0, 62.0, 62.0], income=[5.0, 6.0] * 3)
    found = microagg.assess(ORIGINAL, crossed, keys=[["age"], ["income"]], k=3)
    assert not found.failures
    assert has(found.notes, note("k_not_joint", k=3, below=6))


@pytest.mark.usefixtures("catalogue")
def test_notes() -> None:
    filled = ORIGINAL.assign(age=[None, *ORIGINAL.age[1:]])
    notes = microagg.assess(filled, PROTECTED[[*KEYS, "name"]], keys=KEYS, weight="weight", id="name").notes
    assert has(notes, note("gaps_filled", "age", records=1))
    assert has(notes, note("weight_of_original", "weight"))
    assert has(notes, note("id_released", "name"))
    backwards = PROTECTED[KEYS].iloc[::-1]
    assert has(microagg.assess(ORIGINAL, backwards, keys=KEYS).notes, note("far_apart"))


@pytest.mark.usefixtures("catalogue")
def test_dictionary_and_table() -> None:
    found = microagg.assess(ORIGINAL, PROTECTED, keys=KEYS)
    assert found.as_dict() == {
        "measures": {
            "distance": {
                "value": pytest.approx(4 / 3),
                "unit": "%",
                "parts": {"age": pytest.approx(5 / 3), "income": 1.0},
                "note": "a note",
            },
            "undefined": {"value": None, "unit": ""},
            "smallest": {"value": 3.0, "unit": "records"},
        }
    }
    json.dumps(found.as_dict(), allow_nan=False)
    assert found.table(every=True).splitlines() == [
        "6 records, keys: age, income",
        "",
        "utility                 value  higher means",
        "distance: a title     1.333 %  worse",
        "undefined: a title          –  worse",
        "",
        "risk                    value  higher means",
        "smallest: a title   3 records  worse",
    ]
    detailed = found.table(details=True, every=True).splitlines()
    assert [line.split() for line in detailed[4:7]] == [
        ["age", "1.667", "%"],
        ["income", "1", "%"],
        ["a", "note"],
    ]


@pytest.mark.usefixtures("catalogue")
def test_chosen_measures_in_the_order_of_the_catalogue() -> None:
    found = microagg.assess(ORIGINAL, PROTECTED, keys=KEYS, measures=["smallest", "distance"])
    assert list(found.findings) == ["distance", "smallest"]


@pytest.mark.parametrize("keep_order", [False, True])
def test_a_release_beside_its_source(seen: list[Pair], keep_order: bool, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    ORIGINAL.to_csv(path, index=False, sep=";", decimal=",")
    release = microagg.protect(
        path, 3, rest="pass",
        keys=KEYS, strata="region", drop="name", confidential="illness", weight="weight",
        pass_="wealth", keep_order=keep_order,
    )  # fmt: skip
    found = assess_release(release)
    assert not found.failures
    assert seen[-1].k == 3
    np.testing.assert_array_equal(seen[-1].original, ORIGINAL[KEYS].to_numpy()[release.rows])
    assert np.bincount(seen[-1].groups).tolist() == [3, 3]
    assert list(seen[-1].numbers) == ["wealth", "weight"]


@pytest.mark.usefixtures("catalogue")
def test_progress_before_each_measure() -> None:
    seen: list[Progress] = []
    microagg.assess(ORIGINAL, PROTECTED, keys=KEYS, progress=seen.append)
    assert [each.stage for each in seen] == list(STAND_INS)
    assert [each.done for each in seen] == [0.0, 1 / 3, 2 / 3]
    with pytest.raises(Cancelled):
        microagg.assess(ORIGINAL, PROTECTED, keys=KEYS, progress=lambda progress: progress.done > 0.5)
    with refusal(SettingsError, "not_callable", setting="progress", kind="int"):
        microagg.assess(ORIGINAL, PROTECTED, keys=KEYS, progress=1)  # type: ignore[arg-type]


def test_the_most_important_measures_in_sentences() -> None:
    """The others are there, and shown when they are asked for."""
    found = microagg.assess(ORIGINAL, PROTECTED, keys=KEYS, k=3)
    assert list(found.findings) == list(MEASURES)
    assert found.most_important == MOST_IMPORTANT
    shown, hint = str(found).rsplit("\n\n", 1)
    assert shown == found.table()
    assert hint == str(wording.more_measures(len(MEASURES) - len(MOST_IMPORTANT)))
    assert "(linkage_distance)" in shown
    assert "33.33 %" in shown
    assert "interval_sd" not in shown
    assert "interval_sd: " in found.table(every=True)
    assert "    1 / mean group size" in found.table(details=True)
    sentence = found.as_dict()["measures"]["k_anonymity"]["sentence"]
    assert sentence == "3 records or more share every released combination of the keys."
    assert "sentence" not in found.as_dict()["measures"]["attribute_disclosure"]


def test_a_notebook_shows_sentences_and_folds_the_rest() -> None:
    name = "<script>age"
    frames = (frame.rename(columns={"age": name}) for frame in (ORIGINAL, ORIGINAL))
    found = microagg.assess(*frames, keys=[name], k=3)
    shown = found._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;age" in shown
    assert "<strong>Do not release:</strong>" in shown
    first, folded = shown.split("<details>")
    assert first.count("<tr>") == len(MOST_IMPORTANT)
    assert folded.count("<tr>") == len(MEASURES) - len(MOST_IMPORTANT) + 1
    chosen = microagg.assess(ORIGINAL, PROTECTED, keys=KEYS, measures=["il"])
    assert "<details>" not in chosen._repr_html_()


def test_chosen_measures_are_all_shown() -> None:
    found = microagg.assess(ORIGINAL, PROTECTED, keys=KEYS, measures=["il", "il1s"])
    assert str(found) == found.table() == found.table(every=True)
    assert "(il)" in str(found)
    assert "il1s: " in str(found)


def test_plan_knows_its_roles() -> None:
    plan = AssessmentPlan.of({"keys": [["a"], ["b"]], "each": "c", "strata": "s", "id": "i", "weight": "w"})
    assert plan.keys == ("a", "b", "c")
    assert dict(plan.columns_by_role()) == {
        "a": "keys", "b": "keys", "c": "keys", "s": "strata", "w": "weight", "i": "id"
    }  # fmt: skip


def test_a_plan_has_roles_k_and_how_the_original_is_written(seen: list[Pair], tmp_path: Path) -> None:
    """Its file options are for the original; what is given beside it replaces what it has."""
    plan = tmp_path / "plan.toml"
    ORIGINAL.to_csv(tmp_path / "people.csv", index=False, sep="|", decimal=",")
    PROTECTED.to_csv(tmp_path / "safe.csv", index=False)
    plan.write_text(
        'input = "people.csv"\noutput = "safe.csv"\ndelimiter = "|"\ndecimal = ","\nk = 3\n'
        'keys = [["age"]]\neach = ["income"]\nstrata = ["region"]\nconfidential = ["illness", "wealth"]\n'
        'drop = ["name"]\nseed = 7\n[missing_codes]\nage = [99]\nwealth = [9]\n'
    )
    microagg.assess(protected=tmp_path / "safe.csv", plan=plan)
    pair = seen[-1]
    assert (pair.columns, pair.subsets, pair.k) == (("age", "income"), ((0,), (1,)), 3)
    assert list(pair.confidential) == ["illness", "wealth"]
    assert pair.strata.tolist() == [0, 0, 0, 1, 1, 1]
    np.testing.assert_array_equal(pair.original, ORIGINAL[KEYS])
    microagg.assess(ORIGINAL, PROTECTED, plan=plan, confidential="illness", k=2)
    assert (list(seen[-1].confidential), seen[-1].k) == (["illness"], 2)
    with refusal(SettingsError, "only_for_keys", column="wealth"):
        microagg.assess(ORIGINAL, PROTECTED, plan=plan, missing_codes={"wealth": [9]})
