"""The server: its address, its private folder, its sessions and jobs, from start to end."""

from __future__ import annotations

import contextlib
import errno
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from time import sleep

import uvicorn

from microagg import wording
from microagg.complaints import hide_tracebacks
from microagg.private_folder import PrivateFolder, locked, sweep
from microagg.settings.declared import ON_PAGES, ServeRun
from microagg.web.guard import Guard, OneTimeLink, bracketed
from microagg.web.jobs import Limits, Queue
from microagg.web.memory import Memory, usual_place
from microagg.web.project import ChosenFile
from microagg.web.routes import application
from microagg.web.sessions import IDLE, Sessions
from microagg.web.step_pages import Site, render

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")
"""Addresses that stand for all of this machine."""

NO_ADDRESS = (socket.EAI_NONAME, socket.EAI_AGAIN, socket.EAI_NODATA, socket.EAI_FAIL)
"""Errors of a name that stands for no address."""

PREFIX = "microagg-serve-"
"""Of the private folders of servers."""
WAY_IN = "open.html"
"""In this folder, until the first link was used."""

_EVERY = 5.0
"""Seconds between two looks for sessions that are forgotten."""


def serve(settings: ServeRun, file: Path | None, say: Callable[[str], object]) -> None:
    """Serve until the process is asked to end; nothing is left behind. Pages begin with the file."""
    alone = settings.host in LOOPBACK
    site = Site(settings.allow_paths, alone, settings.keep is not None)
    _refuse_for_others(settings, site)
    sweep(PREFIX)
    bound = _socket(settings.host, settings.port)
    if not alone:
        say(wording.served_to_others(settings.host))
    keep = None if settings.keep is None else settings.keep.absolute()
    lock = contextlib.nullcontext() if keep is None else locked(keep)
    folder = PrivateFolder(PREFIX)
    queue = Queue(Limits.of(settings.memory, settings.minutes))
    memory = Memory(keep or (usual_place() if alone else None), site.keeps)
    sessions = Sessions(keep or folder.path, queue, IDLE, _first(file), memory)
    hosts, port = _names(settings.host), bound.getsockname()[1]
    way_in = folder.path / WAY_IN

    def entered(link: str) -> None:
        way_in.unlink(missing_ok=True)
        say(wording.link_used())
        say(f"for another browser: {link}")

    door = OneTimeLink(f"http://{bracketed(hosts[0])}:{port}", entered)
    server = _server(Guard(application(sessions, door, site), sessions, door, hosts, port))
    _end_with_the_terminal()
    threading.Thread(target=_end_forgotten, args=(sessions,), daemon=True).start()
    say(f"open {door.link}")
    kept = f"keeps all files in {settings.keep}" if site.keeps else "removes all files"
    say(f"each link lets one browser in; Ctrl-C ends the server and {kept}")
    if settings.open:
        _write_way_in(way_in, door.link)
        threading.Thread(target=webbrowser.open, args=(way_in.as_uri(),), daemon=True).start()
    hide_tracebacks()
    with lock, wording.shown_by(ON_PAGES), contextlib.ExitStack() as at_the_end:  # each, whatever happens
        at_the_end.callback(folder.remove)
        at_the_end.callback(sessions.end_all)
        at_the_end.callback(queue.close)
        server.run(sockets=[bound])


def _refuse_for_others(settings: ServeRun, site: Site) -> None:
    """Paths and kept data are for a server that only this machine can reach."""
    if site.paths and not site.alone:
        raise wording.paths_for_others(settings.host)
    if site.keeps and not site.alone:
        raise wording.keep_for_others(settings.host)


def _server(app: Guard) -> uvicorn.Server:
    """It does not listen yet."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
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
    path.touch(mode=0o600, exist_ok=False)
    path.write_text(render("over.html", again=link, again_text="Open microagg", at_once=True), "utf-8")


def _first(file: Path | None) -> ChosenFile | None:
    """The file of the command line, which every session begins with."""
    if file is None:
        return None
    from microagg.read.files import origin_of

    origin_of(file)
    path = file.absolute()
    return ChosenFile(path.name, str(path), path.parent, opened=True)


def _names(host: str) -> list[str]:
    """By which the server may be called, the best one first."""
    if host not in EVERYWHERE:
        return [host, *LOOPBACK]
    own = socket.gethostname()
    with contextlib.suppress(OSError):
        found = [str(entry[4][0]) for entry in socket.getaddrinfo(own, None)]
        return [own, *dict.fromkeys(found), *LOOPBACK]
    return [own, *LOOPBACK]


def _socket(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        if getattr(error, "errno", None) in (errno.EADDRNOTAVAIL, *NO_ADDRESS):
            raise wording.bad_address(host) from None
        raise wording.port_taken(host, port) from None


def _end_forgotten(sessions: Sessions) -> None:
    while True:
        sleep(_EVERY)
        sessions.end_forgotten()
