"""Strategies side by side: the grid, the choice, what is kept of an interrupted run, the map."""

from __future__ import annotations

import json
import re
import stat
import sys
import threading
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv

import microagg
from microagg.assessment import assessing
from microagg.errors import Cancelled, DataError, DecisionNeeded, OutputError, SettingsError
from microagg.measure.descriptions import Measure
from microagg.measure.pair import MeasureResult, Pair
from microagg.plan.strategies import strategies_of
from microagg.settings.declared import CompareSettings
from microagg.trials import comparing, strategy_runs
from microagg.trials.comparing import (
    LOSS,
    LOSS_OF_TABLES,
    OF_REPRESENTATIVES,
    RISK,
    USUAL,
    USUAL_OF_CATEGORIES,
    judge,
)
from microagg.write import Journal
from tests.refusals import refusal

RANDOM = np.random.default_rng(1)
DATA = pd.DataFrame(RANDOM.normal(size=(60, 3)).round(3), columns=["a", "b", "c"]).assign(
    s=["x", "y"] * 30, name=[f"n{i}" for i in range(60)]
)
KEYS = ["a", "b", "c"]


def stand_in(name: str, compute: Any) -> Measure:
    return Measure("risk", name, "A sentence.", "a = b", "", "0 to 1", "worse", "nobody", compute)


def loss(pair: Pair) -> MeasureResult:
    return MeasureResult(float(((pair.original - pair.masked) ** 2).sum()))


@pytest.fixture(autouse=True)
def catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain measures: this is about the grid."""
    named = {
        name: stand_in(name, lambda pair: MeasureResult(1 / float(np.bincount(pair.groups).mean())))
        for name in (*USUAL, *USUAL_OF_CATEGORIES, *OF_REPRESENTATIVES)
    }
    named[LOSS] = stand_in("loss", loss)
    named["odd"] = stand_in("odd", lambda pair: MeasureResult(float("nan")))
    for module in (assessing, comparing):
        monkeypatch.setattr(module, "MEASURES", named)


def test_frame_is_tidy_and_of_the_kind_given() -> None:
    found = microagg.compare(DATA, [3, 5], ["mdav", "ufs-fpc"], keys=KEYS)
    assert isinstance(found.frame, pd.DataFrame)
    assert found.frame[["k", "method"]].to_numpy().tolist() == [
        [3, "mdav"], [5, "mdav"], [3, "ufs-fpc"], [5, "ufs-fpc"]
    ]  # fmt: skip
    assert set(USUAL) < set(found.frame.columns)
    assert found.frame.recommended.sum() == 1
    assert found.frame.smallest.tolist() == [3, 5, 3, 5]
    assert (found.frame.subsets == "a, b, c").all()
    alone = microagg.protect(DATA[KEYS], 5, rest="pass", keys=KEYS, method="mdav", keep_order=True)
    assert found.frame[LOSS][1] == pytest.approx(float(((DATA[KEYS] - alone.data) ** 2).to_numpy().sum()))
    assert isinstance(microagg.compare(pl.from_pandas(DATA), 3, "mdav", keys=KEYS).frame, pl.DataFrame)
    assert isinstance(microagg.compare(pa.Table.from_pandas(DATA), 3, "mdav", keys=KEYS).frame, pa.Table)


@pytest.mark.parametrize("keys", [["s", "t"], ["a", "s", "t"]])
def test_keys_of_any_kind(keys: list[str]) -> None:
    """Other measures are usual then; the loss is that of what `protect` would publish."""
    data = DATA.assign(t=["low", "high", "middle"] * 20)
    words: dict[str, Any] = {"keys": keys, "ordinal": {"t": ["low", "middle", "high"]}}
    words["importance"] = {"s": 3.0}
    found = microagg.compare(data, [3, 4], ["mdav-generic", "auto"], effort="fast", **words)
    assert found.measures == USUAL_OF_CATEGORIES
    assert found.table["failure"].to_pylist() == [None] * 4
    assert [row["smallest"] >= row["k"] for row in found.rows] == [True] * 4
    assert str(found).splitlines()[1].split()[:2] == ["k", "method"]
    ElementTree.fromstring(found.svg())


def test_a_notebook_shows_a_table_with_names_escaped() -> None:
    found = microagg.compare(
        DATA.rename(columns={"a": "<b>a"}), 3, "mdav", keys=["<b>a", "b"], subsets=["joint", "each"]
    )
    shown = found._repr_html_()
    assert shown.count("<tr>") == 3
    assert "&lt;b&gt;a | b" in shown
    assert "<b>" not in shown
    assert "<li>recommended: k = 3, mdav (" in shown


def test_results_do_not_depend_on_threads() -> None:
    one, two = (
        microagg.compare(DATA, [3, 4], ["mdav", "auto"], keys=KEYS, threads=threads).table.drop(["seconds"])
        for threads in (1, 2)
    )
    assert one.equals(two)


def test_ways_to_split_the_keys() -> None:
    found = microagg.compare(
        DATA, 3, "mdav", keys=KEYS, subsets=["joint", "each", [["a", "b"], ["c"]], "joint"]
    )
    assert found.table["subsets"].to_pylist() == ["a, b, c", "a | b | c", "a, b | c"]
    assert found.table["needs"].to_pylist() == ["", "partial", "partial"]
    assert "a, b | c" in str(found)


def test_what_groups_publish() -> None:
    """Strategies that differ in it are weighed by tables, for by the loss means are the best."""
    found = microagg.compare(DATA, [3, 5], "mdav", keys=KEYS, aggregate=["mean", "median", "mean"])
    assert found.table.select(["k", "aggregate"]).to_pylist() == [
        {"k": k, "aggregate": each} for each in ("mean", "median") for k in (3, 5)
    ]
    assert found.measures == (*USUAL, *OF_REPRESENTATIVES)
    assert found.loss == found.as_dict()["loss"] == LOSS_OF_TABLES
    assert found.table["needs"].to_pylist() == ["", "", "real-values", "real-values"]
    for k, median in ((3, 2), (5, 3)):
        alone = microagg.protect(
            DATA[KEYS],
            k,
            keys=KEYS,
            method="mdav",
            aggregate="median",
            accept="real-values",
            keep_order=True,
        )
        expected = float(((DATA[KEYS] - alone.data) ** 2).to_numpy().sum())
        assert found.rows[median][LOSS] == pytest.approx(expected)
    lines = str(found).splitlines()
    assert lines[1].split()[:3] == ["k", "method", "aggregate"]
    best = found.recommended
    assert f"recommended: k = {best['k']}, mdav, aggregate={best['aggregate']}: " in str(found)
    texts = re.findall(r">([^<]+)</text>", found.svg())
    assert {"mdav: mean", "mdav: median"} <= set(texts)
    assert found._repr_html_().count("<td") == 4 * (3 + len(found.measures) + 1)


def test_ways_to_choose_categories() -> None:
    """Each with each; a strategy publishes what `protect` does by the same settings."""
    data = DATA.assign(t=[f"t{int(value)}" for value in RANDOM.integers(0, 5, 60)])
    words: dict[str, Any] = {"keys": ["a", "s", "t"], "categories": ["mode", "tables"]}
    found = microagg.compare(data, 3, "mdav", aggregate=["mean", "median"], **words)
    assert found.table.select(["categories", "aggregate"]).to_pylist() == [
        {"categories": one, "aggregate": other}
        for one in ("mode", "tables")
        for other in ("mean", "median")
    ]
    assert found.measures == tuple(dict.fromkeys((*USUAL_OF_CATEGORIES, *OF_REPRESENTATIVES)))
    best = found.recommended
    named = f"k = 3, mdav, categories={best['categories']}, aggregate={best['aggregate']}: "
    assert f"recommended: {named}" in str(found)
    with refusal(SettingsError, "no_categories"):
        microagg.compare(DATA, 3, "mdav", keys=KEYS, categories=["margins", "tables"])


@pytest.mark.parametrize("threads", [1, 2])
def test_groups_are_searched_once_for_all_that_they_may_publish(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each strategy has the groups, and the measures, that it has alone."""
    data = DATA.assign(t=[f"t{int(value)}" for value in RANDOM.integers(0, 5, 60)])
    words: dict[str, Any] = {
        "keys": ["a", "s", "t"],
        "methods": ["mdav-generic", "auto"],
        "threads": threads,
    }
    words |= {"measures": ["labels"], "effort": "fast"}
    labels = stand_in("labels", lambda pair: MeasureResult(float(hash(pair.groups.tobytes()))))
    for module in (assessing, comparing):
        monkeypatch.setattr(module, "MEASURES", module.MEASURES | {"labels": labels})
    ways = [(one, other) for one in ("mode", "tables", "existing") for other in ("mean", "median")]
    alone = [
        row
        for one, other in ways
        for row in microagg.compare(data, [3, 4], categories=[one], aggregate=[other], **words).rows
    ]
    searched: list[tuple[int, str]] = []
    search = strategy_runs.solve_all

    def counted(problems: Any, plan: Any, *more: Any, **named: Any) -> Any:
        searched.append((plan.k, plan.recipe))
        return search(problems, plan, *more, **named)

    monkeypatch.setattr(strategy_runs, "solve_all", counted)
    found = microagg.compare(
        data, [3, 4], categories=["mode", "tables", "existing"], aggregate=["mean", "median"], **words
    )
    assert sorted(searched) == sorted((k, name) for k in (3, 4) for name in ("mdav-generic", "auto"))
    of = lambda row: tuple(row[name] for name in ("k", "method", "categories", "aggregate"))  # noqa: E731
    same = {of(row): row for row in alone}
    assert len(found.rows) == 24
    for row in found.rows:
        expected = same[of(row)]
        for name in ("labels", *USUAL_OF_CATEGORIES, "smallest", "recipe", "needs"):
            assert row[name] == expected[name], name


def test_one_kind_of_representative_is_no_column() -> None:
    found = microagg.compare(DATA, 3, "mdav", keys=KEYS, aggregate="median")
    assert found.table["aggregate"].to_pylist() == ["median"]
    assert (found.measures, found.loss) == (USUAL, LOSS)
    assert "median" not in str(found)


def test_where_there_are_no_two_way_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loss is weighed then."""
    undefined = stand_in("tables", lambda pair: MeasureResult(float("nan")))
    monkeypatch.setitem(assessing.MEASURES, LOSS_OF_TABLES, undefined)
    assert microagg.compare(DATA, 3, "mdav", keys="a", aggregate=["mean", "median"]).loss == LOSS


def test_what_would_have_to_be_accepted() -> None:
    data = DATA.assign(secret=1)
    found = microagg.compare(
        data, [2, 3], "mdav", keys=KEYS, confidential="secret", strata="s", accept="pairs"
    )
    assert found.table["needs"].to_pylist() == ["distinct, pairs", "distinct"]
    assert "to release this, protect would have to accept distinct" in str(found)


def test_one_failure_does_not_stop_the_others() -> None:
    found = microagg.compare(DATA, [3, 40], "mdav", keys=KEYS, strata="s")
    assert found.table[LOSS].to_pylist()[1] is None
    assert "2 of 2 strata" in found.table["failure"].to_pylist()[1]
    assert found.table["recommended"].to_pylist() == [True, False]
    assert "failed: k = 40, mdav: 2 of 2 strata" in str(found)


@pytest.mark.parametrize(
    ("words", "kind", "message"),
    [
        ({"k": [3, 61]}, None, ""),
        ({"k": 61}, SettingsError, "k is 61, but the data have only 60"),
        ({"k": []}, SettingsError, "k must be one or several whole numbers"),
        ({"k": "3"}, SettingsError, "k must be one or several whole numbers"),
        ({"k": [3, 1]}, SettingsError, "k is 1"),
        ({"k": [2]}, DecisionNeeded, "accept"),
        ({"methods": ["mdav", "mdaw"]}, SettingsError, "did you mean mdav"),
        ({"methods": []}, SettingsError, "methods must be"),
        ({"keys": None}, SettingsError, "No column is named"),
        ({"keys": ["a", "z"]}, DataError, "No such column: 'z'"),
        ({"keys": ["a", "name"]}, DataError, "'name'"),
        ({"nominal": "s"}, SettingsError, "nominal"),
        ({"ordinal": {"s": ["x", "x"]}}, SettingsError, "ordinal"),
        ({"keys": ["a", "s"], "ordinal": {"s": ["x", "z"]}}, DataError, "'s'"),
        ({"importance": {"a": -1}}, SettingsError, "importance"),
        ({"keys": [["a"], ["b"]], "subsets": ["joint"]}, SettingsError, "several subsets, and ways to"),
        ({"subsets": [[["a", "b"]]]}, SettingsError, "do not split the keys a, b, c"),
        ({"subsets": ["jont"]}, SettingsError, "did you mean joint"),
        ({"aggregate": ["mean", "mode"]}, SettingsError, "aggregate is 'mode'"),
        ({"aggregate": []}, SettingsError, "aggregate must be one or several of mean"),
        ({"aggregate": 3}, SettingsError, "aggregate must be one or several of mean"),
        ({"max_risk": 1.5}, SettingsError, "max_risk is 1.5"),
        ({"max_risk": "low"}, SettingsError, "max_risk is 'low'"),
        ({"measures": ["nothing"]}, SettingsError, "There is no measure 'nothing'"),
        ({"again": True}, SettingsError, "again has an effect only if"),
        ({"progress": 1}, SettingsError, "progress is of type int"),
        ({"delimiter": ";"}, SettingsError, "not CSV"),
    ],
)
def test_bad_settings(words: dict[str, Any], kind: Any, message: str) -> None:
    words = {"k": 3, "methods": "mdav", "keys": KEYS} | words
    if kind is None:
        assert microagg.compare(DATA, **words).table.num_rows == 2
        return
    with pytest.raises(kind, match=message):
        microagg.compare(DATA, **words)


def test_more_measures_and_undefined_ones() -> None:
    found = microagg.compare(DATA, 3, "mdav", keys=KEYS, measures="odd")
    assert found.table["odd"].to_pylist() == [None]
    json.dumps(found.as_dict(), allow_nan=False)


# --- the choice ------------------------------------------------------------------------------------


def rows(*points: tuple[float, float]) -> list[dict[str, Any]]:
    return [{RISK: risk, LOSS: loss, "k": 3 + at} for at, (risk, loss) in enumerate(points)]


@pytest.mark.parametrize(
    ("points", "undominated", "recommended"),
    [
        ([(0.3, 1.0), (0.1, 5.0), (0.05, 9.0)], [0, 1, 2], 1),  # within the limit, the least loss
        ([(0.3, 1.0), (0.2, 5.0)], [0, 1], 1),  # none within it: the least risk
        ([(0.1, 5.0), (0.1, 4.0), (0.2, 4.0)], [1], 1),
        ([(0.1, 5.0), (0.1, 5.0)], [0, 1], 1),  # equals do not beat each other; the larger k
        ([(0.05, 5.0), (0.08, 5.0)], [0], 0),
    ],
)
def test_choice(points: list[tuple[float, float]], undominated: list[int], recommended: int) -> None:
    judged, _ = judge(rows(*points), 0.1)
    assert [at for at, row in enumerate(judged) if row["undominated"]] == undominated
    assert [at for at, row in enumerate(judged) if row["recommended"]] == [recommended]


def test_the_rule_is_said() -> None:
    assert judge(rows((0.3, 1.0), (0.1, 5.0)), 0.1)[1] == (
        "least il among the 1 of 2 with linkage_distance at most 0.1"
    )
    assert judge(rows((0.3, 1.0), (0.2, 5.0)), 0.1)[1] == (
        "least linkage_distance, since none of 2 has linkage_distance at most 0.1"
    )


# --- going on after an interruption -------------------------------------------------------------------


def test_finished_strategies_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    protect = strategy_runs.local.protect

    def counted(source: Any, protection: Any, *more: Any, **named: Any) -> Any:
        made.append(protection.k)
        return protect(source, protection, *more, **named)

    monkeypatch.setattr(strategy_runs.local, "protect", counted)
    folder = tmp_path / "microagg-internal"
    first = microagg.compare(DATA, [3, 5], "mdav", keys=KEYS, record=folder)
    assert sorted(made) == [3, 5]
    assert stat.S_IMODE((folder / "compare.jsonl").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    second = microagg.compare(DATA, [3, 5, 7], "mdav", keys=KEYS, record=folder, threads=1)
    assert made[2:] == [7]
    assert second.known == 2
    assert "3 strategies in" in str(second)
    assert "2 of them in an earlier run" in str(second)
    assert (
        second.table.slice(0, 2)
        .drop(["recommended", "undominated"])
        .equals(first.table.drop(["recommended", "undominated"]))
    )
    microagg.compare(DATA, 3, "mdav", keys=KEYS, record=folder, seed=1)
    microagg.compare(DATA.assign(a=DATA.a + 1), 3, "mdav", keys=KEYS, record=folder)
    microagg.compare(DATA, 3, "mdav", keys=KEYS, record=folder, again=True)
    assert made[3:] == [3, 3, 3]
    assert not any(name in (folder / "compare.jsonl").read_text() for name in ("n1", str(DATA.a[0])))


def test_lines_that_were_cut_off_are_passed_over(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "x" / "compare.jsonl")
    journal.check()
    journal.add("one", {"k": 1})
    with journal.path.open("a") as file:
        file.write('{"key": "two", "found": {"k"')
    journal.add("three", {"k": 3})
    with journal.path.open("a") as file:
        file.write('[]\n{"key": 1, "found": {}}\n{"key": "four", "found": []}\n')
    assert journal.entries() == {"one": {"k": 1}, "three": {"k": 3}}


def test_no_place_for_the_record(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no folder"):
        microagg.compare(DATA, 3, "mdav", keys=KEYS, record=tmp_path / "no" / "where")
    (tmp_path / "file").write_text("")
    with pytest.raises((OutputError, SettingsError), match="file"):
        microagg.compare(DATA, 3, "mdav", keys=KEYS, record=tmp_path / "file")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "compare.jsonl").symlink_to(tmp_path / "file")
    with pytest.raises(SettingsError, match="is a link"):
        microagg.compare(DATA, 3, "mdav", keys=KEYS, record=tmp_path / "folder")


def test_progress_and_cancelling(tmp_path: Path) -> None:
    """What is finished when somebody stops the run is not lost; no thread goes on."""
    before = threading.active_count()
    seen = []

    def stop(progress: microagg.Progress) -> bool:
        seen.append(progress)
        return progress.done > 0.0

    with pytest.raises(Cancelled):
        microagg.compare(
            DATA, [3, 4, 5, 6, 7], "mdav+anneal:steps=20000000", keys=KEYS, record=tmp_path, progress=stop,
            threads=1, max_risk=0.5, subsets=["joint", "each"],
        )  # fmt: skip
    assert re.fullmatch(r"\d+ of 10 strategies", seen[-1].stage)
    assert 1 <= len(Journal(tmp_path / "compare.jsonl").entries()) < 10
    assert threading.active_count() == before


# --- outputs -----------------------------------------------------------------------------------------


def test_csv_can_be_read_again(tmp_path: Path) -> None:
    found = microagg.compare(DATA, [3, 5], "mdav", keys=KEYS, subsets=["joint", "each"])
    path = tmp_path / "results.csv"
    path.write_text(found.csv())
    again = csv.read_csv(path)
    assert again.column_names == found.table.column_names
    assert again["subsets"].to_pylist() == found.table["subsets"].to_pylist()
    assert again[LOSS].to_pylist() == found.table[LOSS].to_pylist()


def test_table() -> None:
    lines = str(microagg.compare(DATA, [3, 5], "mdav", keys=KEYS, max_risk=0.25)).splitlines()
    assert lines[0].startswith("2 strategies in ")
    assert lines[1].split() == ["k", "method", *USUAL]
    assert lines[2].split()[:2] == ["3", "mdav"]
    assert lines[2].endswith("undominated")
    assert lines[3].endswith("recommended")
    assert lines[-1].startswith("recommended: k = 5, mdav: least il among the 1 of 2")


def test_map() -> None:
    found = microagg.compare(DATA, [3, 5, 10], ["mdav", "ufs-fpc"], keys=KEYS)
    svg = found.svg()
    ElementTree.fromstring(svg)
    texts = re.findall(r">([^<]+)</text>", svg)
    assert {"mdav", "ufs-fpc", "recommended", "undominated", "k = 3", "k = 5", "k = 10"} <= set(texts)
    assert svg == found.svg()
    assert len(svg) < 100_000


def test_map_of_one_strategy_and_of_many() -> None:
    ElementTree.fromstring(microagg.compare(DATA, 3, "mdav", keys=KEYS).svg())
    many = microagg.compare(DATA, list(range(3, 30)), "mdav", keys=KEYS)
    ElementTree.fromstring(many.svg())


def test_map_needs_no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    found = microagg.compare(DATA, 3, "mdav", keys=KEYS)
    for package in ("jinja2", "markupsafe"):
        monkeypatch.setitem(sys.modules, package, None)
    assert "Risk and utility of 1 strategy;" in found.svg()


def test_grid() -> None:
    grid = strategies_of(CompareSettings(k=[3, 5, 3]), {"keys": [["a", "b"], ["c"]], "strata": ["s"]})
    assert [(each.k, each.method, each.split) for each in grid] == [
        (3, "mdav", "a, b | c"), (5, "mdav", "a, b | c"), (3, "auto", "a, b | c"), (5, "auto", "a, b | c")
    ]  # fmt: skip
    assert all(each.protection.accepts("partial") for each in grid)


def test_effort_is_for_the_methods_that_have_one() -> None:
    words = {"effort": "fast", "seconds": 5.0}
    found = strategies_of(CompareSettings(k=[3]), {"keys": ["a", "b"], **words})
    assert [each.protection.method.effort for each in found] == ["balanced", "fast"]
    assert [each.protection.method.seconds for each in found] == [None, 5.0]
    with pytest.raises(SettingsError, match="effort would have no effect on mdav or cbfs"):
        strategies_of(CompareSettings(k=[3], methods=("mdav", "cbfs")), {"keys": ["a", "b"], **words})


def test_a_plan_has_data_roles_and_policies(tmp_path: Path) -> None:
    """Not its k and method, which are compared; a column masked by itself is a subset."""
    plan = tmp_path / "plan.toml"
    DATA.to_csv(tmp_path / "people.csv", index=False, sep=";")
    plan.write_text(
        'input = "people.csv"\ndelimiter = ";"\nk = 7\nmethod = "vmdav"\nkeys = [["a", "b"]]\n'
        'each = ["c"]\nstrata = ["s"]\ndrop = ["name"]\nmissing = "by-pattern"\n'
        'accept = ["partial"]\n'
    )
    found = microagg.compare(plan=plan, methods="mdav")
    assert [(row["k"], row["method"], row["subsets"]) for row in found.rows] == [
        (3, "mdav", "a, b | c"), (5, "mdav", "a, b | c"), (10, "mdav", "a, b | c")
    ]  # fmt: skip
    beside = microagg.compare(DATA, 3, "mdav", plan=plan, keys=["b", "c"])
    assert beside.table.drop(["seconds"]) == microagg.compare(
        DATA, 3, "mdav", keys=["b", "c"], strata="s"
    ).table.drop(["seconds"])
    with refusal(SettingsError, "not_given", what="data"):
        microagg.compare(keys=KEYS)
