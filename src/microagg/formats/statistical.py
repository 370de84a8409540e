"""Stata, SPSS and SAS, by pyreadstat: tables with labels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from microagg import wording
from microagg.arrow_types import DATES, is_number, to_basic_type
from microagg.arrow_values import to_numpy
from microagg.formats.calendars import CALENDARS, date_kind_of
from microagg.formats.format import Content, Format, Output, Source
from microagg.model import StatisticalLabels
from microagg.verdict import note

_TRANSPORT_RECORD = 80  # bytes; SAS pads the last one
# Stata's smallest and largest "long"; what is above means missing.
_SMALLEST_LONG, _LARGEST_LONG = -2_147_483_647, 2_147_483_620


@dataclass(frozen=True, slots=True)
class _Limits:
    names: str
    """Regular expression for the names of columns."""
    names_described: str
    text_bytes: int
    """Of the longest text."""


_OLD_TRANSPORT = _Limits(r"[A-Za-z_][A-Za-z0-9_]{0,7}", "", 200)
_OLD_TRANSPORT_LABEL = 40
_MOST_DECIMALS_SHOWN, _MOST_WIDTH = 6, 40
"""Of SPSS."""


@dataclass(frozen=True, slots=True)
class _Statistical:
    """One of the formats, and what pyreadstat has for it."""

    name: str
    program: str
    """A key of `CALENDARS`."""
    reader: str
    user_missing: bool = False
    """Whether the reader can keep codes that are declared as missing."""
    writer: str = ""
    limits: _Limits | None = None
    """Of what is written."""

    def read(self, source: Source) -> Content:
        """Read all columns, their labels and formats, and notes on what was lost.

        Values stay coded, with the user-missing codes of SPSS; extended missing values (.a to .z) are null
        like the ordinary one. Dates get Arrow's types where nothing is lost by that.
        """
        try:
            import pyreadstat
        except ImportError:
            raise wording.needs_extra(f"Reading {self.name} files", "pyreadstat", "formats") from None
        path = source.openable
        if _is_cut_short(path, self.name):
            raise wording.unreadable_content(source.name, self.name)
        options = {"user_missing": True} if self.user_missing else {}
        try:
            columns, meta = getattr(pyreadstat, self.reader)(
                str(path), output_format="dict", disable_datetime_conversion=True, **options
            )
            labels = _labels_of_file(meta)
            typed = [
                _field_and_values(column, values, meta, self.program) for column, values in columns.items()
            ]
        except (MemoryError, OSError):
            raise
        except Exception:  # a broken file may raise anything, with a message that quotes values
            raise wording.unreadable_content(source.name, self.name) from None
        table = pa.Table.from_arrays(
            [array for _, array in typed], schema=pa.schema([field for field, _ in typed])
        )
        extended = [column for column, values in meta.missing_user_values.items() if values]
        return Content(table, labels, (note("extended_missing", *extended),) if extended else ())

    def write(self, table: pa.Table, output: Output) -> None:
        """Write the table with the labels of its source; `DataError` for what the format cannot hold."""
        try:
            import pandas as pd  # noqa: F401  (what the writers take)
            import pyreadstat
        except ImportError:
            raise wording.needs_extra(
                f"Writing {self.name} files", "pyreadstat and pandas", "formats"
            ) from None
        if self.limits is None:
            raise wording.contract_broken("write", f"{self.name} files are only read")
        prepared = _Prepared.of(table, self, self.limits, output)
        options = prepared.options(self.name, zipped=output.name.lower().endswith(".zsav"))
        try:
            getattr(pyreadstat, self.writer)(prepared.frame, str(output.path), **options)
        except OSError:
            raise
        except Exception as error:  # pyreadstat's own, whose message may quote values
            if "unable to write" in str(error).lower():  # without a reason: usually the disk is full
                raise wording.cannot_write(output.name, "the disk may be full") from None
            raise wording.refused_by_writer(output.name, self.name) from None


def _labels_of_file(meta: Any) -> StatisticalLabels:
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


def _field_and_values(
    name: str, values: Sequence[Any], meta: Any, program: str
) -> tuple[pa.Field[Any], pa.Array[Any]]:
    stored = meta.readstat_variable_types.get(name, "")
    if stored.startswith("string"):
        text = pa.array([None if value is None else str(value) for value in values], pa.large_string())
        return pa.field(name, text.type), text
    if meta.missing_user_values.get(name):  # letters among numbers
        values = [None if isinstance(value, str) else value for value in values]
    array: pa.Array[Any] = pa.array(values, pa.float64(), from_pandas=True)
    dates = date_kind_of(meta.original_variable_types.get(name) or "", program)
    if dates:
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
    def of(cls, table: pa.Table, own: _Statistical, limits: _Limits, output: Output) -> _Prepared:
        import pandas as pd

        kind, program, changed = own.name, own.program, output.changed
        wrong = [name for name in table.column_names if not re.fullmatch(limits.names, name)]
        if wrong:
            raise wording.bad_names_for(kind, wrong, limits.names_described)
        same = output.source.format.startswith(program)
        labels = _labels_kept(output.source.labels or StatisticalLabels(), table, changed)
        formats: dict[str, str] = {}
        longest: dict[str, int] = {}
        columns: dict[str, Any] = {}
        for name in table.column_names:
            column = to_basic_type(table.column(name), name, kind)
            shown = labels.formats.get(name) if same else None
            column, shown = _dates_to_numbers(column, shown, program)
            if _is_text(column):
                longest[name] = compute.max(compute.binary_length(column)).as_py() or 0
                if longest[name] > limits.text_bytes:
                    raise wording.text_too_long_for(kind, name, limits.text_bytes)
            if name in changed:
                shown = None if _is_text(column) else _widen_format(column, shown, program)
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
        # What was masked is an amount, whatever it was before.
        {
            name: text if name in same else "scale"
            for name, text in labels.measures.items()
            if name in same or (name in there and name in numbers and text != "unknown")
        },
        {name: width for name, width in labels.display_widths.items() if name in same and width > 0},
        table_name=labels.table_name,
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


def _widen_format(column: pa.ChunkedArray[Any], shown: str | None, program: str) -> str | None:
    """A display format that hides no decimals of means, as similar to `shown` as possible."""
    if program == "Stata":
        # %g shows as many decimals as there is room for.
        return "%12.0gc" if shown and shown.endswith("c") else "%12.0g"
    if program == "SAS":
        return "BEST12" if shown else None
    values = np.asarray(to_numpy(column), dtype=np.float64)
    values = values[np.isfinite(values)]
    found = re.fullmatch(r"(F|COMMA|DOT|DOLLAR|PCT)(\d+)(?:\.(\d+))?", shown or "F8")
    kind, width, decimals = (found[1], int(found[2]), int(found[3] or 0)) if found else ("F", 8, 0)
    while decimals < _MOST_DECIMALS_SHOWN and not np.array_equal(np.round(values, decimals), values):
        decimals += 1
    digits = len(f"{np.abs(values).max(initial=0.0):.0f}")
    # Room for the sign, the decimal sign and, if they are shown, separators of thousands.
    needed = digits + decimals + 2 + (digits // 3 + 1 if kind != "F" else 0)
    return f"{kind}{min(max(width, needed), _MOST_WIDTH)}.{decimals}"


def _is_text(column: pa.ChunkedArray[Any]) -> bool:
    return pa.types.is_large_string(column.type)


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

    Doubles without decimals become 64-bit integers, which pyreadstat writes as doubles: they stay doubles
    in the file.
    """
    if not pa.types.is_floating(column.type):
        return _series(column)
    try:
        integers = pa.array(column.to_numpy(), from_pandas=True).cast(pa.int64())
    except pa.ArrowException:
        return _series(column)
    whole = _series(pa.chunked_array([integers]))
    return whole.astype("Int64" if column.null_count else "int64") if whole.dtype.kind == "i" else whole


def _labels_of_codes(texts: Mapping[Any, str], column: Any) -> dict[Any, str]:
    """Labelled codes in the type of their column, without the letters of extended missing values."""
    kind = column.dtype.kind
    if kind == "O":
        return {str(code): text for code, text in texts.items()}
    numbers = {code: text for code, text in texts.items() if isinstance(code, int | float)}
    if kind != "i":
        return numbers
    return {int(code): text for code, text in numbers.items() if float(code).is_integer()}


_STATA = _Statistical(
    "Stata",
    "Stata",
    "read_dta",
    user_missing=True,
    writer="write_dta",
    limits=_Limits(
        r"[^\W\d]\w{0,31}", "at most 32 letters, digits and underscores, no digit first", 2_000_000_000
    ),
)
_SPSS = _Statistical(
    "SPSS",
    "SPSS",
    "read_sav",
    user_missing=True,
    writer="write_sav",
    limits=_Limits(
        r"[^\W\d_][\w.$#@]{0,63}", "at most 64 letters, digits and _ . $ # @, a letter first", 32_767
    ),
)
_SPSS_PORTABLE = _Statistical("SPSS portable", "SPSS", "read_por")
_SAS = _Statistical("SAS", "SAS", "read_sas7bdat", user_missing=True)
_SAS_TRANSPORT = _Statistical(
    "SAS transport",
    "SAS",
    "read_xport",
    writer="write_xport",
    limits=_Limits(
        r"[A-Za-z_][A-Za-z0-9_]{0,31}",
        "at most 32 letters A to Z, digits and underscores, no digit first",
        32_767,
    ),
)

FORMATS = (
    Format("Stata", re.compile(rb"<stata_dta>"), _STATA.read, _STATA.write),
    Format("SPSS", re.compile(rb"\$FL[23]"), _SPSS.read, _SPSS.write),
    Format(
        "SPSS portable",
        re.compile(rb"(?s).*SPSS PORT FILE"),
        _SPSS_PORTABLE.read,
        written_instead=".sav",
    ),
    Format(
        "SAS",
        re.compile(rb"\0{12}\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92"),
        _SAS.read,
        written_instead=".xpt",
    ),
    Format(
        "SAS transport",
        re.compile(rb"HEADER RECORD\*{7}LIB"),
        _SAS_TRANSPORT.read,
        _SAS_TRANSPORT.write,
    ),
)
