"""The session of Spark that `microagg protect --engine spark` starts, or finds."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from microagg import wording
from microagg.private_folder import PrivateFolder, sweep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_MASTER = "local[*]"
"""The master where none is named: this machine, with all of its cores."""

PREFIX = "microagg-spark-"
"""Of private folders for what Spark keeps on disk while it works."""


def require_spark() -> None:
    """`MissingExtra` unless PySpark is installed, which the other modules of this package import."""
    if find_spec("pyspark") is None:
        raise wording.needs_extra("The engine spark", "PySpark", "spark")


def session_of(master: str | None) -> SparkSession:
    """The session that there is, or a new one; `MissingExtra` where Spark or Java is missing."""
    require_spark()
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None and master is None:
        return active
    if not has_java():
        raise wording.no_java()
    from pyspark import SparkConf

    builder = SparkSession.builder.appName("microagg").config("spark.ui.showConsoleProgress", "false")
    # Errors would quote records that are malformed.
    builder = builder.config("spark.log.level", "OFF")
    master = master or SparkConf().get("spark.master", DEFAULT_MASTER)
    if master.startswith("local"):
        # Executors on this machine use this very Python, which has microagg.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # nobody else has to reach it
        builder = builder.config("spark.ui.enabled", "false")
        if active is None:
            places = ",".join(map(str, _private_places()))
            os.environ["SPARK_LOCAL_DIRS"] = places  # which wins over the setting, if there is one
            builder = builder.config("spark.local.dir", places)
    try:
        with _silent_java():
            return builder.master(master).getOrCreate()
    except Exception as failure:
        kind = re.sub(r"[^\w]", "", type(failure).__name__)
        raise wording.spark_failed("starting", kind) from None


def _private_places() -> list[Path]:
    """Folders for this user alone, where Spark would keep its files: what it moves between tasks, the
    source's values among them, would be readable for all users of the machine. Removed at the end of this
    process; those of processes that were killed are removed now.
    """
    from pyspark import SparkConf

    configured = os.environ.get("SPARK_LOCAL_DIRS") or SparkConf().get("spark.local.dir", None)
    folders = []
    for place in (configured or tempfile.gettempdir()).split(","):
        inside = Path(place.strip())
        inside.mkdir(parents=True, exist_ok=True)
        sweep(PREFIX, inside)
        folders.append(PrivateFolder(PREFIX, inside))
    atexit.register(_end, folders)
    return [folder.path for folder in folders]


def _end(folders: list[PrivateFolder]) -> None:
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        with suppress(Exception):  # Java may be gone already
            active.stop()
    for folder in folders:
        folder.remove()


@contextmanager
def _silent_java() -> Iterator[None]:
    """A Java that is started meanwhile has no standard error: it would print warnings for engineers, with
    the names of this machine, before any log level holds.
    """
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def has_java() -> bool:
    """Whether Java is where Spark looks for it."""
    home = os.environ.get("JAVA_HOME")
    if home:
        return (Path(home) / "bin" / "java").exists()
    return shutil.which("java") is not None
