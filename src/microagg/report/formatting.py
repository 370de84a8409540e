"""Numbers and names as the pages write them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from microagg.wording.phrases import and_list
from microagg.wording.phrases import listed as some_of

LONGEST_CHART_NAME = 16
"""Letters of a column's name in a chart."""


def number(value: float | None, digits: int = 6) -> str:
    """A number with at most `digits` digits and commas between thousands."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if float(value).is_integer() and abs(value) < 1e15:
        return _signed(f"{int(value):,}")
    size = abs(value)
    if not 1e-4 <= size < 1e15:
        return _signed(f"{value:.{digits - 1}e}".replace("e+0", "e+").replace("e-0", "e-"))
    before = max(math.floor(math.log10(size)) + 1, 1)
    text = f"{value:,.{max(digits - before, 0) + (3 if size < 0.1 else 0)}f}"
    return _signed(text.rstrip("0").rstrip(".") if "." in text else text)


def percent(value: float | None) -> str:
    return "–" if value is None else f"{number(value, 5)} %"


def tick(value: float) -> str:
    """A short number for the axis of a chart."""
    for size, sign in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if size <= abs(value) < 1e15:
            return _signed(f"{value / size:.5g}{sign}")
    if value and not 1e-4 <= abs(value) < 1e15:
        return _signed(f"{value:.3g}")
    return _signed(f"{value:,.6g}" if abs(value) < 1e5 else f"{value:,.0f}")


def day_text(days: float) -> str:
    """A day since 1970 as a date."""
    import numpy as np  # slow to import, and pages without charts do without it

    return str(np.datetime64(math.floor(days), "D"))


def _signed(text: str) -> str:
    return text.replace("-", "−")


def clean(name: str) -> str:
    """A name with signs that no page can show replaced."""
    return "".join(sign if sign.isprintable() else "�" for sign in name)


def short(name: str, most: int = LONGEST_CHART_NAME) -> str:
    """Long names often differ at their end: the middle is left out."""
    name, end = clean(name), most // 3 + 1
    return name if len(name) <= most else f"{name[: most - end - 1]}…{name[-end:]}"


def listed(names: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return and_list([clean(name) for name in names])


def few(names: Sequence[str], most: int = 8) -> str:
    """The first names, for a heading: 'a, b and 12 more'."""
    return listed(names) if len(names) <= most else some_of([clean(name) for name in names], most)
