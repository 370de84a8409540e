"""The command `microagg compare`."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from microagg import wording
from microagg.cli.options import (
    AsJson,
    CommonUnit,
    Decimal,
    Delimiter,
    Effort,
    Encoding,
    GroupSeed,
    Header,
    HeaderRow,
    Missing,
    MissingCodes,
    Sheet,
    SmallStrata,
    Strata,
    Threads,
    Zeros,
    all_names,
    codes_by_column,
    names,
)
from microagg.cli.terminal import one_json

KS, METHODS = "3,5,10", "mdav,auto"


def compare(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The file to protect; - is standard input."),
    ],
    k: Annotated[list[str] | None, typer.Option("-k", help="Smallest group sizes to try (3,5,10).")] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(help="Names or recipes to try, see `microagg methods` (mdav,auto)."),
    ] = None,
    keys: Annotated[
        list[str] | None, typer.Option(help="Numeric columns to mask; given again: another subset.")
    ] = None,
    subsets: Annotated[
        list[str] | None,
        typer.Option(help="A way to split the keys: joint, each, or such as a,b/c,d. May be repeated."),
    ] = None,
    strata: Strata = None,
    confidential: Annotated[
        list[str] | None, typer.Option(help="Columns that others must not learn.")
    ] = None,
    weight: Annotated[str | None, typer.Option(help="Survey weights.")] = None,
    small_strata: SmallStrata = None,
    missing: Missing = None,
    missing_codes: MissingCodes = None,
    zeros: Zeros = None,
    allow_pairs: Annotated[bool, typer.Option("--allow-pairs", help="Also try k = 2.")] = False,
    scale: CommonUnit = None,
    effort: Effort = None,
    seconds: Annotated[float | None, typer.Option(help="Wall-clock limit of each strategy.")] = None,
    seed: GroupSeed = None,
    threads: Threads = None,
    max_risk: Annotated[
        float,
        typer.Option(help="Largest share of records that may be linked; within it, the least loss."),
    ] = 0.1,
    measures: Annotated[
        list[str] | None, typer.Option(help="More measures, see `microagg explain`, for more columns.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the table to this CSV file.")
    ] = None,
    map_: Annotated[
        Path | None, typer.Option("--map", help="Draw the risk-utility map into this SVG file.")
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(help="Folder for finished strategies (default: microagg-internal beside FILE)."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Compute everything anew, also what was finished earlier.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the table and the map.")] = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    header: Header = None,
    sheet: Sheet = None,
    header_row: HeaderRow = None,
    as_json: AsJson = False,
) -> None:
    """Try every k with every method on FILE, and compare what each loses and risks.

    Nothing is released. Marked are the strategies that no other beats in both loss and risk, and the one to
    take: the least loss among those within --max-risk, or else the least risk. What was finished before an
    interruption is not computed again.
    """
    from microagg.api.assess import compare as try_all
    from microagg.cli.progress_bar import Bar
    from microagg.engines.release import INTERNAL_FOLDER
    from microagg.read import origin_of
    from microagg.write import write_texts

    source = origin_of(file).path
    _check(output, map_, force, source)
    beside = Path() if source is None else source.parent
    folder = beside / INTERNAL_FOLDER if record is None else record
    try:
        with Bar(hidden=as_json or not sys.stderr.isatty()) as bar:
            found = try_all(
                file,
                _whole_numbers(",".join(k or [KS])),
                all_names(methods or [METHODS]) or [],
                keys=None if keys is None else [names(subset) or [] for subset in keys],
                subsets=None if subsets is None else [_way(text) for text in subsets],
                strata=all_names(strata),
                confidential=all_names(confidential),
                weight=weight,
                small_strata=small_strata,  # type: ignore[arg-type]  # the plan checks it
                missing=missing,  # type: ignore[arg-type]
                missing_codes=codes_by_column(missing_codes),
                zeros=zeros,  # type: ignore[arg-type]
                allow_pairs=allow_pairs or None,
                scale=scale,  # type: ignore[arg-type]
                effort=effort,  # type: ignore[arg-type]
                seconds=seconds,
                seed=seed,
                threads=threads,
                max_risk=max_risk,
                measures=all_names(measures),
                record=folder,
                again=again,
                delimiter=delimiter,
                encoding=encoding,
                decimal=decimal,
                header=header,
                sheet=sheet,
                header_row=header_row,
                progress=bar.update,
            )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(wording.kept_for_later(str(folder))) from None
    texts = {} if output is None else {output: found.csv()}
    if map_ is not None:
        texts[map_] = found.svg()
    write_texts(texts, force)
    if as_json:
        typer.echo(one_json(found.as_dict()))
        return
    typer.echo(str(found))
    for what, path in (("table", output), ("map", map_)):
        if path is not None:
            typer.echo(f"{what} written to {wording.visible(str(path))}")


def _check(output: Path | None, picture: Path | None, force: bool, source: Path | None) -> None:
    """Refuse, before any work is done, what could not be written."""
    from microagg.write import check_output

    if output is not None and output.suffix.lower() != ".csv":
        raise wording.only_csv(str(output))
    if picture is not None and picture.suffix.lower() != ".svg":
        raise wording.only_svg(str(picture))
    for path in (output, picture):
        if path is not None:
            check_output(path, force, source)
    if picture is not None:
        from microagg.engines.risk_map import check_drawing

        check_drawing()


def _whole_numbers(text: str) -> list[int]:
    try:
        return [int(each) for each in text.split(",")]
    except ValueError:
        raise wording.bad_value("k", "whole numbers separated by commas, such as 3,5,10") from None


def _way(text: str) -> str | list[list[str]]:
    """A word, or subsets separated by slashes outside of quotes."""
    if text in ("joint", "each"):
        return text
    return [names(part) or [] for part in re.findall(r'(?:[^/"]|"[^"]*"?)+', text)]
