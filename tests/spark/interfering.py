"""Runs on several JVMs while something is killed: python -m tests.spark.interfering FOLDER.

Prints a line of JSON for each scenario: what came out, and whether it is what comes out undisturbed.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import microagg
from tests.spark.conftest import SHORT_RUNS, rows_of, start
from tests.spark.slow_stages import KILLED, Slow
from tests.spark.test_protect import KEYS, people

ROOT = Path(__file__).parents[2]


def processes(word: str) -> list[int]:
    """Ours with this word in their command."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            state = (path / "stat").read_text().rsplit(")", 1)[1].split()
            if int(state[3]) == os.getsid(0) and word in (path / "cmdline").read_text():
                found.append(int(path.name))
        except (OSError, IndexError):
            continue
    return found


def kill_executor() -> None:
    """One of the JVMs."""
    os.kill(processes("CoarseGrainedExecutorBackend")[0], signal.SIGKILL)


def kill_worker() -> None:
    """A Python process that a daemon has forked."""
    daemons = processes("pyspark.daemon")
    parents = {
        pid: int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1]) for pid in daemons
    }
    workers = [pid for pid, parent in parents.items() if parent in daemons]
    os.kill(workers[0], signal.SIGKILL)


def digest(release: Any) -> str:
    return hashlib.sha256(repr(rows_of(release.data)).encode()).hexdigest()


def scenario(
    session: Any, folder: Path, name: str, stage: Slow, interfere: Callable[[], None] | None
) -> str:
    """What came out, as a digest of the released records, or the refusal."""
    Path(stage.folder).mkdir()
    killed = threading.Event()

    def watch() -> None:
        while not any(Path(stage.folder).iterdir()):
            time.sleep(0.05)
        if interfere is not None:
            interfere()
            killed.set()
            (Path(stage.folder) / KILLED).touch()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    frame = session.createDataFrame(people(900)).repartition(3)
    try:
        release = microagg.protect(frame, k=3, rest="pass", keys=KEYS, drop=["illness"], method=stage)
        found = digest(release)
        release.save(folder / f"{name}.parquet", record=folder / "internal", force=True)
        written = rows_of(session.read.parquet(str(folder / f"{name}.parquet")))
        assert written == rows_of(release.data)
        release.close()
    except Exception as failure:
        found = f"{type(failure).__name__}: {failure}"
    print(json.dumps({"scenario": name, "killed": killed.is_set(), "found": found}), flush=True)
    return found


def main() -> None:
    folder = Path(sys.argv[1])
    session = start(
        "local-cluster[2,1,1024]",
        spark__executor__memory="600m",
        spark__executor__extraJavaOptions=SHORT_RUNS,
        spark__executorEnv__PYTHONPATH=str(ROOT),
        spark__microagg__blockRecords="200",
        spark__speculation="true",
        spark__speculation__quantile="0.3",
        spark__speculation__multiplier="1.2",
        spark__speculation__interval="100ms",
    )
    scenario(session, folder, "undisturbed", Slow(str(folder / "a")), None)
    scenario(session, folder, "executor", Slow(str(folder / "b"), waits=True), kill_executor)
    scenario(session, folder, "worker", Slow(str(folder / "c"), waits=True), kill_worker)
    scenario(session, folder, "at first", Slow(str(folder / "d"), fails="at first"), None)
    scenario(session, folder, "always", Slow(str(folder / "e"), fails="always"), None)
    session.stop()


if __name__ == "__main__":
    main()
