"""Who may come in: nobody without a link or a cookie of this server, no other site, no other name."""

from __future__ import annotations

import html
import re
import secrets
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from starlette.requests import cookie_parser

from microagg import wording

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from microagg.web.sessions import Sessions

SESSION = "microagg.session"
"""Where a request's scope has the session that its cookie names."""

_HEADERS = {
    b"referrer-policy": b"same-origin",  # without any, browsers would not tell where a form was sent from
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), geolocation=(), microphone=()",
}

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">{more}<title>microagg</title>
<style>body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 36rem; margin: 15vh auto; padding: 0 1rem }}
</style></head><body><main><h1>microagg</h1><p>{text}</p></main></body></html>"""


class OneTimeLink:
    """Links of which each lets one browser in, once."""

    def __init__(self, address: str, announce: Callable[[str], object]) -> None:
        self._address = address
        self._announce = announce
        self._token = secrets.token_urlsafe(24)
        self._handed: set[str] = set()

    @property
    def link(self) -> str:
        """The one that can be used now."""
        return f"{self._address}/?token={self._token}"

    def hand_out(self) -> str:
        """The address of another one, for a browser that was let in before."""
        token = secrets.token_urlsafe(24)
        self._handed.add(token)
        return f"/?token={token}"

    def redeem(self, token: str) -> bool:
        """Whether the token is right; if so it is used up, and the next link is announced."""
        if token in self._handed:
            self._handed.remove(token)
            return True
        if not secrets.compare_digest(token.encode(), self._token.encode()):
            return False
        self._token = secrets.token_urlsafe(24)
        self._announce(self.link)
        return True


class Guard:
    def __init__(
        self, app: ASGIApp, sessions: Sessions, door: OneTimeLink, hosts: Iterable[str], port: int
    ) -> None:
        self._app = app
        self._sessions = sessions
        self._door = door
        self._hosts = {f"{_bracketed(host)}:{port}" for host in hosts}
        self._cookie = f"microagg-{port}"  # browsers share cookies between ports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, let in, or hand on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get("host", "")
        if host not in self._hosts:
            await _refuse(scope, send, 421, wording.unknown_host())
        elif not _same_origin(scope, headers, host):
            await _refuse(scope, send, 403, wording.other_origin())
        else:
            await self._admit(scope, receive, send, headers)

    async def _admit(self, scope: Scope, receive: Receive, send: Send, headers: dict[str, str]) -> None:
        # Other programs on this machine may have set cookies of any kind.
        known = cookie_parser(headers.get("cookie", "")).get(self._cookie)
        session = None if known is None else self._sessions.get(known)
        token = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        if token and scope["type"] == "http":
            if session is not None:
                await _enter(send, None)  # without the token in its address
            elif self._door.redeem(token):
                made = self._sessions.new()
                await _enter(send, f"{self._cookie}={made.id}; Path=/; HttpOnly; SameSite=Strict")
            else:
                await _refuse(scope, send, 403, wording.no_entry())
        elif session is None:
            await _refuse(scope, send, 403, wording.no_entry())
        else:
            session.seen()
            await self._app({**scope, SESSION: session}, receive, _with_headers(send))


POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    b"font-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
"""Nothing is loaded from elsewhere, and no script runs but our file."""


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _same_origin(scope: Scope, headers: dict[str, str], host: str) -> bool:
    """Pages of other sites may neither change anything nor listen. What only reads needs no origin."""
    origin = headers.get("origin")
    if origin is None:
        return scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
    return re.sub(r"^https?://", "", origin) == host


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message["headers"]}
            more = [(name, value) for name, value in _HEADERS.items() if name not in own]
            if b"content-security-policy" not in own:
                more.append((b"content-security-policy", POLICY))
            if b"cache-control" not in own:
                more.append((b"cache-control", b"no-store"))
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return sent


async def _enter(send: Send, cookie: str | None) -> None:
    """By a page, not by a redirection: a strict cookie does not follow one that began on another site."""
    more = '<meta http-equiv="refresh" content="0; url=/">'
    page = _PAGE.format(more=more, text='<a href="/">Open the first page</a>')
    await _respond(send, 200, page, [] if cookie is None else [(b"set-cookie", cookie.encode())])


async def _refuse(scope: Scope, send: Send, status: int, text: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": ""})
        return
    await _respond(send, status, _PAGE.format(more="", text=html.escape(text)), [])


async def _respond(send: Send, status: int, page: str, more: list[Any]) -> None:
    body = page.encode()
    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        *more,
    ]
    sent = _with_headers(send)
    await sent({"type": "http.response.start", "status": status, "headers": headers})
    await sent({"type": "http.response.body", "body": body})
