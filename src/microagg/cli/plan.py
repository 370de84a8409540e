"""The command `microagg plan`."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from microagg.cli.options import (
    AsJson,
    Decimal,
    Delimiter,
    Encoding,
    K,
)
from microagg.errors import k_above_n, plan_exists

if TYPE_CHECKING:
    from microagg.plan.profile import Profile
    from microagg.plan.suggestions import Suggestion


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
    force: Annotated[bool, typer.Option("--force", help="Replace an existing plan.")] = False,
    as_json: AsJson = False,
) -> None:
    """Look at the columns of FILE and write a plan with a suggested role for each.

    Shows counts, never a value. The plan is a text file to read and change.
    """
    from microagg.cli.profile_table import profile_table
    from microagg.model import CsvFormat
    from microagg.plan.checks import k_of
    from microagg.plan.plan_file import write_plan
    from microagg.plan.profile import profile
    from microagg.plan.suggestions import suggest, words_of
    from microagg.read import microdata_from_file
    from microagg.write import check_output, write_text

    to_file = output != Path("-")
    if to_file:
        if os.path.lexists(output) and not output.is_dir() and not force:
            raise plan_exists(str(output))
        check_output(output, force, file)
    microdata = microdata_from_file(file, CsvFormat(delimiter, encoding, decimal))
    found = profile(microdata)
    if k_of(k) > found.records:
        raise k_above_n(k, found.records)
    suggestions = suggest(microdata, found, k)
    given = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}
    words = {"input": file, **given, **words_of(suggestions, found, k)}
    text = write_plan(words, found, suggestions, output.parent if to_file else Path())
    if to_file:
        write_text(output, text, force)
    if as_json:
        where = {"plan": str(output)} if to_file else {"plan": None, "text": text}
        typer.echo(json.dumps(_profile_summary(found, suggestions) | where, ensure_ascii=False))
    elif to_file:
        typer.echo(profile_table(found, suggestions))
        typer.echo(f"\nplan written to {output}: read it, change it, then microagg protect --plan {output}")
    else:
        typer.echo(text, nl=False)


def _profile_summary(found: Profile, suggestions: Sequence[Suggestion]) -> dict[str, object]:
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
                "role": suggestion.role,
                "reason": suggestion.reason,
            }
            for column, suggestion in zip(found, suggestions, strict=True)
        ],
        "identities": [{"total": each.total, "parts": list(each.parts)} for each in found.identities],
        "identical": [list(names) for names in found.identical],
    }
