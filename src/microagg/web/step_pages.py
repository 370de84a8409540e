"""The six steps as HTML. Each page is made from the project alone: it is the state, whoever asks for it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.responses import HTMLResponse

from microagg import wording
from microagg.formats import FORMAT_OF
from microagg.report import rendering
from microagg.settings.declared import PLAN_OPTIONS
from microagg.web.project import Project

STEPS = {
    "data": "Data",
    "roles": "Roles",
    "protection": "Protection",
    "run": "Run",
    "result": "Result",
    "hand-over": "Hand over",
}
_TEMPLATES = Path(__file__).with_name("templates")
_FILES = (rendering.TEMPLATES / "style.css", *Path(__file__).with_name("static").iterdir())


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
            **_content(project, step, part),
        )


def _content(project: Project, step: str, part: str) -> dict[str, Any]:
    """What the step shows beside the project itself."""
    if step in ("data", "end"):
        return {}
    from microagg.web.views import VIEWS  # not needed by the first page

    return VIEWS[step](project, part)


def first_possible(project: Project, step: str) -> str:
    """The step itself if it can be shown, or else the one that leads to it."""
    if project.found is None and step != "end":
        return "data"
    if step in ("result", "hand-over") and project.release is None:
        return "run" if "protect" in project.jobs else "protection"
    return step


def choices_version(project: Project) -> str:
    """Another one whenever a choice is another: a form that shows old choices changes nothing."""
    return f"{hash(repr((project.choices, project.source))) & 0xFFFFFFFFFFFF:x}"


def render(template: str, **content: Any) -> str:
    return rendering.rendered(template, _TEMPLATES, **content)


def last_page(
    text: str, status: int, again: str = "", again_text: str = "To the first step"
) -> HTMLResponse:
    """One that is no step, with a link to another if there is one."""
    return HTMLResponse(render("over.html", text=text, again=again, again_text=again_text), status)


rendering.environment(_TEMPLATES).globals |= {
    "version_of_files": int(max(each.stat().st_mtime for each in _FILES)),
    "endings": list(FORMAT_OF),
    "kind_of": lambda name: FORMAT_OF.get(Path(name).suffix.lower()),
    "plan_options": PLAN_OPTIONS,
    "note_codes": wording.note_missing_codes,
    "steps": STEPS,
}
