"""A written file beside its values: that it holds nothing which the release does not need.

`written.py` compares the values that a reader is shown. Here the file itself is looked at, by code of its
own for each format: bytes of CSV files, metadata, sheets, comments, properties, labels, categories and the
types of cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from microagg.model import CsvFormat, Origin
from microagg.verdict import Finding, unsafe_release


@dataclass(frozen=True, slots=True, eq=False)
class WrittenFile:
    """A file, and all that it may be made of."""

    path: Path
    """Where it can be opened."""
    name: str
    """What it will be called; the ending matters."""
    kind: str
    """Its format, as in `formats.ENDINGS_OF`."""
    released: pa.Table
    source: pa.Table
    origin: Origin
    """The source's: its labels, look and sheet may be kept."""
    changed: frozenset[str]
    """Columns that were masked or recoded."""
    by_this_library: bool = True
    """Just written, so that the library that wrote it would write the same bytes again."""

    @property
    def csv(self) -> CsvFormat:
        """The source's CSV format, unless the endings .csv and .tsv ask for another delimiter."""
        given = self.origin.csv or CsvFormat(",", "utf-8", ".")
        delimiter, decimal = given.delimiter or ",", given.decimal or "."
        before = "" if self.origin.path is None else self.origin.path.suffix.lower()
        after = Path(self.name).suffix.lower()
        if after == ".tsv":
            delimiter = "\t"
        elif before == ".tsv" and after == ".csv" and delimiter == "\t":
            delimiter = ";" if decimal == "," else ","
        return CsvFormat(delimiter, given.encoding or "utf-8", decimal)


def check_file(file: WrittenFile) -> None:
    """`UnsafeRelease` with what the file holds that it must not hold."""
    if findings := file_findings(file):
        raise unsafe_release(findings)


def file_findings(file: WrittenFile) -> list[Finding]:
    return _check_of(file.kind)(file)


def _check_of(kind: str) -> Callable[[WrittenFile], list[Finding]]:
    """Imported when needed: most files are CSV, and other formats need large libraries."""
    if kind == "CSV":
        from microagg.verify.files.csv_bytes import csv_findings

        return csv_findings
    if kind in ("Parquet", "Arrow"):
        from microagg.verify.files.arrow_files import arrow_findings

        return arrow_findings
    if kind == "Excel":
        from microagg.verify.files.excel_files import excel_findings

        return excel_findings
    from microagg.verify.files.statistical_files import statistical_findings

    return statistical_findings
