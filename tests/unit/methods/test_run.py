"""A run: order, seeds and threads of `map`, progress, cancellation and the deadline."""

from __future__ import annotations

import signal
import threading
import weakref
from collections.abc import Callable
from time import sleep

import numpy as np
import pytest

from microagg import _core, partition
from microagg.errors import Cancelled
from microagg.methods.anneal import Anneal
from microagg.methods.fixed_size import Mdav
from microagg.methods.run import Progress, Run, available_threads, derived_seed
from microagg.methods.solving import solve_all
from microagg.methods.stage import Within, one_group, solve
from microagg.model import Labels, Partition, Problem
from microagg.plan.method import method_plan

PATIENCE = 600.0  # seconds after which a waiting thread gives up, so that a failing test ends


def endless(run: Run) -> Callable[[], object]:
    """A kernel that would take minutes."""
    points = np.random.default_rng(1).normal(size=(1_000_000, 4))
    return lambda: _core.nearest_next(points, 0, _core.Deadline.IGNORE, run.watch)


def recorded(kernel: Callable[[], object]) -> tuple[Callable[[], object], list[BaseException]]:
    """The kernel, and a list of what it raises."""
    raised: list[BaseException] = []

    def work() -> object:
        try:
            return kernel()
        except BaseException as error:
            raised.append(error)
            raise

    return work, raised


# --- map --------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_map_keeps_the_order_and_gives_each_item_its_seed(threads: int, count: int) -> None:
    run = Run(seed=9, threads=threads)
    found = run.map(lambda item, child: (item, child.seed, child.threads), (10 * i for i in range(count)))
    assert found == [(10 * i, derived_seed(9, i), 1) for i in range(count)]


def test_map_works_on_several_threads_at_once() -> None:
    meeting = threading.Barrier(3)
    Run(threads=3).map(lambda item, child: meeting.wait(PATIENCE), range(3))


def test_map_with_one_thread_never_overlaps() -> None:
    busy = threading.Lock()

    def alone(item: int, child: Run) -> None:
        assert busy.acquire(blocking=False)
        busy.release()

    Run(threads=1).map(alone, range(20))


@pytest.mark.parametrize("threads", [1, 2])
def test_map_passes_exceptions_on(threads: int) -> None:
    def divide(item: int, child: Run) -> float:
        return 1 / item

    with pytest.raises(ZeroDivisionError):
        Run(threads=threads).map(divide, [1, 2, 0, 3])


@pytest.mark.parametrize("threads", [1, 2])
def test_items_may_call_kernels_and_map(threads: int) -> None:
    points = np.arange(12.0).reshape(6, 2)

    def work(item: int, child: Run) -> list[int]:
        labels = child.call(
            lambda: _core.peel(points, 3, _core.Pivot.CENTROID, _core.Growth.SEED, 1, child.watch)
        )
        return child.map(lambda inner, _: inner + len(labels), [item])

    assert Run(threads=threads).map(work, [1, 2, 3]) == [[7], [8], [9]]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_cancelled_item_ends_the_map(threads: int) -> None:
    run = Run(threads=threads)

    def work(item: int, child: Run) -> object:
        run.cancel()
        return child.call(endless(child))

    with pytest.raises(Cancelled):
        run.map(work, range(4))


@pytest.mark.parametrize("threads", [1, 2])
def test_cancelling_skips_the_blocks_not_yet_begun(threads: int) -> None:
    """Tiny kernels never look at the watch; `Within` does it for them."""
    run = Run(threads=threads)
    begun: list[int] = []

    def count(problem: Problem, start: Partition, child: Run) -> Partition:
        begun.append(len(begun))
        run.cancel()
        return Mdav()(problem, start, child)

    stage = Within(_Initial(count), by=lambda problem, start, child: np.repeat(np.arange(200), 5))
    problem = Problem(np.random.default_rng(0).normal(size=(1_000, 2)), 2)
    with pytest.raises(Cancelled):
        stage(problem, one_group(problem), run)
    assert len(begun) <= threads


class _Initial:
    """An initial stage made of a function."""

    needs_start = False
    uses_effort = False

    def __init__(self, solve: Callable[[Problem, Partition, Run], Partition]) -> None:
        self._solve = solve

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        return self._solve(problem, start, run)


# --- call: progress and cancellation ----------------------------------------------------------


def test_call_returns_what_the_kernel_returns_and_raises_what_it_raises() -> None:
    assert Run().call(lambda: 42) == 42
    with pytest.raises(KeyError):
        Run().call(lambda: {}["nothing"])


def test_progress_is_called_in_the_calling_thread() -> None:
    seen: list[tuple[Progress, threading.Thread]] = []
    enough = threading.Event()

    def progress(report: Progress) -> None:
        seen.append((report, threading.current_thread()))
        if len(seen) == 3:
            enough.set()

    run = Run(progress=progress)
    run.stage = "Waiting"
    assert run.call(lambda: enough.wait(PATIENCE))
    reports = [report for report, _ in seen]
    assert {thread for _, thread in seen} == {threading.current_thread()}
    assert {report.stage for report in reports} == {"Waiting"}
    assert all(0.0 <= report.done <= 1.0 for report in reports)
    assert sorted(report.seconds for report in reports) == [report.seconds for report in reports]


def test_progress_is_called_during_map() -> None:
    called = threading.Event()
    run = Run(threads=2, progress=lambda _: called.set())
    assert run.map(lambda item, child: called.wait(PATIENCE), range(4)) == [True] * 4


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_exception_in_progress_stops_the_kernel(error: type[BaseException]) -> None:
    def stop(_: Progress) -> None:
        raise error("enough")

    run = Run(progress=stop)
    kernel, raised = recorded(endless(run))
    with pytest.raises(error, match="enough"):
        run.call(kernel)
    assert [type(failure) for failure in raised] == [Cancelled]


def test_ctrl_c_waits_until_the_kernel_has_stopped() -> None:
    """A kernel left behind would go on, and bring the interpreter down when it exits meanwhile."""
    main = threading.get_ident()
    sending = threading.Thread(target=signal.pthread_kill, args=(main, signal.SIGINT))

    def progress(_: Progress) -> None:
        """The kernel is at work, and this thread waits for it."""
        if sending.ident is None:
            sending.start()

    run = Run(progress=progress)
    kernel, raised = recorded(endless(run))
    with pytest.raises(KeyboardInterrupt):
        run.call(kernel)
    assert [type(failure) for failure in raised] == [Cancelled]
    sending.join()


def test_cancel_from_another_thread() -> None:
    run, begun = Run(), threading.Event()
    work = endless(run)
    other = threading.Thread(target=lambda: begun.wait(PATIENCE) and run.cancel())
    other.start()
    with pytest.raises(Cancelled):
        run.call(lambda: begun.set() or work())
    other.join()


def test_a_run_cancelled_beforehand_begins_nothing() -> None:
    run = Run()
    run.cancel()
    problem = Problem(np.random.default_rng(0).normal(size=(60, 2)), 3)
    with pytest.raises(Cancelled):
        Within(Mdav(), by=lambda *_: np.repeat(np.arange(2), 30))(problem, one_group(problem), run)


def test_a_cancelled_refinement_returns_the_best_so_far() -> None:
    x = np.random.default_rng(0).normal(size=(3_000, 4))
    problem = Problem(x, 3)
    run = Run()
    start = solve(Mdav(), problem, one_group(problem), run)

    def cancel_when_better() -> None:
        for _ in range(60_000):  # ten minutes, should it never be
            if run.watch.best < start.sse:
                break
            sleep(0.01)
        run.cancel()

    other = threading.Thread(target=cancel_when_better)
    other.start()
    found = solve(Anneal(10**12), problem, start, run)
    other.join()
    assert found.truncated
    assert found.sse < start.sse


def test_progress_that_returns_true_stops_with_the_best_so_far() -> None:
    reports: list[Progress] = []

    def enough(report: Progress) -> bool:
        reports.append(report)
        return report.improvement is not None and report.improvement > 0.0

    x = np.random.default_rng(0).normal(size=(3_000, 4))
    found = partition(x, 3, "anneal:steps=1000000000000", progress=enough)
    assert found.truncated
    last = reports[-1]
    assert last.information_loss is not None
    assert found.information_loss <= partition(x, 3, "mdav").information_loss
    assert found.information_loss == pytest.approx(last.information_loss, rel=0.05)


def test_progress_of_several_problems_has_their_loss_once_all_have_groups() -> None:
    draw = np.random.default_rng(0)
    parts = [Problem(np.ascontiguousarray(draw.normal(size=(400, 4))), 3) for _ in range(4)]
    plan = method_plan(
        3, "anneal:steps=2000000", scale="zscore", effort="balanced", seconds=None, seed=0, threads=2
    )
    sst = sum(one_group(part).sse for part in parts)
    losses: list[float | None] = []
    found = solve_all(parts, plan, lambda report: losses.append(report.information_loss), sst)
    known = [loss for loss in losses if loss is not None]
    assert losses[0] is None
    assert known == sorted(known, reverse=True)
    assert known[-1] >= 100.0 * sum(each.sse for each in found) / sst


def test_several_problems_share_the_work_of_proofs() -> None:
    draw = np.random.default_rng(1)
    plan = method_plan(2, "auto", scale="zscore", effort="balanced", seconds=None, seed=0, threads=1)

    def recipes(parts: int, records: int) -> list[str]:
        problems = [Problem(draw.normal(size=(records, 2)), 2) for _ in range(parts)]
        return [found.recipe for found in solve_all(problems, plan, None)]

    assert [recipe.partition(":work=")[2] for recipe in recipes(4, 20)] == ["15000000"] * 4
    assert not any("exact" in recipe for recipe in recipes(110, 20))


def test_progress_that_stops_before_there_is_a_partition() -> None:
    x = np.random.default_rng(0).normal(size=(100_000, 10))
    with pytest.raises(Cancelled):
        partition(x, 3, "mdav", progress=lambda _: True)


# --- the deadline -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "overdue"), [(None, False), (1e-9, True), (1e6, False), (1e300, False)]
)
def test_overdue(seconds: float | None, overdue: bool) -> None:
    run = Run(seconds=seconds)
    assert run.overdue is overdue


def test_children_share_the_deadline() -> None:
    assert Run(seconds=1e-9, threads=2).map(lambda item, child: child.overdue, range(3)) == [True] * 3


# --- seeds and threads ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seed", "place", "expected"),
    [
        (0, 0, 9370218965779684112),
        (0, 1, 7792259576135971849),
        (1, 0, 3246858695411730098),
        (123, 45, 13237931954941343995),
    ],
)
def test_derived_seeds_never_change(seed: int, place: int, expected: int) -> None:
    assert derived_seed(seed, place) == expected


def test_derived_seeds_differ() -> None:
    seeds = {derived_seed(seed, place) for seed in range(50) for place in range(200)}
    assert len(seeds) == 50 * 200
    assert all(0 <= seed < 2**64 for seed in seeds)


def test_threads_default_to_the_available_ones() -> None:
    assert Run().threads == available_threads() >= 1
    assert Run(threads=7).threads == 7


# --- remembering ------------------------------------------------------------------------------


def test_what_is_remembered_is_computed_once_for_a_run_and_its_children() -> None:
    run = Run(threads=2)
    points, others = np.zeros((4, 1)), np.zeros((4, 1))
    calls: list[str] = []

    def compute(what: str) -> Callable[[], str]:
        return lambda: calls.append(what) or what  # type: ignore[func-returns-value]

    def ask(_: int, child: Run) -> str:
        return child.remember(points, "a", compute("points a"))

    assert run.remember(points, "a", compute("points a")) == "points a"
    assert run.map(ask, range(3)) == ["points a"] * 3
    assert run.remember(points, "b", compute("points b")) == "points b"
    assert run.remember(others, "a", compute("others a")) == "others a"
    assert calls == ["points a", "points b", "others a"]


def test_what_is_remembered_goes_with_its_points() -> None:
    run = Run()
    points = np.zeros((4, 1))
    value = weakref.ref(run.remember(points, "a", lambda: np.zeros(3)))
    assert value() is not None
    del points
    run.remember(np.zeros((2, 1)), "a", lambda: None)
    assert value() is None


# --- cancelled where nothing was found yet ------------------------------------------------------


def cancelled_cut(problem: Problem, start: Partition, run: Run, /) -> Labels:
    raise Cancelled("The run was cancelled.")


def test_a_refinement_that_is_cancelled_at_once_leaves_its_start() -> None:
    problem = Problem(np.random.default_rng(1).normal(size=(30, 2)), 3)
    run = Run()
    start = solve(Mdav(), problem, one_group(problem), run)
    found = solve(Within(Anneal(100), by=cancelled_cut), problem, start, run)
    assert np.array_equal(found.labels, start.labels)
    assert found.truncated
    with pytest.raises(Cancelled):
        solve(Within(Mdav(), by=cancelled_cut), problem, start, run)
