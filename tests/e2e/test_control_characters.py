"""Control characters in names never reach a terminal; the files keep names as they are."""

from __future__ import annotations

import csv
import json
import re
import subprocess
from pathlib import Path

import pandas as pd
import pytest

import microagg
from microagg import errors, wording
from tests.e2e.fork_server import outcome

ESC = "\x1b[31m"
TURNED = "\u202e"
KEY = f"pay{ESC}{TURNED}"
OTHER = "first\nsecond\x9b\r"
REGION = f"region{TURNED}"
CONTROL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]"
)


def frame() -> pd.DataFrame:
    numbers = range(24)
    return pd.DataFrame(
        {
            KEY: [number * 1.5 for number in numbers],
            OTHER: [number % 4 for number in numbers],
            REGION: [f"{ESC}{number % 2}" for number in numbers],
        }
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / f"data{ESC}{TURNED}.csv"
    frame().to_csv(path, index=False)
    return path


def run(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return outcome(*words, folder=folder)


def assert_clean(text: str) -> None:
    assert not CONTROL.search(text), repr(text)


def test_control_characters_are_shown_as_codes() -> None:
    assert wording.visible(KEY) == r"pay\x1b[31m\u202e"
    assert wording.visible(OTHER) == r"first\nsecond\x9b\r"
    assert wording.visible("Größe ∑ 東京") == "Größe ∑ 東京"
    assert str(wording.unknown_columns([KEY], [OTHER])).startswith(r"No such column: 'pay\x1b[31m\u202e'.")
    assert "\n" not in str(wording.infinite_values(OTHER, 3))


def test_control_characters_in_names_are_escaped_in_a_release() -> None:
    release = microagg.protect(frame(), 3, rest="pass", keys=[KEY, OTHER], strata=[REGION], keep_order=True)
    assert_clean(str(release))
    assert_clean(str(release.verdict))
    assert r"pay\x1b[31m\u202e" in str(release)
    assert list(release.data.columns) == [KEY, OTHER, REGION]
    with pytest.raises(errors.DataError) as refused:
        microagg.protect(frame(), 13, rest="pass", keys=[KEY], strata=[REGION, OTHER + "?"])
    assert_clean(str(refused.value))
    assert_clean(str(microagg.assess(frame(), release.data, keys=[KEY, OTHER], strata=[REGION])))


@pytest.mark.parametrize(
    "words",
    [
        ["plan", "FILE", "--force"],
        ["plan", "FILE", "-o", "-"],
        ["plan", "FILE", "-o", f"plan{ESC}.toml", "--json"],
        ["protect", "FILE", "-k", "3", "--keys", KEY, "-o", f"{ESC}{TURNED}.csv"],
        ["protect", "FILE", "-k", "3", "--keys", KEY, "--confidential", REGION, "--rest=pass", "--json"],
        ["protect", "FILE", "-k", "3", "--keys", KEY, "--strata", f"{REGION},{ESC}", "-o", "out.csv"],
        ["protect", "FILE", "-k", "3", "--keys", REGION, "-o", "out.csv"],
        ["partition", "FILE", "-k", "3", "--columns", f'"{KEY}"', "--labels", f"labels{ESC}.csv"],
        ["compare", "FILE", "-k", "3", "--methods", "mdav", "--keys", KEY, "--json"],
        ["assess", "FILE", "FILE", "--keys", KEY, "--strata", REGION],
        ["protect", f"no such file{ESC}{TURNED}.csv", "-k", "3", "--keys", "x"],
        ["partition", "FILE", "-k", "3", "--columns", f"{ESC}{TURNED}"],
        ["partition", "FILE", f"--{ESC}"],
        [f"{ESC}{TURNED}"],
    ],
)
def test_control_characters_never_reach_a_terminal(words: list[str], file: Path) -> None:
    done = run(file.parent, *(str(file) if word == "FILE" else word for word in words))
    assert done.returncode in (0, 2, 3), done.stderr
    assert_clean(done.stdout)
    assert_clean(done.stderr)
    assert done.stdout or done.stderr
    if "--json" in words:
        assert KEY in json.dumps(json.loads(done.stdout), ensure_ascii=False).replace("\\u001b", "\x1b")


def test_files_keep_names_with_control_characters(file: Path) -> None:
    done = run(
        file.parent,
        "protect",
        file,
        "-k",
        "3",
        "--keys",
        KEY,
        "--strata",
        REGION,
        "--rest",
        "pass",
        "-o",
        "out.csv",
    )
    assert done.returncode == 0, done.stderr
    with (file.parent / "out.csv").open(newline="", encoding="utf-8") as written:
        assert next(csv.reader(written)) == [KEY, OTHER.strip(), REGION]


def test_a_plan_file_has_no_control_characters_and_names_the_columns(file: Path) -> None:
    done = run(file.parent, "plan", file)
    assert done.returncode == 0, done.stderr
    text = (file.parent / "plan.toml").read_text("utf-8")
    assert_clean(text)
    done = run(file.parent, "protect", "--plan", "plan.toml", "-o", "out.csv")
    assert done.returncode == 0, done.stderr
