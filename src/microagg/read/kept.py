"""A file that is read once, for several processes: its data are kept in a private folder."""

from __future__ import annotations

import pickle
from pathlib import Path

import pyarrow as pa

from microagg import wording
from microagg.model import Layout, Microdata
from microagg.read.files import microdata_from_file

_TABLE, _ORIGIN = "table.arrow", "origin.pickle"


def read_and_keep(path: Path, layout: Layout, folder: Path) -> Microdata:
    """Read the file, and keep its data in the folder, to which nobody else can write."""
    version = _version(path)
    source = microdata_from_file(path, layout)
    with pa.ipc.new_file(str(folder / _TABLE), source.table.schema) as writer:
        writer.write_table(source.table)
    (folder / _ORIGIN).write_bytes(pickle.dumps((version, source.origin)))
    return source


def kept_data(path: Path, folder: Path) -> Microdata:
    """The data as they were when the file was read; `DataError` if it is another one now."""
    version, origin = pickle.loads((folder / _ORIGIN).read_bytes())
    if _version(path) != version:
        raise wording.file_changed(path.name)
    with pa.memory_map(str(folder / _TABLE)) as file:
        return Microdata(pa.ipc.open_file(file).read_all(), origin)


def _version(path: Path) -> tuple[int, ...]:
    """What another version of a file would have otherwise; nothing if there is no file."""
    try:
        about = path.stat()
    except OSError:
        return ()
    return about.st_ino, about.st_size, about.st_mtime_ns
