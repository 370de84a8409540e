"""Stata files, by pandas."""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow.types as kinds

from microagg.arrow_values import to_numpy
from microagg.model import Microdata
from microagg.verify.second_reading.differences import Differences
from microagg.verify.values import Mask, is_text, missing, numbers, plain

_DAYS_BEFORE_1970 = 3653
"""Stata counts from 1960."""
_DAY = 86_400_000_000
"""Microseconds."""


def compare_stata(file: BinaryIO, source: Microdata) -> Differences:
    table = source.table
    try:
        frame = pd.read_stata(file, convert_dates=False, convert_categoricals=False, preserve_dtypes=True)
    except (ValueError, KeyError, IndexError, OverflowError):
        return Differences(rows=(table.num_rows, 0))
    if list(frame.columns) != table.column_names:
        return Differences(names=True)
    if len(frame) != table.num_rows:
        return Differences(rows=(table.num_rows, len(frame)))
    found = Differences()
    for name in table.column_names:
        found.cells[name] = int(_differs_in_file(plain(table.column(name)), frame[name]).sum())
    return found


def _differs_in_file(array: Any, series: Any) -> Mask:
    if is_text(array.type):
        pairs = zip(array.to_pylist(), series.tolist(), strict=True)
        return np.array([(one or "") != (other or "") for one, other in pairs], dtype=bool)
    if series.dtype.kind not in "iuf":
        return np.ones(len(array), dtype=bool)
    read = series.to_numpy(dtype=np.float64)
    gone = missing(array)
    if kinds.is_temporal(array.type):
        read, own = np.where(np.isnan(read), 0.0, read), np.isnan(read)
        return np.asarray(
            (gone != own) | (~gone & (_microseconds_of(array) != _microseconds_in_file(read, array.type)))
        )
    own_values = numbers(array)
    if own_values is None:
        return np.ones(len(array), dtype=bool)
    return np.asarray((gone != np.isnan(read)) | (~gone & (own_values != read)))


def _microseconds_of(array: Any) -> Any:
    """Since 1970, or since midnight."""
    width = array.type.bit_width
    counted = to_numpy(array.view("int32" if width == 32 else "int64").fill_null(0)).astype(np.int64)
    return counted * _DAY if kinds.is_date32(array.type) else counted


def _microseconds_in_file(read: Any, kind: Any) -> Any:
    """The same of what stands in the file: days, or milliseconds."""
    if kinds.is_date(kind):
        return (np.rint(read).astype(np.int64) - _DAYS_BEFORE_1970) * _DAY
    start = 0 if kinds.is_time(kind) else _DAYS_BEFORE_1970 * _DAY
    return np.rint(read * 1000.0).astype(np.int64) - start
