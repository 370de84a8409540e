"""Write docs/measures.md from the descriptions of the measures: python -m benchmarks.measures."""

from __future__ import annotations

from pathlib import Path

from microagg.measure.explain import measures_page

PAGE = Path(__file__).parents[1] / "docs" / "measures.md"

if __name__ == "__main__":
    PAGE.write_text(measures_page(), encoding="utf-8")
