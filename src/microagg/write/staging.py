"""A verified table -> a file, which gets its name when it has been read back and counted again."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from microagg import wording
from microagg.formats.csv_writer import DEFAULT_CSV_FORMAT
from microagg.formats.format import Output
from microagg.formats.hidden_values import without_hidden_values
from microagg.formats.table import FORMATS
from microagg.model import CsvFormat, Microdata, Origin, Verified
from microagg.verdict import refuse, unsafe_release
from microagg.write.checks import output_format
from microagg.write.drafts import OWNER_ONLY, Draft, committing, draft, translating_os_errors

_PANDAS = b"pandas"
_READABLE = 0o644
_NEVER_EXECUTABLE = 0o666


@dataclass(frozen=True, slots=True)
class Staged:
    """A release that is written to the disk, but has no name yet."""

    origin: Origin
    """How it is written, for `read_back`."""
    digest: str
    _draft: Draft

    @property
    def readable(self) -> Path:
        """Path by which this process can read it."""
        return self._draft.path

    @property
    def mode(self) -> int:
        """The permissions that it will have."""
        return self._draft.mode

    def commit(self, force: bool = False, before: Sequence[Draft] = ()) -> None:
        """Give it its name; `SettingsError` if that is taken, unless forced.

        Then it is looked at once more: `UnsafeRelease`, and no names, if it is not the file of that name
        any longer, or has other bytes or permissions than when it was written.

        `before`: files that must not exist without the release, nor the release without them.
        """
        with committing([*before, self._draft], force):
            if not self._draft.is_still(self.digest):
                raise unsafe_release([refuse("changed_after_check")])


@contextmanager
def stage(verified: Verified, path: Path, changed: Collection[str] = ()) -> Iterator[Staged]:
    """Write the release, in the format of the path's ending, to a file that has no name.

    `changed` are the columns that were masked or recoded: their value labels and codes for missing values
    are not kept, and their formats show the decimals they now have. Leaving the block without `commit`
    leaves no file.
    """
    source = verified.microdata.origin
    kind = output_format(path, source)
    origin = Origin(kind, str(path), path, _dialect(path, source) if kind == "CSV" else None)
    mode = _READABLE if source.mode is None else source.mode & _NEVER_EXECUTABLE
    with draft(path, mode) as new:
        with translating_os_errors(path):
            _write(verified.microdata, new, origin, frozenset(changed))
            new.finish()
            digest = new.digest()
        yield Staged(origin, digest, new)


def _dialect(path: Path, source: Origin) -> CsvFormat:
    """The source's CSV format, unless the endings .csv and .tsv ask for another delimiter."""
    known = source.csv or DEFAULT_CSV_FORMAT
    before = "" if source.path is None else source.path.suffix.lower()
    after = path.suffix.lower()
    if after == ".tsv":
        return replace(known, delimiter="\t")
    if (before, after, known.delimiter) == (".tsv", ".csv", "\t"):
        return replace(known, delimiter=";" if known.decimal == "," else ",")
    return known


def _write(microdata: Microdata, new: Draft, origin: Origin, changed: frozenset[str]) -> None:
    @contextmanager
    def scratch() -> Iterator[Path]:
        with draft(new.target, OWNER_ONLY) as beside:
            yield beside.path

    write = FORMATS[origin.format].write
    if write is None:
        raise wording.contract_broken("write", f"{origin.format} files are only read")
    table = remove_source_traces(microdata.table, changed)
    write(table, Output(new.path, str(new.target), origin.csv, microdata.origin, changed, scratch))
    new.refuse_full_disk()


def remove_source_traces(table: pa.Table, changed: Collection[str]) -> pa.Table:
    """Remove what is known only from the source: categories that no record has (they may be those of
    suppressed records), values under nulls, and pandas' metadata on columns that were changed or dropped.
    """
    table = without_hidden_values(table)
    metadata = dict(table.schema.metadata or {})
    if _PANDAS in metadata:
        about = json.loads(metadata[_PANDAS])
        kept = set(table.column_names) - set(changed)
        about["columns"] = [entry for entry in about["columns"] if entry["field_name"] in kept]
        # Ranges of row numbers are objects, not names; they are made anew.
        about["index_columns"] = [
            name for name in about["index_columns"] if isinstance(name, str) and name in kept
        ]
        metadata[_PANDAS] = json.dumps(about).encode()
    return table.replace_schema_metadata(metadata or None)
