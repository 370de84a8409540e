"""A server and a browser for all tests of a module; whatever a page logs, or asks elsewhere, fails its test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.serving import Server, serving, temporary_folder

pytest.importorskip("shiny", reason="the extra web is not installed: the browser face is NOT TESTED")


@pytest.fixture
def temporary() -> Iterator[Path]:
    folder = temporary_folder()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    folder = temporary_folder()
    with serving(folder) as running:
        yield running
    shutil.rmtree(folder)
