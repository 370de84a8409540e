"""How long the papers' methods take, beside each other in one run: docs/papers-times.md.

    python -m benchmarks.papers_times           # about a minute of one core
    python -m benchmarks.papers_times --page    # the page again, from what was measured before

What the papers say about time is a list of statements below. Machines and programs of 1998 to 2015 cannot
be compared with ours, ratios between methods can. Times are CPU seconds of one thread, the least of up to
three runs; they are kept in papers_times.json.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tests.differential.engines import METHODS as KERNELS
from tests.papers import figures

import microagg
from benchmarks.markdown import grid
from benchmarks.speed.measuring import seconds_of
from microagg._core import Engine

PAGE = Path(__file__).parents[1] / "docs" / "papers-times.md"
STORE = Path(__file__).with_suffix(".json")
MEASURED: dict[str, float] = {}
SIX = ("tfrp-1", "tfrp", "centroid", "centroid-plus", "diameter", "diameter-plus")
REAL = ("tarragona", "census", "eia-10")
PHOTOGRAPHS = ("hopper-2x2", "hopper-4x4", "flower-2x2", "flower-4x4")
SIZES = (10_000, 30_000, 60_000, 119_808)
ICSM = "icsm:tries=1:pool=100:lists=no"


@cache
def both_photographs() -> np.ndarray:
    """The 2 × 2 blocks of both, in an order that mixes them, so that a part of them is like all."""
    blocks = np.concatenate([figures.data_set("hopper-2x2"), figures.data_set("flower-2x2")])
    return np.random.default_rng(0).permutation(blocks)


def seconds(data: str, method: str, k: int, n: int = 0) -> float:
    """Of a whole call; with "without trees" after a method's name, of its kernel without them."""
    key = f"{data} {n or ''} {method} {k}"
    if key not in MEASURED:
        table = both_photographs()[:n] if data == "both photographs" else figures.data_set(data)
        MEASURED[key] = measured(table, method, k)
        STORE.write_text(json.dumps(dict(sorted(MEASURED.items())), indent=1) + "\n", encoding="utf-8")
    return MEASURED[key]


def measured(table: Any, method: str, k: int) -> float:
    name, _, bare = method.partition(" ")
    if bare:
        values = np.asarray(getattr(table, "values", table), dtype=np.float64)
        points = np.ascontiguousarray((values - values.mean(axis=0)) / values.std(axis=0))
        taken, _ = seconds_of(lambda: KERNELS[name](points, k, Engine.BRUTE), 3, 2.0)
    else:
        microagg.partition(np.random.default_rng(0).normal(size=(50, 2)), 3, name)  # imports what it needs
        taken, _ = seconds_of(lambda: microagg.partition(table, k, name, threads=1), 3, 2.0)
    return float(taken["cpu"])


def ratio(data: str, slow: str, fast: str, k: int, n: int = 0) -> float:
    return seconds(data, slow, k, n) / seconds(data, fast, k, n)


def span(values: Iterable[float]) -> str:
    """`0.5 to 1.9 times`."""
    every = list(values)
    low, high = (f"{value:.2g}" if value < 100 else f"{value:.0f}" for value in (min(every), max(every)))
    return f"{low} times" if low == high else f"{low} to {high} times"


def exponent(method: str) -> float:
    first, last = SIZES[0], SIZES[-1]
    grown = seconds("both photographs", method, 50, last) / seconds("both photographs", method, 50, first)
    return math.log(grown) / math.log(last / first)


@dataclass(frozen=True)
class Statement:
    where: str
    text: str
    here: Callable[[], tuple[bool, str]]
    """Whether it holds, and what was measured."""
    why: str
    """Shown where it does not hold."""


def fastest(method: str, others: tuple[str, ...]) -> Callable[[], tuple[bool, str]]:
    """`method` takes no longer than any of the others on the real data."""

    def here() -> tuple[bool, str]:
        cases = [(data, k) for data in REAL for k in (5, 10, 25, 50)]
        ratios = [ratio(data, method, other, k) for data, k in cases for other in others]
        good = sum(all(ratio(data, method, other, k) <= 1.0 for other in others) for data, k in cases)
        return good == len(cases), f"in {good} of {len(cases)} cases; it takes {span(ratios)} as long"

    return here


def ratios_hold(
    cases: Iterable[tuple[str, str, str, int, int]], least: float, most: float = math.inf
) -> Callable[[], tuple[bool, str]]:
    """(data, slow, fast, k, n) each: the first method takes `least` to `most` times as long."""

    def here() -> tuple[bool, str]:
        found = [ratio(*case) for case in cases]
        return all(least <= one <= most for one in found), span(found)

    return here


def grows(method: str, least: float) -> Callable[[], tuple[bool, str]]:
    def here() -> tuple[bool, str]:
        found = exponent(method)
        return found >= least, f"as n to the power of {found:.2f}"

    return here


def rounds_cost() -> tuple[bool, str]:
    slow, fast = (seconds("synthetic", f"{ICSM}:iterations={rounds}", 3) for rounds in (20, 1))
    return slow / fast >= 10, f"20 rounds beside one: {slow / fast:.3g} times"


def centroid_beside_tfrp(k: int) -> Callable[[], tuple[bool, str]]:
    """On 4 × 4 blocks, and the first phases without trees, as the paper's programs worked."""

    def here() -> tuple[bool, str]:
        data = ("hopper-4x4", "flower-4x4")
        found = [ratio(one, "centroid", "tfrp", k) for one in data]
        bare = [ratio(one, "centroid without trees", "tfrp without trees", k) for one in data]
        return min(found) > 1, f"{span(found)}; first phases without trees {span(bare)}"

    return here


TREES = "trees and bounds spare Centroid and Diameter most distances"
SMALL = "on so few records the first phases take some milliseconds, and the second as many"
STATEMENTS = (
    Statement(
        "CMP98 §4.1",
        "UFS takes no time beside the others (UDO and MFS 25 s, MDO 35 to 39 s)",
        ratios_hold((("tarragona", slow, "ufs-fpc", 3, 0) for slow in ("udo-fpc", "mfs-md", "mdo-fpc")), 5),
        "",
    ),
    Statement(
        "CMP98 §4.1",
        "UDO takes about as long as MFS",
        ratios_hold([("tarragona", "udo-fpc", "mfs-md", 3, 0)], 0.5, 2),
        "open: neither does the work that the paper's programs did; bounds spare MFS most pairs",
    ),
    Statement(
        "CMP98 §4.1",
        "MDO takes longer than UDO (1.4 to 1.6 times)",
        ratios_hold((("tarragona", "mdo-fpc", "udo-fpc", k, 0) for k in (3, 4, 5)), 1),
        "",
    ),
    Statement(
        "VLDBJ06 §5",
        "on Census, k = 3, all heuristics take about as long (1 s)",
        ratios_hold(
            (("census", slow, "mdav", 3, 0) for slow in ("npn-mhm", "mdav-mhm", "cbfs", "cbfs-mhm", "md")),
            0.5,
            2,
        ),
        "times of a second are rounded there; MD is the one that takes longer here",
    ),
    Statement(
        "VLDBJ06 §5",
        "on EIA, k = 3, MD takes 30 times as long as MDAV",
        ratios_hold([("eia", "md", "mdav", 3, 0)], 15),
        "bounds that are remembered spare MD most pairs",
    ),
    Statement(
        "VLDBJ06 §5",
        "on EIA, k = 3, MD-MHM takes 1.07 times as long as MD",
        ratios_hold([("eia", "md-mhm", "md", 3, 0)], 0.9, 1.5),
        "",
    ),
    Statement(
        "VLDBJ06 §5",
        "on Very LargeCensus, k = 3, NPN-MHM takes half as long as MDAV (721 s, 1,421 s)",
        ratios_hold([("very-large-census", "mdav", "npn-mhm", 3, 0)], 1.5),
        "open: both find near records by trees here",
    ),
    Statement(
        "VLDBJ06 §5",
        "on Very LargeCensus, k = 3, MDAV-MHM takes 1.02 times as long as MDAV (1,450 s)",
        ratios_hold([("very-large-census", "mdav-mhm", "mdav", 3, 0)], 1, 1.3),
        "trees make MDAV so fast that the path through its groups counts beside it",
    ),
    Statement("TFRP07 Fig. 10", "TFRP_I is always the fastest", fastest("tfrp-1", SIX[1:]), SMALL),
    Statement("TFRP07 Fig. 10", "TFRP comes next", fastest("tfrp", SIX[2:]), SMALL),
    Statement(
        "TFRP07 Fig. 10",
        "the second phase takes little: TFRP beside TFRP_I (at most twice as long)",
        ratios_hold(((data, "tfrp", "tfrp-1", k, 0) for data in REAL for k in (5, 10, 25, 50)), 1, 2),
        SMALL,
    ),
    Statement(
        "TFRP07 Figs. 10 to 12",
        "Centroid+ and Diameter+ are slightly slower than Centroid and Diameter (at most twice as slow)",
        ratios_hold(
            (
                (data, f"{method}-plus", method, k, 0)
                for data in (*REAL, *PHOTOGRAPHS)
                for method in ("centroid", "diameter")
                for k in (10, 50)
            ),
            1,
            2,
        ),
        TREES + ", so that the second phase counts beside them",
    ),
    Statement(
        "TFRP07 Fig. 11b",
        "4 × 4 blocks, k = 10: Centroid takes 3.52 times as long as TFRP",
        centroid_beside_tfrp(10),
        TREES,
    ),
    Statement(
        "TFRP07 Fig. 11b",
        "4 × 4 blocks, k = 80: Centroid takes 12.84 times as long as TFRP",
        centroid_beside_tfrp(80),
        TREES,
    ),
    Statement(
        "TFRP07 Figs. 11 and 12",
        "TFRP is faster than Diameter by more than three orders of magnitude",
        ratios_hold(((data, "diameter", "tfrp", k, 0) for data in PHOTOGRAPHS for k in (10, 80)), 1000),
        TREES,
    ),
    Statement(
        "TFRP07 Fig. 13",
        "two photographs, k = 50: Diameter takes cubic time in n",
        grows("diameter", 2.5),
        "bounds and trees leave less than quadratic time",
    ),
    Statement(
        "TFRP07 Fig. 13",
        "two photographs, k = 50: TFRP takes quadratic time in n",
        grows("tfrp", 1.8),
        "trees leave less",
    ),
    Statement(
        "TFRP07 Fig. 13",
        "two photographs, k = 50: TFRP is faster than Centroid by one order of magnitude",
        ratios_hold((("both photographs", "centroid", "tfrp", 50, n) for n in SIZES), 10),
        TREES,
    ),
    Statement(
        "ICSM15 Table 2",
        "ICSM takes longer than MDAV (1 to 26 s, less than 1 s)",
        ratios_hold(
            ((data, "icsm:tries=1", "mdav", k, 0) for data in ("tarragona", "census") for k in (3, 10)),
            1,
        ),
        "",
    ),
    Statement(
        "ICSM15 Table 2",
        "on Synthetic, k = 3, twenty times as many rounds take 22.5 times as long (15 s, 338 s)",
        rounds_cost,
        "",
    ),
)

INTRODUCTION = """\
# The papers' times beside ours

Ratios between methods, as the papers print them and as they are here. Written by
`python -m benchmarks.papers_times`. Times are CPU seconds of one thread, the shortest of up to three runs,
on a machine that was also used by others. The papers' machines and programs cannot be compared with ours;
ratios between methods of one run can.

The methods make the groups that the papers describe. But here they find near and far records by trees and
bounds, so statements that assume a look at every record each time do not hold. Data:
[papers](papers.md#data); photographs are used instead of Lena and Girl, both together for Lena-Girl.
"""


def time_table() -> str:
    rows = [
        [data, str(k), *(f"{seconds(data, method, k):.3f}" for method in SIX)]
        for data in (*REAL, *PHOTOGRAPHS)
        for k in (10, 50)
    ]
    rows += [
        [f"both photographs, {n:,}", "50", *(f"{seconds('both photographs', m, 50, n):.3f}" for m in SIX)]
        for n in SIZES
    ]
    return grid(("CPU seconds", "k", *SIX), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--page", action="store_true", help="measure only what is not kept yet")
    if parser.parse_args().page and STORE.exists():
        MEASURED.update(json.loads(STORE.read_text(encoding="utf-8")))
    missing = {lacks for name in (*REAL, *PHOTOGRAPHS) if (lacks := figures.DATA[name].lacks())}
    if missing:
        raise SystemExit("; ".join(sorted(missing)))
    rows = []
    for statement in STATEMENTS:
        holds, measured = statement.here()
        why = "" if holds else statement.why
        rows.append([statement.where, statement.text, measured, "holds" if holds else "does not hold", why])
        print(*rows[-1], sep=" | ", flush=True)
    headings = ("where", "statement", "here", "", "why not")
    text = "\n".join(
        (
            INTRODUCTION,
            "## What the papers say\n",
            grid(headings, rows, words=5),
            "## TFRP07's six algorithms\n",
            time_table(),
        )
    )
    PAGE.write_text(text, encoding="utf-8")
    print(f"written: {PAGE}")


if __name__ == "__main__":
    main()
