"""The command `microagg protect`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from microagg import wording
from microagg.api.protect import protect_with, refuse_beside_repeat
from microagg.cli.progress_bar import Bar
from microagg.cli.spark_session import require_spark
from microagg.errors import UnsafeRelease
from microagg.plan.file_format import file_options
from microagg.plan.plan_file import read_plan
from microagg.plan.protection import Protection
from microagg.read import origin_of
from microagg.report import check_installed
from microagg.settings.declared import Printing, ProtectRun
from microagg.settings.options import take
from microagg.verdict import Verdict, note
from microagg.write import protected_name
from microagg.write.output_paths import OutputPaths
from microagg.write.run_record import RunRecord, read_record


def protect(given: dict[str, Any]) -> None:
    run, printing = take(ProtectRun, given), take(Printing, given)
    repeats = None if run.repeat is None else _record_to_repeat(run.repeat, given, run)
    if repeats is not None:
        given = {"file": repeats.source, **given, **repeats.settings}
    planned = read_plan(run.plan) if run.plan is not None else {}
    source, target = planned.pop("input", None), planned.pop("output", None)
    source, target = given.pop("file", source), given.pop("output", target)
    overruled = [name for name, value in given.items() if name in planned and planned[name] != value]
    if overruled and not printing.json:
        click.echo(f"note: {note('plan_replaced', source=str(run.plan), options=overruled)}")
    settings = {**planned, **given}
    try:
        if run.engine == "spark":
            require_spark()
            from microagg.cli.on_spark import protect_folder  # it imports Spark

            release, record = protect_folder(source, target, settings, run, repeats)
            _print(release, str(target), record, printing.json)
            return
        if run.master is not None:
            raise wording.without_spark("--master")
        _protect_file(_source_path(source), target, settings, run, printing.json, repeats)
    except UnsafeRelease as error:
        if printing.json:
            verdict = error.verdict or Verdict(settings.get("k", 0), error.findings)
            click.echo(json.dumps({"output": None, "verdict": verdict.as_dict()}))
        raise


def _protect_file(
    source: Path,
    output: object,
    settings: dict[str, Any],
    run: ProtectRun,
    as_json: bool,
    repeats: RunRecord | None,
) -> None:
    origin = origin_of(source)
    target = _target(output, source)
    _check_settings(settings)
    places = OutputPaths.of(target, run.record, run.labels, run.report, run.external_report)
    places.check(origin, run.force)
    if places.reports:
        check_installed()
    with Bar(hidden=as_json or not sys.stderr.isatty()) as bar:
        release = protect_with(source, settings, bar.watcher, repeats=repeats)
        release = release.with_earlier(places)
        record = release.save(
            target,
            force=run.force,
            record=run.record,
            labels=run.labels,
            report=run.report,
            external_report=run.external_report,
            progress=bar.watcher,
        )
    pages = {"report": run.report, "external_report": run.external_report}
    written = {name: str(page) for name, page in pages.items() if page is not None}
    _print(release, str(target), record, as_json, written)


def _print(
    release: Any, target: str, record: Path, as_json: bool, pages: Mapping[str, str] | None = None
) -> None:
    pages = pages or {}
    if as_json:
        click.echo(json.dumps(_release_summary(release, target, record) | dict(pages)))
        return
    click.echo(str(release))
    click.echo(f"written to {wording.visible(target)}")
    click.echo(f"internal record, not to be released: {wording.visible(str(record))}")
    if "report" in pages:
        click.echo(f"internal report, not to be released: {wording.visible(pages['report'])}")
    if "external_report" in pages:
        click.echo(f"report for those who get the release: {wording.visible(pages['external_report'])}")


def _record_to_repeat(path: Path, given: Mapping[str, Any], run: ProtectRun) -> RunRecord:
    """The record of the release that is to be repeated, which has all settings."""
    others = [name for name in given if name not in ("file", "output")]
    refuse_beside_repeat([*(["plan"] if run.plan is not None else []), *others])
    record = read_record(path)
    record.check_repeatable(run.engine)
    return record


def _source_path(given: object) -> Path:
    if given is None:
        raise wording.not_given("FILE", "microagg protect data.csv, or input in the plan")
    return Path(str(given))


def _check_settings(settings: Mapping[str, Any]) -> None:
    """A mistake in them is reported before a file that is there already."""
    others = dict(settings)
    file_options(others)
    Protection.of(others)


def _target(output: object, source: Path) -> Path:
    if output == "-":
        raise wording.no_standard_output()
    if output is not None:
        return Path(str(output))
    if source == Path("-"):
        raise wording.not_given("the output", "-o protected.csv")
    return source.with_name(protected_name(source))


def _release_summary(release: Any, target: str, record: Path) -> dict[str, object]:
    return {
        "output": target,
        "record": str(record),
        "k": release.claims.k,
        "information_loss": release.information_loss,
        "bound_loss": release.bound_loss,
        "groups": release.groups,
        "seconds": release.seconds,
        "verdict": release.verdict.as_dict(),
    }
