"""All addresses. Pages are asked for; forms are sent, change the project and lead back to a page."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from microagg import errors, wording
from microagg.complaints import print_place
from microagg.formats import FORMAT_OF
from microagg.private_folder import remove
from microagg.report.rendering import TEMPLATES
from microagg.settings.declared import FILE_OPTIONS, PLAN_OPTIONS
from microagg.web.choices import BY_COLUMN
from microagg.web.guard import PROJECT
from microagg.web.project import ChosenFile, Project
from microagg.web.step_pages import STEPS, Site, choices_version, first_possible, last_page, page
from microagg.web.uploads import fields_of, receive_file

if TYPE_CHECKING:
    from microagg.web.guard import OneTimeLink
    from microagg.web.sessions import Sessions

LOOK_AGAIN = 0.25
"""Seconds between two looks at what has changed, for a page that listens."""
STILL_THERE = 15.0
"""Seconds after which a page that listens gets an empty line, to find out whether it is still there."""

_HERE = Path(__file__).parent
EXAMPLES = ("companies.csv", "people.csv")
"""Files to try the pages with: the companies of VLDBJ06, and a thousand people who do not exist."""

Fields = Mapping[str, str]


def application(sessions: Sessions, door: OneTimeLink, site: Site) -> Starlette:
    """For all browser sessions."""

    def show(request: Request) -> Response:
        """A step, or the first that leads to it."""
        project = _project(request)
        step, _, part = request.url.path.removeprefix("/").partition("/")
        if first_possible(project, step) != step:
            return RedirectResponse(f"/{first_possible(project, step)}", 303)
        notice = project.notices.get(request.query_params.get("notice", ""), "")
        return HTMLResponse(page(project, step, part, notice, site))

    def open_path(project: Project, fields: Fields) -> None:
        project.open_path(fields.get("path", ""), site.paths)

    async def end(request: Request) -> Response:
        await run_in_threadpool(sessions.end, _project(request), True)
        return last_page(wording.session_ended(), 200, door.hand_out(), "Start again")

    return Starlette(
        routes=[
            Route("/", lambda _: RedirectResponse("/data", 303)),
            Route("/static/report.css", lambda _: FileResponse(TEMPLATES / "style.css")),
            Mount("/static", StaticFiles(directory=_HERE / "static")),
            Route("/favicon.ico", lambda _: RedirectResponse("/static/icon.svg")),  # browsers ask for it
            Route("/events", _events),
            Route("/alive", lambda _: Response(status_code=204)),
            Route("/get/{what}", _get),
            Route("/end", end, methods=["POST"]),
            *(
                Route(f"/{name}", _form(step, action, name in FILES), methods=["POST"])
                for name, (step, action) in {**ACTIONS, "open": ("data", open_path)}.items()
            ),
            *(Route(path, show) for path in ("/result/{part}", "/end", *(f"/{step}" for step in STEPS))),
        ],
        exception_handlers={HTTPException: _failed, Exception: _failed},
    )


def _project(request: Request) -> Project:
    project: Project = request.scope[PROJECT]
    return project


async def _failed(_request: Request, error: Exception) -> Response:
    """Neither the page nor the terminal shows the text of an error that nobody expected."""
    if isinstance(error, HTTPException):
        return last_page(wording.not_found(), error.status_code, "/data")
    print_place(error)
    return last_page(wording.something_failed(), 500, "/data")


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
    if file.suffix.lower() not in FORMAT_OF:
        raise wording.unknown_format(file.name, list(FORMAT_OF))
    project.open(ChosenFile(file.name, file.name, file.parent))


def _take_plan(project: Project, file: Path) -> None:
    from microagg.plan.plan_file import read_plan

    plan = read_plan(file, file.name)
    remove(file.parent)
    project.load(plan)


def _example(project: Project, fields: Fields) -> None:
    name = fields.get("name", "")
    if name in EXAMPLES:
        place = project.new_place()
        shutil.copy(_HERE / "examples" / name, place)
        project.open(ChosenFile(name, name, place))


def _reread(project: Project, fields: Fields) -> None:
    """With another delimiter, header, sheet, …; `more`: beside what is given already. `ending`: as a file
    of another format.
    """
    if fields.get("ending") in FORMAT_OF:
        project.read_as(fields["ending"])
        return
    given = {name: option.kind.from_form(fields.get(name, "")) for name, option in FILE_OPTIONS.items()}
    csv = {name: value for name, value in given.items() if value not in ("", None)}
    project.read_again(csv, keeping=bool(fields.get("more")))


def _take_choice(project: Project, fields: Fields) -> str | None:
    """Of Roles or Protection: the form as a whole, one control of it, or a button that proposes something.
    Columns are counted, for their names may be anything.
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


def _suggestions(project: Project, fields: Fields) -> str | None:
    project.load({})
    return _go_on(project, fields)


def _go_on(project: Project, fields: Fields) -> str | None:
    """To the step that a form names; a run is started on the way there."""
    if fields.get("then") == "run":
        project.run()
    return fields["then"] if fields.get("then") in STEPS else None


FILES = ("data", "plan")
"""Forms with a file."""
ACTIONS: Mapping[str, tuple[str, Callable[[Project, Any], str | None]]] = {
    "data": ("data", _take_file),
    "plan": ("data", _take_plan),
    "example": ("data", _example),
    "reread": ("data", _reread),
    "cancel": ("data", lambda project, _: project.cancel_reading()),
    "suggestions": ("roles", _suggestions),
    "roles": ("roles", _take_choice),
    "protection": ("protection", _take_choice),
    "run": ("protection", lambda project, _: _go_on(project, {"then": "run"})),
    "stop": ("run", lambda project, _: project.stop("protect")),
    "discard": ("run", lambda project, _: project.give_up("protect")),
    "prove": ("result", lambda project, _: project.prove()),
    "stop-proving": ("result", lambda project, _: project.give_up("bound")),
    "compare": ("result/compare", lambda project, fields: project.compare(fields)),
    "stop-comparing": ("result/compare", lambda project, _: project.give_up("compare")),
    "show": ("hand-over", lambda project, fields: project.show(fields.get("release", ""))),
}
"""What each form does, and the step to which it leads unless it names another."""


# --- what is sent -----------------------------------------------------------------------------


def _get(request: Request) -> Response:
    """What a release has, and the settings as they are; nothing else can be had."""
    project, what = _project(request), request.path_params["what"]
    release = project.release
    if what == "settings" and project.source is not None:
        try:
            return _toml(project.source, project.choices.effective()[0].settings)
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


def _toml(source: ChosenFile, settings: Mapping[str, Any]) -> Response:
    """A plan file as the user would have it, without the private folder."""
    from microagg.plan.plan_file import used_plan

    text = used_plan({**settings, **source.csv, "input": source.known_as})
    headers = {"content-disposition": 'attachment; filename="plan.toml"'}
    return Response(text, media_type="application/toml", headers=headers)


def _events(request: Request) -> Response:
    return StreamingResponse(_changes(_project(request)), media_type="text/event-stream")


async def _changes(project: Project) -> AsyncIterator[str]:
    """For a page that is open: which version of the project there is, and where its jobs are."""
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
            "stage": project.queue.where(job),
            "done": round(job.done, 3),
            "drawn": len(job.curve) + bool(job.answer),
        }
        for kind, job in list(project.jobs.items())
        if job.active
    }
    return {"version": project.version, "news": project.news, "jobs": jobs}
