"""The command `microagg plan`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from microagg.cli.options import (
    AsJson,
    Decimal,
    Delimiter,
    Encoding,
    Header,
    HeaderRow,
    K,
    Sheet,
)
from microagg.cli.terminal import one_json
from microagg.wording import no_plan, plan_exists, visible

if TYPE_CHECKING:
    from microagg.engines.drafting import Draft
    from microagg.plan.profile import Profile


def plan(
    file: Annotated[
        Path,
        typer.Argument(
            readable=False,
            metavar="FILE",
            help="CSV, Parquet, Feather, Excel (.xlsx), Stata, SPSS or SAS, by its ending; "
            "- is CSV from standard input.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", readable=False, help="Where the plan goes; - prints it instead of the table."
        ),
    ] = Path("plan.toml"),
    k: K = 3,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    header: Header = None,
    sheet: Sheet = None,
    header_row: HeaderRow = None,
    allow_pairs: Annotated[bool, typer.Option("--allow-pairs", help="Plan with k = 2.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing plan.")] = False,
    as_json: AsJson = False,
) -> None:
    """Look at the columns of FILE and write a plan with a suggested role for each.

    Shows counts, never a value. The plan is a text file to read and change. It is tried on quick groups,
    so that protect takes it as it is; where nothing can be protected, the reason is shown instead.
    """
    from microagg.cli.profile_table import profile_table
    from microagg.engines.drafting import draft
    from microagg.model import CsvFormat, Layout
    from microagg.plan.plan_file import write_plan
    from microagg.plan.profile import profile
    from microagg.read import microdata_from_file, origin_of
    from microagg.write import check_output, write_text

    to_file = output != Path("-")
    origin_of(file)  # a file that is not there is told before that a plan is
    if to_file:
        if os.path.lexists(output) and not output.is_dir() and not force:
            raise plan_exists(str(output))
        check_output(output, force, file)
    layout = Layout(header, sheet, header_row)
    microdata = microdata_from_file(file, CsvFormat(delimiter, encoding, decimal), layout)
    found = profile(microdata)
    drafted = draft(microdata, found, k, allow_pairs)
    if drafted.refusal:
        if to_file and not as_json:
            typer.echo(profile_table(found, drafted))
            typer.echo()
        raise no_plan(drafted.refusal)
    given = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal, **layout.given()}
    words = {"input": file, **given, **drafted.words}
    text = write_plan(
        words, found, drafted.suggestions, output.parent if to_file else Path(), drafted.notes
    )
    if to_file:
        write_text(output, text, force)
    if as_json:
        where = {"plan": str(output)} if to_file else {"plan": None, "text": text}
        typer.echo(one_json(_profile_summary(found, drafted) | where))
    elif to_file:
        typer.echo(profile_table(found, drafted))
        for note in microdata.origin.notes:
            typer.echo(f"note: {note}")
        to = visible(str(output))
        typer.echo(f"\nplan written to {to}: read it, change it, then microagg protect --plan {to}")
    else:
        typer.echo(text, nl=False)


def _profile_summary(found: Profile, drafted: Draft) -> dict[str, object]:
    return {
        "records": found.records,
        "columns": [
            {
                "name": column.name,
                "kind": column.kind,
                "distinct": column.distinct,
                "missing": column.missing,
                "zeros": column.zeros,
                "decimals": column.decimals,
                "identifier": column.identifier or None,
                "missing_codes": list(column.missing_codes),
                "coded_missing": column.coded_missing,
                "role": suggestion.role,
                "reason": suggestion.reason,
            }
            for column, suggestion in zip(found, drafted.suggestions, strict=True)
        ],
        "identities": [{"total": each.total, "parts": list(each.parts)} for each in found.identities],
        "identical": [list(names) for names in found.identical],
        "settings": drafted.words,
        "notes": list(drafted.notes),
    }
