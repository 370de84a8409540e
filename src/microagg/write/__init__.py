"""Files, written whole or not at all: releases, and what stays in the house."""

from microagg.write.checks import WRITTEN, check_output, output_format
from microagg.write.internal import Internal, write_json, write_labels, write_text
from microagg.write.journal import Journal
from microagg.write.release import Staged, stage

__all__ = [
    "WRITTEN",
    "Internal",
    "Journal",
    "Staged",
    "check_output",
    "output_format",
    "stage",
    "write_json",
    "write_labels",
    "write_text",
]
