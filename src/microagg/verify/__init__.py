"""A released table, its source and what is promised -> Verdict.

All is counted anew from the tables, by code of its own: nothing here knows methods or aggregates, and
nothing that the engine reports about the release is believed.

A *class* is a set of records with the same released values in some columns; null is a value of its own.
"""

from __future__ import annotations

from microagg.verify.files import WrittenFile, check_file, file_findings
from microagg.verify.release import verify, verify_protected
from microagg.verify.second_reading import CheckedSource, check_source, digest_of_bytes, unchecked_source
from microagg.verify.written import check_written, same_values, verdict_on_file, written_findings

__all__ = [
    "CheckedSource",
    "WrittenFile",
    "check_file",
    "check_source",
    "check_written",
    "digest_of_bytes",
    "file_findings",
    "same_values",
    "unchecked_source",
    "verdict_on_file",
    "verify",
    "verify_protected",
    "written_findings",
]
