"""The command `microagg serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from microagg import wording


def serve(
    file: Annotated[
        Path | None, typer.Argument(readable=False, metavar="[FILE]", help="A file to begin with.")
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to serve on (default: any that is free).")
    ] = 0,
    host: Annotated[
        str, typer.Option(help="Address to serve on; any but the default is reachable by others.")
    ] = "127.0.0.1",
    open_: Annotated[bool, typer.Option("--open/--no-open", help="Open a browser, too.")] = True,
    allow_paths: Annotated[
        bool,
        typer.Option("--allow-paths", help="Let the pages open any file that you can read, by its path."),
    ] = False,
    memory: Annotated[
        float | None,
        typer.Option(help="Most memory of a job, in GiB (a quarter of the machine's)."),
    ] = None,
    minutes: Annotated[float, typer.Option(help="Most minutes of a job.")] = 60.0,
) -> None:
    """Serve pages that lead from a file to a protected one, to a browser on this machine.

    Prints a link that lets one browser in, once. Nothing leaves the machine. Uploaded files and releases
    are kept in a private folder until their session or the server ends.
    """
    from importlib.util import find_spec

    for module in ("shiny", "jinja2", "matplotlib"):
        if find_spec(module) is None:
            raise wording.needs_extra("The browser face", module, "web")
    from microagg.web.jobs import Limits
    from microagg.web.serve import Settings
    from microagg.web.serve import serve as run

    if memory is not None and not memory > 0:
        raise wording.bad_number("memory", memory, "a number above 0")
    if not minutes > 0:
        raise wording.bad_number("minutes", minutes, "a number above 0")
    usual = Limits.usual()
    limits = Limits(usual.memory if memory is None else int(memory * 2**30), minutes)
    try:
        settings = Settings(host, port, open_, file, limits, paths=allow_paths)
        run(settings, lambda text: typer.echo(text))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(wording.server_ended()) from None
