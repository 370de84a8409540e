"""What each step shows beside the project itself. The first page does without this module, and without the
libraries that it takes a while to import.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from markupsafe import Markup
from starlette.exceptions import HTTPException

from microagg import errors
from microagg.methods.catalogue import ALIASES, METHODS
from microagg.model import gap_above, nearness
from microagg.plan.command_text import command_of, repetition_of
from microagg.report.charts import loss_curve, risk_map, varying
from microagg.report.html_pages import sections
from microagg.settings.declared import ACCEPT, CONFIDENTIAL, MORE, PLAN_OPTIONS, REPRESENTATIVES
from microagg.web.choices import KINDS, ROLES
from microagg.web.jobs import Job
from microagg.web.project import Project

LOSSES = {"il": "information loss, %", "two_way_tables": "change of two-way tables, %"}
RISK = {"linkage_distance": "share of records linked"}
"""The measures on the map."""


def _roles(project: Project, _part: str) -> dict[str, Any]:
    """`texts`: the roles that can be chosen; a plan that was loaded may have more subsets of keys."""
    in_use = dict.fromkeys(sorted(project.choices.roles.values()))
    more = {role: f"key, subset {role.split()[1]}" for role in in_use if role.startswith("keys ")}
    return {"texts": {**more, **ROLES}, "in_use": in_use, "kinds": KINDS, "risk": project.examine("risk")}


def _protection_view(project: Project, _part: str) -> dict[str, Any]:
    """The form. Its options and their meanings are those of a plan."""
    check, refusal = project.examine("check"), project.refusal
    chosen = str(project.choices.settings.get("method", "auto"))
    name = chosen.split("+")[0].split(":")[0]
    return {
        "parts": (CONFIDENTIAL, MORE, ACCEPT),
        "methods": list(METHODS),
        "method": chosen,
        "entry": METHODS.get(ALIASES.get(name, name)),
        "idle": [] if refusal else [PLAN_OPTIONS[name].label for name in project.choices.effective()[1]],
        "refusal": refusal,
        "check": check,
        "blocked": refusal is not None or (check is not None and check.state in ("refused", "failed")),
    }


def _run_view(project: Project, _part: str) -> dict[str, Any]:
    job = project.jobs.get("protect")
    drawn = "" if job is None or len(job.curve) < 2 else loss_curve(job.curve, job.mdav, job.seconds)
    return {"job": job, "curve": Markup(drawn)}


def _result_view(project: Project, part: str) -> dict[str, Any]:
    """`part`: a section of the internal report, "compare", or nothing for the overview."""
    assert project.release is not None
    answer, file = project.release.answer, project.release.file("internal-report")
    report = {} if file is None else sections(file.read_text("utf-8"))
    titles = {name: Markup(title).unescape() for name, (title, _) in report.items()}
    tabs = {"": "Overview", "compare": "Compare", **titles}
    if part not in tabs:
        raise HTTPException(404)
    content = {
        "tabs": tabs,
        "section": Markup(report[part][1]) if part in report else None,
        "representatives": REPRESENTATIVES,
        "gap": "" if answer["bound"] is None else nearness(gap_above(answer["bound"], answer["loss"])),
    }
    job = project.jobs.get("compare")
    if part == "compare" and job is not None and job.state == "done":
        content |= _comparison_view(project, job)
    return content


def _comparison_view(project: Project, job: Job) -> dict[str, Any]:
    """Several k and methods side by side, as a map and a table to choose from."""
    rows, limit = job.answer["strategies"], job.answer["limit"]
    try:
        is_other = project.compared_settings() != job.arguments["settings"]
    except errors.SettingsError:
        is_other = True
    loss, others = job.answer["loss"], varying(rows)
    published = [name for name in REPRESENTATIVES if name in others]
    axes = {loss: LOSSES[loss], **RISK}
    drawn = risk_map(rows, axes, limit, lambda row: {"href": f"#strategy-{rows.index(row)}"})
    return {
        "rows": rows,
        "limit": limit,
        "least": "least loss" if loss == "il" else "least change of two-way tables",
        "published": {name: PLAN_OPTIONS[name].label for name in published},
        "taken": [{name: row[name] for name in ("k", "method", *published)} for row in rows],
        "map": Markup(drawn),
        "compared_otherwise": is_other,
    }


def _hand_over(project: Project, _part: str) -> dict[str, Any]:
    """With what would do the same in a terminal."""
    assert project.release is not None
    source, answer = project.release.source, project.release.answer
    record = f"{answer['file']}.microagg.json"
    return {
        "record": record,
        "command": command_of({**answer["asked"], **source.csv}, source.known_as, answer["file"]),
        "repetition": repetition_of(record, source.known_as, answer["file"]),
    }


VIEWS: Mapping[str, Callable[[Project, str], dict[str, Any]]] = {
    "roles": _roles,
    "protection": _protection_view,
    "run": _run_view,
    "result": _result_view,
    "hand-over": _hand_over,
}
