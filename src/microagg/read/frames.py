"""Data frames of any kind that narwhals supports -> Microdata; a released table -> the same kind of frame.

narwhals takes a tenth of a second to import, so functions import it: files do without it.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import methodcaller
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg import wording
from microagg.arrow_types import NUMBERS_AMONG_TEXT
from microagg.arrow_values import from_numbers, from_numpy, from_texts, in_one_piece, to_numpy
from microagg.formats.hidden_values import without_hidden_values
from microagg.model import Microdata, Origin
from microagg.read.in_memory import frame_of, is_pandas_frame, is_plain_number
from microagg.read.select import select_columns


def microdata_of(data: object) -> Microdata:
    """All columns of a data frame. `DataError` for other objects."""
    frame = frame_of(data)
    if frame is None:
        raise wording.not_a_frame(type(data).__name__)
    if not frame.columns:
        raise wording.no_columns()
    if len(frame) == 0:
        raise wording.no_records()
    native = frame.to_native()
    if is_pandas_frame(native):
        columns = [_arrow_column(name, series, _from_pandas) for name, series in native.items()]
    elif isinstance(native, pa.Table):
        pieces = zip(native.column_names, map(in_one_piece, native.columns), strict=True)
        columns = [(pa.field(name, piece.type), piece) for name, piece in pieces]
    else:
        columns = [
            _arrow_column(series.name, series, methodcaller("to_arrow")) for series in frame.iter_columns()
        ]
    table = pa.Table.from_arrays([array for _, array in columns], schema=pa.schema([f for f, _ in columns]))
    if not isinstance(native, pa.Table) and not is_pandas_frame(native) and _is_lazy(data):
        # A lazy frame is computed only once: the second time, its rows might come in another order.
        data = frame.lazy().to_native()
    return Microdata(select_columns(table, None), Origin("frame", "the data frame", frame=data))


def _is_lazy(data: Any) -> bool:
    import narwhals.stable.v1 as nw

    return isinstance(nw.from_native(data, pass_through=True), nw.LazyFrame)


def _from_pandas(series: Any) -> Any:
    if not is_plain_number(series.dtype):
        array: Any = pa.Array.from_pandas(series)
        is_category = pa.types.is_dictionary(array.type)
        if is_category and isinstance(array.type.value_type, pa.BaseExtensionType):
            # Intervals, as `pandas.cut` makes them, or periods: few of Arrow's functions take them.
            texts = from_texts(list(map(str, series.cat.categories)))
            array = pa.DictionaryArray.from_arrays(array.indices, texts, ordered=array.type.ordered)
        return array
    values = series.to_numpy()
    return from_numbers(values) if values.dtype.kind == "f" else from_numpy(values)


def _arrow_column(
    name: str, series: Any, to_arrow: Callable[[Any], Any]
) -> tuple[pa.Field[Any], pa.Array[Any] | pa.ChunkedArray[Any]]:
    try:
        array = to_arrow(series)
        return pa.field(name, array.type), array
    except (pa.ArrowException, TypeError, ValueError, OverflowError):  # values of several types
        values = series.to_list()
    missing = [value is None or value != value for value in values]
    numbers = sum(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    numbers -= sum(isinstance(value, float) and value != value for value in values)
    texts = [None if gap else str(value) for value, gap in zip(values, missing, strict=True)]
    try:
        text = from_texts(texts)
    except UnicodeEncodeError:  # its message holds the value
        raise wording.invalid_unicode(name) from None
    return pa.field(name, text.type, metadata={NUMBERS_AMONG_TEXT: str(numbers).encode()}), text


def frame_like(microdata: Microdata, released: pa.Table, rows: NDArray[np.int64]) -> object:
    """Convert a released table to the same kind of frame as the source.

    `rows`: for each released row, its row in the source. Unchanged columns keep their own types. The index
    of a pandas frame is left out: no rule checks it, and it may hold names.
    """
    native: Any = microdata.origin.frame
    source = microdata.table
    taken = source.take(from_numpy(rows))
    same = [name for name in released.column_names if _is_same(taken.column(name), released.column(name))]
    if is_pandas_frame(native):
        return _to_pandas(native, released, rows, same)
    return _to_other(native, released, rows, same)


def frame_of_kind(microdata: Microdata, table: pa.Table) -> Any:
    """Convert any table to the kind of frame that the microdata came in; it stays Arrow for files."""
    import narwhals.stable.v1 as nw

    native: Any = microdata.origin.frame
    if native is None:
        return table
    if nw.dependencies.is_duckdb_relation(native):
        return _duckdb_relation(table)
    return nw.from_arrow(table, backend=frame_of(native).implementation).to_native()


def _is_same(old: pa.ChunkedArray[Any], new: pa.ChunkedArray[Any]) -> bool:
    if old.type != new.type:
        return False
    if pa.types.is_floating(old.type):  # NaN is not equal to itself, and -0.0 is not 0.0 but equal to it
        return old.null_count == new.null_count and np.array_equal(_as_integers(old), _as_integers(new))
    return bool(old.equals(new))


def _as_integers(column: pa.ChunkedArray[Any]) -> NDArray[np.integer[Any]]:
    values = to_numpy(column)
    return values.view(f"i{values.dtype.itemsize}")


def _to_pandas(native: Any, released: pa.Table, rows: NDArray[np.int64], same: list[str]) -> Any:
    import pandas as pd

    kept = native.iloc[rows].reset_index(drop=True)
    labels = {str(label): label for label in native.columns}
    columns = {}
    for name in released.column_names:
        label = labels[name]
        if name in same:
            columns[label] = _without_hidden_pandas(kept[label], pd)
            continue
        values = released.column(name).to_pandas()
        values.index = kept.index
        columns[label] = _in_own_family(values, native.dtypes[label], pd)
    frame = pd.DataFrame(columns, index=kept.index)
    frame.columns = native.columns[[list(labels).index(name) for name in released.column_names]]
    return frame


def _without_hidden_pandas(kept: Any, pd: Any) -> Any:
    """A pandas column with nothing under its missing values and no unused categories."""
    dtype, array = kept.dtype, kept.array
    if isinstance(dtype, pd.CategoricalDtype):
        return kept.cat.remove_unused_categories()
    if isinstance(dtype, pd.ArrowDtype):
        table = without_hidden_values(pa.table([array.__arrow_array__()], names=[""]))
        return pd.Series(type(array)(table.column(0)), index=kept.index, name=kept.name)
    if hasattr(array, "_mask") and hasattr(dtype, "numpy_dtype"):  # pandas' nullable numbers and bools
        values = array.to_numpy(dtype=dtype.numpy_dtype, na_value=0)
        return pd.Series(type(array)(values, array.isna()), index=kept.index, name=kept.name)
    return kept


def _in_own_family(values: Any, dtype: Any, pd: Any) -> Any:
    """Keep pandas' nullable numbers, Arrow's numbers, dates and categories, and categories that are no
    texts, in their own types.
    """
    is_category = isinstance(values.dtype, pd.CategoricalDtype)
    if isinstance(dtype, pd.ArrowDtype) and (is_category or dtype.kind == "M"):
        return values.astype(dtype)
    if is_category and isinstance(dtype.categories.dtype, pd.IntervalDtype | pd.PeriodDtype):
        own = {str(category): category for category in dtype.categories}
        return values.cat.rename_categories(pd.Index([own[text] for text in values.cat.categories]))
    if values.dtype.kind != "f":
        return values
    if isinstance(dtype, pd.ArrowDtype):
        return values.astype("double[pyarrow]")
    if pd.api.types.is_extension_array_dtype(dtype) and dtype.kind in "iuf":
        return values.astype("Float64")
    return values


def _own_column(fresh: Any, taken: Any, column: Any, same: bool) -> Any:
    """A column of polars or another library: new, unless that would change the type of an unchanged one.

    Rows taken from a polars column of text would keep all texts of the source, in their order.
    """
    import narwhals.stable.v1 as nw

    kind = taken.to_native().dtype
    if type(kind).__name__ == "Enum" and pa.types.is_dictionary(column.type):
        left = type(kind)(column.chunk(0).dictionary.to_pylist())
        return nw.from_native(fresh.to_native().cast(left), series_only=True)
    if not same or fresh.to_native().dtype == kind:
        return fresh
    return _in_own_type(fresh.to_native(), taken.to_native(), nw)


def _in_own_type(fresh: Any, taken: Any, nw: Any) -> Any:
    """The new column in the source's type, which has nothing under its nulls; if it cannot be converted,
    the rows taken from the source.
    """
    try:
        made = fresh.cast(taken.dtype)
        as_well = made.dtype == taken.dtype and made.equals(taken)
    except Exception:  # libraries raise different errors for types that they cannot convert
        as_well = False
    return nw.from_native(made if as_well else taken, series_only=True)


def _duckdb_relation(table: pa.Table) -> Any:
    import duckdb

    return duckdb.from_arrow(table)


def _to_other(native: Any, released: pa.Table, rows: NDArray[np.int64], same: list[str]) -> Any:
    import narwhals.stable.v1 as nw

    released = without_hidden_values(released)
    if nw.dependencies.is_duckdb_relation(native):
        return _duckdb_relation(released)
    if isinstance(native, pa.Table):
        return released
    if isinstance(native, pa.RecordBatch):
        return released.combine_chunks().to_batches()[0]
    frame: Any = frame_of(native)
    backend = frame.implementation
    taken = frame[rows]
    fresh = nw.from_arrow(released, backend=backend)
    columns = [
        _own_column(fresh[name], taken[name], released.column(name), name in same)
        for name in released.column_names
    ]
    result = taken.select(*columns)
    return result.lazy().to_native() if _is_lazy(native) else result.to_native()
