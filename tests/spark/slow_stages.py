"""Stages that leave traces, wait, and fail on demand, so that tests can interfere with them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from microagg.methods.fixed_size import Mdav
from microagg.methods.run import Run
from microagg.model import Partition, Problem

KILLED = "killed"
"""The file in the folder that ends the waiting."""


@dataclass(frozen=True, slots=True)
class Slow:
    """MDAV that says in a folder that it is at work, then waits until something was killed; or fails,
    always or the first time.
    """

    needs_start: ClassVar[bool] = False
    uses_effort: ClassVar[bool] = False
    folder: str
    waits: bool = False
    fails: str = "never"

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        """Solve."""
        trace = Path(self.folder) / f"{abs(hash(problem.points.tobytes()))}-{time.time_ns()}"
        others = list(Path(self.folder).iterdir())
        trace.touch()
        limit = time.monotonic() + 600.0
        while self.waits and not (Path(self.folder) / KILLED).exists() and time.monotonic() < limit:
            time.sleep(0.02)
        if self.fails == "always" or (self.fails == "at first" and not others):
            raise RuntimeError(f"the value is {problem.points[0, 0]}")
        return Mdav()(problem, start, run)
