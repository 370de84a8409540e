"""Jobs: answers, refusals, limits, the queue, and a clean end."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from microagg import wording
from microagg.errors import Cancelled, UnsafeRelease
from microagg.methods import solving
from microagg.methods.run import Progress
from microagg.methods.solving import solve_one
from microagg.model import Layout, Microdata, Partition
from microagg.plan.protection import Protection
from microagg.read.kept import read_and_keep
from microagg.web import jobs, work, worker
from microagg.web.jobs import Job, Limits, Queue
from tests.web.serving import PATIENCE, eventually, survey

SETTINGS = {"k": 3, "keys": [["age", "size", "income", "rent"]], "strata": ["region"]}
FOREVER = {"k": 3, "keys": SETTINGS["keys"], "pass": ["region"], "method": "anneal:steps=1000000000000"}


@pytest.fixture
def queue() -> Iterator[Queue]:
    found = Queue(Limits(2**32, 5.0))
    yield found
    found.close()


@pytest.fixture
def arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(survey(120))
    (tmp_path / "out").mkdir()
    (tmp_path / "cache").mkdir()
    source = {"name": "data.csv", "known_as": "data.csv", "path": "data.csv", "home": tmp_path, "csv": {}}
    found = {**source, "cache": tmp_path / "cache", "folder": tmp_path / "out", "settings": SETTINGS}
    read_and_keep(Path("data.csv"), Layout(), tmp_path / "cache")
    return found


def started(queue: Queue, kind: str, arguments: dict[str, Any]) -> Job:
    job = Job(kind, arguments, lambda _: None)
    queue.submit(job)
    return job


def ended(job: Job) -> Job:
    eventually(lambda: not job.active)
    return job


def test_a_file_is_looked_at(queue: Queue, arguments: dict[str, Any]) -> None:
    job = ended(started(queue, "look", arguments))
    assert job.state == "done"
    assert job.answer["records"] == 120
    roles = {column["name"]: column["suggested"] for column in job.answer["columns"]}
    assert roles["rent"] == "keys"
    assert roles["income"] == "confidential"
    assert roles["region"] == "keys"
    assert len(job.answer["preview"]) == 8


def test_a_release_has_its_files(queue: Queue, arguments: dict[str, Any], tmp_path: Path) -> None:
    job = ended(started(queue, "protect", arguments))
    assert (job.state, job.message) == ("done", "")
    assert job.answer["file"] == "data-protected.csv"
    assert job.mdav is not None
    assert job.curve[-1][1] == job.answer["loss"] < job.mdav
    for name in ("data-protected.csv", "internal-report.html", "external-report.html", "release.pickle"):
        assert (tmp_path / "out" / name).stat().st_mode & 0o077 == 0
    assert str(tmp_path) not in (tmp_path / "out" / "internal-report.html").read_text()


def test_refusals_come_back_as_they_are(queue: Queue, arguments: dict[str, Any], tmp_path: Path) -> None:
    arguments["settings"] = {**SETTINGS, "k": 1000}
    for kind in ("check", "protect"):
        job = ended(started(queue, kind, arguments))
        assert job.state == "refused"
        assert "strata (region) have fewer than k = 1000 records" in job.message
        assert {"small_strata": "nearest"} in [cure.get("settings") for cure in job.cures]
    assert list((tmp_path / "out").iterdir()) == []


def test_a_job_that_is_stopped_keeps_the_best_so_far(queue: Queue, arguments: dict[str, Any]) -> None:
    job = started(queue, "protect", {**arguments, "settings": FOREVER})
    eventually(lambda: job.curve)
    queue.stop(job)
    assert ended(job).state == "done"
    assert job.answer["cut_short"]
    assert job.mdav is not None
    assert job.answer["loss"] < job.mdav


def test_stopping_before_all_strata_have_groups_leaves_nobody_without(
    queue: Queue, arguments: dict[str, Any]
) -> None:
    settings = {**SETTINGS, "strata": ["region", "size"], "keys": [["age", "income", "rent"]]}
    settings["method"] = FOREVER["method"]
    job = started(queue, "protect", {**arguments, "settings": settings})
    eventually(lambda: job.mdav)
    queue.stop(job)
    assert ended(job).state == "done"
    assert job.answer["cut_short"]
    assert job.mdav is not None
    assert job.answer["loss"] <= job.mdav * (1 + 1e-9)


class Stopped:
    """The line of a job that is to stop at once."""

    def __init__(self) -> None:
        self.reported: dict[str, Any] = {}

    def begin(self, stage: str, start: float = 0.0, end: float = 1.0) -> None:
        self.report(start, stage=stage)

    def report(self, done: float | None = None, **reported: object) -> None:
        self.reported.update(reported)

    def watch(self, progress: Progress) -> bool:
        self.report(progress.done, loss=progress.information_loss)
        return True


@pytest.mark.parametrize("strata", [False, True])
def test_a_stopped_run_is_the_same_by_the_command_but_goes_on_to_its_end(
    arguments: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strata: bool
) -> None:
    """What was asked for stays what the command says, whatever groups there were at the stop."""
    monkeypatch.chdir(tmp_path)
    settings = dict(FOREVER)
    if strata:
        settings["strata"] = settings.pop("pass")
    answer = work.protect({**arguments, "settings": settings}, cast(Any, Stopped()))
    assert answer["stopped"]
    assert answer["cut_short"]
    assert answer["asked"] == settings


def test_large_data_without_groups_get_them_in_blocks(
    arguments: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(solving, "MOST_FOR_MDAV", 9)
    monkeypatch.setattr(solving, "solve_one", cancelled)
    settings = {"k": 3, "keys": [["age", "size", "rent"]], "confidential": ["income"], "pass": ["region"]}
    answer = work.protect({**arguments, "settings": settings}, cast(Any, Stopped()))
    assert answer["recipes"] == ["blocks"]


def cancelled(problem: Any, start: Any, plan: Any, progress: Any) -> Partition:
    """Stopped before there were any groups, where somebody can stop it."""
    if progress is None:
        return solve_one(problem, start, plan, progress)
    progress(Progress("Mdav", 0.1, 0.1))
    raise Cancelled


def test_the_comparison_with_mdav_can_be_stopped(
    arguments: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = Stopped()

    def loss(_source: Microdata, _protection: Protection, progress: Any) -> float:
        assert progress(Progress("mdav", 0.5, 1.0, information_loss=9.0))
        assert line.reported["loss"] is None
        raise Cancelled

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(work, "mdav_loss", loss)
    answer = work.protect({**arguments, "settings": FOREVER}, cast(Any, line))
    assert "mdav" not in line.reported
    assert answer["cut_short"]


def test_a_job_that_is_given_up_is_gone_at_once(
    queue: Queue, arguments: dict[str, Any], tmp_path: Path
) -> None:
    job = started(queue, "protect", {**arguments, "settings": FOREVER})
    eventually(lambda: job.curve)
    queue.give_up(job)
    assert ended(job).state == "stopped"
    assert job.process is not None
    assert not job.process.is_alive()
    assert list((tmp_path / "out").iterdir()) == []


def test_more_jobs_wait_and_too_many_are_refused(
    queue: Queue, arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "MOST_WAITING", 2)
    forever = {**arguments, "settings": FOREVER}
    running = [started(queue, "protect", forever) for _ in range(2)]
    waiting = [started(queue, "protect", forever) for _ in range(2)]
    assert [job.state for job in running + waiting] == ["running", "running", "waiting", "waiting"]
    assert queue.where(waiting[1]) == wording.job_waits(2)
    refused = started(queue, "protect", forever)
    assert refused.state == "stopped"
    assert refused.over.is_set()
    assert "2 jobs waiting already" in refused.message
    queue.stop(waiting[0])
    assert waiting[0].state == "stopped"
    queue.give_up(running[0])
    eventually(lambda: waiting[1].state == "running")
    assert ended(started(queue, "look", arguments)).state == "done"  # does not wait behind them


def write_bomb(path: Path, millions: int) -> None:
    """A small Parquet file of very many records."""
    batch = pa.table({"a": pa.array(np.zeros(1_000_000))})
    with parquet.ParquetWriter(path, batch.schema) as writer:
        for _ in range(millions):
            writer.write_table(batch)


def test_a_file_that_is_larger_than_it_looks_ends_at_the_limit_of_memory(
    arguments: dict[str, Any], tmp_path: Path
) -> None:
    write_bomb(tmp_path / "data.parquet", 60)
    assert (tmp_path / "data.parquet").stat().st_size < 300_000
    small = Queue(Limits(2**28, 5.0))
    job = ended(started(small, "look", {**arguments, "path": "data.parquet"}))
    assert job.state == "failed"
    assert "a job may use 0.25 GiB" in job.message
    small.close()


def test_a_job_without_enough_time_ends_with_the_best_so_far(arguments: dict[str, Any]) -> None:
    short = Queue(Limits(2**32, 2.0 / 60.0))
    job = ended(started(short, "protect", {**arguments, "settings": FOREVER}))
    assert job.state == "done"
    assert job.answer["cut_short"]
    short.close()


def test_a_process_that_dies_is_noticed(queue: Queue, arguments: dict[str, Any]) -> None:
    job = started(queue, "protect", {**arguments, "settings": FOREVER})
    eventually(lambda: job.curve)
    assert job.process is not None
    job.process.kill()
    assert ended(job).state == "failed"
    assert "without an answer" in job.message


def test_closing_ends_everything(arguments: dict[str, Any]) -> None:
    queue = Queue(Limits(2**32, 5.0))
    running = [started(queue, "protect", {**arguments, "settings": FOREVER}) for _ in range(3)]
    eventually(lambda: running[0].curve)
    queue.close()
    for job in running:
        eventually(lambda job=job: not job.active)
        assert job.process is None or not job.process.is_alive()


def test_a_process_that_cannot_be_started_fails_and_makes_room(
    queue: Queue, arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_many(self: object) -> None:
        raise OSError("too many open files")

    with monkeypatch.context() as patched:
        patched.setattr(jobs._CONTEXT.Process, "start", too_many)
        for _ in range(3):
            job = ended(started(queue, "look", arguments))
            assert job.state == "failed"
            assert job.over.wait(PATIENCE)
    assert ended(started(queue, "look", arguments)).state == "done"


def test_a_verdict_is_known_before_the_reports_are_drawn(
    arguments: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    line = Stopped()

    def draw(*_: object) -> dict[str, Any]:
        assert line.reported["answer"]["verdict"]["sentence"].startswith("at least 3 records share")
        assert (tmp_path / "out" / "data-protected.csv").exists()
        return {}

    monkeypatch.setattr(work, "_write_internal_report", draw)
    work.protect(arguments, cast(Any, line))


class Pipe:
    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def recv(self) -> str:
        time.sleep(PATIENCE)
        return "stop"

    def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)


def test_one_bar_never_falls_and_names_strata_in_plain_terms() -> None:
    pipe = Pipe()
    line = worker.Line(cast(Any, pipe))
    line.begin("Looking for groups", 0.1, 0.7)
    for done, part in ((0.5, "stratum 1 of 8"), (0.2, "stratum 2 of 8"), (1.0, "stratum 8 of 8")):
        line._last = 0.0
        line.watch(Progress("Anneal", done, 1.0, part=part))
    line.begin("Measuring and drawing the reports", 0.75)
    shares = [each["done"] for each in pipe.sent]
    assert shares == sorted(shares)
    assert shares[-1] == 0.75
    stages = [each["stage"] for each in pipe.sent]
    assert "Looking for groups, stratum 2 of 8" in stages
    assert not any("Anneal" in stage for stage in stages)
    assert pipe.sent[-1]["done"] > 0


def test_what_was_read_once_is_not_read_again(
    queue: Queue, arguments: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "data.csv"
    about = file.stat()
    file.write_text("?" * about.st_size)
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))  # as if nothing had happened
    assert ended(started(queue, "check", arguments)).state == "done"


def test_the_check_refuses_what_no_groups_can_settle(arguments: dict[str, Any], tmp_path: Path) -> None:
    settings = {"k": 3, "keys": [["age", "rent"], ["size", "income"]], "pass": ["region"]}
    with pytest.raises(UnsafeRelease, match="NOT jointly"):
        work.check({**arguments, "settings": settings}, cast(Any, Stopped()))
    accepted = {**settings, "accept": ["partial"]}
    assert work.check({**arguments, "settings": accepted}, cast(Any, Stopped()))["trial"] is None


def test_the_check_warns_of_what_other_groups_may_settle(arguments: dict[str, Any], tmp_path: Path) -> None:
    rows = [f"{at},{at * 7 % 97},{9 if at < 150 else at % 5}" for at in range(300)]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,illness", *rows]) + "\n")
    read_and_keep(Path("data.csv"), Layout(), tmp_path / "cache")
    settings = {"k": 3, "keys": [["a", "b"]], "confidential": ["illness"]}
    trial = work.check({**arguments, "settings": settings}, cast(Any, Stopped()))["trial"]
    assert "has fewer than 2 different values" in trial["message"]
    assert {"retry": True} in [cure.get("settings") for cure in trial["cures"]]
    retried = {**settings, "retry": True}
    assert work.check({**arguments, "settings": retried}, cast(Any, Stopped()))["trial"] is None


def test_a_bound_that_is_proven_later_is_in_the_report_and_the_record(
    arguments: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data.csv").write_text(survey(40))
    read_and_keep(Path("data.csv"), Layout(), tmp_path / "cache")
    settings = {"k": 3, "keys": [["age", "rent"]], "drop": ["size", "income", "region"], "method": "mdav"}
    arguments = {**arguments, "settings": settings}
    answer = work.protect(arguments, cast(Any, Quiet()))
    report, record = tmp_path / "out" / "internal-report.html", tmp_path / "out" / "microagg-internal"
    assert "no bound was proven" in report.read_text()
    found = work.bound({**arguments, "files": answer["files"]}, cast(Any, Quiet()))["bound"]
    assert found is not None
    assert "no bound was proven" not in report.read_text()
    [written] = record.glob("*.microagg.json")
    assert json.loads(written.read_text())["bound_loss"] == found
    assert "../" not in report.read_text()  # no private folder in its plan


class Quiet(Stopped):
    def watch(self, progress: Progress) -> bool:
        return False
