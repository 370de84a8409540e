"""Arrow table and labels -> Stata, SPSS, SAS transport, by pyreadstat."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import compute

from microagg import wording
from microagg.arrow_types import is_number
from microagg.calendars import CALENDARS, program_of
from microagg.model import Origin, StatisticalLabels
from microagg.write.columns import to_basic_type
from microagg.write.display import widen_format

_NO_LABELS = StatisticalLabels()
# Stata's smallest and largest "long"; what is above means missing.
_SMALLEST_LONG, _LARGEST_LONG = -2_147_483_647, 2_147_483_620


@dataclass(frozen=True, slots=True)
class _Limits:
    names: str
    """Regular expression for the names of columns."""
    names_described: str
    text_bytes: int
    """Of the longest text."""


_LIMITS = {
    "Stata": _Limits(
        r"[^\W\d]\w{0,31}", "at most 32 letters, digits and underscores, no digit first", 2_000_000_000
    ),
    "SPSS": _Limits(
        r"[^\W\d_][\w.$#@]{0,63}", "at most 64 letters, digits and _ . $ # @, a letter first", 32_767
    ),
    "SAS transport": _Limits(
        r"[A-Za-z_][A-Za-z0-9_]{0,31}",
        "at most 32 letters A to Z, digits and underscores, no digit first",
        32_767,
    ),
}
_OLD_TRANSPORT = _Limits(r"[A-Za-z_][A-Za-z0-9_]{0,7}", "", 200)
_OLD_TRANSPORT_LABEL = 40


def write_statistical(
    table: pa.Table,
    to: Path,
    path: str,
    kind: str,
    origin: Origin,
    changed: frozenset[str],
    zipped: bool = False,
) -> None:
    """Write the table with the labels of its source; messages call the file `path`.

    `DataError` for what the format cannot hold.
    """
    try:
        import pandas as pd  # noqa: F401  (what the writers take)
        import pyreadstat
    except ImportError:
        raise wording.needs_extra(f"Writing {kind} files", "pyreadstat and pandas", "formats") from None

    prepared = _Prepared.of(table, kind, origin, changed)
    writers: dict[str, Callable[..., None]] = {
        "Stata": pyreadstat.write_dta,
        "SPSS": pyreadstat.write_sav,
        "SAS transport": pyreadstat.write_xport,
    }
    options = prepared.options(kind, zipped)
    try:
        writers[kind](prepared.frame, str(to), **options)
    except OSError:
        raise
    except Exception as error:  # pyreadstat's own, whose message may quote values
        if "unable to write" in str(error).lower():  # without a reason: usually the disk is full
            raise wording.cannot_write(path, "the disk may be full") from None
        raise wording.refused_by_writer(path, kind) from None


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A table as pyreadstat's writers take it."""

    frame: Any
    """A pandas frame."""
    labels: StatisticalLabels
    formats: Mapping[str, str]
    longest: Mapping[str, int]
    """Bytes of the longest text of each column of text."""

    @classmethod
    def of(cls, table: pa.Table, kind: str, origin: Origin, changed: frozenset[str]) -> _Prepared:
        import pandas as pd

        program = program_of(kind)
        if program is None:
            raise wording.contract_broken("write", f"{kind} is no statistical format")
        limits = _LIMITS[kind]
        wrong = [name for name in table.column_names if not re.fullmatch(limits.names, name)]
        if wrong:
            raise wording.bad_names_for(kind, wrong, limits.names_described)
        same = program_of(origin.format) == program
        labels = _labels_kept(origin.labels or _NO_LABELS, table, changed)
        formats: dict[str, str] = {}
        longest: dict[str, int] = {}
        columns: dict[str, Any] = {}
        for name in table.column_names:
            column = to_basic_type(table.column(name), name, kind)
            shown = labels.formats.get(name) if same else None
            column, shown = _dates_to_numbers(column, shown, program)
            if _is_text(column):
                longest[name] = _longest_text_bytes(column)
                if longest[name] > limits.text_bytes:
                    raise wording.text_too_long_for(kind, name, limits.text_bytes)
            if name in changed:
                shown = None if _is_text(column) else widen_format(column, shown, program)
            if shown:
                formats[name] = shown
            labelled = kind == "Stata" and name in labels.value_labels
            columns[name] = _labelled_series(column) if labelled else _series(column)
        return cls(pd.DataFrame(columns), labels, formats, longest)

    def options(self, kind: str, zipped: bool) -> dict[str, Any]:
        """Arguments of pyreadstat's writer for this format."""
        labels = self.labels
        common: dict[str, Any] = {
            "file_label": labels.file_label,
            "column_labels": dict(labels.column_labels),
            "variable_format": dict(self.formats),
        }
        if kind == "SAS transport":
            version = 5 if self._fits_old_transport() else 8
            return common | {"table_name": labels.table_name or None, "file_format_version": version}
        common["variable_value_labels"] = {
            name: _labels_of_codes(texts, self.frame[name])
            for name, texts in labels.value_labels.items()
            if kind != "Stata" or self.frame[name].dtype.kind == "i"  # Stata labels whole numbers only
        }
        if kind == "Stata":
            return common
        return common | {
            "compress": zipped,
            "row_compress": not zipped,
            "note": list(labels.notes),
            "missing_ranges": {name: list(entries) for name, entries in labels.missing_ranges.items()},
            "variable_display_width": dict(labels.display_widths),
            "variable_measure": dict(labels.measures),
        }

    def _fits_old_transport(self) -> bool:
        """Whether version 5 suffices, which more programs can read."""
        return (
            all(re.fullmatch(_OLD_TRANSPORT.names, name) for name in self.frame.columns)
            and all(length <= _OLD_TRANSPORT.text_bytes for length in self.longest.values())
            and all(
                len(text.encode()) <= _OLD_TRANSPORT_LABEL for text in self.labels.column_labels.values()
            )
            and len(self.labels.table_name) <= 8
        )


def _labels_kept(labels: StatisticalLabels, table: pa.Table, changed: frozenset[str]) -> StatisticalLabels:
    """The labels that still apply to the released columns: changed codes have lost their meaning."""
    there = set(table.column_names)
    numbers = {field.name for field in table.schema if is_number(field.type)}
    same = there - changed
    return StatisticalLabels(
        labels.file_label,
        {name: text for name, text in labels.column_labels.items() if name in there},
        {name: texts for name, texts in labels.value_labels.items() if name in same},
        {name: text for name, text in labels.formats.items() if name in there},
        # A mean may fall on a code that is declared as missing.
        {name: entries for name, entries in labels.missing_ranges.items() if name in same},
        # What was masked is an amount, whatever it was before, unless merged codes have become text.
        {
            name: text if name in same else "scale"
            for name, text in labels.measures.items()
            if name in same or (name in there and name in numbers and text != "unknown")
        },
        {name: width for name, width in labels.display_widths.items() if name in same and width > 0},
        labels.notes,
        labels.table_name,
    )


def _dates_to_numbers(
    column: pa.ChunkedArray[Any], shown: str | None, program: str
) -> tuple[pa.ChunkedArray[Any], str | None]:
    """Dates as the program's numbers, with a format that shows them as dates."""
    if not pa.types.is_temporal(column.type):
        return column, shown
    calendar = CALENDARS[program]
    numbers, kind = calendar.to_numbers(column)
    return numbers, shown or calendar.formats[kind]


def _is_text(column: pa.ChunkedArray[Any]) -> bool:
    return pa.types.is_large_string(column.type)


def _longest_text_bytes(column: pa.ChunkedArray[Any]) -> int:
    return int(compute.max(compute.binary_length(column)).as_py() or 0)


def _to_integers_if_possible(column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    """Doubles as integers, if none has decimals."""
    if not pa.types.is_floating(column.type):
        return column
    try:
        return pa.chunked_array([pa.array(column.to_numpy(), from_pandas=True).cast(pa.int64())])
    except pa.ArrowException:
        return column


def _series(column: pa.ChunkedArray[Any]) -> Any:
    """Values as pyreadstat's writers take them: text objects, doubles, or 32-bit integers."""
    import pandas as pd

    if _is_text(column):
        # These formats have no missing text, only empty text.
        return pd.Series(["" if text is None else text for text in column.to_pylist()], dtype=object)
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int64())
    if pa.types.is_integer(column.type):
        least, most = compute.min(column).as_py() or 0, compute.max(column).as_py() or 0
        if least >= _SMALLEST_LONG and most <= _LARGEST_LONG:
            values = column.to_pandas(integer_object_nulls=True)
            # pyreadstat writes wider types as doubles, and narrower ones as this.
            return values.astype("Int32" if column.null_count else "int32")
        column = column.cast(pa.float64(), safe=False)
    return pd.Series(column.to_numpy())


def _labelled_series(column: pa.ChunkedArray[Any]) -> Any:
    """The same for a column with value labels, which pyreadstat accepts for integers only.

    Doubles become 64-bit integers, which pyreadstat writes as doubles: they stay doubles in the file.
    """
    whole = _series(_to_integers_if_possible(column))
    if whole.dtype.kind == "i" and _series(column).dtype.kind != "i":
        return whole.astype("Int64" if column.null_count else "int64")
    return whole


def _labels_of_codes(texts: Mapping[Any, str], column: Any) -> dict[Any, str]:
    """Labelled codes in the type of their column, without the letters of extended missing values."""
    kind = column.dtype.kind
    if kind == "O":
        return {str(code): text for code, text in texts.items()}
    numbers = {code: text for code, text in texts.items() if isinstance(code, int | float)}
    if kind != "i":
        return numbers
    return {int(code): text for code, text in numbers.items() if float(code).is_integer()}
