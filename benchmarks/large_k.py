"""Large k: what `auto` reaches beside `descent` and ICSM, for docs/methods/search.md.

    python -m benchmarks.large_k                              # all tables; prints Markdown
    python -m benchmarks.large_k --data census --k 30 45      # some of it
    python -m benchmarks.large_k --save now.json              # keep the losses
    python -m benchmarks.large_k --against then.json          # and compare with those of another version

`auto` runs with its defaults (balanced effort) and no limit of time, so that all figures can be repeated on
any machine: the median of `--seeds` seeds. ICSM's time grows with the square of k: it is left out where the
number of records times k is above `--most`. With `--against`, the losses of descent and ICSM, which make no
random choices, are taken from that file.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

import microagg
from benchmarks.markdown import grid
from benchmarks.quality.data import lognormal
from microagg import datasets
from microagg.model import Table

KS = (15, 20, 30, 45, 50, 70, 100, 200)
ABSENT = "–"
LARGEST_RISE = 1e-6
"""Relative: sums in another order differ by less."""


def clusters() -> Table:
    """1,500 × 6: twelve normal clusters of unequal spread."""
    rng = np.random.default_rng(11)
    own = rng.integers(0, 12, 1500)
    spreads = rng.uniform(0.2, 1.5, 12)[own, np.newaxis]
    values = 3.0 * rng.standard_normal((12, 6))[own] + spreads * rng.standard_normal((1500, 6))
    return Table(tuple(f"x{place}" for place in range(1, 7)), np.round(values, 6))


TABLES: dict[str, Callable[[], Table]] = {
    "tarragona": lambda: datasets.load("tarragona"),
    "census": lambda: datasets.load("census"),
    "eia": lambda: datasets.load("eia"),
    "census_like(1000)": lambda: datasets.census_like(1_000),
    "lognormal": lognormal,
    "clusters": clusters,
}


Losses = dict[str, float | None]
"""By method; None where it was not run."""


def losses_of(name: str, k: int, most: int, seeds: int, then: Losses) -> Losses:
    table = TABLES[name]()

    def loss(method: str, seed: int = 0) -> float:
        return microagg.partition(table, k, method, seed=seed, threads=1).information_loss

    fixed = then or {
        "descent": loss("descent"),
        "icsm": loss("icsm") if len(table.values) * k <= most else None,
    }
    return {
        "descent": fixed["descent"],
        "icsm": fixed["icsm"],
        "auto": median(loss("auto", seed) for seed in range(seeds)),
    }


def cells(instance: str, found: Losses, then: Losses) -> list[str]:
    """A line of the table; a loss of `auto` above that of another column is marked."""
    name, k = instance.split(":")
    auto = found["auto"]
    assert auto is not None
    others = [found["descent"], found["icsm"], *([then["auto"]] if then else [])]
    above = any(other is not None and auto > other * (1.0 + LARGEST_RISE) for other in others)
    shown = [ABSENT if other is None else f"{other:.4f}" for other in others]
    return [name, k, *shown, f"{auto:.4f}" + " (above)" * above]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large_k", description="large k")
    parser.add_argument("--data", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--k", nargs="+", type=int, default=KS)
    parser.add_argument("--seeds", type=int, default=1, help="median of the seeds 0, 1, … (default: one)")
    parser.add_argument("--most", type=int, default=220_000, help="records times k for ICSM (220,000)")
    parser.add_argument("--save", type=Path, help="file for the losses")
    parser.add_argument("--against", type=Path, help="file of another version's losses: one more column")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    then: dict[str, Losses] = json.loads(given.against.read_text("utf-8")) if given.against else {}
    found: dict[str, Losses] = {}
    for name in given.data:
        for k in given.k:
            instance = f"{name}:{k}"
            found[instance] = losses_of(name, k, given.most, given.seeds, then.get(instance, {}))
            if given.save:
                given.save.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    headings = ["data", "k", "descent", "ICSM", *(["auto then"] if then else []), "auto"]
    print(grid(headings, (cells(one, losses, then.get(one, {})) for one, losses in found.items())))


if __name__ == "__main__":
    main()
