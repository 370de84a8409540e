"""A file or data in memory -> Table: the only place that checks data by themselves."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from microagg import errors
from microagg.model import Table, positions_of

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = {
    ".csv": "CSV",
    ".tsv": "CSV",
    ".txt": "CSV",
    ".parquet": "Parquet",
    ".feather": "Arrow",
    ".arrow": "Arrow",
}


def table_of(data: object) -> Table:
    """Any array-like or data frame of numbers as a Table.

    A one-dimensional array is one attribute. `DataError` for anything but finite numbers.
    """
    frame = None if isinstance(data, np.ndarray | list | tuple | Table) else _frame(data)
    if isinstance(data, Table):
        columns, values = data.columns, np.ascontiguousarray(data.values, dtype=np.float64)
    elif frame is not None:
        columns, values = _from_frame(frame)
    else:
        values = _from_array(data)
        columns = tuple(str(number) for number in range(1, values.shape[1] + 1))
    if values.shape[0] == 0:
        raise errors.no_records()
    if values.shape[1] == 0:
        raise errors.no_columns()
    if not np.isfinite(values).all():
        _refuse_not_finite(columns, values)
    return Table(columns, values)


def table_from_file(path: Path, columns: Sequence[str] | None = None) -> Table:
    """The named columns of a file (default: all) as a Table."""
    table = _read_file(path)
    _refuse_duplicates(table.column_names)
    if columns is not None:
        table = table.select(positions_of(columns, table.column_names))
    if "" in table.column_names:
        raise errors.unnamed_column(table.column_names.index("") + 1)
    return table_of(table)


# --- data in memory ---------------------------------------------------------------------------


def _frame(data: Any) -> Any:
    """A narwhals data frame for what narwhals knows (pandas, polars, Arrow, DuckDB, …), else None."""
    import narwhals.stable.v1 as nw  # a tenth of a second, only for those who pass a frame
    from narwhals.dependencies import is_pandas_dataframe, is_pyarrow_table

    if type(data).__module__.startswith("pyarrow") and hasattr(data, "to_pylist"):
        import pyarrow as pa

        if isinstance(data, pa.RecordBatch):
            data = pa.Table.from_batches([data])
    # narwhals refuses equal names in words of its own, and pandas' names that are not text.
    if is_pandas_dataframe(data):
        data = data.set_axis([str(name) for name in data.columns], axis=1)
        _refuse_duplicates(list(data.columns))
    elif is_pyarrow_table(data):
        _refuse_duplicates(data.column_names)
    frame = nw.from_native(data, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        return frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


def _from_frame(frame: Any) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    if len(frame) == 0 and frame.columns:
        raise errors.no_records()
    numeric = [name for name in frame.columns if frame.schema[name].is_numeric()]
    others = [name for name in frame.columns if name not in numeric]
    # A column of nothing but missing values has no type; say that it is empty, not that it is text.
    for name in others:
        if frame[name].null_count() == len(frame):
            raise errors.missing_values(name, len(frame), len(frame))
    if others:
        raise errors.not_numeric(others, numeric)
    values = np.empty((len(frame), len(numeric)))
    for at, name in enumerate(numeric):
        missing = frame[name].null_count()
        if missing:
            raise errors.missing_values(name, missing, len(frame))
        values[:, at] = frame[name].to_numpy()
    return tuple(numeric), values


def _from_array(data: object) -> NDArray[np.float64]:
    if isinstance(data, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(data).reshape(len(data), -1)
        for at in np.flatnonzero(masked.any(axis=0)):
            raise errors.missing_values(str(at + 1), int(masked[:, at].sum()), len(data))
        data = data.data
    try:
        array = np.asarray(data)
    except ValueError:
        raise errors.ragged() from None
    if array.ndim == 0:
        raise errors.not_a_table(type(data).__name__)
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2:
        raise errors.not_two_dimensional(array.ndim)
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
        raise errors.not_numbers(kinds.get(array.dtype.kind, f"values of type {array.dtype}"))
    return np.ascontiguousarray(array, dtype=np.float64)


def _from_objects(array: NDArray[Any]) -> NDArray[np.float64]:
    """Python numbers in an array of objects; None and pandas' NA count as missing."""
    for at in range(array.shape[1]):
        missing = sum(
            value is None or type(value).__name__ in ("NAType", "NaTType") for value in array[:, at]
        )
        if missing:
            raise errors.missing_values(str(at + 1), missing, len(array))
    for kind in {type(value) for value in array.flat}:
        if issubclass(kind, str | bytes):
            raise errors.not_numbers(f"text ({kind.__name__})")
        if issubclass(kind, bool | np.bool_ | np.ndarray) or not hasattr(kind, "__float__"):
            raise errors.not_numbers(f"values of type {kind.__name__}")
    try:
        return array.astype(np.float64)
    except OverflowError:
        raise errors.not_numbers("numbers too large for a double") from None


def _refuse_duplicates(names: Sequence[str]) -> None:
    duplicates = [name for name, times in Counter(names).items() if times > 1]
    if duplicates:
        raise errors.duplicate_columns(duplicates)


def _refuse_not_finite(columns: Sequence[str], values: NDArray[np.float64]) -> None:
    for at, column in enumerate(columns):
        missing = int(np.isnan(values[:, at]).sum())
        if missing:
            raise errors.missing_values(column, missing, len(values))
        infinite = int(np.isinf(values[:, at]).sum())
        if infinite:
            raise errors.infinite_values(column, infinite)


# --- files ------------------------------------------------------------------------------------


def _read_file(path: Path) -> pa.Table:
    if path.is_dir():
        raise errors.is_a_folder(str(path))
    if not path.exists():
        raise errors.no_such_file(str(path))
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        raise errors.unknown_format(str(path), list(FORMATS))
    import pyarrow as pa

    try:
        if path.stat().st_size == 0:
            raise errors.no_records()
        if kind == "CSV":
            return _read_csv(path)
        if kind == "Parquet":
            from pyarrow import parquet

            return parquet.read_table(path)
        from pyarrow import feather

        return feather.read_table(path)
    except UnicodeDecodeError:
        raise errors.not_utf8(str(path)) from None
    except pa.ArrowException:
        raise errors.unreadable_content(str(path), kind) from None
    except OSError as error:
        raise errors.cannot_read(str(path), error.strerror or "reading failed") from None


def _read_csv(path: Path) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    with path.open(encoding="utf-8-sig", newline="") as file:
        header = next((line for line in file if line.strip()), "")
        if not any(line.strip() for line in file):
            raise errors.no_records()
    # The sign that separates most names in the header, outside quotes.
    bare = re.sub(r'"[^"]*"', "", header)
    delimiter = max(",;\t", key=bare.count)
    names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter))]
    if all(_is_number(name) for name in names):
        raise errors.no_header(str(path))
    table = arrow_csv.read_csv(path, parse_options=arrow_csv.ParseOptions(delimiter=delimiter))
    if any(pa.types.is_binary(kind) for kind in table.schema.types):
        raise errors.not_utf8(str(path))  # what Arrow makes of text in another encoding
    return table.rename_columns([name.strip() for name in table.column_names])


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True
