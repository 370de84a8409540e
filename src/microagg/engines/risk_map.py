"""The risk-utility map: every strategy as a point, and the line of those that no other beats."""

from __future__ import annotations

import io
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from microagg import wording
from microagg.measure import MEASURES
from microagg.report import load_matplotlib

if TYPE_CHECKING:
    from microagg.engines.comparing import Comparison

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""The colours of Okabe and Ito, which colour-blind readers can distinguish."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""Shapes distinguish methods where colours do not."""

MOST_LABELS = 24
"""With more points, only those on the line are labelled."""

NEAR = 6.0
"""Points so near, on the screen, are labelled together."""

GREY = "#666666"


def check_drawing() -> None:
    """`MissingExtra` without matplotlib."""
    if find_spec("matplotlib") is None:
        raise wording.needs_extra("Drawing the map", "matplotlib", "report")


def risk_map(comparison: Comparison, loss: str = "il", risk: str = "linkage_distance") -> str:
    """The text of an SVG file. `MissingExtra` without matplotlib."""
    check_drawing()
    matplotlib = load_matplotlib()
    from matplotlib.figure import Figure

    rows = [row for row in comparison.rows if row[loss] is not None and row[risk] is not None]
    best = comparison.recommended
    look: Any = {"svg.fonttype": "none", "svg.hashsalt": "microagg", "font.family": "sans-serif"}
    with matplotlib.rc_context(look):
        figure = Figure(figsize=(8.0, 6.0), layout="constrained")
        axes = figure.add_subplot()
        _draw_line(axes, sorted({(row[loss], row[risk]) for row in rows if row["undominated"]}))
        _draw_points(axes, rows, loss, risk)
        axes.scatter(
            [best[loss]], [best[risk]], s=220, facecolors="none", edgecolors="black", linewidths=1.6,
            label="recommended", zorder=4,
        )  # fmt: skip
        axes.set_xlabel(_axis(loss))
        axes.set_ylabel(_axis(risk))
        title = f"Risk and utility of {len(rows)} strategies; lower left is better"
        axes.set_title(title, loc="left", fontweight="bold")
        axes.margins(0.12)
        axes.set_xlim(left=max(0.0, axes.get_xlim()[0]))
        axes.set_ylim(bottom=max(0.0, axes.get_ylim()[0]))
        _draw_limit(axes, comparison.limit)
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        _label(axes, rows, loss, risk)
        entries = len(axes.get_legend_handles_labels()[1])
        figure.legend(loc="outside lower center", ncols=2 if entries > 5 else entries, fontsize=9)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Title": "Risk-utility map"})
    return text.getvalue()


def _axis(name: str) -> str:
    measure = MEASURES[name]
    return f"{measure.title} ({name}{f', {measure.unit}' if measure.unit else ''})"


def _draw_line(axes: Any, points: list[tuple[float, float]]) -> None:
    """Steps along the undominated strategies: none was found below them and to their left."""
    if len(points) > 1:
        across, up = zip(*points, strict=True)
        axes.plot(
            across, up, drawstyle="steps-post", color=GREY, linewidth=1.2, linestyle="--",
            label="undominated",
        )  # fmt: skip


def _draw_limit(axes: Any, limit: float) -> None:
    """The largest risk that is accepted, if it is near what is shown."""
    low, high = axes.get_ylim()
    if limit <= high:
        axes.set_ylim(min(low, 0.9 * limit), high)
        axes.axhline(limit, color=GREY, linewidth=1.0, linestyle=":", label=f"largest risk {limit:g}")


def _draw_points(axes: Any, rows: list[Any], loss: str, risk: str) -> None:
    """Methods differ in shape; ways to split the keys in colour, or else methods in both."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    splits = list(dict.fromkeys(row["subsets"] for row in rows))
    for split in splits:
        for method in methods:
            own = [row for row in rows if (row["method"], row["subsets"]) == (method, split)]
            colour = splits.index(split) if len(splits) > 1 else methods.index(method)
            if own:
                axes.scatter(
                    [row[loss] for row in own],
                    [row[risk] for row in own],
                    s=46,
                    color=COLOURS[colour % len(COLOURS)],
                    marker=MARKERS[methods.index(method) % len(MARKERS)],
                    label=f"{method}: {split}" if len(splits) > 1 else method,
                    zorder=3,
                )


def _label(axes: Any, rows: list[Any], loss: str, risk: str) -> None:
    """The k of each point, on that side of it which has most room; strategies at one place share it."""
    places: list[tuple[Any, list[Any]]] = []
    for row in rows:
        at = axes.transData.transform((row[loss], row[risk]))
        near = [own for place, own in places if abs(place - at).max() < NEAR]
        if near:
            near[0].append(row)
        else:
            places.append((at, [row]))
    for place, own in places:
        if len(places) > MOST_LABELS and not any(row["undominated"] for row in own):
            continue
        others = [other for other, _ in places if other is not place]
        sides = ((10, 6, "left"), (-10, 6, "right"), (10, -13, "left"), (-10, -13, "right"))
        dx, dy, side = max(sides, key=lambda side: _room(place, side, others))
        axes.annotate(
            f"k = {', '.join(map(str, sorted({row['k'] for row in own})))}",
            (own[0][loss], own[0][risk]),
            xytext=(dx, dy),
            textcoords="offset points",
            ha=side,
            fontsize=9,
            color="#222222",
        )


def _room(own: Any, side: tuple[int, int, str], others: list[Any]) -> float:
    """How far the middle of a label would be from the nearest other point."""
    x, y = own[0] + 2.4 * side[0], own[1] + side[1]
    return min(((x - each[0]) ** 2 + (y - each[1]) ** 2 for each in others), default=0.0)
