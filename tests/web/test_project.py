"""What a session keeps on disk, and what it no longer does."""

from __future__ import annotations

import json
import socket
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from microagg.errors import SettingsError
from microagg.web.jobs import Limits, Queue
from microagg.web.memory import Memory
from microagg.web.project import ChosenFile, Project
from microagg.web.step_pages import page
from tests.web.serving import Server, eventually, multipart, survey


def choose(project: Project, name: str, value: object, column: str | None = None) -> None:
    project.choices.set(name, value, column)
    project.changed()


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    queue = Queue(Limits(2**32, 5.0))
    yield Project(tmp_path, queue)
    queue.close()


def opened(project: Project, seed: int, text: str = "") -> Path:
    place = project.new_place()
    (place / "data.csv").write_text(text or survey(60, seed))
    project.open(ChosenFile("data.csv", "data.csv", place))
    eventually(lambda: project.jobs["look"].over.is_set())
    return place


def ran(project: Project) -> None:
    project.run()
    eventually(lambda: project.jobs["protect"].over.is_set())


def test_another_file_takes_the_place_of_the_last_but_releases_stay(project: Project) -> None:
    first = opened(project, 1)
    ran(project)
    assert project.release is not None
    released = project.release.folder
    second = opened(project, 2)
    assert not first.exists()
    assert second.exists()
    assert released is not None
    assert released.exists()
    assert project.settings_changed


@pytest.mark.parametrize("end", ["stop", "give_up"])
def test_another_file_waits_until_the_run_has_ended(project: Project, end: str) -> None:
    first = opened(project, 1)
    source = project.source
    for name, column in (("size", "keys 1"), ("region", "pass")):
        choose(project, "role", column, name)
    choose(project, "method", "anneal:steps=1000000000000")
    project.run()
    eventually(lambda: project.jobs["protect"].curve)
    second = opened(project, 2)
    assert project.is_active("protect")
    assert project.source == source
    assert first.exists()
    assert "It takes the place of data.csv once the run has ended" in page(project, "data")
    getattr(project, end)("protect")
    eventually(lambda: project.incoming is None)
    assert project.source is not None
    assert project.source.home == second
    assert not first.exists()
    assert [each.source for each in project.releases] == ([source] if end == "stop" else [])


def test_a_run_is_kept_when_a_file_beside_it_is_given_up(project: Project) -> None:
    opened(project, 1)
    choose(project, "method", "anneal:steps=1000000000000")
    project.run()
    second = opened(project, 2)
    project.cancel_reading()
    assert project.is_active("protect")
    assert not second.exists()


def test_a_file_that_cannot_be_read_changes_nothing(project: Project) -> None:
    place = opened(project, 1)
    choose(project, "role", "drop", "size")
    ran(project)
    found, release = project.found, project.release
    opened(project, 2, "a,a\n1,2\n")
    assert project.jobs["look"].state == "refused"
    assert (project.found, project.release) == (found, release)
    assert project.choices.roles["size"] == "drop"
    assert project.source is not None
    assert project.source.home == place
    project.cancel_reading()
    assert project.incoming is None
    assert place.exists()
    with suppress(SettingsError):
        project.open_path(str(place / "typo.csv"), allowed=True)
    eventually(lambda: project.jobs["look"].over.is_set())
    assert (project.found, project.release) == (found, release)
    ran(project)  # with the file that stayed open


def test_the_same_file_again_keeps_what_was_chosen(project: Project) -> None:
    opened(project, 1)
    choose(project, "role", "drop", "size")
    choose(project, "k", "4")
    choose(project, "missing_codes", "99", "age")
    for _ in range(2):
        project.read_again({})
        eventually(lambda: project.jobs["look"].over.is_set())
        assert project.choices.roles["size"] == "drop"
        assert project.choices.get("missing_codes", "age") == "99"
        assert project.choices.settings["k"] == 4
        assert project.taken_over == 3
    project.load({})
    assert project.choices.settings["k"] == 3


def test_reading_can_be_cancelled(project: Project) -> None:
    place = opened(project, 1)
    second = project.new_place()
    (second / "data.csv").write_text(survey(200_000))
    project.open(ChosenFile("data.csv", "data.csv", second))
    project.cancel_reading()
    eventually(lambda: not project.busy)
    assert not second.exists()
    assert project.source is not None
    assert project.source.home == place
    assert project.found is not None
    assert project.found["records"] == 60


def test_earlier_releases_can_be_gone_back_to(project: Project) -> None:
    opened(project, 2)
    choose(project, "method", "mdav")
    for k in ("3", "4", "5", "6", "7", "8"):
        choose(project, "k", k)
        ran(project)
        assert project.release is not None
        project.release.downloaded = k != "3"
    assert [each.answer["k"] for each in project.releases] == [8, 7, 6, 5, 4, 3]  # 3 was not downloaded
    project.show(project.releases[-1].id)
    assert project.release is not None
    assert project.release.answer["k"] == 3
    assert project.settings_changed
    project.release.downloaded = True
    ran(project)
    assert [each.answer["k"] for each in project.releases] == [8, 8, 7, 6, 5]


def test_choices_and_history_outlive_the_server(project: Project, tmp_path: Path) -> None:
    state = tmp_path / "state"
    project.memory = Memory(state)
    opened(project, 1)
    choose(project, "role", "drop", "size")
    choose(project, "k", "4")
    ran(project)
    assert stat.S_IMODE((state / "choices.json").stat().st_mode) == 0o600
    again = Project(tmp_path, project.queue, Memory(state))
    opened(again, 2)
    assert again.choices.roles["size"] == "drop"
    assert again.choices.settings["k"] == 4
    [earlier] = again.releases
    assert earlier.folder is None
    choose(again, "k", "5")
    again.show(earlier.id)
    assert again.choices.settings["k"] == 4


def test_a_release_that_was_kept_is_still_one_of_the_settings(project: Project) -> None:
    opened(project, 1)
    choose(project, "k", "4")
    choose(project, "missing_codes", "99", "age")
    ran(project)
    again = Project(project.folder, project.queue)
    again.restore(json.loads(json.dumps(project.state, default=str)))
    eventually(lambda: again.jobs["look"].over.is_set())
    assert again.can_prove
    assert not again.settings_changed
    choose(again, "k", "5")
    assert again.settings_changed


def test_what_others_have_written_is_no_memory(tmp_path: Path) -> None:
    for text in ("", "{", "[1, {}]", '[{"columns": 1}]', "null"):
        (tmp_path / "choices.json").write_text(text)
        assert Memory(tmp_path).recall(["a"]) is None


def test_the_files_of_a_run_that_is_given_up_are_removed(project: Project) -> None:
    opened(project, 1)
    before = sorted(project.folder.iterdir())
    choose(project, "method", "anneal:steps=1000000000000")
    project.run()
    assert len(list(project.folder.iterdir())) == len(before) + 1
    project.give_up("protect")
    eventually(lambda: project.jobs["protect"].over.is_set())
    assert sorted(project.folder.iterdir()) == before


def test_a_file_that_has_changed_since_it_was_opened_is_refused(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text(survey(60, 1))
    project.open_path(str(file), allowed=True)
    eventually(lambda: project.found)
    file.write_text(survey(60, 2))
    choose(project, "k", "3")
    project.run()
    project.examine("check")
    project.compare({"k": "3", "methods": "mdav", "max_risk": "0.1"})
    for kind in ("protect", "check", "compare"):
        eventually(lambda kind=kind: not project.jobs[kind].active)
        assert project.jobs[kind].state == "refused"
        assert "own.csv has changed since it was opened" in project.jobs[kind].message
    project.open_path(str(file), allowed=True)
    eventually(lambda: project.jobs["look"].over.is_set())
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
            "POST /data HTTP/1.1",
            f"host: 127.0.0.1:{server.port}",
            f"origin: {server.address}",
            f"cookie: {cookie}",
            "content-length: 1000000",
            "content-type: multipart/form-data; boundary=limit",
        ]
        sender.sendall("\r\n".join([*head, "", ""]).encode() + multipart("data.csv", b"a,b,c")[1][:-20])
        eventually(lambda: {path for folder in server.folders for path in folder.iterdir()} - before)
    eventually(lambda: not {path for folder in server.folders for path in folder.iterdir()} - before)


def test_what_cannot_be_kept_is_not_remembered_for_other_sessions(project: Project, tmp_path: Path) -> None:
    for memory in (Memory(None), Memory(Path("/dev/null"))):
        project.memory = memory
        opened(project, 1)
        choose(project, "role", "drop", "size")
        assert memory.recall(list(project.choices.columns)) is None
