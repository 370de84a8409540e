"""The command-line face: a module for each command, shared options, and the entry that joins them."""

from microagg.cli.entry import app, main

__all__ = ["app", "main"]
