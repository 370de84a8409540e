"""Data in memory -> Table: arrays, and data frames of any kind that narwhals supports."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg import wording
from microagg.arrow_values import to_numpy
from microagg.model import Table
from microagg.read.select import refuse_duplicates

_PLAIN = frozenset(("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"))


def table_of(data: object) -> Table:
    """Any array-like or data frame of numbers as a Table.

    A one-dimensional array is one attribute. `DataError` for anything but finite numbers.
    """
    frame = None if isinstance(data, np.ndarray | list | tuple | Table) else frame_of(data)
    if isinstance(data, Table):
        columns, values = data.columns, np.ascontiguousarray(data.values, dtype=np.float64)
    elif frame is not None:
        columns, values = _from_frame(frame)
    else:
        values = _from_array(data)
        columns = tuple(str(number) for number in range(1, values.shape[1] + 1))
    if values.shape[0] == 0:
        raise wording.no_records()
    if values.shape[1] == 0:
        raise wording.no_columns()
    if not np.isfinite(values).all():
        _refuse_not_finite(columns, values)
    return Table(columns, values)


def frame_of(data: Any) -> Any:
    """A narwhals data frame for pandas, polars, Arrow, DuckDB and the like, else None."""
    import narwhals.stable.v1 as nw  # a tenth of a second, for data frames only

    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if nw.dependencies.is_duckdb_relation(data):
        # narwhals would fetch it again for each operation.
        data = data.arrow()
        data = data.read_all() if hasattr(data, "read_all") else data
    # narwhals has messages of its own for equal names, and pandas' names that are not text.
    if is_pandas_frame(data):
        names = list(data.columns)
        if not all(isinstance(name, str) for name in names):
            names = [str(name) for name in names]
            data = data.set_axis(names, axis=1)
        refuse_duplicates(names)
    elif isinstance(data, pa.Table):
        refuse_duplicates(data.column_names)
    frame = nw.from_native(data, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        return frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


def _from_frame(frame: Any) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    if len(frame) == 0 and frame.columns:
        raise wording.no_records()
    values = _plain_pandas_values(frame.to_native())
    if values is not None:
        return tuple(frame.columns), values
    kinds = frame.schema
    numeric = [name for name in frame.columns if kinds[name].is_numeric()]
    others = [name for name in frame.columns if name not in numeric]
    # A column with missing values only has no type: the message is to be that it is empty.
    for name in others:
        if frame[name].null_count() == len(frame):
            raise wording.missing_values(name, len(frame), len(frame))
    if others:
        raise wording.not_numeric(others, numeric)
    values = np.empty((len(frame), len(numeric)))
    for at, name in enumerate(numeric):
        series = frame.get_column(name)
        missing = series.null_count()
        if missing:
            raise wording.missing_values(name, missing, len(frame))
        native = series.to_native()
        values[:, at] = to_numpy(native) if isinstance(native, pa.ChunkedArray) else series.to_numpy()
    return tuple(numeric), values


def is_pandas_frame(data: object) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(data, pandas.DataFrame)


def _plain_pandas_values(native: Any) -> NDArray[np.float64] | None:
    """The values of a pandas frame all of whose columns are NumPy integers, singles or doubles, else None.

    Column by column, narwhals would take longer for a small frame than partitioning it does.
    """
    if not is_pandas_frame(native) or not native.shape[1]:
        return None
    if not all(map(is_plain_number, native.dtypes)):
        return None
    return np.ascontiguousarray(native.to_numpy(dtype=np.float64))


def is_plain_number(dtype: Any) -> bool:
    """Whether a dtype of pandas is one of NumPy's integers, singles or doubles."""
    return isinstance(dtype, np.dtype) and dtype.str[1:] in _PLAIN


def _from_array(data: object) -> NDArray[np.float64]:
    if isinstance(data, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(data).reshape(len(data), -1)
        for at in np.flatnonzero(masked.any(axis=0)):
            raise wording.missing_values(str(at + 1), int(masked[:, at].sum()), len(data))
        data = data.data
    try:
        array = np.asarray(data)
    except ValueError:
        raise wording.ragged() from None
    if array.ndim == 0:
        raise wording.not_a_table(type(data).__name__)
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2:
        raise wording.not_two_dimensional(array.ndim)
    if array.dtype.kind == "O":
        return _from_objects(array)
    if array.dtype.kind not in "iuf":
        kinds = {
            "U": "text",
            "S": "text",
            "T": "text",
            "b": "bool (true and false)",
            "c": "complex numbers",
        }
        raise wording.not_numbers(kinds.get(array.dtype.kind, f"values of type {array.dtype}"))
    return np.ascontiguousarray(array, dtype=np.float64)


def _from_objects(array: NDArray[Any]) -> NDArray[np.float64]:
    """Python numbers in an array of objects; None and pandas' NA count as missing."""
    for at in range(array.shape[1]):
        missing = sum(
            value is None or type(value).__name__ in ("NAType", "NaTType") for value in array[:, at]
        )
        if missing:
            raise wording.missing_values(str(at + 1), missing, len(array))
    for kind in {type(value) for value in array.flat}:
        if issubclass(kind, str | bytes):
            raise wording.not_numbers(f"text ({kind.__name__})")
        if issubclass(kind, bool | np.bool_ | np.ndarray) or not hasattr(kind, "__float__"):
            raise wording.not_numbers(f"values of type {kind.__name__}")
    try:
        return array.astype(np.float64)
    except OverflowError:
        raise wording.not_numbers("numbers too large for a double") from None


def _refuse_not_finite(columns: Sequence[str], values: NDArray[np.float64]) -> None:
    for at, column in enumerate(columns):
        missing = int(np.isnan(values[:, at]).sum())
        if missing:
            raise wording.missing_values(column, missing, len(values))
        infinite = int(np.isinf(values[:, at]).sum())
        if infinite:
            raise wording.infinite_values(column, infinite)
