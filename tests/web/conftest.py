"""Servers and a browser for tests. Whatever a page logs, or asks for elsewhere, fails its test."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.web.serving import Server, audited, temporary_folder

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NO_NETWORK = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
PATIENCE = 400_000
"""Milliseconds for what a page waits for, on a machine with other things to do."""


@pytest.fixture
def temporary() -> Iterator[Path]:
    folder = temporary_folder()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    folder = temporary_folder()
    with audited(folder) as running:
        yield running
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium, without any network but this machine."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright: pages are NOT TESTED")
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("there is no Chromium here: the pages are NOT TESTED in a browser")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", NO_NETWORK])
        yield running
        running.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """A page in a browser session of its own, which has followed the server's link."""
    contexts = []
    complaints: list[str] = []
    asked: list[str] = []

    def opened(server: Server, path: str = "/", **options: Any) -> Page:
        context = browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        used = len(server.links)
        page.goto(server.links[-1])
        server.link(used)
        page.wait_for_selector("html.script h1#title")
        if path != "/":
            page.goto(server.address + path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
    assert all(url.startswith(("http://127.0.0.1:", "data:", "blob:")) for url in asked), asked
