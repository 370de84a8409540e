"""A file or data in memory -> Table: the only place that checks data by themselves."""

from microagg.read.files import FORMATS, table_from_file
from microagg.read.memory import table_of

__all__ = ["FORMATS", "table_from_file", "table_of"]
