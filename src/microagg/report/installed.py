"""The optional packages that reports need."""

from __future__ import annotations

import logging
from importlib.util import find_spec
from typing import Any

from microagg import wording


def check_installed() -> None:
    """`MissingExtra` unless Jinja2 and matplotlib are installed; imports neither."""
    if any(find_spec(package) is None for package in ("jinja2", "matplotlib")):
        raise wording.needs_extra("Writing reports", "Jinja2 and matplotlib", "report")


def load_matplotlib() -> Any:
    """Import matplotlib without its log messages on a home folder that it cannot write to."""
    log = logging.getLogger("matplotlib")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        import matplotlib.font_manager

        return matplotlib
    finally:
        log.setLevel(level)
