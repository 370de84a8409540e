"""The files of an assessment, each read by the options that are for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from microagg import read, wording
from microagg.api.sources import microdata_from
from microagg.formats import FORMATS, without_effect
from microagg.methods.run import Watcher
from microagg.model import CSV_OPTIONS, LAYOUT_OPTIONS, CsvFormat, Layout, Microdata
from microagg.plan.plan_file import Planned
from microagg.read.files import STANDARD_INPUT


def one_file(
    original: object, csv_format: CsvFormat, layout: Layout, planned: Planned, progress: Watcher | None
) -> Microdata:
    """Read by what is given, and by what a plan has beside it and acts on this file."""
    source = Path(original) if isinstance(original, str | Path) else original
    return microdata_from(source, *_completed(csv_format, layout, planned, _kind(source)), progress)


def two_files(
    original: object,
    protected: object,
    csv_format: CsvFormat,
    layout: Mapping[str, object],
    planned: Planned,
    progress: Watcher | None,
) -> tuple[Microdata, Microdata]:
    """Both files. Options of files are for those on which they act; a plan's for the original."""
    sources = [Path(data) if isinstance(data, str | Path) else data for data in (original, protected)]
    if all(isinstance(source, Path) and source == STANDARD_INPUT for source in sources):
        raise wording.one_standard_input()
    kinds = [_kind(source) for source in sources]
    formats = [csv_format if kind == "CSV" else CsvFormat() for kind in kinds]
    if csv_format.given() and not any(each.given() for each in formats):
        raise wording.no_csv_at_all(csv_format.given())
    first, second = _layouts(layout, kinds)
    return (
        microdata_from(sources[0], *_completed(formats[0], first, planned, kinds[0]), progress),
        microdata_from(sources[1], formats[1], second, progress),
    )


def _kind(source: object) -> str:
    return read.origin_of(source).format if isinstance(source, Path) else "frame"


def _completed(
    csv_format: CsvFormat, layout: Layout, planned: Planned, kind: str
) -> tuple[CsvFormat, Layout]:
    """With what the plan has for a file of this kind and is not given."""
    signs = {name: planned.settings.get(name) for name in CSV_OPTIONS if kind == "CSV"}
    csv_format = replace(csv_format, **_where_open(csv_format, signs))
    places = {name: planned.settings.get(name) for name in LAYOUT_OPTIONS}
    acting = {
        name: value
        for name, value in _where_open(layout, places).items()
        if not without_effect(Layout(**{name: value}), kind)
    }
    return csv_format, replace(layout, **acting)


def _where_open(given: CsvFormat | Layout, planned: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value for name, value in planned.items() if value is not None and getattr(given, name) is None
    }


def _layouts(layout: Mapping[str, object], kinds: Sequence[str]) -> list[Layout]:
    """One for each file: a pair has what is given for each by itself."""
    of_file: list[dict[str, Any]] = [{}, {}]
    for name, value in layout.items():
        if isinstance(value, list):
            of_file[0][name], of_file[1][name] = value
        elif value is not None:
            given: dict[str, Any] = {name: value}
            acts = [not without_effect(Layout(**given), kind) for kind in kinds]
            if not any(acts):
                taking = [each.name for each in FORMATS.values() if name in each.options]
                raise wording.no_effect_on_either(name, taking)
            for own, takes in zip(of_file, acts, strict=True):
                own.update(given if takes else {})
    return [Layout(**own) for own in of_file]
