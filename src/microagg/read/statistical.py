"""Stata, SPSS and SAS -> Arrow table, by pyreadstat."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from microagg import errors

if TYPE_CHECKING:
    import pyarrow as pa

READERS = {
    "Stata": "read_dta",
    "SPSS": "read_sav",
    "SPSS portable": "read_por",
    "SAS": "read_sas7bdat",
    "SAS transport": "read_xport",
}
"""pyreadstat's function for each format."""

_TRANSPORT_RECORD = 80  # bytes; SAS pads the last one


def read_statistical(path: Path, kind: str) -> pa.Table:
    """All columns, values as they are coded; system-missing and user-missing values are null."""
    try:
        import pyreadstat
    except ImportError:
        raise errors.needs_extra(f"Reading {kind} files", "pyreadstat", "formats") from None
    import pyarrow as pa

    if _is_cut_short(path, kind):
        raise errors.unreadable_content(str(path), kind)
    try:
        columns, _ = getattr(pyreadstat, READERS[kind])(str(path), output_format="dict")
        return pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})
    except (MemoryError, OSError):
        raise
    except Exception:  # whatever a broken file makes of the parser, in words that may quote values
        raise errors.unreadable_content(str(path), kind) from None


def _is_cut_short(path: Path, kind: str) -> bool:
    """Whether the end is missing, where pyreadstat would return the records before it without a word."""
    size = path.stat().st_size
    if kind == "SAS transport":
        return size % _TRANSPORT_RECORD != 0
    with path.open("rb") as file:
        beginning = file.read(11)
        file.seek(max(size - 100, 0))
        end = file.read().rstrip()
    if kind == "SPSS portable":
        return not end.endswith(b"Z")
    return beginning == b"<stata_dta>" and not end.endswith(b"</stata_dta>")
