"""Files, written completely or not at all: releases, and internal files such as groups and run records."""

from microagg.write.checks import check_apart, check_output, output_format, protected_name
from microagg.write.drafts import OWNER_ONLY, commit_all, committing
from microagg.write.internal import (
    Internal,
    labels_text,
    text_draft,
    write_labels,
    write_text,
    write_texts,
)
from microagg.write.journal import Journal
from microagg.write.leftovers import claimed, hidden_name
from microagg.write.staging import Staged, stage

__all__ = [
    "OWNER_ONLY",
    "Internal",
    "Journal",
    "Staged",
    "check_apart",
    "check_output",
    "claimed",
    "commit_all",
    "committing",
    "hidden_name",
    "labels_text",
    "output_format",
    "protected_name",
    "stage",
    "text_draft",
    "write_labels",
    "write_text",
    "write_texts",
]
