"""A file -> Table, by the ending of its name."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from microagg import errors
from microagg.model import CsvFormat, Table
from microagg.read.columns import chosen, refuse_what_is_no_number
from microagg.read.content import FIRST_BYTES, kind_of
from microagg.read.csv import read_csv
from microagg.read.excel import read_excel
from microagg.read.memory import table_of
from microagg.read.statistical import read_statistical

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = {
    ".csv": "CSV",
    ".tsv": "CSV",
    ".txt": "CSV",
    ".parquet": "Parquet",
    ".feather": "Arrow",
    ".arrow": "Arrow",
    ".xlsx": "Excel",
    ".dta": "Stata",
    ".sav": "SPSS",
    ".zsav": "SPSS",
    ".por": "SPSS portable",
    ".sas7bdat": "SAS",
    ".xpt": "SAS transport",
}
"""What the ending of a file's name says about its content."""

STANDARD_INPUT = Path("-")
"""In place of a file: CSV from there."""

_ANY_FORMAT = CsvFormat()


def table_from_file(
    path: Path, columns: Sequence[str] | None = None, csv_format: CsvFormat = _ANY_FORMAT
) -> Table:
    """The named columns of a file (default: all) as a Table; `-` is CSV from standard input.

    What `csv_format` leaves open is found out; it is refused for files that are not CSV.
    """
    if path == STANDARD_INPUT:
        file = io.BytesIO(sys.stdin.buffer.read())
        _refuse_other_content(file, "standard input", "CSV")
        return table_of(read_csv(file, None, "standard input", columns, csv_format))
    if path.is_dir():
        raise errors.is_a_folder(str(path))
    if not path.exists():
        raise errors.no_such_file(str(path))
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        raise errors.unknown_format(str(path), list(FORMATS))
    if kind != "CSV" and csv_format.given():
        raise errors.not_csv(str(path), kind, csv_format.given())
    try:
        with path.open("rb") as opened:
            _refuse_other_content(opened, str(path), kind)
            if kind == "CSV":
                return table_of(read_csv(opened, path, str(path), columns, csv_format))
            table = chosen(_typed(opened, path, kind), columns)
    except OSError as error:
        raise errors.cannot_read(str(path), error.strerror or "reading failed") from None
    refuse_what_is_no_number(table)
    return table_of(table)


def _typed(file: BinaryIO, path: Path, kind: str) -> pa.Table:
    """The content of a file in a format that has types."""
    import pyarrow as pa

    try:
        if kind == "Excel":
            return read_excel(file, str(path))
        if kind == "Parquet":
            from pyarrow import parquet

            return parquet.read_table(path)
        if kind == "Arrow":
            from pyarrow import feather

            return feather.read_table(path)
        return read_statistical(path, kind)
    except pa.ArrowException:
        raise errors.unreadable_content(str(path), kind) from None
    except OSError as error:
        if error.errno is not None:
            raise
        # Not the operating system's, but Arrow's word for content that ends too early.
        raise errors.unreadable_content(str(path), kind) from None


def _refuse_other_content(file: BinaryIO, source: str, kind: str) -> None:
    """`DataError` for an empty file, and for one whose first bytes are those of another format."""
    file.seek(0)
    beginning = file.read(FIRST_BYTES)
    if not beginning:
        raise errors.no_records()
    found = kind_of(beginning)
    if found in (None, kind) or (kind, found) in (("CSV", "text"), ("Excel", "Office")):
        return
    known = "CSV" if found == "text" else found
    raise errors.other_content(
        source, kind, found, [end for end, format_ in FORMATS.items() if format_ == known]
    )
