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


DEFAULT = """
from microagg.cli.spark_session import _private_places

[place] = _private_places()
print(oct(place.stat().st_mode & 0o777), place.parent)
"""


def ran(program: str, temporary: Path, **environment: str) -> str:
    """What a Python program prints, which must not complain."""
    pytest.importorskip("pyspark", reason=NO_SPARK)
    if not has_java():
        pytest.skip(NO_SPARK)
    without = {name: value for name, value in os.environ.items() if name != "SPARK_LOCAL_DIRS"}
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True,
        env={**without, "TMPDIR": str(temporary), **environment}, cwd=temporary,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    # Java's and Spark's warnings at the start would come first, with the names of this machine.
    assert done.stderr == ""
    (line,) = done.stdout.splitlines()
    return line


def test_files_of_spark_lie_in_a_private_folder_that_is_removed(tmp_path: Path) -> None:
    """Where Spark was told to keep its files."""
    scratch, temporary = tmp_path / "scratch", tmp_path / "temporary"
    left = scratch / "microagg-spark-left"  # by a run that was killed
    left.mkdir(parents=True)
    (left / "shuffle_0_0_0.data").write_text("private")
    (left / "lock").touch()
    living = scratch / "microagg-spark-young"  # of one that is just starting
    living.mkdir()
    os.utime(living, (time.time() + 3600,) * 2)
    found: dict[str, Any] = json.loads(ran(SESSION, temporary, SPARK_LOCAL_DIRS=str(scratch)))
    assert found["mode"] == 0o700
    assert Path(found["place"]).parent == scratch
    assert found["shuffled"], "there was nothing to look at"
    assert all(path.startswith(found["place"]) for path in [*found["shuffled"], found["of_task"]])
    assert list(scratch.iterdir()) == [living]
    assert not list(temporary.glob("microagg-spark-*"))


def test_private_folders_lie_among_temporary_files(tmp_path: Path) -> None:
    """Where Spark was told nothing."""
    temporary = tmp_path / "temporary"
    assert ran(DEFAULT, temporary) == f"0o700 {temporary}"
    assert not list(temporary.iterdir())
