"""The names of the files that a run leaves in its folder, beside the release."""

from __future__ import annotations

REPORT = "internal-report.html"
EXTERNAL = "external-report.html"
RESULT = "result.html"
"""What the internal report says, to be shown among other things."""
INTERNAL = "microagg-internal"
"""The folder of the record."""
