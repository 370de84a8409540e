"""Descriptions of measures: for `microagg explain`, for tooltips, and for docs/measures.md, which
`benchmarks/measures.py` writes.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from microagg import wording
from microagg.measure import MEASURES, MOST_IMPORTANT
from microagg.measure.descriptions import Measure

KINDS = {
    "utility": "Utility: what the release keeps of the data",
    "risk": "Risk: what the release may disclose",
}

WIDTH = 100

FIRST = "Most important: shown first"


def described_fields(measure: Measure) -> dict[str, str]:
    """The parts of a measure's description, by their names for readers."""
    described = {
        "definition": measure.definition,
        "formula": measure.formula,
        "unit": measure.unit or "none",
        "range": measure.range,
        "higher means": measure.higher,
        "reference": measure.reference,
    }
    if measure.numbers_only:
        described["keys"] = "numbers and dates; categories are left out"
    return described


def measure_named(name: str, measures: Mapping[str, Measure] = MEASURES) -> Measure:
    """`SettingsError` with the nearest names if there is none of this name."""
    if name not in measures:
        raise wording.unknown_measure(name, list(measures))
    return measures[name]


def explain_measure(name: str) -> str:
    """The description of one measure for a terminal."""
    measure = measure_named(name)
    described = described_fields(measure)
    wide = max(map(len, described))
    lines = [f"{name}: {measure.title} ({measure.kind})"]
    for field, text in described.items():
        lines += textwrap.wrap(
            text, WIDTH, initial_indent=f"  {field:<{wide}}  ", subsequent_indent=" " * (wide + 4)
        )
    return "\n".join(lines)


def list_measures() -> str:
    """The names of all measures with their titles: the most important ones, then utility and risk apart."""
    wide = max(map(len, MEASURES))
    lines = {name: f"  {name:<{wide}}  {each.title}" for name, each in MEASURES.items()}
    parts = ["\n".join([FIRST, *(lines[name] for name in MOST_IMPORTANT)])]
    for kind, title in KINDS.items():
        own = [lines[name] for name, each in MEASURES.items() if each.kind == kind and each.first is None]
        parts.append("\n".join([title, *own]))
    return "\n\n".join(parts)
