"""Whether what reports are made with is there, without importing it."""

from __future__ import annotations

from importlib.util import find_spec

from microagg import errors


def check_installed() -> None:
    """`MissingExtra` unless Jinja2 and matplotlib are installed."""
    if any(find_spec(package) is None for package in ("jinja2", "matplotlib")):
        raise errors.needs_extra("Writing reports", "Jinja2 and matplotlib", "report")
