"""CPU time of descent for every k, and how it differs between neighbouring k.

    python -m benchmarks.descent_by_k                    # 2,000 census-like records, some 70 values of k
    python -m benchmarks.descent_by_k --data lognormal   # other data
    python -m benchmarks.descent_by_k --n 1000 --all     # every k from 2 to n/2
    python -m benchmarks.descent_by_k --n 100000 --k 100 # some k only

Each line has k, the largest number of groups, CPU seconds of descent without its neighbour lists, and their
ratios to those of the quicker and of the slower of k − 1 and k + 1. The last line has the largest ratios of
those k that take at least 0.05 s. Where k divides n no group has a record to give, and descent ends sooner:
its neighbours then have a high ratio to it, but not to each other.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import process_time

import numpy as np

from microagg import datasets
from microagg.methods.fixed_size import Mdav
from microagg.methods.local_search import Descent
from microagg.methods.neighbours import list_length, near_lists
from microagg.methods.run import Run
from microagg.methods.stage import one_group, solve
from microagg.model import Points, Problem

LEAST_SECONDS, MOST_SECONDS_TO_REPEAT = 0.05, 5.0


def lognormal(n: int) -> Points:
    """Six attributes with long right tails."""
    return np.exp(np.random.default_rng(7).normal(size=(n, 6)))


DATA: dict[str, Callable[[int], Points]] = {
    "census-like": lambda n: datasets.census_like(n).values,
    "lognormal": lognormal,
}


def seconds_of_descent(points: Points, k: int) -> float:
    """CPU seconds, of short runs the lesser of two: what else the machine does disturbs it less."""
    problem, run = Problem(points, k), Run(threads=1)
    start = solve(Mdav(), problem, one_group(problem), run)
    near_lists(problem, list_length(len(points), k), run)
    taken: list[float] = []
    while len(taken) < 2 and sum(taken) < MOST_SECONDS_TO_REPEAT:
        begun = process_time()
        solve(Descent(), problem, start, run)
        taken.append(process_time() - begun)
    return min(taken)


def chosen(n: int, every: bool) -> list[int]:
    """Values of k: all, or dense where k is small and around the divisors of n."""
    if every:
        return list(range(2, n // 2 + 1))
    middle = {n // groups for groups in range(2, 13)} | {round(k) for k in np.geomspace(2, n // 2, 16)}
    near = {k + off for k in middle for off in (-1, 0, 1)}
    return sorted(k for k in near if 2 <= k <= n // 2)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="CPU time of descent for every k")
    parser.add_argument("--n", type=int, default=2_000, help="records (2,000)")
    parser.add_argument("--data", choices=DATA, default="census-like", help="census-like, or lognormal")
    parser.add_argument("--all", action="store_true", help="every k, not some 70")
    parser.add_argument("--k", type=int, nargs="+", default=[], help="these k only")
    given = parser.parse_args()
    values = DATA[given.data](given.n)
    points = np.ascontiguousarray((values - values.mean(axis=0)) / values.std(axis=0))
    values_of_k = given.k or chosen(given.n, given.all)
    seconds = {k: seconds_of_descent(points, k) for k in values_of_k}
    worst = {"quicker": 0.0, "slower": 0.0}
    for k, taken in seconds.items():
        beside = [seconds[near] for near in (k - 1, k + 1) if near in seconds] or [taken]
        ratios = {"quicker": taken / min(beside), "slower": taken / max(beside)}
        if taken >= LEAST_SECONDS and len(beside) == 2:
            worst = {which: max(worst[which], ratio) for which, ratio in ratios.items()}
        shown = " ".join(f"{ratio:6.2f}" for ratio in ratios.values())
        print(f"{k:6d} {given.n // k:6d} {taken:8.3f} {shown}", flush=True)
    print(f"largest ratio to the quicker {worst['quicker']:.2f}, to the slower {worst['slower']:.2f}")


if __name__ == "__main__":
    main()
