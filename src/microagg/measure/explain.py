"""Measures in words: for `microagg explain`, for tooltips, and for docs/measures.md."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

from microagg import wording
from microagg.measure import MEASURES
from microagg.measure.catalogue import Measure

KINDS = {
    "utility": "Utility: what the release keeps of the data",
    "risk": "Risk: what the release may disclose",
}

WIDTH = 100

INTRODUCTION = """\
# Measures

All measures that [`microagg assess`](assess.md) computes, with their definitions. The headings are the
names that `--measures`, `--json` and `microagg explain` use. `python -m benchmarks.measures` writes this
page from the descriptions in the code.
"""


def fields(measure: Measure) -> dict[str, str]:
    """What is said about a measure, by what it is called."""
    return {
        "definition": measure.definition,
        "formula": measure.formula,
        "unit": measure.unit or "none",
        "range": measure.range,
        "higher means": measure.higher,
        "reference": measure.reference,
    }


def measure_named(name: str, measures: Mapping[str, Measure] = MEASURES) -> Measure:
    """`SettingsError` with the nearest names if there is none of this name."""
    if name not in measures:
        raise wording.unknown_measure(name, list(measures))
    return measures[name]


def explained(name: str, measures: Mapping[str, Measure] = MEASURES) -> str:
    """One measure, as people read it in a terminal."""
    measure = measure_named(name, measures)
    said = fields(measure)
    wide = max(map(len, said))
    lines = [f"{name}: {measure.title} ({measure.kind})"]
    for word, text in said.items():
        lines += textwrap.wrap(
            text, WIDTH, initial_indent=f"  {word:<{wide}}  ", subsequent_indent=" " * (wide + 4)
        )
    return "\n".join(lines)


def listed(measures: Mapping[str, Measure] = MEASURES) -> str:
    """The names of all measures with their titles, utility and risk apart."""
    wide = max(map(len, measures), default=0)
    parts = []
    for kind, title in KINDS.items():
        own = [f"  {name:<{wide}}  {each.title}" for name, each in measures.items() if each.kind == kind]
        parts.append("\n".join([title, *own]))
    return "\n\n".join(parts)


def page(measures: Mapping[str, Measure] = MEASURES) -> str:
    """docs/measures.md."""
    return "\n".join([INTRODUCTION, *_sections(measures)])


def _sections(measures: Mapping[str, Measure]) -> Iterator[str]:
    for kind, title in KINDS.items():
        yield f"## {title}\n"
        for name, measure in measures.items():
            if measure.kind != kind:
                continue
            said = fields(measure)
            yield f"### {name}\n\n**{measure.title}.** {_inline(said.pop('definition'))}\n"
            yield f"    {said.pop('formula')}\n"
            yield "\n".join(f"- *{word}*: {_inline(text)}" for word, text in said.items()) + "\n"


def _inline(text: str) -> str:
    """Signs that Markdown would take for its own."""
    return "".join(f"\\{sign}" if sign in "*_|<>[]" else sign for sign in text)
