"""All addresses. Pages are asked for; forms are sent, change the project and lead back to a page."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
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
from microagg.settings.kinds import Flag, GroupSizes, Share
from microagg.web import example
from microagg.web.choices import BY_COLUMN
from microagg.web.complaints import print_place
from microagg.web.folders import remove
from microagg.web.guard import SESSION
from microagg.web.pages import (
    STEPS,
    Pages,
    choices_version,
    first_possible,
    render,
    report_sections,
    stage_of,
)
from microagg.web.project import Project, Source
from microagg.web.uploads import fields_of, receive_file
from microagg.web.work_files import EXTERNAL, INTERNAL, REPORT

if TYPE_CHECKING:
    from microagg.web.guard import OneTimeLink
    from microagg.web.sessions import Session, Sessions

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

Fields = Mapping[str, str]
Action = Callable[[Project, Fields], str]
"""Changes the project; returns the step to go to."""


def application(
    sessions: Sessions, door: OneTimeLink, paths: bool, alone: bool, keeps: bool = False
) -> Starlette:
    """For all browser sessions; see `Pages` for the last three."""
    pages = Pages(paths, alone, keeps)

    def page(request: Request) -> Response:
        """A step, or the first that leads to it."""
        project = _session(request).project
        step, part = request.path_params["step"], request.path_params.get("part", "")
        parts = {"", "compare", *report_sections(project)} if step == "result" else {""}
        if step not in (*STEPS, "end") or part not in parts:
            raise HTTPException(404)
        possible = step if step == "end" else first_possible(project, step)
        if possible != step:
            return RedirectResponse(f"/{possible}", 303)
        notice = _session(request).notices.get(request.query_params.get("notice", ""), "")
        return HTMLResponse(pages.page(project, step, part, notice))

    def open_path(project: Project, fields: Fields) -> str:
        project.open_path(fields.get("path", ""), paths)
        return "data"

    async def end(request: Request) -> Response:
        await run_in_threadpool(sessions.end, _session(request), True)
        text = wording.session_ended()
        page = render("over.html", text=text, again=door.hand_out(), again_text="Start again")
        return HTMLResponse(page)

    actions: dict[str, Action] = {**ACTIONS, "open": open_path}
    return Starlette(
        routes=[
            Route("/", lambda _: RedirectResponse("/data", 303)),
            Route("/static/{name}", _static),
            Route("/favicon.ico", _static),  # browsers ask for it, whatever a page says
            Route("/events", _events),
            Route("/alive", lambda _: Response(status_code=204)),
            Route("/get/{what}", _get),
            Route("/end", end, methods=["POST"]),
            Route("/data", _sending("data", _take_file), methods=["POST"]),
            Route("/plan", _sending("data", _take_plan), methods=["POST"]),
            *(
                Route(f"/{name}", _changing(BACK_TO.get(name, name), action), methods=["POST"])
                for name, action in actions.items()
            ),
            Route("/{step}", page),
            Route("/{step}/{part}", page),
        ],
        exception_handlers={HTTPException: _not_here, Exception: _failed},
    )


def _session(request: Request) -> Session:
    session: Session = request.scope[SESSION]
    return session


async def _not_here(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    page = render("over.html", text=wording.not_found(), again="/data", again_text="To the first step")
    return HTMLResponse(page, status)


async def _failed(_request: Request, error: Exception) -> Response:
    """Nobody expected this: neither the page nor the terminal shows its text."""
    print_place(error)
    page = render(
        "over.html", text=wording.something_failed(), again="/data", again_text="To the first step"
    )
    return HTMLResponse(page, 500)


# --- forms ------------------------------------------------------------------------------------


def _changing(step: str, action: Action) -> Callable[[Request], Awaitable[Response]]:
    """For a form without files; a refusal is shown on this step."""

    async def change(request: Request) -> Response:
        async def work() -> str:
            fields = await fields_of(request)
            return await run_in_threadpool(action, _session(request).project, fields)

        return await _led_back(request, step, work())

    return change


def _sending(
    step: str, action: Callable[[Project, Path], None]
) -> Callable[[Request], Awaitable[Response]]:
    """For a form with a file."""

    async def send(request: Request) -> Response:
        async def work() -> str:
            project = _session(request).project
            place = project.new_place()
            try:
                name = await receive_file(request, place)
                if not name:
                    raise wording.no_file()
                await run_in_threadpool(action, project, place / name)
            except BaseException:
                remove(place)
                raise
            return step

        return await _led_back(request, step, work())

    return send


async def _led_back(request: Request, step: str, work: Awaitable[str]) -> Response:
    """To the step that the work names, or with its refusal to this one."""
    session = _session(request)
    try:
        return RedirectResponse(f"/{await work}", 303)
    except ClientDisconnect:
        return Response(status_code=400)  # which nobody hears
    except (errors.DataError, errors.SettingsError) as refusal:
        text = str(refusal)
    except OSError as error:
        text = wording.job_failed_to_write(error.strerror or "no space")
    return RedirectResponse(f"/{step}?notice={session.note(text)}", 303)


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


def _example(project: Project, fields: Fields) -> str:
    name = fields.get("name", "")
    if name in example.NAMES:
        place = project.new_place()
        (place / example.NAMES[name]).write_text(example.TEXTS[name](), "utf-8")
        project.open(Source(example.NAMES[name], example.NAMES[name], place))
    return "data"


def _reread(project: Project, fields: Fields) -> str:
    """With another delimiter, header, sheet, …; `more`: beside what is given already."""
    old = project.incoming or project.source
    csv: dict[str, Any] = dict(old.csv) if old is not None and fields.get("more") else {}
    csv |= {name: fields[name].strip() for name in FILE_OPTIONS if fields.get(name, "").strip()}
    if str(csv.get("header_row", "")).isdecimal():
        csv["header_row"] = int(csv["header_row"])
    project.read_again(csv)
    return "data"


def _suggestions(project: Project, fields: Fields) -> str:
    project.take_suggestions()
    return _next_step(fields, "roles")


def _roles(project: Project, fields: Fields) -> str:
    """The form as a whole, or one control of it. Columns are counted, for their names may be anything."""
    with project.lock:
        _refuse_old(project, fields)
        columns = list(project.choices.roles)
        for name, value in fields.items():
            option, _, number = name.partition(".")
            if option in BY_COLUMN and number.isdecimal() and int(number) < len(columns):
                choose = project.choices.set if fields.get("only") else project.choices.set_if_other
                choose(option, value, columns[int(number)])
        project.changed()
    return _next_step(fields, "roles")


def _protection(project: Project, fields: Fields) -> str:
    """The form as a whole, or one control of it (`only`)."""
    with project.lock:
        _refuse_old(project, fields)
        recipe = fields.get("recipe", "").strip()
        given = {name: value for name, value in fields.items() if name in PLAN_OPTIONS}
        if recipe or fields.get("only") == "recipe":
            given["method"] = recipe or "auto"
        for name, option in PLAN_OPTIONS.items():
            if option.form and isinstance(option.kind, Flag) and fields.get("only", name) == name:
                given.setdefault(name, "")
        for name, value in given.items():
            if PLAN_OPTIONS[name].form:
                project.choices.set(name, value)
        project.changed()
    if fields.get("then") == "run":
        return _run(project, fields)
    return _next_step(fields, "protection")


def _refuse_old(project: Project, fields: Fields) -> None:
    """`SettingsError` for a form that shows other choices than those in force."""
    if fields.get("version", choices_version(project)) != choices_version(project):
        raise wording.changed_elsewhere()


def _cure(project: Project, fields: Fields) -> str:
    """What a button beside a refusal proposes: settings, or roles of columns."""
    for name, value in fields.items():
        kind, _, what = name.partition(":")
        if kind == "set" and what in PLAN_OPTIONS and PLAN_OPTIONS[what].form:
            if what == "accept":  # beside what is accepted already
                value = ", ".join([*project.choices.settings.get(what, ()), value])
            project.choose(what, value)
        elif kind == "role":
            project.choose("role", value, what)
    return _run(project, fields) if fields.get("then") == "run" else _next_step(fields, "protection")


def _next_step(fields: Fields, usual: str) -> str:
    return fields["then"] if fields.get("then") in STEPS else usual


def _run(project: Project, _fields: Fields) -> str:
    project.run()
    return "run"


def _after(change: Callable[[Project], object], step: str) -> Action:
    """An action that needs no fields."""

    def action(project: Project, _fields: Fields) -> str:
        change(project)
        return step

    return action


def _compare(project: Project, fields: Fields) -> str:
    project.comparison = {name: fields.get(name, "").strip() for name in project.comparison}
    ks = GroupSizes().parse("k", [project.comparison["ks"]])
    methods = [name.strip() for name in project.comparison["methods"].split(",") if name.strip()]
    max_risk = Share().check("max_risk", Share().from_form(project.comparison["max_risk"]))
    project.compare(ks, methods, max_risk)
    return "result/compare"


def _take(project: Project, fields: Fields) -> str:
    for name in ("k", "method"):
        project.choose(name, fields.get(name, ""))
    return "protection"


def _show(project: Project, fields: Fields) -> str:
    project.show(fields.get("release", ""))
    return first_possible(project, "hand-over")


ACTIONS: Mapping[str, Action] = {
    "example": _example,
    "reread": _reread,
    "cancel": _after(Project.cancel_reading, "data"),
    "suggestions": _suggestions,
    "roles": _roles,
    "protection": _protection,
    "cure": _cure,
    "run": _run,
    "stop": _after(lambda project: project.stop("protect"), "run"),
    "discard": _after(lambda project: project.give_up("protect"), "run"),
    "prove": _after(Project.prove, "result"),
    "stop-proving": _after(lambda project: project.give_up("bound"), "result"),
    "compare": _compare,
    "stop-comparing": _after(lambda project: project.give_up("compare"), "result/compare"),
    "take": _take,
    "show": _show,
}
BACK_TO = {
    **dict.fromkeys(("open", "example", "reread", "cancel"), "data"),
    **dict.fromkeys(("cure", "suggestions", "run", "take"), "protection"),
    **dict.fromkeys(("stop", "discard"), "run"),
    **dict.fromkeys(("prove", "stop-proving"), "result"),
    **dict.fromkeys(("compare", "stop-comparing"), "result/compare"),
    "show": "hand-over",
}
"""The step that shows the refusal of an action, where it has another name."""


# --- what is sent -----------------------------------------------------------------------------


def _static(request: Request) -> Response:
    path = STATIC.get(request.path_params.get("name", "icon.svg"))
    if path is None:
        raise HTTPException(404)
    return FileResponse(path, headers={"cache-control": "no-cache"})


def _get(request: Request) -> Response:
    """What a release has, and the settings as they are; nothing else can be had."""
    project = _session(request).project
    what, release = request.path_params["what"], project.release
    if what == "settings" and project.source is not None:
        return _toml(project.source, project.choices.plan(), {})
    if release is None or release.folder is None:
        raise HTTPException(404)
    if what == "plan":
        return _toml(release.source, release.answer["asked"], {"output": release.answer["file"]})
    files = {
        "protected": release.folder / release.answer["file"],
        "internal-report": release.folder / REPORT,
        "external-report": release.folder / EXTERNAL,
        "record": release.folder / INTERNAL / f"{release.answer['file']}.microagg.json",
    }
    if what not in files or not files[what].is_file():
        raise HTTPException(404)
    if what == "protected" and not release.downloaded:
        release.downloaded = True
        project.changed()
    is_shown = "open" in request.query_params and files[what].suffix == ".html"
    return FileResponse(
        files[what],
        media_type="text/html; charset=utf-8" if is_shown else "application/octet-stream",
        filename=files[what].name,
        content_disposition_type="inline" if is_shown else "attachment",
    )


def _toml(source: Source, settings: Mapping[str, Any], more: Mapping[str, str]) -> Response:
    """A plan file as the user would have it, without the private folder."""
    from microagg.plan.plan_file import used_plan

    text = used_plan({**settings, **source.csv, "input": source.known_as, **more})
    headers = {"content-disposition": 'attachment; filename="plan.toml"'}
    return PlainTextResponse(text, media_type="application/toml", headers=headers)


async def _events(request: Request) -> Response:
    """A stream for a page that is open: which version of the project there is, and where its jobs are."""
    return StreamingResponse(
        _changes(_session(request)), media_type="text/event-stream", headers={"cache-control": "no-store"}
    )


async def _changes(session: Session) -> AsyncIterator[str]:
    session.opened()
    known, quiet = "", 0.0
    try:
        while not session.project.closed:
            now = json.dumps(_progress(session.project))
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
        session.closed()


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
