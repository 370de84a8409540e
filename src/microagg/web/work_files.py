"""The names of the files that jobs leave in their folders."""

from __future__ import annotations

# Beside a release.
REPORT = "internal-report.html"
EXTERNAL = "external-report.html"
INTERNAL = "microagg-internal"
"""The folder of the record."""
RELEASE = "release.pickle"
"""What is known about the release but its source, for a bound that is proven later."""

# Of a file that was read.
TABLE = "table.arrow"
ORIGIN = "origin.pickle"
