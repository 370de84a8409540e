"""The commands that judge: `microagg assess`, `microagg explain`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from microagg import wording
from microagg.api.assess import assess as judge
from microagg.assessment.assessment import Assessment
from microagg.assessment.before import RiskBefore
from microagg.cli.progress_bar import Bar, one_json
from microagg.measure import MEASURES, MOST_IMPORTANT
from microagg.measure.explain import described_fields, explain_measure, list_measures, measure_named
from microagg.report import check_installed
from microagg.settings.declared import AssessRun, Printing
from microagg.settings.options import take
from microagg.write import check_output, write_text


def assess(given: dict[str, Any]) -> None:
    run, as_json = take(AssessRun, given), take(Printing, given).json
    protected = given.get("protected")
    if run.record is not None:
        given["record"] = run.record
    if not given.keys() & {"original", "plan"}:
        raise wording.not_given("ORIGINAL", "microagg assess data.csv --keys age,income")
    _check_printing(run, as_json, "measures" in given, protected is not None)
    if run.report is not None:
        _check_report(run.report)
    is_short = not (run.all_ or "measures" in given)
    if protected is not None and is_short and not (as_json or run.report):
        given["measures"] = MOST_IMPORTANT
    with Bar(hidden=as_json or not sys.stderr.isatty()) as bar:
        found = judge(progress=bar.watcher, **given)
    if as_json:
        click.echo(one_json(found.as_dict()))
    elif isinstance(found, RiskBefore):
        click.echo(str(found))
    else:
        click.echo(found.table(run.details, run.all_))
        if is_short:
            click.echo(f"\n{wording.more_measures_by_option()}")
    if isinstance(found, Assessment):
        _write_report(found, run.report, given)
        found.raise_if_unsafe()


def _write_report(assessment: Assessment, path: Path | None, given: Mapping[str, Any]) -> None:
    if path is not None:
        from microagg.report.html_pages import assessment_page  # needs the extra `report`

        original = str(given.get("original", "the original"))
        write_text(path, assessment_page(assessment, original, str(given["protected"])))


def _check_printing(run: AssessRun, as_json: bool, are_chosen: bool, is_protected: bool) -> None:
    for option, is_given in (("all", run.all_), ("details", run.details), ("report", run.report)):
        if is_given and not is_protected:
            raise wording.needs_protected(option)
    for option, is_given in (("all", run.all_), ("details", run.details)):
        if as_json and is_given:
            raise wording.no_details_in_json(option)
    if run.all_ and are_chosen:
        raise wording.all_and_some()


def _check_report(report: Path) -> None:
    """Refuse a report that could not be written, before any work."""
    check_installed()
    if report.suffix.lower() not in (".html", ".htm"):
        raise wording.report_not_html(str(report))
    check_output(report)


def explain(given: dict[str, Any]) -> None:
    name = given.get("name")
    if not take(Printing, given).json:
        click.echo(list_measures() if name is None else explain_measure(name))
        return
    chosen = MEASURES if name is None else {name: measure_named(name)}
    described = {
        each: {"title": measure.title, "kind": measure.kind, **described_fields(measure)}
        for each, measure in chosen.items()
    }
    click.echo(json.dumps(described, ensure_ascii=False))
