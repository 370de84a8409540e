"""Parquet and Arrow's own format: no metadata, no categories but those in use, nothing under nulls."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.types as kinds
from pyarrow import feather, parquet

from microagg.verdict import Finding, refuse
from microagg.verify.second_reading import digest_of_bytes
from microagg.verify.values import missing, plain

if TYPE_CHECKING:
    from microagg.verify.files import WrittenFile

_OWN_SCHEMA = b"ARROW:schema"
_FIELD_NUMBER = b"PARQUET:field_id"
_EXTENSION = b"ARROW:extension:"


def arrow_findings(file: WrittenFile) -> list[Finding]:
    try:
        is_parquet = file.kind == "Parquet"
        table, has_metadata = (_read_parquet if is_parquet else _read_arrow)(file)
    except (pa.ArrowException, OSError, ValueError):  # messages may quote values
        return [refuse("written_unreadable")]
    found = [refuse("written_metadata")] if has_metadata else []
    if table.column_names != file.released.column_names or table.num_rows != file.released.num_rows:
        return [*found, refuse("written_metadata")]
    for name in table.column_names:
        column, released = table.column(name), file.released.column(name)
        if not _same_type(released.type, column.type):
            found.append(refuse("written_type", name))
        elif (missing(plain(released)) != missing(plain(column))).any():
            found.append(refuse("written_gaps", name))
        # Parquet has no values under nulls, and where it has long runs Arrow's reader puts some there.
        hides = _has_unused_categories if is_parquet else _hides_something
        if any(map(hides, column.chunks)):
            found.append(refuse("written_categories", name))
    if not found and file.by_this_library and not _is_written_alike(file):
        found.append(refuse("written_bytes"))
    return found


def _read_parquet(file: WrittenFile) -> tuple[pa.Table, bool]:
    """The table, and whether the file has metadata: of its own, of its columns, or in Arrow's schema."""
    with file.path.open("rb") as opened, parquet.ParquetFile(opened) as read:
        about = dict(read.metadata.metadata or {})
        stored = about.pop(_OWN_SCHEMA, None)
        schemas = [read.schema_arrow]
        if stored is not None:
            schemas.append(pa.ipc.read_schema(pa.py_buffer(base64.b64decode(stored))))
        return read.read(), bool(about) or any(map(_has_metadata, schemas))


def _read_arrow(file: WrittenFile) -> tuple[pa.Table, bool]:
    with file.path.open("rb") as opened, pa.ipc.open_file(opened) as reader:
        own = getattr(reader, "metadata", None)
        parts = [reader.get_batch_with_custom_metadata(at) for at in range(reader.num_record_batches)]
        table = pa.Table.from_batches([batch for batch, _ in parts], reader.schema)
        about = any(metadata is not None and len(metadata) for _, metadata in parts)
        return table, bool(own) or about or _has_metadata(reader.schema)


def _has_metadata(schema: Any) -> bool:
    fields = (field for top in schema for field in _with_inner(top))
    return bool(schema.metadata) or any(
        key != _FIELD_NUMBER and not key.startswith(_EXTENSION)
        for field in fields
        for key in field.metadata or {}
    )


def _with_inner(field: Any) -> Iterator[Any]:
    yield field
    if kinds.is_nested(field.type):
        for at in range(field.type.num_fields):
            yield from _with_inner(field.type.field(at))


def _same_type(released: Any, written: Any) -> bool:
    """The same type, but for units that Parquet does not have: it has coarser ones, and 32-bit dates."""
    if released == written:
        return True
    if kinds.is_dictionary(released) or kinds.is_dictionary(written):
        inner = [each.value_type if kinds.is_dictionary(each) else each for each in (released, written)]
        return _same_type(*inner)
    alike = (kinds.is_date, kinds.is_time, kinds.is_timestamp, kinds.is_duration, kinds.is_decimal)
    return any(is_kind(released) and is_kind(written) for is_kind in alike) or (
        kinds.is_nested(released) and kinds.is_nested(written)
    )


def _has_unused_categories(array: Any) -> bool:
    if isinstance(array.type, pa.BaseExtensionType):
        return _has_unused_categories(array.storage)
    if not kinds.is_dictionary(array.type):
        return False
    return len(array.indices.drop_null().unique()) != len(array.dictionary)


def _hides_something(array: Any) -> bool:
    """Whether there are categories that no record has, or values under nulls."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _hides_something(array.storage)
    if kinds.is_dictionary(kind):
        return _has_unused_categories(array) or _hides_something(array.indices)
    if kinds.is_null(kind) or not array.null_count or kinds.is_nested(kind):
        return False  # what is nested is compared by the bytes of the file
    gone = missing(array)
    if kinds.is_boolean(kind):
        bits = np.unpackbits(np.frombuffer(array.buffers()[1], np.uint8), bitorder="little")
        return bool(bits[array.offset : array.offset + len(array)][gone].any())
    width = getattr(kind, "bit_width", 0) if kinds.is_primitive(kind) or kinds.is_decimal(kind) else 0
    if width:
        held = np.frombuffer(array.buffers()[1], np.uint8).reshape(-1, width // 8)
        return bool(held[array.offset : array.offset + len(array)][gone].any())
    if kinds.is_large_string(kind) or kinds.is_large_binary(kind):
        return _has_length(array, gone, np.int64)
    if kinds.is_string(kind) or kinds.is_binary(kind):
        return _has_length(array, gone, np.int32)
    return False


def _has_length(array: Any, gone: Any, whole: Any) -> bool:
    offsets = np.frombuffer(array.buffers()[1], whole)[array.offset : array.offset + len(array) + 1]
    return bool(np.diff(offsets)[gone].any())


class _Digest(io.RawIOBase):
    """A file that keeps nothing but the digest of its bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.found = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.found.update(data)
        return len(data)


def _is_written_alike(file: WrittenFile) -> bool:
    """Whether the verified table, without any metadata, gives the same bytes when it is written again."""
    columns = file.released.columns
    table = pa.Table.from_arrays(columns, names=file.released.column_names)
    sink: Any = _Digest()
    if file.kind == "Parquet":
        parquet.write_table(table, sink)
    else:
        feather.write_feather(table, sink)
    with file.path.open("rb") as written:
        return digest_of_bytes(written) == f"sha256:{sink.found.hexdigest()}"
