"""`microagg.verify_release` and `microagg verify`: a release is verified later, from its record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import microagg
from microagg.errors import DataError
from microagg.verdict import refuse
from tests.refusals import has, refusal, rules

N = 60
ENDINGS = (".csv", ".tsv", ".parquet", ".feather", ".xlsx", ".dta", ".sav", ".xpt")


def people() -> pa.Table:
    random = np.random.default_rng(8)
    return pa.table(
        {
            "age": random.integers(18, 90, N),
            "income": random.normal(3000, 900, N).round(2),
            "region": [["N", "S", "W"][at % 3] if at else "E" for at in range(N)],
            "sector": ["x, y" if at % 2 else "z" for at in range(N)],
            "gaps": [None if at % 4 == 0 else at % 5 for at in range(N)],
        }
    )


WAYS: dict[str, dict[str, Any]] = {
    "plain": {"keys": ["age", "income"]},
    "nearest": {"keys": ["age", "income"], "strata": "region", "small_strata": "nearest"},
    "suppressed": {"keys": ["age", "income"], "strata": "region", "small_strata": "suppress"},
    "in order": {"keys": ["age", "income"], "keep_order": True},
    "missing": {"keys": ["age", "gaps"], "missing": "by-pattern"},
    "noise": {"keys": ["age"], "confidential": "income", "confidential_as": "noise"},
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    csv.write_csv(people(), path)
    return path


def saved(source: Path, name: str = "out.csv", **words: Any) -> Path:
    words = {"keys": ["age", "income"], **words}
    microagg.protect(source, 3, rest="pass", method="mdav", **words).save(source.with_name(name))
    return source.with_name(name)


@pytest.mark.parametrize("ending", ENDINGS)
def test_releases_in_all_formats(source: Path, ending: str) -> None:
    verdict = microagg.verify_release(
        saved(source, f"out{ending}", strata="region", small_strata="nearest")
    )
    assert verdict.safe, verdict.failures
    assert verdict.source_reading == "other code"


@pytest.mark.parametrize("way", WAYS)
def test_releases_of_all_kinds(source: Path, way: str) -> None:
    for ending in (".csv", ".parquet"):
        release = microagg.protect(source, 3, rest="pass", method="mdav", **WAYS[way])
        path = source.with_name(f"out{ending}")
        release.save(path)
        verdict = microagg.verify_release(path, record=path.parent / "microagg-internal")
        assert verdict.safe, verdict.failures
        assert verdict.subsets == release.verdict.subsets
        assert verdict.changes == release.verdict.changes
        assert verdict.unique == release.verdict.unique


@pytest.mark.parametrize("kind", ["parquet", "sav"])
def test_sources_in_other_formats(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"people.{kind}"
    if kind == "parquet":
        parquet.write_table(people(), path)
    else:
        import pyreadstat

        pyreadstat.write_sav(people().to_pandas(), str(path))
    for ending in (".csv", ".parquet", ".sav", ".xlsx"):
        verdict = microagg.verify_release(saved(path, f"out{ending}"))
        assert verdict.safe, (ending, verdict.failures)
        assert verdict.source_reading == "same library"


def test_what_differs_is_found(source: Path) -> None:
    path = saved(source)
    content = path.read_bytes()
    lines = content.split(b"\n")
    for name, damaged in {
        "a cell": content.replace(b"z", b"y", 1),
        "a digit": lines[0] + b"\n" + lines[1].replace(b".", b".1", 1) + b"\n" + b"\n".join(lines[2:]),
        "a quote": content.replace(b"z", b'"z"', 1),
        "two records exchanged": b"\n".join([lines[0], lines[2], lines[1], *lines[3:]]),
        "a record lost": b"\n".join([lines[0], *lines[2:]]),
        "the source": source.read_bytes(),
        "a line end": content + b"\n",
    }.items():
        path.write_bytes(damaged)
        verdict = microagg.verify_release(path)
        assert has(verdict.failures, refuse("file_not_recorded")), name
        assert {each.cause for each in verdict.failures[1:]} <= {"first finding"}, name
        assert "is a bug" not in str(verdict), name
        if name != "a line end":
            assert len(verdict.failures) > 1, name
    path.write_bytes(b"\x00\x01")
    assert "written_unreadable" in rules(microagg.verify_release(path).failures)
    path.write_bytes(content)
    assert microagg.verify_release(path).safe


def test_a_record_that_was_changed(source: Path) -> None:
    path = saved(source)
    place = path.parent / "microagg-internal" / "out.csv.microagg.json"
    record = json.loads(place.read_text())
    for change, rule in (
        ({"plan": {**record["plan"], "k": 4}}, "combination_too_rare"),
        ({"plan": {**record["plan"], "keys": [["age"]], "pass": ["income"]}}, "column_changed"),
        ({"key": "0" * 64}, "column_changed"),
        ({"rows_left_out": [3]}, "rows_miscounted"),
        ({"input": {**record["input"], "digest": "sha256:0"}}, "source_not_recorded"),
    ):
        place.write_text(json.dumps({**record, **change}))
        failures = microagg.verify_release(path).failures
        assert rule in rules(failures), rule
        assert rule == "source_not_recorded" or {each.cause for each in failures} == {"unknown"}, rule
    for broken in ("{}", "[]", "no JSON", json.dumps({**record, "output": None})):
        place.write_text(broken)
        with refusal(DataError, "not_a_record"):
            microagg.verify_release(path, record=place)
    place.unlink()
    with refusal(DataError, "no_such_file"):
        microagg.verify_release(path)


def test_a_source_elsewhere(source: Path) -> None:
    path = saved(source)
    moved = source.rename(source.with_name("moved.csv"))
    with refusal(DataError, "no_such_file"):
        microagg.verify_release(path)
    assert microagg.verify_release(path, source=moved).safe
    moved.write_text(moved.read_text().replace("z", "y", 1))
    assert has(microagg.verify_release(path, source=moved).failures, refuse("source_not_recorded"))


def test_a_source_in_memory_is_to_be_given(tmp_path: Path) -> None:
    microagg.protect(people(), 3, keys=["age", "income"], rest="pass").save(tmp_path / "out.csv")
    with refusal(DataError, "source_to_be_given"):
        microagg.verify_release(tmp_path / "out.csv")


def test_a_release_by_spark_is_counted_by_itself(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    made = pa.table({"age": [1.0] * 3 + [2.0] * 3, "note": list("abcdef")})
    parquet.write_table(made.slice(0, 4), folder / "part-0.parquet")
    parquet.write_table(made.slice(4), folder / "part-1.parquet")
    (folder / "_SUCCESS").touch()
    record = microagg.protect(people(), 3, keys=["age", "income"], rest="pass").record
    record |= {
        "engine": "spark",
        "plan": {"k": 3, "keys": [["age"]], "rest": "pass"},
        "input": {**record["input"], "columns": ["age", "note"]},
        "verdict": {"counted": {"records": 6}},
        "output": {"name": "out", "digest": "xxhash64"},
    }
    place = tmp_path / "record.json"
    place.write_text(json.dumps(record))
    verdict = microagg.verify_release(folder, record=place)
    assert verdict.safe
    assert verdict.subsets[0].smallest == 3
    record["verdict"] = {"counted": {"records": 7}}
    place.write_text(json.dumps(record))
    assert rules(microagg.verify_release(folder, record=place).failures) == ["written_rows_differ"]
    record["plan"] = {"k": 4, "keys": [["age"]], "rest": "pass"}
    place.write_text(json.dumps(record))
    assert "combination_too_rare" in rules(microagg.verify_release(folder, record=place).failures)
    parquet.write_table(made.slice(4).rename_columns(["age", "name"]), folder / "part-1.parquet")
    assert not microagg.verify_release(folder, record=place).safe


def test_labels_of_categories_stay_and_are_verified(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = people().to_pandas()[["age", "income"]].assign(sex=[1, 2] * (N // 2))
    labels = {"sex": {1: "female", 2: "male", 3: "nobody's"}}
    pyreadstat.write_dta(frame, str(tmp_path / "people.dta"), variable_value_labels=labels)
    path = saved(tmp_path / "people.dta", "out.dta", keys=["age", "income", "sex"])
    assert pyreadstat.read_dta(str(path))[1].variable_value_labels == labels
    assert microagg.verify_release(path).safe
