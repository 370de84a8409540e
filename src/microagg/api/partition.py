"""`partition()`, `partition_each()`, `lower_bound()`: groups and how near to the best they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import monotonic

from microagg import read, wording
from microagg.methods.exact import NODES_BY_EFFORT, WORK_BY_EFFORT, Exact, prove
from microagg.methods.recipe import MethodPlan
from microagg.methods.run import Progress, Run
from microagg.methods.solving import run_of, solve_one
from microagg.methods.stage import Stage, one_group, solve
from microagg.model import Effort, Partition, Problem, ScaleName
from microagg.plan.method import check_against_data, method_plan
from microagg.prepare.units import to_points
from microagg.results import Bound, EachResult, Result
from microagg.settings.declared import SECONDS_OF_PROOF


def partition_each(
    data: object,
    k: int,
    method: str | Stage = "univariate",
    *,
    scale: ScaleName = "zscore",
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> EachResult:
    """Individual ranking (CMP98, section 2.1): microaggregate each attribute by itself, several at a time.

    method: "univariate" for the optimum of each, "ufs-pv" for groups of k successive values, or any other.
    The other arguments are those of `partition`.
    """
    settled = method_plan(k, method, scale=scale, seed=seed, threads=threads, progress=progress)
    table = read.table_of(data)
    check_against_data(settled, len(table.values))

    def partition_one(column: str, run: Run) -> Result:
        started = monotonic()
        run.seed = settled.seed
        problem = Problem(to_points(table.select(column), settled.scale), settled.k)
        start = one_group(problem)
        found = solve(settled.stage, problem, start, run)
        return _result_of(settled, found, start.sse, monotonic() - started)

    results = run_of(settled, None, progress).map(partition_one, table.columns)
    return EachResult(table.columns, tuple(results))


def partition(
    data: object,
    k: int,
    method: str | Stage = "auto",
    *,
    scale: ScaleName = "zscore",
    effort: Effort = "balanced",
    seconds: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    certify: bool = False,
    progress: Callable[[Progress], object] | None = None,
) -> Result:
    """Partition records into groups of at least k similar ones.

    data: a 2-D array-like or data frame of numbers, one row per record (1-D: one attribute).
    k: the smallest allowed group size, at least 2.
    method: "auto" chooses, and reports what and why; or a catalogue name, a recipe such as "cbfs+mhm" or
        "mdav+anneal:steps=1000000", or a Stage; `microagg methods` lists the names.
    scale: "zscore" (population standard deviation), "range", "robust" (median and MAD), "rank", "none".
    effort: "fast", "balanced" or "best", for methods that can always do more: a tenth of a second, two
        thirds of one, and half a minute to some minutes for 1,000 records.
    seconds: wall-clock limit of refinements, which plan their work to fit into it, and again by their
        measured pace. In `auto`, MDAV on more than 4,096 records heeds it too: `blocks`, which are quick,
        take its place. Not covered: reading and scaling, a method that is named to start from, and up to
        0.2 s for a last descent of an anneal that was cut short.
    seed: fixes every random choice; methods without any give the same result for each seed.
    threads: most threads to use (default: all available); never changes the result.
    certify: also prove a lower bound, for `bound` and `gap`; takes up to as many seconds again (60 where
        none are given) and does not change the groups.
    progress: called about twenty times a second with a `Progress`; when it returns True, the run stops
        with the best so far (or raises `Cancelled` if there is none yet); what it raises comes out.

    Raises SettingsError or DataError (both ValueError) for what cannot be used.
    """
    settled = method_plan(
        k,
        method,
        scale=scale,
        effort=effort,
        seconds=seconds,
        seed=seed,
        threads=threads,
        certify=certify,
        progress=progress,
    )
    table = read.table_of(data)
    check_against_data(settled, len(table.values))
    started = monotonic()
    problem = Problem(to_points(table, settled.scale), settled.k)
    start = one_group(problem)
    found = solve_one(problem, start, settled, progress)
    return _result_of(settled, found, start.sse, monotonic() - started)


def _result_of(settled: MethodPlan, found: Partition, sst: float, seconds: float) -> Result:
    return Result(
        labels=found.labels,
        k=settled.k,
        sse=found.sse,
        sst=sst,
        bound=found.bound if found.bound > 0.0 or found.sse == 0.0 else None,
        recipe=found.recipe or settled.recipe,
        reason=found.reason,
        truncated=found.truncated,
        seconds=seconds,
    )


def lower_bound(
    data: object,
    k: int,
    *,
    scale: ScaleName = "zscore",
    seconds: float = SECONDS_OF_PROOF,
    gap: float = 0.0,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Bound:
    """A proven lower bound on the information loss of any partition, and the best partition known.

    seconds: wall-clock limit; a quarter of it may go into finding a partition.
    gap: stop when the partition is at most this many percent above the optimum.
    The other arguments are those of `partition`. Up to 6,000 records by column generation, which can
    prove a partition optimal; beyond, a bound from nearest neighbours.
    """
    if seconds is None:
        raise wording.bad_number("seconds", seconds, "a number above 0")
    settled = method_plan(
        k, "auto:prove=no", scale=scale, seconds=seconds, seed=seed, threads=threads, progress=progress
    )
    target = Exact(gap=gap).gap / 100.0
    table = read.table_of(data)
    check_against_data(settled, len(table.values))
    started = monotonic()
    problem = Problem(to_points(table, settled.scale), settled.k)
    start = one_group(problem)
    first = run_of(settled, seconds / 4.0, progress, start.sse)
    found = solve(settled.stage, problem, start, first)
    proof = None
    known = table.values.shape[1] == 1 or len(table.values) < 2 * settled.k
    if not known and not first.watch.cancelled:
        left = max(seconds - (monotonic() - started), 0.01)
        run = run_of(settled, left, progress, start.sse)
        run.note(found.sse)
        # Without what is known already, so that the certificate holds all that its bound follows from.
        fresh = replace(found, bound=0.0)
        proof = prove(problem, fresh, target, NODES_BY_EFFORT["best"], WORK_BY_EFFORT["best"], run)
        better = proof.partition.sse < found.sse
        recipe = f"{found.recipe}+exact" if better else found.recipe
        bound = max(found.bound, proof.partition.bound)
        truncated = found.truncated or run.overdue
        found = replace(proof.partition, bound=bound, recipe=recipe, truncated=truncated)
    taken = monotonic() - started
    return Bound(
        found.bound,
        _result_of(settled, found, start.sse, taken),
        proof.columns if proof else 0,
        len(proof.cuts) if proof else 0,
        proof.nodes if proof else 0,
        taken,
        table.values,
        settled.scale,
        proof,
    )
