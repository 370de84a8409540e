"""Files and data frames, as they are given in Python."""

from __future__ import annotations

from pathlib import Path

from microagg import read, wording
from microagg.engines.solving import Watcher
from microagg.engines.steps import Steps
from microagg.model import Layout, Microdata
from microagg.wording import Step


def microdata_from(data: object, layout: Layout, progress: Watcher | None = None) -> Microdata:
    """All columns of a file or a data frame; microdata that were read before are taken as they are."""
    if isinstance(data, Microdata):
        return data
    if isinstance(data, str | Path):
        path = Path(data)
        return Steps(progress).call(Step.READING, lambda: read.microdata_from_file(path, layout))
    if unused := list(layout.given()):
        raise wording.not_csv("what was given", "data frame", unused)
    return read.microdata_of(data)
