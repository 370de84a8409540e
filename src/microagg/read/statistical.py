"""Stata, SPSS and SAS -> Arrow table and labels, by pyreadstat."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from microagg import wording
from microagg.arrow_types import DATES, is_number
from microagg.calendars import CALENDARS, kind_of, program_of
from microagg.columns import in_ranges
from microagg.model import StatisticalLabels
from microagg.verdict import Finding, note

READERS = {
    "Stata": "read_dta",
    "SPSS": "read_sav",
    "SPSS portable": "read_por",
    "SAS": "read_sas7bdat",
    "SAS transport": "read_xport",
}
"""pyreadstat's function for each format."""

_WITH_USER_MISSING = ("Stata", "SPSS", "SAS")
_TRANSPORT_RECORD = 80  # bytes; SAS pads the last one


def read_statistical(
    path: Path, name: str, kind: str
) -> tuple[pa.Table, StatisticalLabels, tuple[Finding, ...]]:
    """Read all columns, their labels and formats, and notes on what was lost.

    `name` is what messages call the file. Values stay coded, with the user-missing codes of SPSS; extended
    missing values (.a to .z) are null like the ordinary one. Dates get Arrow's types where nothing is lost
    by that.
    """
    try:
        import pyreadstat
    except ImportError:
        raise wording.needs_extra(f"Reading {kind} files", "pyreadstat", "formats") from None
    if _is_cut_short(path, kind):
        raise wording.unreadable_content(name, kind)
    options = {"user_missing": True} if kind in _WITH_USER_MISSING else {}
    try:
        columns, meta = getattr(pyreadstat, READERS[kind])(
            str(path), output_format="dict", disable_datetime_conversion=True, **options
        )
        labels = _labels(meta)
        typed = [_column(column, values, meta, kind) for column, values in columns.items()]
    except (MemoryError, OSError):
        raise
    except Exception:  # a broken file may raise anything, with a message that quotes values
        raise wording.unreadable_content(name, kind) from None
    table = pa.Table.from_arrays([array for _, array in typed], schema=pa.schema([f for f, _ in typed]))
    extended = [column for column, values in meta.missing_user_values.items() if values]
    return table, labels, (note("extended_missing", *extended),) if extended else ()


def without_missing_codes(table: pa.Table, labels: StatisticalLabels) -> pa.Table:
    """Set the codes to null that the file declares as missing."""
    for name, ranges in labels.missing_ranges.items():
        at = table.schema.get_field_index(name)
        if at < 0 or not is_number(table.schema.types[at]):
            continue
        values = table.column(at).cast(pa.float64(), safe=False)
        numbers = values.to_numpy()
        array = pa.array(numbers, pa.float64(), mask=np.isnan(numbers) | in_ranges(numbers, ranges))
        table = table.set_column(at, table.schema.field(at).with_type(pa.float64()), array)
    return table


def _labels(meta: Any) -> StatisticalLabels:
    return StatisticalLabels(
        file_label=meta.file_label or "",
        column_labels={name: text for name, text in meta.column_names_to_labels.items() if text},
        value_labels={name: dict(texts) for name, texts in meta.variable_value_labels.items()},
        formats={name: text for name, text in meta.original_variable_types.items() if text},
        missing_ranges={name: list(entries) for name, entries in meta.missing_ranges.items()},
        measures=dict(meta.variable_measure),
        display_widths=dict(meta.variable_display_width),
        notes=tuple(meta.notes or ()),
        table_name=meta.table_name or "",
    )


def _column(name: str, values: Sequence[Any], meta: Any, kind: str) -> tuple[pa.Field[Any], pa.Array[Any]]:
    stored = meta.readstat_variable_types.get(name, "")
    if stored.startswith("string"):
        text = pa.array([None if value is None else str(value) for value in values], pa.large_string())
        return pa.field(name, text.type), text
    if meta.missing_user_values.get(name):  # letters among numbers
        values = [None if isinstance(value, str) else value for value in values]
    array: pa.Array[Any] = pa.array(values, pa.float64(), from_pandas=True)
    program = program_of(kind)
    dates = kind_of(meta.original_variable_types.get(name) or "", program) if program else None
    if program and dates:
        numbers = array.to_numpy(zero_copy_only=False)
        moments = None if dates == "other" else CALENDARS[program].from_numbers(numbers, dates)
        if moments is None:
            return pa.field(name, array.type, metadata={DATES: b"1"}), array
        array = moments
    elif stored.startswith("int"):
        array = array.cast(pa.int64())
    return pa.field(name, array.type), array


def _is_cut_short(path: Path, kind: str) -> bool:
    """Whether the end of the file is missing: pyreadstat would return the records before it silently."""
    size = path.stat().st_size
    if kind == "SAS transport":
        return size % _TRANSPORT_RECORD != 0
    with path.open("rb") as file:
        beginning = file.read(11)
        file.seek(max(size - 100, 0))
        end = file.read().rstrip()
    if kind == "SPSS portable":
        return not end.endswith(b"Z")
    return beginning == b"<stata_dta>" and not end.endswith(b"</stata_dta>")
