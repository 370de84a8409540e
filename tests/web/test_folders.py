"""Private folders: removed with their session, with the server, and after a crash at the next start."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from microagg.private_folder import PrivateFolder, sweep
from microagg.web.server import PREFIX
from tests.web.serving import eventually, serving, survey


@pytest.fixture
def not_under_nohup() -> Iterator[None]:
    """What is started now heeds SIGHUP, even where these tests themselves were started by nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_server_that_is_ended_leaves_nothing(temporary: Path, sign: int, not_under_nohup: None) -> None:
    with serving(temporary) as server:
        server.upload(server.enter(), "data.csv", survey(50).encode())
        assert len(server.folders) == 1
        assert server.end(sign) == (130 if sign == signal.SIGINT else 143)
        assert not list(temporary.glob("microagg-serve-*"))
        eventually(lambda: not server.workers())
        assert not any("Traceback" in line for line in server.said)


def test_what_a_killed_server_leaves_is_swept_at_the_next_start(temporary: Path) -> None:
    with serving(temporary) as server:
        server.upload(server.enter(), "data.csv", survey(50).encode())
        server.end(signal.SIGKILL)
        [left] = temporary.glob("microagg-serve-*")
        eventually(lambda: not server.workers())
    with serving(temporary) as server:
        assert not left.exists()
        assert len(list(temporary.glob("microagg-serve-*"))) == 1


@pytest.fixture
def as_temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_a_living_server_is_not_swept(as_temporary: Path) -> None:
    folder = PrivateFolder(PREFIX)
    session = folder.path / "session"
    session.mkdir()
    assert sweep(PREFIX) == 0
    assert session.is_dir()
    folder.remove()
    assert not folder.path.exists()


def test_only_our_own_old_folders_are_swept(as_temporary: Path) -> None:
    target = as_temporary / "elsewhere"
    target.mkdir()
    (target / "lock").touch()
    (as_temporary / "microagg-serve-link").symlink_to(target)
    young = as_temporary / "microagg-serve-young"
    young.mkdir()
    old = as_temporary / "microagg-serve-old"
    old.mkdir()
    os.utime(old, (time.time() - 3600,) * 2)
    (as_temporary / "microagg-serve-file").touch()
    assert sweep(PREFIX) == 1
    assert not old.exists()
    assert young.exists()
    assert (target / "lock").exists()
