"""Progress outside the search: which steps are reported, how often, and in which thread."""

from __future__ import annotations

import threading
from pathlib import Path
from time import sleep

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import microagg
from microagg.cli.progress_bar import Bar
from microagg.methods.run import Progress
from microagg.methods.steps import Steps
from microagg.wording import Step


class Recorder:
    """Stages in the order in which they began, and the threads that reported them."""

    def __init__(self) -> None:
        self.stages: list[str] = []
        self.threads: set[threading.Thread] = set()

    def __call__(self, progress: Progress) -> None:
        self.threads.add(threading.current_thread())
        if not self.stages or self.stages[-1] != progress.stage:
            self.stages.append(progress.stage)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    columns = {name: np.round(rng.normal(size=500), 2) for name in "abc"}
    path = tmp_path / "data.csv"
    csv.write_csv(pa.table(columns), path)
    return path


def test_a_long_step_is_reported_all_the_time_in_the_thread_of_the_caller() -> None:
    recorder = Recorder()
    enough = threading.Event()

    def watch(progress: Progress) -> None:
        recorder(progress)
        calls.append(progress)
        if len(calls) == 5:
            enough.set()

    calls: list[Progress] = []
    found = Steps(watch).call(Step.READING, lambda: enough.wait(600.0) and threading.current_thread())
    assert {call.stage for call in calls} == {"reading the file"}
    assert [call.seconds for call in calls] == sorted(call.seconds for call in calls)
    assert recorder.threads == {threading.current_thread()} != {found}


def test_without_progress_a_step_has_no_thread_of_its_own() -> None:
    assert Steps(None).call(Step.READING, threading.current_thread) is threading.current_thread()


def test_what_a_step_raises_comes_out() -> None:
    with pytest.raises(ZeroDivisionError):
        Steps(lambda _: None).call(Step.VERIFYING, lambda: 1 / 0)


def test_what_progress_raises_comes_out_when_the_step_has_ended() -> None:
    begun, raised, ended = threading.Event(), threading.Event(), threading.Event()

    def watch(progress: Progress) -> None:
        if begun.is_set():
            raised.set()
            raise InterruptedError

    def work() -> None:
        begun.set()
        raised.wait(600.0)
        sleep(0.2)  # in which whoever does not wait would come out
        ended.set()

    with pytest.raises(InterruptedError):
        Steps(watch).call(Step.WRITING, work)
    assert ended.is_set()


def test_every_step_of_a_release_is_reported(file: Path, tmp_path: Path) -> None:
    recorder = Recorder()
    release = microagg.protect(
        file, k=3, rest="pass", keys=["a", "b"], confidential="c", method="mdav", progress=recorder
    )
    release.save(
        tmp_path / "out.csv", report=tmp_path / "report.html", external_report=tmp_path / "external.html",
        progress=recorder,
    )  # fmt: skip
    steps = [stage for stage in recorder.stages if stage in set(Step)]
    assert steps == list(Step)
    assert recorder.threads == {threading.current_thread()}


def test_a_stop_during_a_step_is_one_of_the_search(file: Path) -> None:
    stopped = microagg.protect(
        file, k=3, rest="pass", keys=["a", "b"], confidential="c", method="mdav+anneal:steps=100000000000",
        progress=lambda _: True,
    )  # fmt: skip
    assert stopped.stopped


def test_reading_is_reported_to_whoever_compares(file: Path) -> None:
    for read, how in (
        (microagg.compare, {"k": 3, "methods": "mdav"}),
        (microagg.assess, {"protected": file}),
    ):
        recorder = Recorder()
        read(file, **how, keys=["a", "b", "c"], measures="il", progress=recorder)
        assert recorder.stages[0] == Step.READING


def test_a_bar_that_nobody_can_see_asks_for_no_reports() -> None:
    assert Bar(hidden=True).watcher is None
    assert Bar(hidden=False).watcher is not None


def test_after_groups_are_found_the_first_ctrl_c_lets_them_be_written() -> None:
    bar = Bar(hidden=False)
    bar.update(Progress("Anneal", 0.5, 0.1, 4.2, 3.0))
    bar.update(Progress(Step.VERIFYING, 0.0, 0.2))
    bar._interrupted(2, None)
    assert bar.update(Progress(Step.WRITING, 0.0, 0.3))
