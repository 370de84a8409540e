"""What describes a measure: definition, formula, range and direction. `microagg explain` prints it."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Literal

from microagg import wording
from microagg.measure.pair import MeasureResult, Pair

MeasureKind = Literal["utility", "risk"]

COUNTED = ("records", "values")
"""Units that have a singular."""

LARGEST_WHOLE = 1e15
"""Larger numbers are shown with an exponent."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure and its description for users.

    `definition`: one sentence; `formula`: plain text with Unicode signs; `range`: for instance "0 to 100 %,
    0 is the best"; `higher`: how "higher means …" goes on; `reference`: who defined it. The most important
    ones have `first`, their place among those that are shown first, and `sentence`, the result in plain
    words: it begins with {value}, and {allowed} is what the result compares it with. `numbers_only`: keys
    that hold categories are left out, which the note of the result says.
    """

    kind: MeasureKind
    title: str
    definition: str
    formula: str
    unit: str
    range: str
    higher: str
    reference: str
    compute: Callable[[Pair], MeasureResult]
    first: int | None = None
    sentence: str = ""
    numbers_only: bool = False

    def shown(self, value: float) -> str:
        """The value with its unit; shares in percent, and a dash for what is not defined."""
        if not math.isfinite(value):
            return "–"
        if self.unit == "share":
            return f"{100.0 * value:.4g} %"
        is_whole = float(value).is_integer() and abs(value) < LARGEST_WHOLE
        figure = f"{int(value):,}" if is_whole else f"{value:.4g}"
        unit = self.unit.removesuffix("s") if value == 1.0 and self.unit in COUNTED else self.unit
        return f"{figure} {unit}".rstrip()

    def shown_part(self, found: MeasureResult, part: str) -> str:
        value = found.parts[part]
        return f"{value:,.4g}" if part in found.others else self.shown(value)

    def said(self, found: MeasureResult) -> tuple[str, str]:
        """The value, and how the sentence that begins with it goes on; a note if it is not defined."""
        if not math.isfinite(found.value):
            return self.shown(found.value), found.note
        allowed = "" if found.allowed is None else self.shown(found.allowed)
        sentence = self.sentence.format(value="", allowed=allowed)
        return self.shown(found.value), sentence.strip()


def described_measures(kind: MeasureKind, *modules: ModuleType) -> dict[str, Measure]:
    """By name, as `utility.toml` or `risk.toml` describes them, and in the order of that file.

    Each is computed by the function of these modules that has its name.
    """
    described = tomllib.loads(Path(__file__).with_name(f"{kind}.toml").read_text("utf-8"))
    references = described.pop("references")
    functions = {name: each for module in modules for name, each in vars(module).items()}
    measures = {}
    for name, fields in described.items():
        fields["reference"] = fields["reference"].format_map(references)
        compute = functions[name]
        if fields.get("numbers_only"):
            compute = _of_numbers(compute)
        measures[name] = Measure(kind, **fields, compute=compute)
    return measures


def _of_numbers(compute: Callable[[Pair], MeasureResult]) -> Callable[[Pair], MeasureResult]:
    """The measure of keys that hold numbers or dates."""

    @wraps(compute)
    def computed(pair: Pair) -> MeasureResult:
        numbers = pair.of_numbers()
        if numbers is pair:
            return compute(pair)
        if not numbers.p:
            return MeasureResult(math.nan, {}, wording.note_no_numbers())
        found = compute(numbers)
        others = [name for name in pair.columns if name not in numbers.columns]
        notes = (found.note.removesuffix("."), wording.note_categories_left_out(others))
        return replace(found, note="; ".join(note for note in notes if note))

    return computed
