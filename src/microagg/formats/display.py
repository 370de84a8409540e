"""Display formats of statistical programs for columns whose integers have become means."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa

from microagg.arrow_values import to_numpy

_MOST_DECIMALS_SHOWN = 6
_MOST_WIDTH = 40


def widen_format(column: pa.ChunkedArray[Any], shown: str | None, program: str) -> str | None:
    """A display format that hides no decimals, as similar to `shown` as possible."""
    if program == "Stata":
        # %g shows as many decimals as there is room for.
        return "%12.0gc" if shown and shown.endswith("c") else "%12.0g"
    if program == "SAS":
        return "BEST12" if shown else None
    values = np.asarray(to_numpy(column), dtype=np.float64)
    values = values[np.isfinite(values)]
    decimals = _decimals_shown(values)
    digits = len(f"{np.abs(values).max(initial=0.0):.0f}")
    kind, width, there = _spss_parts(shown)
    decimals = max(decimals, there)
    # Room for the sign, the decimal sign and, if they are shown, separators of thousands.
    needed = digits + decimals + 2 + (digits // 3 + 1 if kind != "F" else 0)
    return f"{kind}{min(max(width, needed), _MOST_WIDTH)}.{decimals}"


def _spss_parts(shown: str | None) -> tuple[str, int, int]:
    found = re.fullmatch(r"(F|COMMA|DOT|DOLLAR|PCT)(\d+)(?:\.(\d+))?", shown or "")
    return (found[1], int(found[2]), int(found[3] or 0)) if found else ("F", 8, 0)


def _decimals_shown(values: np.ndarray[Any, np.dtype[np.float64]]) -> int:
    for decimals in range(_MOST_DECIMALS_SHOWN):
        if np.array_equal(np.round(values, decimals), values):
            return decimals
    return _MOST_DECIMALS_SHOWN
