"""Files, written whole or not at all: releases, and what stays in the house."""

from microagg.write.checks import WRITTEN, check_apart, check_output, output_format, protected_name
from microagg.write.drafts import OURS_ALONE, commit_all
from microagg.write.internal import Internal, text_draft, write_json, write_labels, write_text
from microagg.write.journal import Journal
from microagg.write.release import Staged, stage

__all__ = [
    "OURS_ALONE",
    "WRITTEN",
    "Internal",
    "Journal",
    "Staged",
    "check_apart",
    "check_output",
    "commit_all",
    "output_format",
    "protected_name",
    "stage",
    "text_draft",
    "write_json",
    "write_labels",
    "write_text",
]
