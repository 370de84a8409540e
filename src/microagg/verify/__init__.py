"""A released table, its source and what is promised -> Verdict.

All is counted anew from the tables, by code of its own: nothing here knows methods or aggregates, and
nothing that the engine reports about the release is believed.

A *class* is a set of records with the same released values in some columns; null is a value of its own.
"""

from __future__ import annotations

from microagg.verify.files import WrittenFile, check_file
from microagg.verify.release import verify, verify_protected
from microagg.verify.second_reading import check_source
from microagg.verify.written import check_written

__all__ = ["WrittenFile", "check_file", "check_source", "check_written", "verify", "verify_protected"]
