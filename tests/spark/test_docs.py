"""What docs/spark.md shows is run, in the session of the tests."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from microagg.cli import app
from tests.e2e.test_docs import ROOT, blocks_of, write_files

PAGE = ROOT / "docs" / "spark.md"


def test_page(session: Any, adaptive: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path)
    (tmp_path / "people").mkdir()
    # Without missing values, and without the stratum that is too small.
    lines = (tmp_path / "people.csv").read_text().splitlines()
    kept = [line for line in lines if ",," not in line and "East" not in line]
    (tmp_path / "people" / "1.csv").write_text("\n".join(kept) + "\n")
    monkeypatch.chdir(tmp_path)
    # Spark was started elsewhere: to it, other paths than absolute ones lead there.
    text = re.sub(
        r"(?<![\w/-])(people/|people\.csv|protected\.parquet)", rf"{tmp_path}/\1", PAGE.read_text("utf-8")
    )
    commands = re.findall(r"^(microagg .*--engine spark.*)$", text, re.M)
    assert commands
    for line in commands:
        # The session is there already; another master would need another one.
        words = shlex.split(line.replace("--master 'local[2]'", ""))[1:]
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, str(done.exception)
        (tmp_path / "protected.parquet").rename(tmp_path / "by-command.parquet")
        (tmp_path / "microagg-internal").rename(tmp_path / "internal-of-command")
    (tmp_path / "page.md").write_text(text)
    (block,) = [block for block in blocks_of(tmp_path / "page.md", "python") if "pyspark" in block]
    exec(compile(block, "document", "exec"), {})
    assert (tmp_path / "protected.parquet" / "_SUCCESS").exists()
