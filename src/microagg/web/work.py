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

from microagg import errors
from microagg.api.assess import compare as compare_strategies
from microagg.engines import local
from microagg.engines.mdav_comparison import mdav_loss
from microagg.engines.release import Release
from microagg.identifiers import FEW_VALUES
from microagg.model import Microdata
from microagg.plan.file_format import file_options
from microagg.plan.profile import ColumnProfile, profile
from microagg.plan.protection import Protection
from microagg.plan.suggestions import kind_as_key
from microagg.prepare.key_columns import texts_of_values
from microagg.read.kept import kept_data, read_and_keep
from microagg.report import reporting
from microagg.report.html_pages import internal_page
from microagg.settings.cures import cures_of
from microagg.settings.options import without_idle
from microagg.trials.drafting import draft_plan
from microagg.trials.preview import bound_loss, preview, risk_now, trial_refusal
from microagg.web.worker import Line
from microagg.write import protected_name

PREVIEWED = 8
"""Records of a preview."""
USUAL_K = 3
REPORT, EXTERNAL, INTERNAL = "internal-report.html", "external-report.html", "microagg-internal"
"""Beside a release: its reports, and the folder of its record."""
RELEASE = "release.pickle"
"""What is known about the release but its source, for a bound that is proven later."""


def look(arguments: Mapping[str, Any], line: Line) -> dict[str, Any]:
    """What the file holds: a preview, the profile of each column with a suggested role, sums."""
    line.begin("Reading the file", 0.0, 0.4)
    source = read_and_keep(_input(arguments), file_options(dict(arguments["csv"])), arguments["cache"])
    line.begin("Looking at its columns", 0.4, 0.7)
    found = profile(source)
    line.begin("Trying roles on quick groups", 0.7)
    drafted = draft_plan(source, found, USUAL_K)
    csv = source.origin.csv
    labels = source.origin.labels.column_labels if source.origin.labels else {}
    return {
        "format": source.origin.format,
        "records": found.records,
        "csv": None if csv is None else asdict(csv),
        "notes": [str(note) for note in source.origin.notes],
        "preview": [
            [_cell(value) for value in row.values()] for row in source.table.slice(0, PREVIEWED).to_pylist()
        ],
        "columns": [
            {
                **asdict(column),
                "numeric": column.numeric,
                "as_key": kind_as_key(column),
                "values": _values_to_choose(source, column),
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


def _values_to_choose(source: Microdata, column: ColumnProfile) -> list[str]:
    """The values of a column, to be put in order, if they are few and no amounts."""
    is_category = column.kind != "other" and kind_as_key(column) in ("nominal", "ordinal")
    if not is_category or not 2 < column.distinct <= FEW_VALUES:
        return []
    return texts_of_values(source, column.name)


def _cell(value: Any) -> Any:
    """Of the preview: what holds a day and no time is shown as one, for Excel has no others."""
    is_day = isinstance(value, datetime) and value.time() == time()
    return value.date() if is_day else value


def check(arguments: Mapping[str, Any], line: Line) -> dict[str, Any]:
    """What a run would work on; its refusals are raised."""
    line.begin("Reading the data", 0.0, 0.2)
    source, protection = _data(arguments), Protection.of(arguments["settings"])
    line.begin("Checking the settings", 0.2)
    found, refusal = preview(source, protection), trial_refusal(source, protection)
    trial = (
        None
        if refusal is None
        else {"message": str(refusal), "cures": cures_of(refusal, protection.settings)}
    )
    return {**asdict(found), "trial": trial}


def risk(arguments: Mapping[str, Any], line: Line) -> dict[str, Any]:
    """How unique keys and strata make the records of the file as it is, in a sentence."""
    line.begin("Reading the data", 0.0, 0.2)
    source, protection = _data(arguments), Protection.of(arguments["settings"])
    return {"sentence": risk_now(source, protection)}


def protect(arguments: Mapping[str, Any], line: Line) -> dict[str, Any]:
    """A verified release with its reports, in the folder that is given."""
    line.begin("Reading the data")
    source, protection = _data(arguments), Protection.of(arguments["settings"])
    line.begin("Grouping by MDAV, to compare with", 0.02, 0.1)
    mdav = None
    with suppress(errors.Cancelled):  # then there is nothing to compare with
        # Its losses are not those of the release.
        mdav = mdav_loss(
            source, protection, lambda each: line.watch(replace(each, part="", information_loss=None))
        )
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
    (folder / RELEASE).write_bytes(pickle.dumps(replace(release, source=cast(Microdata, None))))
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


def bound(arguments: Mapping[str, Any], line: Line) -> dict[str, Any]:
    """What no groups of these data can go below, also in the record and the report of the release."""
    line.begin("Reading the data")
    source = _data(arguments)
    line.begin("Proving a bound", 0.02, 0.8)
    found = bound_loss(source, Protection.of(arguments["settings"]), line.watch)
    folder = arguments["folder"]
    if found is not None and (folder / RELEASE).exists():
        line.begin("Drawing the report again", 0.8)
        release = pickle.loads((folder / RELEASE).read_bytes())
        release = replace(release, source=source, losses=replace(release.losses, bound=found))
        record = folder / arguments["files"]["record"]
        content = {**json.loads(record.read_text("utf-8")), "bound_loss": found}
        record.write_text(json.dumps(content), "utf-8")
        _write_internal_report(release, arguments)
    return {"bound": found}


def compare(arguments: Mapping[str, Any], line: Line) -> dict[str, Any]:
    """Every k with every method: what each loses and risks."""
    line.begin("Reading the data")
    source = _data(arguments)
    line.begin("Trying every k with every method", 0.02)
    found, _ = without_idle(
        lambda settings: compare_strategies(source, progress=line.watch, **settings),
        {**arguments["settings"], **arguments["tried"]},
    )
    return {**found.as_dict(), "limit": found.limit}


def _data(arguments: Mapping[str, Any]) -> Microdata:
    return kept_data(_input(arguments), arguments["cache"])


def _input(arguments: Mapping[str, Any]) -> Path:
    """The file, by a name without the private folder, which no message shall show."""
    os.chdir(arguments["home"])
    return Path(arguments["path"])


KINDS: Mapping[str, Callable[[Mapping[str, Any], Line], dict[str, Any]]] = {
    "look": look,
    "check": check,
    "risk": risk,
    "protect": protect,
    "bound": bound,
    "compare": compare,
}
