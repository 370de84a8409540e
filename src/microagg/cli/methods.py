"""The command `microagg methods`."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from microagg.cli.options import (
    AsJson,
)


def methods(
    every: Annotated[
        bool, typer.Option("--all", help="Every method, not only those that most users need.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List methods: what each does, its paper, cost, guarantee and largest sensible n.

    The eight that most users need, or every one with --all; --json lists every one.
    """
    from microagg import wording
    from microagg.methods.catalogue import COMMON, METHODS
    from microagg.methods.recipe import settings_of

    if as_json and every:
        raise wording.no_effect("--all", "--json", "it lists every method.")
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
                "aliases": method.aliases,
                "common": name in COMMON,
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
    for name in METHODS if every else COMMON:
        method = METHODS[name]
        more = {"settings": settings_of(name), "also called": method.aliases}
        table.add_row(
            name,
            method.summary
            + "".join(f"\n[dim]{what}: {', '.join(names)}[/dim]" for what, names in more.items() if names),
            f"{method.paper}; {method.cost}, n up to {method.largest_n:,}; {method.guarantee}",
        )
    console = Console(width=None if sys.stdout.isatty() else 120)
    with console.capture() as text:  # Rich would leave with a code of its own when the reader has gone
        console.print(table)
        console.print(
            "\nJoin names by + to refine (cbfs+mhm), add settings by colons (mdav:stop=2k). "
            "n up to: what takes at most a few minutes on one core.",
            highlight=False,
        )
        if not every:
            others = len(METHODS) - len(COMMON)
            console.print(f"{others} more: microagg methods --all", highlight=False)
    typer.echo(text.get(), nl=False)
