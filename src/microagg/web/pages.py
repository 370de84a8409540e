"""The six steps as HTML. Each page is made from the project alone: it is the state, whoever asks for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from microagg import errors, wording
from microagg.formats import ENDINGS
from microagg.methods.catalogue import ALIASES, METHODS
from microagg.model import gap_above, nearness
from microagg.plan.command_text import command_of, repetition_of
from microagg.report import formatting
from microagg.report.charts import loss_curve, risk_map
from microagg.report.pages import sections
from microagg.settings.declared import ACCEPT, CONFIDENTIAL, FIRST, MORE, PLAN_OPTIONS
from microagg.web.jobs import Job
from microagg.web.labels import ROLES, SHORT_ROLES
from microagg.web.project import Project

STEPS = {
    "data": "Data",
    "roles": "Roles",
    "protection": "Protection",
    "run": "Run",
    "result": "Result",
    "hand-over": "Hand over",
}
ENOUGH = 0.05
"""Once this share of a job is done, the time that is left can be guessed."""
RISK = "linkage_distance"
AXES = {"il": "information loss, %", RISK: "share of records linked"}
"""The measures on the map."""

_HERE = Path(__file__).parent
Content = dict[str, Any]


@dataclass(frozen=True)
class Site:
    """`paths`: files may be opened by their path; `alone`: the server is on the machine of the browser;
    `keeps`: files outlive the server.
    """

    paths: bool = False
    alone: bool = True
    keeps: bool = False


def page(project: Project, step: str, part: str = "", notice: str = "", site: Site | None = None) -> str:
    """A step that can be shown, see `first_possible`. No job ends while it is made."""
    with project.lock, project.queue.lock:
        return render(
            f"{step}.html",
            project=project,
            site=site or Site(),
            step=step,
            part=part,
            notice=notice,
            title=STEPS.get(step, "End the session?"),
            reachable=[path for path in STEPS if first_possible(project, path) == path],
            choices_version=choices_version(project),
            count_of=Counter(role.split(" ")[0] for role in project.choices.roles.values()),
            **(_VIEWS[step](project, part) if step in _VIEWS else {}),
        )


def first_possible(project: Project, step: str) -> str:
    """The step itself if it can be shown, or else the one that leads to it."""
    if step == "data" or project.found is None:
        return "data"
    if step in ("result", "hand-over") and project.release is None:
        return "run" if "protect" in project.jobs else "protection"
    return step


def choices_version(project: Project) -> str:
    """Another one whenever a choice is another: a form that shows old choices changes nothing."""
    return f"{hash(repr((project.choices, project.source))) & 0xFFFFFFFFFFFF:x}"


def render(template: str, **content: Any) -> str:
    text: str = _environment().get_template(template).render(**content)
    return text.encode("utf-8", "replace").decode("utf-8")  # a path may hold bytes that are no letters


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader([_HERE / "templates", _HERE.parent / "report" / "templates"]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": formatting.number, "clean": formatting.clean}
    environment.globals |= {
        "count": formatting.count,
        "stage_of": stage_of,
        "endings": list(ENDINGS),
        "kind_of": lambda name: getattr(ENDINGS.get(Path(name).suffix.lower()), "name", None),
        "plan_options": PLAN_OPTIONS,
        "short_roles": SHORT_ROLES,
        "note_codes": wording.note_missing_codes,
        "steps": STEPS,
    }
    return environment


def stage_of(job: Job, place: int) -> str:
    """Where a job is, and about how long it will still take."""
    if job.state == "waiting":
        return f"Waiting for {formatting.count(place + 1, 'other job')} …"
    stage = "Coming to an end" if job.state == "stopping" else job.stage or "Starting"
    took = f", {job.seconds:.0f} s" if job.seconds >= 1 else ""
    if job.done < ENOUGH or job.seconds < 3 or job.state != "running":
        return f"{stage}{took} …"
    left = job.seconds * (1.0 - job.done) / job.done
    about = f"{max(round(left), 1)} s" if left < 90 else f"{round(left / 60)} min"
    return f"{stage}{took}, about {about} left …"


# --- the steps --------------------------------------------------------------------------------


def _roles(project: Project, _part: str) -> Content:
    """`texts`: the roles that can be chosen; a plan that was loaded may have more subsets of keys."""
    in_use = dict.fromkeys(sorted(project.choices.roles.values()))
    more = {role: f"key, subset {role.split()[1]}" for role in in_use if role.startswith("keys ")}
    return {"texts": {**more, **ROLES}, "in_use": in_use, "risk": project.examine("risk")}


def options_in(form: str) -> list[str]:
    """The options that have a control in this part of the form."""
    return [name for name, option in PLAN_OPTIONS.items() if option.form == form]


def _protection(project: Project, _part: str) -> Content:
    """The form. Its options and their meanings are those of a plan."""
    check, refusal = project.examine("check"), project.refusal
    chosen = str(project.choices.settings.get("method", "auto"))
    name = chosen.split("+")[0].split(":")[0]
    return {
        "parts": {form: options_in(form) for form in (FIRST, CONFIDENTIAL, MORE, ACCEPT)},
        "methods": list(METHODS),
        "method": chosen,
        "entry": METHODS.get(ALIASES.get(name, name)),
        "idle": [] if refusal else [PLAN_OPTIONS[name].label for name in project.choices.effective()[1]],
        "refusal": refusal,
        "check": check,
        "blocked": refusal is not None or (check is not None and check.state in ("refused", "failed")),
    }


def _run(project: Project, _part: str) -> Content:
    job = project.jobs.get("protect")
    drawn = "" if job is None or not job.curve else loss_curve(job.curve, job.mdav, job.seconds)
    return {"job": job, "curve": Markup(drawn)}


def report_sections(project: Project) -> dict[str, tuple[str, str]]:
    """The parts of the result that come from the internal report."""
    report = None if project.release is None else project.release.file("internal-report")
    return {} if report is None else sections(report.read_text("utf-8"))


def _result(project: Project, part: str) -> Content:
    """`part`: a section of the internal report, "compare", or nothing for the overview."""
    assert project.release is not None
    answer, report = project.release.answer, report_sections(project)
    content: Content = {
        "tabs": {"": "Overview", "compare": "Compare"}
        | {name: Markup(title).unescape() for name, (title, _) in report.items()},
        "section": Markup(report[part][1]) if part in report else None,
        "proven": _proven(answer),
        "gap": answer["bound"] is not None and nearness(gap_above(answer["bound"], answer["loss"])),
    }
    job = project.jobs.get("compare")
    if part == "compare" and job is not None and job.state == "done":
        content |= _comparison(project, job)
    return content


def _proven(answer: Mapping[str, Any]) -> str:
    known, loss = answer["bound"], answer["loss"]
    if known is None:
        return ""
    above = nearness(gap_above(known, loss))
    return f"No groups can lose less than {known:.4f} %; this release loses {loss:.4f} %, {above}."


def _comparison(project: Project, job: Job) -> Content:
    """Several k and methods side by side, as a map and a table to choose from."""
    rows, limit = job.answer["strategies"], job.answer["limit"]
    try:
        is_other = project.compared_settings() != job.arguments["settings"]
    except errors.SettingsError:
        is_other = True
    drawn = risk_map(rows, AXES, limit, lambda row: {"href": f"#strategy-{rows.index(row)}"})
    return {"rows": rows, "limit": limit, "map": Markup(drawn), "compared_otherwise": is_other}


def _hand_over(project: Project, _part: str) -> Content:
    """With what would do the same in a terminal."""
    assert project.release is not None
    source, answer = project.release.source, project.release.answer
    record = f"{answer['file']}.microagg.json"
    return {
        "record": record,
        "command": command_of({**answer["asked"], **source.csv}, source.known_as, answer["file"]),
        "repetition": repetition_of(record, source.known_as, answer["file"]),
    }


_VIEWS: Mapping[str, Callable[[Project, str], Content]] = {
    "roles": _roles,
    "protection": _protection,
    "run": _run,
    "result": _result,
    "hand-over": _hand_over,
}
