"""The command `microagg verify`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from microagg import wording
from microagg.api.verify import verify_release
from microagg.cli.progress_bar import Bar, one_json
from microagg.settings.declared import Printing, VerifyRun
from microagg.settings.options import take


def verify(given: dict[str, Any]) -> None:
    run, as_json = take(VerifyRun, given), take(Printing, given).json
    with Bar(hidden=as_json or not sys.stderr.isatty()) as bar:
        verdict = verify_release(
            Path(given["file"]), record=run.record, source=run.source, progress=bar.watcher
        )
    if as_json:
        click.echo(one_json({"verdict": verdict.as_dict()}))
    else:
        click.echo(str(verdict))
        if verdict.safe:
            click.echo(wording.verified_again())
    if not verdict.safe:
        raise wording.not_verified_again(given["file"])
