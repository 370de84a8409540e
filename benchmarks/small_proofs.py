"""How often the default run proves the optimum of a small random table, for docs/proofs.md.

    python -m benchmarks.small_proofs [--tables 200] [--seed 2027] [--most 100] [--page]

Each table has a number of records from 17 (fewer are solved by trying everything) to `--most`, 2 to 13
attributes, k from 2 to 5, all drawn uniformly, and one of six kinds in turn; `microagg.partition(data, k)`
with nothing else said but one thread. CPU time includes MDAV and annealing, not the loading of the package.
No table of the default seed served to choose the settings. `--page` writes the table into the page.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from time import process_time

import numpy as np
from numpy.typing import NDArray

import microagg
from benchmarks.proofs import put_between

BEGIN, END = "<!-- table: python -m benchmarks.small_proofs -->", "<!-- end of small proofs -->"
KINDS = ("normal", "uniform", "lognormal", "five clusters", "correlated", "rounded")
MOST_CPU_SECONDS = 2.0


@dataclass(frozen=True)
class Attempt:
    records: int
    k: int
    kind: str
    proved: bool
    cpu: float

    @property
    def in_time(self) -> bool:
        return self.proved and self.cpu <= MOST_CPU_SECONDS


def drawn(kind: str, rng: np.random.Generator, n: int, p: int) -> NDArray[np.float64]:
    values = rng.normal(size=(n, p))
    if kind == "uniform":
        return rng.random(size=(n, p))
    if kind == "lognormal":
        return np.exp(values)
    if kind == "five clusters":
        return 3.0 * rng.normal(size=(5, p))[rng.integers(0, 5, size=n)] + values
    if kind == "correlated":
        return values @ rng.normal(size=(p, p))
    if kind == "rounded":
        return np.round(2.0 * values)
    return values


def attempt(seed: int, number: int, most: int) -> Attempt:
    rng = np.random.default_rng([seed, number])
    kind = KINDS[number % len(KINDS)]
    n, p, k = int(rng.integers(17, most + 1)), int(rng.integers(2, 14)), int(rng.integers(2, 6))
    values = drawn(kind, rng, n, p)
    before = process_time()
    found = microagg.partition(values, k, threads=1)
    cpu = process_time() - before
    return Attempt(n, k, kind, found.proved, cpu)


def row(name: str, attempts: list[Attempt]) -> str:
    seconds = sorted(attempt.cpu for attempt in attempts)
    count = len(attempts)
    proved, in_time = (
        100.0 * sum(which) / count
        for which in (
            [attempt.proved for attempt in attempts],
            [attempt.in_time for attempt in attempts],
        )
    )
    nine_tenths = seconds[min(int(0.9 * count), count - 1)]
    return (
        f"| {name} | {count} | {proved:.1f} | {in_time:.1f} "
        f"| {seconds[count // 2]:.2f} | {nine_tenths:.2f} | {seconds[-1]:.2f} |"
    )


def table_of(attempts: list[Attempt], most: int) -> list[str]:
    lines = [
        f"| tables | number | proven % | proven within {MOST_CPU_SECONDS:g} CPU s % "
        "| median CPU s | nine in ten below | longest |",
        "|---|---:|---:|---:|---:|---:|---:|",
        row("all", attempts),
    ]
    parts = [(f"k = {k}", [a for a in attempts if a.k == k]) for k in range(2, 6)]
    for low, high in ((17, 50), (51, 75), (76, most)):
        parts.append((f"{low} to {high} records", [a for a in attempts if low <= a.records <= high]))
    parts += [(kind, [a for a in attempts if a.kind == kind]) for kind in KINDS]
    return lines + [row(name, part) for name, part in parts if part]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=200, help="how many (default: 200)")
    parser.add_argument("--seed", type=int, default=2027, help="of the tables (default: 2027)")
    parser.add_argument("--most", type=int, default=100, help="records (default: 100)")
    parser.add_argument("--page", action="store_true", help="write the result into docs/proofs.md")
    settings = parser.parse_args()
    microagg.partition(np.random.default_rng(0).normal(size=(20, 2)), 3)  # loads the solver
    attempts = [attempt(settings.seed, number, settings.most) for number in range(settings.tables)]
    lines = table_of(attempts, settings.most)
    print("\n".join(lines))
    if settings.page:
        put_between(BEGIN, END, lines)


if __name__ == "__main__":
    main()
