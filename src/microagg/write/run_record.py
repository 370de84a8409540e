"""The internal record of a release, read again: to repeat it, and to know whose record is whose."""

from __future__ import annotations

import hashlib
import io
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg import __version__, wording
from microagg.errors import DataError
from microagg.formats.hidden_values import without_hidden_values
from microagg.model import CSV_OPTIONS, Microdata, Origin
from microagg.secret_key import SecretKey

RECORD_FORMAT = "microagg run record"
RECORD_VERSION = 2
RECORD_ENDING = ".microagg.json"
MOST_BYTES = 2**30
SPARK_FRAME = "Spark frame"
"""The format of a source that has no path."""

HOLD_THE_TIME = (".xlsx", ".dta", ".sav", ".zsav", ".xpt")
"""Files that say when they were written, so that their bytes are never the same."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    path: Path
    content: Mapping[str, Any]

    @property
    def settings(self) -> dict[str, Any]:
        """Of the run, and how its file was read, by the names of a plan file."""
        return {**self.content["plan"], **self.content["input"]["reading"]}

    @property
    def engine(self) -> str:
        return str(self.content["engine"])

    @property
    def source(self) -> str | None:
        """The path of the source; None if it was no file."""
        path = self.content["input"]["path"]
        return None if path is None else str(path)

    @property
    def digest(self) -> str:
        """Of the source."""
        return str(self.content["input"]["digest"])

    @property
    def output_digest(self) -> str | None:
        """Of the file; None for a release that was not written."""
        output = self.content.get("output")
        return None if output is None else str(output["digest"])

    @property
    def output_name(self) -> str | None:
        output = self.content.get("output")
        return None if output is None else str(output["name"])

    @property
    def seed(self) -> int:
        return int(self.content["seed"])

    @property
    def key(self) -> SecretKey:
        return SecretKey.from_hex(self.content["key"])

    @property
    def rows(self) -> NDArray[np.int64]:
        """For each released record its row in the source, counted from 0."""
        kept = np.ones(self.content["input"]["records"], dtype=bool)
        kept[self.content["rows_left_out"]] = False
        order = released_order(int(kept.sum()), self.content["plan"].get("keep_order", False), self.key)
        return np.flatnonzero(kept)[order]

    def check_repeatable(self, engine: str) -> None:
        """`SettingsError` if what was done then cannot be done again here."""
        made_by = self.content["software"]["microagg"]
        if made_by != __version__:
            raise wording.record_of_other_version(str(self.path), made_by, __version__)
        if engine != self.engine:
            raise wording.record_of_other_engine(str(self.path), self.engine)
        if self.content["stopped"] or any(task["truncated"] for task in self.content["tasks"]):
            raise wording.search_was_cut_short(str(self.path))

    def check_source(self, name: str, digest: str) -> None:
        """`DataError` if the source is another one than that of the record."""
        if digest != self.digest:
            raise wording.other_source(name, str(self.path))

    def check_released(self, digest: str) -> None:
        """`DataError` if a run releases other values than the record."""
        if digest != self.content["released"]:
            raise self._not_repeated()

    def check_output(self, protected: Microdata) -> None:
        """`DataError` if this is not what was released, file or frame."""
        origin = protected.origin
        is_it = (
            origin.digest == self.output_digest
            if origin.digest
            else digest_of_values(protected.table) == self.content["released"]
        )
        if not is_it:
            raise wording.other_output(origin.name, str(self.path))

    def check_file(self, name: str, digest: str) -> None:
        """`DataError` if a file of the same format has other bytes than that of the record."""
        ending = Path(name).suffix
        same_format = self.output_name is not None and Path(self.output_name).suffix == ending
        if same_format and ending.lower() not in HOLD_THE_TIME and digest != self.output_digest:
            raise self._not_repeated()

    def _not_repeated(self) -> DataError:
        software = [f"{name} {version}" for name, version in self.content["software"].items()]
        return wording.not_repeated(str(self.path), software)


def software_versions() -> dict[str, str]:
    """For the record of a run, without `importlib.metadata`, which is slow to import."""
    return {
        "microagg": __version__,
        "numpy": np.__version__,
        "pyarrow": pa.__version__,
        "python": sys.version.split()[0],
    }


def released_order(n: int, keep: bool, key: SecretKey) -> NDArray[np.int64]:
    """The order of the released records: that of the source, or one that follows from the key."""
    return np.arange(n) if keep else key.permutation("order of the records", n)


def reading_of(origin: Origin) -> dict[str, Any]:
    """How a file was read, by the names of options."""
    csv = {} if origin.csv is None else {name: getattr(origin.csv, name) for name in CSV_OPTIONS}
    return origin.layout.given() | csv


def digest_of(source: Microdata) -> str:
    """Of the file's bytes; of the values and their types, if it was no file."""
    return source.origin.digest or digest_of_values(source.table)


def digest_of_values(table: pa.Table) -> str:
    """Of names, types and values, in their order."""
    table = without_hidden_values(table).combine_chunks()
    hashed = hashlib.sha256()
    with pa.ipc.new_stream(_Hashing(hashed), table.schema.remove_metadata()) as stream:
        stream.write_table(table.replace_schema_metadata(None))
    return f"values sha256:{hashed.hexdigest()}"


class _Hashing(io.RawIOBase):
    """A file that keeps nothing but the digest of what is written."""

    def __init__(self, hashed: Any) -> None:
        self._hashed = hashed

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self._hashed.update(content)
        return len(content)


def read_record(path: Path) -> RunRecord:
    """The record in this file, or the only one in this folder; `DataError` if it cannot be used."""
    if path.is_dir():
        found = sorted(path.glob(f"*{RECORD_ENDING}"))
        if len(found) != 1:
            raise wording.not_one_record(str(path), [each.name for each in found])
        path = found[0]
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise wording.no_such_file(str(path)) from None
    except OSError as error:
        raise wording.cannot_read(str(path), error) from None
    try:
        content = json.loads(text) if len(text) <= MOST_BYTES else None
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.get("format") != RECORD_FORMAT:
        raise wording.not_a_record(str(path))
    if content.get("version") != RECORD_VERSION:
        raise wording.record_of_other_kind(str(path))
    record = RunRecord(path, content)
    if not _is_complete(record):
        raise wording.not_a_record(str(path))
    return record


def _is_complete(record: RunRecord) -> bool:
    """Whether it has all that others ask of it, each of its kind."""
    content = record.content
    try:
        kinds = {"plan": dict, "seed": int, "stopped": bool, "engine": str, "released": str, "tasks": list}
        about, software = content["input"], content["software"]
        return (
            all(isinstance(content[name], kind) for name, kind in kinds.items())
            and 0 <= content["seed"] < 2**64
            and all(isinstance(version, str) for version in software.values())
            and "microagg" in software
            and isinstance(about["reading"], dict)
            and isinstance(about["digest"], str)
            and isinstance(about["path"], str | None)
            and all(isinstance(task["truncated"], bool) for task in content["tasks"])
            and (record.output_digest is None or bool(record.output_name))
            and (record.engine != "local" or _are_rows(content["rows_left_out"], about["records"]))
            and bool(record.key)
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        return False


def _are_rows(listed: Any, records: Any) -> bool:
    return (
        isinstance(listed, list)
        and isinstance(records, int)
        and all(isinstance(row, int) and 0 <= row < records for row in listed)
    )
