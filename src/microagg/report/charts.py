"""Every chart, as SVG with a text for screen readers: no other module draws.

| function | shown in |
|---|---|
| `histogram`, `bars`, `sizes`, `correlations` | both reports, the page Result |
| `losses`, `groups` | the internal report, the page Result |
| `risk_map` | `compare --map` and `Comparison.svg()` as a file, the page Result with links as points |
| `loss_curve` | the page Run |

Colours are CSS variables of the page (`templates/style.css`), which has them for light, dark and paper.
`as_file` makes an SVG file of a chart. Charts of reports come as a `Chart`, with their numbers as a table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any
from unicodedata import east_asian_width

import numpy as np

from microagg.report.facts import Codes, ColumnHolds, Subset, Values
from microagg.report.formatting import clean, day_text, few, number, percent, short, tick
from microagg.report.summaries import intervals, plane_of, power_of_ten
from microagg.settings.declared import VARIED
from microagg.wording.phrases import count

FONT_SIZE = 12
INK, PAPER, GRID = "currentColor", "var(--paper)", "var(--grid)"
BEFORE, AFTER, LOW, HIGH = "var(--before)", "var(--after)", "var(--low)", "var(--high)"
GROUPS = tuple(f"var(--group-{at})" for at in range(1, 7))
MARKS = (
    "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0Z",
    "M-5,-5H5V5H-5Z",
    "M0,-6L6,5H-6Z",
    "M0,-6.5L6.5,0L0,6.5L-6.5,0Z",
    "M0,6L6,-5H-6Z",
    "M-6,-2H-2V-6H2V-2H6V2H2V6H-2V2H-6Z",
)
"""Shapes tell methods apart where colours do not."""
MOST_SIZES = 30
"""If there are more different sizes of groups, they are drawn in bins."""
MOST_BARS = 20
"""Categories of a column that have a bar of their own, and one for all others."""
SECONDS_OF_A_DAY = 86_400.0
MOST_FILLED = 0.55
"""Opacity of a correlation of 1, on which letters stay readable in light and dark."""
NEAR = 8.0
"""Points of a map that are so near, in pixels, share a label."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart, its caption, and its numbers as a table."""

    svg: str
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    text: tuple[int, ...] = (0,)
    """Columns of the table that hold text, which is aligned to the left."""


# --- elements ----------------------------------------------------------------------------------


def _element(tag: str, content: str = "", /, **attributes: object) -> str:
    """`class_` and `text_anchor` become class and text-anchor; floats get two decimals at most."""
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_brief(value)}"' for name, value in attributes.items()
    )
    return f"<{tag}{written}>{content}</{tag}>" if content else f"<{tag}{written}/>"


def _brief(value: object) -> str:
    return f"{round(value, 2):g}" if isinstance(value, float) else escape(str(value))


def _text(x: float, y: float, text: str, **attributes: object) -> str:
    return _element("text", escape(text), x=float(x), y=float(y), **attributes)


def _line(x1: float, y1: float, x2: float, y2: float, **attributes: object) -> str:
    return _element("path", d=_through(np.array([[x1, y1], [x2, y2]])), fill="none", **attributes)


def _through(points: Values) -> str:
    """The path along points."""
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _steps(points: Values) -> str:
    """The path along points that goes to the right first, then up or down."""
    return _through(points[:1]) + "".join(f"H{x:.1f}V{y:.1f}" for x, y in points[1:])


def _width(text: str) -> float:
    """Pixels that a text takes, roughly."""
    wide = sum(east_asian_width(sign) in "WF" for sign in text)
    capitals = sum(sign.isupper() for sign in text)
    return FONT_SIZE * (0.58 * len(text) + 0.45 * wide + 0.12 * capitals)


def _svg(parts: Sequence[str], width: float, height: float, label: str, stretch: float = 1.0) -> str:
    """A page shows it `stretch` times as large, or smaller where there is no room."""
    drawn = "".join(parts)
    return _element(
        "svg", drawn, role="group" if "<a " in drawn else "img", aria_label=label,
        viewBox=f"0 0 {width:.0f} {height:.0f}", width=round(stretch * width),
        height=round(stretch * height), fill=INK, font_size=FONT_SIZE,
    )  # fmt: skip


def as_file(svg: str) -> str:
    """A chart as an SVG file with colours of its own, light or dark as the reader's browser asks.

    Attributes have the light colours, since programs other than browsers do not know CSS variables.
    """
    css = Path(__file__).with_name("templates").joinpath("style.css").read_text("utf-8")
    themes = re.findall(r":root \{(.*?)\}", css, re.S)
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w+)", theme)) for theme in themes[:2])
    svg = svg.replace(f'="{INK}"', '="var(--ink)"')
    opening, drawn = svg.split(">", 1)
    opening = opening.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif"')
    paper = _element("rect", width="100%", height="100%", fill=PAPER)
    used = sorted(set(_COLOUR.findall(svg + paper)))
    swaps = "".join(f'[{name}="{light[colour]}"]{{{name}:{dark[colour]}}}' for name, colour in used)
    label = re.findall(r'aria-label="([^"]*)"', opening)[0]
    head = f"<title>{label}</title><style>@media (prefers-color-scheme:dark){{{swaps}}}</style>"
    whole = _COLOUR.sub(lambda found: f'{found[1]}="{light[found[2]]}"', f"{opening}>{head}{paper}{drawn}")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{whole}\n'


_COLOUR = re.compile(r'(fill|stroke)="var\(--([\w-]+)\)"')


# --- axes --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Scale:
    """The values along an axis, and the labels of some of them."""

    low: float
    high: float
    labels: Mapping[float, str]
    logarithmic: bool = False

    @classmethod
    def linear(cls, low: float, high: float, steps: int = 4, whole: bool = False) -> _Scale:
        """With labels at round values, `steps` of them or less, or at `whole` numbers."""
        least = max((high - low) / steps, 1.0 if whole else 0.0)
        size = 10.0 ** math.floor(math.log10(least))
        rounded = (1, 2, 5, 10) if whole else (1, 2, 2.5, 5, 10)
        step = next(size * times for times in rounded if size * times >= least * 0.999)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        values = [at * step for at in range(first, last + 1)]
        labels = [tick(value) for value in values]
        if len(set(labels)) < len(labels):
            labels = [number(value, 12) for value in values]
        return cls(low, high, dict(zip(values, labels, strict=True)))

    @classmethod
    def powers(cls, low: float, high: float) -> _Scale:
        """Logarithmic, with labels at powers of ten, or at 1, 2 and 5 times them if there are few."""
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        every = [times * 10.0**power for power in powers for times in (1, 2, 5)]
        few = [value for value in every[::3] if low <= value <= high]
        values = few if len(few) > 2 else [value for value in every if low <= value <= high]
        return cls(low, high, {value: tick(value) for value in values}, logarithmic=True)

    @classmethod
    def days(cls, low: float, high: float) -> _Scale:
        """Days since 1970, with labels at the starts of years, or else at some days."""
        first, last = (int(day_text(end)[:4]) for end in (low, high))
        step = next((each for each in (1, 2, 5, 10, 20, 50) if each * 5 >= last - first), 100)
        years = range(first // step * step, last + 1, step)
        starts = {float(np.datetime64(f"{year:04d}", "D").astype(int)): f"{year}" for year in years}
        inside = {day: year for day, year in starts.items() if low <= day <= high}
        if len(inside) < 2:
            inside = {day: day_text(day) for day in (low + (high - low) / 6, high - (high - low) / 6)}
        return cls(low, high, inside)

    def share(self, values: Any) -> Any:
        """Where values are, from 0 at the low end to 1 at the high one."""
        if self.logarithmic:
            low = math.log(self.low)
            return (np.log(values) - low) / (math.log(self.high) - low)
        return (values - self.low) / (self.high - self.low)


@dataclass(slots=True)
class _Plot:
    """Two axes with their labels, and what is drawn between them."""

    width: float
    height: float
    across: _Scale
    up: _Scale
    across_title: str = ""
    up_title: str = ""
    grid_across: bool = False
    parts: list[str] = field(default_factory=list)
    top: float = 8.0
    left: float = field(init=False)
    right: float = field(init=False)
    bottom: float = field(init=False)

    def __post_init__(self) -> None:
        self.left = 14 + max(map(_width, self.up.labels.values())) + (20 if self.up_title else 0)
        self.right = self.width - 14
        self.bottom = self.height - (42 if self.across_title else 22)
        self._draw_up()
        self._draw_across()

    def x(self, values: Any) -> Any:
        return self.left + self.across.share(values) * (self.right - self.left)

    def y(self, values: Any) -> Any:
        return self.bottom - self.up.share(values) * (self.bottom - self.top)

    def places(self, points: Values) -> Values:
        return np.stack([self.x(points[:, 0]), self.y(points[:, 1])], axis=1)

    def add(self, *parts: str) -> None:
        self.parts.extend(parts)

    def svg(self, label: str, stretch: float = 1.0) -> str:
        return _svg(self.parts, self.width, self.height, label, stretch)

    def _draw_up(self) -> None:
        for value, label in self.up.labels.items():
            y = self.y(value)
            self.level(value, stroke=GRID, stroke_width=0.6)
            self.add(_text(self.left - 6, y + 4, label, text_anchor="end"))
        if self.up_title:
            turned = f"translate(12 {(self.top + self.bottom) / 2:.0f}) rotate(-90)"
            self.add(_text(0, 0, self.up_title, transform=turned, text_anchor="middle"))

    def _draw_across(self) -> None:
        labels = list(self.across.labels.items())
        while any(
            self.x(right) - self.x(left) < (_width(one) + _width(other)) / 2 + 8
            for (left, one), (right, other) in pairwise(labels)
        ):
            labels = labels[::2]
        for value, label in labels:
            x = float(self.x(value))
            if self.grid_across:
                self.add(_line(x, self.top, x, self.bottom, stroke=GRID, stroke_width=0.6))
            half = _width(label) / 2
            middle = min(max(x, half), self.width - half)
            self.add(_text(middle, self.bottom + 16, label, text_anchor="middle"))
        self.add(_line(self.left, self.bottom, self.right, self.bottom, stroke=GRID))
        if self.across_title:
            middle = (self.left + self.right) / 2
            self.add(_text(middle, self.height - 6, self.across_title, text_anchor="middle"))

    def level(self, value: float, **attributes: object) -> None:
        """A line from left to right."""
        y = self.y(value)
        self.add(_line(self.left, y, self.right, y, **attributes))

    def stairs(self, edges: Values, heights: Values, **attributes: object) -> None:
        """The outline of bars that touch each other."""
        levels = np.concatenate([[0.0], np.repeat(heights, 2), [0.0]])
        outline = self.places(np.stack([np.repeat(edges, 2), levels], axis=1))
        self.add(_element("path", d=_through(outline), **attributes))


# --- charts of reports -------------------------------------------------------------------------


def distribution(
    column: str, holds: ColumnHolds, after: Values, before: Values | None = None
) -> Chart | None:
    """Of a column of any kind, with the source's if that may be shown; None if there are no values."""
    if holds.levels:
        return bars(column, holds.levels, after, before)
    return histogram(column, after, before, are_dates=holds.kind == "date")


def bars(column: str, levels: Sequence[str], after: Values, before: Values | None = None) -> Chart | None:
    """A bar for each category: the most frequent ones if they are many."""
    column = clean(column)
    given = {"released": after} if before is None else {"before": before, "after": after}
    series = [values[~np.isnan(values)].astype(np.int64) for values in given.values()]
    records = len(series[-1])
    if records == 0:
        return None
    counts = np.stack([np.bincount(values, minlength=len(levels)) for values in series])
    order = np.arange(len(levels))
    if len(levels) > MOST_BARS:
        order = np.sort(np.argsort(-counts[0], kind="stable")[: MOST_BARS - 1])
    names, shown = [clean(levels[at]) for at in order.tolist()], counts[:, order]
    if len(order) < len(levels):
        names.append(f"{len(levels) - len(order)} others")
        shown = np.column_stack([shown, counts.sum(axis=1) - shown.sum(axis=1)])
    left = 8 + max(_width(short(name)) for name in names)
    room = (320 - left - 10 - _width(f"{shown.max():,}")) / max(int(shown.max()), 1)
    parts = []
    for at, name in enumerate(names):
        y, ends = 22.0 * at + 2, [max(room * value, 0.5) for value in shown[:, at]]
        box = {"x": left, "y": y, "height": 16}
        opacity = 0.6 if before is None else 0.4
        parts += [
            _text(left - 6, y + 12, short(name), text_anchor="end"),
            _element("rect", **box, width=ends[0], fill=BEFORE, fill_opacity=opacity),
            _text(left + max(ends) + 5, y + 12, f"{shown[-1, at]:,}", font_size=11),
        ]
        if before is not None:
            parts.append(
                _element("rect", **box, width=ends[1], fill="none", stroke=AFTER, stroke_width=1.8)
            )
    what = "as released" if before is None else "before and after masking"
    label = (
        f"Bar chart of {column}, {what}: {count(len(levels), 'value')}; the table below has the numbers."
    )
    rows = tuple(
        (name, *(f"{value:,}" for value in values)) for name, values in zip(names, shown.T, strict=True)
    )
    svg = _svg(parts, 320, 22 * len(names) + 4, label)
    return Chart(svg, f"{column}: {count(records, 'record')}", ("value", *given), rows)


def histogram(
    column: str, after: Values, before: Values | None = None, are_dates: bool = False
) -> Chart | None:
    """Histogram of a column, with the source's if that may be shown; None if there are no values."""
    column = clean(column)
    given = {"released": after} if before is None else {"before": before, "after": after}
    series = [values[~np.isnan(values)] for values in given.values()]
    records = len(series[-1])
    if records == 0:
        return None
    every = np.concatenate(series)
    unit = SECONDS_OF_A_DAY if are_dates else power_of_ten(every)
    edges, logarithmic = intervals(series[0] / unit, every / unit, may_be_logarithmic=not are_dates)
    counts = [np.histogram(values / unit, edges)[0] for values in series]
    ends = float(edges[0]), float(edges[-1])
    across = _Scale.days(*ends) if are_dates else (_Scale.powers if logarithmic else _Scale.linear)(*ends)
    up = _Scale.linear(0.0, 1.05 * float(np.max(counts)), whole=True)
    in_units = "" if unit == 1.0 or are_dates else f"in units of {unit:.0e}"
    plot = _Plot(320, 190, across, up, in_units, "records")
    plot.stairs(edges, counts[0], fill=BEFORE, fill_opacity=0.6 if before is None else 0.4)
    if before is not None:
        plot.stairs(edges, counts[1], fill="none", stroke=AFTER, stroke_width=1.8)
    what = "as released" if before is None else "before and after masking"
    label = (
        f"Histogram of {column}, {what}: {count(records, 'value')} in "
        f"{len(edges) - 1} intervals; the table below it has the numbers."
    )

    def ends_of(edge: float) -> str:
        return day_text(edge) if are_dates else number(edge * unit, 4)

    rows = tuple(
        (*map(ends_of, (low, high)), *(number(float(each[at])) for each in counts))
        for at, (low, high) in enumerate(pairwise(edges))
    )
    caption = f"{column}: {count(records, 'record')}" + (", logarithmic axis" if logarithmic else "")
    return Chart(plot.svg(label), caption, ("from", "to", *given), rows, text=())


def sizes(sizes: Codes, what: str, columns: Sequence[str] = ()) -> Chart:
    """Bar chart of the sizes of groups of these columns, or of combinations of keys."""
    values, counts = np.unique(sizes, return_counts=True)
    least, most = int(values[0]), int(values[-1])
    if len(values) > MOST_SIZES:
        edges = np.unique(np.linspace(least, most + 1, 21).astype(int))
        counts = np.histogram(sizes, edges)[0]
        ends = [(low, high - 1) for low, high in pairwise(edges)]
        names = [f"{low:,} to {high:,}" if high > low else f"{low:,}" for low, high in ends]
        across = _Scale.linear(least, most + 1, whole=True)
    else:  # one bar for each size, with room between them
        edges = np.add.outer(np.arange(len(values)), [-0.4, 0.4]).ravel()
        names = [f"{value:,}" for value in values]
        across = _Scale(-0.6, len(values) - 0.4, dict(enumerate(names)))
    up = _Scale.linear(0.0, 1.05 * float(counts.max()), whole=True)
    plot = _Plot(340, 190, across, up, "records", what)
    between = range(1, len(counts)) if len(edges) == 2 * len(counts) else []
    plot.stairs(edges, np.insert(counts.astype(float), between, 0.0), fill=BEFORE, fill_opacity=0.6)
    label = (
        f"Bar chart of sizes: {len(sizes):,} {what}, the smallest with "
        f"{count(least, 'record')}, the largest with {most:,}."
    )
    rows = tuple((name, number(float(each))) for name, each in zip(names, counts, strict=True))
    caption = f"Sizes of {len(sizes):,} {what}"
    return Chart(plot.svg(label), caption, ("records", what), rows, title=few(columns), text=())


def losses(losses: Sequence[tuple[str, float]]) -> Chart:
    rows = tuple((name, percent(value)) for name, value in losses)
    left = 10 + max(_width(name) for name, _ in rows)
    room = (340 - left - max(_width(value) for _, value in rows) - 10) / max(1e-9, *dict(losses).values())
    parts = []
    for at, (name, value) in enumerate(losses):
        y, end, colour = 32.0 * at + 8, left + room * value, BEFORE if at else AFTER
        parts += [
            _text(left - 8, y + 14, name, text_anchor="end"),
            _element("rect", x=left, y=y, width=end - left, height=20, fill=colour, fill_opacity=0.6),
            _text(end + 6, y + 14, percent(value)),
        ]
    figures = "; ".join(" ".join(row) for row in rows)
    svg = _svg(parts, 340, 32 * len(losses) + 8, f"Bar chart of information loss: {figures}.")
    return Chart(svg, "Information loss, in percent of the variation", ("groups", "loss"), rows)


def correlation_chart(columns: Sequence[str], matrix: Values, title: str, scale: float = 1.0) -> Chart:
    """The lower triangle of a symmetric matrix, colours from −scale to +scale."""
    names = [short(column) for column in columns]
    columns = [clean(column) for column in columns]
    p = len(names)
    cell = 44.0 if p <= 4 else 34.0 if p <= 8 else 24.0 if p <= 14 else 17.0
    left, below = 10 + max(map(_width, names[1:])), 10 + max(map(_width, names[:-1]))
    side, square = cell * (p - 1), 0.92 * cell
    parts = []
    for row, column in np.argwhere(np.tril(~np.isnan(matrix), -1)).tolist():
        value = float(matrix[row, column])
        x, y = left + cell * column, cell * (row - 1)
        colour, filled = LOW if value < 0 else HIGH, min(abs(value) / scale, 1.0) * MOST_FILLED
        box = {"x": x, "y": y, "width": square, "height": square}
        parts.append(_element("rect", **box, fill=colour, fill_opacity=filled))
        if p <= 8:
            middle = (x + square / 2, y + square / 2 + 4)
            parts.append(_text(*middle, _two_decimals(value), text_anchor="middle", font_size=11))
    for at in range(p - 1):
        line = cell * at + square / 2 + 4
        turned = f"translate({left + line:.1f} {side + 6:.1f}) rotate(-90)"
        parts.append(_text(left - 6, line, names[at + 1], text_anchor="end"))
        parts.append(_text(0, 0, names[at], text_anchor="end", transform=turned))
    label = f"Correlations {title} of {count(p, 'column')}.{_strongest(columns, matrix)}"
    svg = _svg(parts, max(side + left, 220), side + below, label)
    rows = tuple(
        (column, *(_two_decimals(value) for value in values))
        for column, values in zip(columns, matrix, strict=True)
    )
    full = "" if scale == 1.0 else f" (full colour: ±{_two_decimals(scale)})"
    return Chart(svg, f"{title[0].upper()}{title[1:]}{full}", ("column", *columns), rows)


def _two_decimals(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


def _scales(points: Values, room: float, least: float = -math.inf) -> list[_Scale]:
    """Both axes of a plane with points, with some room around them but from `least` on."""
    low, high = points.min(axis=0), points.max(axis=0)
    around = np.maximum(room * np.maximum(high - low, 0.2 * np.abs(high)), 1e-9)
    ends = zip(np.maximum(low - around, least).tolist(), (high + around).tolist(), strict=True)
    return [_Scale.linear(*each, steps=6) for each in ends]


def _strongest(columns: Sequence[str], matrix: Values) -> str:
    """A sentence on the largest entry."""
    rows, places = np.tril_indices(len(columns), -1)
    values = matrix[rows, places]
    if np.isnan(values).all():
        return ""
    at = int(np.nanargmax(np.abs(values)))
    one, other = columns[places[at]], columns[rows[at]]
    return f" The largest in size is {_two_decimals(values[at])}, of {one} and {other}."


def groups(subset: Subset) -> Chart | None:
    """Records and the means of their groups in the plane of the first two principal components."""
    plane = plane_of(subset)
    if plane is None:
        return None
    every = np.concatenate([plane.records, plane.means])
    across, up = _scales(every, room=0.04)
    first, second = (f"{share:.0f} %" for share in plane.shares)
    titles = (f"first component ({first} of the variance)", f"second component ({second})")
    plot = _Plot(480, 400, across, up, *titles, grid_across=True)
    records, means = plot.places(plane.records), plot.places(plane.means)
    for at, colour in enumerate(GROUPS):
        own = plane.groups % len(GROUPS) == at
        if own.any():
            lines = "".join(map(_through, np.stack([records[own], means[own]], axis=1)))
            dots = "".join(f"{_through(point[None])}h0" for point in records[own])
            plot.add(
                _element("path", d=lines, stroke=colour, stroke_width=0.9, opacity=0.7),
                _element("path", d=dots, stroke=colour, stroke_width=4.5, stroke_linecap="round"),
            )
    diamonds = "".join(
        f"M{x:.1f},{y - 3.6:.1f}l3.6,3.6l-3.6,3.6l-3.6,-3.6Z" for x, y in np.unique(means, axis=0)
    )
    plot.add(_element("path", d=diamonds, fill=PAPER, stroke=INK))
    part = ""
    if len(plane.groups) < len(subset.groups):
        whole_groups = f"{len(np.unique(plane.groups)):,} whole groups"
        part = f"; {count(len(plane.groups), 'record')} of {len(subset.groups):,} in {whole_groups}"
    label = (
        f"Records of {few(plane.columns)} in the plane of their first two principal components, "
        f"each joined to the mean of its group by a line{part}."
    )
    rows = tuple(
        (clean(name), *map(_two_decimals, pair))
        for name, pair in zip(plane.columns, plane.weights, strict=True)
    )
    return Chart(
        plot.svg(label, stretch=4 / 3),
        f"Dots are records, diamonds what their groups publish{part}",
        ("weights", "first component", "second component"),
        rows,
        title=few(subset.columns),
    )


# --- charts of runs and comparisons ------------------------------------------------------------


def loss_curve(points: Sequence[tuple[float, float]], mdav: float | None, seconds: float) -> str:
    """The information loss of the best groups so far against time, with MDAV's; "" if nothing is known."""
    known = [loss for _, loss in points] + ([] if mdav is None else [mdav])
    if not known:
        return ""
    low, high = min(known), max(known)
    room = max(0.15 * (high - low), 0.01 * high, 1e-9)
    begin = points[0][0] if points else 0.0
    end = max(seconds, begin + 1.0)
    up = _Scale.linear(max(low - room, 0.0), high + room, steps=6)
    plot = _Plot(640, 300, _Scale.linear(begin, end, steps=8), up, "seconds", "information loss, %")
    label = "Information loss against time."
    if points:
        path = _steps(plot.places(np.array([*points, (end, points[-1][1])])))
        plot.add(_element("path", d=path, fill="none", stroke=AFTER, stroke_width=2.5))
        label += f" Best so far {points[-1][1]:.4g} %."
    if mdav is not None:
        plot.level(mdav, stroke=BEFORE, stroke_width=1.6, stroke_dasharray="6 4")
        plot.add(_text(plot.right, plot.y(mdav) - 6, f"MDAV {mdav:.4g} %", text_anchor="end"))
        label += f" MDAV has {mdav:.4g} %."
    return plot.svg(label)


def risk_map(
    rows: Sequence[Mapping[str, Any]],
    axes: Mapping[str, str],
    limit: float,
    link: Callable[[Mapping[str, Any]], Mapping[str, str]] | None = None,
) -> str:
    """Every strategy as a point, and the line of those that no other beats; "" if none was measured.

    `axes`: the measures to the right and upwards, with titles; `limit`: the largest risk accepted; `link`
    gives each point the attributes of a link.
    """
    rows = [row for row in rows if all(row[measure] is not None for measure in axes)]
    if not rows:
        return ""
    values = np.array([[row[measure] for measure in axes] for row in rows], dtype=float)
    across, up = _scales(values, room=0.12, least=0.0)
    limited = limit <= up.high
    if limited:
        up = _Scale.linear(min(up.low, 0.9 * limit), up.high, steps=6)
    across_title, up_title = axes.values()
    plot = _Plot(640, 420, across, up, across_title, up_title, grid_across=True, top=30.0)
    amount = "1 strategy" if len(rows) == 1 else f"{len(rows)} strategies"
    title = f"Risk and utility of {amount}; lower left is better"
    plot.add(_text(plot.left, 16, title, font_weight="bold"))
    places = plot.places(values)
    best = sorted(
        {tuple(place) for place, row in zip(places.tolist(), rows, strict=True) if row["undominated"]}
    )
    lines = []
    if len(best) > 1:
        plot.add(_element("path", d=_steps(np.array(best)), fill="none", **_FRONT))
        lines.append(("undominated", _line(-10, 0, 10, 0, **_FRONT)))
    if limited:
        plot.level(limit, **_LIMIT)
        lines.append((f"largest risk {limit:g}", _line(-10, 0, 10, 0, **_LIMIT)))
    marks = _draw_points(plot, rows, places, axes, link)
    _draw_labels(plot, rows, places)
    _draw_legend(plot, [*marks, *lines])
    return plot.svg(title)


_FRONT: dict[str, object] = {"stroke": INK, "stroke_width": 1.2, "stroke_dasharray": "5 4", "opacity": 0.7}
_LIMIT: dict[str, object] = {"stroke": BEFORE, "stroke_width": 1.6, "stroke_dasharray": "2 4"}
_RING = _element("circle", r=11, fill="none", stroke=INK, stroke_width=1.6)


def varying(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """In what strategies differ beside k and the method."""
    return [name for name in VARIED if len({row.get(name) for row in rows}) > 1]


def _draw_points(
    plot: _Plot,
    rows: Sequence[Mapping[str, Any]],
    places: Values,
    axes: Mapping[str, str],
    link: Callable[[Mapping[str, Any]], Mapping[str, str]] | None,
) -> list[tuple[str, str]]:
    """Methods differ in shape; what else is tried in colour, or else methods in both. The legend."""
    others = varying(rows)
    methods = list(dict.fromkeys(row["method"] for row in rows))
    variants = list(dict.fromkeys(tuple(row[name] for name in others) for row in rows))
    legend = {}
    for row, (x, y) in zip(rows, places, strict=True):
        method, variant = row["method"], tuple(row[name] for name in others)
        colour = variants.index(variant) if others else methods.index(method)
        shape, fill = MARKS[methods.index(method) % len(MARKS)], GROUPS[colour % len(GROUPS)]
        mark = _element("path", d=shape, fill=fill, stroke=PAPER)
        name = clean(f"{method}: {', '.join(variant)}" if others else method)
        legend[name] = mark
        figures = "; ".join(f"{title}: {row[measure]:.4g}" for measure, title in axes.items())
        title = f"k = {row['k']}, {name}; {figures}"
        ring = _RING if row["recommended"] else ""
        content = f"{_element('title', escape(title))}{mark}{ring}"
        place = f"translate({x:.1f} {y:.1f})"
        if link is None:
            plot.add(_element("g", content, transform=place))
        else:
            target = _element("circle", r=14, fill="transparent")
            plot.add(
                _element(
                    "a", target + content, **link(row), class_="point", aria_label=title, transform=place
                )
            )
    return [*legend.items(), ("recommended", _RING)]


def _draw_labels(plot: _Plot, rows: Sequence[Mapping[str, Any]], places: Values) -> None:
    """The k of each point beside it, if there is room; strategies at one place share it."""
    shared: dict[tuple[float, float], list[Mapping[str, Any]]] = {}
    for row, (x, y) in zip(rows, places.tolist(), strict=True):
        near = (at for at in shared if max(abs(at[0] - x), abs(at[1] - y)) < NEAR)
        shared.setdefault(next(near, (x, y)), []).append(row)
    taken = list(shared)
    best_first = sorted(
        shared, key=lambda at: -max(row["recommended"] + row["undominated"] for row in shared[at])
    )
    for x, y in best_first:
        text = f"k = {', '.join(map(str, sorted({row['k'] for row in shared[x, y]})))}"
        half = _width(text) / 2
        for dx, dy in ((-1, 1), (1, -1), (-1, -1), (1, 1)):
            middle, line = x + dx * (half + 10), y + dy * 9
            free = not any(abs(a - middle) < half + 6 and abs(b - line) < 12 for a, b in taken)
            if free and plot.left < middle - half and middle + half < plot.width:
                plot.add(_text(middle, line + 4, text, text_anchor="middle", pointer_events="none"))
                taken += [(middle + step, line) for step in np.arange(-half, half + 6, 6)]
                break


def _draw_legend(plot: _Plot, entries: Sequence[tuple[str, str]]) -> None:
    """Below the plot, in as many lines as it takes."""
    x, y = plot.left, plot.height + 16
    for name, mark in entries:
        name = short(name, 70)
        wide = 30 + _width(name) + 18
        if x > plot.left and x + wide > plot.width:
            x, y = plot.left, y + 22
        plot.add(_element("g", mark, transform=f"translate({x + 11:.1f} {y:.1f})"))
        plot.add(_text(x + 28, y + 4, name))
        x += wide
    plot.height = y + 18
