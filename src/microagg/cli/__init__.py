"""The command-line face: a module for each command, shared options, and the entry that joins them."""

from typing import TYPE_CHECKING, Any

from microagg.cli.starting import main

if TYPE_CHECKING:
    from microagg.cli.commands import app as app


def __getattr__(name: str) -> Any:
    """`app` is imported when it is asked for: `main` answers signals before it imports anything large."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from microagg.cli.commands import app

    return app


__all__ = ["app", "main"]
