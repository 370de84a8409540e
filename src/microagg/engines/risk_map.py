"""The risk-utility map: every strategy as a point, and the line of those that no other beats."""

from __future__ import annotations

import io
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from microagg import errors
from microagg.measure import MEASURES

if TYPE_CHECKING:
    from microagg.engines.comparing import Comparison

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Of Okabe and Ito, which all can tell apart."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""Shapes tell methods apart where colours do not."""

MOST_LABELS = 24
"""With more points, only those on the line are labelled."""

GREY = "#666666"


def check_drawing() -> None:
    """`MissingExtra` without matplotlib."""
    if find_spec("matplotlib") is None:
        raise errors.needs_extra("Drawing the map", "matplotlib", "report")


def risk_map(comparison: Comparison, loss: str = "il", risk: str = "linkage_distance") -> str:
    """The text of an SVG file. `MissingExtra` without matplotlib."""
    check_drawing()
    import matplotlib
    from matplotlib.figure import Figure

    rows = [row for row in comparison.rows if row[loss] is not None and row[risk] is not None]
    look: Any = {"svg.fonttype": "none", "svg.hashsalt": "microagg", "font.family": "sans-serif"}
    with matplotlib.rc_context(look):
        figure = Figure(figsize=(8.0, 5.5), layout="constrained")
        axes = figure.add_subplot()
        _draw_line(axes, sorted((row[loss], row[risk]) for row in rows if row["undominated"]))
        _draw_points(axes, rows, loss, risk)
        best = comparison.recommended
        axes.scatter(
            [best[loss]], [best[risk]], s=220, facecolors="none", edgecolors="black", linewidths=1.6,
            label="recommended", zorder=4,
        )  # fmt: skip
        axes.set_xlabel(_axis(loss))
        axes.set_ylabel(_axis(risk))
        axes.set_title(f"Risk and utility of {len(rows)} strategies", loc="left", fontweight="bold")
        axes.margins(0.12)
        axes.set_xlim(left=max(0.0, axes.get_xlim()[0]))
        axes.set_ylim(bottom=max(0.0, axes.get_ylim()[0]))
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        _label(axes, rows, loss, risk)
        axes.legend(loc="best", framealpha=0.9, fontsize=9)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Title": "Risk-utility map"})
    return text.getvalue()


def _axis(name: str) -> str:
    measure = MEASURES[name]
    unit = f", {measure.unit}" if measure.unit else ""
    return f"{measure.title} ({name}{unit}); higher means {measure.higher}"


def _draw_line(axes: Any, points: list[tuple[float, float]]) -> None:
    """Between the undominated strategies: none was found that has less of both."""
    if len(points) > 1:
        across, up = zip(*points, strict=True)
        axes.plot(across, up, color=GREY, linewidth=1.2, linestyle="--", label="undominated")


def _draw_points(axes: Any, rows: list[Any], loss: str, risk: str) -> None:
    styles = list(dict.fromkeys((row["method"], row["subsets"]) for row in rows))
    several = len({subsets for _, subsets in styles}) > 1
    for at, (method, subsets) in enumerate(styles):
        own = [row for row in rows if (row["method"], row["subsets"]) == (method, subsets)]
        axes.scatter(
            [row[loss] for row in own],
            [row[risk] for row in own],
            s=46,
            color=COLOURS[at % len(COLOURS)],
            marker=MARKERS[(at + at // len(COLOURS)) % len(MARKERS)],
            label=f"{method}, {subsets}" if several else method,
            zorder=3,
        )


def _label(axes: Any, rows: list[Any], loss: str, risk: str) -> None:
    """The k of each point, on that side of it which has most room."""
    chosen = rows if len(rows) <= MOST_LABELS else [row for row in rows if row["undominated"]]
    to_screen = axes.transData.transform
    points = [to_screen((row[loss], row[risk])) for row in rows]
    for row in chosen:
        own = to_screen((row[loss], row[risk]))
        sides = ((9, 5, "left"), (-9, 5, "right"), (9, -12, "left"), (-9, -12, "right"))
        dx, dy, side = max(sides, key=lambda side: _room(own, side, points))
        axes.annotate(
            f"k = {row['k']}",
            (row[loss], row[risk]),
            xytext=(dx, dy),
            textcoords="offset points",
            ha=side,
            fontsize=9,
            color="#222222",
        )


def _room(own: Any, side: tuple[int, int, str], points: list[Any]) -> float:
    """How far the middle of a label would be from the nearest other point."""
    dx, dy, _ = side
    x, y = own[0] + 2.4 * dx, own[1] + dy
    return min(((x - p[0]) ** 2 + (y - p[1]) ** 2 for p in points if p is not own), default=0.0)
