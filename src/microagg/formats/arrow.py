"""Parquet and Arrow's own format, as Arrow reads and writes them."""

from __future__ import annotations

import re

import pyarrow as pa

from microagg import wording
from microagg.formats.format import Content, Format, Output, Source


def read_parquet(source: Source) -> Content:
    from pyarrow import parquet  # slow to import, and most files are CSV

    return Content(parquet.read_table(source.openable, partitioning=None))


def read_arrow(source: Source) -> Content:
    from pyarrow import feather

    return Content(feather.read_table(source.openable))


def write_parquet(table: pa.Table, output: Output) -> None:
    from pyarrow import parquet

    try:
        parquet.write_table(table, str(output.path))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # their messages may quote values
        raise wording.refused_by_writer(output.name, "Parquet") from None


def write_arrow(table: pa.Table, output: Output) -> None:
    from pyarrow import feather

    try:
        feather.write_feather(table, str(output.path))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise wording.refused_by_writer(output.name, "Arrow") from None


FORMATS = (
    Format("Parquet", re.compile(rb"PAR1"), read_parquet, write_parquet),
    Format("Arrow", re.compile(rb"ARROW1|FEA1"), read_arrow, write_arrow),
)
