"""The papers' tables beside ours.

    python -m benchmarks.papers [--table VLDBJ06:5]... [--slow] [--recorded] [--pending] [--record]

Computes the figures of `tests/papers/tables.toml`, prints published | ours | difference, and writes
`docs/papers.md` from the file. `--table` takes a paper or a paper and a table, and may be repeated;
`--slow` adds the figures of the long campaign, `--recorded` those that no test computes again; `--pending`
leaves out what has a value; `--record` puts what was computed into the file. Without
`--record`, the exit code is 1 if something computed is not what the file says.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid
from tests.papers import figures
from tests.papers.figures import APART, DATA, EQUAL, NEAR, PENDING, REASONS, TITLES, Entry

PAGE = Path(__file__).parents[1] / "docs" / "papers.md"
MOST_COLUMNS = 7


def is_wanted(entry: Entry, tables: list[str]) -> bool:
    names = {entry["paper"], f"{entry['paper']}:{entry['table']}"}
    return not tables or not names.isdisjoint(tables)


def data_is_here(entry: Entry) -> bool:
    return not DATA[entry["data"]].lacks()


# --- the run ----------------------------------------------------------------------------------


class Session:
    """Computes entries one after another, and keeps what there is to say about them."""

    def __init__(self, record: bool, progress: Progress, steps: int) -> None:
        self.record = record
        self.progress = progress
        self.task = progress.add_task("", total=steps)
        self.changed: list[str] = []
        self.missing: Counter[str] = Counter()

    def figure(self, table: Entry, figure: Entry) -> tuple[Any, float]:
        """Ours, or None if it cannot be computed yet, and the seconds it took."""
        label = f"{table['paper']} {table['table']}, {table['data']}, {label_of(figure)}, k = {figure['k']}"
        return self._step(label, figure, "ours", lambda: figures.compute(table, figure))

    def relation(self, relation: Entry) -> tuple[Any, float]:
        label = f"{relation['paper']} {relation['table']}, {relation['data']}, {relation['claim']}"
        return self._step(label, relation, "fails", lambda: figures.failing(relation))

    def _step(self, label: str, entry: Entry, key: str, job: Any) -> tuple[Any, float]:
        self.progress.update(self.task, description=label)
        started = perf_counter()
        try:
            found = job()
        except figures.NotThere as reason:
            self.missing[str(reason)] += 1
            found = None
        self.progress.advance(self.task)
        if found is not None and found != entry[key]:
            self.changed.append(f"{label}: {shown_list(entry[key])} in the file, now {shown_list(found)}")
            if self.record:
                entry[key] = found
        return found, perf_counter() - started


def shown_list(value: Any) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)


def run(
    document: Entry, tables: list[str], costs: set[str], pending: bool, record: bool, console: Console
) -> Session:
    wanted = [table for table in document["table"] if is_wanted(table, tables) and data_is_here(table)]
    jobs = [
        (
            table,
            [
                figure
                for figure in table["figures"]
                if figures.cost(table, figure) in costs and (not pending or figure["ours"] == PENDING)
            ],
        )
        for table in wanted
    ]
    relations = [
        relation
        for relation in document["relation"]
        if is_wanted(relation, tables)
        and data_is_here(relation)
        and relation.get("cost", "fast") in costs
        and (not pending or relation["fails"] == PENDING)
    ]
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as progress:
        session = Session(record, progress, sum(len(chosen) for _, chosen in jobs) + len(relations))
        for table, chosen in jobs:
            if chosen:
                progress.console.print(figures_grid(table, chosen, session))
        if relations:
            progress.console.print(relations_grid(relations, session))
    return session


def figures_grid(table: Entry, chosen: list[Entry], session: Session) -> Grid:
    title = f"{table['paper']}, {place_of(table['table'])}: {table['data']}, {title_of(table)}"
    grid = Grid(title=title, title_justify="left", title_style="bold")
    grid.add_column("method")
    for heading in ("k", "published", "ours", "difference", "seconds"):
        grid.add_column(heading, justify="right")
    grid.add_column("reason", overflow="fold")
    for figure in chosen:
        ours, seconds = session.figure(table, figure)
        computed = figure | {"ours": PENDING if ours is None else ours}
        for published, value in split(computed):
            apart = value != PENDING and figures.agreement_of(table, published, value) == APART
            kind = "" if "reads" in figure else figures.reason(table, figure).partition(":")[0]
            grid.add_row(
                label_of(figure),
                str(figure["k"]),
                str(published),
                "not there yet" if ours is None else shown(table, published, value),
                "" if ours is None else difference(table, published, value),
                f"{seconds:.2f}",
                (kind or "none given") if apart and "reads" not in figure else "",
            )
    return grid


def relations_grid(relations: list[Entry], session: Session) -> Grid:
    grid = Grid(title="What the texts say", title_justify="left", title_style="bold")
    for heading in ("where", "data", "claim", "ours"):
        grid.add_column(heading, overflow="fold")
    grid.add_column("seconds", justify="right")
    for relation in relations:
        fails, seconds = session.relation(relation)
        where = f"{relation['paper']}, {place_of(relation['table'])}"
        verdict = verdict_of(relation | {"fails": PENDING if fails is None else fails})
        grid.add_row(where, relation["data"], relation["claim"], verdict, f"{seconds:.2f}")
    return grid


# --- words and numbers ------------------------------------------------------------------------


def place_of(table: str) -> str:
    return f"Table {table}" if table.isdecimal() else table


def label_of(figure: Entry) -> str:
    """`ufs-pv:column=*` and `best` -> `ufs-pv, best column`."""
    name, *settings = figure["method"].split(":")
    words = [name]
    for setting in settings:
        key, _, value = setting.partition("=")
        words.append(f"{figure['pick']} {key}" if value == "*" else setting)
    return ", ".join(words).replace("@", ", seed ")


def title_of(table: Entry) -> str:
    title = TITLES[table.get("measure", "loss")]
    if "against" not in table:
        return title
    base = f", {table['base']} in the text" if "base" in table else ""
    return f"{title} beyond that of {table['against']}{base}"


def split(figure: Entry) -> Iterator[tuple[Any, Any]]:
    if figure["ours"] == PENDING:
        published = figure["published"]
        yield from ((one, PENDING) for one in (published if isinstance(published, list) else [published]))
    else:
        yield from figures.pairs(figure)


def decimals(table: Entry, published: Any) -> int:
    """Four for a loss, none for a count, up to two beyond the printed ones for anything else."""
    measure = table.get("measure", "loss")
    if measure == "loss" or measure in figures.COUNTS:
        return 4 if measure == "loss" else 0
    printed = -Decimal(published).as_tuple().exponent
    return max(printed, min(printed + 2, 4))


def shown(table: Entry, published: Any, ours: Any) -> str:
    return PENDING if ours == PENDING else f"{ours:.{decimals(table, published)}f}"


def difference(table: Entry, published: Any, ours: Any) -> str:
    return f"{ours - published:+.{decimals(table, published)}f}"


def verdict_of(relation: Entry) -> str:
    fails = relation["fails"]
    if fails == PENDING:
        return PENDING
    if not fails:
        return "holds"
    if len(fails) == len(relation["k"]):
        return "does not hold"
    return f"holds, but not at k = {', '.join(map(str, fails))}"


def ks_of(relation: Entry) -> str:
    return ", ".join(map(str, relation["k"]))


# --- the page ---------------------------------------------------------------------------------

INTRODUCTION = """\
# The papers' tables beside ours

Every figure that the papers print, beside the figure that `microagg` computes. Written by
`python -m benchmarks.papers --slow --record` from `tests/papers/tables.toml`. `make test` and
`make test-long` compute the figures again and compare them with this page, to six decimals. The exceptions
are `icsm-restarts` with more than 16 starts and 400 rounds of `icsm` on Synthetic, which take minutes
to half an hour each (`--recorded`).

How to read a cell, *published → ours* (difference):

- no mark: ours is equal to the printed figure, to its last digit
- a tilde: ours is within 0.01 of it, but not equal
- a letter: the difference is larger; the list below the table has the reason
- *pending*: not computed yet

A row of a method with settings, below the row of the same method without, is another reading of the paper:
see the method's page. Its figures have no letters. A printed figure in several rows counts once, with the
row that agrees best. [Times of the papers](papers-times.md) compares how long the methods take.

| short name | paper |
|---|---|
| VLDBJ06 | Domingo-Ferrer et al.: Efficient multivariate data-oriented microaggregation |
| CMP98 | Mateo-Sanz, Domingo-Ferrer: A comparative study of microaggregation methods |
| CGS22 | Castro et al.: An optimization-based decomposition heuristic for the microaggregation problem |
| TFRP07 | Chang, Li, Huang: TFRP: an efficient microaggregation algorithm |
| ICSM15 | Mortazavi, Jalili: A novel local search method for microaggregation |

Not on this page: VLDBJ06's Table 4, whose points exist only as a picture (a test checks its claim on points
of the same kind); ICSM15's gains, which follow from the losses; methods that `microagg` does not have.

## Tolerances

| figure | tolerance | because |
|---|---|---|
| information loss, equal | half a unit of the last printed digit | it was rounded to that digit |
| information loss, needs no reason | 0.01, or half a unit if that is more | not all papers round |
| a count | none | it is a whole number |
| any other measure | half a unit of the last printed digit | it was rounded to that digit |
| quoted, filled up with zeros | half a unit of the last digit before | it was rounded to that digit |
| ours, computed again | six decimals, counts exactly | the groups are the same (with the same HiGHS) |

A figure beyond the tolerance has a reason of one of six kinds:

- *misprint*: the paper contradicts itself, another paper or arithmetic
- *ties*: several records or groups are equally good, and the paper does not say which it takes
- *undocumented choice*: the text leaves a step open
- *our choice*: `microagg` does less than the paper, or something else, on purpose
- *other data*: random sets drawn again, or another file instead of one that is not published
- *open*: the reason is not known; `python -m benchmarks.readings` has experiments
"""

DATA_INTRODUCTION = """\
## Data

Random sets come from NumPy's `default_rng`: set *i* of `sim-…` has the seed *i*, set *i* of `normal-p` the
seed (*p*, *i*). What is printed after a ± is compared with the sample standard deviation over the sets.

| name | what it is |
|---|---|
"""


def page(document: Entry) -> str:
    """docs/papers.md, from the recorded values alone."""
    parts = [INTRODUCTION, summary(document), DATA_INTRODUCTION + data_rows(document)]
    papers = dict.fromkeys(table["paper"] for table in document["table"])
    for paper in papers:
        parts.append(f"## {paper}\n")
        tables = [table for table in document["table"] if table["paper"] == paper]
        for place in dict.fromkeys(table["table"] for table in tables):
            parts.append(f"### {paper}, {place_of(place)}\n")
            parts += [block(table) for table in tables if table["table"] == place]
        relations = [relation for relation in document["relation"] if relation["paper"] == paper]
        if relations:
            parts.append(f"### {paper}, what the text says\n")
            parts.append(relations_block(relations))
    return "\n".join(parts)


def summary(document: Entry) -> str:
    """How many figures agree, and every reason with the number of figures it is given for."""
    kinds: Counter[str] = Counter()
    reasons: Counter[tuple[str, str]] = Counter()
    for table in document["table"]:
        for figure in table["figures"]:
            if "reads" in figure:
                continue
            if figure["ours"] == PENDING:
                kinds[PENDING] += 1
            elif (agreement := figures.best_agreement(table, figure)) != APART:
                kinds[agreement] += 1
            else:
                kind, _, words = figures.reason(table, figure).partition(":")
                kinds[kind or "no reason yet"] += 1
                reasons[kind or "no reason yet", words.strip()] += 1
    order = [EQUAL, NEAR, *REASONS, "no reason yet", PENDING]
    lines = ["## Summary\n", "| figures | |", "|---|---:|"]
    lines += [f"| {kind} | {kinds[kind]} |" for kind in order if kinds[kind]]
    lines += ["", "| kind | reason | figures |", "|---|---|---:|"]
    ranked = sorted(reasons, key=lambda one: (order.index(one[0]), -reasons[one], one[1]))
    lines += [f"| {kind} | {words} | {reasons[kind, words]} |" for kind, words in ranked]
    return "\n".join(lines) + "\n"


def data_rows(document: Entry) -> str:
    used = {entry["data"] for key in ("table", "relation", "recomputed") for entry in document[key]}
    stands = {
        entry["data"]: entry["stand_in"]
        for key in ("table", "relation")
        for entry in document[key]
        if "stand_in" in entry
    }
    lines = []
    for name, data in DATA.items():
        if name in used:
            stand = f"; **stand-in** for {stands[name]}" if name in stands else ""
            lines.append(f"| {name} | {data.about}{stand} |")
    return "\n".join(lines) + "\n"


def block(table: Entry) -> str:
    """One table of the page: methods down and k across, or the other way round if there are many k."""
    letters: dict[str, str] = {}
    cells: dict[tuple[str, str], str] = {}
    for figure in table["figures"]:
        several = isinstance(figure["published"], list)
        for number, (published, ours) in enumerate(split(figure), start=1):
            row = f"{label_of(figure)}, record {number}" if several else label_of(figure)
            cells[row, f"k = {figure['k']}"] = cell(table, figure, published, ours, letters)
    rows, columns = (list(dict.fromkeys(key[axis] for key in cells)) for axis in (0, 1))
    if len(columns) > MOST_COLUMNS:
        rows, columns = columns, rows
        cells = {(column, row): text for (row, column), text in cells.items()}
    stand = f" (**stand-in** for {table['stand_in']})" if "stand_in" in table else ""
    lines = [f"**{table['data']}**{stand}, {title_of(table)}\n"]
    lines += [f"| | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    lines += [f"| {row} | {' | '.join(cells.get((row, one), '') for one in columns)} |" for row in rows]
    notes = [f"- {letter}: {words}" for words, letter in letters.items()]
    if "note" in table:
        notes.insert(0, f"- {table['note']}")
    if notes:
        lines += ["", *notes]
    return "\n".join(lines) + "\n"


def cell(table: Entry, figure: Entry, published: Any, ours: Any, letters: dict[str, str]) -> str:
    if ours == PENDING:
        return f"{published} → *pending*"
    agreement = figures.agreement_of(table, published, ours)
    mark = " ~" if agreement == NEAR else ""
    words = figure.get("why", "") if agreement == NEAR else ""
    if agreement == APART and "reads" not in figure:
        words = figures.reason(table, figure) or "no reason yet"
    if words:
        mark += " " + letters.setdefault(words, chr(ord("a") + len(letters)))
    gap = difference(table, published, ours)
    return f"{published} → {shown(table, published, ours)} ({gap}{mark})"


def relations_block(relations: list[Entry]) -> str:
    lines = ["| where | data | claim | k | ours | reason |", "|---|---|---|---|---|---|"]
    for relation in relations:
        stand = " (**stand-in**)" if "stand_in" in relation else ""
        lines.append(
            f"| {place_of(relation['table'])} | {relation['data']}{stand} | {relation['claim']} "
            f"| {ks_of(relation)} | {verdict_of(relation)} | {relation.get('why', '')} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--table", action="append", default=[], metavar="PAPER[:TABLE]")
    parser.add_argument("--slow", action="store_true", help="the figures of the long campaign too")
    parser.add_argument("--recorded", action="store_true", help="those that no test computes again too")
    parser.add_argument("--pending", action="store_true", help="only what has no value yet")
    parser.add_argument("--record", action="store_true", help="put what was computed into tables.toml")
    given = parser.parse_args()
    document = figures.load()
    known = {
        name
        for entry in (*document["table"], *document["relation"])
        for name in (entry["paper"], f"{entry['paper']}:{entry['table']}")
    }
    unknown = [name for name in given.table if name not in known]
    if unknown:
        parser.error(f"there is no table {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    console = Console(highlight=False, width=120)
    costs = {"fast"} | ({"slow", "slowest"} if given.slow else set())
    costs |= {"recorded"} if given.recorded else set()
    session = run(document, given.table, costs, given.pending, given.record, console)
    if given.record:
        figures.save(document)
    PAGE.write_text(page(document), encoding="utf-8")
    for reason, times in session.missing.items():
        console.print(f"not computed ({times}): {reason}", soft_wrap=True)
    for change in session.changed:
        console.print(("recorded: " if given.record else "differs: ") + change, soft_wrap=True)
    return 1 if session.changed and not given.record else 0


if __name__ == "__main__":
    sys.exit(main())
