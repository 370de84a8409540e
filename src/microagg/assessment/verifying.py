"""A release that was written earlier, verified once more from its record: the whole check, repeated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg import errors, read, wording
from microagg.arrow_values import from_numpy
from microagg.methods.run import Watcher
from microagg.methods.steps import Steps
from microagg.model import CsvFormat, Microdata, Origin
from microagg.plan.file_format import file_options
from microagg.plan.protection import Protection
from microagg.verdict import Finding, Verdict, note, refuse
from microagg.verify import (
    CheckedSource,
    WrittenFile,
    check_source,
    digest_of_bytes,
    file_findings,
    same_values,
    verdict_on_file,
    verify_protected,
    written_findings,
)
from microagg.verify.key_readings import KeyReading, key_readings
from microagg.verify.promises import Notation, promises_of, source_as_counted
from microagg.wording import Step
from microagg.write.output_paths import INTERNAL_FOLDER
from microagg.write.run_record import RECORD_ENDING, RunRecord, read_record, software_versions


def _record_of_release(given: Path | None, release: Path) -> RunRecord:
    """The record in this file, or in this folder by the release's name; by default beside the release."""
    place = release.parent / INTERNAL_FOLDER if given is None else given
    named = place / f"{release.name}{RECORD_ENDING}"
    record = read_record(named if given is None or named.exists() else place)
    if record.output_digest is None:
        raise wording.not_a_record(str(record.path))
    return record


def verify_release(
    file: Path, record: Path | None, source: Path | None, progress: Watcher | None = None
) -> Verdict:
    """Everything that was counted when the file was written, counted again, and what differs since then."""
    found = _record_of_release(record, file)
    if found.engine == "spark":
        return _verify_folder(file, found)
    steps = Steps(progress)
    microdata = steps.call(Step.READING, lambda: _source_of_record(found, source))
    differences = [] if microdata.origin.digest == found.digest else [refuse("source_not_recorded")]
    checked = steps.call(Step.READING_AGAIN, lambda: check_source(microdata))
    protection = Protection.of(found.content["plan"]).complete(microdata.table.column_names)
    claims = promises_of(protection, microdata.table.column_names, {})
    readings = key_readings(checked.table, protection, checked.notation)
    try:
        with file.open("rb") as opened:
            if digest_of_bytes(opened) != found.output_digest:
                differences.append(refuse("file_not_recorded"))
    except OSError as error:
        raise wording.cannot_read(str(file), error) from None
    about = WrittenFile(
        file,
        file.name,
        read.origin_of(file).format,
        microdata.table,
        microdata.table,
        microdata.origin,
        frozenset(protection.changed) - frozenset(readings),
        by_this_library=found.content.get("software") == software_versions(),
    )
    origin = Origin(about.kind, str(file), file, about.csv if about.kind == "CSV" else None)
    try:
        written = steps.call(Step.READING_BACK, lambda: read.read_back(file, origin))
    except errors.DataError:
        return Verdict(protection.k, _explained([refuse("written_unreadable")], differences))
    rows = found.rows
    released = _as_released(written, checked, rows, protection, readings, claims.recoded, origin.csv)
    verdict = steps.call(Step.VERIFYING, partial(verify_protected, checked, released, rows, protection))
    about = replace(about, released=released)
    decimal = (origin.csv.decimal if origin.csv else None) or "."
    of_file = steps.call(
        Step.VERIFYING_FILE,
        lambda: [*written_findings(released, written, verdict, claims, decimal), *file_findings(about)],
    )
    return replace(verdict, findings=_explained([*of_file, *verdict.findings], differences))


def _explained(findings: Sequence[Finding], differences: Sequence[Finding] = ()) -> tuple[Finding, ...]:
    """What differs from the record, and what else was found: that follows from it, or has a cause that is
    not known.
    """
    cause: Literal["first finding", "unknown"] = "first finding" if differences else "unknown"
    forbidding = ("refuse", "decide")
    return (
        *differences,
        *(replace(each, cause=cause) if each.action in forbidding else each for each in findings),
    )


def _source_of_record(record: RunRecord, given: Path | None) -> Microdata:
    """The source, read as it was read for the release."""
    path = record.source if given is None else given
    if path is None:
        raise wording.source_to_be_given(str(record.path))
    settings = record.settings
    return read.microdata_from_file(Path(path), file_options(settings))


def _as_released(
    written: pa.Table,
    source: CheckedSource,
    rows: NDArray[np.int64],
    protection: Protection,
    readings: Mapping[str, KeyReading],
    recoded: Sequence[str],
    csv: CsvFormat | None,
) -> pa.Table:
    """The file's table in the types of the source, where that changes no value: most formats have fewer
    types. Masked columns are numbers, or keys as they were released.
    """
    decimal = (csv.decimal if csv else None) or "."
    policy = replace(protection, missing_codes={})
    table = source_as_counted(written, policy, Notation(decimal, csv is not None))
    for name, reading in readings.items():
        if name in written.column_names:
            at = written.column_names.index(name)
            table = table.set_column(at, name, reading.restored(written.column(at), decimal))
    if len(rows) != written.num_rows or not ((rows >= 0) & (rows < source.table.num_rows)).all():
        return table
    for at, name in enumerate(written.column_names):
        if name in protection.changed or name not in source.table.column_names:
            continue
        expected = source.table.column(name).take(from_numpy(rows))
        if same_values(expected, written.column(at), decimal):
            table = table.set_column(at, name, expected)
        elif name in recoded:
            table = table.set_column(at, name, _in_type(written.column(at), expected.type))
    return table


def _in_type(codes: Any, kind: pa.DataType) -> Any:
    """Codes of strata in the source's type, if they can have it."""
    try:
        if pa.types.is_dictionary(kind):
            return codes.cast(kind.value_type).dictionary_encode().cast(kind)
        return codes.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return codes


def _verify_folder(folder: Path, record: RunRecord) -> Verdict:
    """Of a release by Spark: its files are counted by themselves, on this machine.

    Its record does not say which record of the source a released one was, so that values cannot be compared
    with the source's.
    """
    columns = record.content["input"]["columns"]
    protection = Protection.of(record.content["plan"]).complete(columns)
    claims = promises_of(protection, columns, {})
    given = record.content["input"]["reading"]
    csv = CsvFormat(given.get("delimiter", ","), given.get("encoding", "utf-8"), given.get("decimal", "."))
    written = _parts_of(folder, csv)
    names = [name for name in columns if name not in claims.dropped]
    if written is None or written.column_names != names:
        return Verdict(protection.k, (refuse("columns_not_recorded"),))
    if any(path.suffix == ".csv" for path in folder.iterdir()):
        notation = Notation(csv.decimal or ".", True)
        written = source_as_counted(written, replace(protection, missing_codes={}), notation)
    verdict = verdict_on_file(written, claims)
    findings: list[Finding] = [*verdict.findings, note("counted_alone")]
    needed = record.content["verdict"]["counted"]["records"]
    if written.num_rows != needed:
        findings.append(refuse("written_rows_differ", written=written.num_rows, verified=needed))
    return replace(verdict, findings=_explained(findings))


def _parts_of(folder: Path, csv: CsvFormat) -> pa.Table | None:
    """All files of a folder as Spark has written them: Parquet, or CSV in which every column is text. None
    if they do not have the same columns.
    """
    if not folder.is_dir():
        raise wording.no_such_file(str(folder))
    parts = [path for path in sorted(folder.iterdir()) if path.suffix in (".parquet", ".csv")]
    if not parts:
        raise wording.no_parts(str(folder))
    tables = [_read_part(path, csv) for path in parts]
    return pa.concat_tables(tables) if len({str(each.schema) for each in tables}) == 1 else None


def _read_part(path: Path, csv: CsvFormat) -> pa.Table:
    if path.suffix == ".parquet":
        return read.read_back(path, Origin("Parquet", str(path), path))
    return read.read_back(path, Origin("CSV", str(path), path, csv))
