"""A verified table -> a file, which gets its name when it has been read back and counted again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from microagg import wording
from microagg.model import CsvFormat, Microdata, Origin, Verified
from microagg.write.checks import output_format
from microagg.write.columns import remove_source_traces
from microagg.write.csv import DEFAULT_CSV_FORMAT, write_csv
from microagg.write.drafts import OWNER_ONLY, Draft, commit_all, draft, translating_os_errors
from microagg.write.excel import write_excel
from microagg.write.statistical import write_statistical

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

        `before`: files that must not exist without the release, nor the release without them.
        """
        commit_all([*before, self._draft], force)


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
    table = remove_source_traces(microdata.table, changed)
    name = str(new.target)
    if origin.format in ("CSV", "Excel"):
        with new.opened() as file:
            if origin.csv is not None:
                write_csv(table, file, name, origin.csv, microdata.origin.csv_look)
            else:
                with draft(new.target, OWNER_ONLY) as sheet:
                    write_excel(table, file, name, sheet.path, microdata.origin.layout.sheet)
    elif origin.format in ("Parquet", "Arrow"):
        _write_typed(table, new.path, name, origin.format)
    else:
        zipped = new.target.suffix.lower() == ".zsav"
        write_statistical(table, new.path, name, origin.format, microdata.origin, changed, zipped)
        new.refuse_full_disk()


def _write_typed(table: pa.Table, path: Path, name: str, kind: str) -> None:
    try:
        if kind == "Parquet":
            from pyarrow import parquet

            parquet.write_table(table, str(path))
        else:
            from pyarrow import feather

            feather.write_feather(table, str(path))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # their messages may quote values
        raise wording.refused_by_writer(name, kind) from None
