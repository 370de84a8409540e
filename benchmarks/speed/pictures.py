"""The pictures of docs/speed.md: growth, memory, and times faster than each peer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from benchmarks.quality.picture import STYLE
from benchmarks.speed.cases import CASES
from benchmarks.speed.cells import shown
from benchmarks.speed.curves import CURVES, Curve
from benchmarks.speed.store import Results

# Colours of Okabe and Ito; markers tell curves apart where colours do not.
LOOKS: dict[str, tuple[str, str]] = {
    "exact MDAV, k = 3": ("#0072B2", "o"),
    "exact MDAV, k = 10": ("#56B4E9", "s"),
    "exact MDAV by brute force, k = 3": ("#CC79A7", "x"),
    "blocks, k = 3": ("#009E73", "^"),
    "neighbour lists (20)": ("#D55E00", "D"),
    "univariate optimum, k = 3": ("#000000", "v"),
    "univariate optimum, k = 100": ("#999999", "P"),
}
BYTES_OF_A_RECORD = 13 * 8


def draw_all(results: Results, folder: Path) -> None:
    """Write every picture without a date: equal results, equal bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    with rc_context(STYLE):
        for name, draw in (("growth", draw_growth), ("memory", draw_memory), ("peers", draw_peers)):
            figure = Figure(figsize=(9.0, 5.0))
            draw(figure.subplots(), results)
            figure.tight_layout()
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})


def drawn_curves() -> list[Curve]:
    return [curve for curve in CURVES if curve.title in LOOKS]


def draw_curves(panel: Axes, results: Results, what: str, labels: dict[str, str]) -> None:
    """Both axes logarithmic."""
    for curve in drawn_curves():
        pairs = [(n, y) for n, y in curve.measured(results, what) if y > 0.0]
        colour, marker = LOOKS[curve.title]
        if pairs:
            panel.plot(*zip(*pairs, strict=True), color=colour, marker=marker, label=labels[curve.title])
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlabel("records")
    panel.grid(color="#DDDDDD", linewidth=0.6)
    panel.set_axisbelow(True)


def draw_growth(panel: Axes, results: Results) -> None:
    """CPU seconds over n, with the exponents in the legend."""
    labels = {}
    for curve in drawn_curves():
        exponent = curve.exponent(results)
        labels[curve.title] = curve.title + ("" if exponent is None else f": n^{exponent:.2f}")
    draw_curves(panel, results, "cpu", labels)
    panel.set_ylabel("CPU seconds, one thread")
    legend(panel)


def draw_memory(panel: Axes, results: Results) -> None:
    """MiB above the data over n, with the size of the data to compare."""
    draw_curves(panel, results, "above", {curve.title: curve.title for curve in drawn_curves()})
    ends = (1_000, 10_000_000)
    sizes = [BYTES_OF_A_RECORD * n / 2**20 for n in ends]
    panel.plot(ends, sizes, color="#000000", linestyle=(0, (1, 1)), label="the data, 13 attributes")
    panel.set_ylabel("MiB above the data")
    legend(panel)


def legend(panel: Axes) -> None:
    if panel.lines:
        low, high = panel.get_ylim()
        panel.set_ylim(low, high * (high / low) ** 0.3)  # room for it
        panel.legend(frameon=False, fontsize=9, loc="upper left")


def draw_peers(panel: Axes, results: Results) -> None:
    """Bars: how many times faster than each peer."""
    bars = list(ratios(results))
    names = [name for name, _ in bars]
    values = [value for _, value in bars]
    panel.barh(range(len(bars)), values, color="#0072B2", height=0.65)
    for place, value in enumerate(values):
        panel.text(value * 1.05, place, shown(value, "×"), va="center", fontsize=9)
    panel.set_yticks(range(len(bars)), names, fontsize=9)
    panel.yaxis.set_minor_locator(NullLocator())
    panel.invert_yaxis()
    if values:
        panel.set_xscale("log")
        panel.set_xlim(min(1.0, *values), 3.5 * max(values))
    panel.axvline(1.0, color="#000000", linewidth=0.8)
    panel.set_xlabel("times faster, CPU seconds of one thread")


OURS = {
    "microagg1d": ("kernel",),
    "k-means-constrained": ("mdav", "descent"),
    "scikit-learn": ("exact",),
    "sdcmicro": ("cpu",),
}
"""Which of our figures of a part's lines are drawn."""


def ratios(results: Results) -> Iterator[tuple[str, float]]:
    """A name for each bar, and its length; none where ours loses more."""
    for case in CASES.values():
        line = results.line(case.part, **case.settings)
        if line is None or case.part not in OURS:
            continue
        k = f", k = {case.settings['k']}" if "k" in case.settings else ""
        theirs = min(line["theirs"], line.get("their_brute", line["theirs"]))
        for what in OURS[case.part]:
            if line.get(f"{what}_il", line.get("il", 0.0)) > line.get("their_il", 0.0):
                continue
            ours = f", {what}" if len(OURS[case.part]) > 1 else ""
            yield f"{case.part}, {case.settings['n']:,}{k}{ours}", theirs / line[what]
