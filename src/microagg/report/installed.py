"""What reports are made with: whether it is there, without importing it; and how it is imported."""

from __future__ import annotations

import logging
from importlib.util import find_spec
from typing import Any

from microagg import wording


def check_installed() -> None:
    """`MissingExtra` unless Jinja2 and matplotlib are installed."""
    if any(find_spec(package) is None for package in ("jinja2", "matplotlib")):
        raise wording.needs_extra("Writing reports", "Jinja2 and matplotlib", "report")


def load_matplotlib() -> Any:
    """The module, loaded without its remarks on a home that it cannot write to: nobody can act on them."""
    log = logging.getLogger("matplotlib")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        import matplotlib.font_manager

        return matplotlib
    finally:
        log.setLevel(level)
