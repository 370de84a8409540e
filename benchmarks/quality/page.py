"""Writes docs/quality.md from the stored results. A figure without a run is shown as "not run"."""

from __future__ import annotations

import textwrap
from math import sqrt
from statistics import fmean, median, variance

from benchmarks.markdown import NOT_RUN, grid
from benchmarks.quality import earlier, yardsticks
from benchmarks.quality.campaign import NEEDS_CLOCK, is_old
from benchmarks.quality.data import BUDGETS, ICSM_RECORDS, TFRP_KS, DataSet, part
from benchmarks.quality.store import BETTER, Line, Records, Results

SEEDS = 5
ABSENT = "–"
TFRP_BUDGET = 10.0
TFRP_SETS = ("tarragona", "census", "eia-10")
PICTURE = "quality/il-against-time.svg"
CANNOT_BE_REPEATED = "‡"

INTRODUCTION = """\
# Quality

How much information the methods lose, and how long they take. `python -m benchmarks.quality` writes this
page from `benchmarks/quality/results.jsonl`, which has one line for each run.

```
make quality                                            # run everything on this page; it takes hours
python -m benchmarks.quality --data tarragona --k 3     # one data set and k; --help lists the choices
python -m benchmarks.quality --reproduce tarragona:3    # repeat a record; exit code 1 if groups differ
```

All figures are information loss, 100·SSE/SST, in percent of z-scored data: lower is better.

- *1 s*, *10 s* and *60 s* are what `partition(data, k, "auto", effort="best", seconds=…, threads=1)` finds
  on a core that is fast enough. `auto` converts seconds into a number of steps at a fixed rate; the recipe
  with these steps is run without a deadline, so the figures do not depend on the load of the machine and
  can be repeated. Each figure is the median of five seeds unless another number of seeds is given.
- Where the recipe ends with column generation (k = 3 from 10 s on; at 60 s k = 4 up to 3,600 records and
  k = 5 up to 1,200), the clock and not the number of steps ends it: these runs had the clock, on one core.
- † means that the clock cut at least one of these runs short. On a slower or busier machine the last steps
  are left out, which costs quality. `--again cut` repeats such runs.
- MDAV, ICSM and descent make no random choices.
- Every partition is checked and measured again in plain NumPy before its line is stored.

Medians of five seeds vary by chance, on Census with k = 10 and 60 s by about 0.03 %; single seeds in 1 s
by more than half a percent (Census with k = 8, seeds 1 to 4: 10.005 to 10.065). The settings of
annealing were chosen by runs on Tarragona, Census, EIA, `lognormal`, `mixture`, `counts` and census-like
data, so other data may fare a little worse. `curve`, SimU and SimC had no part in that choice.
"""


def page(results: Results, records: Records) -> str:
    sections = [
        INTRODUCTION,
        time_taken(results),
        old_runs(results),
        picture(),
        tfrp_table(results),
        "## Every data set\n",
        SETS_INTRODUCTION,
        *(set_section(one, results, records) for one in part("grid")),
        large(results),
        other(results),
        beside_earlier(),
    ]
    return "\n".join(sections)


# --- numbers and tables -----------------------------------------------------------------------


def shown(loss: float | None) -> str:
    """Format with four decimals, and with five below 1, where losses differ in the fourth."""
    if loss is None:
        return NOT_RUN
    return f"{loss:.5f}" if loss < 1.0 else f"{loss:.4f}"


def shown_median(results: Results, data: str, k: int, budget: float | None) -> str:
    """The median of auto over the seeds, with their number if it is not five."""
    runs = results.runs(data, k, "auto", budget)
    return shown(results.median_loss(data, k, "auto", budget)) + seeds_note(runs)


def seeds_note(runs: list[Line]) -> str:
    """A dagger if the clock cut one of the runs short, and the number of seeds if it is not five."""
    note = "†" if any(line["truncated"] for line in runs) else ""
    if len(runs) in (0, SEEDS):
        return note
    return f"{note} ({len(runs)} seed{'s' if len(runs) > 1 else ''})"


def percent_below(loss: float, reference: float) -> float:
    return 100.0 * (1.0 - loss / reference)


# --- sections ---------------------------------------------------------------------------------


def time_taken(results: Results) -> str:
    rows = []
    for budget in BUDGETS:
        runs = [line for line in results.lines.values() if line["budget"] == budget]
        measured = [line["cpu"] for line in runs if "cpu" in line and NEEDS_CLOCK not in line["recipe"]]
        times = [f"{median(measured):.2f}", f"{max(measured):.2f}"] if measured else [NOT_RUN, NOT_RUN]
        cut = sum(line["truncated"] for line in runs)
        rows.append([f"{budget:g} s", f"{len(runs):,}", f"{len(measured):,}", *times, str(cut)])
    headings = ("planned for", "runs", "CPU time known", "median CPU s", "longest", "cut by the clock")
    return (
        "## Time taken\n\n"
        "CPU seconds of runs without the clock, on a machine whose two cores share a unit and were both\n"
        "busy, which makes a step dearer by a fifth to a half.\n\n" + grid(headings, rows)
    )


def old_runs(results: Results) -> str:
    """Say which stored runs are not what `auto` does today; nothing if there are none."""
    runs = [line for line in results.lines.values() if line["method"] == "auto"]
    old = [line for line in runs if is_old(line)]
    if not old:
        return ""
    cells = sorted({f"{line['data']} ({_budget(line)})" for line in old})
    text = (
        f"{len(old)} of the {len(runs)} stored runs of `auto` are older and had the clock: their recipe, "
        "method or steps are not today's, or the clock cut what needs no clock. `--again old` repeats "
        "them. They are "
        f"among those of {', '.join(cells)}."
    )
    return textwrap.fill(text, 105, break_on_hyphens=False) + "\n"


def _budget(line: Line) -> str:
    return f"{line['budget']:g} s" if line["budget"] else "without seconds"


def picture() -> str:
    return (
        "## Loss against time\n\n"
        f"![Information loss after 1, 10 and 60 seconds, beside MDAV, descent, ICSM and the best published]"
        f"({PICTURE})\n"
    )


def tfrp_table(results: Results) -> str:
    published = yardsticks.tfrp()
    rows = []
    for k in TFRP_KS:
        row = [str(k)]
        for data in TFRP_SETS:
            theirs = published[data, k].loss
            ours = results.median_loss(data, k, "auto", TFRP_BUDGET)
            ratio = "" if ours is None else f"{ours / float(theirs):.3f}"
            row += [str(theirs), shown_median(results, data, k, TFRP_BUDGET), ratio]
        rows.append(row)
    headings = ["k"]
    for data in TFRP_SETS:
        headings += [f"{data}, TFRP07", "10 s", "ratio"]
    return (
        "## TFRP07's Table 2 and `auto` in 10 seconds\n\n"
        "For each k: the lower of the two losses in that table, the loss of `auto`, and the second\n"
        "divided by the first. TFRP07 measures EIA without the column UTILITYID (`eia-10`).\n\n"
        + grid(headings, rows)
    )


SETS_INTRODUCTION = f"""\
- *Best published*: the lowest loss that the papers in [papers.md](papers.md) print for these columns, with
  any method and any time. The letter leads to the source.
- *Below MDAV*: by how many percent the loss with the longest time is below that of MDAV.
- *Record*: the lowest loss of all stored runs. `benchmarks/quality/records.json` has its recipe and seed,
  which give the same groups again. {CANNOT_BE_REPEATED} marks a run that the clock cut short or that an
  earlier version made (`superseded` in results.jsonl): its loss was measured, but it cannot be repeated.
- ICSM runs on data sets of up to {ICSM_RECORDS:,} records.
"""


def set_section(one: DataSet, results: Results, records: Records) -> str:
    title = f"### {one.name}\n\n{one.about}.\n"
    ran = {key[1] for key in results.lines if key[0] == one.name}
    if not ran:
        return f"{title}\nNot run.\n"
    budgets = [budget for budget in one.budgets if budget is not None]
    letters: dict[str, str] = {}
    rows = [set_row(one, k, budgets, results, records, letters) for k in sorted(ran | set(one.ks))]
    headings = ["k", "MDAV", "ICSM", "best published", "descent"]
    headings += [f"{budget:g} s" for budget in budgets] + ["below MDAV", "record"]
    notes = "".join(f"- {letter}: {source}\n" for source, letter in letters.items())
    return f"{title}\n{grid(headings, rows, words=0)}" + (f"\n{notes}" if notes else "")


def set_row(
    one: DataSet, k: int, budgets: list[float], results: Results, records: Records, letters: dict[str, str]
) -> list[str]:
    published = yardsticks.published().get((one.name, k))
    best = ABSENT
    if published is not None:
        letter = letters.setdefault(published.source, chr(ord("a") + len(letters)))
        best = f"{published.loss} {letter}"
    return [
        str(k),
        shown(results.median_loss(one.name, k, "mdav")),
        icsm_cell(one, k, results),
        best,
        shown(results.median_loss(one.name, k, "descent")),
        *(shown_median(results, one.name, k, budget) for budget in budgets),
        below_cell(one, k, budgets, results),
        record_cell(one, k, results, records),
    ]


def record_cell(one: DataSet, k: int, results: Results, records: Records) -> str:
    """The lowest loss of all stored runs, marked if only a run that cannot be repeated has reached it."""
    losses = [line["il"] for line in results.every if (line["data"], line["k"]) == (one.name, k)]
    repeatable = records.entries.get(f"{one.name}:{k}")
    if repeatable is not None and min(losses, default=float("inf")) >= repeatable["il"] * (1.0 - BETTER):
        return shown(repeatable["il"])
    return shown(min(losses)) + CANNOT_BE_REPEATED if losses else ABSENT


def icsm_cell(one: DataSet, k: int, results: Results) -> str:
    loss = results.median_loss(one.name, k, "icsm")
    too_large = any(
        line["n"] > ICSM_RECORDS for key, line in results.lines.items() if key[:2] == (one.name, k)
    )
    return ABSENT if loss is None and too_large else shown(loss)


def below_cell(one: DataSet, k: int, budgets: list[float], results: Results) -> str:
    """Percent below MDAV with the longest time that was run; the time is named if it is not the longest."""
    mdav = results.median_loss(one.name, k, "mdav")
    for budget in reversed(budgets):
        loss = results.median_loss(one.name, k, "auto", budget)
        if loss is not None and mdav is not None:
            note = "" if budget == budgets[-1] else f" ({budget:g} s)"
            return f"{percent_below(loss, mdav):.2f} %{note}"
    return NOT_RUN


def large(results: Results) -> str:
    rows = []
    for one in part("large"):
        for k in one.ks:
            runs = results.runs(one.name, k, "auto", one.budgets[0])
            mdav = results.median_loss(one.name, k, "mdav")
            if not runs or mdav is None:
                rows.append([one.name, str(k), shown(mdav), NOT_RUN, "", ""])
                continue
            loss = median(line["il"] for line in runs)
            longest = max(line["cpu"] for line in runs)
            cells = [shown(mdav), shown(loss) + seeds_note(runs)]
            cells += [f"{percent_below(loss, mdav):.2f} %", f"{longest:.1f}"]
            rows.append([one.name, str(k), *cells])
    return (
        "## Large data\n\n"
        '`python -m benchmarks.quality --large`: 20,000 records with `effort="best", seconds=10` on one\n'
        "thread, 100,000 records with the defaults (balanced effort) on two threads.\n\n"
        + grid(("data", "k", "MDAV", "auto", "below MDAV", "longest, CPU s"), rows)
    )


def other(results: Results) -> str:
    rows = []
    for one in part("other"):
        budget = one.budgets[0]
        for k in one.ks:
            mdav = results.median_loss(one.name, k, "mdav")
            loss = results.median_loss(one.name, k, "auto", budget)
            below = "" if mdav is None or loss is None else f"{percent_below(loss, mdav):.2f} %"
            cells = [shown(mdav), shown_median(results, one.name, k, budget), below]
            rows.append([one.name, one.about, str(k), *cells])
    return (
        "## Other data\n\n"
        "`python -m benchmarks.quality --other`: data unlike the reference files, one second.\n\n"
        + grid(("data", "what it is", "k", "MDAV", "1 s", "below MDAV"), rows, words=2)
    )


def beside_earlier() -> str:
    """Medians of equal seeds, beside those of the search that an earlier `auto` chose."""
    rows = []
    for cell in earlier.stored():
        then, now = cell["losses"], cell["today"]["losses"]
        ranges = [
            f"{shown(median(each))} ({shown(min(each))} to {shown(max(each))})" for each in (then, now)
        ]
        means = [100.0 * (kind(now) / kind(then) - 1.0) for kind in (median, fmean)]
        place = [cell["data"], str(cell["k"]), f"{cell['budget']:g}", str(len(now))]
        rows.append(
            [*place, *ranges, *(f"{each:+.2f} %" for each in means), f"{100.0 * error(then, now):.2f} %"]
        )
    if not rows:
        return ""
    headings = (
        "data",
        "k",
        "seconds",
        "seeds",
        "annealing alone",
        "`auto`",
        "medians",
        "means",
        "standard error",
    )
    return (
        "## Annealing alone, and `auto` for large k\n\n"
        f"For k from 20 on, `auto` of commit {earlier.COMMIT} only annealed, and its descent was another.\n"
        "In these cells the page of that commit, with one seed, showed losses lower by more than 0.1 %.\n"
        "Median and range over the seeds 0, 1, …, without the clock, with the steps that each plans for\n"
        "these seconds; by how much the medians and the means differ, and the standard error of the\n"
        "latter. Where both anneal with k below 20, they do so with the same steps and make the same\n"
        "groups. `python -m benchmarks.quality.earlier FOLDER`, with a built checkout of that commit,\n"
        "measures this again.\n\n" + grid(headings, rows)
    )


def error(then: list[float], now: list[float]) -> float:
    """Standard error of the difference of two means, as a part of the first."""
    return sqrt(variance(then) / len(then) + variance(now) / len(now)) / fmean(then)
