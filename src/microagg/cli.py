"""The command-line face."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from microagg.cli_assess import assess, explain
from microagg.cli_compare import compare
from microagg.cli_options import (
    AsJson,
    ColumnNames,
    Decimal,
    Delimiter,
    Encoding,
    InFile,
    K,
    LabelsFile,
    Seed,
    Threads,
    Unit,
    names,
)
from microagg.cli_protect import protect
from microagg.errors import (
    Cancelled,
    ContractError,
    DataError,
    MissingExtra,
    SettingsError,
    UnsafeRelease,
    k_above_n,
    plan_exists,
    same_output,
)

if TYPE_CHECKING:
    from microagg.plan.profile import Profile
    from microagg.plan.suggestions import Suggestion
    from microagg.results import Result

# Exit codes; `main` maps exceptions to them.
USAGE, UNSAFE, FILES, INTERNAL, INTERRUPTED, TERMINATED = 2, 3, 4, 70, 130, 143

app = typer.Typer(
    help="Protect numeric microdata by microaggregation: groups of at least k similar records, "
    "published as their means.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Options of the command itself."""
    if show:
        from microagg import __version__

        typer.echo(f"microagg {__version__}")
        raise typer.Exit


@app.command()
def methods(
    as_json: AsJson = False,
) -> None:
    """List every method: what it does, its paper, cost, guarantee and largest sensible n."""
    from microagg.methods.catalogue import METHODS
    from microagg.methods.recipe import settings_of

    if as_json:
        entries = {
            name: {
                "summary": method.summary,
                "paper": method.paper,
                "cost": method.cost,
                "guarantee": method.guarantee,
                "largest_n": method.largest_n,
                "settings": settings_of(name),
                "starts_from": method.starts_from,
            }
            for name, method in METHODS.items()
        }
        typer.echo(json.dumps(entries, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 1, 0))
    table.add_column("method", no_wrap=True)
    table.add_column("what it does, and its settings", ratio=3)
    table.add_column("paper; cost, sensible n; guarantee", ratio=3)
    for name, method in METHODS.items():
        settings = ", ".join(settings_of(name))
        table.add_row(
            name,
            method.summary + (f"\n[dim]settings: {settings}[/dim]" if settings else ""),
            f"{method.paper}; {method.cost}, n up to {method.largest_n:,}; {method.guarantee}",
        )
    console = Console(width=None if sys.stdout.isatty() else 120)
    with console.capture() as text:  # Rich would leave with a code of its own when the reader has gone
        console.print(table)
        console.print(
            "\nJoin names by + to refine (cbfs+mhm), add settings by colons (mdav:stop=2k). "
            "n up to: what takes a few minutes on one core.",
            highlight=False,
        )
    typer.echo(text.get(), nl=False)


@app.command()
def partition(
    file: InFile,
    k: K,
    columns: ColumnNames = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    method: Annotated[str, typer.Option(help="A name or recipe, see `microagg methods`.")] = "auto",
    scale: Unit = "zscore",
    effort: Annotated[
        str, typer.Option(help="fast, balanced or best, for methods that can always do more.")
    ] = "balanced",
    seconds: Annotated[
        float | None, typer.Option(help="Wall-clock limit; refinements plan their work to fit into it.")
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
    from microagg.api import partition as solve
    from microagg.model import CsvFormat
    from microagg.progress_bar import Bar
    from microagg.read import table_from_file
    from microagg.write import check_output, write_labels

    if labels is not None:
        check_output(labels)
    table = table_from_file(file, names(columns), CsvFormat(delimiter, encoding, decimal))
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
        typer.echo(f"groups written to {labels}")


@app.command()
def bound(
    file: InFile,
    k: K,
    columns: ColumnNames = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
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
    from microagg.api import lower_bound
    from microagg.model import CsvFormat
    from microagg.progress_bar import Bar
    from microagg.read import table_from_file
    from microagg.results import check_certifiable
    from microagg.write import check_output, write_json, write_labels

    for path in (labels, certificate):
        if path is not None:
            check_output(path)
    if labels is not None and certificate is not None and labels.resolve() == certificate.resolve():
        raise same_output(str(labels))
    table = table_from_file(file, names(columns), CsvFormat(delimiter, encoding, decimal))
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
    if labels is not None:
        write_labels(labels, proven.incumbent.labels.tolist())
    refusal = None  # of a certificate, where the run was stopped early: the rest is told first
    if certificate is not None:
        try:
            write_json(certificate, proven.certificate())
        except SettingsError as error:
            refusal, certificate = error, None
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
                typer.echo(f"{what} written to {path}")
    if refusal is not None:
        raise refusal


@app.command()
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
    columns: Annotated[str | None, typer.Option(help="The same columns as then (default: all).")] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    as_json: AsJson = False,
) -> None:
    """Check a certificate against the data, without the solver that wrote it.

    Leaves with exit code 0 if the bound is proven, 2 if not.
    """
    from microagg.certificate import check, load
    from microagg.model import CsvFormat
    from microagg.read import table_from_file

    table = table_from_file(file, names(columns), CsvFormat(delimiter, encoding, decimal))
    checked = check(load(certificate), table.values)
    if as_json:
        summary = {
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
    distance = "optimal" if checked.proved else f"at most {checked.gap:.3g} % above the optimum"
    typer.echo(
        f"The certificate holds: no partition loses less than {checked.bound_loss:.6f} %; "
        f"its partition loses {checked.information_loss:.6f} % and is {distance}."
    )


@app.command()
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
    from microagg.model import CsvFormat
    from microagg.plan.checks import k_of
    from microagg.plan.plan_file import write_plan
    from microagg.plan.profile import profile
    from microagg.plan.suggestions import suggest, words_of
    from microagg.profile_table import profile_table
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


app.command()(protect)
app.command()(assess)
app.command()(explain)
app.command()(compare)


def main() -> NoReturn:
    """Run the command and leave with the exit code that says what happened."""
    signal.signal(signal.SIGTERM, _terminated)
    sys.exit(_run())


def _run() -> int:
    try:
        # Not app(): Typer's own main() swallows Ctrl-C and closed pipes before we see them.
        command = typer.main.get_command(app)
        with command.make_context("microagg", sys.argv[1:]) as context:
            command.invoke(context)
        sys.stdout.flush()
    except typer.Exit as stop:
        return stop.exit_code
    except KeyboardInterrupt as stop:
        return _complain(str(stop) or "Interrupted; nothing was written.", INTERRUPTED)
    except (typer.Abort, Cancelled):
        return _complain("Interrupted; nothing was written.", INTERRUPTED)
    except (SettingsError, DataError, MissingExtra) as error:
        return _complain(str(error), USAGE)
    except UnsafeRelease as error:
        return _complain(str(error), UNSAFE)
    except BrokenPipeError:
        # The reader of our output has gone, as `| head` does; keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _complain(error.strerror or str(error), FILES)
    except MemoryError:
        return _complain("There is not enough memory for these data and this method.", INTERNAL)
    except ContractError as error:
        return _complain(str(error), INTERNAL)
    except Exception as error:
        # Usage errors come from Typer, whose class for them moved between versions.
        show = getattr(error, "show", None)
        if callable(show):
            show()
            return USAGE
        return _complain(_internal(error), INTERNAL)
    return 0


def _internal(error: Exception) -> str:
    """An unexpected exception's own words might quote data: name only its kind and place."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"Internal error: {type(error).__name__} at {Path(last.filename).name}:{last.lineno}. "
        "This is a bug in microagg; please report it with the command you typed."
    )


def _complain(message: str, code: int) -> int:
    if (
        _termination.is_set()
    ):  # libraries may turn the exit that they are asked for into errors of their own
        return TERMINATED
    typer.echo(f"microagg: {message}", err=True)
    return code


_termination = threading.Event()


def _terminated(_signal: int, _frame: FrameType | None) -> None:
    _termination.set()
    sys.exit(TERMINATED)
