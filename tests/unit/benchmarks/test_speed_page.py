"""The page of `benchmarks.speed` shows what was measured, and "not run" for the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.speed import cases, overview, pictures
from benchmarks.speed.curves import CURVES
from benchmarks.speed.page import page
from benchmarks.speed.store import Results


def results_of(folder: Path, **figures_of_cases: dict[str, Any]) -> Results:
    results = Results(folder / "results.jsonl")
    for name, figures in figures_of_cases.items():
        results.add({"case": name, "at": "2020-01-01", "machine": "a machine", "busy": False, **figures})
    return results


def test_without_lines_nothing_was_run(tmp_path: Path) -> None:
    text = page(results_of(tmp_path))
    assert "Nothing was run yet" in text
    section = text.split("## Overview")[1].split("## Growth")[0]
    assert section.count("| not run |") == len(list(overview.figures()))
    pictures.draw_all(results_of(tmp_path), tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.svg")) == ["growth.svg", "memory.svg", "peers.svg"]


def test_the_overview_shows_what_was_measured(tmp_path: Path) -> None:
    name = "mdav n=10000 k=3 engine=auto"
    text = page(results_of(tmp_path, **{name: {"cpu": 0.02, "above": 1.0}}))
    assert "| exact MDAV, 10,000, k = 3 | 0.02 CPU s |" in text
    assert "Measured on a machine, 2020-01-01." in text


def test_a_missing_peer_has_its_reason(tmp_path: Path) -> None:
    results = results_of(tmp_path, **{"sdcmicro n=10000 k=3": {"not_run": "no R"}})
    assert "not run: no R" in page(results)
    assert results.line("sdcmicro", n=10_000, k=3) is None


def test_the_last_line_of_a_case_counts(tmp_path: Path) -> None:
    results_of(tmp_path, **{"start": {"import": 1.0, "help": 1.0}})
    results_of(tmp_path, **{"start": {"import": 2.0, "help": 2.0}})
    assert Results(tmp_path / "results.jsonl").figure("import", "start") == 2.0


def test_exponents(tmp_path: Path) -> None:
    [curve] = [curve for curve in CURVES if curve.title == "exact MDAV, k = 3"]
    lines = {cases.name_of("mdav", n=n, **curve.settings): {"cpu": n**1.5} for n in curve.every_n()}
    results = results_of(tmp_path, **lines)
    assert curve.exponent(results) == pytest.approx(1.5)
    assert curve.last_decade(results) == pytest.approx(1.5)
    assert CURVES[1].exponent(results) is None


def test_choosing_cases() -> None:
    everything = cases.chosen([])
    assert {case.part for case in everything} == set(cases.PARTS)
    assert not any(case.asked for case in everything)
    assert [case.name for case in cases.chosen(["start"])] == ["start"]
    others = cases.chosen(["engines method=cbfs data=*n=10000 k=3"])
    assert others
    assert all(case.settings["method"] == "cbfs" for case in others)
    with pytest.raises(SystemExit, match="no case"):
        cases.chosen(["nonsense"])
