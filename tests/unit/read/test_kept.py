"""Data that were read once are the same in another process, as long as the file is the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from microagg.errors import DataError
from microagg.model import Layout
from microagg.read.kept import kept_data, read_and_keep


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    path.write_text("a;b\n1,5;x\n2,5;\n")
    return path


def test_what_is_kept_is_what_was_read(file: Path, tmp_path: Path) -> None:
    read = read_and_keep(file, Layout(decimal=","), tmp_path)
    kept = kept_data(file, tmp_path)
    assert kept.table.equals(read.table)
    assert kept.origin == read.origin


def test_the_file_is_not_read_again(file: Path, tmp_path: Path) -> None:
    read = read_and_keep(file, Layout(), tmp_path)
    about = file.stat()
    file.write_text("?" * about.st_size)
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))  # as if nothing had happened
    assert kept_data(file, tmp_path).table.equals(read.table)


def test_a_file_that_is_another_now_is_refused(file: Path, tmp_path: Path) -> None:
    read_and_keep(file, Layout(), tmp_path)
    file.write_text("a;b\n1,5;x\n2,5;y\n")
    with pytest.raises(DataError, match=r"^data\.csv has changed"):
        kept_data(file, tmp_path)
    file.unlink()
    with pytest.raises(DataError, match=r"^data\.csv has changed"):
        kept_data(file, tmp_path)
