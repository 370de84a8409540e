"""Speed and memory of microagg on this machine, beside peers in the same run.

    python -m benchmarks.speed                          # all of docs/speed.md: about thirteen minutes
    python -m benchmarks.speed --only mdav microagg1d   # some parts
    python -m benchmarks.speed --only 'engines method=cbfs*n=10000 k=3'   # cases, by patterns
    python -m benchmarks.speed --page                   # only write the page from what was run before

Lines go to results.jsonl as cases end; the page is written from all of them at the end, whenever they were
run. Time it on an idle machine. Peers come with the extra `bench`, sdcMicro with R.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.speed.cases import CASES, PARTS, chosen
from benchmarks.speed.running import carry_out
from benchmarks.speed.store import ROOT, Results


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    add = parser.add_argument
    add("--only", nargs="+", default=[], metavar="PART", help=f"patterns, or parts: {', '.join(PARTS)}")
    add("--missing", action="store_true", help="leave out what has a line already")
    add("--list", action="store_true", help="print the names of the cases and run none")
    add("--page", action="store_true", help="run none, only write the page and its pictures")
    add(
        "--folder",
        type=Path,
        help="keep results and page in this folder instead of the repository's places",
    )
    return parser.parse_args()


def write_page(results: Results, docs: Path) -> None:
    # Only here, since cases run without matplotlib.
    try:
        from benchmarks.speed.pictures import draw_all
    except ModuleNotFoundError as missing:
        raise SystemExit(f"{missing}: pip install 'matplotlib>=3.9' and repeat with --page") from None
    from benchmarks.speed.page import page

    draw_all(results, docs / "speed")
    (docs / "speed.md").write_text(page(results), encoding="utf-8")
    print(f"written: {docs / 'speed.md'}")


def main() -> int:
    given = arguments()
    cases = chosen(given.only)
    if given.list:
        print("\n".join(case.name for case in (cases if given.only else CASES.values())))
        return 0
    here, docs = (given.folder,) * 2 if given.folder else (Path(__file__).parent, ROOT / "docs")
    results = Results(here / "results.jsonl")
    if given.missing:
        cases = [case for case in cases if case.name not in results.lines]
    try:
        good = given.page or carry_out(cases, results)
    except KeyboardInterrupt:
        print(f"\ninterrupted; what was run is in {results.path}. --missing goes on.")
        return 130
    write_page(results, docs)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
