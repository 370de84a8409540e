"""What holds for all tests."""

import signal
from typing import Any

import pytest
from benchmarks import set_data_folder

SPLIT = ("tests/contract/", "tests/differential/", "tests/e2e/")
"""Folders whose files take long, and whose tests share little."""


def pytest_configure() -> None:
    set_data_folder()
    # Programs that are started in the background ignore Ctrl-C, and so would all that the tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Where tests run in several processes, those that share something expensive run in the same one: a
    session of Spark, a server, a browser, results that are kept. The largest such sets begin.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            if nodeid.startswith(SPLIT):
                return nodeid
            return "tests/spark" if nodeid.startswith("tests/spark/") else nodeid.partition("::")[0]

    return Scheduling(config, log)
