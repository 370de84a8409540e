"""All addresses. Pages are asked for; forms are sent, change the project and lead back to a page."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from microagg import errors, wording
from microagg.formats import ENDINGS
from microagg.model import FILE_OPTIONS
from microagg.settings.declared import PLAN_OPTIONS
from microagg.settings.kinds import GroupSizes, Share
from microagg.web.choices import BY_COLUMN
from microagg.web.complaints import print_place
from microagg.web.folders import remove
from microagg.web.guard import PROJECT
from microagg.web.pages import (
    STEPS,
    Site,
    choices_version,
    first_possible,
    page,
    render,
    report_sections,
    stage_of,
)
from microagg.web.project import Project, Source
from microagg.web.uploads import fields_of, receive_file

if TYPE_CHECKING:
    from microagg.web.guard import OneTimeLink
    from microagg.web.sessions import Sessions

LOOK_AGAIN = 0.25
"""Seconds between two looks at what has changed, for a page that listens."""
STILL_THERE = 15.0
"""Seconds after which a page that listens gets an empty line, to find out whether it is still there."""

_HERE = Path(__file__).parent
STATIC = {
    "app.css": _HERE / "static" / "app.css",
    "app.js": _HERE / "static" / "app.js",
    "icon.svg": _HERE / "static" / "icon.svg",
    "report.css": _HERE.parent / "report" / "templates" / "style.css",
}
EXAMPLES = {
    "companies.csv": _HERE / "examples" / "companies.csv",
    "people.csv": _HERE / "examples" / "people.csv",
}
"""Files to try the pages with: the companies of VLDBJ06, and a thousand people who do not exist."""

Fields = Mapping[str, str]


def application(sessions: Sessions, door: OneTimeLink, site: Site) -> Starlette:
    """For all browser sessions."""

    def show(request: Request) -> Response:
        """A step, or the first that leads to it."""
        project = _project(request)
        step, part = request.path_params["step"], request.path_params.get("part", "")
        parts = {"", "compare", *report_sections(project)} if step == "result" else {""}
        if step not in (*STEPS, "end") or part not in parts:
            raise HTTPException(404)
        possible = step if step == "end" else first_possible(project, step)
        if possible != step:
            return RedirectResponse(f"/{possible}", 303)
        notice = project.notices.get(request.query_params.get("notice", ""), "")
        return HTMLResponse(page(project, step, part, notice, site))

    def open_path(project: Project, fields: Fields) -> None:
        project.open_path(fields.get("path", ""), site.paths)

    async def end(request: Request) -> Response:
        await run_in_threadpool(sessions.end, _project(request), True)
        return _last_page(wording.session_ended(), 200, door.hand_out(), "Start again")

    return Starlette(
        routes=[
            Route("/", lambda _: RedirectResponse("/data", 303)),
            Route("/static/{name}", _static),
            Route("/favicon.ico", _static),  # browsers ask for it, whatever a page says
            Route("/events", _events),
            Route("/alive", lambda _: Response(status_code=204)),
            Route("/get/{what}", _get),
            Route("/end", end, methods=["POST"]),
            *(
                Route(f"/{name}", _form(step, action, name in FILES), methods=["POST"])
                for name, (step, action) in {**ACTIONS, "open": ("data", open_path)}.items()
            ),
            Route("/{step}", show),
            Route("/{step}/{part}", show),
        ],
        exception_handlers={HTTPException: _not_here, Exception: _failed},
    )


def _project(request: Request) -> Project:
    project: Project = request.scope[PROJECT]
    return project


def _last_page(
    text: str, status: int, again: str = "/data", again_text: str = "To the first step"
) -> Response:
    return HTMLResponse(render("over.html", text=text, again=again, again_text=again_text), status)


async def _not_here(_request: Request, error: Exception) -> Response:
    return _last_page(wording.not_found(), getattr(error, "status_code", 404))


async def _failed(_request: Request, error: Exception) -> Response:
    """Nobody expected this: neither the page nor the terminal shows its text."""
    print_place(error)
    return _last_page(wording.something_failed(), 500)


# --- forms ------------------------------------------------------------------------------------


def _form(step: str, action: Callable[[Project, Any], str | None], has_file: bool) -> Any:
    """What receives a form and leads to the page that the action names, or to this step; a refusal is shown
    on this step.
    """

    async def receive(request: Request) -> Response:
        project, place = _project(request), None
        try:
            place = project.new_place() if has_file else None
            given = await (fields_of(request) if place is None else receive_file(request, place))
            return RedirectResponse(f"/{await run_in_threadpool(action, project, given) or step}", 303)
        except ClientDisconnect:
            text = ""  # which nobody hears
        except (errors.DataError, errors.SettingsError) as refusal:
            text = str(refusal)
        except OSError as error:
            text = wording.job_failed_to_write(error.strerror or "no space")
        if place is not None:
            remove(place)
        return RedirectResponse(f"/{step}?notice={project.note(text)}", 303)

    return receive


def _take_file(project: Project, file: Path) -> None:
    if file.suffix.lower() not in ENDINGS:
        raise wording.unknown_format(file.name, list(ENDINGS))
    project.open(Source(file.name, file.name, file.parent))


def _take_plan(project: Project, file: Path) -> None:
    from microagg.plan import plan_file

    if file.stat().st_size > plan_file.MOST_BYTES:
        raise wording.plan_too_large(file.name, plan_file.MOST_BYTES)
    text = file.read_bytes().decode("utf-8-sig", "replace")  # TOML has no place for what cannot be read
    remove(file.parent)
    project.load(plan_file.parsed_plan(text, file.name))


def _example(project: Project, fields: Fields) -> None:
    name = fields.get("name", "")
    if name in EXAMPLES:
        place = project.new_place()
        (place / name).write_bytes(EXAMPLES[name].read_bytes())
        project.open(Source(name, name, place))


def _reread(project: Project, fields: Fields) -> None:
    """With another delimiter, header, sheet, …; `more`: beside what is given already. `ending`: as a file
    of another format.
    """
    if fields.get("ending") in ENDINGS:
        project.read_as(fields["ending"])
        return
    old = project.incoming or project.source
    csv: dict[str, Any] = dict(old.csv) if old is not None and fields.get("more") else {}
    csv |= {name: fields[name].strip() for name in FILE_OPTIONS if fields.get(name, "").strip()}
    if str(csv.get("header_row", "")).isdecimal():
        csv["header_row"] = int(csv["header_row"])
    project.read_again(csv)


def _choose(project: Project, fields: Fields) -> str | None:
    """Of Roles or Protection: the form as a whole, or one control of it. Columns are counted, for their
    names may be anything.
    """
    with project.lock:
        if fields.get("version", choices_version(project)) != choices_version(project):
            raise wording.changed_elsewhere()
        given, columns = dict(fields), project.choices.columns
        if "recipe" in given:
            given["method"] = given["recipe"].strip() or given.get("method", "auto")
        for name, value in given.items():
            what, _, number = name.partition(".")
            if what in BY_COLUMN and number.isdecimal() and int(number) < len(columns):
                project.choices.set(what, value, columns[int(number)])
            elif name in PLAN_OPTIONS and PLAN_OPTIONS[name].form:
                project.choices.set(name, value)
        project.changed()
    return _go_on(project, fields)


def _cure(project: Project, fields: Fields) -> str | None:
    """What a button beside a refusal proposes: settings, or roles of columns."""
    for name, value in fields.items():
        kind, _, what = name.partition(":")
        if kind == "set" and what in PLAN_OPTIONS and PLAN_OPTIONS[what].form:
            if what == "accept":  # beside what is accepted already
                value = ", ".join([*project.choices.settings.get(what, ()), value])
            project.choose(what, value)
        elif kind == "role":
            project.choose("role", value, what)
    return _go_on(project, fields)


def _suggestions(project: Project, fields: Fields) -> str | None:
    project.take_suggestions()
    return _go_on(project, fields)


def _go_on(project: Project, fields: Fields) -> str | None:
    """To the step that a form names; a run is started on the way there."""
    if fields.get("then") == "run":
        project.run()
    return fields["then"] if fields.get("then") in STEPS else None


def _compare(project: Project, fields: Fields) -> None:
    project.comparison = {name: fields.get(name, "").strip() for name in project.comparison}
    ks = GroupSizes().parse("k", [project.comparison["ks"]])
    methods = [name.strip() for name in project.comparison["methods"].split(",") if name.strip()]
    max_risk = Share().check("max_risk", Share().from_form(project.comparison["max_risk"]))
    project.compare(ks, methods, max_risk)


def _take(project: Project, fields: Fields) -> None:
    for name in ("k", "method"):
        project.choose(name, fields.get(name, ""))


def _show(project: Project, fields: Fields) -> str:
    project.show(fields.get("release", ""))
    return first_possible(project, "hand-over")


FILES = ("data", "plan")
"""Forms with a file."""
ACTIONS: Mapping[str, tuple[str, Callable[[Project, Any], str | None]]] = {
    "data": ("data", _take_file),
    "plan": ("data", _take_plan),
    "example": ("data", _example),
    "reread": ("data", _reread),
    "cancel": ("data", lambda project, _: project.cancel_reading()),
    "suggestions": ("roles", _suggestions),
    "roles": ("roles", _choose),
    "protection": ("protection", _choose),
    "cure": ("protection", _cure),
    "run": ("protection", lambda project, _: _go_on(project, {"then": "run"})),
    "stop": ("run", lambda project, _: project.stop("protect")),
    "discard": ("run", lambda project, _: project.give_up("protect")),
    "prove": ("result", lambda project, _: project.prove()),
    "stop-proving": ("result", lambda project, _: project.give_up("bound")),
    "compare": ("result/compare", _compare),
    "stop-comparing": ("result/compare", lambda project, _: project.give_up("compare")),
    "take": ("protection", _take),
    "show": ("hand-over", _show),
}
"""What each form does, and the step to which it leads unless it names another."""


# --- what is sent -----------------------------------------------------------------------------


def _static(request: Request) -> Response:
    path = STATIC.get(request.path_params.get("name", "icon.svg"))
    if path is None:
        raise HTTPException(404)
    return FileResponse(path, headers={"cache-control": "no-cache"})


def _get(request: Request) -> Response:
    """What a release has, and the settings as they are; nothing else can be had."""
    project, what = _project(request), request.path_params["what"]
    release = project.release
    if what == "settings" and project.source is not None:
        try:
            return _toml(project.source, project.choices.effective()[0])
        except errors.SettingsError as refusal:
            return RedirectResponse(f"/protection?notice={project.note(str(refusal))}", 303)
    if what == "plan" and release is not None:
        return _toml(release.source, {**release.answer["asked"], "output": release.answer["file"]})
    file = None if release is None else release.file(what)
    if release is None or file is None or not file.is_file():
        raise HTTPException(404)
    if what == "protected" and not release.downloaded:
        release.downloaded = True
        project.changed()
    is_shown = "open" in request.query_params and file.suffix == ".html"
    return FileResponse(
        file,
        media_type="text/html; charset=utf-8" if is_shown else "application/octet-stream",
        filename=file.name,
        content_disposition_type="inline" if is_shown else "attachment",
    )


def _toml(source: Source, settings: Mapping[str, Any]) -> Response:
    """A plan file as the user would have it, without the private folder."""
    from microagg.plan.plan_file import used_plan

    text = used_plan({**settings, **source.csv, "input": source.known_as})
    headers = {"content-disposition": 'attachment; filename="plan.toml"'}
    return PlainTextResponse(text, media_type="application/toml", headers=headers)


async def _events(request: Request) -> Response:
    """A stream for a page that is open: which version of the project there is, and where its jobs are."""
    headers = {"cache-control": "no-store"}
    return StreamingResponse(_changes(_project(request)), media_type="text/event-stream", headers=headers)


async def _changes(project: Project) -> AsyncIterator[str]:
    project.pages += 1
    known, quiet = "", 0.0
    try:
        while not project.closed:
            now = json.dumps(_progress(project))
            if now != known:
                known, quiet = now, 0.0
                yield f"data: {now}\n\n"
            elif quiet >= STILL_THERE:
                quiet = 0.0
                yield ": still there\n\n"
            await asyncio.sleep(LOOK_AGAIN)
            quiet += LOOK_AGAIN
        yield "event: ended\ndata: {}\n\n"
    finally:
        project.pages -= 1
        project.seen()


def _progress(project: Project) -> dict[str, Any]:
    jobs = {
        kind: {
            "stage": stage_of(job, project.queue.place(job)),
            "done": round(job.done, 3),
            "drawn": len(job.curve) + bool(job.answer),
        }
        for kind, job in list(project.jobs.items())
        if job.active
    }
    return {"version": project.version, "news": project.news, "jobs": jobs}
