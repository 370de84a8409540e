"""Strategies tried in parallel, each measured at once; groups that several publish are searched once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from time import monotonic
from typing import Any

from microagg import errors
from microagg.assessment.assessing import assess_release
from microagg.engines import local
from microagg.engines.randomness import Randomness
from microagg.methods.recipe import MethodPlan
from microagg.methods.run import Progress, Watcher, available_threads
from microagg.methods.solving import PARALLEL_BELOW, solve_all
from microagg.model import Microdata, Partition, Problem
from microagg.plan.strategies import Strategy
from microagg.settings.declared import REPRESENTATIVES

_SLICE = 0.05  # seconds between two looks at the strategies at work


def try_all(
    source: Microdata,
    strategies: Mapping[str, Strategy],
    measures: Sequence[str],
    of: int,
    threads: int | None,
    progress: Watcher | None,
) -> Iterator[tuple[str, Mapping[str, Any] | Exception]]:
    """What every strategy has found, as soon as it has; its refusal where it was refused.

    Large data have strategies one after the other, each with all threads, for the sake of memory.
    """
    threads = threads or available_threads()
    groups: dict[str, _Groups] = {}
    order: list[tuple[int, str, _Groups]] = []  # the first that needs some groups before all others
    for key, strategy in strategies.items():
        own = groups.setdefault(_searched(strategy), _Groups())
        order.append((own.uses, key, own))
        own.uses += 1
    order.sort(key=lambda each: each[0])
    workers = 1 if source.table.num_rows >= PARALLEL_BELOW else max(1, min(threads, len(groups)))
    started = monotonic()
    stop = threading.Event()

    def work(strategy: Strategy, own: _Groups) -> Mapping[str, Any] | Exception:
        try:
            return _figures_of(source, strategy, own, measures, threads // workers, stop)
        except (errors.SettingsError, errors.DataError, errors.UnsafeRelease) as refusal:
            return refusal

    with ThreadPoolExecutor(workers) as pool:
        places = {pool.submit(work, strategies[key], own): key for _, key, own in order}
        pending: set[Future[Mapping[str, Any] | Exception]] = set(places)
        try:
            while pending:
                done, pending = wait(pending, _SLICE, FIRST_COMPLETED)
                for future in done:
                    yield places[future], future.result()
                ended = of - len(pending)
                if progress is not None:
                    stage = f"{ended} of {of} strategies"
                    if progress(Progress(stage, ended / of, monotonic() - started)) is True:
                        raise errors.Cancelled("The comparison was cancelled.")
        except BaseException:  # also when nobody wants more
            stop.set()
            for future in pending:
                future.cancel()
            raise


class _Groups:
    """Those of strategies that differ in nothing but what groups publish, searched by the first of them."""

    def __init__(self) -> None:
        self.uses = 0
        self._found: dict[tuple[str, int], tuple[list[Partition], float]] = {}
        self._lock = threading.Lock()

    def of(self, plan: MethodPlan, search: Callable[[], list[Partition]]) -> tuple[list[Partition], float]:
        """By this plan, and the seconds that the search has taken."""
        tried = plan.recipe, plan.seed
        with self._lock:
            if tried not in self._found:
                started = monotonic()
                self._found[tried] = search(), monotonic() - started
            return self._found[tried]


def _searched(strategy: Strategy) -> str:
    """What the groups of a strategy depend on."""
    left_out = ("accept", *REPRESENTATIVES)
    options = strategy.protection.settings.items()
    return repr(sorted((name, value) for name, value in options if name not in left_out))


def _figures_of(
    source: Microdata,
    strategy: Strategy,
    groups: _Groups,
    measures: Sequence[str],
    threads: int,
    stop: threading.Event,
) -> dict[str, Any]:
    started = monotonic()
    elsewhere = 0.0

    def search(problems: Sequence[Problem], plan: MethodPlan, *more: Any, **named: Any) -> list[Partition]:
        nonlocal elsewhere
        began = monotonic()
        found, seconds = groups.of(plan, lambda: solve_all(problems, plan, *more, **named))
        elsewhere += seconds - (monotonic() - began)
        return found

    def watch(_: Progress) -> None:
        if stop.is_set():
            raise errors.Cancelled("The comparison was cancelled.")

    method = replace(strategy.protection.method, threads=max(1, threads))
    # Nothing is released, so there is no order to hide; shuffled records would change the last digits.
    protection = replace(strategy.protection, method=method, keep_order=True)
    release = local.protect(
        source, protection, watch, Randomness.of_trial(protection), trial=True, search=search
    )
    seconds = monotonic() - started + elsewhere  # as if it had searched its groups
    if stop.is_set():
        raise errors.Cancelled("The comparison was cancelled.")
    assessment = assess_release(release, measures)
    values = assessment.as_dict()["measures"]
    counts = release.verdict.subsets if release.verdict.joint is None else (release.verdict.joint,)
    return {
        **{name: values[name]["value"] for name in measures},
        "smallest": min(count.smallest for count in counts),
        "seconds": seconds,
        "recipe": " and ".join(sorted({task.recipe for task in release.partitions if task.columns})),
        # What `protect` would have to be told to accept to release this.
        "needs": ", ".join(dict.fromkeys(each.name for each in release.verdict.accepted)),
    }
