"""Stata, SPSS and SAS files: labels that the source has and the release may keep, and no notes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow.types as kinds

from microagg.model import StatisticalLabels
from microagg.verdict import Finding, refuse
from microagg.verify.values import is_numeric, is_text, plain

if TYPE_CHECKING:
    from microagg.verify.files import WrittenFile

_READERS = {"Stata": "read_dta", "SPSS": "read_sav", "SAS transport": "read_xport"}
_NOTES_OF_STATA = re.compile(rb"<characteristics>(.+?)</characteristics>", re.DOTALL)


def statistical_findings(file: WrittenFile) -> list[Finding]:
    import pyreadstat

    try:
        # Codes for missing values are shown only where they are kept.
        options = {} if file.kind == "SAS transport" else {"user_missing": True}
        _, about = getattr(pyreadstat, _READERS[file.kind])(str(file.path), **options)
    except Exception:  # a broken file may raise anything, with a message that quotes values
        return [refuse("written_unreadable")]
    found = [
        refuse("written_type", name)
        for name in file.released.column_names
        if about.readstat_variable_types.get(name, "").startswith("string")
        != _is_written_as_text(file, name)
    ]
    has_notes = file.kind == "Stata" and _NOTES_OF_STATA.search(file.path.read_bytes()) is not None
    if has_notes or not _labels_are_allowed(about, file):
        found.append(refuse("written_labels"))
    return found


def _is_written_as_text(file: WrittenFile, name: str) -> bool:
    kind = plain(file.released.column(name)).type
    return not (is_numeric(kind) or kinds.is_boolean(kind) or kinds.is_temporal(kind)) and (
        is_text(kind) or kinds.is_null(kind)
    )


def _labels_are_allowed(about: Any, file: WrittenFile) -> bool:
    known = file.origin.labels or StatisticalLabels()
    unchanged = set(file.released.column_names) - file.changed
    labels = {name: text for name, text in about.column_names_to_labels.items() if text}
    ranges = {name: entries for name, entries in about.missing_ranges.items() if entries}
    return (
        (about.file_label or "") in ("", known.file_label)
        and not about.notes
        and all(known.column_labels.get(name) == text for name, text in labels.items())
        and all(
            name in unchanged and list(known.missing_ranges.get(name, ())) == list(entries)
            for name, entries in ranges.items()
        )
        and all(name in unchanged for name in about.variable_to_label)
        and set(about.value_labels) <= set(about.variable_to_label.values())
        and all(
            _is_part(texts, known.value_labels.get(name, {}), file, name)
            for name, texts in about.variable_value_labels.items()
        )
    )


def _is_part(texts: Mapping[Any, str], known: Mapping[Any, str], file: WrittenFile, name: str) -> bool:
    """Whether labels are the source's, without those of codes that no released record has any more."""
    allowed = {str(_number(code)): text for code, text in known.items()}
    if file.released.num_rows < file.source.num_rows or name not in file.changed:
        before, after = (
            {str(_number(code)) for code in table.column(name).unique().to_pylist()}
            for table in (file.source, file.released)
        )
        allowed = {code: text for code, text in allowed.items() if code not in before - after}
    return all(allowed.get(str(_number(code))) == text for code, text in texts.items())


def _number(code: Any) -> Any:
    """The code as one kind of number: 1 in one file is 1.0 in another."""
    return float(code) if isinstance(code, int | float) else code
