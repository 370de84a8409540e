"""Browser sessions: isolated, kept while somebody is there or something runs, forgotten after that."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from microagg.web.jobs import Limits, Queue
from microagg.web.memory import Memory
from microagg.web.project import ChosenFile
from microagg.web.sessions import Sessions
from tests.web.serving import eventually, survey


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[Sessions]:
    queue = Queue(Limits(2**32, 5.0))
    yield Sessions(tmp_path, queue, 0.0, None, Memory(None))
    queue.close()


def test_a_session_whose_browser_is_away_is_ended_with_its_files(sessions: Sessions) -> None:
    project = sessions.new()
    project.pages += 1
    sessions.end_forgotten()
    assert sessions.get(project.id) is project
    assert project.folder.is_dir()
    project.pages -= 1
    sessions.end_forgotten()
    assert sessions.get(project.id) is None
    assert not project.folder.exists()


def test_a_session_is_kept_while_something_runs(sessions: Sessions) -> None:
    project = sessions.new()
    place = project.new_place()
    (place / "data.csv").write_text(survey(30))
    project.open(ChosenFile("data.csv", "data.csv", place))
    sessions.end_forgotten()
    assert sessions.get(project.id) is project
    eventually(lambda: project.found)
    sessions.end_forgotten()
    assert sessions.get(project.id) is None


def test_files_are_not_opened_by_path_for_others(sessions: Sessions) -> None:
    project = sessions.new()
    with pytest.raises(ValueError, match="Upload the file"):
        project.open_path("/etc/hosts.csv", allowed=False)
    with pytest.raises(ValueError, match="No path is given"):
        project.open_path("  ", allowed=True)


def test_the_first_page_waits_for_no_large_library() -> None:
    script = """
import sys
from pathlib import Path
import microagg.web.server
from microagg.web.jobs import Limits, Queue
from microagg.web.step_pages import page
from microagg.web.project import Project

assert "Try an example" in page(Project(Path("."), Queue(Limits(2**30, 1.0))), "data")
assert not {"numpy", "pyarrow", "microagg.web.views"} & {*sys.modules}
"""
    subprocess.run([sys.executable, "-c", script], check=True)
