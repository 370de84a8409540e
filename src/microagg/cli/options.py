"""Options that several commands have, and lists given as text."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from microagg import wording
from microagg.plan.checks import Code, code_in

# Paths are `readable=False`: what cannot be read is told by `read`, in our own words.
InFile = Annotated[
    Path,
    typer.Argument(
        readable=False,
        metavar="FILE",
        help="A file of numbers: CSV, Parquet, Feather, Excel (.xlsx), Stata, SPSS or SAS, by its ending; "
        "- is CSV from standard input.",
    ),
]
Delimiter = Annotated[
    str | None, typer.Option(help="Of a CSV file: the sign between its fields (default: found).")
]
Encoding = Annotated[
    str | None, typer.Option(help="Of a CSV file: utf-8, windows-1252, latin-1, … (default: found).")
]
Decimal = Annotated[
    str | None, typer.Option(help="Of a CSV file: its decimal sign, . or , (default: found).")
]
Header = Annotated[
    str | None,
    typer.Option(help="Of a CSV or Excel file: yes if its first row holds names, no if it is a record."),
]
Sheet = Annotated[
    str | None, typer.Option(help="Of an Excel file: the sheet to read, with what is hidden in it.")
]
HeaderRow = Annotated[
    int | None,
    typer.Option(help="Of a CSV or Excel file: the row with the names; those above are skipped."),
]
K = Annotated[int, typer.Option("-k", help="Smallest allowed group size, at least 2.")]
# A list of columns may be given in parts: what is given again adds up.
ColumnNames = Annotated[
    list[str] | None, typer.Option(help="Columns to use, separated by commas (default: all).")
]
Unit = Annotated[str, typer.Option(help="Common unit: zscore, range, robust, rank or none.")]
Seed = Annotated[int, typer.Option(help="Fixes every random choice.")]
Threads = Annotated[
    int | None, typer.Option(help="At most so many threads (default: all); never changes the result.")
]
LabelsFile = Annotated[
    Path | None, typer.Option(readable=False, help="Write the group of each record to this new CSV file.")
]
# Of `protect` and `compare`: None where nothing is said, for a plan may say it.
Strata = Annotated[
    list[str] | None, typer.Option(help="Columns whose combinations no group crosses; they count as keys.")
]
SmallStrata = Annotated[
    str | None, typer.Option(help="Strata with fewer than k records: refuse, merge or suppress.")
]
Missing = Annotated[str | None, typer.Option(help="Missing values of keys: refuse or by-pattern.")]
MissingCodes = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=CODES", help="Numbers or texts that mean missing, such as age=9,99 and pay=-."
    ),
]
Zeros = Annotated[
    str | None, typer.Option(help="together, or apart: only records with the same zeros are grouped.")
]
CommonUnit = Annotated[
    str | None, typer.Option(help="Common unit: zscore, range, robust, rank or none (zscore).")
]
Effort = Annotated[str | None, typer.Option(help="fast, balanced or best (balanced).")]
GroupSeed = Annotated[int | None, typer.Option(help="Fixes every random choice of the groups (0).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


def names(columns: str | None) -> list[str] | None:
    """As in a CSV file: a name that holds a comma is put in quotes."""
    if columns is None:
        return None
    try:
        return [name.strip() for name in next(csv.reader([columns]), [])]
    except csv.Error:  # a line break outside of quotes
        raise wording.bad_list() from None


def all_names(parts: Sequence[str] | None) -> list[str] | None:
    """The names of all parts in which a list was given; none at all if one part is empty."""
    if parts is None:
        return None
    lists = [names(part) or [] for part in parts]
    return [name for part in lists for name in part] if all(lists) else []


def codes_by_column(given: Sequence[str] | None) -> dict[str, list[Code]] | None:
    """age=9,99 and the like, once for each column."""
    if given is None:
        return None
    found: dict[str, list[Code]] = {}
    for text in given:
        column, equals, codes = text.rpartition("=")
        column = column.strip()
        typed = names(codes) or []
        if not equals or not column or not typed or not all(typed):
            raise wording.bad_value("missing_codes", "COLUMN=CODES, such as age=9,99 or wages=.")
        if column in found:
            raise wording.given_twice("missing_codes", column)
        found[column] = [code_in(code) for code in typed]
    return found


def decimals_by_column(given: Sequence[str] | None) -> dict[str, int] | None:
    """surface=2,employees=0 and the like."""
    if given is None:
        return None
    found: dict[str, int] = {}
    for text in given:
        for pair in names(text) or []:
            column, equals, number = pair.rpartition("=")
            column = column.strip()
            if not equals or not column or not number.strip().isdecimal():
                raise wording.bad_value("decimals", "COLUMN=N, such as surface=2,employees=0")
            if column in found:
                raise wording.given_twice("decimals", column)
            found[column] = int(number)
    return found
