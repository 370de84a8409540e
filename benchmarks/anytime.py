"""What `auto` reaches where time is short: beside other work, and with the steps of a few seconds.

    python -m benchmarks.anytime                    # all: some minutes of one core
    python -m benchmarks.anytime --only busy        # 10,000 records in 2 s while four other processes work
    python -m benchmarks.anytime --only steps --seeds 5 6 7

Census-like records, k = 3. `busy` has a limit of time, which four processes of its own make scarce; they
end with it. `steps` counts the steps for so many seconds and takes them without a clock: the loss does
not depend on what else the machine does, and prints the CPU seconds they took. Medians over seeds.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from statistics import median
from time import monotonic, process_time

import microagg
from microagg import datasets
from microagg.methods.auto import choose
from microagg.methods.exact.bound import bound_of, record_shares
from microagg.methods.objective import sst
from microagg.methods.run import Run
from microagg.model import Problem
from microagg.prepare.units import to_points

K = 3
BUSY_RECORDS, BUSY_SECONDS, OTHERS = 10_000, 2.0, 4
STEPS = ((20_000, 4.0), (100_000, 25.0))
LONGEST_LOAD = 120.0
"""Seconds after which a process that makes load ends by itself, whatever became of its parent."""


def make_load(parent: int) -> None:
    """Use a core as long as the parent lives."""
    begun = monotonic()
    while monotonic() - begun < LONGEST_LOAD and os.getppid() == parent:
        sum(range(100_000))


@contextmanager
def other_processes(count: int) -> Iterator[None]:
    context = get_context("spawn")
    others = [context.Process(target=make_load, args=(os.getpid(),), daemon=True) for _ in range(count)]
    for each in others:
        each.start()
    try:
        yield
    finally:
        for each in others:
            each.terminate()
            each.join()


def busy(seeds: list[int]) -> None:
    table = datasets.census_like(BUSY_RECORDS)
    descent = microagg.partition(table, K, "descent", threads=1).information_loss
    with other_processes(OTHERS):
        losses = [
            microagg.partition(table, K, seconds=BUSY_SECONDS, seed=seed).information_loss for seed in seeds
        ]
    print(
        f"{BUSY_RECORDS:,} records, {BUSY_SECONDS:g} s beside {OTHERS} other processes: "
        f"{median(losses):.4f} ({min(losses):.4f} to {max(losses):.4f}); "
        f"descent without a limit {descent:.4f}",
        flush=True,
    )


def steps(seeds: list[int]) -> None:
    for n, seconds in STEPS:
        table = datasets.census_like(n)
        problem = Problem(to_points(table, "zscore"), K)
        recipe = choose(problem, Run(seconds=seconds, threads=1)).recipe
        losses, taken = [], []
        for seed in seeds:
            begun = process_time()
            losses.append(microagg.partition(table, K, recipe, seed=seed, threads=1).information_loss)
            taken.append(process_time() - begun)
            print(f"  seed {seed}: {losses[-1]:.4f} in {taken[-1]:.1f} CPU s", flush=True)
        bound = 100.0 * bound_of(record_shares(problem, Run(threads=1))) / sst(problem.points)
        print(
            f"{n:,} records, steps of {seconds:g} s ({recipe}): {median(losses):.4f} in "
            f"{median(taken):.1f} CPU s; bound {bound:.4f}, {100 * bound / median(losses):.1f} % of it",
            flush=True,
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=("busy", "steps"), help="one of the two")
    parser.add_argument("--seeds", type=int, nargs="+", default=[5, 6, 7, 8, 9], help="5 to 9")
    given = parser.parse_args()
    if given.only != "steps":
        busy(given.seeds)
    if given.only != "busy":
        steps(given.seeds)


if __name__ == "__main__":
    main()
