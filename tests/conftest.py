"""What holds for all tests."""

import signal
from typing import Any

import pytest
from benchmarks import set_data_folder
from hypothesis import settings

SPARK = "tests/spark/"
SPLIT = ("tests/contract/", "tests/differential/", "tests/e2e/")
"""Folders whose files take long, and whose tests share little."""


def pytest_configure() -> None:
    set_data_folder()
    # How long an example takes depends on what else the machine does.
    settings.register_profile("tests", deadline=None)
    settings.load_profile("tests")
    # Programs that are started in the background ignore Ctrl-C, and so would all that the tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest sets of tests begin and the smallest end: no process is left alone with a long one."""
    begin = (SPARK, "tests/web/")
    items.sort(key=lambda item: (not item.nodeid.startswith(begin), item.nodeid.startswith(SPLIT)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Where tests run in several processes, those that share something expensive run in the same one: a
    session of Spark, a server, a browser, results that are kept.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            if nodeid.startswith(SPLIT):
                return nodeid
            return SPARK if nodeid.startswith(SPARK) else nodeid.partition("::")[0]

    return Scheduling(config, log)
