"""The command `microagg methods`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from microagg import wording
from microagg.methods.catalogue import COMMON, METHODS
from microagg.methods.recipe import settings_of
from microagg.settings.declared import MethodsRun, Printing
from microagg.settings.options import take


def methods(given: dict[str, Any]) -> None:
    run, as_json = take(MethodsRun, given), take(Printing, given).json
    if as_json and run.all_:
        raise wording.no_effect("--all", "--json", "it lists every method.")
    if as_json:
        click.echo(json.dumps({name: _entry(name) for name in METHODS}, ensure_ascii=False))
        return
    console = Console(width=None if sys.stdout.isatty() else 120)
    with console.capture() as text:  # Rich would leave with a code of its own when the reader has gone
        console.print(_table_of_methods(METHODS if run.all_ else COMMON))
        console.print(
            "\nJoin names by + to refine (cbfs+mhm), add settings by colons (mdav:stop=2k). "
            "n up to: what takes at most a few minutes on one core.",
            highlight=False,
        )
        if not run.all_:
            others = len(METHODS) - len(COMMON)
            console.print(f"{others} more: microagg methods --all", highlight=False)
    click.echo(text.get(), nl=False)


def _entry(name: str) -> dict[str, object]:
    method = METHODS[name]
    return {
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


def _table_of_methods(names: Iterable[str]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 1, 0))
    table.add_column("method", no_wrap=True)
    table.add_column("what it does, and its settings", ratio=3)
    table.add_column("paper; cost, sensible n; guarantee", ratio=3)
    for name in names:
        method = METHODS[name]
        more = {"settings": settings_of(name), "also called": method.aliases}
        table.add_row(
            name,
            method.summary
            + "".join(f"\n[dim]{what}: {', '.join(each)}[/dim]" for what, each in more.items() if each),
            f"{method.paper}; {method.cost}, n up to {method.largest_n:,}; {method.guarantee}",
        )
    return table
