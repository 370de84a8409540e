"""`microagg verify`: exit code 0 for a release that is as it was verified, 3 for anything else."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.e2e.protecting import COMPANIES, COMPANY_ROLES, listing, protected, run

RELEASE = "data-protected.csv"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data.csv").write_text(COMPANIES)
    protected("data.csv", "-k", 3, *COMPANY_ROLES, folder=tmp_path)
    return tmp_path


def verified(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """The outcome; whatever it is, nothing is changed."""
    before = listing(folder)
    done = run(RELEASE, *arguments, folder=folder, command="verify")
    assert listing(folder) == before
    return done


def assert_refused(folder: Path, *arguments: object) -> None:
    """As text and as JSON."""
    done = verified(folder, *arguments)
    assert done.returncode == 3, done.stdout + done.stderr
    assert done.stderr.startswith("microagg: ")
    done = verified(folder, *arguments, "--json")
    assert done.returncode == 3, done.stdout + done.stderr
    assert json.loads(done.stdout)["verdict"]["safe"] is False


def test_a_release_as_it_was_written(folder: Path) -> None:
    done = verified(folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert verified(folder, "--record", "microagg-internal", "--source", "data.csv").returncode == 0


@pytest.mark.parametrize(
    "change", ["a digit", "a blank", "no last line end", "a record more", "nothing left"]
)
def test_a_changed_release(folder: Path, change: str) -> None:
    path = folder / RELEASE
    content = path.read_bytes()
    last = content.rstrip().rsplit(b"\n", 1)[1]
    changed = {
        "a digit": content.rstrip()[:-1] + (b"8" if last.endswith(b"9") else b"9") + b"\n",
        "a blank": content.rstrip() + b" \n",
        "no last line end": content.rstrip(),
        "a record more": content + last + b"\n",
        "nothing left": content.split(b"\n", 1)[0] + b"\n",
    }[change]
    assert changed != content
    path.write_bytes(changed)
    assert_refused(folder)


def test_a_changed_source(folder: Path) -> None:
    source = folder / "data.csv"
    source.write_text(COMPANIES.replace("790", "791", 1))
    assert_refused(folder)
    (folder / "moved.csv").write_text(COMPANIES)
    assert verified(folder, "--source", "moved.csv").returncode == 0
    assert_refused(folder, "--source", "data.csv")


def test_the_record_of_another_release(folder: Path) -> None:
    other = folder / "other"
    other.mkdir()
    (other / "data.csv").write_text(COMPANIES)
    protected("data.csv", "-k", 4, *COMPANY_ROLES, folder=other)
    assert_refused(folder, "--record", f"other/microagg-internal/{RELEASE}.microagg.json")
    assert_refused(folder, "--record", "other/microagg-internal")
