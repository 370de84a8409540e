"""Writes docs/speed.md from the stored results. A figure without a line is shown as "not run"."""

from __future__ import annotations

from benchmarks.markdown import NOT_RUN, grid
from benchmarks.speed.cases import DECADES
from benchmarks.speed.cells import cells, lines_of, shown, times
from benchmarks.speed.curves import CURVES, FIT_FROM
from benchmarks.speed.overview import figures, quotient
from benchmarks.speed.overview import overhead as overhead_in_percent
from benchmarks.speed.page_peers import peers
from benchmarks.speed.store import Results

INTRODUCTION = """\
# Speed

How long the methods take and how much memory they need. `python -m benchmarks.speed` writes this page from
`benchmarks/speed/results.jsonl`, which has one line for each case.

```
make bench                                      # run everything on this page: about thirteen minutes
python -m benchmarks.speed --only mdav blocks   # run some parts; --list shows the names of all cases
python -m benchmarks.speed --page               # write the page again from the stored results
```

- Every case runs in a process of its own.
- Times are CPU seconds of one thread, unless wall-clock time is named. Short cases run several times; the
  shortest time is shown.
- *Above the data* is how far the memory of the process rose while the case ran; the data were in it before.
- Data are `datasets.census_like` (13 columns with the correlations of Census, z-scored), unless other data
  are named. A single column has normal values.
- A *kernel* is the compiled method alone. `partition()` adds scaling, checks and, for MDAV and neighbour
  lists, the cost of the groups.
"""


def page(results: Results) -> str:
    sections = (
        INTRODUCTION,
        machines(results),
        overview(results),
        growth(results),
        memory(results),
        peers(results),
        roofline(results),
        overhead(results),
        pieces(results),
        threads(results),
        engines(results),
        rest(results),
        tfrp(results),
        limits(results),
        methods(results),
    )
    return "\n".join(sections)


# --- sections ---------------------------------------------------------------------------------


def machines(results: Results) -> str:
    lines = results.lines.values()
    where = sorted({line["machine"] for line in lines})
    when = sorted({line["at"] for line in lines})
    if not when:
        return "Nothing was run yet.\n"
    days = when[0] if len(when) == 1 else f"{when[0]} to {when[-1]}"
    busy = sum(line["busy"] for line in lines)
    note = (
        f" The machine was busy with other work at the start of {busy} of {len(lines)} cases."
        if busy
        else ""
    )
    return f"Measured on {'; '.join(where)}, {days}.{note}\n"


def overview(results: Results) -> str:
    rows = [[figure.what, shown(figure.value(results), figure.unit)] for figure in figures()]
    return "## Overview\n\n" + grid(("", "measured"), rows)


def by_size(results: Results, what: str) -> list[list[str]]:
    """A row for each curve, a column for each decade."""
    return [
        [
            curve.title,
            *(shown(curve.figure(results, what, n)) if n in curve.every_n() else "" for n in DECADES),
        ]
        for curve in CURVES
    ]


def growth(results: Results) -> str:
    """Seconds by n, and exponents."""
    rows = [
        [*row, shown(curve.exponent(results)), shown(curve.last_decade(results))]
        for row, curve in zip(by_size(results, "cpu"), CURVES, strict=True)
    ]
    headings = ["CPU seconds", *(f"{n:,}" for n in DECADES), "exponent", "last decade"]
    return (
        "## Growth\n\n![CPU seconds over the number of records](speed/growth.svg)\n\n"
        f"*Exponent*: of n, fitted by least squares from {FIT_FROM:,} records on; *last decade*: from a\n"
        "tenth of the largest n to the largest.\n\n" + grid(headings, rows)
    )


def memory(results: Results) -> str:
    """High-water marks."""
    headings = ["MiB above the data", *(f"{n:,}" for n in DECADES)]
    return (
        "## Memory\n\n![MiB above the data over the number of records](speed/memory.svg)\n\n"
        "13 attributes of 10,000,000 records are 992 MiB, one attribute 76 MiB; the labels, which are\n"
        "part of what is measured, 38 MiB.\n\n" + grid(headings, by_size(results, "above"))
    )


def roofline(results: Results) -> str:
    """Distances a second as a share of what multiply-adds allow."""
    rows = []
    for case, line in lines_of(results, "roofline"):
        if line is None:
            rows.append([f"{case['n']:,}", *[results.reason("roofline", **case)] * 4])
            continue
        operations = 3 * line["p"] * line["distances"]
        rows.append(
            [
                f"{case['n']:,}",
                f"{line['distances'] / 1e6:,.0f}",
                f"{operations / 1e9:.1f}",
                f"{2 * line['fma'] / 1e9:.1f}",
                f"{50 * operations / line['fma']:.0f} %",
            ]
        )
    headings = (
        "n",
        "million distances a second",
        "billion operations a second",
        "peak of the core",
        "share",
    )
    return (
        "## What the core could do\n\n"
        "MDAV by brute force, k = 3: a distance takes 13 subtractions, multiplications and additions in\n"
        "single precision; the time includes all other work of MDAV. The peak is measured by fused\n"
        "multiply-adds on registers alone, counted as two operations each. MDAV does not use fused\n"
        "operations, so that results are the same on every machine.\n\n" + grid(headings, rows, words=0)
    )


def overhead(results: Results) -> str:
    rows = [
        [
            f"`{case['method']}`",
            f"{case['n']:,}",
            str(case["k"]),
            *cells(line, "kernel", "cpu"),
            shown(overhead_in_percent(results, **case), "%"),
        ]
        for case, line in lines_of(results, "overhead")
    ]
    headings = ("method", "n", "k", "kernel", "partition()", "more")
    table = grid(headings, rows)
    return f"## Whole calls over kernels\n\nCPU seconds in turns in one process.\n\n{table}"


def pieces(results: Results) -> str:
    """Where the time of whole calls goes."""
    text = [
        "## Where the time goes\n",
        "CPU seconds of the parts of `partition()`, one thread.\n",
    ]
    for case, line in lines_of(results, "pieces"):
        seconds = line["pieces"] if line else {"every piece": None}
        total = sum(seconds.values()) if line else None
        rows = [[name, shown(value), share(value, total)] for name, value in seconds.items()]
        text.append(grid((f"`{case['method']}`, {case['n']:,}, k = {case['k']}", "CPU s", "share"), rows))
    return "\n".join(text)


def share(part: float | None, whole: float | None) -> str:
    ratio = quotient(part, whole)
    return NOT_RUN if ratio is None else f"{100 * ratio:.0f} %"


def threads(results: Results) -> str:
    """Speed-up by two threads, and what more threads than cores cost."""
    rows: dict[tuple[str, int], list[str]] = {}
    for case, line in lines_of(results, "threads"):
        row = rows.setdefault((case["what"], case["n"]), [case["what"], f"{case['n']:,}"])
        row += cells(line, "wall", "cpu")
    headings = ["", "n"]
    for count in (1, 2, 16):
        headings += [f"{count} thread{'s' if count > 1 else ''}, s", "CPU s"]
    return (
        "## Threads\n\n"
        "Wall-clock and CPU seconds of the same work, k = 3. Results are the same for any number of\n"
        "threads.\n\n" + grid(headings, rows.values())
    )


def engines(results: Results) -> str:
    """The engine chosen against brute force on easy and hard data."""
    rows = [
        [
            f"`{case['method']}`",
            case["data"],
            f"{case['n']:,}",
            str(case["k"]),
            *cells(line, "cpu", "brute"),
            times(line and line["cpu"], line and line["brute"]),
        ]
        for case, line in lines_of(results, "engines")
    ]
    headings = ("method", "data", "n", "k", "chosen", "brute force", "chosen / brute force")
    return (
        "## Easy and hard data\n\n"
        "CPU seconds of the kernel with the engine that it chooses and by brute force; both find the same\n"
        "groups, or the case fails. "
        "`--only 'engines method=cbfs*'` runs another method; sizes and k can be chosen likewise.\n\n"
        + grid(headings, rows, words=2)
    )


def rest(results: Results) -> str:
    mhm = ", ".join(
        f"{shown(line and line['cpu'], 'CPU s')} for k = {case['k']}"
        for case, line in lines_of(results, "mhm")
    )
    rows = [[case["ending"], *cells(line, "wall", "peak")] for case, line in lines_of(results, "protect")]
    start = results.line("start")
    refined = [
        [
            f"{case['n']:,}",
            str(case["k"]),
            *cells(line, "wall", "il", "above"),
            f"`{line['recipe']}`" if line else "",
        ]
        for case, line in lines_of(results, "refinement")
    ]
    headings = ("n", "k", "seconds", "loss %", "MiB above the data", "recipe")
    return "\n".join(
        (
            "## The least loss in a given time\n",
            '`partition(…, effort="best", seconds=…, threads=2)`, wall-clock seconds.\n',
            grid(headings, refined, words=0),
            "## From file to verified file, a million records\n",
            "13 keys and two other columns, k = 3, `--effort fast`, all cores, wall-clock seconds.\n"
            "The time includes the start of Python, reading, partition, verification, writing, and\n"
            "reading and counting the written file.\n",
            grid(("format", "seconds", "peak MiB"), rows),
            "## The path cut (MHM) and the start\n",
            f"The best cut of a given path of a million records with 13 attributes: {mhm}.\n"
            f"`import microagg` takes {cells(start, 'import')[0]} s beyond Python itself\n"
            f"(modules are imported when they are used), `microagg --help` {cells(start, 'help')[0]} s.\n",
        )
    )


def tfrp(results: Results) -> str:
    rows = [
        [
            case["data"],
            *cells(line, "tfrp", "centroid"),
            times(line and line["tfrp"], line and line["centroid"]),
        ]
        for case, line in lines_of(results, "tfrp")
    ]
    return (
        "## TFRP beside Centroid\n\n"
        "CPU seconds of whole calls, 65,536 × 4, k = 10: normal attributes, and the 2 × 2 blocks of a\n"
        "photograph. [papers-times](papers-times.md) has TFRP07's statements about time.\n\n"
        + grid(("data", "`tfrp`", "`centroid`", "`tfrp` / `centroid`"), rows)
    )


def limits(results: Results) -> str:
    rows = [
        [f"`{case['method']}`", f"{case['n']:,}", *cells(line, "cpu")]
        for case, line in lines_of(results, "limits")
    ]
    return (
        "## Largest sensible n\n\n"
        "The largest number of records for which `microagg methods` recommends a method, and the CPU\n"
        "seconds of one thread that this many census-like records take, k = 3: `--only 'limits*'`.\n\n"
        + grid(("method", "n", "CPU s"), rows)
    )


def methods(results: Results) -> str:
    rows = [[f"`{case['name']}`", *cells(line, "il", "cpu")] for case, line in lines_of(results, "methods")]
    return (
        "## Every method, 10,000 × 10\n\n"
        "ICSM15's Synthetic (`datasets.synthetic(0)`), k = 3, whole calls on one thread.\n"
        "`--only 'methods*'` also runs the methods that take ten seconds and more.\n\n"
        + grid(("method", "loss %", "CPU s"), rows)
    )
