"""Who may come in: nobody without a link or a cookie of this server, no other site, no other name."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse

from microagg import wording
from microagg.web.step_pages import last_page, render

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from microagg.web.sessions import Sessions

PROJECT = "microagg.project"
"""Where a request's scope has the project of its browser session."""

_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",  # nothing from elsewhere, and no script but our file
    "cache-control": "no-store",
    "referrer-policy": "same-origin",  # without any, browsers would not tell where a form was sent from
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class OneTimeLink:
    """Links of which each lets one browser in, once. The newest one is printed; whenever it was used,
    `announce` gets the next.
    """

    def __init__(self, address: str, announce: Callable[[str], object]) -> None:
        self._address = address
        self._announce = announce
        self._valid: set[str] = set()
        self._printed = self.hand_out()

    @property
    def link(self) -> str:
        """The one that is printed."""
        return f"{self._address}{self._printed}"

    def hand_out(self) -> str:
        """The address of another one, for a browser that was let in before."""
        token = secrets.token_urlsafe(24)
        self._valid.add(token)
        return f"/?token={token}"

    def redeem(self, token: str) -> bool:
        """Whether the token is right; if so it is used up."""
        if token not in self._valid:
            return False
        self._valid.remove(token)
        if self._printed == f"/?token={token}":
            self._printed = self.hand_out()
            self._announce(self.link)
        return True


class Guard:
    def __init__(
        self, app: ASGIApp, sessions: Sessions, door: OneTimeLink, hosts: Iterable[str], port: int
    ) -> None:
        self._app = app
        self._sessions = sessions
        self._door = door
        self._hosts = {f"{bracketed(host)}:{port}" for host in hosts}
        self._cookie = f"microagg-{port}"  # browsers share cookies between ports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if scope["path"].startswith("/static/"):
                    headers["cache-control"] = "private, max-age=86400"  # an address has its version
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._answer(Request(scope))(scope, receive, sent)

    def _answer(self, request: Request) -> ASGIApp:
        """A refusal, the way in, or the pages."""
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if host not in self._hosts:
            return last_page(wording.unknown_host(), 421)
        # Pages of other sites may neither change anything nor listen. What only reads needs no origin.
        reads = request.method in ("GET", "HEAD")
        is_ours = re.sub(r"^https?://", "", origin) == host if origin is not None else reads
        if not is_ours:
            return last_page(wording.other_origin(), 403)
        project = self._sessions.get(request.cookies.get(self._cookie, ""))
        token = request.query_params.get("token", "")
        if project is None and not self._door.redeem(token):
            return last_page(wording.no_entry(), 403)
        if token:  # by a page, not by a redirection: a strict cookie does not follow one from another site
            way_in = HTMLResponse(
                render("over.html", again="/", again_text="Open the first page", at_once=True)
            )
            if project is None:
                way_in.set_cookie(self._cookie, self._sessions.new().id, httponly=True, samesite="strict")
            return way_in
        assert project is not None
        project.seen()
        request.scope[PROJECT] = project
        return self._app


def bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
