"""Errors of Spark as errors of microagg: the text of Spark's own may quote records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from warnings import catch_warnings, filterwarnings

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from microagg import wording

_KINDS = (
    (
        "OutOfMemory|NotEnoughMemory|MemoryError|Container killed|exit code 137",
        "not enough memory for a task",
    ),
    ("ExecutorLost|Executor heartbeat|worker exited|Worker died|crashed", "executors or workers were lost"),
    (
        "No module named",
        "the Python of the executors, which PYSPARK_PYTHON names, lacks microagg or what that needs",
    ),
    ("ARITHMETIC_OVERFLOW", "a sum was too large"),
    ("FileNotFound|PATH_NOT_FOUND|READ_FILE_NOT_EXIST|does not exist", "a file has gone"),
    ("MALFORMED", "a row has another number of fields than the others, or is damaged"),
    ("UNABLE_TO_INFER_SCHEMA|not a Parquet file|READ_FILE", "a file could not be read"),
    ("No space left", "no space left on a disk"),
    ("AccessControl|Permission denied", "no permission"),
    ("SparkContext was shut down|stopped SparkContext|cancelled", "the session was stopped"),
)


@contextmanager
def translating_spark_errors(session: SparkSession, what: str) -> Iterator[None]:
    """Raise failures of Spark as `OutputError`; an interruption also stops Spark's jobs."""
    tag = "microagg"
    session.addTag(tag)
    try:
        with catch_warnings():
            # What works with Arrow alone needs nothing that differs between versions of pandas.
            filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
            yield
    except (PySparkException, Py4JError) as failure:
        raise wording.spark_failed(what, fault_kind(failure)) from None
    except BaseException:
        session.interruptTag(tag)
        raise
    finally:
        session.removeTag(tag)


def fault_kind(failure: Any) -> str:
    """A short description of a failure of Spark, without any value of a record."""
    text = str(failure)
    for pattern, kind in _KINDS:
        if re.search(pattern, text):
            return kind
    raised = re.search(r"^(?:microagg\.[\w.]*)?(\w*(?:Error|Exception))\b", text.strip().split("\n")[-1])
    return raised.group(1) if raised else type(failure).__name__
