"""What holds for all tests."""

import signal

import pytest

SPLIT = ("contract", "differential", "e2e")
"""Folders whose files take long, and whose tests share little."""


def pytest_configure() -> None:
    """Programs that are started in the background ignore Ctrl-C, and so would all that the tests start."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where tests run in several processes, those that share something expensive run in the same one: a
    session of Spark, a server, a browser, results that are kept.
    """
    for item in items:
        folder = item.path.parent.name
        if folder not in SPLIT:
            group = folder if folder == "spark" else f"{folder}/{item.path.stem}"
            item.add_marker(pytest.mark.xdist_group(group))
