"""A run that is stopped keeps the best so far, with strata too."""

from __future__ import annotations

import threading
from dataclasses import replace
from time import sleep
from typing import Any

import numpy as np
import pandas as pd
import pytest

import microagg
from microagg import Cancelled, Progress
from microagg.cli.progress_bar import _loss_so_far, _where
from microagg.methods import solving
from microagg.methods.fixed_size import Mdav
from microagg.methods.local_search import Descent
from microagg.methods.recipe import MethodPlan
from microagg.methods.run import Run
from microagg.methods.solving import solve_all
from microagg.methods.stage import chain, one_group, solve
from microagg.model import Partition, Problem
from microagg.plan.method import method_plan
from microagg.report import reporting

HELD = 2


class Hold:
    """Descent, but for one problem, at which it waits until the run is stopped."""

    needs_start = True
    uses_effort = False

    def __init__(self, held: Problem | None) -> None:
        self._held = held
        self.waits = threading.Event()

    def __call__(self, problem: Problem, start: Partition, run: Run) -> Partition:
        if self._held is None or problem.points is not self._held.points:
            return solve(Descent(), problem, start, run)

        def kernel() -> Partition:
            self.waits.set()
            while not run.overdue:
                sleep(0.001)
            return replace(start, truncated=True)

        return run.call(kernel)


@pytest.fixture
def problems() -> list[Problem]:
    draw = np.random.default_rng(0)
    return [Problem(np.ascontiguousarray(draw.normal(size=(60, 3))), 3) for _ in range(5)]


def plan_with(stage: Any) -> MethodPlan:
    plan = method_plan(3, "mdav", scale="none", effort="balanced", seconds=None, seed=0, threads=1)
    return replace(plan, stage=chain(Mdav(), stage), recipe="mdav+hold")


@pytest.fixture(params=["in parallel", "one after the other"])
def pace(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "one after the other":
        monkeypatch.setattr(solving, "PARALLEL_BELOW", 10)


def stopped_in_the_third(
    problems: list[Problem], progress: Any = None, **more: Any
) -> tuple[list[Partition], list[Progress]]:
    """Strata one after the other; two are done, the third is at work when the run is stopped."""
    hold, told = Hold(problems[HELD]), []

    def stop(now: Progress) -> object:
        told.append(now)
        return True if hold.waits.is_set() else None

    found = solve_all(
        problems, plan_with(hold), progress or stop, 1.0, strata=range(5), finish_when_stopped=True, **more
    )
    return found, told


@pytest.mark.usefixtures("pace")
def test_stopping_with_strata_keeps_what_is_done(problems: list[Problem]) -> None:
    whole = solve_all(problems, plan_with(Hold(None)), None)
    found, told = stopped_in_the_third(problems)
    for place in range(HELD):
        assert not found[place].truncated
        assert np.array_equal(found[place].labels, whole[place].labels)
    for place in range(HELD, 5):
        mdav = solve(Mdav(), problems[place], one_group(problems[place]), Run())
        assert found[place].truncated
        assert np.array_equal(found[place].labels, mdav.labels)
    assert [each.recipe for each in found[HELD + 1 :]] == ["mdav", "mdav"]
    assert "stopped" in found[-1].reason
    last = told[-1] if told[-1].stage != "quick groups for the rest" else told[-2]
    assert (last.part, last.finished, last.has_groups) == ("stratum 3 of 5", HELD, True)
    assert last.done >= HELD / 5


def test_strata_that_were_not_begun_are_cut_into_blocks_if_they_are_large(
    problems: list[Problem], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solving, "MOST_FOR_MDAV", 10)
    found, _ = stopped_in_the_third(problems)
    assert [each.recipe for each in found[HELD + 1 :]] == ["blocks", "blocks"]


def test_without_finish_a_stopped_run_is_cancelled(problems: list[Problem]) -> None:
    hold = Hold(problems[HELD])

    class Initial(Hold):
        needs_start = False

        def __call__(self, problem: Problem, start: Partition, run: Run) -> Partition:
            found = hold(problem, solve(Mdav(), problem, start, run), run)
            if found.truncated:
                raise Cancelled
            return found

    plan = replace(plan_with(hold), stage=Initial(None))
    with pytest.raises(Cancelled):
        solve_all(problems, plan, lambda _: hold.waits.is_set())


@pytest.mark.usefixtures("pace")
def test_a_second_ctrl_c_ends_the_quick_groups_at_once(
    problems: list[Problem], monkeypatch: pytest.MonkeyPatch
) -> None:
    hold, quick = Hold(problems[HELD]), threading.Event()

    class Endless:
        needs_start = False
        uses_effort = False

        def __call__(self, problem: Problem, start: Partition, run: Run) -> Partition:
            def kernel() -> Partition:
                quick.set()
                while not run.overdue:
                    sleep(0.001)
                raise Cancelled

            return run.call(kernel)

    def progress(_: Progress) -> object:
        if quick.is_set():
            raise KeyboardInterrupt
        return True if hold.waits.is_set() else None

    monkeypatch.setattr(solving, "stage_of", lambda _: Endless())
    with pytest.raises(KeyboardInterrupt):
        solve_all(problems, plan_with(hold), progress, finish_when_stopped=True)


def people(n: int = 90) -> pd.DataFrame:
    draw = np.random.default_rng(1)
    frame = pd.DataFrame(draw.normal(size=(n, 3)), columns=["a", "b", "c"])
    return frame.assign(region=np.arange(n) % 3)


def test_a_stopped_release_with_strata_is_safe_and_says_so() -> None:
    release = microagg.protect(
        people(), k=3, rest="pass",
        keys=["a", "b", "c"], strata=["region"], method="anneal:steps=100000000000",
        threads=1, progress=lambda now: now.has_groups,
    )  # fmt: skip
    assert release.verdict.safe
    assert release.stopped
    assert release.record["stopped"] is True
    assert all(task.truncated for task in release.partitions)
    assert ", stopped early\n" in str(release)
    warnings = reporting.internal_facts(release).warnings
    assert any("stopped early" in str(warning) for warning in warnings)
    assert not any("by the clock" in str(warning) for warning in warnings)


def test_stopping_before_there_are_any_groups_gives_quick_ones() -> None:
    draw = np.random.default_rng(2)
    frame = pd.DataFrame(draw.normal(size=(20_000, 8)), columns=list("abcdefgh"))
    release = microagg.protect(
        frame,
        k=3,
        rest="pass",
        keys=list("abcdefgh"),
        method="mdav+anneal:steps=100000000000",
        progress=lambda _: True,
    )
    assert release.stopped
    assert [task.recipe for task in release.partitions] in (["mdav"], ["mdav+anneal:steps=100000000000"])


def test_a_stopped_run_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry ends with the stop: what was refused then stays refused."""
    attempts: list[int] = []
    real = microagg.engines.local.solve_all

    def counted(*arguments: Any, **more: Any) -> Any:
        attempts.append(1)
        return real(*arguments, **more)

    monkeypatch.setattr(microagg.engines.local, "solve_all", counted)
    frame = people().assign(illness="none")
    with pytest.raises(microagg.UnsafeRelease):
        microagg.protect(
            frame, k=3, rest="pass",
            keys=["a", "b", "c"], strata=["region"], confidential=["illness"], retry=True,
            method="anneal:steps=100000000000", progress=lambda now: now.has_groups,
        )  # fmt: skip
    assert len(attempts) == 1


def test_the_bar_shows_which_stratum_of_how_many_and_that_it_can_be_stopped() -> None:
    early = Progress("", 0.1, 2.0, part="stratum 2 of 7", finished=1, has_groups=True)
    assert (_where(early), _loss_so_far(early)) == ("stratum 2 of 7", "(Ctrl-C: stop here)")
    late = Progress("Anneal", 0.9, 9.0, 4.2, 3.0, part="stratum 7 of 7", finished=6, has_groups=True)
    assert _where(late) == "stratum 7 of 7, Anneal"
    assert "loss 4.2 %" in _loss_so_far(late)
    assert _loss_so_far(Progress("Mdav", 0.1, 2.0)) == ""
