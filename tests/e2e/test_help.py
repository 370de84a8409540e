"""Help and completion of the command line."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from microagg.cli.commands import DESCRIPTIONS
from microagg.settings.declared import options_of_command
from tests.e2e.fork_server import outcome
from tests.e2e.test_docs import COMPANIES

COMMAND = Path(sys.executable).parent / "microagg"
BY_NAME = {about.name: about for about in DESCRIPTIONS}


def test_the_list_of_commands_has_whole_sentences() -> None:
    shown = " ".join(outcome("--help").stdout.split())
    for about in DESCRIPTIONS:
        assert f"{about.name} {about.summary}" in shown
    assert "..." not in shown.partition("Commands:")[2]


@pytest.mark.parametrize("name", BY_NAME)
def test_help_has_every_option_below_its_group_and_ends_with_an_example(name: str) -> None:
    shown = outcome(name, "--help").stdout
    sections = {part.partition(":\n")[0].strip(): part for part in shown.split("\n\n")}
    for option in options_of_command(name).values():
        assert option.flags[-1].partition("/")[0] in sections[option.group], option.name
    assert shown.endswith(f"Example:\n  {BY_NAME[name].example.replace(chr(10), chr(10) + '  ')}\n")


@pytest.mark.parametrize("name", [name for name in BY_NAME if name != "serve"])
def test_examples_run(name: str, tmp_path: Path) -> None:
    (tmp_path / "companies.csv").write_text(COMPANIES)
    for line in BY_NAME[name].example.splitlines():
        done = outcome(*shlex.split(line)[1:], folder=tmp_path)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("microagg pr", {"protect"}),
        ("microagg protect --acc", {"--accept"}),
        ("microagg protect --small-strata n", {"nearest"}),
        ("microagg methods --", {"--all", "--json", "--help"}),
    ],
)
def test_completion(typed: str, completed: set[str]) -> None:
    asked = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    done = subprocess.run(
        [COMMAND], env={**os.environ, **asked, "_MICROAGG_COMPLETE": "bash_complete"}, capture_output=True,
        text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert {line.removeprefix("plain,") for line in done.stdout.splitlines()} == completed


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_a_script(shell: str) -> None:
    done = subprocess.run(
        [COMMAND],
        env={**os.environ, "_MICROAGG_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert "_MICROAGG_COMPLETE" in done.stdout
