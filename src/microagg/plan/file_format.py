"""How a file is written, as far as it is given: options, checked."""

from __future__ import annotations

from typing import Any

from microagg.model import FILE_OPTIONS, Layout
from microagg.settings.declared import FileSettings
from microagg.settings.options import check, options_of

_OPTIONS = {name: each for name, each in options_of(FileSettings).items() if name in FILE_OPTIONS}


def file_options(given: dict[str, Any]) -> Layout:
    """What is given about how the file is written, taken out of all that is given."""
    return Layout(**check(_OPTIONS, {name: given.pop(name) for name in FILE_OPTIONS if name in given}))
