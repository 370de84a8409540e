"""Columns of an Arrow table: select them, and check their names and their text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from microagg import wording
from microagg.arrow_types import convert_to_usual_types, is_text
from microagg.formats.first_row import numbered_names
from microagg.model import positions_of

NAME_OF_ROW_NUMBERS = numbered_names(1)[0]


def refuse_duplicates(names: Sequence[str]) -> None:
    duplicates = [name for name, times in Counter(names).items() if times > 1]
    if duplicates:
        raise wording.duplicate_columns(duplicates)


def select_columns(
    table: pa.Table, columns: Sequence[str] | None, header_row: int | None = None
) -> pa.Table:
    """Select columns by name (default: all), check all names, and convert to usable types.

    `header_row`: the row that the names come from, in files for which it can be chosen.
    """
    try:
        refuse_duplicates([name for name in table.column_names if name])
    except UnicodeDecodeError:  # its message holds the name
        raise wording.names_not_utf_8() from None
    if columns is not None:
        table = table.select(positions_of(columns, table.column_names))
    elif header_row is not None:
        table = _name_row_numbers(table)
    if "" in table.column_names:
        next_row = None if header_row is None else header_row + 1
        raise wording.unnamed_column(table.column_names.index("") + 1, next_row)
    _refuse_invalid_utf_8(table)
    return convert_to_usual_types(table)


def _name_row_numbers(table: pa.Table) -> pa.Table:
    """R and pandas write row numbers into a first column without a name: it is called column1, and gets a
    role as any other.
    """
    names = table.column_names
    if names[:1] == [""] != names and NAME_OF_ROW_NUMBERS not in names and _counts_rows(table.column(0)):
        return table.rename_columns([NAME_OF_ROW_NUMBERS, *names[1:]])
    return table


def _counts_rows(column: Any) -> bool:
    """Whether it holds 0, 1, 2, … or 1, 2, 3, …, of which one alone would say nothing."""
    if len(column) < 2:
        return False
    try:
        numbers = column.cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    counted = np.arange(len(numbers), dtype=np.int64)
    return any(numbers.equals(pa.chunked_array([counted + first], pa.int64())) for first in (0, 1))


def _refuse_invalid_utf_8(table: pa.Table) -> None:
    """`DataError` for text that is not UTF-8: Arrow accepts its bytes unchecked, other programs do not."""
    for field, column in zip(table.schema, table.columns, strict=True):
        if not _holds_text(field.type):
            continue
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:  # its message may quote values
            raise wording.not_utf_8(field.name) from None


def _holds_text(kind: Any) -> bool:
    """Whether there is text in values of this type, at any depth."""
    if isinstance(kind, pa.BaseExtensionType):
        return _holds_text(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return _holds_text(kind.value_type)
    if pa.types.is_nested(kind):
        return any(_holds_text(kind.field(at).type) for at in range(kind.num_fields))
    return is_text(kind)
