"""The picture of docs/quality.md: information loss against time, a panel for each reference set and k."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullLocator

from benchmarks.quality import yardsticks
from benchmarks.quality.data import BUDGETS
from benchmarks.quality.store import Results

DATA = ("tarragona", "census", "eia")
KS = (3, 4, 5, 10)
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: it can be searched and read aloud
    "svg.hashsalt": "microagg",  # otherwise names inside the file change from run to run
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
FOOT, BREAK, TOP = 0.08, 0.82, 0.93
"""Heights in a panel: where the lowest value lies, where the axis is broken, and where MDAV is drawn."""


@dataclass(frozen=True, slots=True)
class Level:
    """How a horizontal line looks. Dashes tell the lines apart where colours do not."""

    name: str
    colour: str
    dashes: tuple[float, tuple[float, ...]]


# Colours of Okabe and Ito, which people with any kind of colour vision can tell apart.
AUTO = "#0072B2"
MDAV = Level("MDAV", "#CC79A7", (0, (7, 2)))
LEVELS = {
    "icsm": Level("ICSM", "#D55E00", (0, (6, 2, 1, 2))),
    "descent": Level("descent", "#009E73", (0, (3, 1.5))),
    "published": Level("best published", "#000000", (0, (1, 1))),
}


def draw(results: Results, path: Path) -> None:
    """Write the picture in the format of the path's ending, without a date: equal results, equal bytes."""
    with rc_context(STYLE):
        figure = Figure(figsize=(10.5, 8.6))
        panels = figure.subplots(len(DATA), len(KS), sharex=True)
        for row, data in zip(panels, DATA, strict=True):
            for panel, k in zip(row, KS, strict=True):
                draw_panel(panel, results, data, k)
            row[0].set_ylabel("information loss, %")
        for panel in panels[-1]:
            panel.set_xlabel("seconds, one core")
        figure.legend(handles=legend(), loc="upper center", ncols=5, frameon=False, handlelength=3)
        figure.align_ylabels(panels[:, 0])
        figure.tight_layout(rect=(0, 0, 1, 0.95), w_pad=1.0, h_pad=1.2)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=100)


def legend() -> list[Line2D]:
    points = Line2D([], [], color=AUTO, marker="o", label="auto: median, range of seeds")
    lines = [
        Line2D([], [], color=level.colour, linestyle=level.dashes, linewidth=1.8, label=level.name)
        for level in (MDAV, *LEVELS.values())
    ]
    return [points, *lines]


# --- one panel --------------------------------------------------------------------------------


def draw_panel(panel: Axes, results: Results, data: str, k: int) -> None:
    """Points for what auto reached, lines for the others."""
    panel.set_title(f"{data}, k = {k}", fontsize=11, fontweight="bold")
    panel.set_xscale("log")
    panel.set_xlim(0.7, 86)
    panel.set_xticks(BUDGETS, [f"{budget:g}" for budget in BUDGETS])
    panel.xaxis.set_minor_locator(NullLocator())
    points = draw_points(panel, results, data, k)
    levels = draw_levels(panel, results, data, k)
    if not points:
        panel.text(0.5, 0.5, "auto: not run", transform=panel.transAxes, ha="center")
    if points or levels:
        set_scale(panel, min(points + levels), max(points + levels))
    mdav = results.median_loss(data, k, "mdav")
    if mdav is not None:
        draw_mdav(panel, mdav)


def draw_points(panel: Axes, results: Results, data: str, k: int) -> list[float]:
    """Medians over the seeds with whiskers from the least to the most; returns all values."""
    seen: list[float] = []
    medians: list[tuple[float, float]] = []
    for budget in BUDGETS:
        losses = [line["il"] for line in results.runs(data, k, "auto", budget)]
        middle = results.median_loss(data, k, "auto", budget)
        if middle is not None:
            panel.plot([budget] * 2, [min(losses), max(losses)], "_-", color=AUTO, markersize=9, zorder=3)
            medians.append((budget, middle))
            seen += losses
    if medians:
        panel.plot(*zip(*medians, strict=True), "o-", color=AUTO, linewidth=1, zorder=4)
    return seen


def draw_levels(panel: Axes, results: Results, data: str, k: int) -> list[float]:
    """Lines across the panel; returns their heights."""
    published = yardsticks.published().get((data, k))
    losses = {
        "icsm": results.median_loss(data, k, "icsm"),
        "descent": results.median_loss(data, k, "descent"),
        "published": float(published.loss) if published else None,
    }
    heights = {name: loss for name, loss in losses.items() if loss is not None}
    for name, loss in heights.items():
        level = LEVELS[name]
        panel.axhline(loss, color=level.colour, linestyle=level.dashes, linewidth=1.8)
    return list(heights.values())


def set_scale(panel: Axes, least: float, most: float) -> None:
    """Spread the values over the panel below the break."""
    whole = max(most - least, 1e-3 * most) / (BREAK - FOOT - 0.07)
    bottom = least - FOOT * whole
    panel.set_ylim(bottom, bottom + whole)
    highest = bottom + (BREAK - 0.03) * whole
    ticks = MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(bottom, highest)
    panel.set_yticks([tick for tick in ticks if bottom <= tick <= highest])


def draw_mdav(panel: Axes, loss: float) -> None:
    """MDAV lies so far up that on one scale with it nothing else could be told apart: the axis is broken
    below its line, which has the value beside it.
    """
    places: dict[str, Any] = {"transform": panel.transAxes, "clip_on": False}
    panel.plot([0, 1], [TOP, TOP], color=MDAV.colour, linestyle=MDAV.dashes, linewidth=1.8, **places)
    value = f"{loss:.3f}" if loss < 1.0 else f"{loss:.2f}"
    panel.text(0.99, TOP - 0.02, value, fontsize=10, ha="right", va="top", **places)
    # Two strokes over the axis, and white between them.
    strokes = (BREAK, BREAK + 0.03)
    panel.plot([0, 0], strokes, color="white", linewidth=3, zorder=5, **places)
    for height in strokes:
        ends = [height - 0.012, height + 0.012]
        panel.plot([-0.03, 0.03], ends, color="black", linewidth=0.8, zorder=6, **places)
