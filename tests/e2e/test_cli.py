"""The command line as a process: results, files, exit codes, signals, and silence about values."""

from __future__ import annotations

import csv
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import microagg
from microagg.cli.progress_bar import Bar
from microagg.methods.catalogue import COMMON, METHODS
from microagg.methods.run import Progress
from tests.bad_files import BAD_FILES, GOOD_NAMES, BadFile, bad_file_id, csv_of, leaks, write_good
from tests.e2e.fork_server import outcome, signal_in_a_kernel

COMMAND = Path(sys.executable).parent / "microagg"
TRACES = ("Traceback", "Internal error", "nanobind", "Error:\n")


def run(*arguments: object, **more: Any) -> subprocess.CompletedProcess[str]:
    """The command's outcome; nothing it prints may show a value or a stack trace."""
    done = outcome(*arguments, **more)
    printed = done.stdout + done.stderr
    assert not leaks(printed)
    assert not any(trace in printed for trace in TRACES), printed
    return done


def refused(code: int, *arguments: object) -> str:
    """The message of a command that must fail with this code, on standard error alone."""
    done = run(*arguments)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert done.stderr.strip()
    return done.stderr


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return write_good(tmp_path / "good.csv")


@pytest.fixture(scope="module")
def long_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough records for minutes of work in a kernel."""
    path = tmp_path_factory.mktemp("long") / "long.parquet"
    points = np.random.default_rng(4).normal(size=(200_000, 6))
    parquet.write_table(pa.table({f"x{at}": points[:, at] for at in range(6)}), path, compression="none")
    return path


# --- results ----------------------------------------------------------------------------------


def test_version_and_help() -> None:
    assert run("--version").stdout == f"microagg {microagg.__version__}\n"
    assert "partition" in run("--help").stdout
    assert "--labels" in run("partition", "--help").stdout


def test_methods() -> None:
    done = run("methods", "--all")
    assert done.returncode == 0
    assert done.stderr == ""
    listed = {line.split()[0] for line in done.stdout.splitlines() if line.strip()}
    assert set(METHODS) <= listed


def test_methods_shows_the_eight_that_most_users_need() -> None:
    done = run("methods")
    assert (done.returncode, done.stderr) == (0, "")
    named = [line.split()[0] for line in done.stdout.splitlines() if line.strip() and line[0] != " "]
    assert [name for name in named if name in METHODS] == list(COMMON)
    assert len(COMMON) == 8
    assert f"{len(METHODS) - 8} more: microagg methods --all" in done.stdout


def test_all_with_json_is_refused() -> None:
    done = run("methods", "--all", "--json")
    assert done.returncode != 0
    assert "--all would have no effect on --json" in done.stderr


def test_methods_as_json() -> None:
    done = run("methods", "--json")
    entries = json.loads(done.stdout)
    assert done.stderr == ""
    assert list(entries) == list(METHODS)
    assert all(entry["summary"] and entry["largest_n"] > 0 for entry in entries.values())
    assert entries["mdav"]["settings"] == ["stop", "leftovers", "first"]
    assert [name for name, entry in entries.items() if entry["common"]] == [
        name for name in METHODS if name in COMMON
    ]


@pytest.mark.parametrize("name", GOOD_NAMES)
def test_partition_of_every_format(tmp_path: Path, name: str) -> None:
    done = run("partition", write_good(tmp_path / name), "-k", 3)
    assert (done.returncode, done.stderr) == (0, "")
    first, second, third = done.stdout.splitlines()
    assert first.startswith("12 records in ")
    assert second.startswith("information loss ")
    assert third.startswith("chosen because: 12 records")


def test_json_is_one_object_with_the_numbers_of_python(good: Path) -> None:
    done = run("partition", good, "-k", 3, "--json", "--method", "cbfs+mhm", "--columns", "age,income")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1
    found = json.loads(done.stdout)
    table = values_of(good)[:, ::-1]
    expected = microagg.partition(np.ascontiguousarray(table), 3, "cbfs+mhm")
    assert found["information_loss"] == pytest.approx(expected.information_loss)
    assert found["records"] == 12
    assert found["groups"] == len(expected.sizes)
    assert found["columns"] == ["age", "income"]
    assert (found["k"], found["recipe"], found["scale"]) == (3, "cbfs+mhm", "zscore")
    assert (found["bound"], found["gap"], found["truncated"], found["labels"]) == (None, None, False, None)


def values_of(path: Path) -> np.ndarray:
    """The values of a CSV file, read without microagg."""
    with path.open() as file:
        return np.array([[float(cell) for cell in row] for row in list(csv.reader(file))[1:]])


@pytest.mark.parametrize("extra", [(), ("--json",)], ids=["text", "json"])
def test_labels(tmp_path: Path, good: Path, extra: tuple[str, ...]) -> None:
    path = tmp_path / "labels.csv"
    done = run("partition", good, "-k", 3, "--labels", path, *extra)
    assert (done.returncode, done.stderr) == (0, "")
    assert "labels.csv" in done.stdout
    expected = microagg.partition(values_of(good), 3).labels
    lines = ["record,group", *(f"{at + 1},{group}" for at, group in enumerate(expected))]
    assert path.read_text().splitlines() == lines
    assert sorted(tmp_path.iterdir()) == [good, path]


@pytest.mark.parametrize(
    ("content", "extra", "groups", "loss"),
    [
        (b"x\n1\n2\n3\n101\n102\n103\n", (), 2, None),
        (b"x,y\n" + b"987654321.125,98765432\n" * 6, (), 2, 0.0),
        (b"x,y\n" + b"987654321.125,98765432\n" * 6, ("--scale", "none"), 2, 0.0),
        (b"x,y\n1,2\n3,5\n4,4\n7,1\n9,9\n", (), 1, 100.0),
        (b"x,y\n" + b"".join(b"%de308,%d\n" % ((-1) ** i, i) for i in range(6)), (), 2, None),
    ],
    ids=["one column", "constant", "constant unscaled", "fewer than 2k records", "1e308"],
)
def test_special_but_valid(
    tmp_path: Path, content: bytes, extra: tuple[str, ...], groups: int, loss: float | None
) -> None:
    path = tmp_path / "special.csv"
    path.write_bytes(content)
    found = json.loads(run("partition", path, "-k", 3, "--json", *extra).stdout)
    assert found["groups"] == groups
    if loss is not None:
        assert found["information_loss"] == pytest.approx(loss)


def test_long_identifiers_are_no_internal_error(tmp_path: Path) -> None:
    path = tmp_path / "ids.csv"
    path.write_text("id,x\n" + "".join(f"98765432109876543{i},{i}\n" for i in range(9)))
    assert run("partition", path, "-k", 3).returncode in (0, 2)


@pytest.mark.parametrize("command", ["partition", "bound"])
def test_a_csv_file_as_it_is_said_to_be(tmp_path: Path, command: str) -> None:
    path = tmp_path / "said.csv"
    rows = "".join(f"{i},{i}25:{i * i % 7},5\n" for i in range(1, 10))
    path.write_bytes(f"größe:gewicht\n{rows}".encode("latin-1"))
    options = ("--delimiter", ":", "--encoding", "latin-1", "--decimal", ",")
    done = run(command, path, "-k", 3, "--json", *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["columns"] == ["größe", "gewicht"]


def test_a_certificate_of_a_csv_file_with_options(tmp_path: Path, good: Path) -> None:
    proof = tmp_path / "proof.json"
    assert run("bound", good, "-k", 3, "--certificate", proof).returncode == 0
    good.write_bytes(good.read_bytes().replace(b",", b":"))
    assert "--delimiter :" in refused(2, "verify-certificate", proof, good)
    assert run("verify-certificate", proof, good, "--delimiter", ":").returncode == 0


def test_standard_input(good: Path) -> None:
    done = run("partition", "-", "-k", 3, "--json", given=good.read_text())
    assert (done.returncode, done.stderr) == (0, "")
    expected = json.loads(run("partition", good, "-k", 3, "--json").stdout)
    assert json.loads(done.stdout)["sse"] == expected["sse"]
    assert "standard input" in run("partition", "-", "-k", 3, given="1.5,2\n3,4\n").stderr


# --- refused: data ----------------------------------------------------------------------------


@pytest.mark.parametrize("bad", BAD_FILES, ids=bad_file_id)
def test_bad_file(tmp_path: Path, bad: BadFile) -> None:
    path = bad.write(tmp_path)
    message = refused(2, "partition", path, "-k", 3, "--labels", tmp_path / "labels.csv")
    for part in bad.says:
        assert part in message
    assert list(tmp_path.iterdir()) == [path]


def test_options_of_csv_files_are_refused_for_others(tmp_path: Path) -> None:
    path = write_good(tmp_path / "good.parquet")
    message = refused(2, "partition", path, "-k", 3, "--delimiter", ";")
    assert "delimiter would have no effect" in message
    assert "Parquet" in message


def test_one_record(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_bytes(b"x,y\n987654321.125,2\n")
    assert "1 record" in refused(2, "partition", path, "-k", 3)


def test_values_too_large_to_square(tmp_path: Path) -> None:
    path = tmp_path / "huge.csv"
    path.write_bytes(b"x,y\n" + b"".join(b"%de308,%d\n" % ((-1) ** i, i) for i in range(6)))
    message = refused(2, "partition", path, "-k", 3, "--scale", "none")
    assert "zscore" in message


def test_missing_file_and_folder(tmp_path: Path) -> None:
    assert "no file" in refused(2, "partition", tmp_path / "nothing.csv", "-k", 3)
    assert "folder" in refused(2, "partition", tmp_path, "-k", 3)


def test_text_columns_can_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "text.csv"
    path.write_bytes(csv_of("987654321.125,unknown"))
    message = refused(2, "partition", path, "-k", 3)
    assert "'age'" in message
    assert "--columns" in message, "the message names the option that helps"
    assert run("partition", path, "-k", 3, "--columns", "income").returncode == 0


def test_a_column_name_with_a_space_before_it(tmp_path: Path) -> None:
    path = tmp_path / "spaces.csv"
    path.write_bytes(csv_of(header="income, age"))
    assert run("partition", path, "-k", 3, "--columns", "income, age").returncode == 0


# --- refused: settings ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("-k", "1"), ("k is 1", "at least 2")),
        (("-k", "-2"), ("k is -2", "at least 2")),
        (("-k", "13"), ("k is 13", "12 records")),
        (("-k", "2.5"), ("-k", "integer")),
        (("-k", "abc"), ("-k", "integer")),
        ((), ("-k",)),
        (("-k", "3", "--columns", "incom,age"), ("'incom'", "did you mean income?")),
        (("-k", "3", "--columns", "age,age"), ("'age'", "twice")),
        (("-k", "3", "--columns", ""), ("column",)),
        (("-k", "3", "--method", "mdva"), ("'mdva'", "did you mean mdav", "microagg methods")),
        (("-k", "3", "--method", "univariate"), ("one column",)),
        (("-k", "3", "--method", "mdav:stop=4k"), ("stop", "3k or 2k")),
        (("-k", "3", "--method", "cbfs+mdav"), ("mdav after cbfs",)),
        (("-k", "3", "--method", "mdav", "--effort", "best"), ("effort", "no effect")),
        (("-k", "3", "--effort", "much"), ("effort", "fast, balanced, best")),
        (("-k", "3", "--method", "mdav", "--seconds", "9"), ("seconds", "no effect")),
        (("-k", "3", "--seconds", "0"), ("seconds", "above 0")),
        (("-k", "3", "--scale", "zscor"), ("'zscor'", "did you mean zscore?")),
        (("-k", "3", "--seed", "-1"), ("seed", "at least 0")),
        (("-k", "3", "--typo"), ("--typo",)),
    ],
    ids=lambda value: " ".join(value),
)
def test_bad_settings(good: Path, options: tuple[str, ...], says: tuple[str, ...]) -> None:
    message = refused(2, "partition", good, *options)
    for part in says:
        assert part in message


def test_json_leaves_standard_output_empty_on_refusal(good: Path) -> None:
    assert "k is 1" in refused(2, "partition", good, "-k", 1, "--json")


# --- output -----------------------------------------------------------------------------------


def test_an_existing_output_is_left_alone(tmp_path: Path, good: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("precious")
    assert "exists" in refused(2, "partition", good, "-k", 3, "--labels", path)
    assert path.read_text() == "precious"
    assert sorted(tmp_path.iterdir()) == [good, path]


def test_the_input_is_never_the_output(good: Path) -> None:
    before = good.read_bytes()
    refused(2, "partition", good, "-k", 3, "--labels", good)
    assert good.read_bytes() == before


def test_a_missing_output_folder(tmp_path: Path, good: Path) -> None:
    message = refused(2, "partition", good, "-k", 3, "--labels", tmp_path / "nowhere" / "labels.csv")
    assert "nowhere" in message
    assert list(tmp_path.iterdir()) == [good]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder nobody can write to")
def test_an_unwritable_folder(good: Path) -> None:
    message = refused(4, "partition", good, "-k", 3, "--labels", "/proc/labels.csv")
    assert "/proc/labels.csv was not written" in message


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full device")
def test_standard_output_on_a_full_disk(good: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [COMMAND, "partition", good, "-k", "3"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 4
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments", [("methods",), ("methods", "--json"), ("partition", "good.csv", "-k", "3")]
)
def test_a_reader_that_goes_away_is_no_error(good: Path, arguments: tuple[str, ...]) -> None:
    """As with `| head -1`, when the pipe is closed before anything is written to it."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [COMMAND, *arguments], stdout=writing, stderr=subprocess.PIPE, text=True, cwd=good.parent
        )
    finally:
        os.close(writing)
    assert done.stderr == ""
    assert done.returncode == 0


# --- signals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "code", "says"),
    [(signal.SIGINT, 130, "Interrupted"), (signal.SIGTERM, 143, "")],
    ids=["Ctrl-C", "terminate"],
)
@pytest.mark.parametrize("method", ["npn-mhm", "centroid"])
def test_signals_stop_a_kernel(
    tmp_path: Path, long_file: Path, method: str, sent: signal.Signals, code: int, says: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    command = ("partition", long_file, "-k", 3, "--method", method, "--labels", "labels.csv")
    done = run(*command, folder=folder, **signal_in_a_kernel(sent, tmp_path / "reached"))
    assert (done.returncode, done.stdout) == (code, "")
    assert says in done.stderr
    assert not list(folder.iterdir())


def test_ctrl_c_in_a_terminal_keeps_the_best_so_far(tmp_path: Path) -> None:
    points = np.random.default_rng(4).normal(size=(5_000, 6))
    parquet.write_table(pa.table({f"x{at}": points[:, at] for at in range(6)}), tmp_path / "data.parquet")
    recipe = "blocks+anneal:steps=100000000000"
    with in_a_terminal(tmp_path, "partition", "data.parquet", "-k", "3", "--method", recipe) as (
        process,
        terminal,
    ):
        shown = _read_until(terminal, b"below the start")
        process.send_signal(signal.SIGINT)
        shown += _read_until(terminal, None)
        assert process.wait() == 0
    assert b"5,000 records in" in shown
    assert b"cut short" in shown


@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_in_a_terminal_with_strata_keeps_the_best_so_far(tmp_path: Path, presses: int) -> None:
    """The second one, at any time before the end, ends all."""
    points = np.random.default_rng(4).normal(size=(600, 3))
    source, target = tmp_path / "source.parquet", tmp_path / "out" / "target.parquet"
    target.parent.mkdir()
    columns = {f"x{at}": points[:, at] for at in range(3)} | {"region": np.arange(600) % 3}
    parquet.write_table(pa.table(columns), source)
    command = (
        "protect", str(source), "-o", str(target), "-k", "3", "--keys", "x0,x1,x2",
        "--strata", "region", "--method", "anneal:steps=100000000000", "--threads", "1",
    )  # fmt: skip
    with in_a_terminal(tmp_path, *command) as (process, terminal):
        shown = _read_until(terminal, b"Ctrl-C: stop here")
        assert b"stratum 1 of 3" in shown
        process.send_signal(signal.SIGINT)
        if presses == 2:
            process.send_signal(signal.SIGINT)
        shown += _read_until(terminal, None)
        status = process.wait()
    if presses == 2 and status != 0:  # two signals at once may be delivered as one
        assert status == 130
        assert not list(target.parent.iterdir())
        return
    assert status == 0
    assert b"600 records in" in shown
    assert b"stopped early" in shown
    assert target.exists()


def test_a_second_ctrl_c_gives_up() -> None:
    with Bar(hidden=False) as bar:
        assert not bar.update(Progress("Mdav", 0.5, 0.1))
        with pytest.raises(KeyboardInterrupt):  # there is nothing to keep
            signal.raise_signal(signal.SIGINT)
        assert not bar.update(Progress("Anneal", 0.5, 0.1, 4.2, 3.0))
        signal.raise_signal(signal.SIGINT)
        assert bar.update(Progress("Anneal", 0.6, 0.2, 4.1, 4.0))
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


@contextmanager
def in_a_terminal(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The command with a terminal of its own for all its streams, and the other end of that terminal."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, *words], cwd=folder, stdin=follower, stdout=follower, stderr=follower,
        start_new_session=True,
    )  # fmt: skip
    os.close(follower)
    try:
        yield process, leader
    finally:
        process.kill()
        process.wait()
        os.close(leader)


def _read_until(terminal: int, wanted: bytes | None) -> bytes:
    """What a terminal shows until this text, or its end."""
    shown = b""
    while wanted is None or wanted not in shown:
        try:
            shown += os.read(terminal, 65_536)
        except OSError:  # the program has gone
            break
    return shown


# --- bounds and certificates --------------------------------------------------------------------


def test_bound_and_its_certificate(good: Path, tmp_path: Path) -> None:
    proof, groups = tmp_path / "proof.json", tmp_path / "groups.csv"
    done = run("bound", good, "-k", 3, "--json", "--certificate", proof, "--labels", groups)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert 0.0 <= found["bound_loss"] <= found["information_loss"]
    assert found["gap"] == pytest.approx(100 * (found["sse"] / found["bound"] - 1), abs=1e-6)
    assert groups.exists()
    checked = json.loads(run("verify-certificate", proof, good, "--json").stdout)
    assert checked["bound"] == pytest.approx(found["bound"], rel=1e-9)
    assert "The certificate holds" in run("verify-certificate", proof, good).stdout
    assert {name: checked[name] for name in ("k", "scale", "records", "columns")} == {
        name: found[name] for name in ("k", "scale", "records", "columns")
    }

    fields = json.loads(proof.read_text())
    for field, value in (("k", 2), ("bound", fields["bound"] * 1.01), ("labels", fields["labels"][::-1])):
        altered = tmp_path / f"{field}.json"
        altered.write_text(json.dumps({**fields, field: value}))
        assert "certificate" in refused(2, "verify-certificate", altered, good)
    assert "exists" in refused(2, "bound", good, "-k", 3, "--certificate", proof)


def test_a_checked_certificate_says_of_what_k_scale_records_and_columns_it_is(
    good: Path, tmp_path: Path
) -> None:
    proof = tmp_path / "proof.json"
    run("bound", good, "-k", 5, "--scale", "range", "--columns", "age,income", "--certificate", proof)
    shown = run("verify-certificate", proof, good, "--columns", "age,income").stdout
    records = len(good.read_text().splitlines()) - 1
    assert f"k = 5, scale = range, {records} records, 2 columns: age, income" in shown


def test_a_certificate_that_takes_too_long_proves_nothing(good: Path, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    run("bound", good, "-k", 3, "--certificate", proof)
    message = refused(2, "verify-certificate", proof, good, "--seconds", 1e-9)
    assert "nothing is proven, and nothing is refuted" in message
    assert "seconds" in refused(2, "verify-certificate", proof, good, "--seconds", 0)


@pytest.mark.parametrize("wrong", [("--seconds", 0), ("--gap", -1), ("--gap", "few"), ("--scale", "big")])
def test_bound_refuses_wrong_settings(good: Path, wrong: tuple[str, object]) -> None:
    refused(2, "bound", good, "-k", 3, *wrong)


def test_groups_and_certificate_need_a_file_each(good: Path, tmp_path: Path) -> None:
    same = tmp_path / "same"
    assert "two outputs" in refused(2, "bound", good, "-k", 3, "--labels", same, "--certificate", same)
    assert not same.exists()


@pytest.mark.parametrize("impossible", [("-k", 3, "--columns", "income"), ("-k", 12)], ids=str)
def test_an_impossible_certificate_is_refused_before_the_work(
    good: Path, tmp_path: Path, impossible: tuple[object, ...]
) -> None:
    proof = tmp_path / "proof.json"
    assert "no certificate" in refused(2, "bound", good, *impossible, "--certificate", proof)
    assert not proof.exists()


def test_certificates_that_are_none(good: Path, tmp_path: Path) -> None:
    (tmp_path / "text.json").write_text("not json")
    (tmp_path / "list.json").write_text("[1, 2]")
    for path in ("text.json", "list.json", "missing.json"):
        refused(2, "verify-certificate", tmp_path / path, good)


def test_certify_prints_the_distance_from_the_optimum(good: Path) -> None:
    done = run("partition", good, "-k", 3, "--method", "mdav", "--certify", "--json")
    found = json.loads(done.stdout)
    assert found["bound"] is not None
    assert found["recipe"] == "mdav"


def test_outputs_that_cannot_be_written_are_refused_before_any_work(
    tmp_path: Path, long_file: Path
) -> None:
    """Minutes of work would be lost."""
    names = ",".join(parquet.read_schema(long_file).names)
    words = ("protect", long_file, "-k", 3, "--keys", names)
    assert "only be read" in refused(2, *words, "-o", tmp_path / "out.sas7bdat")
    assert "cannot be recognised by its name" in refused(2, *words, "-o", tmp_path / "out.pdf")
    record = tmp_path / "microagg-internal" / "out.csv.microagg.json"
    record.parent.mkdir()
    record.touch()
    message = refused(2, *words, "-o", tmp_path / "out.csv")
    assert "out.csv.microagg.json exists already" in message
    assert "--force" in message
    assert "There is no file" in refused(2, "protect", tmp_path / "data.xyz", "-k", 3, "--keys", "a")
    assert [path.name for path in tmp_path.iterdir()] == ["microagg-internal"]
