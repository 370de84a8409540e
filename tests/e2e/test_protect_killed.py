"""`microagg protect` ended at any moment: the old state or the new one, nothing between."""

from __future__ import annotations

import json
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from microagg.plan.plan_file import read_plan
from microagg.write import write_text
from tests.campaigns import SAMPLE
from tests.e2e.fork_server import signal_in_a_kernel
from tests.e2e.protecting import listing, protected, run, survey

OLD = "old\n"
INTERNAL = ("out.csv.microagg.json", "out.csv.plan.toml", "out.csv.groups.csv")
KILLED, TERMINATED, INTERRUPTED = -signal.SIGKILL, 143, 130
# A signal that comes before the command has begun ends it in Python's own way.
CODES = {signal.SIGKILL: {KILLED, 0}, signal.SIGTERM: {TERMINATED, -signal.SIGTERM, 0}}


@dataclass(frozen=True)
class Job:
    """A run that takes its time to read and to write, and what it writes if nobody disturbs it."""

    source: Path
    expected: bytes
    seconds: float

    def command(self, folder: Path, *options: str) -> tuple[object, ...]:
        keys = ("-k", 3, "--keys", "age,income", "--method", "mdav", "--threads", 1, "--keep-order")
        return (self.source, *keys, "-o", folder / "out.csv", "--labels", *options)


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    folder = tmp_path_factory.mktemp("job")
    source = survey(folder / "survey.csv", 600)
    made = Job(source, b"", 0.0)
    protected(*made.command(folder))
    begun = time.monotonic()
    protected(*made.command(folder, "--force"))
    return Job(source, (folder / "out.csv").read_bytes(), time.monotonic() - begun)


def internal_is_complete(folder: Path) -> bool:
    """Nothing or all of each internal file; True if all are there."""
    internal = folder / "microagg-internal"
    there = [name for name in INTERNAL if (internal / name).exists()]
    if INTERNAL[0] in there:
        assert json.loads((internal / INTERNAL[0]).read_text())["verdict"]["safe"] is True
    if INTERNAL[1] in there:
        assert read_plan(internal / INTERNAL[1])["k"] == 3
    if INTERNAL[2] in there:
        assert len((internal / INTERNAL[2]).read_text().splitlines()) == 601
    return len(there) == len(INTERNAL)


def remove_hidden(job: Job, folder: Path) -> None:
    """To replace a file, the new one and the old one need names of their own for an instant; by then both
    are complete. The next run into the folder removes them.
    """
    hidden = [path for path in folder.iterdir() if path.name.startswith(".")]
    assert len(hidden) <= 2
    for path in hidden:
        assert path.read_bytes() in (OLD.encode(), job.expected)
    if hidden:
        write_text(folder / "other.txt", "")
        (folder / "other.txt").unlink()


def check_state(job: Job, folder: Path, force: bool, code: int) -> None:
    """The release is not there, or the old one, or the new one, whole; a new one has its record."""
    path = folder / "out.csv"
    released = path.read_bytes() if path.exists() else None
    assert released in ((OLD.encode(), job.expected) if force else (None, job.expected))
    complete = internal_is_complete(folder)
    if released == job.expected:
        assert complete
    else:
        assert code != 0
    if force and code == KILLED:
        remove_hidden(job, folder)
    known = {"out.csv", "microagg-internal", *(f"microagg-internal/{name}" for name in INTERNAL)}
    assert set(listing(folder)) <= known


# --- at random moments ----------------------------------------------------------------------------


def kill_at_random_moments(job: Job, folder: Path, sent: signal.Signals, trials: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    for trial in range(trials):
        own = folder / str(trial)
        own.mkdir()
        force = trial % 2 == 1
        if force:
            (own / "out.csv").write_text(OLD)
        # More than half of the time goes into verifying and writing.
        after = float(random.uniform(0.0, 1.2 * job.seconds))
        options = ("--force",) if force else ()
        done = run(*job.command(own, *options), signal=int(sent), after=after)
        assert done.returncode in CODES[sent]
        check_state(job, own, force, done.returncode)


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "terminated"])
def test_ended_at_a_random_moment(tmp_path: Path, job: Job, sent: signal.Signals) -> None:
    kill_at_random_moments(job, tmp_path, sent, trials=16, seed=int(sent))


@pytest.mark.long
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "terminated"])
def test_ended_at_hundreds_of_random_moments(tmp_path: Path, job: Job, sent: signal.Signals) -> None:
    trials = 30 if SAMPLE else 600
    kill_at_random_moments(job, tmp_path, sent, trials, seed=100 + int(sent))


# --- at every step of writing -----------------------------------------------------------------------

# Send a signal to the process itself before or after its Nth operation on files.
AT_A_STEP = """
import os
from pathlib import Path
count = 0
def counted(operation):
    def wrapper(*args, **kwargs):
        global count
        count += 1
        if count == {step}:
            Path({marker!r}).touch()
        if count == {step} and not {afterwards}:
            os.kill(os.getpid(), {sent})
        try:
            return operation(*args, **kwargs)
        finally:
            if count == {step} and {afterwards}:
                os.kill(os.getpid(), {sent})
    return wrapper
for name in ("link", "rename", "mkdir", "fsync", "fchmod", "ftruncate"):
    setattr(os, name, counted(getattr(os, name)))
"""


def steps(job: Job, folder: Path, sent: signal.Signals, force: bool) -> int:
    """End the run at each step, before it if killed and after it if asked to end, and check what is left.

    Returns how many steps there are.
    """
    for step in range(1, 60):
        own = folder / f"{step}"
        own.mkdir()
        if force:
            (own / "out.csv").write_text(OLD)
        marker = folder / f"{step}-reached"
        before = AT_A_STEP.format(
            step=step, afterwards=sent == signal.SIGTERM, sent=int(sent), marker=str(marker)
        )
        done = run(*job.command(own, *(["--force"] if force else [])), before=before)
        if not marker.exists():
            return step - 1
        if sent == signal.SIGTERM:
            check_state(job, own, force, done.returncode)
            if (own / "out.csv").exists() and (own / "out.csv").read_bytes() == job.expected:
                assert done.returncode == 0, "all is written, so the run has succeeded"
            else:
                assert done.returncode == TERMINATED
                left = {"out.csv"} if force else set()
                assert set(listing(own)) == left, "not even the record, which gets its name first"
        else:
            assert done.returncode == KILLED
            check_state(job, own, force, done.returncode)
    raise AssertionError("there is no end")


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "terminated"])
@pytest.mark.parametrize("force", [False, True], ids=["new", "replaced"])
def test_ended_at_every_step_of_writing(
    tmp_path: Path, job: Job, sent: signal.Signals, force: bool
) -> None:
    assert steps(job, tmp_path, sent, force) >= 10


# --- while it works -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "code", "message"),
    [
        (signal.SIGINT, INTERRUPTED, "microagg: Interrupted; nothing was written.\n"),
        (signal.SIGTERM, 143, ""),
    ],
    ids=["Ctrl-C", "terminate"],
)
def test_signals_while_groups_are_made(
    tmp_path: Path, sent: signal.Signals, code: int, message: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    points = np.random.default_rng(4).normal(size=(300_000, 4))
    table = pa.table({f"x{at}": points[:, at] for at in range(4)})
    parquet.write_table(table, folder / "long.parquet", compression="none")
    before = listing(folder)
    command = ("long.parquet", "-k", 3, "--keys", "x0,x1,x2,x3", "--method", "centroid")
    done = run(*command, folder=folder, **signal_in_a_kernel(sent, tmp_path / "reached"))
    assert (done.returncode, done.stdout, done.stderr) == (code, "", message)
    assert listing(folder) == before


def test_a_library_that_makes_an_error_of_its_own_of_the_end(tmp_path: Path, job: Job) -> None:
    """As generators do in which a signal arrives."""
    before = """
import os, signal
from microagg import read
def interrupted(*args):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except SystemExit:
        raise RuntimeError("generator did not stop") from None
read.microdata_from_file = interrupted
"""
    done = run(*job.command(tmp_path), before=before)
    assert (done.returncode, done.stdout, done.stderr) == (TERMINATED, "", "")


@pytest.mark.parametrize(
    ("sent", "code", "message"),
    [
        (signal.SIGINT, INTERRUPTED, "microagg: Interrupted; nothing was written.\n"),
        (signal.SIGTERM, TERMINATED, ""),
    ],
    ids=["Ctrl-C", "terminate"],
)
def test_a_signal_at_each_step_of_the_beginning(
    tmp_path: Path, job: Job, sent: signal.Signals, code: int, message: str
) -> None:
    """From the replacement of standard output until the command is parsed: at each line of Python."""
    for step in range(1, 91):
        before = f"""
import os, sys
from microagg.cli import entry, starting
begun = starting._import_and_run.__code__
steps, within = {step}, False
def traced(frame, event, argument):
    global steps, within
    within = within or frame.f_code is begun
    if within and event == "line":
        steps -= 1
        if steps == 0:
            sys.settrace(None)
            os.kill(os.getpid(), {int(sent)})
    return traced
sys.settrace(traced)
"""
        done = run(*job.command(tmp_path), before=before)
        assert (done.returncode, done.stdout, done.stderr) == (code, "", message), step
    assert listing(tmp_path) == {}


@pytest.mark.parametrize(
    ("sent", "code", "message"),
    [
        (signal.SIGINT, INTERRUPTED, "microagg: Interrupted; nothing was written.\n"),
        (signal.SIGTERM, TERMINATED, ""),
    ],
    ids=["Ctrl-C", "terminate"],
)
@pytest.mark.parametrize("busy", [False, True])
def test_a_signal_in_a_finalizer_is_not_lost(
    tmp_path: Path, job: Job, sent: signal.Signals, code: int, message: str, busy: bool
) -> None:
    """Python drops what is raised there, and says so with a stack trace.

    On a busy machine the timer that repeats the signal can be over before the hook that sets it is.
    """
    before = f"""
import os, signal, time
from microagg import read
set_timer = signal.setitimer
def over_at_once(*args):
    signal.setitimer = set_timer
    signal.raise_signal(signal.SIGALRM)
if {busy}:
    signal.setitimer = over_at_once
class Finalized:
    def __del__(self):
        os.kill(os.getpid(), {int(sent)})
def interrupted(*args):
    Finalized()
    for _ in range(6_000):  # until it arrives
        time.sleep(0.01)
read.microdata_from_file = interrupted
"""
    done = run(*job.command(tmp_path), before=before)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", message)
    assert listing(tmp_path) == {}
