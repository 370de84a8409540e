"""`microagg protect --engine spark`; imported only for that, since Spark need not be installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from microagg import wording
from microagg.cli.spark_session import session_of
from microagg.engines.spark.limits import check_settings, refuse_files
from microagg.engines.spark.protecting import protect
from microagg.engines.spark.spark_errors import translating_spark_errors
from microagg.engines.spark.writing import check_folder
from microagg.formats.spark_folders import check_ending, source_of
from microagg.plan.file_format import file_options
from microagg.plan.protection import Protection
from microagg.settings.declared import ProtectRun
from microagg.write.run_record import RunRecord


def protect_folder(
    source: object,
    target: object,
    settings: dict[str, Any],
    run: ProtectRun,
    repeats: RunRecord | None = None,
) -> tuple[Any, Path]:
    """The release of a folder or table, and its record."""
    if source is None:
        raise wording.not_given("FILE", "microagg protect folder, or input in the plan")
    if target is None:
        raise wording.not_given("the output", "-o protected.parquet")
    layout = file_options(settings)
    protection = Protection.of(settings)
    # Before Spark is started, which takes seconds.
    check_ending(str(target))
    check_settings(protection)
    refuse_files(run.labels, run.report, run.external_report)
    session = session_of(run.master)
    with translating_spark_errors(session, "reading the source"):
        frame = source_of(session, str(source), layout)
        _, places = check_folder(frame, str(target), run.force, run.record)
    release = protect(frame, protection, repeats=repeats).with_earlier(places)
    return release, release.save(str(target), force=run.force, record=run.record)
