"""Which part of the long campaigns runs: all of it, or the sample of continuous integration."""

from __future__ import annotations

import os

import pytest

SAMPLE = bool(os.environ.get("MICROAGG_LONG_SAMPLE"))

only_in_all = pytest.mark.skipif(SAMPLE, reason="not in the sample of the long campaigns: make test-long")
at_length = [pytest.mark.long, only_in_all]
"""Of tests that `make test` runs on fewer inputs."""
