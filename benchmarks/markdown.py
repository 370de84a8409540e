"""Tables of the generated pages."""

from __future__ import annotations

from collections.abc import Iterable

NOT_RUN = "not run"


def grid(headings: Iterable[str], rows: Iterable[Iterable[str]], words: int = 1) -> str:
    """A table. The first `words` columns are aligned left, as text; the others right, as numbers."""
    heads = list(headings)
    rule = ["---"] * words + ["---:"] * (len(heads) - words)
    lines = [heads, rule, *(list(row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
