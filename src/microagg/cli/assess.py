"""The commands that judge: `microagg assess`, `microagg explain`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from microagg import wording
from microagg.api.assess import assess as judge
from microagg.cli.progress_bar import Bar
from microagg.cli.terminal import one_json
from microagg.measure import MEASURES
from microagg.measure.explain import described_fields, explain_measure, list_measures, measure_named
from microagg.report import check_installed
from microagg.settings.declared import AssessRun, Printing
from microagg.settings.options import take
from microagg.write import check_output, write_text


def assess(given: dict[str, Any]) -> None:
    run, as_json = take(AssessRun, given), take(Printing, given).json
    original, protected = Path(given.pop("original")), Path(given.pop("protected"))
    if as_json and run.details:
        raise wording.no_details_in_json()
    if run.report is not None:
        _check_report(run.report)
    with Bar(hidden=as_json or not sys.stderr.isatty()) as bar:
        assessment = judge(original, protected, progress=bar.watcher, **given)
    if run.report is not None:
        from microagg.report.pages import assessment_page  # needs the extra `report`

        write_text(run.report, assessment_page(assessment, str(original), str(protected)))
    click.echo(one_json(assessment.as_dict()) if as_json else assessment.table(run.details))
    assessment.raise_if_unsafe()


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
