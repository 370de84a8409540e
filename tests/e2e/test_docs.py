"""What the documents show is run: Python blocks, commands, sessions with their output, links.

A ```console block is a session: its commands, behind a dollar sign, run one after the other in one folder
and print what is shown, but for seconds. Commands elsewhere run each by itself.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import microagg
from microagg import read, write
from tests.e2e.fork_server import outcome
from tests.web.serving import serving

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


HOW_TO = ROOT / "docs" / "protect.md"
TUTORIAL = ROOT / "docs" / "tutorial.md"


def blocks_of(page: Path, language: str) -> list[str]:
    """A block in a list is indented."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```", page.read_text("utf-8"), re.S | re.M)
    return [re.sub(rf"^{indent}", "", block, flags=re.M) for indent, block in found]


def blocks(language: str) -> list[object]:
    return [
        pytest.param(block, id=f"{page.relative_to(ROOT)}-{number}")
        for page in PAGES
        for number, block in enumerate(blocks_of(page, language))
        if "pyspark" not in block  # tests/spark runs these
    ]


def commands() -> list[object]:
    pages = [
        (page, re.sub(r"```console\n.*?```", "", page.read_text("utf-8"), flags=re.S)) for page in PAGES
    ]
    return [
        pytest.param(line.strip(), id=f"{page.relative_to(ROOT)}: {line.strip()}")
        for page, text in pages
        for line in re.findall(r"^\s*(?:\$ )?(microagg [a-z]+.*)$", text, re.M)
        if "--engine spark" not in line  # tests/spark runs these
    ]


def write_files(folder: Path) -> None:
    """What the documents have at hand: two files, a plan for the first, and a taxonomy for the second."""
    (folder / "companies.csv").write_text(COMPANIES)
    (folder / "people.csv").write_text(blocks_of(HOW_TO, "csv")[0])
    (folder / "regions.csv").write_text(blocks_of(HOW_TO, "csv")[1])
    (folder / "companies.toml").write_text(blocks_of(TUTORIAL, "toml")[0])


def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    program, *arguments = shlex.split(line)
    if program == "microagg":
        return outcome(*arguments, folder=folder, merged=True)
    assert program in ("cat", "sort")
    return subprocess.run(
        [program, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


@pytest.mark.parametrize("block", blocks("python"))
def test_python_block(
    block: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "document", "exec"), {})
    printed = without_seconds(capsys.readouterr().out)
    for line in re.findall(r"^# (\d+ records.*|information loss.*|verified.*)$", block, re.M):
        assert without_seconds(line) in printed


@pytest.mark.parametrize("line", commands())
def test_command(line: str, tmp_path: Path) -> None:
    write_files(tmp_path)
    if line.startswith("microagg serve"):  # until it is ended
        with serving(tmp_path, *shlex.split(line)[2:]) as server:
            assert server.links
        return
    if "verify-certificate" in line:
        table = read.table_from_file(tmp_path / "companies.csv", ["surface", "employees"])
        write.write_text(tmp_path / "proof.json", json.dumps(microagg.lower_bound(table, 3).certificate()))
    done = run(line, tmp_path)
    assert done.returncode == 0, done.stdout


def without_wrapping(text: str) -> str:
    """Messages are one line; in a document they may be broken."""
    return re.sub(r"\s+", " ", text) if text.startswith("microagg: ") else text


@pytest.mark.parametrize("session", blocks("console"))
def test_session(session: str, tmp_path: Path) -> None:
    write_files(tmp_path)
    for part in re.split(r"^\$ ", session, flags=re.M)[1:]:
        line, _, shown = part.partition("\n")
        done = run(line, tmp_path)
        printed, shown = (without_wrapping(without_seconds(text)) for text in (done.stdout, shown))
        assert printed == shown
        assert (done.returncode != 0) == shown.startswith("microagg: ")


def test_readme_shows_the_main_job() -> None:
    shown = "".join(blocks_of(ROOT / "README.md", "console"))
    assert "$ microagg protect companies.csv" in shown
    assert "$ microagg partition companies.csv" in shown


def test_links_lead_somewhere() -> None:
    nowhere = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8"))
        if not (page.parent / target).exists()
    ]
    assert nowhere == []


def test_links_lead_to_headings() -> None:
    nowhere = [
        f"{page.relative_to(ROOT)}: {target}#{anchor}"
        for page in PAGES
        for target, anchor in re.findall(r"\]\(([^):#]*)#([^)]+)\)", page.read_text("utf-8"))
        if anchor not in anchors_of(page.parent / target if target else page)
    ]
    assert nowhere == []


def anchors_of(page: Path) -> set[str]:
    """Of its headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


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
    """Nor blanks at the end of a line."""
    return re.sub(r" +$", "", re.sub(r"in \d+\.\d\d s", "in some time", text), flags=re.M).strip()
