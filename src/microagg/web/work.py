"""What jobs do: look at a file, check settings against it, protect it, prove a bound, compare."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from microagg import errors, read, wording
from microagg.api.assess import compare as compare_strategies
from microagg.engines import local
from microagg.engines.drafting import draft
from microagg.engines.outlook import bound_loss, mdav_loss, outlook
from microagg.methods.run import Progress
from microagg.model import Microdata
from microagg.plan.files import file_options
from microagg.plan.profile import ColumnProfile, profile
from microagg.plan.protection import Protection
from microagg.report.pages import main_part
from microagg.web.work_files import EXTERNAL, INTERNAL, REPORT, RESULT
from microagg.web.worker import Line
from microagg.write import protected_name

PREVIEWED = 8
"""Records of a preview."""
LONGEST = 60
"""Letters of a cell in it."""
USUAL_K = 3


def look(arguments: Mapping[str, Any], line: Line) -> dict[str, Any]:
    """What the file holds: a preview, the profile of each column with a suggested role, sums."""
    line.tell(stage="reading the file")
    path, _ = _source(arguments)
    stamp = _stamp(path)
    source = _read({**arguments, "stamp": stamp})
    line.tell(stage="looking at its columns")
    found = profile(source)
    line.tell(stage="trying roles on quick groups")
    drafted = draft(source, found, min(USUAL_K, found.records))
    csv = source.origin.csv
    labels = source.origin.labels.column_labels if source.origin.labels else {}
    return {
        "stamp": stamp,
        "format": source.origin.format,
        "records": found.records,
        "csv": None if csv is None else asdict(csv),
        "notes": [str(note) for note in source.origin.notes],
        "preview": _preview(source),
        "columns": [
            {
                **_facts(column),
                "label": labels.get(column.name) or "",
                "suggested": suggestion.role,
                "because": suggestion.reason,
            }
            for column, suggestion in zip(found, drafted.suggestions, strict=True)
        ],
        "identities": [[each.total, list(each.parts)] for each in found.identities],
        "identical": [list(names) for names in found.identical],
        "settings": drafted.settings,
        "advice": list(drafted.notes),
        "impossible": drafted.refusal,
    }


def _facts(column: ColumnProfile) -> dict[str, Any]:
    return {
        "name": column.name,
        "kind": column.kind,
        "distinct": column.distinct,
        "missing": column.missing,
        "zeros": column.zeros,
        "numeric": column.numeric,
        "identifier": column.identifier,
        "codes": list(column.missing_codes),
        "coded": column.coded_missing,
        "called": column.called_missing,
    }


def _preview(source: Microdata) -> list[list[str]]:
    """The first records as text."""
    rows = source.table.slice(0, PREVIEWED).to_pylist()
    return [["" if cell is None else _cell(cell) for cell in row.values()] for row in rows]


def _cell(value: object) -> str:
    text = str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def check(arguments: Mapping[str, Any], line: Line) -> dict[str, Any]:
    """What a run would work on; its refusals are raised."""
    line.tell(stage="reading the file")
    return asdict(outlook(_read(arguments), Protection.of(arguments["words"])))


def protect(arguments: Mapping[str, Any], line: Line) -> dict[str, Any]:
    """A verified release with its reports, in the folder that is given."""
    line.tell(stage="reading the file")
    source = _read(arguments)
    protection = Protection.of(arguments["words"])
    line.tell(stage="MDAV, to compare with", done=0.0)
    with suppress(errors.Cancelled):  # then there is nothing to compare with
        line.tell(mdav=mdav_loss(source, protection, _without_loss(line)))
    line.tell(stage="looking for groups", done=0.0)
    release = local.protect(source, protection, line.watch)
    line.tell(stage="counting again, measuring and drawing", done=0.0, loss=release.information_loss)
    folder = Path(arguments["folder"])
    target = folder / protected_name(Path(arguments["name"]))
    release.save(
        target,
        record=folder / INTERNAL,
        report=folder / REPORT,
        external_report=folder / EXTERNAL,
        progress=line.watch,
    )
    (folder / RESULT).write_text(main_part((folder / REPORT).read_text("utf-8")), "utf-8")
    return {
        "file": target.name,
        "k": release.claims.k,
        "records": release.verdict.records,
        "groups": release.groups,
        "loss": release.information_loss,
        "bound": release.bound_loss,
        "sentence": release.verdict.sentence,
        "notes": [str(note) for note in release.verdict.notes],
        "stopped": release.stopped,
        "cut_short": release.stopped or any(task.truncated for task in release.partitions),
        "recipes": sorted({task.recipe for task in release.partitions if task.columns}),
        "asked": dict(protection.settings),
        "words": dict(release.protection.settings),
        "seconds": release.seconds,
    }


def _without_loss(line: Line) -> Callable[[Progress], bool]:
    """Can be stopped like a search, but its losses are not those of the release."""
    return lambda progress: line.watch(replace(progress, stage="", information_loss=None))


def bound(arguments: Mapping[str, Any], line: Line) -> dict[str, Any]:
    """What no groups of these data can go below."""
    line.tell(stage="reading the file")
    source = _read(arguments)
    return {"bound": bound_loss(source, Protection.of(arguments["words"]), line.watch)}


def compare(arguments: Mapping[str, Any], line: Line) -> dict[str, Any]:
    """Every k with every method: what each loses and risks."""
    line.tell(stage="reading the file")
    source, options = _source(arguments)
    words: dict[str, Any] = {**options, **arguments["words"]}
    found = compare_strategies(source, arguments["ks"], arguments["methods"], progress=line.watch, **words)
    _refuse_other(source, arguments)
    return {**found.as_dict(), "limit": found.limit}


def _read(arguments: Mapping[str, Any]) -> Microdata:
    source, options = _source(arguments)
    found = read.microdata_from_file(source, *file_options(options))
    _refuse_other(source, arguments)
    return found


def _source(arguments: Mapping[str, Any]) -> tuple[Path, dict[str, Any]]:
    """The file, by a name without the private folder, which no message shall show; and its format."""
    os.chdir(arguments["home"])
    source = Path(arguments["source"])
    _refuse_other(source, arguments)
    return source, dict(arguments["csv"])


def _stamp(source: Path) -> list[int] | None:
    """What another version of a file would have otherwise; None if there is no file."""
    try:
        about = source.stat()
    except OSError:
        return None
    return [about.st_ino, about.st_size, about.st_mtime_ns]


def _refuse_other(source: Path, arguments: Mapping[str, Any]) -> None:
    """`DataError` if the file is not the one any more that roles were given to."""
    if arguments.get("stamp") is not None and _stamp(source) != arguments["stamp"]:
        raise wording.file_changed(arguments["name"])


KINDS: Mapping[str, Callable[[Mapping[str, Any], Line], dict[str, Any]]] = {
    "look": look,
    "check": check,
    "protect": protect,
    "bound": bound,
    "compare": compare,
}
