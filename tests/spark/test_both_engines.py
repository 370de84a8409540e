"""What both engines promise: each test runs in memory and on Spark, and asserts the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import microagg
from microagg import errors
from microagg.verdict import note
from microagg.wording import message_of
from tests.refusals import has, refusal, rules
from tests.spark.conftest import rows_of
from tests.spark.test_protect import KEYS, people, with_gaps

Engine = Callable[..., Any]


@pytest.fixture(params=["memory", "Spark"])
def protect(request: pytest.FixtureRequest) -> Engine:
    """`microagg.protect` of a table by one of the engines."""
    if request.param == "memory":
        return microagg.protect
    session = request.getfixturevalue("session")
    return lambda table, *args, **words: microagg.protect(session.createDataFrame(table), *args, **words)


def small(n: int = 24) -> pa.Table:
    """Two keys in four clusters, a confidential column, weights and a stratum."""
    random = np.random.default_rng(3)
    centres = np.repeat([10.0, 50.0, 90.0, 130.0], n // 4)
    return pa.table(
        {
            "a": centres + random.integers(0, 9, n),
            "b": random.integers(0, 99, n).astype(float),
            "illness": random.integers(0, 40, n).astype(str),
            "weight": np.round(random.uniform(0.8, 1.2, n), 2),
            "region": np.repeat(["N", "S"], n // 2),
        }
    )


def put(table: pa.Table, **columns: Any) -> pa.Table:
    """The table with these columns, new ones or in the place of those it has."""
    return pa.table({**{name: table[name] for name in table.column_names}, **columns})


# --- roles and values that are refused before records are grouped --------------------------------


def test_columns_that_may_identify_need_a_role(protect: Engine) -> None:
    numbers = np.repeat(np.arange(40), 3)
    for name in ("nr", "household", "fcode"):
        table = pa.table({"a": np.random.default_rng(1).normal(size=120), name: numbers})
        with refusal(errors.SettingsError, "needs_role", columns=(name,)):
            protect(table, 3, rest="pass", keys=["a"])


def test_columns_without_a_role(protect: Engine) -> None:
    with refusal(errors.SettingsError, "columns_without_role"):
        protect(small(), 3, keys=["a", "b"])


def test_refused_before_records_are_grouped(protect: Engine) -> None:
    table = small()
    a = table["a"].to_numpy()
    for kind, data, words in (
        ("missing_keys", put(table, a=pa.array([None, *a[1:]], pa.float64())), {}),
        ("infinite_values", put(table, a=np.r_[np.inf, a[1:]]), {}),
        ("not_numeric", put(table, illness=["ill"] * 24), {"keys": ["a", "illness"]}),
        ("bad_weights", put(table, weight=np.r_[-1.0, np.ones(23)]), {"weight": "weight"}),
        ("strata_too_small", table, {"k": 13, "strata": ["region"]}),
        ("unknown_columns", table, {"keys": ["a", "nobody"]}),
    ):
        with pytest.raises((errors.DataError, errors.SettingsError)) as refused:
            protect(data, **{"k": 3, "keys": ["a", "b"], "rest": "pass", **words})
        assert message_of(refused.value).kind == kind, refused.value


# --- rules: what must not be released, or is to be decided ---------------------------------------

HEAVY = np.where(np.arange(24) % 6 == 0, 1000.0, 1.0)
RULES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "pairs": ({}, {"k": 2}),
    "distinct": ({"illness": ["none"] * 24}, {"confidential": ["illness"]}),
    "derived": ({"double": 2.0 * small()["a"].to_numpy() + 1.0}, {"pass_": ["double"]}),
    "respondents": ({"owner": np.repeat(np.arange(8), 3)}, {"respondent": "owner"}),
    "dominated": ({"weight": HEAVY}, {"weight": "weight"}),
    "real_values": ({}, {"aggregate": "median"}),
    "partial": ({}, {"keys": [["a"], ["b"]]}),
}


@pytest.mark.parametrize("rule", RULES)
def test_rules(protect: Engine, rule: str) -> None:
    columns, words = RULES[rule]
    given = {"k": 3, "keys": ["a", "b"], "rest": "pass", "method": "mdav", **words}
    with pytest.raises(errors.UnsafeRelease) as refused:
        protect(put(small(), **columns), **given)
    assert rule in rules(refused.value.findings), refused.value.findings


def test_amounts_that_can_be_estimated(protect: Engine) -> None:
    amounts = np.where(np.arange(24) % 6 == 0, 1e6, small()["a"].to_numpy())
    with pytest.raises(errors.UnsafeRelease) as refused:
        protect(
            put(small(), a=amounts), 3, rest="pass", keys=["a", "b"], amounts=["a"], p_percent=20,
            method="mdav",
        )  # fmt: skip
    assert "dominated" in rules(refused.value.findings)


# --- what a release is ---------------------------------------------------------------------------


def test_verdict_and_record(protect: Engine) -> None:
    table = with_gaps(people(120))
    release = protect(
        table, 3, rest="pass", keys=KEYS, drop=["illness"], missing="by-pattern", method="mdav",
        weight="weight",
    )  # fmt: skip
    verdict, record = release.verdict, release.record
    assert verdict.safe
    assert verdict.records == 120
    assert verdict.subsets[0].smallest >= 3
    assert [each.column for each in verdict.not_counted] == ["weight", "region"]
    assert has(verdict.findings, note("values_given_up"))
    assert {each.column for each in verdict.mean_changes} == set(KEYS)
    assert release.groups == sum(task["groups"] for task in record["tasks"])
    assert (release.claims.k, release.bound_loss) == (3, None)
    assert record["plan"]["keys"] == [KEYS]
    assert record["input"]["records"] == 120
    assert record["verdict"] == verdict.as_dict()
    assert 0.0 < release.information_loss < 100.0
    assert rows_of(release.data.select(["region"])) == rows_of(table.select(["region"]))
    assert "illness" not in rows_of(release.data)


def test_writing(protect: Engine, tmp_path: Path) -> None:
    release = protect(small(), 3, rest="pass", keys=["a", "b"], drop=["illness"], method="mdav")
    out = tmp_path / "out.parquet"
    record = release.save(out)
    assert rows_of(parquet.read_table(out)) == rows_of(release.data)
    assert json.loads(record.read_text())["output"]["name"] == "out.parquet"
    assert record.parent == tmp_path / "microagg-internal"
    assert {path.name for path in tmp_path.iterdir()} == {"out.parquet", "microagg-internal"}
    with refusal(errors.SettingsError, "output_exists"):
        release.save(out)
    release.save(out, force=True)
    with refusal(errors.SettingsError, "no_output_folder"):
        release.save(tmp_path / "nowhere" / "out.parquet")
    with refusal(errors.SettingsError, "internal_beside_release"):
        release.save(tmp_path / "other.parquet", record=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"out.parquet", "microagg-internal"}
