"""Growth: the curves of the page and its pictures, and the exponents fitted to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log
from typing import Any

from benchmarks.speed.cases import CASES
from benchmarks.speed.store import Results

FIT_FROM = 10_000
"""Below, calls and caches count for more than growth."""
FEWEST = 3
"""An exponent is fitted to no fewer points."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Cases that differ in n alone."""

    title: str
    part: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def every_n(self) -> list[int]:
        """Where there is a case, run or not."""
        return sorted(
            case.settings["n"]
            for case in CASES.values()
            if case.part == self.part and {**case.settings, **self.settings} == case.settings
        )

    def measured(self, results: Results, what: str) -> list[tuple[int, float]]:
        """n and a figure, as far as it was measured."""
        pairs = []
        for n in self.every_n():
            found = self.figure(results, what, n)
            if found is not None:
                pairs.append((n, found))
        return pairs

    def figure(self, results: Results, what: str, n: int) -> float | None:
        settings = {"n": n, **self.settings}
        return results.figure(what, self.part, **settings)

    def exponent(self, results: Results) -> float | None:
        """The slope of log seconds over log n, by least squares."""
        pairs = [(log(n), log(y)) for n, y in self.measured(results, "cpu") if n >= FIT_FROM]
        if len(pairs) < FEWEST:
            return None
        mean_x, mean_y = (sum(values) / len(pairs) for values in zip(*pairs, strict=True))
        return sum((x - mean_x) * (y - mean_y) for x, y in pairs) / sum((x - mean_x) ** 2 for x, _ in pairs)

    def last_decade(self, results: Results) -> float | None:
        """The exponent from a tenth of the largest n to the largest."""
        last = max(self.every_n())
        before, after = (self.figure(results, "cpu", n) for n in (last // 10, last))
        return None if before is None or after is None else log(after / before) / log(10)


CURVES = (
    Curve("exact MDAV, k = 3", "mdav", {"k": 3, "engine": "auto"}),
    Curve("exact MDAV, k = 10", "mdav", {"k": 10, "engine": "auto"}),
    Curve("exact MDAV by brute force, k = 3", "mdav", {"k": 3, "engine": "brute"}),
    Curve("blocks, k = 3", "blocks", {"k": 3, "threads": 1}),
    Curve("neighbour lists (20)", "neighbours", {"threads": 1}),
    Curve("univariate optimum, k = 3", "univariate", {"k": 3}),
    Curve("univariate optimum, k = 100", "univariate", {"k": 100}),
)
