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
    from microagg.web.server import serve as serve_pages  # needs the extra

    file = Path(given["file"]) if "file" in given else None
    try:
        serve_pages(run, file, lambda text: click.echo(text))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(wording.server_ended()) from None
