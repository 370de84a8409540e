"""All file formats. `read` and `write` take from this table what they have to know about a format."""

from __future__ import annotations

import re
from importlib import import_module

from microagg.formats import MODULES, excel
from microagg.formats.format import Format
from microagg.model import Layout

FORMATS: dict[str, Format] = {
    each.name: each for name in MODULES for each in import_module(f"microagg.formats.{name}").FORMATS
}
ENDINGS = {ending: each for each in FORMATS.values() for ending in each.endings}
"""The formats by the endings of their files' names."""
WRITTEN = [ending for ending, each in ENDINGS.items() if each.write is not None]
"""Endings of the formats that can be written."""

FIRST_BYTES = 512
_OTHERS = {
    "Office": excel.OLD_OR_LOCKED,
    "gzip": re.compile(rb"\x1f\x8b"),
    "Zstandard": re.compile(rb"\x28\xb5\x2f\xfd"),
    "PDF": re.compile(rb"%PDF"),
    "SQLite": re.compile(rb"SQLite format 3\0"),
}
"""What is recognised but not read."""


def detect_format(beginning: bytes) -> str | None:
    """The format of a file by its first bytes, whatever its name; CSV for any text, None if unknown."""
    # CSV comes first in the table and last here: other formats may begin with letters.
    known = _OTHERS | {each.name: each.begins for each in reversed(FORMATS.values())}
    return next((name for name, begins in known.items() if begins.match(beginning)), None)


def without_effect(layout: Layout, kind: str) -> list[str]:
    """The names of options that are given but mean nothing for files of this format."""
    return [name for name in layout.given() if name not in FORMATS[kind].options]
