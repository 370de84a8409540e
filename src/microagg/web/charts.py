"""Two pictures that live on a page: the loss while it falls, and the map of strategies to choose from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 16, 44

MARKS = (
    "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0Z",
    "M-5,-5H5V5H-5Z",
    "M0,-6L6,5H-6Z",
    "M0,-6.5L6.5,0L0,6.5L-6.5,0Z",
    "M0,6L6,-5H-6Z",
    "M-6,-2H-2V-6H2V-2H6V2H2V6H-2V2H-6Z",
)
"""Shapes tell methods apart where colours do not."""


@dataclass(frozen=True, slots=True)
class _Axis:
    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        step = _nice((self.high - self.low) / 4)
        first = math.ceil(self.low / step - 1e-9)
        return [number * step for number in range(first, math.floor(self.high / step + 1e-9) + 1)]


def _nice(step: float) -> float:
    size = 10.0 ** math.floor(math.log10(step))
    return next(size * round_ for round_ in (1, 2, 2.5, 5, 10) if size * round_ >= step * 0.999)


def _axes(
    across: tuple[float, float], up: tuple[float, float], x_title: str, y_title: str
) -> tuple[_Axis, _Axis, list[str]]:
    """Both axes, and what is drawn of them."""
    x = _Axis(*across, LEFT, WIDTH - RIGHT)
    y = _Axis(*up, HEIGHT - BOTTOM, TOP)
    drawn = [
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y.at(tick):.1f}" y2="{y.at(tick):.1f}"/>'
        f'<text x="{LEFT - 8}" y="{y.at(tick) + 4:.1f}" text-anchor="end">{tick:.6g}</text>'
        for tick in y.ticks()
    ]
    drawn += [
        f'<text x="{x.at(tick):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{tick:.6g}</text>'
        for tick in x.ticks()
    ]
    middle = (TOP + HEIGHT - BOTTOM) / 2
    drawn += [
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{x_title}</text>',
        f'<text transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">{y_title}</text>',
    ]
    return x, y, drawn


def _svg(parts: Sequence[str], label: str, role: str) -> str:
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="{role}" aria-label="{escape(label)}">'
        f"{''.join(parts)}</svg>"
    )


def loss_curve(points: Sequence[tuple[float, float]], mdav: float | None, seconds: float) -> str:
    """The information loss of the best groups so far against time, with MDAV's as a line."""
    losses = [loss for _, loss in points] + ([mdav] if mdav is not None else [])
    if not losses:
        return ""
    low, high = min(losses), max(losses)
    room = max((high - low) * 0.15, high * 0.01, 1e-9)
    begin = points[0][0] if points else 0.0
    end = max(seconds, begin + 1.0)
    x, y, parts = _axes((begin, end), (max(low - room, 0.0), high + room), "seconds", "information loss, %")
    if mdav is not None:
        at = y.at(mdav)
        parts.append(f'<line class="mdav" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(
            f'<text x="{WIDTH - RIGHT}" y="{at - 6:.1f}" text-anchor="end">MDAV {mdav:.4g} %</text>'
        )
    said = "" if mdav is None else f" MDAV has {mdav:.4g} %."
    if points:
        path = f"M{x.at(points[0][0]):.1f},{y.at(points[0][1]):.1f}"
        path += "".join(f"H{x.at(at):.1f}V{y.at(loss):.1f}" for at, loss in points[1:])
        parts.append(f'<path class="curve" d="{path}H{x.at(end):.1f}"/>')
        said = f" Best so far {points[-1][1]:.4g} %.{said}"
    return _svg(parts, f"Information loss against time.{said}", "img")


def risk_map(rows: Sequence[Mapping[str, Any]], limit: float, risk: str, loss: str) -> str:
    """Every strategy as a point to click: loss to the right, risk upwards; lower left is better.

    A point carries its strategy as `data-k` and `data-method`.
    """
    usable = [row for row in rows if row[loss] is not None and row[risk] is not None]
    if not usable:
        return ""
    far, high = max(row[loss] for row in usable), max(row[risk] for row in usable)
    x, y, parts = _axes(
        (0.0, max(far * 1.15, 1e-9)),
        (0.0, max(high * 1.2, 1e-9)),
        "information loss, %",
        "share of records linked",
    )
    if limit <= high * 1.2:
        at = y.at(limit)
        parts.append(f'<line class="limit" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text x="{LEFT + 6}" y="{at - 5:.1f}">largest risk {limit:g}</text>')
    best = sorted((row[loss], row[risk]) for row in usable if row["undominated"])
    if len(best) > 1:
        path = f"M{x.at(best[0][0]):.1f},{y.at(best[0][1]):.1f}"
        path += "".join(f"H{x.at(across):.1f}V{y.at(up):.1f}" for across, up in best[1:])
        parts.append(f'<path class="front" d="{path}"/>')
    methods = list(dict.fromkeys(row["method"] for row in usable))
    for row in usable:
        number = methods.index(row["method"]) % len(MARKS)
        ring = '<circle class="ring" r="11"/>' if row["recommended"] else ""
        said = f"Take k = {row['k']}, {row['method']}: loss {row[loss]:.4g} %, linked {row[risk]:.4g}"
        parts.append(
            f'<g class="point" role="button" tabindex="0" data-act="take" data-k="{row["k"]}" '
            f'data-method="{escape(str(row["method"]))}" aria-label="{escape(said)}" '
            f'transform="translate({x.at(row[loss]):.1f} {y.at(row[risk]):.1f})">'
            f'<title>{escape(said)}</title><circle class="target" r="14"/>{ring}'
            f'<path class="mark-{number + 1}" d="{MARKS[number]}"/>'
            f'<text x="12" y="-7">k = {row["k"]}</text></g>'
        )
    key = "".join(
        f'<li><svg viewBox="-8 -8 16 16" width="16" height="16" aria-hidden="true">'
        f'<path class="mark-{at % len(MARKS) + 1}" d="{MARKS[at % len(MARKS)]}"/></svg>'
        f"{escape(str(name))}</li>"
        for at, name in enumerate(methods)
    )
    label = f"Risk and utility of {len(usable)} strategies; lower left is better"
    return f'{_svg(parts, label, "group")}<ul class="key">{key}</ul>'
