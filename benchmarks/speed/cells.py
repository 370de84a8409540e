"""Figures of lines as the page shows them."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.markdown import NOT_RUN
from benchmarks.speed.cases import CASES
from benchmarks.speed.overview import quotient
from benchmarks.speed.store import Line, Results


def shown(value: float | None, unit: str = "") -> str:
    """Three digits, fewer where they would be fractions of milliseconds; what is missing was not run."""
    if value is None:
        return NOT_RUN
    if abs(value) >= 1000:
        text = f"{value:,.0f}"
    elif abs(value) >= 100:
        text = f"{value:.0f}"
    elif abs(value) >= 10:
        text = f"{value:.1f}"
    elif abs(value) >= 1:
        text = f"{value:.2f}"
    else:
        text = f"{value:.2g}" if abs(value) < 0.1 else f"{value:.3f}"
    return f"{text}{'' if unit in ('', '×') else ' '}{unit}"


def times(slow: float | None, fast: float | None) -> str:
    """`12×`."""
    ratio = quotient(slow, fast)
    return NOT_RUN if ratio is None else shown(ratio, "×")


def lines_of(results: Results, part: str) -> Iterator[tuple[Line, Line | None]]:
    """The settings of the part's cases with their lines; cases that want to be asked for only if run."""
    for case in CASES.values():
        if case.part == part:
            line = results.line(part, **case.settings)
            if line is not None or not case.asked:
                yield case.settings, line


def cells(line: Line | None, *names: str) -> list[str]:
    """Figures of a line, or as often that there are none."""
    return [shown(None if line is None else line.get(name)) for name in names]
