"""What others on the machine can see of a server: no link in a process list, no files by their path, no
tracebacks.
"""

from __future__ import annotations

import re
import stat
import subprocess
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest

from microagg.errors import SettingsError
from microagg.web.complaints import hidden_tracebacks
from microagg.web.project import Project
from microagg.web.views.data import data as data_page
from tests.web.serving import COMMAND, Server, eventually, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Visit = Callable[..., "Page"]


def browser_that_writes_down(folder: Path) -> tuple[Path, Path]:
    """A browser that only says what it was started with."""
    script, told = folder / "browser", folder / "told.txt"
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {told}.new && mv {told}.new {told}\n')
    script.chmod(0o700)
    return script, told


def test_the_browser_is_not_started_with_the_link(temporary: Path) -> None:
    """What a process is started with can be read by every user of the machine."""
    script, told = browser_that_writes_down(temporary)
    with serving(temporary, opening=True, BROWSER=str(script)) as server:
        started_with = eventually(lambda: told.read_text().strip() if told.exists() else None)
        token = urlsplit(server.link()).query.removeprefix("token=")
        assert token not in started_with
        assert started_with.startswith("file:///")
        page = Path(unquote(urlsplit(started_with).path))
        assert stat.S_IMODE(page.stat().st_mode) == 0o600
        assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700
        assert server.link() in page.read_text()

        status, _, _ = server.get(f"/?token={token}")
        assert status == 200
        eventually(lambda: "the link was used" in "\n".join(server.said))
        eventually(lambda: not page.exists())
        assert not any(token in file.read_text() for file in page.parent.glob("*.html"))
    assert not page.exists()


def test_the_page_of_the_private_folder_leads_in(temporary: Path, browser: Browser) -> None:
    script, told = browser_that_writes_down(temporary)
    with serving(temporary, opening=True, BROWSER=str(script)) as server:
        address = eventually(lambda: told.read_text().strip() if told.exists() else None)
        context = browser.new_context()
        page = context.new_page()
        page.goto(address)
        page.wait_for_selector("h1#title")
        assert page.url.startswith(server.address)
        assert "token" not in page.url
        context.close()


def test_files_are_opened_by_path_only_if_that_is_allowed(
    server: Server, visit: Visit, temporary: Path
) -> None:
    secret = temporary / "secret.csv"
    secret.write_text("a,b\n" + "\n".join(f"{at},{at}" for at in range(20)))
    asks = f"Shiny.setInputValue('did', {{act: 'open', path: '{secret}'}}, {{priority: 'event'}})"
    page = visit(server)
    assert page.get_by_text("Open by its path").count() == 0
    page.evaluate(asks)
    page.get_by_text("This server opens no files by their path.").wait_for()
    with serving(temporary, "--allow-paths") as other:
        page = visit(other)
        page.get_by_text("Open by its path").wait_for()
        page.get_by_label("Path of a file that the server can read").fill(str(secret))
        page.get_by_role("button", name="Open", exact=True).click()
        page.get_by_text("This was read.").wait_for()


def test_paths_are_not_for_others(tmp_path: Path) -> None:
    done = subprocess.run(
        [COMMAND, "serve", "--no-open", "--host", "0.0.0.0", "--allow-paths"],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--allow-paths" in done.stderr


def test_a_page_for_others_does_not_claim_that_files_stay_on_their_machine(tmp_path: Path) -> None:
    project = Project(tmp_path, None)  # type: ignore[arg-type]
    assert "It stays on this machine" in str(data_page(project, False))
    others = str(data_page(project, False, alone=False))
    assert "this machine" not in others
    assert "over the network" in others


def test_exceptions_are_told_by_kind_and_place(capsys: pytest.CaptureFixture[str]) -> None:
    with hidden_tracebacks():
        try:
            raise SettingsError("secret")
        except SettingsError as error:
            traceback.print_exc()
            traceback.print_exception(type(error), error, error.__traceback__)
        warnings.showwarning("secret", UserWarning, "secret/place.py", 7)
    told = capsys.readouterr().err
    assert "secret" not in told
    assert "Traceback" not in told
    assert len(re.findall(r"Internal error: SettingsError at test_private.py:\d+", told)) == 2
    assert "UserWarning at place.py:7" in told


def test_a_page_that_fails_prints_no_traceback(temporary: Path, browser: Browser) -> None:
    with serving(temporary) as server:
        context = browser.new_context()
        page = context.new_page()
        page.goto(server.link())
        page.wait_for_selector("h1#title")
        page.evaluate("Shiny.setInputValue('said', {secret: 'respondent'}, {priority: 'event'})")
        eventually(lambda: "Internal error: KeyError at app.py:" in "\n".join(server.said))
        context.close()
    said = "\n".join(server.said)
    assert "Traceback" not in said
    assert str(temporary) not in said
    assert "site-packages" not in said
