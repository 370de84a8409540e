"""The server: its address, its private folder, its sessions and jobs, from start to end."""

from __future__ import annotations

import contextlib
import errno
import html
import ipaddress
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from microagg import wording
from microagg.web.complaints import hidden_tracebacks
from microagg.web.folders import ServerFolder, sweep
from microagg.web.guard import Guard, OneTimeLink
from microagg.web.jobs import Limits, Queue
from microagg.web.labels import PAGES
from microagg.web.memory import Memory, usual_place
from microagg.web.project import Source
from microagg.web.sessions import IDLE, Sessions

if TYPE_CHECKING:
    import uvicorn

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")
"""Addresses that stand for all of this machine."""

WAY_IN = "open.html"
"""In the private folder of the server, until the first link was used."""

_EVERY = 5.0
"""Seconds between two looks for sessions that are forgotten."""


@dataclass(frozen=True, slots=True)
class Settings:
    host: str = "127.0.0.1"
    port: int = 0
    """0: any that is free."""
    open: bool = True
    """A browser, too."""
    file: Path | None = None
    limits: Limits | None = None
    idle: float = IDLE
    """Seconds after which a session ends whose browser is away."""
    paths: bool = False
    """Pages may open any file that the server can read, by its path."""
    keep: Path | None = None
    """A folder for data and releases that are still there when the server is started again."""


def serve(settings: Settings, say: Callable[[str], object]) -> None:
    """Serve until the process is asked to end; nothing is left behind."""
    alone = settings.host in LOOPBACK
    _refuse_for_others(settings, alone)
    sweep()
    bound = _socket(settings.host, settings.port)
    if not alone:
        say(wording.served_to_others(settings.host))
    folder = ServerFolder(None if settings.keep is None else settings.keep.absolute())
    queue = Queue(settings.limits or Limits.usual())
    memory = Memory(usual_place() if alone else None, keeps_projects=settings.keep is not None)
    sessions = Sessions(folder, queue, settings.idle, _first(settings.file), memory)
    hosts, port = _names(settings.host), bound.getsockname()[1]
    way_in = folder.path / WAY_IN

    def entered(link: str) -> None:
        way_in.unlink(missing_ok=True)
        say(wording.link_used())
        say(f"for another browser: {link}")

    door = OneTimeLink(f"http://{_bracketed(hosts[0])}:{port}", entered)
    server = _server(settings, sessions, door, hosts, port)
    _end_with_the_terminal()
    ended = threading.Event()
    threading.Thread(target=_end_forgotten, args=(sessions, ended), daemon=True).start()
    say(f"open {door.link}")
    kept = "removes all files" if settings.keep is None else f"keeps all files in {settings.keep}"
    say(f"each link lets one browser in; Ctrl-C ends the server and {kept}")
    if settings.open:
        _write_way_in(way_in, door.link)
        threading.Thread(target=webbrowser.open, args=(way_in.as_uri(),), daemon=True).start()
    with contextlib.ExitStack() as at_the_end:  # each, whatever happens to the others
        at_the_end.enter_context(hidden_tracebacks())
        at_the_end.enter_context(wording.shown_by(PAGES))
        at_the_end.callback(folder.remove)
        at_the_end.callback(sessions.end_all)
        at_the_end.callback(queue.close)
        at_the_end.callback(ended.set)
        server.run(sockets=[bound])


def _refuse_for_others(settings: Settings, alone: bool) -> None:
    """Paths and kept data are for a server that only this machine can reach."""
    if settings.paths and not alone:
        raise wording.paths_for_others(settings.host)
    if settings.keep is not None and not alone:
        raise wording.keep_for_others(settings.host)


def _server(
    settings: Settings, sessions: Sessions, door: OneTimeLink, hosts: list[str], port: int
) -> uvicorn.Server:
    """The pages behind their guard; it does not listen yet."""
    import uvicorn

    from microagg.web.routes import application

    pages = application(
        sessions, door, settings.paths, settings.host in LOOPBACK, settings.keep is not None
    )
    return uvicorn.Server(
        uvicorn.Config(
            Guard(pages, sessions, door, hosts, port),
            log_level="critical",  # a log of addresses would have tokens in it
            access_log=False,
            timeout_graceful_shutdown=1,
            ws="none",
            server_header=False,
            lifespan="off",
        )
    )


def _end_with_the_terminal() -> None:
    """A closed terminal ends the server as a request to end does, unless nohup was asked for."""
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))


def _write_way_in(path: Path, link: str) -> None:
    """A page for the browser that is opened, which leads to the link. What a program is started with can be
    read by all users of the machine; this file cannot.
    """
    address = html.escape(link)
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>microagg</title>'
        '<meta name="referrer" content="no-referrer">'
        f'<meta http-equiv="refresh" content="0; url={address}">'
        f'</head><body><p><a href="{address}">Open microagg</a></p></body></html>'
    )
    path.touch(mode=0o600, exist_ok=False)
    path.write_text(page, "utf-8")


def _first(file: Path | None) -> Source | None:
    """The file of the command line, which every session begins with."""
    if file is None:
        return None
    from microagg.read.files import origin_of

    origin_of(file)
    path = file.absolute()
    return Source(path.name, str(path), path.parent, opened=True)


def _names(host: str) -> list[str]:
    """By which the server may be called, the best one first."""
    if host not in EVERYWHERE:
        return [host, *LOOPBACK]
    own = socket.gethostname()
    with contextlib.suppress(OSError):
        found = [str(entry[4][0]) for entry in socket.getaddrinfo(own, None)]
        return [own, *dict.fromkeys(found), *LOOPBACK]
    return [own, *LOOPBACK]


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _socket(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ipaddress.ip_address(host).version == 6 else socket.AF_INET
    except ValueError:
        family = socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen()  # who follows the link at once waits instead of being refused
    except (OSError, OverflowError) as error:
        bound.close()
        if isinstance(error, socket.gaierror) or getattr(error, "errno", None) == errno.EADDRNOTAVAIL:
            raise wording.bad_address(host) from None
        raise wording.port_taken(host, port) from None
    return bound


def _end_forgotten(sessions: Sessions, ended: threading.Event) -> None:
    while not ended.wait(_EVERY):
        sessions.end_forgotten()
