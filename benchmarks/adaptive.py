"""Assignment rounds against annealing for k = 3, on data of many kinds, for docs/methods/search.md.

    python -m benchmarks.adaptive [--n 5000] [--steps 4000]

Both searches begin with the same descent from MDAV, with `--steps` a record or the rounds that count as
much, one thread and no limit of time. The second column is what `adaptive` decides by. Prints Markdown.
"""

from __future__ import annotations

import argparse
from time import process_time

import numpy as np

import microagg
from benchmarks.markdown import grid
from benchmarks.small_proofs import drawn
from microagg import datasets
from microagg.methods.assignment import LARGER_GROUPS, STEPS_A_ROUND

K = 3
DRAWN = (
    ("normal", 9),
    ("lognormal", 13),
    ("five clusters", 5),
    ("rounded", 7),
    ("lognormal", 6),
    ("normal", 4),
    ("uniform", 2),
)


def tables(n: int) -> dict[str, np.ndarray]:
    """Generated data by name: kind and number of attributes."""
    rng = np.random.default_rng(2028)
    return {"`census_like`, p = 13": datasets.census_like(n).values} | {
        f"{kind}, p = {p}": drawn(kind, rng, n, p) for kind, p in DRAWN
    }


def row(name: str, values: np.ndarray, steps: int) -> list[str]:
    """The share of groups above k, and loss and CPU seconds of both searches."""
    cells = [name]
    sizes = microagg.partition(values, K, "mdav+descent", threads=1).sizes
    larger = float(np.mean(np.asarray(sizes) > K))
    cells.append(f"{100.0 * larger:.1f} %")
    rounds, all_steps = steps // STEPS_A_ROUND, steps * len(values)
    for search in (f"assignment:rounds={rounds}", f"anneal:steps={all_steps}"):
        before = process_time()
        found = microagg.partition(values, K, f"mdav+descent+{search}", threads=1)
        cells += [f"{found.information_loss:.4f}", f"{process_time() - before:.1f}"]
    return [*cells, "rounds" if larger <= LARGER_GROUPS[K] else "annealing"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.adaptive", description="the two searches")
    parser.add_argument("--n", type=int, default=5_000, help="records (5,000)")
    parser.add_argument("--steps", type=int, default=4_000, help="steps of annealing a record (4,000)")
    given = parser.parse_args()
    rows = [row(name, values, given.steps) for name, values in tables(given.n).items()]
    headings = ("data", "groups above k", "rounds", "CPU s", "annealing", "CPU s", "`adaptive` takes")
    print(grid(headings, rows))


if __name__ == "__main__":
    main()
