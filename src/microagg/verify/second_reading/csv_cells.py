"""CSV files, by Python's csv module."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from threading import Lock
from typing import Any, BinaryIO

import numpy as np
import pyarrow.compute as pc

from microagg.arrow_values import scalar, to_numpy
from microagg.model import Microdata
from microagg.verify.second_reading.differences import Differences
from microagg.verify.values import plain

_ROWS_AT_ONCE = 1 << 10
_limit = Lock()


def compare_csv(file: BinaryIO, source: Microdata) -> Differences:
    """Compare all cells, a block of rows at a time: an empty field is a missing value."""
    found = Differences()
    table, origin = source.table, source.origin
    names = table.column_names
    assert origin.csv is not None
    encoding = origin.csv.encoding or "utf-8"
    text = io.TextIOWrapper(file, "utf-8-sig" if encoding == "utf-8" else encoding, newline="")
    read = 0
    try:
        with _fields_of_any_length():
            for _ in range((origin.layout.header_row or 1) - 1):
                text.readline()
            rows = (row for row in csv.reader(text, delimiter=origin.csv.delimiter or ",") if row)
            first = next(rows, [])
            if names_of([name.strip().removeprefix("\ufeff") for name in first]) == names:
                first = []
            elif origin.layout.header != "no" or names != _made_names(len(first)):
                return Differences(names=True)
            for block in _blocks_of_rows(first, rows):
                part = table.slice(read, len(block))
                read += len(block)
                if part.num_rows != len(block) or any(len(row) != len(names) for row in block):
                    return Differences(rows=(table.num_rows, read + sum(1 for _ in rows)))
                for name, cells in zip(names, zip(*block, strict=True), strict=True):
                    found.cells[name] += _differing_cells(part.column(name), cells)
    except (UnicodeError, csv.Error):
        return Differences(rows=(table.num_rows, read))
    finally:
        text.detach()  # else it would close the file
    return found if read == table.num_rows else Differences(rows=(table.num_rows, read))


def _blocks_of_rows(first: list[str], rows: Iterator[list[str]]) -> Iterator[list[list[str]]]:
    block = [first] if first else []
    block += islice(rows, _ROWS_AT_ONCE)
    while block:
        yield block
        block = list(islice(rows, _ROWS_AT_ONCE))


def _made_names(count: int) -> list[str]:
    """Names of columns that have none in the file."""
    return [f"column{at}" for at in range(1, count + 1)]


def names_of(first_row: list[str]) -> list[str]:
    """A first column of row numbers may have no name; it is called as in files without any names."""
    has_row_numbers = len(first_row) > 1 and not first_row[0]
    return ["column1", *first_row[1:]] if has_row_numbers else first_row


def _differing_cells(column: Any, cells: Sequence[str]) -> int:
    """How many cells are not what the column holds.

    Texts of the same lengths that are the same in a row are the same one by one.
    """
    array = plain(column)
    if array.null_count:
        array = array.fill_null(scalar("", array.type))
    lengths = np.fromiter(map(len, cells), np.int64, len(cells))
    if np.array_equal(to_numpy(pc.utf8_length(array)), lengths) and _bytes(array) == "".join(cells).encode(
        errors="replace"
    ):
        return 0
    return sum(one != other for one, other in zip(array.to_pylist(), cells, strict=True))


def _bytes(array: Any) -> bytes:
    """The bytes of all texts of a plain column without nulls, one after the other."""
    offsets, data = array.buffers()[1:]
    if data is None or not len(array):
        return b""
    ends = np.frombuffer(offsets, np.int64, len(array) + 1, array.offset * 8)
    # Comparing a view would be much slower: Python compares its elements one by one.
    return memoryview(data)[ends[0] : ends[-1]].tobytes()


@contextmanager
def _fields_of_any_length() -> Iterator[None]:
    """The limit of Python's module is one for the whole process."""
    with _limit:
        before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
        try:
            yield
        finally:
            csv.field_size_limit(before)
