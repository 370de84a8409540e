"""What a campaign leaves behind: one line for each run, and the best partition of each instance.

`results.jsonl` only ever grows. Of several lines for one run (`--again`) the last counts. `records.json`
keeps the best partition found for a data set and k as the recipe and seed that make it again, with a hash
of its labels to tell whether they do.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

Line = dict[str, Any]
Key = tuple[str, int, str, float | None, int]

ROOT = Path(__file__).parents[2]
BETTER = 1e-12
"""By how much, relative to it, a record must be beaten: sums in another order differ by less."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where things are kept."""

    results: Path
    records: Path
    page: Path
    picture: Path

    @classmethod
    def of(cls, folder: Path | None) -> Places:
        """The repository's own files, or ones of the same names in a folder, for trials."""
        if folder is None:
            here = Path(__file__).parent
            docs = ROOT / "docs"
        else:
            here = docs = folder
        picture = docs / "quality" / "il-against-time.svg"
        return cls(here / "results.jsonl", here / "records.json", docs / "quality.md", picture)


def labels_hash(labels: NDArray[np.int32]) -> str:
    """The first 16 hexadecimal digits of SHA-256 over the labels as little-endian 32-bit integers."""
    return hashlib.sha256(np.ascontiguousarray(labels, dtype="<i4").tobytes()).hexdigest()[:16]


# --- results ----------------------------------------------------------------------------------


def key_of(line: Line) -> Key:
    """What tells one run from another."""
    return line["data"], line["k"], line["method"], line["budget"], line["seed"]


class Results:
    """The lines of a results file, the last one for each run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: dict[Key, Line] = {}
        self.every: list[Line] = []
        if path.exists():
            for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                self._keep(_parsed(path, number, text))

    def _keep(self, line: Line) -> None:
        self.lines[key_of(line)] = line
        self.every.append(line)

    def add(self, line: Line) -> None:
        """Append to the file in one write, so that a stop at any moment leaves whole lines."""
        self._keep(line)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab", buffering=0) as file:
            file.write((json.dumps(line) + "\n").encode())

    def runs(self, data: str, k: int, method: str, budget: float | None = None) -> list[Line]:
        """The runs that differ in nothing but the seed, by seed."""
        found = [line for key, line in self.lines.items() if key[:4] == (data, k, method, budget)]
        return sorted(found, key=lambda line: line["seed"])

    def median_loss(self, data: str, k: int, method: str, budget: float | None = None) -> float | None:
        """Over the seeds; None if there is no run."""
        runs = self.runs(data, k, method, budget)
        return median(line["il"] for line in runs) if runs else None


def _parsed(path: Path, number: int, text: str) -> Line:
    try:
        line: Line = json.loads(text)
        key_of(line)
    except (ValueError, KeyError, TypeError):
        raise SystemExit(f"{path}, line {number}: not a result; remove that line.") from None
    return line


# --- records ----------------------------------------------------------------------------------


def is_repeatable(line: Line) -> bool:
    """Whether its recipe and seed give the same groups again: not if the clock cut the run short, or if an
    earlier version of its method made it, which such lines name as `superseded`.
    """
    return not (line["truncated"] or line.get("superseded", False))


def steps_of(recipe: str) -> int | None:
    """`mdav+anneal:steps=9825190` -> 9825190."""
    found = re.search(r"\bsteps=(\d+)", recipe)
    return int(found[1]) if found else None


class Records:
    """The best partition of each instance (data set and k), keyed `tarragona:3`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries: dict[str, Line] = {}
        if path.exists():
            self.entries = json.loads(path.read_text(encoding="utf-8"))

    def offer(self, line: Line) -> bool:
        """Take over a run if it beats the record and can be made again."""
        instance = f"{line['data']}:{line['k']}"
        held = self.entries.get(instance)
        beaten = held is None or line["sse"] < held["sse"] * (1.0 - BETTER)
        if not (beaten and is_repeatable(line)):
            return False
        kept = {name: line[name] for name in ("data", "k", "il", "sse", "labels_hash", "recipe", "seed")}
        self.entries[instance] = kept | {"steps": steps_of(line["recipe"])}
        return True

    def catch_up(self, results: Results) -> None:
        """Offer every line there is: a campaign may have been stopped between a line and its record."""
        taken = [self.offer(line) for line in results.every]
        if any(taken):
            self.save()

    def save(self) -> None:
        """Write the whole file and put it in place at once."""
        ordered = dict(sorted(self.entries.items(), key=lambda item: (item[1]["data"], item[1]["k"])))
        text = json.dumps(ordered, indent=2) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".tmp")
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(self.path)
