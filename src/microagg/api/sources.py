"""Files and data frames, as they are given in Python, each read by the options that are for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from microagg import read, wording
from microagg.formats.table import FORMATS
from microagg.methods.run import Watcher
from microagg.methods.steps import Steps
from microagg.model import CSV_OPTIONS, Layout, Microdata
from microagg.plan.plan_file import Planned
from microagg.read.files import STANDARD_INPUT
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


def one_file(original: object, layout: Layout, planned: Planned, progress: Watcher | None) -> Microdata:
    """Read by what is given, and by what a plan has beside it and acts on this file."""
    source = Path(original) if isinstance(original, str | Path) else original
    return microdata_from(source, _completed(layout, planned, _options_of(source)), progress)


def two_files(
    original: object,
    protected: object,
    given: Mapping[str, object],
    planned: Planned,
    progress: Watcher | None,
) -> tuple[Microdata, Microdata]:
    """Both files. Options of files are for those on which they act; a plan's for the original."""
    sources = [Path(data) if isinstance(data, str | Path) else data for data in (original, protected)]
    if all(isinstance(source, Path) and source == STANDARD_INPUT for source in sources):
        raise wording.one_standard_input()
    acting = [_options_of(source) for source in sources]
    of_csv = [name for name in CSV_OPTIONS if name in given]
    if of_csv and not any("delimiter" in options for options in acting):
        raise wording.no_csv_at_all(of_csv)
    first, second = _layouts(given, acting)
    return (
        microdata_from(sources[0], _completed(first, planned, acting[0]), progress),
        microdata_from(sources[1], second, progress),
    )


def _options_of(source: object) -> Sequence[str]:
    """Those that act on a file, none on a data frame."""
    return FORMATS[read.origin_of(source).format].options if isinstance(source, Path) else ()


def _completed(layout: Layout, planned: Planned, acting: Sequence[str]) -> Layout:
    """With what the plan has for this file and is not given."""
    taken = {name: planned.settings.get(name) for name in acting if getattr(layout, name) is None}
    return replace(layout, **taken)


def _layouts(given: Mapping[str, Any], acting: Sequence[Sequence[str]]) -> list[Layout]:
    """One for each file: a pair has what is given for each by itself."""
    of_file: list[dict[str, Any]] = [{}, {}]
    for name, value in given.items():
        if isinstance(value, list):
            of_file[0][name], of_file[1][name] = value
        elif value is not None:
            if not any(name in options for options in acting):
                taking = [each.name for each in FORMATS.values() if name in each.options]
                raise wording.no_effect_on_either(name, taking)
            for own, options in zip(of_file, acting, strict=True):
                own.update({name: value} if name in options else {})
    return [Layout(**own) for own in of_file]
