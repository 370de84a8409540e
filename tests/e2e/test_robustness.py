"""Closed or full streams, odd names, little memory, early signals: clear messages and exit codes."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import microagg
from microagg.process import forbid_core_dumps, is_shortage
from tests.e2e.protecting import (
    COMMAND,
    digest,
    listing,
    protected,
    record_of,
    refused,
    run,
    survey,
    write_rows,
)

WORDS = "-k 3 --keys age,income --rest pass --method mdav"
SHORT = "microagg: There is not enough memory for these data and this method."


def shell(line: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """A line of the shell, in which $M is the command."""
    environment = {**os.environ, "M": str(COMMAND), **more}
    done = subprocess.run(
        ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, timeout=300,
        errors="surrogateescape",
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done


# --- standard streams -------------------------------------------------------------------------------


def test_closed_standard_output_does_not_fail_a_run_that_has_written(tmp_path: Path) -> None:
    survey(tmp_path / "in.csv")
    done = shell(f"$M protect in.csv {WORDS} -o out.csv >&-", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out.csv").exists()


def test_closed_standard_error_does_not_change_the_exit_code(tmp_path: Path) -> None:
    survey(tmp_path / "in.csv")
    before = listing(tmp_path)
    assert shell("$M protect in.csv -k 1 --keys age 2>&-", tmp_path).returncode == 2
    assert listing(tmp_path) == before


def test_closed_standard_input_is_refused_in_words(tmp_path: Path) -> None:
    done = shell(f"$M protect - {WORDS} -o out.csv <&-", tmp_path)
    assert done.returncode == 4
    assert "Standard input is closed" in done.stderr
    assert listing(tmp_path) == {}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_standard_output_says_that_the_release_was_written(tmp_path: Path) -> None:
    survey(tmp_path / "in.csv")
    done = shell(f"$M protect in.csv {WORDS} -o out.csv > /dev/full", tmp_path)
    assert done.returncode == 4
    assert "out.csv and all files that belong to it were written" in done.stderr
    assert "the summary could not be printed: No space left on device" in done.stderr
    assert record_of(tmp_path / "out.csv")["output"]["digest"] == digest(tmp_path / "out.csv")
    done = shell("$M methods > /dev/full", tmp_path)
    assert (done.returncode, done.stderr) == (
        4,
        "microagg: The result could not be printed: No space left on device.\n",
    )
    assert shell("$M nonsense 2> /dev/full", tmp_path).returncode == 2


# --- names --------------------------------------------------------------------------------------------


def test_names_that_are_not_utf_8(tmp_path: Path) -> None:
    survey(tmp_path / "in.csv").rename(os.fsdecode(os.fsencode(tmp_path) + b"/in\xff.csv"))
    reports = "--report r.html --external-report e.html --labels"
    done = shell(rf"$M protect $'in\xff.csv' {WORDS} {reports}", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert r"written to in\xff-protected.csv" in done.stdout
    names = [os.fsencode(path.name) for path in (tmp_path / "microagg-internal").iterdir()]
    assert sorted(names) == [
        b"in\xff-protected.csv.groups.csv",
        b"in\xff-protected.csv.microagg.json",
        b"in\xff-protected.csv.plan.toml",
    ]
    done = shell(r"$M partition $'in\xff.csv' -k 3 --columns age,income --method mdav", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    done = shell(rf"$M protect $'no\xff.csv' {WORDS}", tmp_path)
    assert (done.returncode, done.stderr) == (
        2, "microagg: There is no file no\\xff.csv. Check the name and the folder.\n",
    )  # fmt: skip


def test_names_of_255_bytes_are_refused_before_any_work(tmp_path: Path) -> None:
    source = survey(tmp_path / "in.csv")
    for name, surplus in (("n" * 251 + ".csv", "14 bytes"), ("n" * 252 + ".csv", "1 byte.")):
        message = refused(2, tmp_path, source, *WORDS.split(), "-o", name)
        assert "at most 255" in message
        assert f"Shorten the name of the output by {surplus}" in message
    protected(source, *WORDS.split(), "-o", "n" * 237 + ".csv", folder=tmp_path)


def test_a_working_folder_that_was_removed(tmp_path: Path) -> None:
    source = survey(tmp_path / "in.csv")
    line = f"mkdir gone; cd gone; rmdir ../gone; $M protect {source} {WORDS} -o "
    done = shell(line + "out.csv", tmp_path)
    assert done.returncode == 2
    assert "The folder that microagg was started in was removed" in done.stderr
    assert shell(line + str(tmp_path / "out.csv"), tmp_path).returncode == 0


# --- what is read ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather", "dta", "sav", "xlsx"])
def test_another_file_in_the_place_of_the_input_is_noticed(tmp_path: Path, ending: str) -> None:
    """It gets the name of the input after that was opened; nothing is released."""
    source = tmp_path / f"in.{ending}"
    other = tmp_path / f"other.{ending}"
    survey(tmp_path / "small.csv", 24)
    survey(tmp_path / "large.csv", 36)
    words = (*WORDS.split(), "--drop", "note,disease,weight,zeros,region")
    for csv, path in (("small.csv", source), ("large.csv", other)):
        protected(tmp_path / csv, *words, "-o", path)
    before = set(listing(tmp_path))
    hook = f"""
import os
from microagg.read import files
refuse = files._refuse_other_content
def swapped(*args):
    refuse(*args)
    if os.path.exists({str(other)!r}):
        os.replace({str(other)!r}, {str(source)!r})
files._refuse_other_content = swapped
"""
    done = run(source, *words[:6], "--json", "-o", tmp_path / "out.csv", before=hook)
    assert done.returncode == 3
    refused_for = [each["rule"] for each in json.loads(done.stdout)["verdict"]["refused"]]
    assert refused_for == ["source-changed"]
    assert set(listing(tmp_path)) == before - {other.name}


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    source = survey(tmp_path / "in.csv")
    hook = f"""
from microagg.read import files
read = files._read_content
def changed(*args):
    found = read(*args)
    with open({str(source)!r}, "a") as file:
        file.write("x")
    return found
files._read_content = changed
"""
    done = run(source, *WORDS.split(), "-o", tmp_path / "out.csv", before=hook)
    assert done.returncode == 2
    assert "in.csv was changed while it was read" in done.stderr
    assert set(listing(tmp_path)) == {"in.csv"}


def test_hexadecimal_numbers_are_refused_by_all_commands(tmp_path: Path) -> None:
    write_rows(tmp_path / "in.csv", ["a", "b"], [[at, "0x1F" if at == 20 else 7] for at in range(24)])
    told = {
        refused(2, tmp_path, "in.csv", "-k", 3, "--keys", "a,b", "--method", "mdav"),
        refused(2, tmp_path, "in.csv", "-k", 3, "--method", "mdav", command="partition"),
    }
    assert len(told) == 1
    assert "Column 'b' holds something other than numbers" in told.pop()


def test_a_late_zero_byte_is_refused_like_an_early_one(tmp_path: Path) -> None:
    rows = [[at, at * at, "x\0" if at == 40_000 else "x"] for at in range(45_000)]
    write_rows(tmp_path / "in.csv", ["a", "b", "note"], rows)
    told = refused(2, tmp_path, "in.csv", "-k", 3, "--keys", "a,b", "--pass", "note", "--method", "mdav")
    assert "it has bytes that text in UTF-8 or Windows-1252 does not have" in told


def test_a_field_without_end_is_not_called_an_uneven_row(tmp_path: Path) -> None:
    rows = [[at, at * at, "x" * 20_000_000 if at == 250 else "x"] for at in range(300)]
    write_rows(tmp_path / "in.csv", ["a", "b", "note"], rows)
    told = refused(2, tmp_path, "in.csv", "-k", 3, "--keys", "a,b", "--pass", "note", "--method", "mdav")
    assert "a field has more than 131,072 characters" in told


def test_a_named_pipe_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "in.csv")
    told = refused(2, tmp_path, "in.csv", *WORDS.split())
    assert "is a pipe or a device" in told
    assert "microagg protect - < in.csv" in told


def test_too_few_records_and_k(tmp_path: Path) -> None:
    write_rows(tmp_path / "one.csv", ["a", "b"], [[1, 2]])
    told = refused(2, tmp_path, "one.csv", "-k", 3, "--keys", "a,b")
    assert "Give at least 3 records." in told
    write_rows(tmp_path / "many.csv", ["a", "b"], [[at, 2] for at in range(30)])
    told = refused(2, tmp_path, "many.csv", "-k", 40, "--keys", "a,b")
    assert "Use a k of at most 30, or more records." in told


# --- limits -------------------------------------------------------------------------------------------


def test_few_open_files_are_not_called_missing_permissions(tmp_path: Path) -> None:
    survey(tmp_path / "in.csv")
    for most in (6, 8):
        done = shell(f"ulimit -n {most}; $M protect in.csv {WORDS} -o out.csv", tmp_path)
        assert done.returncode == 4
        assert "Too many open files. Allow more open files (ulimit -n)" in done.stderr
    assert set(listing(tmp_path)) == {"in.csv"}


@pytest.mark.parametrize("megabytes", [60, 150, 260, 280, 360, 420, 560, 720])
def test_too_little_memory_has_one_message_and_one_exit_code(tmp_path: Path, megabytes: int) -> None:
    survey(tmp_path / "in.csv", 300)
    done = shell(f"ulimit -v {megabytes}000; $M protect in.csv {WORDS} -o out.csv", tmp_path)
    if done.returncode == 0:  # on machines that need less
        assert (tmp_path / "out.csv").exists()
        return
    assert done.returncode == 70
    assert done.stderr.startswith(SHORT)
    assert done.stderr.count("\n") == 1
    assert set(listing(tmp_path)) == {"in.csv"}


def test_a_library_that_aborts_under_a_limit(tmp_path: Path) -> None:
    """As C++ does when a thread of its own gets no memory."""
    code = """
import os, sys
import microagg.cli.entry as entry
entry.run = lambda begin: os.abort()
sys.argv = ["microagg", "methods"]
from microagg.cli import main
main()
"""
    line = "ulimit -v 60000000; ulimit -c unlimited; exec $P -c '" + code + "'"
    done = shell(line, tmp_path, P=sys.executable)
    assert done.returncode == 70
    assert done.stderr.startswith(SHORT)
    assert listing(tmp_path) == {}, "no core dump either"


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signals_reach_a_run_under_a_limit(tmp_path: Path, sent: signal.Signals, code: int) -> None:
    hook = """
import sys, time
import microagg.cli.entry as entry
def wait():
    print("ready", flush=True)
    time.sleep(600)
entry.app.make_context = lambda *_: wait()
sys.argv = ["microagg", "methods"]
from microagg.cli import main
main()
"""
    limit = "ulimit -v 60000000; exec $P -c '" + hook + "'"
    worker = subprocess.Popen(
        ["bash", "-c", limit], env={**os.environ, "P": sys.executable}, stdout=subprocess.PIPE, text=True,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    assert worker.stdout is not None
    assert worker.stdout.readline() == "ready\n"
    worker.send_signal(sent)
    _, told = worker.communicate(timeout=600)
    assert worker.returncode == code
    assert "Traceback" not in told


def test_shortages_in_disguise() -> None:
    import pyarrow as pa

    for error in (
        MemoryError(),
        OSError(12, "Cannot allocate memory"),
        RuntimeError("can't start new thread"),
        pa.ArrowException("Unknown error: Failed to launch worker thread"),
    ):
        told = microagg.DataError("cannot be read")
        told.__context__ = error
        assert is_shortage(told)
    assert not is_shortage(pa.ArrowInvalid("CSV parse error"))
    assert not is_shortage(ModuleNotFoundError("no module"))


# --- from the first moment ----------------------------------------------------------------------------


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_modules_are_imported(tmp_path: Path, sent: signal.Signals, code: int) -> None:
    for module in ("click", "microagg.settings.declared", "microagg.cli.methods"):
        script = f"""
import os, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), {int(sent)})
sys.meta_path.insert(0, Finder())
sys.argv = ["microagg", "methods"]
from microagg.cli import main
assert {module!r} not in sys.modules
main()
"""
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=600)
        assert done.returncode == code
        said = "microagg: Interrupted; nothing was written.\n" if sent == signal.SIGINT else ""
        assert (done.stdout, done.stderr) == ("", said)


def test_a_signal_after_the_end_changes_nothing(tmp_path: Path) -> None:
    script = f"""
import atexit, os, sys
sent = ({int(signal.SIGINT)}, {int(signal.SIGTERM)})
atexit.register(lambda: [os.kill(os.getpid(), each) for each in sent])
sys.argv = ["microagg", "--version"]
from microagg.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")


def test_python_m_microagg() -> None:
    done = subprocess.run([sys.executable, "-m", "microagg", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"microagg {microagg.__version__}\n")


def test_core_dumps_are_off(tmp_path: Path) -> None:
    hook = """
import resource
from microagg import read
def told(*args):
    raise OSError(f"core {resource.getrlimit(resource.RLIMIT_CORE)[0]}")
resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
read.microdata_from_file = told
"""
    survey(tmp_path / "in.csv")
    done = run("in.csv", *WORDS.split(), folder=tmp_path, before=hook)
    assert done.stderr == "microagg: core 0\n"
    before = resource.getrlimit(resource.RLIMIT_CORE)
    forbid_core_dumps()
    assert resource.getrlimit(resource.RLIMIT_CORE)[0] == 0
    resource.setrlimit(resource.RLIMIT_CORE, before)


# --- temporary files ----------------------------------------------------------------------------------


def test_excel_files_are_written_without_temporary_files_of_a_name(tmp_path: Path) -> None:
    survey(tmp_path / "in.csv", 300)
    (tmp_path / "temporary").mkdir()
    script = f"""
import os, sys
sys.argv = ["microagg", "protect", "in.csv", *{WORDS.split()!r}, "-o", "out.xlsx"]
from openpyxl.workbook import Workbook
Workbook.save = lambda *_: os.kill(os.getpid(), {int(signal.SIGKILL)})
from microagg.cli import main
main()
"""
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, timeout=600)
    assert done.returncode == -signal.SIGKILL
    assert set(listing(tmp_path)) == {"in.csv", "temporary"}


def test_a_full_disk_below_an_excel_file_leaves_no_traceback(tmp_path: Path) -> None:
    survey(tmp_path / "in.csv", 20_000)
    done = shell(f"ulimit -f 100; $M protect in.csv {WORDS} -o out.xlsx", tmp_path)
    assert (done.returncode, done.stderr) == (
        4, "microagg: out.xlsx was not written: File too large. No partly written file is left.\n",
    )  # fmt: skip
    done = shell(f"ulimit -f 4; $M protect in.csv {WORDS} -o out.parquet", tmp_path)
    assert done.returncode == 4
    assert done.stderr.startswith("microagg: out.parquet was not written: File too large. No")
    assert set(listing(tmp_path)) == {"in.csv"}


def test_a_home_that_cannot_be_written_to_is_no_matter(tmp_path: Path) -> None:
    survey(tmp_path / "in.csv")
    home = {"HOME": "/nonexistent", "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": "", "MPLCONFIGDIR": ""}
    done = shell(f"$M protect in.csv {WORDS} -o out.csv --report report.html", tmp_path, **home)
    assert (done.returncode, done.stderr) == (0, "")
