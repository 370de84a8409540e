"""The command `microagg compare`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from microagg import wording
from microagg.api.assess import compare as try_all
from microagg.cli.progress_bar import Bar, one_json
from microagg.plan.plan_file import Planned
from microagg.read import origin_of
from microagg.settings.declared import CompareRun, Printing
from microagg.settings.options import take
from microagg.write import check_output, write_texts
from microagg.write.output_paths import INTERNAL_FOLDER


def compare(given: dict[str, Any]) -> None:
    run, as_json = take(CompareRun, given), take(Printing, given).json
    file = _file(given.pop("file", None), given.get("plan"))
    source = origin_of(file).path
    _check_options(run, source)
    beside = Path() if source is None else source.parent
    record = given.setdefault("record", beside / INTERNAL_FOLDER)
    try:
        with Bar(hidden=as_json or not sys.stderr.isatty()) as bar:
            comparison = try_all(file, progress=bar.watcher, **given)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(wording.kept_for_later(str(record))) from None
    texts = {} if run.output is None else {run.output: comparison.csv()}
    if run.map_ is not None:
        texts[run.map_] = comparison.svg()
    write_texts(texts, run.force)
    if as_json:
        click.echo(one_json(comparison.as_dict()))
        return
    click.echo(str(comparison))
    for what, path in (("table", run.output), ("map", run.map_)):
        if path is not None:
            click.echo(f"{what} written to {wording.visible(str(path))}")


def _file(given: object, plan: Path | None) -> Path:
    named = Planned.of(plan).input if given is None else given
    if named is None:
        raise wording.not_given("FILE", "microagg compare data.csv, or input in the plan")
    return Path(str(named))


def _check_options(run: CompareRun, source: Path | None) -> None:
    """Refuse, before any work is done, what could not be written."""
    if run.output is not None and run.output.suffix.lower() != ".csv":
        raise wording.only_csv(str(run.output))
    if run.map_ is not None and run.map_.suffix.lower() != ".svg":
        raise wording.only_svg(str(run.map_))
    for path in (run.output, run.map_):
        if path is not None:
            check_output(path, run.force, source)
