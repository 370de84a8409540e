"""How a file is written, as far as it is given: options, checked."""

from __future__ import annotations

from typing import Any

from microagg.model import Layout
from microagg.settings.declared import FILE_OPTIONS
from microagg.settings.options import check


def file_options(given: dict[str, Any]) -> Layout:
    """What is given about how the file is written, taken out of all that is given."""
    return Layout(**check(FILE_OPTIONS, {name: given.pop(name) for name in FILE_OPTIONS if name in given}))
