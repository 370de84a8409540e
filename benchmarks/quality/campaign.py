"""Runs: which there are, how one is made and checked, and how the missing ones are made."""

from __future__ import annotations

import math
import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter, process_time

import numpy as np

import microagg
from benchmarks.quality.data import ICSM_RECORDS, DataSet, load
from benchmarks.quality.store import Key, Line, Records, Results, is_repeatable, labels_hash
from microagg.errors import DataError
from microagg.methods.auto import choose
from microagg.methods.run import Run
from microagg.model import Effort, Problem, Table

METHODS = ("mdav", "icsm", "descent", "auto")
NEEDS_CLOCK = "exact"
"""The stage of `auto` that seconds, and not its steps, bring to an end."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run. `auto` with a budget makes the best effort within it, without one the balanced effort."""

    data: str
    k: int
    method: str
    budget: float | None
    seed: int
    threads: int

    @property
    def key(self) -> Key:
        """As `store.key_of` of the line this run will give."""
        return self.data, self.k, self.method, self.budget, self.seed

    def __str__(self) -> str:
        budget = f" {self.budget:g} s" if self.budget else ""
        seed = f" seed {self.seed}" if self.method == "auto" else ""
        return f"{self.data} k={self.k} {self.method}{budget}{seed}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line asks for; None leaves the choice to the data set."""

    ks: tuple[int, ...] | None
    methods: tuple[str, ...] | None
    budgets: tuple[float, ...] | None
    seeds: int


def jobs_on(one: DataSet, wanted: Wanted) -> Iterator[Job]:
    """Every run on one data set. All methods but `auto` make no random choices: one seed is enough."""
    methods = [method for method in one.methods if wanted.methods is None or method in wanted.methods]
    if len(load(one.name).values) > ICSM_RECORDS:
        methods = [method for method in methods if method != "icsm"]
    for method in methods:
        random = method == "auto"
        for budget in budgets_of(one, wanted) if random else (None,):
            for k in wanted.ks or one.ks:
                for seed in range(wanted.seeds if random else 1):
                    yield Job(one.name, k, method, budget, seed, one.threads)


def budgets_of(one: DataSet, wanted: Wanted) -> tuple[float | None, ...]:
    """Where the run without seconds is the subject, `--seconds` does not apply."""
    return one.budgets if wanted.budgets is None or None in one.budgets else wanted.budgets


def plan(sets: Iterable[DataSet], wanted: Wanted) -> list[Job]:
    """All runs, short ones first, so that an interrupted campaign has something for every instance.

    A set whose reference file is missing is left out, with a word about it.
    """
    jobs: list[Job] = []
    for one in sets:
        try:
            jobs += jobs_on(one, wanted)
        except DataError as reason:
            print(f"SKIPPED {one.name}: {reason}", flush=True)
    return sorted(jobs, key=lambda job: (job.threads, job.method == "auto", job.budget or 0.0))


# --- one run ----------------------------------------------------------------------------------


def planned_recipe(n: int, p: int, k: int, budget: float | None, threads: int) -> str:
    """What `auto` chooses today for data of this size: the recipe names its steps."""
    effort: Effort = "balanced" if budget is None else "best"
    return choose(Problem(np.zeros((n, p)), k), Run(effort=effort, seconds=budget, threads=threads)).recipe


def run(job: Job) -> Line:
    """Make the run; seconds are those of the call, the data being there already."""
    table = load(job.data)
    started, cpu_before = perf_counter(), process_time()
    result = _partition(table, job)
    wall, cpu = perf_counter() - started, process_time() - cpu_before
    check(table, job, result)
    n, p = table.values.shape
    return {
        "data": job.data,
        "n": n,
        "p": p,
        "k": job.k,
        "method": job.method,
        "budget": job.budget,
        "seed": job.seed,
        "threads": job.threads,
        "recipe": result.recipe,
        "il": result.information_loss,
        "sse": result.sse,
        "groups": len(result.sizes),
        "truncated": result.truncated,
        "wall": round(wall, 4),
        "cpu": round(cpu, 4),
        "labels_hash": labels_hash(result.labels),
    }


def _partition(table: Table, job: Job) -> microagg.Result:
    """Without the clock wherever possible: `auto` by the recipe that it chooses for its seconds."""
    method = job.method
    if method == "auto" and job.budget is not None:
        method = planned_recipe(*table.values.shape, job.k, job.budget, job.threads)
        if NEEDS_CLOCK in method:
            return microagg.partition(
                table, job.k, "auto", effort="best", seconds=job.budget, seed=job.seed, threads=job.threads
            )
    return microagg.partition(table, job.k, method, seed=job.seed, threads=job.threads)


def check(table: Table, job: Job, result: microagg.Result) -> None:
    """Count and measure the groups again in plain NumPy: a loss goes on the page only if it is true."""
    sizes = np.bincount(result.labels)
    if len(result.labels) != len(table.values) or sizes.min() < job.k:
        raise SystemExit(f"{job}: a group has {sizes.min()} records, fewer than k. This is a bug.")
    values = table.values
    points = (values - values.mean(axis=0)) / values.std(axis=0)
    sums = np.zeros((len(sizes), points.shape[1]))
    np.add.at(sums, result.labels, points)
    sse = float(((points - (sums / sizes[:, np.newaxis])[result.labels]) ** 2).sum())
    loss = 100.0 * sse / float((points**2).sum())
    if not math.isclose(loss, result.information_loss, rel_tol=1e-7, abs_tol=1e-9):
        raise SystemExit(f"{job}: loss {result.information_loss}, measured again {loss}. This is a bug.")


# --- all runs ---------------------------------------------------------------------------------


def is_missing(job: Job, results: Results, again: str | None) -> bool:
    """Whether to make a run: it is not there yet, or `again` says so ("all", "cut": if cut short,
    "old": if it is not what `auto` would do today without the clock).
    """
    line = results.lines.get(job.key)
    if line is None or again == "all":
        return True
    if again == "cut":
        return bool(line["truncated"])
    return again == "old" and is_old(line)


def is_old(line: Line) -> bool:
    """Whether `auto` or its method does something else today, or the clock cut what needs no clock."""
    if line["method"] != "auto":
        return False
    today = planned_recipe(*(line[name] for name in ("n", "p", "k", "budget", "threads")))
    made_otherwise = line["recipe"] != today or line.get("superseded", False)
    return bool(made_otherwise or (line["truncated"] and NEEDS_CLOCK not in today))


def carry_out(
    jobs: list[Job], results: Results, records: Records, processes: int, again: str | None
) -> None:
    """Make the runs that are not there yet; every line is written here, in the parent process."""
    missing = [job for job in jobs if is_missing(job, results, again)]
    print(f"{len(jobs)} runs, {len(jobs) - len(missing)} of them there already", end="")
    print(f"; budgets of the rest: {_hours(missing, processes)}" if missing else "", flush=True)
    done = 0
    # A run on several threads shares the machine with nobody.
    beside = [job for job in missing if job.threads == 1]
    alone = [job for job in missing if job.threads > 1]
    for some, at_once in ((beside, processes), (alone, 1)):
        with mapping(min(at_once, len(some))) as each:
            for line in each(run, some):
                done += 1
                results.add(line)
                better = records.offer(line)
                if better:
                    records.save()
                _tell(f"{done}/{len(missing)}", line, better)


def _hours(jobs: list[Job], processes: int) -> str:
    """What the budgets add up to; runs without one are not counted."""
    hours = sum(job.budget or 0.0 for job in jobs) / processes / 3600.0
    return f"{hours:.1f} hours" if hours >= 1.0 else f"{60.0 * hours:.1f} minutes"


def _tell(place: str, line: Line, better: bool) -> None:
    job = Job(*(line[name] for name in ("data", "k", "method", "budget", "seed", "threads")))
    notes = ", cut short" * line["truncated"] + ", record" * better
    print(f"[{place}] {job}: {line['il']:.5f} % in {line['wall']:.2f} s{notes}", flush=True)


Mapper = Callable[[Callable[[Job], Line], list[Job]], Iterable[Line]]


@contextmanager
def mapping(processes: int) -> Iterator[Mapper]:
    """A `map` over so many processes, in this one if it is a single one.

    Leaving ends the processes, also in the middle of a run. A process that is killed from outside takes its
    run with it and the campaign then waits for ever: interrupt it and start it again.
    """
    if processes < 2:
        yield map
        return
    # Ctrl-C goes to the whole family; the children leave it to the parent, which ends them.
    with multiprocessing.get_context("spawn").Pool(processes, _leave_interrupts) as pool:
        yield lambda function, jobs: pool.imap_unordered(function, jobs)


def _leave_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


# --- records ----------------------------------------------------------------------------------


def reproduce(instances: list[str], records: Records) -> bool:
    """Run each record's recipe with its seed; True if every one gives the recorded groups."""
    every = records.entries if "all" in instances else ()
    wanted = dict.fromkeys((*every, *(instance for instance in instances if instance != "all")))
    if not wanted:
        print(f"no records in {records.path}")
    verdicts = [_same_again(instance, records) for instance in wanted]
    return bool(verdicts) and all(verdicts)


def remake(results: Results, records: Records) -> None:
    """Repeat each instance's best run without a limit of time, if it cannot be repeated as it was.

    Its recipe names the steps, so that what comes out can be made again.
    """
    best: dict[tuple[str, int], Line] = {}
    for line in results.every:
        instance = line["data"], line["k"]
        if instance not in best or line["sse"] < best[instance]["sse"]:
            best[instance] = line
    for line in best.values():
        if is_repeatable(line):
            continue
        result = microagg.partition(load(line["data"]), line["k"], line["recipe"], seed=line["seed"])
        made = {name: value for name, value in line.items() if name != "superseded"} | {
            "recipe": result.recipe,
            "il": result.information_loss,
            "sse": result.sse,
            "truncated": result.truncated,
            "labels_hash": labels_hash(result.labels),
        }
        better = records.offer(made)
        if better:
            records.save()
        print(
            f"{line['data']} k={line['k']}: {made['il']:.5f} % (stored: {line['il']:.5f})"
            f"{', record' * better}",
            flush=True,
        )


def _same_again(instance: str, records: Records) -> bool:
    record = records.entries.get(instance)
    if record is None:
        print(f"{instance}: no record; there are {', '.join(records.entries) or 'none'}", flush=True)
        return False
    try:
        table = load(record["data"])
    except DataError as reason:
        print(f"{instance}: NOT CHECKED: {reason}", flush=True)
        return False
    # However many threads were used, all available ones must give the same.
    result = microagg.partition(table, record["k"], record["recipe"], seed=record["seed"])
    found = labels_hash(result.labels)
    same: bool = found == record["labels_hash"]
    verdict = "the same groups" if same else f"OTHER GROUPS: {found}, recorded {record['labels_hash']}"
    print(
        f"{instance}: {record['recipe']}, seed {record['seed']}: {result.information_loss:.5f} % "
        f"(recorded {record['il']:.5f}), {verdict}",
        flush=True,
    )
    return same
