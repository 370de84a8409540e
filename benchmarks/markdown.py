"""What the generated pages share."""

from __future__ import annotations

from collections.abc import Iterable

NOT_RUN = "not run"


def grid(headings: Iterable[str], rows: Iterable[Iterable[str]], words: int = 1) -> str:
    """A table whose first `words` columns are words and the others numbers."""
    heads = list(headings)
    rule = ["---"] * words + ["---:"] * (len(heads) - words)
    lines = [heads, rule, *(list(row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def tally(verdicts: list[str]) -> str:
    """`met 30, missed 4, not run 2`."""
    return ", ".join(f"{word} {verdicts.count(word)}" for word in dict.fromkeys(sorted(verdicts)))


def verdict(good: bool) -> str:
    return "met" if good else "missed"
