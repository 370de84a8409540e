"""One session of Spark for all tests; without Java they are skipped, and say so."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from microagg.cli.spark_session import has_java

# For jobs of a few seconds Java's better compiler and parallel collector cost more than they gain.
SHORT_RUNS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
os.environ.setdefault("SPARK_SUBMIT_OPTS", SHORT_RUNS)

NO_SPARK = "SPARK IS NOT TESTED: neither Java nor PySpark may be missing (apt install default-jre-headless)"


def start(master: str, **settings: str) -> Any:
    """A session for tests: quiet, and small."""
    sql = pytest.importorskip("pyspark.sql", reason=NO_SPARK)
    if not has_java():
        pytest.skip(NO_SPARK)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master(master).appName("tests")
    usual = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "2",
        # For a few hundred records it takes longer to compile a query than to run it.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        # Plans are not looked at while they run: neither by Spark, to change them, nor by anybody else.
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.ui.explainMode": "simple",
        "spark.sql.maxPlanStringLength": "100",
        # Where in Python each column was made is otherwise told to Java, call by call.
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    for name, value in {
        **usual,
        **{name.replace("__", "."): value for name, value in settings.items()},
    }.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return builder.getOrCreate()


@pytest.fixture(scope="session")
def session() -> Iterator[Any]:
    started = start(
        "local[2]",
        spark__python__daemon__module="tests.spark.workers",
        spark__executorEnv__PYTHONPATH=str(Path(__file__).parents[2]),
    )
    yield started
    started.stop()


@pytest.fixture
def adaptive(session: Any) -> Iterator[None]:
    """With plans that Spark changes while they run, as it does unless it is told otherwise."""
    session.conf.set("spark.sql.adaptive.enabled", "true")
    yield
    session.conf.set("spark.sql.adaptive.enabled", "false")


@pytest.fixture
def block_records(session: Any) -> Iterator[Callable[[int], None]]:
    """Sets how large blocks may be, for one test."""
    yield lambda records: session.conf.set("spark.microagg.blockRecords", str(records))
    session.conf.unset("spark.microagg.blockRecords")


def rows_of(data: Any) -> list[tuple[Any, ...]]:
    """The records of a frame or table, in an order of their own."""
    table = data if isinstance(data, pa.Table) else data.toArrow()
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return sorted(rows, key=repr)
