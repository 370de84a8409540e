"""Executors and workers that die in mid-run, tasks that fail: the right result, or a clear refusal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from microagg.cli.spark_session import has_java
from tests.spark.conftest import NO_SPARK

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_faults_change_nothing_or_are_told(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason=NO_SPARK)
    if not has_java():
        pytest.skip(NO_SPARK)
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.interfering", str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,  # so that its processes, and no others, are found by their session
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    found = {line["scenario"]: line for line in lines}
    right = found["undisturbed"]["found"]
    assert len(right) == 64, right
    assert found["executor"]["killed"]
    assert found["worker"]["killed"]
    assert {name: found[name]["found"] for name in ("executor", "worker", "at first")} == {
        "executor": right,
        "worker": right,
        "at first": right,
    }
    refusal = found["always"]["found"]
    assert refusal.startswith("OutputError: Spark could not finish grouping records")
    assert "Nothing is released" in refusal
    assert "the value is" not in refusal
    assert not (tmp_path / "always.parquet").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".microagg")]
