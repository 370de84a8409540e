"""Files are written whole or not at all, and never over another."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from microagg import protect, write
from microagg.errors import OutputError, SettingsError
from microagg.write import drafts

LABELS = [0, 1, 0, 1, 2, 2]


def test_labels(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    write.write_labels(path, LABELS)
    assert path.read_text() == "record,group\n1,0\n2,1\n3,0\n4,1\n5,2\n6,2\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("check", [write.check_output, lambda path: write.write_labels(path, LABELS)])
class TestRefused:
    def test_an_existing_file(self, tmp_path: Path, check: object) -> None:
        path = tmp_path / "labels.csv"
        path.write_text("precious")
        with pytest.raises(SettingsError, match=r"labels.csv exists already. Choose another name"):
            check(path)  # type: ignore[operator]
        assert path.read_text() == "precious"
        assert list(tmp_path.iterdir()) == [path]

    def test_a_missing_folder(self, tmp_path: Path, check: object) -> None:
        with pytest.raises(SettingsError, match=r"no folder .*nowhere.* Create it first"):
            check(tmp_path / "nowhere" / "labels.csv")  # type: ignore[operator]
        assert not list(tmp_path.iterdir())

    def test_a_folder(self, tmp_path: Path, check: object) -> None:
        with pytest.raises(SettingsError, match=r"exists already|is a folder"):
            check(tmp_path)  # type: ignore[operator]

    def test_a_name_no_file_system_takes(self, tmp_path: Path, check: object) -> None:
        with pytest.raises((SettingsError, OutputError), match="too long"):
            check(tmp_path / ("x" * 300 + ".csv"))  # type: ignore[operator]
        assert not list(tmp_path.iterdir())


def test_the_longest_name_a_file_system_takes(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 251 + ".csv")
    write.write_labels(path, LABELS)
    assert path.exists()


@pytest.mark.parametrize(
    ("module", "function", "error"),
    [
        (os, "open", PermissionError(errno.EACCES, "Permission denied")),
        (os, "fsync", OSError(errno.ENOSPC, "No space left on device")),
        (os, "link", OSError(errno.EIO, "Input/output error")),
    ],
    ids=["no permission", "disk full", "broken disk"],
)
def test_a_failing_disk_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: object, function: str, error: OSError
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(module, function, fail)
    with pytest.raises(OutputError, match=rf"labels.csv was not written: {error.strerror}"):
        write.write_labels(tmp_path / "labels.csv", LABELS)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ZeroDivisionError])
def test_an_interruption_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    def labels() -> Iterator[int]:
        yield 0
        raise error

    with pytest.raises(error):
        write.write_labels(tmp_path / "labels.csv", labels())
    assert not list(tmp_path.iterdir())


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"

    def labels() -> Iterator[int]:
        yield 0
        path.write_text("precious")

    with pytest.raises(SettingsError, match="exists already"):
        write.write_labels(path, labels())
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]


# --- file systems that can do less ------------------------------------------------------------------


def no_hard_links(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, "Operation not permitted")


@pytest.mark.parametrize(
    ("unnamed", "links"),
    [(True, True), (False, True), (False, False)],
    ids=["unnamed files", "hidden files", "no hard links"],
)
@pytest.mark.parametrize("old", [True, False], ids=["replaced", "new"])
def test_a_release_and_its_record_on_any_file_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool, unnamed: bool, old: bool
) -> None:
    release = protect(pd.DataFrame({"x": range(12)}), 3, rest="pass", keys="x")
    path = tmp_path / "out.parquet"
    if old:
        release.save(path)
    if not unnamed:
        monkeypatch.setattr(drafts, "_OPEN_FILES", tmp_path / "nowhere")
    if not links:
        monkeypatch.setattr(os, "link", no_hard_links)
    release.save(path, force=old, labels=True)
    assert pd.read_parquet(path).equals(release.data)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["microagg-internal", "out.parquet"]
    assert len(list((tmp_path / "microagg-internal").iterdir())) == 3
    assert {entry.stat().st_mode & 0o777 for entry in (tmp_path / "microagg-internal").iterdir()} == {0o600}


@pytest.mark.parametrize("step", range(1, 12))
@pytest.mark.parametrize("unnamed", [True, False], ids=["unnamed files", "hidden files"])
def test_an_error_at_any_step_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int, unnamed: bool
) -> None:
    release = protect(pd.DataFrame({"x": range(12)}), 3, rest="pass", keys="x")
    if not unnamed:
        monkeypatch.setattr(drafts, "_OPEN_FILES", tmp_path / "nowhere")
    count = 0

    def failing(real: Callable[..., object]) -> Callable[..., object]:
        def operation(*args: object, **named: object) -> object:
            nonlocal count
            count += 1
            if count == step:
                raise OSError(errno.EIO, "Input/output error")
            return real(*args, **named)

        return operation

    for name in ("link", "mkdir", "fsync"):
        monkeypatch.setattr(os, name, failing(getattr(os, name)))
    try:
        release.save(tmp_path / "out.csv", labels=True)
    except OutputError as error:
        assert "Input/output error" in str(error)  # noqa: PT017
        assert list(tmp_path.iterdir()) == []
    else:
        assert count < step


def test_a_file_that_appears_while_the_release_is_verified_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"

    release = protect(pd.DataFrame({"x": range(12)}), 3, rest="pass", keys="x")
    real = drafts.Draft.give_name

    def late(self: drafts.Draft, force: bool) -> None:
        if self.target == path:
            path.write_text("precious")
        real(self, force)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drafts.Draft, "give_name", late)
        with pytest.raises(SettingsError, match="exists already"):
            release.save(path)
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]
