"""Seconds and memory of a call, in a process that does nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, TypeVar

Figures = dict[str, Any]
Result = TypeVar("Result")


class AbsentError(Exception):
    """What a case needs is not on this machine; the text says what."""


def seconds_of(job: Callable[[], Result], most: int = 5, within: float = 2.0) -> tuple[Figures, Result]:
    """CPU seconds of all threads and wall-clock seconds, each the least of up to `most` runs; no further
    run begins once they took `within` seconds together.
    """
    cpu, wall, spent, runs = float("inf"), float("inf"), 0.0, 0
    while runs < most and spent < within:
        cpu_start, wall_start = process_time(), perf_counter()
        result = job()
        cpu = min(cpu, process_time() - cpu_start)
        taken = perf_counter() - wall_start
        wall = min(wall, taken)
        spent += taken
        runs += 1
    return {"cpu": round(cpu, 6), "wall": round(wall, 6), "runs": runs}, result


def cost_of(job: Callable[[], Result], most: int = 5, within: float = 2.0) -> tuple[Figures, Result]:
    """The seconds, and in `above` the MiB by which memory rose above what was in use before."""
    before = reset_peak()
    figures, result = seconds_of(job, most, within)
    above = None if before is None else round(_memory("VmHWM") - before, 1)
    return {**figures, "above": above}, result


def reset_peak() -> float | None:
    """Forget the high-water mark, which is that of making the data; the MiB now in use, or None where the
    system does not let a process do that.
    """
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return _memory("VmRSS")
    except OSError:
        return None


def _memory(what: str) -> float:
    """MiB. Not getrusage: a process begins with its parent's high-water mark there."""
    found = re.search(rf"{what}:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else 0.0
