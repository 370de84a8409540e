"""The commands that judge: `microagg assess`, `microagg explain`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from microagg import wording
from microagg.cli.options import AsJson, Decimal, Delimiter, Encoding, all_names, codes_by_column, names
from microagg.cli.terminal import one_json

_Said = TypeVar("_Said")


def assess(
    original: Annotated[
        Path,
        typer.Argument(metavar="ORIGINAL", help="The file before protection; - is standard input."),
    ],
    protected: Annotated[
        Path, typer.Argument(metavar="PROTECTED", help="The protected file, by microagg or any other tool.")
    ],
    keys: Annotated[
        list[str] | None,
        typer.Option(help="Numeric columns that were masked; given again: another subset."),
    ] = None,
    each: Annotated[list[str] | None, typer.Option(help="Numeric columns masked each by itself.")] = None,
    strata: Annotated[
        list[str] | None, typer.Option(help="Columns that were left as they are and count as keys.")
    ] = None,
    confidential: Annotated[
        list[str] | None, typer.Option(help="Columns that others must not learn, for attribute disclosure.")
    ] = None,
    weight: Annotated[str | None, typer.Option(help="Survey weights, for weighted measures.")] = None,
    id_: Annotated[
        str | None,
        typer.Option("--id", help="A column by which records are matched (default: by their order)."),
    ] = None,
    k: Annotated[int | None, typer.Option("-k", help="What was promised; it is counted again.")] = None,
    missing_codes: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=CODES", help="Numbers or texts that mean missing, such as age=9,99 and pay=-."
        ),
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(help='A regression to compare, such as "income ~ age + size".')
    ] = None,
    indicator: Annotated[
        list[str] | None, typer.Option(help='A figure to compare, such as "mean income by region".')
    ] = None,
    measures: Annotated[
        list[str] | None, typer.Option(help="Names, see `microagg explain` (default: all measures).")
    ] = None,
    details: Annotated[
        bool,
        typer.Option("--details", help="Also the parts of each measure: by column, scenario, …"),
    ] = False,
    report: Annotated[
        Path | None, typer.Option(help="Also write it as an HTML page, not to be released.")
    ] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    header: Annotated[
        list[str] | None,
        typer.Option(
            help="Of CSV or Excel files: yes if the first row holds names, no if it is a record. Given "
            "again: of PROTECTED, as are --sheet and --header-row."
        ),
    ] = None,
    sheet: Annotated[
        list[str] | None,
        typer.Option(help="Of Excel files: the sheet to read, with what is hidden in it."),
    ] = None,
    header_row: Annotated[
        list[int] | None,
        typer.Option(help="Of CSV or Excel files: the row with the names; those above are skipped."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure what PROTECTED loses and risks, compared with ORIGINAL.

    Both files are only read. Leaves with exit code 3, after the table, if PROTECTED must not be released:
    if its keys are the original's own values, or if it does not have the k that is given.
    """
    from microagg.api.assess import assess as judge
    from microagg.cli.progress_bar import Bar

    if as_json and details:
        raise wording.no_details_in_json()
    if report is not None:
        _check_report(report)
    with Bar(hidden=as_json or not sys.stderr.isatty()) as bar:
        found = judge(
            original,
            protected,
            keys=None if keys is None else [names(subset) or [] for subset in keys],
            each=all_names(each),
            strata=all_names(strata),
            confidential=all_names(confidential),
            weight=weight,
            id=id_,
            k=k,
            missing_codes=codes_by_column(missing_codes),
            model=model,
            indicator=indicator,
            measures=all_names(measures),
            delimiter=delimiter,
            encoding=encoding,
            decimal=decimal,
            header=_one_or_two(header),
            sheet=_one_or_two(sheet),
            header_row=_one_or_two(header_row),
            progress=bar.update,
        )
    if report is not None:
        from microagg.engines.reporting import assessment_report
        from microagg.write import write_text

        write_text(report, assessment_report(found, str(original), str(protected)))
    typer.echo(one_json(found.as_dict()) if as_json else found.table(details))
    found.raise_if_unsafe()


def _one_or_two(given: list[_Said] | None) -> _Said | list[_Said] | None:
    """Said once, it is about both files."""
    return given[0] if given is not None and len(given) == 1 else given


def _check_report(report: Path) -> None:
    """Refuse a report that could not be written, before any work."""
    from microagg.report import check_installed
    from microagg.write import check_output

    check_installed()
    if report.suffix.lower() not in (".html", ".htm"):
        raise wording.report_not_html(str(report))
    check_output(report)


def explain(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A measure; without a name, all are listed.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what a measure is: definition, formula, range, what higher values mean, reference."""
    from microagg.measure import MEASURES
    from microagg.measure.explain import (
        described_fields,
        explain_measure,
        list_measures,
        measure_named,
    )

    if as_json:
        chosen = MEASURES if name is None else {name: measure_named(name)}
        described = {
            each: {"title": measure.title, "kind": measure.kind, **described_fields(measure)}
            for each, measure in chosen.items()
        }
        typer.echo(json.dumps(described, ensure_ascii=False))
        return
    typer.echo(list_measures() if name is None else explain_measure(name))
