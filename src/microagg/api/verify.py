"""`microagg.verify_release`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from microagg import wording
from microagg.assessment import verifying
from microagg.methods.run import Progress
from microagg.verdict import Verdict


def verify_release(
    file: str | Path,
    *,
    record: str | Path | None = None,
    source: str | Path | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Verdict:
    """Verify a release that was written earlier, from its internal record: all that was counted then.

    file: the release; of Spark, its folder.
    record: its internal record, or the folder of that (default: microagg-internal beside the release).
    source: the source, if it is no longer where the record says; it must be the very same file.
    progress: called about twenty times a second; what it returns has no effect.

    Nothing is raised for a release that must not be used: look at the verdict's `safe` and `failures`.
    Raises SettingsError or DataError for what cannot be read.
    """
    if progress is not None and not callable(progress):
        raise wording.not_callable("progress", type(progress).__name__)
    return verifying.verify_release(
        Path(file),
        None if record is None else Path(record),
        None if source is None else Path(source),
        progress,
    )
