"""The command `microagg protect`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from microagg import wording
from microagg.cli.on_spark import Files, protect_folder
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
    decimals_by_column,
    names,
)


def protect(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="The file to protect, of any format that `partition` reads; - is standard input. With "
            "--engine spark: a folder of Parquet or CSV files, or a table.",
        ),
    ] = None,
    k: Annotated[int | None, typer.Option("-k", help="Smallest allowed group size, 3 or more.")] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            help="The protected file; its ending says the format (default: NAME-protected beside FILE).",
        ),
    ] = None,
    keys: Annotated[
        list[str] | None,
        typer.Option(
            help="Numeric columns to mask jointly; given again: another subset, masked by itself."
        ),
    ] = None,
    each: Annotated[list[str] | None, typer.Option(help="Numeric columns to mask each by itself.")] = None,
    strata: Strata = None,
    confidential: Annotated[
        list[str] | None, typer.Option(help="Columns that no group may disclose by having one value only.")
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Columns to leave out: names, numbers, addresses.")
    ] = None,
    pass_: Annotated[
        list[str] | None, typer.Option("--pass", help="Columns to release as they are.")
    ] = None,
    weight: Annotated[str | None, typer.Option(help="Survey weights: means become weighted means.")] = None,
    small_strata: SmallStrata = None,
    missing: Missing = None,
    missing_codes: MissingCodes = None,
    aggregate: Annotated[str | None, typer.Option(help="What groups publish: mean or median.")] = None,
    decimals: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=N", help="Decimals of what is published (default: the source's and two)."
        ),
    ] = None,
    zeros: Zeros = None,
    shuffle: Annotated[bool, typer.Option("--shuffle", help="Change the order of the records.")] = False,
    confidential_as: Annotated[
        str | None,
        typer.Option(help="Confidential columns: keep, subset (masked), noise or correlated-noise."),
    ] = None,
    noise: Annotated[
        float | None,
        typer.Option(
            help="Standard deviation of the noise, as a share of the column's: 0.01 or more (0.1)."
        ),
    ] = None,
    min_distinct: Annotated[
        int | None, typer.Option(help="Least number of confidential values in a group (2).")
    ] = None,
    retry: Annotated[
        bool, typer.Option("--retry", help="Look for other groups until none is homogeneous or dominated.")
    ] = False,
    allow_pairs: Annotated[bool, typer.Option("--allow-pairs", help="Accept k = 2.")] = False,
    accept_real_values: Annotated[
        bool, typer.Option("--accept-real-values", help="Accept that medians are respondents' values.")
    ] = False,
    accept_homogeneous: Annotated[
        bool, typer.Option("--accept-homogeneous", help="Accept groups with one confidential value.")
    ] = False,
    accept_partial: Annotated[
        bool, typer.Option("--accept-partial", help="Accept k-anonymity of each subset but not jointly.")
    ] = False,
    method: Annotated[
        str | None, typer.Option(help="A name or recipe, see `microagg methods` (auto).")
    ] = None,
    scale: CommonUnit = None,
    effort: Effort = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            help="Wall-clock limit of the search for groups. Reading, MDAV to start from, verifying and "
            "writing are not covered."
        ),
    ] = None,
    seed: GroupSeed = None,
    threads: Threads = None,
    certify: Annotated[
        bool, typer.Option("--certify", help="Also prove how far from the optimum the groups are at most.")
    ] = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    header: Header = None,
    sheet: Sheet = None,
    header_row: HeaderRow = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            readable=False,
            help="A plan file, as `microagg plan` writes it; an option replaces the plan's word.",
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            readable=False,
            help="Folder for the internal record (default: microagg-internal beside the output).",
        ),
    ] = None,
    labels: Annotated[
        bool, typer.Option("--labels", help="Also write the group of each record, into that folder.")
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(help="Also write an HTML page with all that is known, not to be released."),
    ] = None,
    external_report: Annotated[
        Path | None,
        typer.Option(help="Also write an HTML page with what users of the output may know."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the output.")] = False,
    engine: Annotated[str, typer.Option(help="local, or spark for data beyond one machine.")] = "local",
    master: Annotated[
        str | None,
        typer.Option(help="Of Spark: local[4], yarn, k8s://… (default: as configured, or local[*])."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Protect FILE: write a copy in which at least k records share each combination of the keys.

    The copy is read back and counted before it gets its name. Lists of columns are separated by commas; one
    that is given again adds up.
    """
    from microagg.api.protect import protect as make
    from microagg.cli.progress_bar import Bar
    from microagg.engines.release import OutputPaths
    from microagg.plan.checks import choice
    from microagg.plan.plan_file import read_plan
    from microagg.read import origin_of

    words: dict[str, Any] = dict(read_plan(plan)) if plan is not None else {}
    given = {
        "k": k,
        "keys": None if keys is None else [names(subset) for subset in keys],
        "each": all_names(each),
        "strata": all_names(strata),
        "confidential": all_names(confidential),
        "drop": all_names(drop),
        "pass_": all_names(pass_),
        "weight": weight,
        "small_strata": small_strata,
        "missing": missing,
        "missing_codes": codes_by_column(missing_codes),
        "aggregate": aggregate,
        "decimals": decimals_by_column(decimals),
        "zeros": zeros,
        "shuffle": shuffle or None,
        "confidential_as": confidential_as,
        "noise": noise,
        "min_distinct": min_distinct,
        "retry": retry or None,
        "allow_pairs": allow_pairs or None,
        "accept_real_values": accept_real_values or None,
        "accept_homogeneous": accept_homogeneous or None,
        "accept_partial": accept_partial or None,
        "method": method,
        "scale": scale,
        "effort": effort,
        "seconds": seconds,
        "seed": seed,
        "threads": threads,
        "certify": certify or None,
        "delimiter": delimiter,
        "encoding": encoding,
        "decimal": decimal,
        "header": header,
        "sheet": sheet,
        "header_row": header_row,
    }
    if "pass" in words:
        words["pass_"] = words.pop("pass")
    options = {word: value for word, value in given.items() if value is not None}
    overruled = [word for word, value in options.items() if word in words and words[word] != value]
    words |= options
    if overruled and not as_json:
        note = wording.plan_overruled(str(plan), [word.rstrip("_") for word in overruled])
        typer.echo(f"note: {note}")
    if choice("engine", engine, ("local", "spark")) == "spark":
        files = Files(record, labels, report, external_report, force)
        _print(*protect_folder(file, output, words, master, files), as_json=as_json)
        return
    if master is not None:
        raise wording.without_spark("--master")
    source = _source(file, words.pop("input", None))
    origin = origin_of(source)
    target = _target(output, words.pop("output", None), source)
    _check_settings(words)
    OutputPaths.of(target, record, labels, report, external_report).check(origin, force)
    with Bar(hidden=as_json or not sys.stderr.isatty()) as bar:
        release = make(source, progress=bar.update, **words)
    where = release.save(
        target, force=force, record=record, labels=labels, report=report, external_report=external_report
    )
    pages = {"report": report, "external_report": external_report}
    named = {name: str(page) for name, page in pages.items() if page is not None}
    _print(release, str(target), where, as_json=as_json, more=named)
    if as_json:
        return
    if report is not None:
        typer.echo(f"internal report, not to be released: {wording.visible(str(report))}")
    if external_report is not None:
        typer.echo(f"report for those who get the release: {wording.visible(str(external_report))}")


def _print(
    release: Any, target: str, where: Path, as_json: bool, more: Mapping[str, str] | None = None
) -> None:
    if as_json:
        typer.echo(json.dumps(_summary(release, target, where) | dict(more or {})))
        return
    typer.echo(str(release))
    typer.echo(f"written to {wording.visible(target)}")
    typer.echo(f"internal record, not to be released: {wording.visible(str(where))}")


def _source(file: str | None, planned: object) -> Path:
    if file is None and planned is None:
        raise wording.word_missing("FILE", "microagg protect data.csv, or input in the plan")
    return Path(file if file is not None else str(planned))


def _check_settings(words: Mapping[str, Any]) -> None:
    """A mistake in them is told before that a file is there already."""
    from microagg.model import file_options
    from microagg.plan.protection import Protection

    settings = {word.rstrip("_"): value for word, value in words.items()}
    file_options(settings)
    Protection.of(settings)


def _target(output: str | None, planned: object, source: Path) -> Path:
    if output == "-":
        raise wording.no_standard_output()
    if output is not None:
        return Path(output)
    if planned is not None:
        return Path(str(planned))
    if source == Path("-"):
        raise wording.word_missing("the output", "-o protected.csv")
    from microagg.write import protected_name

    return source.with_name(protected_name(source))


def _summary(release: Any, target: str, where: Path) -> dict[str, object]:
    return {
        "output": target,
        "record": str(where),
        "k": release.claims.k,
        "information_loss": release.information_loss,
        "bound_loss": release.bound_loss,
        "groups": release.groups,
        "seconds": release.seconds,
        "verdict": release.verdict.as_dict(),
    }
