"""What a run does beside its search, such as reading and verifying, reported like the search."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TypeVar

from microagg import errors
from microagg.methods.run import Progress, Watcher, watched
from microagg.wording import Step

_Result = TypeVar("_Result")


class Steps:
    """Steps of one run: `progress` is called when each begins, and then about twenty times a second, in the
    thread of the caller. None of them can be stopped half-way: what `progress` returns is for the search.
    """

    def __init__(self, progress: Watcher | None) -> None:
        self._progress = progress
        self._started = monotonic()

    def call(self, step: Step, work: Callable[[], _Result]) -> _Result:
        progress = self._progress
        if progress is None:
            return work()

        def report() -> None:
            progress(Progress(step, 0.0, monotonic() - self._started))

        report()
        return watched(work, report)

    def begin(self, stage: str, done: float) -> None:
        """Report a step that cannot be watched; `Cancelled` if the run is to stop before it."""
        progress = Progress(stage, done, monotonic() - self._started)
        if self._progress is not None and self._progress(progress) is True:
            raise errors.Cancelled("The run was cancelled.")
