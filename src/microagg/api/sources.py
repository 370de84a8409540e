"""Files and data frames, as they are given in Python."""

from __future__ import annotations

from pathlib import Path

from microagg import read, wording
from microagg.model import CsvFormat, Layout, Microdata


def microdata_from(data: object, csv_format: CsvFormat, layout: Layout) -> Microdata:
    """All columns of a file or a data frame."""
    if isinstance(data, str | Path):
        return read.microdata_from_file(Path(data), csv_format, layout)
    unused = [*csv_format.given(), *layout.given()]
    if unused:
        raise wording.not_csv("what was given", "data frame", unused)
    return read.microdata_of(data)
