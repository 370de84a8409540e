"""What describes a measure: definition, formula, range and direction. `microagg explain` prints it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from microagg.measure.pair import Finding, Pair

Kind = Literal["utility", "risk"]


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure and its description for users.

    `definition`: one sentence; `formula`: plain text with Unicode signs; `range`: for instance "0 to 100 %,
    0 is the best"; `higher`: how "higher means …" goes on; `reference`: who defined it.
    """

    kind: Kind
    title: str
    definition: str
    formula: str
    unit: str
    range: str
    higher: str
    reference: str
    compute: Callable[[Pair], Finding]


def described_measures(kind: Kind, *functions: Callable[[Pair], Finding]) -> dict[str, Measure]:
    """By name, as `utility.toml` or `risk.toml` describes them, and in the order of that file."""
    described = tomllib.loads(Path(__file__).with_name(f"{kind}.toml").read_text("utf-8"))
    references = described.pop("references")
    by_name = {function.__name__: function for function in functions}
    measures = {}
    for name, fields in described.items():
        fields["reference"] = fields["reference"].format_map(references)
        measures[name] = Measure(kind, **fields, compute=by_name.pop(name))
    if by_name:
        raise KeyError(f"{kind}.toml does not describe {', '.join(by_name)}")
    return measures
