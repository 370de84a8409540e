"""The commands `microagg partition`, `bound` and `verify-certificate`: groups only, nothing is masked."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from microagg.api.partition import lower_bound
from microagg.api.partition import partition as solve
from microagg.certificate import check, load
from microagg.cli.progress_bar import Bar
from microagg.errors import SettingsError
from microagg.methods.steps import Steps
from microagg.model import Table, nearness
from microagg.plan.file_format import file_options
from microagg.read import table_from_file
from microagg.results import Result, check_certifiable
from microagg.settings.declared import BoundRun, CheckRun, MethodSettings, PartitionRun, Printing
from microagg.settings.options import take
from microagg.wording import Step, certificate_holds, same_output, visible
from microagg.write import check_output, labels_text, write_labels, write_texts


def partition(given: dict[str, Any]) -> None:
    run, as_json = take(PartitionRun, given), take(Printing, given).json
    how = take(MethodSettings, given)
    if run.labels is not None:
        check_output(run.labels)
    with Bar(hidden=as_json or not sys.stderr.isatty()) as bar:
        table = _read_columns(given, run.columns, bar)
        result = solve(table, run.k, progress=bar.watcher, **asdict(how))
    if run.labels is not None:
        write_labels(run.labels, result.labels.tolist())
    if as_json:
        click.echo(json.dumps(_partition_summary(result, table.columns, how.scale, run.labels)))
        return
    click.echo(str(result))
    _print_paths(groups=run.labels)


def bound(given: dict[str, Any]) -> None:
    run, own, as_json = take(PartitionRun, given), take(BoundRun, given), take(Printing, given).json
    how = take(MethodSettings, given)
    labels, certificate = run.labels, own.certificate
    for path in (labels, certificate):
        if path is not None:
            check_output(path)
    if labels is not None and certificate is not None and labels.resolve() == certificate.resolve():
        raise same_output(str(labels))
    with Bar(hidden=as_json or not sys.stderr.isatty()) as bar:
        table = _read_columns(given, run.columns, bar)
        if certificate is not None:
            check_certifiable(table.values, run.k)
        proven = lower_bound(
            table,
            run.k,
            scale=how.scale,
            seconds=own.seconds,
            gap=own.gap,
            seed=how.seed or 0,
            threads=how.threads,
            progress=bar.watcher,
        )
    texts = {} if labels is None else {labels: labels_text(proven.incumbent.labels.tolist())}
    refusal = None  # of a certificate, where the run was stopped early: the rest is printed first
    if certificate is not None:
        try:
            texts[certificate] = json.dumps(proven.certificate(), allow_nan=False)
        except SettingsError as error:
            refusal, certificate = error, None
    write_texts(texts)
    if as_json:
        more = {
            "proved": proven.proved,
            "search_columns": proven.columns,
            "cuts": proven.cuts,
            "nodes": proven.nodes,
            "certificate": None if certificate is None else str(certificate),
        }
        click.echo(
            json.dumps(_partition_summary(proven.incumbent, table.columns, how.scale, labels) | more)
        )
    else:
        click.echo(str(proven))
        _print_paths(groups=labels, certificate=certificate)
    if refusal is not None:
        raise refusal


def _print_paths(**paths: Path | None) -> None:
    for what, path in paths.items():
        if path is not None:
            click.echo(f"{what} written to {visible(str(path))}")


def verify_certificate(given: dict[str, Any]) -> None:
    certificate = Path(given.pop("certificate"))
    own, as_json = take(CheckRun, given), take(Printing, given).json
    with Bar(hidden=as_json or not sys.stderr.isatty()) as bar:
        table = _read_columns(given, given.pop("columns", ()), bar)
    checked = check(load(certificate), table.values, seconds=own.seconds)
    if as_json:
        names = ("sse", "sst", "bound", "information_loss", "bound_loss", "gap", "proved")
        summary = {
            "k": checked.k,
            "scale": checked.scale,
            "records": checked.records,
            "columns": list(table.columns),
            **{name: getattr(checked, name) for name in names},
        }
        click.echo(json.dumps(summary))
        return
    of = (checked.k, checked.scale, checked.records, table.columns)
    found = (checked.bound_loss, checked.information_loss, nearness(checked.gap))
    click.echo(certificate_holds(*of, *found))


def _read_columns(given: dict[str, Any], columns: tuple[str, ...], bar: Bar) -> Table:
    file, layout = Path(given.pop("file")), file_options(given)
    return Steps(bar.watcher).call(Step.READING, lambda: table_from_file(file, columns or None, layout))


def _partition_summary(
    result: Result, columns: tuple[str, ...], scale: str, labels: Path | None
) -> dict[str, object]:
    names = [
        "sse",
        "sst",
        "information_loss",
        "bound",
        "bound_loss",
        "gap",
        "recipe",
        "reason",
        "truncated",
        "seconds",
    ]
    return {
        "records": len(result.labels),
        "columns": list(columns),
        "k": result.k,
        "groups": len(result.sizes),
        "smallest_group": int(result.sizes.min()),
        "largest_group": int(result.sizes.max()),
        "scale": scale,
        **{name: getattr(result, name) for name in names},
        "labels": None if labels is None else str(labels),
    }
