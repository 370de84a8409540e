"""docs/quality.md, from the results alone. What has no run is said to have none."""

from __future__ import annotations

from decimal import Decimal
from statistics import median

from benchmarks.markdown import NOT_RUN, grid, tally, verdict
from benchmarks.quality import yardsticks
from benchmarks.quality.data import BUDGETS, ICSM_RECORDS, SETS, TFRP_KS, DataSet, part
from benchmarks.quality.store import Line, Records, Results

SEEDS = 5
ABSENT = "–"
TFRP_BUDGET = 10.0
TFRP_SETS = ("tarragona", "census", "eia-10")
PICTURE = "quality/il-against-time.svg"

INTRODUCTION = """\
# Quality

How much information the methods lose, and in what time. Written by `python -m benchmarks.quality` from
`benchmarks/quality/results.jsonl`, which has one line for each run.

```
make quality                                            # everything on this page; it takes hours
python -m benchmarks.quality --data tarragona --k 3     # one instance; --help lists the choices
python -m benchmarks.quality --reproduce tarragona:3    # a record again: the same groups, or exit code 1
```

Figures are information loss, 100·SSE/SST in percent of z-scored data: lower is better. *1 s*, *10 s* and
*60 s* are `partition(data, k, "auto", effort="best", seconds=…, threads=1)`: one core, with the start and
the neighbour lists inside the time. They are medians over five seeds, unless another number is given. MDAV,
ICSM and descent make no random choices. Every partition is counted and measured again in plain NumPy before
its line is written.

`auto` turns seconds into steps at a rate that is fixed in the source, so these losses come out the same on
every machine that is fast enough; on a slower or busier one the last anneals are shortened, which costs
quality. A dagger (†) marks figures with such a run among them; `--again cut` repeats those runs.

A line names the recipe that `auto` chose. Some lines are older than what `auto` chooses now: `relocate` for
k from 15 on, `adaptive` for k = 3 and 4 from 3,000 records on, a descent before the anneal beyond 6,000
records, and column generation on up to 400 records. [Local search](methods/search.md) has figures of these.
"""


def page(results: Results, records: Records) -> str:
    """The whole page."""
    sections = [
        INTRODUCTION,
        times(results),
        targets(results),
        picture(),
        tfrp_table(results),
        "## Every data set\n",
        SETS_INTRODUCTION,
        *(set_section(one, results, records) for one in part("grid")),
        large(results),
        other(results),
    ]
    return "\n".join(sections)


# --- numbers and tables -----------------------------------------------------------------------


def shown(loss: float | None) -> str:
    """Four decimals, five below 1: goals have up to four, and small losses differ in the fourth."""
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


def times(results: Results) -> str:
    """What the runs with a budget took."""
    rows = []
    for budget in BUDGETS:
        runs = [line for line in results.lines.values() if line["budget"] == budget]
        walls = [line["wall"] for line in runs]
        cut = sum(line["truncated"] for line in runs)
        measured = [f"{median(walls):.2f}", f"{max(walls):.2f}"] if runs else [NOT_RUN, NOT_RUN]
        rows.append([f"{budget:g} s", f"{len(runs):,}", *measured, str(cut)])
    headings = ("budget", "runs", "median seconds", "longest", "cut short by the clock")
    return "## Time taken\n\n" + grid(headings, rows)


def targets(results: Results) -> str:
    """The goals of the reference sets, with what was reached."""
    goals = yardsticks.goals()
    rows, verdicts = [], []
    for data, k in dict.fromkeys((data, k) for data, k, _ in goals):
        row = [data, str(k)]
        for budget in BUDGETS:
            goal = goals[data, k, budget]
            reached = results.median_loss(data, k, "auto", budget)
            found = NOT_RUN if reached is None else verdict(reached <= goal)
            verdicts.append(found)
            told = "" if reached is None else found if found == "met" else f"**{found}**"
            row += [shown_median(results, data, k, budget), str(goal), told]
        rows.append(row)
    headings = ["data", "k"]
    for budget in BUDGETS:
        headings += [f"{budget:g} s", "goal", ""]
    return f"## Goals\n\nMedian loss beside its goal: {tally(verdicts)}. {CAUTION}\n\n" + grid(
        headings, rows
    )


CAUTION = """Medians of five seeds differ by luck about as much
as some of them differ from their goal (of Census, k = 10, 60 s, by 0.03 %), and these data sets are among
those by which annealing's settings were chosen ([ARCHITECTURE](../ARCHITECTURE.md)): a goal that is met
closely may be missed with other seeds. Of all data here only `curve`, SimU and SimC had no part in that
choice; census-like ones set the rate of steps beyond 6,000 records, and helped to say from how many steps
on regions are annealed again."""


def picture() -> str:
    return (
        "## Loss against time\n\n"
        f"![Information loss after 1, 10 and 60 seconds, beside MDAV, descent, ICSM and the best published]"
        f"({PICTURE})\n"
    )


def tfrp_table(results: Results) -> str:
    """Every figure of TFRP07's Table 2, against what 10 seconds give."""
    published = yardsticks.tfrp()
    rows, verdicts = [], []
    for k in TFRP_KS:
        row = [str(k)]
        for data in TFRP_SETS:
            theirs = published[data, k].loss
            ours = results.median_loss(data, k, "auto", TFRP_BUDGET)
            verdicts.append(NOT_RUN if ours is None else "beaten" if ours < theirs else "not beaten")
            ratio = "" if ours is None else f"{ours / float(theirs):.3f}"
            row += [str(theirs), shown_median(results, data, k, TFRP_BUDGET), ratio]
        rows.append(row)
    headings = ["k"]
    for data in TFRP_SETS:
        headings += [f"{data}, TFRP07", "10 s", "ratio"]
    return (
        "## TFRP07's Table 2 against 10 seconds\n\n"
        "The lowest loss of that table for each k, ours, and ours / theirs. TFRP07 measures EIA without\n"
        f"UTILITYID: `eia-10`. Of {len(verdicts)} figures: {tally(verdicts)}.\n\n" + grid(headings, rows)
    )


SETS_INTRODUCTION = f"""\
*Best published* is the lowest loss that the papers in [papers.md](papers.md) print for these attributes,
from any method at any time; letters lead to the source. *Below MDAV* is that of the longest budget.
*Record* is the lowest loss of any run that the clock did not cut short; `benchmarks/quality/records.json`
has the recipe and the seed that make it again. ICSM runs on sets of up to {ICSM_RECORDS:,} records.
"""


def set_section(one: DataSet, results: Results, records: Records) -> str:
    """The table of one data set: a row for each k."""
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
    record = records.entries.get(f"{one.name}:{k}")
    return [
        str(k),
        shown(results.median_loss(one.name, k, "mdav")),
        icsm_cell(one, k, results),
        best,
        shown(results.median_loss(one.name, k, "descent")),
        *(shown_median(results, one.name, k, budget) for budget in budgets),
        below_cell(one, k, budgets, results),
        shown(record["il"]) if record else ABSENT,
    ]


def icsm_cell(one: DataSet, k: int, results: Results) -> str:
    loss = results.median_loss(one.name, k, "icsm")
    too_large = any(
        line["n"] > ICSM_RECORDS for key, line in results.lines.items() if key[:2] == (one.name, k)
    )
    return ABSENT if loss is None and too_large else shown(loss)


def below_cell(one: DataSet, k: int, budgets: list[float], results: Results) -> str:
    """Percent below MDAV with the longest budget there is a run for, and which if it is not the longest."""
    mdav = results.median_loss(one.name, k, "mdav")
    for budget in reversed(budgets):
        loss = results.median_loss(one.name, k, "auto", budget)
        if loss is not None and mdav is not None:
            note = "" if budget == budgets[-1] else f" ({budget:g} s)"
            return f"{percent_below(loss, mdav):.2f} %{note}"
    return NOT_RUN


def large(results: Results) -> str:
    """Large data: percent below MDAV, and the wall seconds."""
    rows, verdicts = [], []
    for (data, k), goal in yardsticks.large_goals().items():
        one = SETS[data]
        budget = one.budgets[0]
        runs = results.runs(data, k, "auto", budget)
        mdav = results.median_loss(data, k, "mdav")
        limits = [f"{goal.below} % in {goal.seconds} s"]
        if not runs or mdav is None:
            verdicts.append(NOT_RUN)
            rows.append([data, str(k), shown(mdav), NOT_RUN, "", "", *limits, ""])
            continue
        loss = median(line["il"] for line in runs)
        below = percent_below(loss, mdav)
        longest = max(line["wall"] for line in runs)
        verdicts.append(verdict(Decimal(below) >= goal.below and longest <= goal.seconds))
        told = verdicts[-1] if verdicts[-1] == "met" else f"**{verdicts[-1]}**"
        cells = [shown(mdav), shown(loss) + seeds_note(runs), f"{below:.2f} %", f"{longest:.1f}"]
        rows.append([data, str(k), *cells, *limits, told])
    headings = ("data", "k", "MDAV", "auto", "below MDAV", "longest, s", "goal", "")
    return (
        "## Large data\n\n"
        '`python -m benchmarks.quality --large`: 20,000 records with `effort="best", seconds=10` on one\n'
        f"thread, 100,000 as `auto` does by itself (balanced effort) on two. Goals: {tally(verdicts)}.\n\n"
        + grid(headings, rows)
    )


def other(results: Results) -> str:
    """Other kinds of data than the reference files."""
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
        "`python -m benchmarks.quality --other`: other kinds of data, one second. `curve` had no part in\n"
        "choosing annealing's settings; the other three were among those that variants were tried on.\n\n"
        + grid(("data", "what it is", "k", "MDAV", "1 s", "below MDAV"), rows, words=2)
    )
