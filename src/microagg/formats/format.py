"""What a format is: how its files are called, recognised, read and written."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from microagg.formats import ENDINGS_OF
from microagg.model import CsvFormat, CsvLook, Layout, Origin, StatisticalLabels
from microagg.verdict import Finding


@dataclass(frozen=True, slots=True)
class Source:
    """An open file that is to be read, and what is known about it."""

    file: BinaryIO
    path: Path | None
    """Where libraries can open this very file; None: standard input."""
    name: str
    """What messages call it."""
    layout: Layout = field(default_factory=Layout)
    written_as: CsvFormat | None = None
    """Just now, by ourselves: nothing is detected."""

    @property
    def openable(self) -> Path:
        """For libraries that open files themselves."""
        return self.path or Path(self.name)


@dataclass(frozen=True, slots=True)
class Content:
    """What a file holds."""

    table: pa.Table
    labels: StatisticalLabels | None = None
    notes: tuple[Finding, ...] = ()
    header_row: int | None = None
    """The row of the names, where it can be chosen."""
    csv: CsvFormat | None = None
    """The table's columns are text then."""
    csv_look: CsvLook = field(default_factory=CsvLook)


@dataclass(frozen=True, slots=True)
class Output:
    """A file that is to be written."""

    path: Path
    """Where it can be opened."""
    name: str
    """What messages call it; its ending may matter."""
    csv: CsvFormat | None
    source: Origin
    """Whose labels, look and sheet a release keeps."""
    changed: frozenset[str]
    """Columns that were masked or recoded."""
    scratch: Callable[[], AbstractContextManager[Path]]
    """Another file without a name, for as long as it is needed."""


@dataclass(frozen=True, slots=True)
class Format:
    """An entry of the table in `formats/table.py`; its name is one of `ENDINGS_OF`."""

    name: str
    begins: re.Pattern[bytes]
    """Matches the first bytes of its files."""
    read: Callable[[Source], Content]
    write: Callable[[pa.Table, Output], None] | None = None
    """`DataError` for what the format cannot hold; None: only read."""
    written_instead: str = ""
    """For a format that is only read, the ending of another one of the same program."""
    options: tuple[str, ...] = ()
    """Options on how a file is written that have an effect."""

    @property
    def endings(self) -> tuple[str, ...]:
        """Of the names of its files."""
        return ENDINGS_OF[self.name]
