"""Files that are changed after they were verified: they are withdrawn."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from microagg import protect
from microagg.engines.release import Release
from microagg.verdict import refuse
from microagg.write import drafts
from tests.refusals import unsafe


@pytest.fixture(scope="module")
def release() -> Any:
    random = np.random.default_rng(1)
    table = pa.table({"x": random.normal(size=12), "y": random.normal(size=12)})
    return protect(table, 3, keys=["x", "y"], method="mdav")


def write_at(descriptor: int, content: bytes, at: int) -> None:
    os.pwrite(descriptor, content, at)


def replace_content(descriptor: int) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, b"x,y\n1,2\n", 0)


INSIDE: dict[str, Callable[[int], object]] = {
    "cut off": lambda descriptor: os.ftruncate(descriptor, 20),
    "emptied": lambda descriptor: os.ftruncate(descriptor, 0),
    "one byte": lambda descriptor: write_at(descriptor, b"7", 9),
    "one byte more": lambda descriptor: write_at(descriptor, b"\n", os.fstat(descriptor).st_size),
    "the source in its place": replace_content,
    "opened to others": lambda descriptor: os.fchmod(descriptor, 0o666),
    "closed to its owner": lambda descriptor: os.fchmod(descriptor, 0o000),
}


@pytest.mark.parametrize("when", ["before it has its name", "after it has its name"])
@pytest.mark.parametrize("older", [False, True])
def test_a_file_that_is_changed(
    release: Any, when: str, older: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.csv"
    if older:
        path.write_text("older")
    for name, change in INSIDE.items():
        with monkeypatch.context() as patch:
            if when.startswith("after"):
                real_naming = drafts.Draft.give_name

                def named(
                    self: drafts.Draft, force: bool, change: Any = change, real: Any = real_naming
                ) -> None:
                    real(self, force)
                    if self.target == path:
                        change(self.descriptor)

                patch.setattr(drafts.Draft, "give_name", named)
            else:
                real_check = Release._check_written

                def checked(
                    self: Any, staged: Any, steps: Any, change: Any = change, real: Any = real_check
                ) -> None:
                    real(self, staged, steps)
                    change(staged._draft.descriptor)

                patch.setattr(Release, "_check_written", checked)
            with unsafe(refuse("changed_after_check")):
                release.save(path, force=older)
        left = [each.read_text() for each in tmp_path.iterdir()]
        assert left == (["older"] if older else []), name


def swap(path: Path) -> None:
    other = path.with_name("other")
    other.write_text("x,y\n1,2\n")
    other.replace(path)


def link(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.with_name("elsewhere"))


NAMES: dict[str, Callable[[Path], object]] = {
    "another file in its place": swap,
    "no file": Path.unlink,
    "a link in its place": link,
    "another name": lambda path: path.rename(path.with_name("moved")),
}


def test_a_name_that_is_taken_away(release: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What others put in its place is theirs, but the release is refused, and its record not kept."""
    real = drafts.Draft.give_name
    for name, change in NAMES.items():
        folder = tmp_path / name
        folder.mkdir()
        path = folder / "out.csv"

        def named(self: drafts.Draft, force: bool, change: Any = change, path: Path = path) -> None:
            real(self, force)
            if self.target == path:
                change(path)

        monkeypatch.setattr(drafts.Draft, "give_name", named)
        with unsafe(refuse("changed_after_check")):
            release.save(path)
        assert not (folder / "microagg-internal").exists(), name
