"""What jobs do: look at a file, check settings against it, protect it, prove a bound, compare."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime, time
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from microagg import errors, read, wording
from microagg.api.assess import compare as compare_strategies
from microagg.assessment.before import risk_before
from microagg.engines import local, reporting
from microagg.engines.preview import bound_loss, mdav_loss, preview
from microagg.engines.release import Release
from microagg.methods.run import Progress
from microagg.model import Microdata
from microagg.plan.assessment_plan import AssessmentPlan
from microagg.plan.file_format import file_options
from microagg.plan.profile import profile
from microagg.plan.protection import Protection
from microagg.report.pages import internal_page
from microagg.trials.drafting import QuickGroups, draft_plan
from microagg.web.choices import without_idle
from microagg.web.cures import cures_of
from microagg.web.worker import Line
from microagg.write import protected_name

PREVIEWED = 8
"""Records of a preview."""
LONGEST = 60
"""Letters of a cell in it."""
USUAL_K = 3
REPORT, EXTERNAL, INTERNAL = "internal-report.html", "external-report.html", "microagg-internal"
"""Beside a release: its reports, and the folder of its record."""
RELEASE = "release.pickle"
"""What is known about the release but its source, for a bound that is proven later."""
TABLE, ORIGIN = "table.arrow", "origin.pickle"
"""Of a file that was read."""
OF_SEARCH = ("method", "effort", "seconds", "seed", "retry", "certify", "threads")
"""Options that a trial with quick groups does without."""


def look(arguments: Mapping[str, Any], line: Line) -> dict[str, Any]:
    """What the file holds: a preview, the profile of each column with a suggested role, sums."""
    line.begin("Reading the file", 0.0, 0.4)
    path = _path(arguments)
    stamp = _stamp(path)
    source = read.microdata_from_file(path, file_options(dict(arguments["csv"])))
    _refuse_other(path, {**arguments, "stamp": stamp})
    keep(source, arguments["cache"])
    line.begin("Looking at its columns", 0.4, 0.7)
    found = profile(source)
    line.begin("Trying roles on quick groups", 0.7)
    drafted = draft_plan(source, found, min(USUAL_K, found.records))
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
                **asdict(column),
                "numeric": column.numeric,
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


def _preview(source: Microdata) -> list[list[str]]:
    """The first records as text."""
    rows = source.table.slice(0, PREVIEWED).to_pylist()
    return [["" if cell is None else _cell(cell) for cell in row.values()] for row in rows]


def _cell(value: object) -> str:
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()  # Excel has no others
    text = str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def check(arguments: Mapping[str, Any], line: Line) -> dict[str, Any]:
    """What a run would work on; its refusals are raised."""
    line.begin("Reading the data", 0.0, 0.2)
    source, protection = _read(arguments), Protection.of(arguments["settings"])
    line.begin("Checking the settings", 0.2)
    return {**asdict(preview(source, protection)), "trial": _trial(source, protection)}


def risk(arguments: Mapping[str, Any], line: Line) -> dict[str, Any]:
    """How unique keys and strata make the records of the file as it is, in a sentence."""
    line.begin("Reading the data", 0.0, 0.2)
    source, protection = _read(arguments), Protection.of(arguments["settings"])
    roles = AssessmentPlan.of({}, protection.settings, of_one_file=True)
    return {"sentence": risk_before(source, roles, protection.drop, in_pairs=False).in_plan}


def _trial(source: Microdata, protection: Protection) -> dict[str, Any] | None:
    """Why quick groups would be refused, where the search may find others; None if they would not. What no
    groups can settle is raised.
    """
    settings = {name: value for name, value in protection.settings.items() if name not in OF_SEARCH}
    try:
        local.protect(source, Protection.of({**settings, "method": QuickGroups()}), trial=True)
    except errors.UnsafeRelease as refusal:
        rules = {each.rule for each in getattr(refusal, "findings", ())}
        if rules - {"distinct", "dominated", "predicted"}:
            raise
        return None if protection.retry else {"message": str(refusal), "cures": cures_of(refusal)}
    return None


def protect(arguments: Mapping[str, Any], line: Line) -> dict[str, Any]:
    """A verified release with its reports, in the folder that is given."""
    line.begin("Reading the data")
    source, protection = _read(arguments), Protection.of(arguments["settings"])
    line.begin("Grouping by MDAV, to compare with", 0.02, 0.1)
    mdav = None
    with suppress(errors.Cancelled):  # then there is nothing to compare with
        mdav = mdav_loss(source, protection, _without_loss(line))
        line.report(mdav=mdav)
    line.begin("Looking for groups", 0.1, 0.7)
    release = local.protect(source, protection, line.watch)
    line.begin("Writing the release and counting again", 0.7, 0.75)
    line.report(loss=release.information_loss)
    folder, name = arguments["folder"], protected_name(Path(arguments["name"]))
    release.save(folder / name, record=folder / INTERNAL, progress=line.watch)
    answer = {**_answer(release), "file": name, "files": _files(name)}
    line.report(answer=answer)
    line.begin("Measuring and drawing the reports", 0.75)
    answer |= _write_internal_report(release, {**arguments, "files": answer["files"]}, mdav)
    (folder / EXTERNAL).write_text(release.external_report(), "utf-8")
    with (folder / RELEASE).open("wb") as file:
        pickle.dump(replace(release, source=cast(Microdata, None)), file)
    return answer


def _files(name: str) -> dict[str, str]:
    """What can be downloaded, and the file in the folder of the release."""
    record = f"{INTERNAL}/{name}.microagg.json"
    return {"protected": name, "internal-report": REPORT, "external-report": EXTERNAL, "record": record}


def _answer(release: Release) -> dict[str, Any]:
    """What pages show of a release."""
    return {
        "k": release.claims.k,
        "columns": list(release.source.table.column_names),
        "groups": release.groups,
        "loss": release.information_loss,
        "bound": release.bound_loss,
        "verdict": release.verdict.as_dict(),
        "printed": str(release),
        "stopped": release.stopped,
        "cut_short": release.stopped or any(task.truncated for task in release.partitions),
        "recipes": sorted({task.recipe for task in release.partitions if task.columns}),
        "asked": dict(release.protection.settings),
    }


def _write_internal_report(
    release: Release, arguments: Mapping[str, Any], mdav: float | None = None
) -> dict[str, Any]:
    """The report, and what pages show of it. Its plan has the names of files as the user knows them."""
    folder, files = arguments["folder"], arguments["files"]
    digest = json.loads((folder / files["record"]).read_text("utf-8"))["output"]["digest"]
    named = {"input": arguments["known_as"], "output": files["protected"]}
    settings = {**release.protection.settings, **arguments["csv"], **named}
    assessment = reporting.assessment_of(release)
    written = reporting.Written(files["protected"], digest, settings)
    facts = reporting.internal_facts(release, assessment, written, mdav)
    (folder / REPORT).write_text(internal_page(facts, assessment), "utf-8")
    measures = {} if assessment is None else assessment.findings
    return {
        "warnings": [str(each) for each in facts.warnings],
        "measures": {each: measures[each].value for each in ("il", "linkage_distance") if each in measures},
    }


def _without_loss(line: Line) -> Callable[[Progress], bool]:
    """Can be stopped like a search, but its losses are not those of the release."""
    return lambda progress: line.watch(replace(progress, part="", information_loss=None))


def bound(arguments: Mapping[str, Any], line: Line) -> dict[str, Any]:
    """What no groups of these data can go below, also in the record and the report of the release."""
    line.begin("Reading the data")
    source = _read(arguments)
    line.begin("Proving a bound", 0.02, 0.8)
    found = bound_loss(source, Protection.of(arguments["settings"]), line.watch)
    folder = arguments["folder"]
    if found is not None and (folder / RELEASE).exists():
        line.begin("Drawing the report again", 0.8)
        with (folder / RELEASE).open("rb") as file:
            release = replace(pickle.load(file), source=source, bound_loss=found)
        record = folder / arguments["files"]["record"]
        content = {**json.loads(record.read_text("utf-8")), "bound_loss": found}
        record.write_text(json.dumps(content), "utf-8")
        _write_internal_report(release, arguments)
    return {"bound": found}


def compare(arguments: Mapping[str, Any], line: Line) -> dict[str, Any]:
    """Every k with every method: what each loses and risks."""
    line.begin("Reading the data")
    source = _read(arguments)
    line.begin("Trying every k with every method", 0.02)
    grid = {"k": arguments["ks"], "methods": arguments["methods"], "max_risk": arguments["max_risk"]}
    found, _, _ = without_idle(
        lambda settings: compare_strategies(source, progress=line.watch, **grid, **settings),
        arguments["settings"],
    )
    return {**found.as_dict(), "limit": found.limit}


# --- the file ---------------------------------------------------------------------------------


def keep(source: Microdata, cache: Path) -> None:
    """What was read, so that other jobs need not read the file again. Its origin is kept with it by pickle,
    in a folder that nobody else can write to.
    """
    with pa.OSFile(str(cache / TABLE), "wb") as file, pa.ipc.new_file(file, source.table.schema) as writer:
        writer.write_table(source.table)
    (cache / ORIGIN).write_bytes(pickle.dumps(source.origin))


def _read(arguments: Mapping[str, Any]) -> Microdata:
    """The data as they were when the file was looked at."""
    _refuse_other(_path(arguments), arguments)
    with pa.memory_map(str(arguments["cache"] / TABLE)) as file:
        table = pa.ipc.open_file(file).read_all()
    return Microdata(table, pickle.loads((arguments["cache"] / ORIGIN).read_bytes()))


def _path(arguments: Mapping[str, Any]) -> Path:
    """The file, by a name without the private folder, which no message shall show."""
    os.chdir(arguments["home"])
    return Path(arguments["path"])


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
    "risk": risk,
    "protect": protect,
    "bound": bound,
    "compare": compare,
}
