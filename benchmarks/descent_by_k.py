"""CPU time of descent for every k, and how it differs between neighbouring k.

    python -m benchmarks.descent_by_k                    # 2,000 census-like records, some 70 values of k
    python -m benchmarks.descent_by_k --data lognormal   # other data
    python -m benchmarks.descent_by_k --n 1000 --all     # every k from 2 to n/2
    python -m benchmarks.descent_by_k --n 100000 --k 100 # some k only

Each line has k, the largest number of groups, CPU seconds of descent without its neighbour lists, and their
ratio to those of the quicker of the two neighbouring k. The last line has the largest such ratio of those
that take at least 0.05 s.
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

LEAST_SECONDS = 0.05


def lognormal(n: int) -> Points:
    """Six attributes with long right tails."""
    return np.exp(np.random.default_rng(7).normal(size=(n, 6)))


DATA: dict[str, Callable[[int], Points]] = {
    "census-like": lambda n: datasets.census_like(n).values,
    "lognormal": lognormal,
}


def seconds_of_descent(points: Points, k: int) -> float:
    """CPU seconds, the least of two runs: what else the machine does disturbs the lesser less."""
    problem, run = Problem(points, k), Run(threads=1)
    start = solve(Mdav(), problem, one_group(problem), run)
    near_lists(problem, list_length(len(points), k), run)
    taken = []
    for _ in range(2):
        begun = process_time()
        solve(Descent(), problem, start, run)
        taken.append(process_time() - begun)
    return min(taken)


def chosen(n: int, every: bool) -> list[int]:
    """Values of k: all, or dense where k is small and around the divisors of n."""
    if every:
        return list(range(2, n // 2 + 1))
    around = {n // groups + off for groups in range(2, 13) for off in (-1, 0, 1)}
    spread = {round(k) for k in np.geomspace(2, n // 2, 40)}
    return sorted(k for k in around | spread if 2 <= k <= n // 2)


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
    seconds = [seconds_of_descent(points, k) for k in values_of_k]
    worst = 0.0
    for place, k in enumerate(values_of_k):
        beside = seconds[max(place - 1, 0) : place] + seconds[place + 1 : place + 2]
        ratio = seconds[place] / min(beside, default=seconds[place])
        if seconds[place] >= LEAST_SECONDS:
            worst = max(worst, ratio)
        print(f"{k:5d} {given.n // k:5d} {seconds[place]:8.3f} {ratio:6.2f}", flush=True)
    print(f"largest ratio: {worst:.2f}")


if __name__ == "__main__":
    main()
