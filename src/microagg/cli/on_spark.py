"""`microagg protect --engine spark`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microagg import wording
from microagg.model import file_options


@dataclass(frozen=True, slots=True)
class Files:
    """What is to be written beside the release, and whether to overwrite."""

    record: Path | None
    labels: bool
    report: Path | None
    external_report: Path | None
    force: bool


def protect_folder(
    file: str | None, output: str | None, words: Mapping[str, Any], master: str | None, files: Files
) -> tuple[Any, str, Path]:
    """The release of a folder or table, where it was written, and its record."""
    from microagg.engines.spark.session import require_spark, session_of

    require_spark()
    from microagg.engines.spark.faults import translating_spark_errors
    from microagg.engines.spark.folders import ending_of, source_of
    from microagg.engines.spark.protecting import protect
    from microagg.engines.spark.words import check_files, check_words
    from microagg.engines.spark.writing import check
    from microagg.plan.protection import Protection

    words = dict(words)
    source = words.pop("input", None) if file is None else file
    target = words.pop("output", None) if output is None else output
    words.pop("input", None)
    words.pop("output", None)
    if source is None:
        raise wording.word_missing("FILE", "microagg protect folder, or input in the plan")
    if target is None:
        raise wording.word_missing("the output", "-o protected.parquet")
    csv, layout = file_options(words)
    if "pass_" in words:
        words["pass"] = words.pop("pass_")
    protection = Protection.of(words)
    # Before Spark is started, which takes seconds.
    ending_of(str(target))
    check_words(protection)
    check_files(files.labels, files.report, files.external_report)
    session = session_of(master)
    with translating_spark_errors(session, "reading the source"):
        frame = source_of(session, str(source), csv, layout)
        check(frame, str(target), files.force, files.record)
    release = protect(frame, protection)
    where = release.save(str(target), force=files.force, record=files.record)
    return release, str(target), where
