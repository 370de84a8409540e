"""The command-line face: a module for each command, options that several have, and where they come together."""

from microagg.cli.entry import app, main

__all__ = ["app", "main"]
