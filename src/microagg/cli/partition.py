"""The commands `microagg partition`, `bound` and `verify-certificate`: groups only, nothing is masked."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from microagg.cli.options import (
    AsJson,
    ColumnNames,
    Decimal,
    Delimiter,
    Encoding,
    Header,
    HeaderRow,
    InFile,
    K,
    LabelsFile,
    Seed,
    Sheet,
    Threads,
    Unit,
    all_names,
)
from microagg.errors import SettingsError
from microagg.wording import certificate_holds, same_output, visible

if TYPE_CHECKING:
    from microagg.results import Result

SECONDS_OF_CHECK = 3600.0
"""Enough for honest certificates; a forged one could take for ever."""


def partition(
    file: InFile,
    k: K,
    columns: ColumnNames = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    header: Header = None,
    sheet: Sheet = None,
    header_row: HeaderRow = None,
    method: Annotated[str, typer.Option(help="A name or recipe, see `microagg methods`.")] = "auto",
    scale: Unit = "zscore",
    effort: Annotated[
        str, typer.Option(help="fast, balanced or best, for methods that can always do more.")
    ] = "balanced",
    seconds: Annotated[
        float | None,
        typer.Option(
            help="Wall-clock limit of refinements, which plan their work to fit into it. Reading, and the "
            "method they start from (MDAV), are not covered."
        ),
    ] = None,
    seed: Seed = 0,
    threads: Threads = None,
    labels: LabelsFile = None,
    certify: Annotated[
        bool, typer.Option("--certify", help="Also prove how far from the optimum the result is at most.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Partition the records of FILE into groups of at least k and print the information loss.

    Nothing is masked and no record is printed; --labels writes the groups.
    """
    from microagg.api.partition import partition as solve
    from microagg.cli.progress_bar import Bar
    from microagg.model import CsvFormat, Layout
    from microagg.read import table_from_file
    from microagg.write import check_output, write_labels

    if labels is not None:
        check_output(labels)
    layout = Layout(header, sheet, header_row)
    table = table_from_file(file, all_names(columns), CsvFormat(delimiter, encoding, decimal), layout)
    with Bar(hidden=as_json or not sys.stderr.isatty()) as bar:
        result = solve(
            table,
            k,
            method,
            scale=scale,  # type: ignore[arg-type]  # the plan checks it
            effort=effort,  # type: ignore[arg-type]
            seconds=seconds,
            seed=seed,
            threads=threads,
            certify=certify,
            progress=bar.update,
        )
    if labels is not None:
        write_labels(labels, result.labels.tolist())
    if as_json:
        typer.echo(json.dumps(_summary(result, table.columns, scale, labels)))
        return
    typer.echo(str(result))
    if labels is not None:
        typer.echo(f"groups written to {visible(str(labels))}")


def bound(
    file: InFile,
    k: K,
    columns: ColumnNames = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    header: Header = None,
    sheet: Sheet = None,
    header_row: HeaderRow = None,
    scale: Unit = "zscore",
    seconds: Annotated[float, typer.Option(help="Wall-clock limit.")] = 60.0,
    gap: Annotated[float, typer.Option(help="Stop when at most so many percent above the optimum.")] = 0.0,
    seed: Seed = 0,
    threads: Threads = None,
    labels: LabelsFile = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            readable=False,
            help="Write the proof to this new JSON file, for verify-certificate. Internal, like the data.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Prove what no partition of FILE can lose less than, and find a partition near that."""
    from microagg.api.partition import lower_bound
    from microagg.cli.progress_bar import Bar
    from microagg.model import CsvFormat, Layout
    from microagg.read import table_from_file
    from microagg.results import check_certifiable
    from microagg.write import check_output, labels_text, write_texts

    for path in (labels, certificate):
        if path is not None:
            check_output(path)
    if labels is not None and certificate is not None and labels.resolve() == certificate.resolve():
        raise same_output(str(labels))
    layout = Layout(header, sheet, header_row)
    table = table_from_file(file, all_names(columns), CsvFormat(delimiter, encoding, decimal), layout)
    if certificate is not None:
        check_certifiable(table.values, k)
    with Bar(hidden=as_json or not sys.stderr.isatty()) as bar:
        proven = lower_bound(
            table,
            k,
            scale=scale,  # type: ignore[arg-type]  # the plan checks it
            seconds=seconds,
            gap=gap,
            seed=seed,
            threads=threads,
            progress=bar.update,
        )
    texts = {} if labels is None else {labels: labels_text(proven.incumbent.labels.tolist())}
    refusal = None  # of a certificate, where the run was stopped early: the rest is told first
    if certificate is not None:
        try:
            texts[certificate] = json.dumps(proven.certificate(), allow_nan=False)
        except SettingsError as error:
            refusal, certificate = error, None
    write_texts(texts)
    if as_json:
        summary = {
            **_summary(proven.incumbent, table.columns, scale, labels),
            "proved": proven.proved,
            "search_columns": proven.columns,
            "cuts": proven.cuts,
            "nodes": proven.nodes,
            "certificate": None if certificate is None else str(certificate),
        }
        typer.echo(json.dumps(summary))
    else:
        typer.echo(str(proven))
        for what, path in (("groups", labels), ("certificate", certificate)):
            if path is not None:
                typer.echo(f"{what} written to {visible(str(path))}")
    if refusal is not None:
        raise refusal


def verify_certificate(
    certificate: Annotated[
        Path,
        typer.Argument(
            readable=False, metavar="CERTIFICATE", help="What `microagg bound --certificate` wrote."
        ),
    ],
    file: Annotated[
        Path, typer.Argument(readable=False, metavar="FILE", help="The data it was written for.")
    ],
    columns: Annotated[
        list[str] | None, typer.Option(help="The same columns as then (default: all).")
    ] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    header: Header = None,
    sheet: Sheet = None,
    header_row: HeaderRow = None,
    seconds: Annotated[
        float, typer.Option(help="Wall-clock limit, after which nothing counts as proven.")
    ] = SECONDS_OF_CHECK,
    as_json: AsJson = False,
) -> None:
    """Check a certificate against the data, without the solver that wrote it.

    Leaves with exit code 0 if the bound is proven, 2 if not, or not within the limit of time.
    """
    from microagg.certificate import check, load
    from microagg.model import CsvFormat, Layout, nearness
    from microagg.read import table_from_file

    layout = Layout(header, sheet, header_row)
    table = table_from_file(file, all_names(columns), CsvFormat(delimiter, encoding, decimal), layout)
    checked = check(load(certificate), table.values, seconds=seconds)
    if as_json:
        summary = {
            "k": checked.k,
            "scale": checked.scale,
            "records": checked.records,
            "columns": list(table.columns),
            "sse": checked.sse,
            "sst": checked.sst,
            "bound": checked.bound,
            "information_loss": checked.information_loss,
            "bound_loss": checked.bound_loss,
            "gap": checked.gap,
            "proved": checked.proved,
        }
        typer.echo(json.dumps(summary))
        return
    typer.echo(
        certificate_holds(
            checked.k,
            checked.scale,
            checked.records,
            table.columns,
            checked.bound_loss,
            checked.information_loss,
            nearness(checked.gap),
        )
    )


def _summary(
    result: Result, columns: tuple[str, ...], scale: str, labels: Path | None
) -> dict[str, object]:
    return {
        "records": len(result.labels),
        "columns": list(columns),
        "k": result.k,
        "groups": len(result.sizes),
        "smallest_group": int(result.sizes.min()),
        "largest_group": int(result.sizes.max()),
        "scale": scale,
        "sse": result.sse,
        "sst": result.sst,
        "information_loss": result.information_loss,
        "bound": result.bound,
        "bound_loss": result.bound_loss,
        "gap": result.gap,
        "recipe": result.recipe,
        "reason": result.reason,
        "truncated": result.truncated,
        "seconds": result.seconds,
        "labels": None if labels is None else str(labels),
    }
