"""Information loss reached by each method in a given time, on reference and generated data.

    python -m benchmarks.quality [--grid] [--large] [--other] [--jobs N]
    python -m benchmarks.quality --data tarragona census --k 3 5 --methods mdav auto --seconds 1 10
    python -m benchmarks.quality --reproduce tarragona:3 [--reproduce all]
    python -m benchmarks.quality --remake
    python -m benchmarks.quality --page

Runs that are in results.jsonl already are not made again (`--again` makes them), so a campaign may be
interrupted and goes on with the same command. At the end docs/quality.md is written from all results.
The whole grid takes hours; time it on an idle machine, with no more processes than idle cores.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.quality import campaign
from benchmarks.quality.campaign import METHODS, Wanted
from benchmarks.quality.data import SETS, DataSet, part
from benchmarks.quality.store import Places, Records, Results

PARTS = ("grid", "large", "other")


def above(least: float, kind: Callable[[str], float] = int) -> Callable[[str], float]:
    """A number of at least `least`, for argparse."""

    def number(text: str) -> float:
        value = kind(text)
        if not least <= value < float("inf"):
            raise argparse.ArgumentTypeError(f"{text} is not a number of at least {least:g}")
        return value

    return number


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    add = parser.add_argument
    add(
        "--grid",
        action="store_true",
        help="data sets × k × methods (done if no part is named)",
    )
    add("--large", action="store_true", help="20,000 and 100,000 records")
    add("--other", action="store_true", help="data sets that are used nowhere else")
    add("--data", nargs="+", choices=SETS, metavar="NAME", help=f"only these: {', '.join(SETS)}")
    add("--k", nargs="+", type=above(2), help="only these instead of the data set's own")
    add("--methods", nargs="+", choices=METHODS)
    add("--seconds", nargs="+", type=above(0.01, float), help="budgets of auto (default: 1 10 60)")
    add("--seeds", type=above(1), default=5, help="auto runs with the seeds 0, 1, … (default: 5 of them)")
    add("--jobs", type=above(1), default=1, help="processes (default: 1)")
    add(
        "--again",
        nargs="?",
        const="all",
        choices=("all", "cut", "old"),
        help="also make runs that are there already; `--again cut`: those that the clock cut short;\n"
        "`--again old`: those that `auto` would make otherwise today",
    )
    add("--reproduce", action="append", metavar="DATA:K", help="remake records; exit code 1 if one differs")
    add(
        "--remake",
        action="store_true",
        help="repeat the best runs that the clock cut short, or that an earlier version made, by their\n"
        "recipes, without a limit of time, so that they can be records",
    )
    add("--page", action="store_true", help="only write the page and its picture from the results")
    add("--folder", type=Path, help="keep all files in this folder instead of the repository's places")
    given = parser.parse_args()
    if given.data and any(getattr(given, name) for name in PARTS):
        parser.error("--data names the sets itself: leave --grid, --large and --other out")
    if given.page and given.reproduce:
        parser.error("--page and --reproduce do different things: give one of them")
    return given


def chosen_sets(given: argparse.Namespace) -> list[DataSet]:
    if given.data:
        return [SETS[name] for name in given.data]
    parts = [name for name in PARTS if getattr(given, name)] or ["grid"]
    return [one for name in parts for one in part(name)]


def wanted_runs(given: argparse.Namespace) -> Wanted:
    def several(values: list[Any] | None) -> tuple[Any, ...] | None:
        return tuple(dict.fromkeys(values)) if values else None

    return Wanted(several(given.k), several(given.methods), several(given.seconds), given.seeds)


def write_page(places: Places, results: Results, records: Records) -> None:
    # Only here, since runs and reproductions work without matplotlib.
    try:
        from benchmarks.quality.picture import draw
    except ModuleNotFoundError as missing:
        raise SystemExit(f"{missing}: pip install 'matplotlib>=3.9' and repeat with --page") from None
    from benchmarks.quality.page import page

    places.picture.parent.mkdir(parents=True, exist_ok=True)
    draw(results, places.picture)
    places.page.write_text(page(results, records), encoding="utf-8")
    print(f"written: {places.page}, {places.picture}")


def run(given: argparse.Namespace, places: Places) -> int:
    """Do what is asked for; returns the exit code."""
    records = Records(places.records)
    if given.reproduce:
        return 0 if campaign.reproduce(given.reproduce, records) else 1
    results = Results(places.results)
    records.catch_up(results)
    if given.remake:
        campaign.remake(results, records)
    elif not given.page:
        jobs = campaign.plan(chosen_sets(given), wanted_runs(given))
        campaign.carry_out(jobs, results, records, given.jobs, given.again)
    write_page(places, results, records)
    return 0


def main() -> int:
    given = arguments()
    places = Places.of(given.folder)
    try:
        return run(given, places)
    except KeyboardInterrupt:
        print(f"\ninterrupted; the runs made so far are in {places.results}. The same command goes on.")
        return 130


if __name__ == "__main__":
    sys.exit(main())
