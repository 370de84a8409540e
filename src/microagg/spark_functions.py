"""Python that Spark runs on Arrow data: as functions of columns, or on all batches of a partition."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.functions import arrow_udf  # needs Arrow only, in spite of its module's name


def of_columns(function: Callable[..., Any], kind: str = "double") -> Any:
    """A function of Arrow arrays as one of Spark's columns."""

    def of_arrays(*columns: Any) -> Any:
        return function(*columns)

    # Spark needs the types themselves to know the kind of function; it cannot resolve them from text.
    of_arrays.__annotations__ = dict.fromkeys(("columns", "return"), pa.Array)
    as_function: Any = arrow_udf
    return as_function(of_arrays, kind)


def found_in(frame: DataFrame, find: Callable[[Iterable[Any]], Any]) -> list[Any]:
    """What the function finds in the batches of each partition of the frame."""

    def found(batches: Iterable[Any]) -> Iterator[Any]:
        yield pa.RecordBatch.from_pydict({"found": [pickle.dumps(find(batches))]})

    return [pickle.loads(row.found) for row in frame.mapInArrow(found, "found binary").collect()]
