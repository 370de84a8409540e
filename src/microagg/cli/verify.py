"""The command `microagg verify`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from microagg.api.verify import verify_release
from microagg.cli.progress_bar import Bar
from microagg.cli.terminal import one_json
from microagg.settings.declared import Printing, VerifyRun
from microagg.settings.options import take


def verify(given: dict[str, Any]) -> None:
    run, as_json = take(VerifyRun, given), take(Printing, given).json
    with Bar(hidden=as_json or not sys.stderr.isatty()) as bar:
        verdict = verify_release(
            Path(given["file"]), record=run.record, source=run.source, progress=bar.watcher
        )
    click.echo(one_json({"verdict": verdict.as_dict()}) if as_json else str(verdict))
    verdict.raise_if_unsafe()
