"""The charts of the pages, each with a text for screen readers and a table of its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from microagg.report.facts import Codes, Subset, Values
from microagg.report.formatting import clean, count, listed, number, percent, short, tick
from microagg.report.svg import AFTER, BEFORE, GRID, GROUPS, HIGH, INK, LOW, PAPER, draw_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BINS = 30
MOST_SIZES = 30
"""If there are more different sizes of groups, they are drawn in bins."""
DRAWN_RECORDS = 600
"""Records in a chart of groups, at most."""
MOST_FILLED = 0.55
"""Opacity of a correlation of 1, on which letters stay readable in light and dark."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart, its caption, and its numbers as a table."""

    svg: Markup
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    text: tuple[int, ...] = (0,)
    """Columns of the table that hold text, which is aligned to the left."""


class Album:
    """Draws the charts of one page and numbers them."""

    def __init__(self) -> None:
        self._count = 0

    def histogram(self, column: str, after: Values, before: Values | None = None) -> Picture | None:
        """Histogram of a column, with the source's if that may be shown; None if there are no values."""
        column = clean(column)
        after, before = _present(after), None if before is None else _present(before)
        every = after if before is None else np.concatenate([before, after])
        if len(after) == 0:
            return None
        unit = _unit(every)
        after = after / unit
        before = None if before is None else before / unit
        edges, logarithmic = _edges(after if before is None else before, every / unit)
        new, _ = np.histogram(after, edges)
        old = None if before is None else np.histogram(before, edges)[0]

        def draw(figure: Any) -> None:
            axes = figure.add_subplot()
            if old is None:
                axes.stairs(new, edges, fill=True, color=BEFORE, alpha=0.6)
            else:
                axes.stairs(old, edges, fill=True, color=BEFORE, alpha=0.4)
                axes.stairs(new, edges, color=AFTER, linewidth=1.8)
            axes.set_ylim(bottom=0)
            if logarithmic:
                axes.set_xscale("log")
            _ticks(axes, not logarithmic)
            axes.set_ylabel("records")
            if unit != 1.0:
                axes.set_xlabel(f"in units of {unit:.0e}")

        what = "as released" if before is None else "before and after masking"
        caption = f"{column}: {count(len(after), 'record')}" + (", logarithmic axis" if logarithmic else "")
        label = (
            f"Histogram of {column}, {what}: {count(len(after), 'value')} in "
            f"{len(edges) - 1} intervals; the table below it has the numbers."
        )
        header = ("from", "to", "released") if old is None else ("from", "to", "before", "after")
        counts = (new,) if old is None else (old, new)
        rows = tuple(
            (number(low * unit, 4), number(high * unit, 4), *(number(float(each[at])) for each in counts))
            for at, (low, high) in enumerate(pairwise(edges))
        )
        svg = self._draw(320, 190, draw, label)
        return Picture(svg, caption, header, rows, text=())

    def sizes(self, sizes: Codes, what: str) -> Picture:
        """Bar chart of the sizes of groups, or of combinations of keys."""
        values, counts = np.unique(sizes, return_counts=True)
        if len(values) > MOST_SIZES:
            counts, edges = np.histogram(
                sizes, np.unique(np.linspace(values[0], values[-1] + 1, 21).astype(int))
            )
            names = [
                f"{low:,} to {high - 1:,}" if high - 1 > low else f"{low:,}"
                for low, high in pairwise(edges)
            ]
        else:
            names, edges = [f"{value:,}" for value in values], None

        def draw(figure: Any) -> None:
            axes = figure.add_subplot()
            if edges is None:
                axes.bar(range(len(values)), counts, width=0.8, color=BEFORE, alpha=0.6)
                step = -(-len(values) // 12)
                axes.set_xticks(range(0, len(values), step), names[::step])
            else:
                axes.stairs(counts, edges, fill=True, color=BEFORE, alpha=0.6)
            _ticks(axes, False)
            axes.set_xlabel("records")
            axes.set_ylabel(what)

        label = (
            f"Bar chart of sizes: {len(sizes):,} {what}, the smallest with "
            f"{count(int(values[0]), 'record')}, the largest with {values[-1]:,}."
        )
        rows = tuple((name, number(float(each))) for name, each in zip(names, counts, strict=True))
        svg = self._draw(420, 210, draw, label)
        return Picture(svg, f"Sizes of {len(sizes):,} {what}", ("records", what), rows, text=())

    def losses(self, losses: Sequence[tuple[str, float]]) -> Picture:
        names = [name for name, _ in losses]
        values = [value for _, value in losses]

        def draw(figure: Any) -> None:
            axes = figure.add_subplot()
            colours = [AFTER if at == 0 else BEFORE for at in range(len(values))]
            axes.barh(names, values, height=0.6, color=colours, alpha=0.6)
            for at, value in enumerate(values):
                axes.annotate(
                    percent(value), (value, at), xytext=(4, 0), textcoords="offset points", va="center"
                )
            axes.invert_yaxis()
            axes.set_xlim(0, max([*values, 1e-9]) * 1.3)
            axes.grid(False)
            axes.xaxis.set_visible(False)
            for side in ("bottom", "left"):
                axes.spines[side].set_visible(False)
            axes.tick_params(length=0)

        figures = "; ".join(f"{name} {percent(value)}" for name, value in losses)
        svg = self._draw(420, 40 + 34 * len(losses), draw, f"Bar chart of information loss: {figures}.")
        rows = tuple((name, percent(value)) for name, value in losses)
        return Picture(svg, "Information loss, in percent of the variation", ("groups", "loss"), rows)

    def correlations(
        self, columns: Sequence[str], matrix: Values, title: str, scale: float = 1.0
    ) -> Picture:
        """The lower triangle of a symmetric matrix, colours from −scale to +scale."""
        names = [short(column) for column in columns]
        p = len(names)
        cell = 34 if p <= 8 else 24 if p <= 14 else 17

        def draw(figure: Any) -> None:
            from matplotlib.patches import Rectangle

            axes = figure.add_subplot()
            for row in range(1, p):
                for column in range(row):
                    value = float(matrix[row, column])
                    if np.isnan(value):
                        continue
                    share = min(abs(value) / scale, 1.0) * MOST_FILLED
                    colour = LOW if value < 0 else HIGH
                    place = (column + 0.04, row - 1 + 0.04)
                    axes.add_patch(Rectangle(place, 0.92, 0.92, facecolor=colour, alpha=share))
                    if p <= 8:
                        text = _two_decimals(value)
                        axes.text(column + 0.5, row - 0.5, text, ha="center", va="center", fontsize=9)
            axes.set_xlim(0, p - 1)
            axes.set_ylim(p - 1, 0)
            axes.set_xticks(
                np.arange(p - 1) + 0.5,
                names[:-1],
                rotation=90 if p > 4 else 30,
                ha="center" if p > 4 else "right",
            )
            axes.set_yticks(np.arange(p - 1) + 0.5, names[1:])
            axes.tick_params(length=0)
            axes.grid(False)
            for spine in axes.spines.values():
                spine.set_visible(False)

        strongest = _strongest(columns, matrix)
        label = f"Correlations {title} of {count(p, 'column')}.{strongest}"
        side = cell * (p - 1)
        longest = max(map(len, names))
        margin = 20 + 6 * longest
        svg = self._draw(max(side + margin, 220), max(side + margin, 160), draw, label)
        rows = tuple(
            (clean(column), *(_two_decimals(value) for value in matrix[at]))
            for at, column in enumerate(columns)
        )
        caption = f"{title[0].upper()}{title[1:]}" + (
            f" (full colour: ±{_two_decimals(scale)})" if scale != 1.0 else ""
        )
        return Picture(svg, caption, ("column", *map(clean, columns)), rows)

    def groups(self, subset: Subset) -> Picture | None:
        """Records and the means of their groups in the plane of the first two principal components."""
        plane = _Plane.of(subset)
        if plane is None:
            return None
        part = ""
        if len(plane.groups) < len(subset.groups):
            whole_groups = f"{len(np.unique(plane.groups)):,} whole groups"
            part = f"; {count(len(plane.groups), 'record')} of {len(subset.groups):,} in {whole_groups}"
        label = (
            f"Records of {listed(plane.columns)} in the plane of their first two principal components, "
            f"each joined to the mean of its group by a line{part}."
        )
        rows = tuple(
            (clean(name), _two_decimals(first), _two_decimals(second))
            for name, (first, second) in zip(plane.columns, plane.axes, strict=True)
        )
        svg = self._draw(480, 400, plane.draw, label, 640)
        caption = f"Dots are records, diamonds what their groups publish{part}"
        return Picture(
            svg,
            caption,
            ("weights", "first component", "second component"),
            rows,
            title=listed(subset.columns),
        )

    def _draw(self, width: int, height: int, draw: Any, label: str, widest: int | None = None) -> Markup:
        self._count += 1
        return draw_svg(width, height, draw, label, f"p{self._count}-", widest or width)


@dataclass(frozen=True, slots=True, eq=False)
class _Plane:
    """Records and the means of their groups on the first two principal components of the original."""

    columns: list[str]
    """Those that vary."""
    axes: Values
    """The weight of each column in the two components."""
    shares: Values
    """Of the variance, in percent."""
    records: Values
    means: Values
    groups: Codes

    @classmethod
    def of(cls, subset: Subset) -> _Plane | None:
        """None if fewer than two columns vary."""
        whole = ~np.isnan(subset.before).any(axis=1) & ~np.isnan(subset.after).any(axis=1)
        before, after, groups = subset.before[whole], subset.after[whole], subset.groups[whole]
        deviations = before.std(axis=0) if len(before) else np.zeros(len(subset.columns))
        varies = deviations > 0
        if varies.sum() < 2:
            return None
        middle, scale = before[:, varies].mean(axis=0), deviations[varies]
        points = (before[:, varies] - middle) / scale
        variances, vectors = np.linalg.eigh(points.T @ points / len(points))
        axes = vectors[:, [-1, -2]]
        axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
        shown = _some_groups(groups)
        return cls(
            [name for name, used in zip(subset.columns, varies, strict=True) if used],
            axes,
            100.0 * variances[[-1, -2]] / variances.sum(),
            points[shown] @ axes,
            ((after[:, varies] - middle) / scale)[shown] @ axes,
            groups[shown],
        )

    def draw(self, figure: Any) -> None:
        axes = figure.add_subplot()
        for at, colour in enumerate(GROUPS):
            mine = self.groups % len(GROUPS) == at
            lines = np.full((3 * int(mine.sum()), 2), np.nan)
            lines[0::3], lines[1::3] = self.records[mine], self.means[mine]
            axes.plot(*lines.T, color=colour, linewidth=0.8, alpha=0.7)
            axes.plot(
                *self.records[mine].T,
                linestyle="none",
                marker="o",
                markersize=3.2,
                color=colour,
                markeredgewidth=0,
            )
        axes.plot(
            *np.unique(self.means, axis=0).T,
            linestyle="none",
            marker="D",
            markersize=3.6,
            color=PAPER,
            markeredgecolor=INK,
            markeredgewidth=0.8,
        )
        axes.grid(True, axis="both", color=GRID)
        axes.set_xlabel(f"first component ({self.shares[0]:.0f} % of the variance)")
        axes.set_ylabel(f"second component ({self.shares[1]:.0f} %)")


def correlation_matrix(values: Values) -> Values:
    """Of records that are complete; NaN for columns that do not vary there."""
    values = values[~np.isnan(values).any(axis=1)]
    if len(values) < 2:
        return np.full((values.shape[1],) * 2, np.nan)
    size = np.abs(values).max(axis=0)
    values = values / np.where(size > 0, size, 1.0)  # squares of large values could overflow
    centred = values - values.mean(axis=0)
    deviations = centred.std(axis=0)
    varies = deviations > 1e-12
    scores = np.divide(centred, deviations, out=np.full_like(centred, np.nan), where=varies)
    return np.asarray(np.clip(scores.T @ scores / len(values), -1.0, 1.0))


def _present(values: Values) -> Values:
    return values[~np.isnan(values)]


def _unit(values: Values) -> float:
    """A power of ten for axes of very large or very small values."""
    largest = float(np.abs(values).max())
    if largest == 0 or 1e-4 <= largest < 1e15:
        return 1.0
    return float(10.0 ** np.floor(np.log10(largest)))


def _edges(values: Values, every: Values) -> tuple[Values, bool]:
    """Intervals that hold every value, chosen by `values`; and whether they are logarithmic."""
    low, high = float(every.min()), float(every.max())
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        return np.array([low - 0.5, high + 0.5]), False
    if low > 0 and high > 40 * float(np.median(values)):
        low, high = low * 0.999, high * 1.001
        return np.geomspace(low, high, min(MOST_BINS, _bins(np.log(values))) + 1), True
    if high - low <= MOST_BINS and bool((values == np.round(values)).all()):
        return np.arange(np.floor(low) - 0.5, np.ceil(high) + 1.0), False
    return np.linspace(low, high, _bins(values) + 1), False


def _bins(values: Values) -> int:
    """By Freedman and Diaconis, within limits."""
    quarter, three = np.quantile(values, [0.25, 0.75])
    width = 2.0 * (three - quarter) / np.cbrt(len(values))
    span = float(values.max() - values.min())
    return int(np.clip(np.ceil(span / width) if width > 0 and span > 0 else MOST_BINS, 6, MOST_BINS))


def _ticks(axes: Axes, across: bool) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(tick))
    if across:
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.xaxis.set_major_formatter(FuncFormatter(tick))


def _two_decimals(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


def _strongest(columns: Sequence[str], matrix: Values) -> str:
    """A sentence on the largest entry."""
    rows, places = np.tril_indices(len(columns), -1)
    values = matrix[rows, places]
    if np.isnan(values).all():
        return ""
    at = int(np.nanargmax(np.abs(values)))
    one, other = clean(columns[places[at]]), clean(columns[rows[at]])
    return f" The largest in size is {_two_decimals(values[at])}, of {one} and {other}."


def _some_groups(groups: Codes) -> Codes:
    """Records of whole groups, drawn at random if there are many."""
    if len(groups) <= DRAWN_RECORDS:
        return np.arange(len(groups))
    order = np.random.default_rng(0).permutation(int(groups.max()) + 1)
    sizes = np.bincount(groups)[order]
    chosen = order[np.cumsum(sizes) <= DRAWN_RECORDS]
    if len(chosen) == 0:
        return np.random.default_rng(0).permutation(len(groups))[:DRAWN_RECORDS]
    return np.flatnonzero(np.isin(groups, chosen))
