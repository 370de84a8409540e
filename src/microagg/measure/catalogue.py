"""What describes a measure: definition, formula, range and direction. `microagg explain` prints it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from microagg.measure.pair import Finding, Pair


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure and its description for users.

    `definition`: one sentence; `formula`: plain text with Unicode signs; `range`: for instance "0 to 100 %,
    0 is the best"; `higher`: how "higher means …" goes on; `reference`: who defined it.
    """

    kind: Literal["utility", "risk"]
    title: str
    definition: str
    formula: str
    unit: str
    range: str
    higher: str
    reference: str
    compute: Callable[[Pair], Finding]
