"""How near to the optimum: proven bounds on the reference data, for docs/proofs.md.

    python -m benchmarks.proofs [--jobs N] [--only census:3 …]
    python -m benchmarks.proofs --first
    python -m benchmarks.proofs --page

Needs the reference files (MICROAGG_DATA). Every instance runs on one thread, and work is counted instead of
time, so that results do not depend on the load of the machine; its certificate is then checked by the
program that shares no code with the search. CPU time is that of the search alone.
`--first` is about the bound that is there at once, for any number of records, with its CPU time. `--page`
writes the page from what was recorded, and runs nothing.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from time import process_time

import microagg
from microagg import certificate, datasets
from microagg.methods.exact import NODES_BY_EFFORT, prove
from microagg.methods.exact.bound import bound_of, record_shares
from microagg.methods.run import Run
from microagg.model import Partition, Problem, gap_above
from microagg.prepare.units import to_points
from microagg.results import Bound

PAGE = Path(__file__).parents[1] / "docs" / "proofs.md"
RESULTS = Path(__file__).with_name("proofs.json")
BEGIN, END = "<!-- table: python -m benchmarks.proofs -->", "<!-- end of table -->"

SECONDS = {
    "census:3": 100, "tarragona:3": 60, "tarragona:4": 300, "census:4": 300, "tarragona:5": 300,
    "census:5": 300, "eia:3": 300, "tarragona:10": 20,
}  # fmt: skip
WORK_PER_SECOND = 75_000_000
"""Work of column generation that takes between a third of a second and a second on an idle core."""
FIRST_BEGIN, FIRST_END = (
    "<!-- table: python -m benchmarks.proofs --first -->",
    "<!-- end of first bounds -->",
)
FIRST_SETS = ("tarragona", "census", "eia", "census_like(100_000)")
FIRST_KS = (3, 5, 10, 20)


def prove_instance(instance: str) -> dict[str, object]:
    """As `lower_bound` with these seconds, but with work that is counted, so that load changes nothing."""
    name, k = instance.split(":")
    table = datasets.load(name)
    before = process_time()
    incumbent = microagg.partition(table, int(k), "auto:prove=no", threads=1)
    problem = Problem(to_points(table, "zscore"), int(k))
    start = Partition(incumbent.labels, incumbent.sse)
    work = SECONDS[instance] * WORK_PER_SECOND
    proof = prove(problem, start, 0.0, NODES_BY_EFFORT["best"], work, Run(threads=1))
    searched = process_time() - before
    best = replace(
        incumbent, labels=proof.partition.labels, sse=proof.partition.sse, bound=proof.partition.bound
    )
    found = Bound(
        proof.partition.bound, best, proof.columns, len(proof.cuts), proof.nodes, searched,
        table.values, "zscore", proof,
    )  # fmt: skip
    before = process_time()
    checked = certificate.check(json.loads(json.dumps(found.certificate())), table.values)
    return {
        "instance": instance,
        "work": work,
        "loss": found.incumbent.information_loss,
        "bound": found.information_loss,
        "proved": found.proved,
        "columns": found.columns,
        "cuts": found.cuts,
        "nodes": found.nodes,
        "cpu": searched,
        "checked_bound": checked.bound_loss,
        "check_cpu": process_time() - before,
    }


def write_page(results: dict[str, dict[str, float]]) -> None:
    lines = [
        "| data, k | best loss % | proven bound % | gap % | cuts | nodes | CPU s | check, CPU s |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for instance in SECONDS:
        if instance in results:
            r = results[instance]
            above = gap_above(r["bound"], r["loss"])
            gap = "0 (optimal)" if r["proved"] else "–" if above is None else f"{above:.2g}"
            name, k = instance.split(":")
            lines.append(
                f"| {name}, {k} | {r['loss']:.6f} | {r['bound']:.6f} | {gap} | {r['cuts']:,} "
                f"| {r['nodes']:,} | {r['cpu']:.0f} | {r['check_cpu']:.0f} |"
            )
    put_between(BEGIN, END, lines)


def put_between(begin: str, end: str, lines: list[str]) -> None:
    head, rest = PAGE.read_text(encoding="utf-8").split(begin)
    table = "\n".join([begin, *lines, end])
    PAGE.write_text(head + table + rest.split(end)[1], encoding="utf-8")


def write_first_bounds() -> None:
    lines = [f"| data | {' | '.join(f'k = {k}' for k in FIRST_KS)} |", "|---|---:|---:|---:|---:|"]
    for name in FIRST_SETS:
        large = name.startswith("census_like")
        table = datasets.census_like(100_000) if large else datasets.load(name)
        points = to_points(table, "zscore")
        cells = []
        for k in FIRST_KS:
            before = process_time()
            bound = bound_of(record_shares(Problem(points, k), Run()))
            seconds = process_time() - before
            cells.append(f"{100.0 * bound / float((points**2).sum()):.4f} ({seconds:.1f} s)")
        lines.append(f"| {name} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    put_between(FIRST_BEGIN, FIRST_END, lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--only", nargs="+", choices=SECONDS, default=list(SECONDS), help="these instances")
    parser.add_argument("--first", action="store_true", help="the bounds that are there at once")
    parser.add_argument("--page", action="store_true", help="write the page from recorded results")
    settings = parser.parse_args()
    if settings.first:
        write_first_bounds()
        return
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    if settings.page:
        write_page(results)
        return
    with ProcessPoolExecutor(settings.jobs, mp_context=get_context("spawn")) as pool:
        for result in pool.map(prove_instance, settings.only):
            results[result["instance"]] = result
            print(json.dumps(result), flush=True)
            RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
            write_page(results)


if __name__ == "__main__":
    main()
