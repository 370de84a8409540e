"""Write docs/measures.md from the descriptions of the measures: python -m benchmarks.measures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from microagg.measure import MEASURES, MOST_IMPORTANT
from microagg.measure.explain import FIRST, KINDS, described_fields

PAGE = Path(__file__).parents[1] / "docs" / "measures.md"

INTRODUCTION = """\
# Measures

All measures that [`microagg assess`](assess.md) computes, with their definitions. The headings are the
names that `--measures`, `--json` and `microagg explain` use. Shares are shown in percent.
`python -m benchmarks.measures` writes this page from the descriptions in the code.
"""


def measures_page() -> str:
    """The text of docs/measures.md."""
    return "\n".join([INTRODUCTION, *_sections()])


def _sections() -> Iterator[str]:
    yield f"## {FIRST}\n"
    for name in MOST_IMPORTANT:
        yield f"- [{name}](#{name}): {MEASURES[name].sentence.format(value='*x*', allowed='*y*')}"
    yield ""
    for kind, title in KINDS.items():
        yield f"## {title}\n"
        for name, measure in MEASURES.items():
            if measure.kind != kind:
                continue
            described = described_fields(measure)
            yield f"### {name}\n\n**{measure.title}.** {_inline(described.pop('definition'))}\n"
            yield f"    {described.pop('formula')}\n"
            yield "\n".join(f"- *{field}*: {_inline(text)}" for field, text in described.items()) + "\n"


def _inline(text: str) -> str:
    """Escape signs that have a meaning in Markdown."""
    return "".join(f"\\{sign}" if sign in "*_|<>[]" else sign for sign in text)


if __name__ == "__main__":
    PAGE.write_text(measures_page(), encoding="utf-8")
