"""What a session keeps on disk, and what it no longer does."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from microagg.errors import SettingsError
from microagg.web.jobs import Limits, Queue
from microagg.web.project import Project, Source
from tests.web.serving import Server, eventually, survey


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    queue = Queue(Limits(2**32, 5.0))
    yield Project(tmp_path, queue)
    queue.close()


def opened(project: Project, seed: int) -> Path:
    place = project.new_place()
    (place / "data.csv").write_text(survey(60, seed))
    project.open(Source("data.csv", "data.csv", place))
    eventually(lambda: project.found)
    return place


def test_another_file_takes_the_place_of_the_last_and_its_release(project: Project) -> None:
    first = opened(project, 1)
    project.say("k", "3")
    project.run()
    eventually(lambda: project.release)
    assert project.release_folder is not None
    released = project.release_folder
    assert first.exists()
    assert released.exists()
    second = opened(project, 2)
    assert list(project.folder.iterdir()) == [second]


def test_the_files_of_a_run_that_is_given_up_are_removed(project: Project) -> None:
    place = opened(project, 1)
    project.say("method", "anneal:steps=1000000000000")
    project.run()
    assert len(list(project.folder.iterdir())) == 2
    project.give_up("protect")
    eventually(lambda: project.jobs["protect"].over.is_set())
    assert list(project.folder.iterdir()) == [place]


def test_a_file_that_has_changed_since_it_was_opened_is_refused(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text(survey(60, 1))
    project.open_path(str(file), allowed=True)
    eventually(lambda: project.found)
    file.write_text(survey(60, 2))
    project.say("k", "3")
    project.run()
    project.check(against_data=True)
    project.compare([3], ["mdav"])
    for kind in ("protect", "check", "compare"):
        eventually(lambda kind=kind: not project.jobs[kind].active)
        assert project.jobs[kind].state == "refused"
        assert "own.csv has changed since it was opened" in project.jobs[kind].message
    project.open_path(str(file), allowed=True)
    eventually(lambda: project.found)
    project.run()
    eventually(lambda: project.release)


def test_nothing_begins_in_a_session_that_has_ended(project: Project) -> None:
    opened(project, 1)
    project.close()
    with pytest.raises(SettingsError, match="has ended"):
        project.new_place()
    with pytest.raises(SettingsError, match="has ended"):
        project.run()


def test_an_upload_that_breaks_off_leaves_nothing(server: Server) -> None:
    cookie = server.enter()
    before = {path for folder in server.folders for path in folder.iterdir()}
    with socket.create_connection(("127.0.0.1", server.port)) as sender:
        head = [
            "POST /upload?name=data.csv HTTP/1.1",
            f"host: 127.0.0.1:{server.port}",
            f"origin: {server.address}",
            f"cookie: {cookie}",
            "content-length: 1000000",
        ]
        sender.sendall("\r\n".join([*head, "", "a,b,c"]).encode())
        eventually(lambda: {path for folder in server.folders for path in folder.iterdir()} - before)
    eventually(lambda: not {path for folder in server.folders for path in folder.iterdir()} - before)
