"""The source read a second time, by other code than `read` and `formats`, and compared cell by cell.

What the verifier compares a release with must be what the file holds: a reader that loses a digit or mixes
two records up would otherwise make the same mistake on both sides of every comparison.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

import pyarrow as pa

from microagg.model import Microdata, Origin
from microagg.verdict import Finding, SourceReading, refuse
from microagg.verify.promises import Notation
from microagg.verify.second_reading.differences import Differences

_IN_MEMORY = "frame"


@dataclass(frozen=True, slots=True, eq=False)
class CheckedSource:
    """What a release is compared with, and how far it is known to be what the source holds."""

    table: pa.Table
    notation: Notation
    reading: SourceReading
    findings: tuple[Finding, ...] = ()


def check_source(source: Microdata) -> CheckedSource:
    """The source with what a second reading of its file has found."""
    reading, findings = _second_reading(source)
    return CheckedSource(source.table, notation_of(source.origin), reading, tuple(findings))


def unchecked_source(source: Microdata) -> CheckedSource:
    """The source of a trial, of which nothing is released: it is not read a second time."""
    return CheckedSource(source.table, notation_of(source.origin), "trial")


def notation_of(origin: Origin) -> Notation:
    """How the source writes its numbers, for the verifier to read them by itself."""
    decimal = (origin.csv.decimal if origin.csv is not None else None) or "."
    ranges = origin.labels.missing_ranges if origin.labels is not None else {}
    labels = origin.labels.value_labels if origin.labels is not None else {}
    return Notation(decimal, origin.csv is not None, ranges, labels)


def _second_reading(source: Microdata) -> tuple[SourceReading, list[Finding]]:
    origin = source.origin
    if origin.format == _IN_MEMORY:
        return "in memory", []
    if origin.path is None:
        return "standard input", []
    try:
        with origin.path.open("rb") as file:
            if origin.digest and digest_of_bytes(file) != origin.digest:
                return "other code", [refuse("source_changed")]
            compare = _comparison_for(origin.format)
            if compare is None:
                return "same library", []
            file.seek(0)
            return "other code", compare(file, source).findings()
    except OSError:
        return "other code", [refuse("source_gone")]


def digest_of_bytes(file: BinaryIO) -> str:
    """As records and reports show the bytes of a file."""
    file.seek(0)
    return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"  # type: ignore[arg-type]


def _comparison_for(kind: str) -> Callable[[BinaryIO, Microdata], Differences] | None:
    """What reads files of this format a second time; None if there is no second library for it."""
    if kind == "CSV":
        from microagg.verify.second_reading.csv_cells import compare_csv

        return compare_csv
    if kind == "Excel":
        from microagg.verify.second_reading.excel_cells import compare_excel

        return compare_excel
    if kind == "Stata":
        try:
            from microagg.verify.second_reading.stata_cells import compare_stata
        except ImportError:  # without pandas
            return None
        return compare_stata
    return None
