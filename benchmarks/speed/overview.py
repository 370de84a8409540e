"""The figures of the overview of docs/speed.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.speed.cases import ENGINE_RECORDS, OVERHEADS
from benchmarks.speed.curves import CURVES
from benchmarks.speed.jobs import engines
from benchmarks.speed.jobs.peers import OUR_METHODS
from benchmarks.speed.store import Results


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the overview; `value` is None for what was not run."""

    what: str
    unit: str
    value: Callable[[Results], float | None]


BLOCKS = next(curve for curve in CURVES if curve.part == "blocks")


def cpu(part: str, **settings: object) -> Callable[[Results], float | None]:
    return lambda results: results.figure("cpu", part, **settings)


def wall(part: str, **settings: object) -> Callable[[Results], float | None]:
    return lambda results: results.figure("wall", part, **settings)


def quotient(above: float | None, below: float | None) -> float | None:
    return None if above is None or below is None else above / below


def of_line(part: str, above: str, below: str, **settings: object) -> Callable[[Results], float | None]:
    """One figure of a line divided by another."""

    def found(results: Results) -> float | None:
        line = results.line(part, **settings)
        return None if line is None else line[above] / line[below]

    return found


def percent_over_mdav(results: Results, n: int, k: int, seconds: int) -> float | None:
    """The loss of a refinement beside that of full MDAV on the same data."""
    refined = results.figure("il", "refinement", n=n, k=k, seconds=seconds)
    share = quotient(refined, results.figure("il", "mdav", n=n, k=k, engine="auto"))
    return None if share is None else 100.0 * (share - 1.0)


def overhead(results: Results, method: str, n: int, k: int) -> float | None:
    """By how many percent `partition()` takes longer than the kernel."""
    share = of_line("overhead", "cpu", "kernel", method=method, n=n, k=k)(results)
    return None if share is None else 100.0 * (share - 1.0)


def worst_engine(results: Results) -> float | None:
    """The largest time of the engine chosen as a share of that of brute force."""
    shares = [
        of_line("engines", "cpu", "brute", method="mdav", data=data, n=ENGINE_RECORDS, k=3)(results)
        for data in engines.DATA
    ]
    known = [share for share in shares if share is not None]
    return max(known) if len(known) == len(shares) else None


def ratio_at_lower_loss(results: Results, k: int) -> float | None:
    """How many times faster than k-means-constrained the fastest of our methods is that loses less."""
    line = results.line("k-means-constrained", n=5_000, k=k)
    if line is None:
        return None
    return max(
        (
            line["theirs"] / line[method]
            for method in OUR_METHODS
            if line[f"{method}_il"] < line["their_il"]
        ),
        default=0.0,
    )


def peak_of_blocks(results: Results) -> float | None:
    """Data and what rises above them, as a multiple of the data."""
    line = results.line("blocks", n=10_000_000, k=3, threads=1)
    return None if line is None or line["above"] is None else 1.0 + line["above"] / line["data"]


def figures() -> Iterator[Figure]:
    for n in (10_000, 100_000, 1_000_000):
        for k in (3, 10):
            yield Figure(f"exact MDAV, {n:,}, k = {k}", "CPU s", cpu("mdav", n=n, k=k, engine="auto"))
    for k in (3, 10):
        memory = lambda results, k=k: results.figure("above", "mdav", n=1_000_000, k=k, engine="auto")  # noqa: E731
        yield Figure(f"exact MDAV, 1,000,000, k = {k}, above the data", "MiB", memory)
    yield Figure("chosen engine / brute force, worst data", "×", worst_engine)
    yield Figure("blocks, 1,000,000, k = 3", "CPU s", cpu("blocks", n=1_000_000, k=3, threads=1))
    yield Figure("blocks, 1,000,000, k = 3, two threads", "s", wall("blocks", n=1_000_000, k=3, threads=2))
    yield Figure("blocks, 10,000,000, k = 3", "CPU s", cpu("blocks", n=10_000_000, k=3, threads=1))
    yield Figure("blocks, exponent from 1,000,000 to 10,000,000", "", BLOCKS.last_decade)
    yield Figure("blocks, 10,000,000, peak / data", "×", peak_of_blocks)
    for data in ("normal", "photograph"):
        slower = of_line("tfrp", "tfrp", "centroid", data=data, k=10)
        yield Figure(f"TFRP / Centroid, 65,536 × 4, {data}, k = 10", "×", slower)
    yield from _refinements()
    yield from _against_peers()
    yield Figure("neighbour lists (20), 1,000,000", "CPU s", cpu("neighbours", n=1_000_000, threads=1))
    for method, n, k in OVERHEADS:
        more = lambda results, m=method, n=n, k=k: overhead(results, m, n, k)  # noqa: E731
        yield Figure(f"partition() over the kernel: {method}, {n:,}, k = {k}", "%", more)


def _refinements() -> Iterator[Figure]:
    for n, seconds in ((100_000, 20), (1_000_000, 120)):
        for k in (3, 10):
            lower = lambda results, n=n, k=k, s=seconds: percent_over_mdav(results, n, k, s)  # noqa: E731
            yield Figure(f"loss in {seconds} s on two threads / full MDAV, {n:,}, k = {k}", "%", lower)


def _against_peers() -> Iterator[Figure]:
    for n in (1_000_000, 10_000_000):
        for k in (3, 10, 100):
            ratio = of_line("microagg1d", "theirs", "kernel", n=n, k=k)
            yield Figure(f"univariate, times faster than microagg1d, {n:,}, k = {k}", "×", ratio)
    faster = lambda results: ratio_at_lower_loss(results, k=3)  # noqa: E731
    yield Figure("times faster than k-means-constrained at lower loss, 5,000, k = 3", "×", faster)
