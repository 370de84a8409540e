"""A file or data in memory -> Table or Microdata: the only place that checks data by themselves."""

from microagg.read.files import microdata_from_file, origin_of, read_back, table_from_file
from microagg.read.frames import frame_like, frame_of_kind, microdata_of
from microagg.read.in_memory import table_of
from microagg.read.numbers import held_by_text, numbers_of

__all__ = [
    "frame_like",
    "frame_of_kind",
    "held_by_text",
    "microdata_from_file",
    "microdata_of",
    "numbers_of",
    "origin_of",
    "read_back",
    "table_from_file",
    "table_of",
]
