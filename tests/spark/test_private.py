"""What Spark keeps on disk while it works is for this user alone, and is removed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from microagg.cli.spark_session import has_java
from tests.spark.conftest import NO_SPARK

SESSION = """
import json, os, stat, sys
from pathlib import Path
from microagg.cli.spark_session import session_of

session = session_of("local[1]")
shuffled = session.sparkContext.parallelize(range(100), 2).repartition(2)
assert shuffled.count() == 100
place = session.sparkContext.getConf().get("spark.local.dir")

def of_a_task(_rows):
    yield os.environ["SPARK_LOCAL_DIRS"]

[of_task] = session.sparkContext.parallelize([0], 1).mapPartitions(of_a_task).collect()
files = [str(path) for path in Path(place).rglob("shuffle_*.data")]
del shuffled  # when nothing refers to a shuffle, Spark removes its files with Java's garbage
mode = stat.S_IMODE(os.stat(place).st_mode)
print(json.dumps({"place": place, "of_task": of_task, "shuffled": files, "mode": mode}))
"""


def started(temporary: Path, **environment: str) -> dict[str, Any]:
    """What a session that microagg has started says about its files."""
    pytest.importorskip("pyspark", reason=NO_SPARK)
    if not has_java():
        pytest.skip(NO_SPARK)
    without = {name: value for name, value in os.environ.items() if name != "SPARK_LOCAL_DIRS"}
    done = subprocess.run(
        [sys.executable, "-c", SESSION], capture_output=True, text=True,
        env={**without, "TMPDIR": str(temporary), **environment}, cwd=temporary,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_files_of_spark_lie_in_a_private_folder_that_is_removed(tmp_path: Path) -> None:
    left = tmp_path / "microagg-spark-left"  # by a run that was killed
    left.mkdir()
    (left / "shuffle_0_0_0.data").write_text("private")
    (left / "lock").touch()
    living = tmp_path / "microagg-spark-young"  # of one that is just starting
    living.mkdir()
    os.utime(living, (time.time() + 3600,) * 2)
    found = started(tmp_path)
    assert found["mode"] == 0o700
    assert Path(found["place"]).parent == tmp_path
    assert found["shuffled"], "there was nothing to look at"
    assert all(path.startswith(found["place"]) for path in [*found["shuffled"], found["of_task"]])
    assert not Path(found["place"]).exists()
    assert not left.exists()
    assert living.exists()


def test_private_folders_lie_where_spark_was_told_to_keep_its_files(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    found = started(tmp_path, SPARK_LOCAL_DIRS=str(scratch))
    assert found["mode"] == 0o700
    assert Path(found["place"]).parent == scratch
    assert found["shuffled"]
    assert list(scratch.iterdir()) == []
