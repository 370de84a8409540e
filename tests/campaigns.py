"""Which part of the long campaigns runs: all of it, or the sample of continuous integration."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pytest

SAMPLE = bool(os.environ.get("MICROAGG_LONG_SAMPLE"))

only_in_all = pytest.mark.skipif(SAMPLE, reason="not in the sample of the long campaigns: make test-long")
at_length = [pytest.mark.long, only_in_all]
"""Of tests that `make test` runs on fewer inputs."""


def first_of(cases: Sequence[tuple[Any, ...]], many: int = 1) -> list[Any]:
    """Cases that take long and say the same of other data: `make test` has the first ones."""
    return [*cases[:many], *(pytest.param(*case, marks=pytest.mark.long) for case in cases[many:])]
