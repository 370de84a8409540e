"""Arrow arrays made of NumPy or Python values, and back, without pandas.

PyArrow's own `pa.array`, `pa.scalar` and `to_numpy` import pandas wherever that is installed, which takes
longer than protecting a small file. These functions use Arrow's buffers, and their results are the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_DTYPES = {
    **{f"{sign}int{bits}": np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "halffloat": np.dtype(np.float16),
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
}
_KINDS = {dtype: pa.from_numpy_dtype(dtype) for dtype in _DTYPES.values()}


def in_one_piece(column: pa.Array[Any] | pa.ChunkedArray[Any]) -> Any:
    """The column as one array, which is copied only if it has several chunks."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def to_numpy(column: pa.Array[Any] | pa.ChunkedArray[Any]) -> NDArray[Any]:
    """What `column.to_numpy(zero_copy_only=False)` returns: a missing number is NaN."""
    array = in_one_piece(column)
    dtype = _DTYPES.get(str(array.type))
    if dtype is None:
        if pa.types.is_boolean(array.type) and not array.null_count:
            return _bits(array.buffers()[1], array.offset, len(array))
        result: NDArray[Any] = array.to_numpy(zero_copy_only=False)
        return result
    if not len(array):
        return np.empty(0, dtype)
    valid, data = array.buffers()
    values = np.frombuffer(data, dtype, len(array), array.offset * dtype.itemsize)
    if not array.null_count:
        return values
    numbers = values.astype(dtype if dtype.kind == "f" else np.float64)
    numbers[~_bits(valid, array.offset, len(array))] = np.nan
    return numbers


def is_missing(array: pa.Array[Any]) -> NDArray[np.bool_]:
    return to_numpy(array.is_null())


def from_numpy(
    values: NDArray[Any], kind: pa.DataType | None = None, mask: NDArray[np.bool_] | None = None
) -> pa.Array[Any]:
    """What `pa.array(values, kind, mask=mask)` returns, for an array of numbers or bools."""
    valid = None if mask is None or not mask.any() else _bitmap(~mask)
    if values.dtype == np.bool_:
        own: pa.DataType = pa.bool_()
        data = _bitmap(values)
    else:
        own = _KINDS[values.dtype]
        data = _buffer(np.ascontiguousarray(values))
    array = pa.Array.from_buffers(own, len(values), [valid, data])
    return array if kind is None or kind == own else array.cast(kind)


def as_doubles(column: Any) -> Any:
    """A column of numbers as doubles, decimals as the nearest: Arrow's own cast may be off by a bit."""
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.large_string())
    return column.cast(pa.float64(), safe=False)


def from_numbers(values: NDArray[Any]) -> pa.Array[Any]:
    """Doubles as an Arrow array in which NaN is null."""
    return from_numpy(values, mask=np.isnan(values))


def from_texts(texts: Iterable[str | None]) -> pa.Array[Any]:
    """An array of `large_string`; `UnicodeEncodeError` for unpaired surrogates."""
    encoded = [None if text is None else text.encode() for text in texts]
    present = np.array([text is not None for text in encoded], dtype=bool)
    lengths = [0 if text is None else len(text) for text in encoded]
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)
    data = b"".join(text for text in encoded if text is not None)
    valid = None if present.all() else _bitmap(present)
    buffers = [valid, _buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(encoded), buffers)


def scalar(value: str | float | bool | None, kind: Any) -> Any:
    """What `pa.scalar(value, kind)` returns."""
    if value is None:
        return pa.nulls(1, kind)[0]
    if isinstance(value, str):
        return from_texts([value]).cast(kind)[0]
    return from_numpy(np.array([value]), kind)[0]


def _bits(buffer: Any, offset: int, n: int) -> NDArray[np.bool_]:
    first, skipped = divmod(offset, 8)
    packed = np.frombuffer(buffer, np.uint8, -(-(skipped + n) // 8), first) if n else np.empty(0, np.uint8)
    return np.unpackbits(packed, bitorder="little")[skipped : skipped + n].view(np.bool_)


def _bitmap(flags: NDArray[np.bool_]) -> pa.Buffer:
    return _buffer(np.packbits(flags, bitorder="little"))


def _buffer(values: Any) -> pa.Buffer:
    return pa.py_buffer(values)
