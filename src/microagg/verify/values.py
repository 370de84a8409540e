"""Values of Arrow columns of any type: equal or not, and as numbers."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds
from numpy.typing import NDArray
from pyarrow import csv

from microagg.arrow_values import from_numbers, from_numpy, from_texts, in_one_piece, scalar, to_numpy

Mask = NDArray[np.bool_]
"""One for each record."""


def plain(column: Any) -> Any:
    """The column in one piece; dictionaries and extensions become what they stand for."""
    if column.type == pa.float64():  # by far the most often
        return in_one_piece(column)
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.cast(column.type.storage_type)
    if kinds.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if kinds.is_string(column.type) or str(column.type) == "string_view":
        column = column.cast(pa.large_string())  # in one piece, text may exceed 32-bit offsets
    elif kinds.is_float16(column.type):
        column = column.cast(pa.float32())
    return in_one_piece(column)


def is_text(kind: pa.DataType) -> bool:
    return kinds.is_large_string(kind)


def is_numeric(kind: pa.DataType) -> bool:
    """Of a plain column: numbers, not booleans."""
    return kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind)


def missing(array: Any) -> Mask:
    if not array.null_count:
        return np.zeros(len(array), dtype=bool)
    return to_numpy(array.is_null())


def bits(array: Any) -> NDArray[np.int64] | None:
    """A whole number for each value of a plain column of numbers, dates or times; None for other types.

    Equal exactly where the values are, to the last bit; -0.0 is not 0.0, but every NaN is the same.
    Null is 0, like others.
    """

    kind = array.type
    if kinds.is_floating(kind):
        values = to_numpy(array.fill_null(scalar(0.0, kind)) if array.null_count else array)
        if np.isnan(values).any():
            values = np.where(np.isnan(values), np.array(np.nan, values.dtype), values)
        return np.asarray(values.view(f"i{values.dtype.itemsize}"), dtype=np.int64)
    if kinds.is_temporal(kind) and not kinds.is_interval(kind):
        array = array.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    elif not kinds.is_integer(kind):
        return None
    values = to_numpy(array.fill_null(scalar(0, array.type)) if array.null_count else array)
    return np.asarray(values.view(np.int64) if values.dtype == np.uint64 else values, dtype=np.int64)


def differing(one: Any, other: Any) -> Mask:
    """Where two plain columns of one type have different values; null is equal to null, NaN to NaN."""
    gone, gone_too = missing(one), missing(other)
    left, right = bits(one), bits(other)
    if left is not None and right is not None:
        return np.asarray((gone != gone_too) | (~gone & (left != right)))
    try:
        same = to_numpy(pc.equal(one, other).fill_null(scalar(False, pa.bool_())))
    except pa.ArrowNotImplementedError:  # lists and structures
        pairs = zip(one.to_pylist(), other.to_pylist(), strict=True)
        same = np.array([repr(value) == repr(as_well) for value, as_well in pairs], dtype=bool)
    return np.asarray(~same.astype(bool) & ~(gone & gone_too))


def as_doubles(array: Any) -> Any:
    """A plain column of numbers as doubles, decimals as the nearest ones."""
    if kinds.is_decimal(array.type):  # Arrow's direct cast may be off by a bit
        array = array.cast(pa.large_string())
    return array.cast(pa.float64(), safe=False)


def numbers(column: Any) -> NDArray[np.float64] | None:
    """A column as numbers, NaN where it is null; None if it holds no numbers."""
    array = plain(column)
    if array.type == pa.float64():
        return to_numpy(array)
    if not is_numeric(array.type):
        return None
    return np.asarray(to_numpy(as_doubles(array)), dtype=np.float64)


def as_understood(column: Any) -> Any:
    """A plain column in which values that mean the same are the same, however they are written.

    In text, spelling does not count (see `as_read`), 5 is 5.0, and texts that mean a missing number are
    missing; -0.0 is 0.0, and NaN is missing.
    """

    array = plain(column)
    if pa.types.is_floating(array.type):
        values = to_numpy(array)
        return from_numbers(values + values.dtype.type(0))
    if not is_text(array.type):
        return array
    texts = pc.utf8_trim_whitespace(array)
    texts = pc.if_else(pc.is_in(texts, value_set=_MISSING_TEXTS), scalar(None, texts.type), texts)
    found = numbers_in(texts)
    if found is not None and np.nanmax(np.abs(found), initial=0.0) < _EXACT:
        return from_numbers(found + 0.0)
    encoded = texts.dictionary_encode()
    meant = from_texts(map(_meaning_of_text, encoded.dictionary.to_pylist()))
    return meant.take(encoded.indices)


MISSING_TEXTS = tuple(csv.ConvertOptions().null_values or ())
"""What a reader of CSV files takes for a missing number."""
_MISSING_TEXTS = from_texts(MISSING_TEXTS)

_EXACT = 2.0**53
"""Larger whole numbers may become the same double though they differ."""

_NUMBER = re.compile(r"[-+]?(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?")


_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u2800") | frozenset(
    map(chr, range(0xFE00, 0xFE10))
)
"""Signs without a width, or blank ones, which their category does not show."""


def as_read(text: str) -> str:
    """What a reader takes a text for.

    That is: one of all forms of its letters (NFKC), without capitals, without signs that have no width, and
    without blanks around it and repeated ones inside.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    seen = (sign for sign in folded if sign.isspace() or not _is_unseen(sign))
    return " ".join("".join(seen).split())


def _is_unseen(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cf", "Cc") or sign in _UNSEEN


def spellings(column: Any) -> tuple[int, int]:
    """How many different texts that are no numbers a column has, and how many of them read differently."""
    array = plain(column)
    if not is_text(array.type) or numbers_in(array) is not None:
        return 0, 0
    texts = [text for text in pc.unique(pc.utf8_trim_whitespace(array)).to_pylist() if text]
    read = [as_read(text) for text in texts]
    no_numbers = [text for text in read if not _NUMBER.fullmatch(text)]
    return len(no_numbers), len(set(no_numbers))


def _meaning_of_text(text: str) -> str | None:
    text = as_read(text)
    if not _NUMBER.fullmatch(text):
        return text or None
    number = float(text.replace(",", ".")) + 0.0
    return repr(number) if abs(number) < _EXACT else text


def numbers_in(column: Any) -> NDArray[np.float64] | None:
    """Like `numbers`, also of text, as columns of a CSV file are; with decimal commas if that is needed."""
    array = plain(column)
    if not is_text(array.type):
        return numbers(array)
    texts = pc.utf8_trim_whitespace(array)
    for comma in (False, True):
        try:
            return numbers((pc.replace_substring(texts, ",", ".") if comma else texts).cast(pa.float64()))
        except pa.ArrowInvalid:
            continue
    return None


def rank_correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Spearman's, over the records that have both values; 0 where one of them does not vary."""
    present = ~np.isnan(one) & ~np.isnan(other)
    if present.sum() < 3:
        return 0.0
    ranks = [_ranks(each[present]) for each in (one, other)]
    first, second = (each - each.mean() for each in ranks)
    size = float(np.sqrt((first @ first) * (second @ second)))
    return float(first @ second) / size if size > 0.0 else 0.0


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """0, 1, … by rising value, the same for equal ones."""
    if (values[1:] > values[:-1]).all():
        return np.arange(len(values), dtype=np.float64)
    encoded = from_numpy(values + 0.0).dictionary_encode()  # -0.0 is 0.0
    ranks = np.empty(len(encoded.dictionary))
    ranks[np.argsort(to_numpy(encoded.dictionary))] = np.arange(len(ranks))
    return np.asarray(ranks[to_numpy(encoded.indices)])
