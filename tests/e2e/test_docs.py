"""What the documents show is run: Python blocks, commands, links."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import microagg
from microagg import read, write

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(ROOT.glob("docs/**/*.md")),
]
COMMAND = Path(sys.executable).parent / "microagg"
COMPANIES = """surface,employees,turnover,profit
790,55,3212334,313250
710,44,2283340,299876
730,32,1989233,200213
810,17,984983,143211
950,3,194232,51233
510,25,119332,20333
400,45,3012444,501233
330,50,4233312,777882
510,5,159999,60388
760,52,5333442,1001233
50,12,645223,333010
"""


def blocks(language: str) -> list[object]:
    return [
        pytest.param(block, id=f"{page.relative_to(ROOT)}-{number}")
        for page in PAGES
        for number, block in enumerate(
            re.findall(rf"```{language}\n(.*?)```", page.read_text("utf-8"), re.S)
        )
    ]


def commands() -> list[object]:
    return [
        pytest.param(line.strip(), id=f"{page.relative_to(ROOT)}: {line.strip()}")
        for page in PAGES
        for line in re.findall(r"^\s*(?:\$ )?(microagg [a-z]+.*)$", page.read_text("utf-8"), re.M)
    ]


@pytest.mark.parametrize("block", blocks("python"))
def test_python_block(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(block, "document", "exec"), {})
    printed = without_seconds(capsys.readouterr().out)
    for line in re.findall(r"^# (\d+ records.*|information loss.*)$", block, re.M):
        assert without_seconds(line) in printed


@pytest.mark.parametrize("line", commands())
def test_command(line: str, tmp_path: Path) -> None:
    (tmp_path / "companies.csv").write_text(COMPANIES)
    if "verify-certificate" in line:
        table = read.table_from_file(tmp_path / "companies.csv", ["surface", "employees"])
        write.write_json(tmp_path / "proof.json", microagg.lower_bound(table, 3).certificate())
    done = subprocess.run(
        [COMMAND, *line.split()[1:]], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_readme_output_is_what_the_command_prints(tmp_path: Path) -> None:
    (tmp_path / "companies.csv").write_text(COMPANIES)
    readme = (ROOT / "README.md").read_text("utf-8")
    shown = re.search(r"\$ (microagg partition.*)\n((?:.+\n)+)```", readme)
    assert shown is not None
    done = subprocess.run(
        [COMMAND, *shown[1].split()[1:]], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert without_seconds(done.stdout) == without_seconds(shown[2])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_every_command_is_documented() -> None:
    text = "".join(page.read_text("utf-8") for page in PAGES)
    done = subprocess.run(
        [COMMAND, "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    names = re.findall(r"^  ([a-z]+) {2,}", done.stdout.split("Commands:")[1], re.M)
    assert names
    for name in names:
        assert f"microagg {name}" in text


def without_seconds(text: str) -> str:
    return re.sub(r"in \d+\.\d\d s", "in some time", text).strip()
