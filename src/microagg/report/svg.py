"""matplotlib's SVG adapted to a page: its colours and fonts, without ids or links of matplotlib's own."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

from markupsafe import Markup, escape

from microagg.report.installed import load_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, GRID, BEFORE, AFTER, PAPER = "#010101", "#010102", "#010103", "#010104", "#010105"
LOW, HIGH = "#010106", "#010107"
GROUPS = tuple(f"#01020{at}" for at in range(1, 7))
"""Placeholders that become CSS variables, since light and dark pages have different colours."""

_VARIABLES = {
    INK: "currentColor",
    GRID: "var(--grid)",
    BEFORE: "var(--before)",
    AFTER: "var(--after)",
    PAPER: "var(--paper)",
    LOW: "var(--low)",
    HIGH: "var(--high)",
    **{colour: f"var(--group-{at})" for at, colour in enumerate(GROUPS, 1)},
}

_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "microagg",
    "text.parse_math": False,
    "font.size": 11.5,
    "text.color": INK,
    "axes.edgecolor": GRID,
    "axes.labelcolor": INK,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
}


@contextmanager
def style() -> Iterator[None]:
    """Use our style, whatever the user's is, without warnings about letters that the fonts lack."""
    matplotlib = load_matplotlib()

    with catch_warnings(), matplotlib.rc_context():
        simplefilter("ignore")
        matplotlib.rcdefaults()
        for name, value in _STYLE.items():
            matplotlib.rcParams[name] = value
        yield


def draw_svg(
    width: int, height: int, draw: Callable[[Figure], object], label: str, prefix: str, widest: int
) -> Markup:
    """A chart of this size in pixels, with `label` as its text for screen readers.

    `prefix` makes its ids unique on the page; the page may stretch it to `widest` pixels.
    """
    load_matplotlib()
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(width / 72, height / 72), layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return _adapt_to_page(out.getvalue(), widest, label, prefix)


def _adapt_to_page(text: str, width: int, label: str, prefix: str) -> Markup:
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.S)
    box = re.search(r'viewBox="[^"]*"', text)
    head = (
        f'<svg role="img" aria-label="{escape(label)}" {box[0] if box else ""} style="max-width:{width}px"'
    )
    text = re.sub(r"<svg[^>]*", lambda _: head, text, count=1)
    text = text.replace("xlink:href", "href")
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', text))
    named = lambda found: f' id="{prefix}{found[1]}"' if found[1] in used else ""  # noqa: E731
    text = re.sub(r'\s+id="([^"]*)"', named, text)
    text = re.sub(r'((?:href="|url\()#)', rf"\g<1>{prefix}", text)
    text = re.sub(r"font: (?:\w+ )*?([\d.]+px)[^;\"]*", r"font-size: \1", text)
    text = re.sub(r"font-family:[^;\"]*;?", "", text)
    text = re.sub(r"#01\d{4}", lambda found: _VARIABLES[found[0]], text)
    text = re.sub(r'<style type="text/css">.*?</style>', "", text, flags=re.S)
    text = re.sub(r"<defs>\s*</defs>|\s+$", "", text, flags=re.M)
    return Markup(text)
