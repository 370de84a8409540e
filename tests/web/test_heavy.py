"""Large files, many users, and a server that dies: the long campaign of the pages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.campaigns import SAMPLE
from tests.web.pages import run, send, step
from tests.web.serving import Server, serving, survey
from tests.web.test_jobs import write_bomb
from tests.web.test_journey import take_forever

if TYPE_CHECKING:
    from playwright.sync_api import Page

Visit = Callable[..., "Page"]


pytestmark = pytest.mark.long


def test_a_large_file_is_sent_and_read(server: Server, visit: Visit, tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    header, _, rows = survey(50_000).partition("\n")
    megabytes = 20 if SAMPLE else 200
    with path.open("w") as file:
        file.write(header + "\n")
        while file.tell() < megabytes * 1e6:
            file.write(rows)
    page = visit(server)
    page.set_default_timeout(600_000)
    send(page, path)
    page.get_by_text("First 8 records").wait_for()
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    assert int(status.split("VmHWM:")[1].split()[0]) < 1_500_000


def test_a_file_that_unpacks_to_more_than_the_memory(visit: Visit, temporary: Path, tmp_path: Path) -> None:
    write_bomb(tmp_path / "bomb.parquet", 300)
    with serving(temporary, "--memory", "1") as server:
        page = visit(server)
        send(page, tmp_path / "bomb.parquet")
        page.get_by_text("There is not enough memory: a job may use 1 GiB").wait_for()
        page.get_by_role("button", name="11 companies").click()
        page.get_by_text("First 8 records").wait_for()
        page.close()  # before its server ends, which it would complain of


def test_ten_users_at_once(server: Server, visit: Visit, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(survey(300))
    pages = [visit(server) for _ in range(4 if SAMPLE else 10)]
    for page in pages:
        page.set_default_timeout(300_000)
        send(page, tmp_path / "data.csv")
    take_forever(pages[0])
    for page in pages[1:]:
        step(page, "Protection")
        page.get_by_text("This can be run:").wait_for()
    for page in pages[1:]:
        run(page)
    pages[0].get_by_role("button", name="Stop here, keep the best so far").click()
    pages[0].get_by_role("link", name="See the result").wait_for()
