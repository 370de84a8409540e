"""What is random in a release, what the record keeps of it, and releases that are made again."""

from __future__ import annotations

import html
import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import microagg
from microagg.assessment.assessing import assess_release
from microagg.engines.randomness import OTHER_METHODS, Randomness
from microagg.errors import DataError, SettingsError
from microagg.plan.protection import Protection
from microagg.secret_key import SecretKey
from microagg.wording import kind_of
from microagg.write import run_record
from microagg.write.run_record import HOLD_THE_TIME, read_record

N = 60


def survey() -> pd.DataFrame:
    random = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "region": np.array(["north", "south", "west"])[np.minimum(np.arange(N) // 29, 2)],
            "age": random.integers(18, 90, N),
            "income": np.round(random.lognormal(8, 1, N), 2),
            "wealth": np.round(random.lognormal(9, 1, N), 2),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N), "D"),
        }
    )


WORDS: dict[str, Any] = {"k": 3, "keys": ["age", "income"], "pass_": ["day", "wealth"], "rest": "pass"}
NOISE: dict[str, Any] = {**WORDS, "pass_": "day", "confidential": "wealth", "confidential_as": "noise"}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "survey.csv"
    survey().to_csv(path, index=False)
    return path


def refused(call: Any, kind: type[Exception] = DataError) -> str:
    with pytest.raises(kind) as caught:
        call()
    return kind_of(caught.value)


# --- what is drawn ------------------------------------------------------------------------------------


def test_two_runs_have_another_seed_key_and_order() -> None:
    first, second = microagg.protect(survey(), **WORDS), microagg.protect(survey(), **WORDS)
    assert first.rows.tolist() != second.rows.tolist()
    assert first.key != second.key
    assert first.record["seed"] != second.record["seed"]
    assert first.record["key"] == first.key.hex


def test_a_seed_fixes_the_groups_and_neither_order_nor_noise() -> None:
    runs = [microagg.protect(survey(), seed=0, **NOISE) for _ in range(2)]
    assert [run.record["seed"] for run in runs] == [0, 0]
    assert all(run.record["plan"]["seed"] == 0 for run in runs)
    tables = [run.data.iloc[np.argsort(run.rows)].reset_index(drop=True) for run in runs]
    assert tables[0][["age", "income"]].equals(tables[1][["age", "income"]])
    assert not np.isclose(tables[0]["wealth"], tables[1]["wealth"]).any()
    assert runs[0].rows.tolist() != runs[1].rows.tolist()


def test_noise_cannot_be_computed_from_the_seed() -> None:
    """Neither by NumPy's generators from the seed, nor by the same code from another key."""
    release = microagg.protect(survey(), seed=7, keep_order=True, **NOISE)
    change = (release.data["wealth"] - survey()["wealth"]).to_numpy()
    spread = 0.1 * survey()["wealth"].std(ddof=0)
    own = spread * release.key.standard_normal("noise", (N, 1))[:, 0]
    assert np.allclose(change, own, atol=1e-4)
    for guess in (
        np.random.default_rng(7).standard_normal(N),
        np.random.RandomState(7).standard_normal(N),
        SecretKey((7).to_bytes(32, "little")).standard_normal("noise", (N, 1))[:, 0],
        SecretKey((7).to_bytes(32, "big")).standard_normal("noise", (N, 1))[:, 0],
    ):
        assert abs(np.corrcoef(change, guess)[0, 1]) < 0.6


def test_a_plan_keeps_only_a_seed_that_was_given(source: Path, tmp_path: Path) -> None:
    microagg.protect(source, **WORDS).save(tmp_path / "a.csv")
    microagg.protect(source, seed=0, **WORDS).save(tmp_path / "b.csv")
    plans = [(tmp_path / "microagg-internal" / f"{name}.csv.plan.toml").read_text() for name in "ab"]
    assert ["\nseed" in plan for plan in plans] == [False, True]


def test_further_attempts_follow_from_the_key() -> None:
    protection = Protection.of({"k": 3, "keys": ["a"], "confidential": ["b"], "retry": True, "seed": 5})
    ones, same, others = (
        [(plan.seed, plan.recipe) for plan in Randomness(5, SecretKey(bytes([at]) * 32)).plans(protection)]
        for at in (1, 1, 2)
    )
    assert ones == same != others
    assert ones[0] == others[0] == (5, "auto")
    assert not {seed for seed, _ in ones[1:9]} & {seed for seed, _ in others[1:9]}
    assert sorted(recipe for _, recipe in ones[9:]) == sorted(OTHER_METHODS)


def test_trials_have_the_seed_of_the_settings() -> None:
    protection = Protection.of({"k": 3, "keys": ["a"]})
    assert not protection.has_seed
    assert Randomness.of_trial(protection).seed == 0
    assert Randomness.drawn(protection).seed != Randomness.drawn(protection).seed
    assert Randomness.drawn(Protection.of({"k": 3, "keys": ["a"], "seed": 0})).seed == 0


# --- the key is a secret ------------------------------------------------------------------------------


def test_the_key_is_in_the_record_alone(source: Path, tmp_path: Path) -> None:
    release = microagg.protect(source, **NOISE)
    pages = {"report": tmp_path / "in.html", "external_report": tmp_path / "out.html"}
    for ending in ("csv", "parquet", "xlsx", "dta", "feather"):
        release.save(tmp_path / f"out.{ending}", labels=True, force=True, **pages)
    key = release.key
    secrets = [key.hex.encode(), key.hex.upper().encode(), key.secret]
    holders = {
        path.name
        for path in tmp_path.rglob("*")
        if path.is_file() and any(each in path.read_bytes() for each in secrets)
    }
    assert holders == {
        f"out.{ending}.microagg.json" for ending in ("csv", "parquet", "xlsx", "dta", "feather")
    }
    for shown in (str(release), repr(release), str(release.verdict), repr(release.protection)):
        assert key.hex[:12] not in shown
        assert str(key.secret) not in shown


# --- a release made again -----------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather", "xlsx", "dta", "sav"])
def test_a_repeated_release_has_the_same_bytes(source: Path, tmp_path: Path, ending: str) -> None:
    words = {**NOISE, "strata": "region", "small_strata": "suppress"}
    first, again = tmp_path / f"first.{ending}", tmp_path / f"again.{ending}"
    record = microagg.protect(source, **words).save(first)
    repeated = microagg.protect(repeat=record)
    repeated.save(again)
    if first.suffix not in HOLD_THE_TIME:
        assert first.read_bytes() == again.read_bytes()
    tables = [microagg.read.microdata_from_file(path).table for path in (first, again)]
    assert tables[0].equals(tables[1])
    assert repeated.record["key"] == json.loads(record.read_text())["key"]


def test_a_frame_is_known_by_its_values(tmp_path: Path) -> None:
    release = microagg.protect(survey(), **WORDS)
    record = release.save(tmp_path / "out.parquet")
    again = microagg.protect(survey(), repeat=record)
    assert again.data.equals(release.data)
    changed = survey()
    changed.loc[5, "wealth"] += 0.01
    assert refused(lambda: microagg.protect(changed, repeat=record)) == "other_source"
    assert refused(lambda: microagg.protect(repeat=record), SettingsError) == "no_path_in_record"


def test_further_attempts_are_repeated(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame({name: random.normal(size=40) for name in "ab"})
    frame["ill"] = np.where(random.random(40) < 0.5, "x", "y")
    release = microagg.protect(frame, 4, keys=["a", "b"], confidential="ill", retry=True, method="mdav")
    assert "retried" in {each.rule for each in release.verdict.notes}
    record = release.save(tmp_path / "out.parquet")
    assert microagg.protect(frame, repeat=record).data.equals(release.data)


def test_rows_follow_from_the_record(source: Path, tmp_path: Path) -> None:
    for words in ({}, {"keep_order": True}, {"strata": "region", "small_strata": "suppress"}):
        release = microagg.protect(source, **{**WORDS, **words})
        record = read_record(release.save(tmp_path / "out.csv", force=True))
        assert record.rows.tolist() == release.rows.tolist()


def test_another_source_is_refused(source: Path, tmp_path: Path) -> None:
    record = microagg.protect(source, **WORDS).save(tmp_path / "out.csv")
    source.write_text(source.read_text().replace("north", "North", 1))
    assert refused(lambda: microagg.protect(repeat=record)) == "other_source"


def test_nothing_is_given_beside_a_record(source: Path, tmp_path: Path) -> None:
    record = microagg.protect(source, **WORDS).save(tmp_path / "out.csv")
    for words in ({"seed": 1}, {"k": 4}, {"plan": "plan.toml"}):
        call = lambda words=words: microagg.protect(source, repeat=record, **words)  # noqa: E731
        assert refused(call, SettingsError) == "settings_beside_repeat"


def changed_record(path: Path, **content: Any) -> Path:
    other = path.with_name("other.csv.microagg.json")
    other.write_text(json.dumps({**json.loads(path.read_text()), **content}))
    return other


def test_what_cannot_be_repeated_is_refused(source: Path, tmp_path: Path) -> None:
    record = microagg.protect(source, **WORDS).save(tmp_path / "out.csv")
    content = json.loads(record.read_text())
    cut = [{**content["tasks"][0], "truncated": True}]
    for changes, kind, error in (
        (
            {"software": {**content["software"], "microagg": "0.0.1"}},
            "record_of_other_version",
            SettingsError,
        ),
        ({"engine": "spark"}, "record_of_other_engine", SettingsError),
        ({"tasks": cut}, "search_was_cut_short", SettingsError),
        ({"stopped": True}, "search_was_cut_short", SettingsError),
        ({"seed": 10**9, "released": "x"}, "not_repeated", DataError),
    ):
        other = changed_record(record, **changes)
        assert refused(lambda other=other: microagg.protect(repeat=other), error) == kind


def test_other_bytes_are_not_written(source: Path, tmp_path: Path) -> None:
    record = microagg.protect(source, **NOISE).save(tmp_path / "out.csv")
    other = changed_record(record, key="00" * 32)
    assert refused(lambda: microagg.protect(repeat=other)) == "not_repeated"
    output = {**json.loads(record.read_text())["output"], "digest": "sha256:0"}
    repeated = microagg.protect(repeat=changed_record(record, output=output))
    assert refused(lambda: repeated.save(tmp_path / "again.csv")) == "not_repeated"
    assert not (tmp_path / "again.csv").exists()
    repeated.save(tmp_path / "again.parquet")  # of another format there is nothing to compare with


def test_records_that_cannot_be_used(source: Path, tmp_path: Path) -> None:
    record = microagg.protect(source, **WORDS).save(tmp_path / "out.csv")
    content = json.loads(record.read_text())
    assert read_record(record.parent).path == record
    bad = tmp_path / "bad.microagg.json"
    for text in ("", "[]", "{", "[" * 100_000, json.dumps({"format": "other"})):
        bad.write_text(text)
        assert refused(lambda: read_record(bad)) == "not_a_record"
    bad.write_text(json.dumps({**content, "version": 1}))
    assert refused(lambda: read_record(bad)) == "record_of_other_kind"
    for name in (
        "plan",
        "seed",
        "key",
        "input",
        "tasks",
        "software",
        "engine",
        "stopped",
        "released",
        "rows_left_out",
    ):
        for value in (None, "x", -1, [None], {"a": None}):
            bad.write_text(json.dumps({**content, name: value}))
            if name == "engine" and value == "x":
                continue  # of an engine that this version has not
            if (name, value) in (("released", "x"), ("plan", {"a": None}), ("tasks", [])):
                continue
            assert refused(lambda: read_record(bad)) == "not_a_record", (name, value)
        bad.write_text(json.dumps({key: value for key, value in content.items() if key != name}))
        assert refused(lambda: read_record(bad)) == "not_a_record", name
    assert refused(lambda: read_record(tmp_path / "none.json")) == "no_such_file"
    bad.unlink()
    assert refused(lambda: read_record(tmp_path)) == "not_one_record"


def test_the_digest_of_values_sees_values_and_types() -> None:
    def digest(frame: pd.DataFrame) -> str:
        return run_record.digest_of(microagg.read.microdata_of(frame))

    frame = survey()
    assert digest(frame) == digest(frame.copy())
    for other in (frame.iloc[::-1], frame.rename(columns={"age": "Age"}), frame.astype({"age": float})):
        assert digest(other) != digest(frame)


def test_a_release_can_be_kept(source: Path) -> None:
    release = microagg.protect(source, **WORDS)
    kept = pickle.loads(pickle.dumps(replace(release, source=None)))  # type: ignore[arg-type]
    assert kept.key == release.key


# --- earlier releases ---------------------------------------------------------------------------------


def noted(record: Path) -> list[list[str]]:
    notes = json.loads(record.read_text())["verdict"]["notes"]
    return [each["sentence"] for each in notes if each["rule"] == "earlier"]


def test_earlier_releases_of_the_same_source_are_noted(source: Path, tmp_path: Path) -> None:
    first = microagg.protect(source, **WORDS).save(tmp_path / "a.csv")
    assert not noted(first)
    assert not noted(microagg.protect(source, **WORDS).save(tmp_path / "a.csv", force=True))  # replaced
    assert not noted(microagg.protect(repeat=first).save(tmp_path / "again.csv"))  # the same values
    (first.parent / "broken.microagg.json").write_text("{")
    second = microagg.protect(source, **{**WORDS, "k": 4})
    (found,) = noted(second.save(tmp_path / "b.csv"))
    assert "2 earlier releases" in found
    other = tmp_path / "other.csv"
    survey().iloc[:-1].to_csv(other, index=False)
    assert not noted(microagg.protect(other, **WORDS).save(tmp_path / "c.csv"))


# --- whose record is whose ----------------------------------------------------------------------------


def test_shuffled_and_suppressed_releases_are_assessed(source: Path, tmp_path: Path) -> None:
    words = {**WORDS, "strata": "region", "small_strata": "suppress"}
    release = microagg.protect(source, **words)
    record = release.save(tmp_path / "out.csv")
    own = assess_release(release).as_dict()["measures"]
    for given in ({"record": record}, {}):  # found beside the file
        found: Any = microagg.assess(source, tmp_path / "out.csv", **given)
        measures = found.as_dict()["measures"]
        assert found.suppressed == 2
        for name in ("il", "linkage_distance", "k_anonymity"):
            assert measures[name]["value"] == pytest.approx(own[name]["value"])
    from_record: Any = microagg.assess(protected=release.data, record=record)
    assert from_record.as_dict()["measures"]["il"] == measures["il"]


def test_records_of_other_files_are_refused(source: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    record = microagg.protect(source, **WORDS).save(first)
    microagg.protect(source, **WORDS).save(second)
    assert refused(lambda: microagg.assess(source, second, record=record)) == "other_output"
    assert refused(lambda: microagg.assess(second, first, record=record)) == "other_source"
    for words in ({"id": "day"}, {"plan": "plan.toml"}):
        call = lambda words=words: microagg.assess(source, first, record=record, **words)  # noqa: E731
        assert refused(call, SettingsError) == "beside_record"
    spark = changed_record(record, engine="spark")
    call = lambda: microagg.assess(source, first, record=spark)  # noqa: E731
    assert refused(call, SettingsError) == "record_without_rows"
    assert refused(lambda: microagg.assess(source, record=record), SettingsError) == "needs_protected"


# --- in notebooks -------------------------------------------------------------------------------------


def test_notebooks_show_the_verdict_without_any_color(source: Path) -> None:
    release = microagg.protect(source, **WORDS)
    shown = release._repr_html_()
    places = [shown.index(html.escape(line)) for line in release.verdict.summary]
    assert places == sorted(places)
    assert all(html.escape(str(each)) in shown for each in release.verdict.notes)
    assert "color" not in shown
    with pytest.raises(microagg.UnsafeRelease) as caught:
        microagg.protect(source, **{**WORDS, "confidential": "region", "k": 3})
    refusal = caught.value.verdict._repr_html_()
    assert "verified" not in refusal
    assert "To decide" in refusal
    strange = microagg.protect(
        survey().rename(columns={"age": "<i>"}), **{**WORDS, "keys": ["<i>", "income"]}
    )
    assert "<i>" not in strange._repr_html_()
    assert "&lt;i&gt;" in strange._repr_html_()


def test_notebooks_show_the_kinds_of_keys_that_hold_categories() -> None:
    data = survey().assign(sex=(["<m>", "f"] * len(survey()))[: len(survey())])
    shown = microagg.protect(data, **{**WORDS, "keys": ["age", "sex"], "rest": "drop"})._repr_html_()
    assert shown.count("<tr>") == 3
    assert all(f">{kind}</td>" in shown for kind in ("number", "nominal"))
    assert "<m>" not in shown
    assert "<table>" not in microagg.protect(data, **{**WORDS, "rest": "drop"})._repr_html_()
