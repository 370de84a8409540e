"""All addresses: uploads, downloads, static files; everything else is the Shiny application's."""

from __future__ import annotations

import base64
import errno
import hashlib
import os
import re
import shutil
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from microagg import errors, wording
from microagg.formats import ENDINGS
from microagg.web.folders import remove
from microagg.web.guard import SESSION, STEP, policy
from microagg.web.project import Project, Source
from microagg.web.views.parts import STEPS
from microagg.web.work_files import EXTERNAL, INTERNAL, REPORT

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 8_000_000_000
LONGEST_NAME = 120

_HERE = Path(__file__).parent
STATIC = {
    "app.css": _HERE / "static" / "app.css",
    "app.js": _HERE / "static" / "app.js",
    "icon.svg": _HERE / "static" / "icon.svg",
    "report.css": _HERE.parent / "report" / "templates" / "style.css",
}


def site(application: ASGIApp) -> Starlette:
    return Starlette(
        routes=[
            Route("/upload", _upload, methods=["POST"]),
            Route("/get/{what}", _get),
            Route("/static/{name}", _static),
            Route("/favicon.ico", _static),  # browsers ask for it, whatever a page says
            Mount("/", _Steps(application)),
        ]
    )


class _Steps:
    """Every step has an address, at which the one page of the application is."""

    def __init__(self, application: ASGIApp) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        step = scope["path"].strip("/") or next(iter(STEPS))
        if scope["type"] == "http" and step in STEPS:
            scope = {**scope, "path": "/", "raw_path": b"/", STEP: step}
            send = _with_policy(send)
        elif scope["type"] == "websocket" and step.removesuffix("/websocket") in STEPS:
            scope = {**scope, "path": "/websocket/", "raw_path": b"/websocket/"}  # relative to the page
        await self._application(scope, receive, send)


def _with_policy(send: Send) -> Send:
    """Shiny's own page has a script in its text: that one may run, and no other."""
    start: Message = {}
    body = b""

    async def sent(message: Message) -> None:
        nonlocal start, body
        if message["type"] == "http.response.start":
            start = message
            return
        body += message.get("body", b"")
        if not message.get("more_body"):
            scripts = [
                "sha256-" + base64.b64encode(hashlib.sha256(script).digest()).decode()
                for script in re.findall(rb"<script>(.*?)</script>", body, re.S)
            ]
            headers = [*start["headers"], (b"content-security-policy", policy(scripts))]
            await send({**start, "headers": headers})
            await send({"type": "http.response.body", "body": body})

    return sent


async def _static(request: Request) -> Response:
    path = STATIC.get(request.path_params.get("name", "icon.svg"))
    if path is None:
        return PlainTextResponse(wording.not_found(), 404)
    return FileResponse(path, headers={"cache-control": "no-cache"})


async def _upload(request: Request) -> Response:
    """The body is the file, written as it comes; `name` says its format."""
    project: Project = request.scope[SESSION].project
    name = safe_name(request.query_params.get("name", ""))
    try:
        if Path(name).suffix.lower() not in ENDINGS:
            raise wording.unknown_format(name, list(ENDINGS))
        place = project.new_place()
        try:
            await _receive(request, place / name)
        except BaseException:
            remove(place)
            raise
        project.open(Source(name, name, place))
    except ClientDisconnect:
        return Response(status_code=400)  # which nobody hears
    except (errors.DataError, errors.SettingsError) as refusal:
        return PlainTextResponse(str(refusal), 422)
    except OSError as error:
        return PlainTextResponse(wording.job_failed_to_write(error.strerror or "no space"), 507)
    return Response(status_code=204)


async def _receive(request: Request, path: Path) -> None:
    received = 0
    expected = request.headers.get("content-length")
    if expected is not None and int(expected) > MOST_BYTES:
        raise wording.upload_too_large(MOST_BYTES)
    if expected is not None and int(expected) > shutil.disk_usage(path.parent).free:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with path.open("xb") as file:
        async for block in request.stream():
            received += len(block)
            if received > MOST_BYTES:
                raise wording.upload_too_large(MOST_BYTES)
            file.write(block)
    if expected is not None and received != int(expected):
        raise wording.upload_incomplete()


def safe_name(name: str) -> str:
    """The last part of a path without signs that mean something to a file system or a terminal."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    kept = "".join(sign if sign.isprintable() and sign not in '<>:"|?*' else "_" for sign in last)
    stem, ending = Path(kept).stem.lstrip(".-~ ") or "data", Path(kept).suffix
    return stem[: LONGEST_NAME - len(ending)] + ending


async def _get(request: Request) -> Response:
    """What a release has; nothing else can be had."""
    project: Project = request.scope[SESSION].project
    release, folder = project.release, project.release_folder
    if release is None or folder is None:
        return PlainTextResponse(wording.not_found(), 404)
    what = request.path_params["what"]
    if what == "plan":
        headers = {"content-disposition": 'attachment; filename="plan.toml"'}
        return Response(_plan(project), media_type="application/toml", headers=headers)
    files = {
        "protected": folder / release["file"],
        "internal-report": folder / REPORT,
        "external-report": folder / EXTERNAL,
        "record": folder / INTERNAL / f"{release['file']}.microagg.json",
    }
    if what not in files:
        return PlainTextResponse(wording.not_found(), 404)
    shown = "open" in request.query_params and files[what].suffix == ".html"
    return FileResponse(
        files[what],
        media_type="text/html; charset=utf-8" if shown else "application/octet-stream",
        filename=files[what].name,
        content_disposition_type="inline" if shown else "attachment",
    )


def _plan(project: Project) -> str:
    """As the user would have it, without the private folder."""
    from microagg.plan.plan_file import used_plan

    assert project.release is not None
    assert project.source is not None
    source = project.source
    files = {"input": source.path if source.opened else source.name, "output": project.release["file"]}
    return used_plan({**project.release["words"], **source.csv, **files})
