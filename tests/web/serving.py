"""A server of its own for a test, and what talks to it without a browser."""

from __future__ import annotations

import html
import http.client
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlencode, urlsplit

import numpy as np

Found = TypeVar("Found")

COMMAND = Path(sys.executable).parent / "microagg"

PATIENCE = 400.0
"""Seconds after which something hangs, even on a machine with much else to do."""

CSV_NAMES = ["age", "size", "income", "rent", "region"]


@dataclass
class Server:
    """A running `microagg serve`, whose temporary files are in a folder of the test's."""

    process: subprocess.Popen[str]
    temporary: Path
    said: list[str] = field(default_factory=list)

    def listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line.rstrip("\n"))

    @property
    def links(self) -> list[str]:
        return re.findall(r"http://\S+", "\n".join(self.said))

    def link(self, used: int = 0) -> str:
        """The link that is valid after so many were used."""
        return eventually(lambda: self.links[used] if len(self.links) > used else None)

    @property
    def address(self) -> str:
        return self.link().split("/?")[0]

    @property
    def port(self) -> int:
        return urlsplit(self.link()).port or 0

    @property
    def folders(self) -> list[Path]:
        """Of sessions."""
        return [path for path in self.temporary.glob("microagg-serve-*/*") if path.is_dir()]

    def workers(self) -> list[int]:
        """Processes below this one, without those that only stand by."""
        found = []
        for entry in Path("/proc").glob("[0-9]*/environ"):
            try:
                if f"TMPDIR={self.temporary}\0" in entry.read_text():
                    found.append(int(entry.parent.name))
            except OSError:  # ended in between
                continue
        return found

    def get(self, path: str, cookie: str | None = None, **headers: str) -> tuple[int, dict[str, str], str]:
        """Status, headers and text."""
        return self.request("GET", path, cookie, headers)

    def request(
        self, method: str, path: str, cookie: str | None, headers: dict[str, str], body: bytes | None = None
    ) -> tuple[int, dict[str, str], str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if cookie is not None:
            named["cookie"] = cookie
        connection.request(method, path, body, named)
        answer = connection.getresponse()
        text = answer.read().decode("utf-8", "replace")
        connection.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, text

    def enter(self) -> str:
        """A session of its own: its cookie."""
        return eventually(self._enter)

    def _enter(self) -> str | None:
        status, headers, _ = self.get(f"/?{urlsplit(self.links[-1]).query}")
        return headers["set-cookie"].split(";")[0] if status == 200 else None

    def post(self, cookie: str, path: str, /, **fields: object) -> tuple[int, str]:
        """Send a form; status and where it leads to."""
        headers = {"origin": self.address, "content-type": "application/x-www-form-urlencoded"}
        body = urlencode({name.replace("__", "."): value for name, value in fields.items()}).encode()
        status, answered, _ = self.request("POST", path, cookie, headers, body)
        return status, answered.get("location", "")

    def upload(self, cookie: str, name: str, content: bytes, path: str = "/data") -> tuple[int, str]:
        """Send a form with a file, named as it stands here; status and where it leads to."""
        headers, body = multipart(name, content)
        headers["origin"] = self.address
        status, answered, _ = self.request("POST", path, cookie, headers, body)
        return status, answered.get("location", "")

    def page(self, cookie: str, path: str) -> str:
        """The text of a page that is there."""
        status, _, text = self.get(path, cookie)
        assert status == 200, (path, status)
        return text

    def shows(self, cookie: str, path: str, *texts: str) -> str:
        """The page as soon as it shows one of these."""

        def look() -> str | None:
            page = html.unescape(self.page(cookie, path))
            return page if any(text in page for text in texts) else None

        return eventually(look)

    def opened(self, content: str, name: str = "data.csv") -> str:
        """A session that has read this file: its cookie."""
        cookie = self.enter()
        assert self.upload(cookie, name, content.encode()) == (303, "/data")
        self.shows(cookie, "/data", "First 8 records")
        return cookie

    def released(self, content: str, name: str = "data.csv", **settings: object) -> str:
        """A session that has a release of this file: its cookie."""
        cookie = self.opened(content, name)
        for option, value in settings.items():
            assert self.post(cookie, "/protection", only=option, **{option: value})[0] == 303
        assert self.post(cookie, "/run") == (303, "/run")
        self.shows(cookie, "/run", "See the result")
        return cookie

    def end(self, sign: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(sign)
        return self.process.wait(PATIENCE)


def multipart(name: str, content: bytes) -> tuple[dict[str, str], bytes]:
    """The headers and the body of a form with a file."""
    quoted = name.encode().replace(b'"', b"%22")
    head = b'--limit\r\ncontent-disposition: form-data; name="file"; filename="' + quoted + b'"\r\n\r\n'
    headers = {"content-type": "multipart/form-data; boundary=limit"}
    return headers, head + content + b"\r\n--limit--\r\n"


AUDIT = """
import os, sys

def watch(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple) or event == "socket.getaddrinfo":
        where = str(arguments[1] if event == "socket.connect" else arguments[0])
        if "127.0.0.1" not in where:
            with open(os.environ["AUDIT_LOG"], "a") as log:
                log.write(f"{event} {where}\\n")

sys.addaudithook(watch)
"""
"""Every process of a server writes down whom it asks, but for this machine."""


@contextmanager
def audited(folder: Path) -> Iterator[Server]:
    """A server that asks nobody for anything, or fails."""
    own = folder / "audit"
    own.mkdir()
    (own / "sitecustomize.py").write_text(AUDIT)
    log = own / "asked.txt"
    with serving(folder, PYTHONPATH=str(own), AUDIT_LOG=str(log)) as server:
        yield server
    assert not log.exists(), log.read_text()


@contextmanager
def serving(temporary: Path, *options: str, opening: bool = False, **environment: str) -> Iterator[Server]:
    process = subprocess.Popen(
        [COMMAND, "serve", *(() if opening else ("--no-open",)), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={
            **os.environ,
            "TMPDIR": str(temporary),
            "XDG_STATE_HOME": "/dev/null",  # sessions of other tests leave no choices behind
            "PYTHONUNBUFFERED": "1",
            **environment,
        },
        cwd=temporary,
    )
    server = Server(process, temporary)
    listener = threading.Thread(target=server.listen, daemon=True)
    listener.start()
    try:
        server.link()
        yield server
    finally:
        server.end(signal.SIGTERM)
        listener.join(PATIENCE)
        if process.stdout is not None:
            process.stdout.close()


def eventually(look: Callable[[], Found | None], seconds: float = PATIENCE) -> Found:
    """What is found, as soon as it is."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s")


def survey(records: int, seed: int = 5) -> str:
    """A CSV file of people who do not exist."""
    draw = np.random.default_rng(seed)
    age = draw.integers(18, 95, records)
    income = np.round(np.exp(draw.normal(7.3, 0.6, records)), 1)
    rent = np.round(0.3 * income + draw.normal(300, 60, records), 1)
    size = draw.integers(1, 7, records)
    region = draw.choice(["north", "south"], records)
    rows = zip(age, size, income, rent, region, strict=True)
    lines = [f"{a},{s},{i},{r},{where}" for a, s, i, r, where in rows]
    return "\n".join([",".join(CSV_NAMES), *lines]) + "\n"


def temporary_folder() -> Path:
    """Short, unlike pytest's: sockets of processes must fit into a name of a hundred letters."""
    return Path(tempfile.mkdtemp(prefix="web-"))
