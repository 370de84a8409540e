"""What `auto` reaches with the steps of ten seconds, seed by seed, for docs/methods/search.md.

    python -m benchmarks.ten_seconds                          # prints the table; ten minutes of one core
    python -m benchmarks.ten_seconds --only census:45 eia:30
    python -m benchmarks.ten_seconds --only census:45 --seeds 0 1 2

Each run takes the recipe that `auto` chooses for ten seconds at the best effort, without a clock, so that
losses depend on the seed alone. The CPU seconds that the steps took are beside them.
"""

from __future__ import annotations

import argparse
from statistics import median
from time import process_time

import microagg
from benchmarks.markdown import grid
from benchmarks.quality.campaign import planned_recipe
from microagg import datasets

SECONDS = 10.0
SEEDS = (5, 6, 7, 8, 9)
INSTANCES = (
    "census:5", "census:20", "census:30", "census:45", "census:50", "census:70", "tarragona:30", "eia:30",
)  # fmt: skip


def line_of(instance: str, seeds: list[int]) -> list[str]:
    """A line of the table."""
    data, k = instance.split(":")
    table = datasets.load(data)
    recipe = planned_recipe(*table.values.shape, int(k), SECONDS, threads=1)
    losses, groups, taken = [], set(), []
    for seed in seeds:
        begun = process_time()
        found = microagg.partition(table, int(k), recipe, seed=seed, threads=1)
        taken.append(process_time() - begun)
        losses.append(found.information_loss)
        groups.add(len(found.sizes))
        print(f"  {instance} seed {seed}: {losses[-1]:.4f} in {taken[-1]:.1f} CPU s", flush=True)
    counts = " to ".join(str(count) for count in dict.fromkeys((min(groups), max(groups))))
    spread = f"{min(losses):.4f} to {max(losses):.4f}"
    return [data, f"`{recipe}`", k, counts, f"{median(losses):.4f}", spread, f"{median(taken):.1f}"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=INSTANCES, default=INSTANCES, help="DATA:K …")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS, help="5 to 9")
    given = parser.parse_args()
    lines = [line_of(instance, given.seeds) for instance in given.only]
    headings = ("data", "recipe", "k", "groups", "median", "lowest to highest", "CPU s")
    print(grid(headings, lines, words=2), end="")


if __name__ == "__main__":
    main()
