"""Stages that leave traces, wait, and fail on demand, so that tests can interfere with them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from microagg.methods.fixed_size import Mdav
from microagg.methods.run import Run
from microagg.model import Partition, Problem


@dataclass(frozen=True, slots=True)
class Slow:
    """MDAV that says in a folder that it is at work, then waits; or fails, always or the first time."""

    needs_start: ClassVar[bool] = False
    folder: str
    seconds: float
    fails: str = "never"

    def __call__(self, problem: Problem, start: Partition, run: Run, /) -> Partition:
        """Solve."""
        trace = Path(self.folder) / f"{abs(hash(problem.points.tobytes()))}-{time.time_ns()}"
        others = list(Path(self.folder).iterdir())
        trace.touch()
        time.sleep(self.seconds)
        if self.fails == "always" or (self.fails == "at first" and not others):
            raise RuntimeError(f"the value is {problem.points[0, 0]}")
        return Mdav()(problem, start, run)
