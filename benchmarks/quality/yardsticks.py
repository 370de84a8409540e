"""Published losses (`yardsticks.toml`, and TFRP07's Table 2 from the tests' tables)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from tests.papers import figures

FILE = Path(__file__).with_name("yardsticks.toml")


@dataclass(frozen=True, slots=True)
class Published:
    """A loss in percent with its printed decimals, and where it was printed."""

    loss: Decimal
    source: str


@cache
def _document() -> dict[str, Any]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"), parse_float=Decimal)


@cache
def tfrp() -> dict[tuple[str, int], Published]:
    """The lower of the two losses in TFRP07's Table 2, by data set and k."""
    found: dict[tuple[str, int], Published] = {}
    for table in figures.load()["table"]:
        if (table["paper"], table["table"]) != ("TFRP07", "2"):
            continue
        for figure in table["figures"]:
            place = table["data"], figure["k"]
            loss = Decimal(figure["published"])
            if place not in found or loss < found[place].loss:
                found[place] = Published(loss, f"TFRP07, Table 2, {figure['method'].upper()}")
    return found


@cache
def published() -> dict[tuple[str, int], Published]:
    """The lowest loss in print, by data set and k."""
    found = dict(tfrp())
    for entry in _document()["published"]:
        place = entry["data"], entry["k"]
        if place not in found or entry["loss"] < found[place].loss:
            found[place] = Published(entry["loss"], entry["source"])
    return found
