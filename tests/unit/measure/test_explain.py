"""Measures in words, and the page made of them."""

from __future__ import annotations

import pytest
from benchmarks.measures import PAGE

from microagg.errors import SettingsError
from microagg.measure import MEASURES
from microagg.measure.explain import explain_measure, list_measures, measure_named, measures_page


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


def test_utility_comes_first() -> None:
    kinds = [measure.kind for measure in MEASURES.values()]
    assert kinds == sorted(kinds, reverse=True)
