"""What others on the machine can see of a server: no link in a process list, no files by their path, no
tracebacks.
"""

from __future__ import annotations

import re
import stat
import subprocess
import sys
import threading
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest

from microagg.complaints import hide_tracebacks
from microagg.errors import SettingsError
from microagg.web.jobs import Limits, Queue
from microagg.web.project import Project
from microagg.web.step_pages import Site, page
from tests.web.serving import COMMAND, Server, eventually, serving, survey

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def browser_that_writes_down(folder: Path) -> tuple[Path, Path]:
    """A browser that only says what it was started with."""
    script, noted = folder / "browser", folder / "started.txt"
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {noted}.new && mv {noted}.new {noted}\n')
    script.chmod(0o700)
    return script, noted


def test_the_browser_is_not_started_with_the_link(temporary: Path) -> None:
    """What a process is started with can be read by every user of the machine."""
    script, noted = browser_that_writes_down(temporary)
    with serving(temporary, opening=True, BROWSER=str(script)) as server:
        started_with = eventually(lambda: noted.read_text().strip() if noted.exists() else None)
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
    script, noted = browser_that_writes_down(temporary)
    with serving(temporary, opening=True, BROWSER=str(script)) as server:
        address = eventually(lambda: noted.read_text().strip() if noted.exists() else None)
        context = browser.new_context()
        page = context.new_page()
        page.goto(address)
        page.wait_for_selector("html.script h1#title")
        assert page.url.startswith(server.address)
        assert "token" not in page.url
        context.close()


def test_files_are_opened_by_path_only_if_that_is_allowed(server: Server, temporary: Path) -> None:
    secret = temporary / "secret.csv"
    secret.write_text("a,b\n" + "\n".join(f"{at},{at}" for at in range(20)))
    cookie = server.enter()
    assert "Open by its path" not in server.page(cookie, "/data")
    _, place = server.post(cookie, "/open", path=secret)
    assert "This server opens no files by their path." in server.page(cookie, place)
    with serving(temporary, "--allow-paths") as other:
        cookie = other.enter()
        assert "Open by its path" in other.page(cookie, "/data")
        assert other.post(cookie, "/open", path=secret) == (303, "/data")
        other.shows(cookie, "/data", "This was read.")
        assert other.post(cookie, "/open", path="/data/typo.csv") == (303, "/data")
        page = other.shows(cookie, "/data", "typo.csv cannot be used as it is")
        assert "secret.csv stays open, with all choices" in page


def test_paths_are_not_for_others(tmp_path: Path) -> None:
    done = subprocess.run(
        [COMMAND, "serve", "--no-open", "--host", "0.0.0.0", "--allow-paths"],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--allow-paths" in done.stderr


def test_a_page_for_others_does_not_claim_that_files_stay_on_their_machine(tmp_path: Path) -> None:
    project = Project(tmp_path, Queue(Limits(2**32, 5.0)))
    assert "It stays on this machine" in page(project, "data")
    others = page(project, "data", site=Site(alone=False))
    assert "this machine" not in others
    assert "this computer" not in others
    assert "over the network" in others


@pytest.mark.parametrize("host", ["10.255.255.1", "no.such.name.invalid"])
def test_an_address_of_another_machine_is_named_as_such(tmp_path: Path, host: str) -> None:
    done = subprocess.run(
        [COMMAND, "serve", "--no-open", "--host", host], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 2
    assert f"{host} is not an address of this machine" in done.stderr


def test_exceptions_are_shown_by_kind_and_place(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced = ((traceback, "print_exception"), (threading, "excepthook"), (sys, "excepthook"))
    for owner, name in (*replaced, (warnings, "showwarning")):
        monkeypatch.setattr(owner, name, getattr(owner, name))  # and back again after the test
    hide_tracebacks()
    try:
        raise SettingsError("secret")
    except SettingsError as error:
        traceback.print_exc()
        traceback.print_exception(type(error), error, error.__traceback__)
    warnings.showwarning("secret", UserWarning, "secret/place.py", 7)
    printed = capsys.readouterr().err
    assert "secret" not in printed
    assert "Traceback" not in printed
    assert len(re.findall(r"Internal error: SettingsError at test_private.py:\d+", printed)) == 2
    assert "UserWarning at place.py:7" in printed


def test_a_page_that_fails_shows_nothing_private(temporary: Path) -> None:
    """Its session, and others, go on."""
    with serving(temporary) as server:
        cookie = server.released(survey(60))
        for report in temporary.rglob("internal-report.html"):
            report.unlink()
        status, _, page = server.get("/result", cookie)
        assert status == 500
        assert "Something went wrong inside microagg" in page
        assert str(temporary) not in page
        assert server.get("/data", cookie)[0] == 200
    printed = "\n".join(server.said)
    assert "Internal error: FileNotFoundError at pathlib.py:" in printed
    assert "Traceback" not in printed
    assert str(temporary) not in printed
    assert "site-packages" not in printed


def test_kept_files_are_there_again_for_this_user_only(temporary: Path) -> None:
    folder = temporary / "kept"
    with serving(temporary, "--keep", str(folder)) as server:
        cookie = server.released(survey(60, seed=1), k=4)
        assert server.post(cookie, "/roles", only="role.1", role__1="drop")[0] == 303
        protected = server.get("/get/protected", cookie)[2]
        refused = subprocess.run(
            [COMMAND, "serve", "--no-open", "--keep", str(folder)], capture_output=True, text=True
        )
        assert refused.returncode == 2
        assert "Another server uses" in refused.stderr
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    with serving(temporary, "--keep", str(folder)) as server:
        cookie = server.enter()
        page = server.shows(cookie, "/data", "First 8 records")
        assert "2 choices that you made before are in force" in page
        assert server.get("/get/protected", cookie)[2] == protected
        server.post(cookie, "/end")
    assert [path.name for path in folder.iterdir()] == ["lock"]
    folder.chmod(0o755)
    for more, reason in (
        ((), "can be read or changed by others"),
        (("--host", "0.0.0.0"), "Leave out one"),
    ):
        refused = subprocess.run(
            [COMMAND, "serve", "--no-open", "--keep", str(folder), *more], capture_output=True, text=True
        )
        assert refused.returncode == 2
        assert reason in refused.stderr
