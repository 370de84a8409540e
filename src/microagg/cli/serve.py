"""The command `microagg serve`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from microagg import wording
from microagg.settings.declared import ServeRun
from microagg.settings.options import take


def serve(given: dict[str, Any]) -> None:
    run = take(ServeRun, given)
    for module in ("starlette", "uvicorn", "python_multipart", "jinja2"):
        if find_spec(module) is None:
            raise wording.needs_extra("The browser face", module, "web")
    from microagg.web.jobs import Limits  # needs the extra
    from microagg.web.serve import Settings
    from microagg.web.serve import serve as serve_pages

    file = Path(given["file"]) if "file" in given else None
    usual = Limits.usual()
    limits = Limits(usual.memory if run.memory is None else int(run.memory * 2**30), run.minutes)
    try:
        settings = Settings(
            run.host, run.port, run.open, file, limits, paths=run.allow_paths, keep=run.keep
        )
        serve_pages(settings, lambda text: click.echo(text))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(wording.server_ended()) from None
