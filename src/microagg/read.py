"""A file or data in memory -> Table: the only place that checks data by themselves."""

from __future__ import annotations

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
    if isinstance(data, Table):
        columns, values = data.columns, data.values
    elif _is_frame(data):
        columns, values = _from_frame(data)
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
    return table_of(table)


# --- data in memory ---------------------------------------------------------------------------


def _is_frame(data: object) -> bool:
    """Whether narwhals knows it: pandas, polars, Arrow, DuckDB and others."""
    if isinstance(data, np.ndarray | list | tuple):
        return False
    import narwhals.stable.v1 as nw  # a tenth of a second, only for those who pass a frame

    return isinstance(nw.from_native(data, pass_through=True), nw.DataFrame | nw.LazyFrame)


def _from_frame(data: object) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    import narwhals.stable.v1 as nw

    # pandas alone allows equal names, and narwhals refuses them in words of its own.
    _refuse_duplicates([str(name) for name in getattr(data, "columns", ()) if isinstance(name, str | int)])
    frame: Any = nw.from_native(data)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    numeric = [name for name in frame.columns if frame.schema[name].is_numeric()]
    others = [name for name in frame.columns if name not in numeric]
    # A column of nothing but missing values has no type; say that it is empty, not that it is text.
    for name in others:
        if len(frame) and frame[name].null_count() == len(frame):
            raise errors.missing_values(name, len(frame), len(frame))
    if others:
        raise errors.not_numeric(others, numeric)
    values = np.empty((len(frame), len(numeric)))
    for at, name in enumerate(numeric):
        missing = frame[name].null_count()
        if missing:
            raise errors.missing_values(name, missing, len(frame))
        values[:, at] = frame[name].cast(nw.Float64()).to_numpy()
    return tuple(str(name) for name in numeric), values


def _from_array(data: object) -> NDArray[np.float64]:
    if isinstance(data, np.ma.MaskedArray):
        if np.ma.is_masked(data):
            raise errors.missing_values("(any)", int(np.ma.getmaskarray(data).sum()), len(data))
        data = data.data
    try:
        array = np.asarray(data)
    except ValueError:
        raise errors.ragged() from None
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2:
        raise errors.not_two_dimensional(array.ndim)
    if array.dtype.kind == "O":
        array = _from_objects(array)
    if array.dtype.kind not in "iuf":
        raise errors.not_numbers(str(array.dtype))
    return np.ascontiguousarray(array, dtype=np.float64)


def _from_objects(array: NDArray[Any]) -> NDArray[Any]:
    """Python numbers in an array of objects; None counts as missing."""
    for at in range(array.shape[1]):
        missing = sum(value is None for value in array[:, at])
        if missing:
            raise errors.missing_values(str(at + 1), missing, len(array))
    kinds = {type(value) for value in array.flat}
    for kind in kinds:
        if issubclass(kind, str | bytes | bool) or not hasattr(kind, "__float__"):
            raise errors.not_numbers(kind.__name__)
    return array.astype(np.float64)


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
    except (pa.ArrowException, UnicodeDecodeError):
        raise errors.unreadable_content(str(path), kind) from None
    except OSError as error:
        raise errors.cannot_read(str(path), error.strerror or "reading failed") from None


def _read_csv(path: Path) -> pa.Table:
    from pyarrow import csv

    with path.open(encoding="utf-8-sig") as file:
        header = file.readline()
    # The sign that separates most names in the header.
    delimiter = max(",;\t", key=header.count)
    return csv.read_csv(path, parse_options=csv.ParseOptions(delimiter=delimiter))
