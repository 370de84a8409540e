"""What holds for all tests."""

import signal


def pytest_configure() -> None:
    """Programs that are started in the background ignore Ctrl-C, and so would all that the tests start."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
