"""Runs that are stopped at a certain point, whatever the pace of the machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from microagg.methods.run import Run


def cancelled_in_a_kernel() -> Run:
    """A run that is cancelled as soon as its first kernel begins."""
    run = Run()
    call = run.call

    def cancel_and_call(kernel: Callable[[], Any], needs: int = 0) -> Any:
        def work() -> Any:
            run.cancel()
            return kernel()

        return call(work, needs)

    run.call = cancel_and_call  # type: ignore[method-assign]
    return run
