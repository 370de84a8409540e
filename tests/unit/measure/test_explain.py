"""Measures in words, and the page made of them."""

from __future__ import annotations

import math

import pytest
from benchmarks.measures import PAGE, measures_page

from microagg.errors import SettingsError
from microagg.measure import MEASURES, MOST_IMPORTANT
from microagg.measure.explain import explain_measure, list_measures, measure_named
from microagg.measure.pair import MeasureResult


def test_the_page_is_up_to_date() -> None:
    """`python -m benchmarks.measures` writes it anew."""
    assert PAGE.read_text(encoding="utf-8") == measures_page()


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_is_explained(name: str) -> None:
    text = explain_measure(name)
    measure = MEASURES[name]
    assert text.startswith(f"{name}: {measure.title} ({measure.kind})")
    for word in ("definition", "formula", "unit", "range", "higher means", "reference"):
        assert f"\n  {word}" in text
    assert name in list_measures()
    assert f"### {name}\n" in measures_page()
    assert all((measure.definition, measure.formula, measure.range, measure.higher, measure.reference))
    assert measure.definition.endswith(".")


def test_unknown_measures_have_near_names() -> None:
    with pytest.raises(SettingsError, match=r"no measure 'il2s' \(did you mean il1s"):
        measure_named("il2s")


def test_the_most_important_come_first_and_then_utility() -> None:
    """Each of them has a place of its own, and a sentence that begins with the value."""
    first = [MEASURES[name] for name in MOST_IMPORTANT]
    assert [measure.first for measure in first] == list(range(1, len(first) + 1))
    assert list(MEASURES)[: len(first)] == MOST_IMPORTANT
    assert all(measure.sentence.startswith("{value} ") for measure in first)
    assert all(measure.sentence.endswith(".") for measure in first)
    others = [measure for measure in MEASURES.values() if measure.first is None]
    assert not any(measure.sentence for measure in others)
    kinds = [measure.kind for measure in others]
    assert kinds == sorted(kinds, reverse=True)


def test_values_as_they_are_shown() -> None:
    """Shares in percent, numbers with commas, one record as one."""
    assert MEASURES["linkage_distance"].shown(0.3124) == "31.24 %"
    assert MEASURES["k_anonymity"].shown(12345.0) == "12,345 records"
    assert MEASURES["k_anonymity"].shown(1.0) == "1 record"
    assert MEASURES["il1s"].shown(0.25) == "0.25"
    assert MEASURES["il"].shown(math.nan) == "–"
    counts = MeasureResult(3.0, {"classes": 7.0, "unique records": 1.0}, others=("classes",))
    assert MEASURES["k_anonymity"].shown_part(counts, "classes") == "7"
    assert MEASURES["k_anonymity"].shown_part(counts, "unique records") == "1 record"


def test_a_sentence_says_the_note_where_there_is_no_value() -> None:
    linkage = MEASURES["linkage_distance"]
    value, rest = linkage.said(MeasureResult(0.25, allowed=0.2))
    assert value == "25 %"
    assert rest.endswith("alone allows 20 %.")
    assert linkage.said(MeasureResult(math.nan, {}, "Why not.")) == ("–", "Why not.")
