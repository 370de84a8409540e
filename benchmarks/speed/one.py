"""One case in this process: `python -m benchmarks.speed.one NAME` prints its line as JSON."""

from __future__ import annotations

import json
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.speed.cases import CASES
from benchmarks.speed.measuring import AbsentError
from benchmarks.speed.store import Line
from microagg import _core


def machine() -> str:
    """Processor, cores and instruction set."""
    model = platform.processor() or platform.machine()
    facts = Path("/proc/cpuinfo")
    if facts.exists():
        models = [line for line in facts.read_text().splitlines() if line.startswith("model name")]
        model = models[0].partition(":")[2].strip() if models else model
    return f"{model}, {os.cpu_count()} cores, {_core.simd_level()}"


def is_busy() -> bool:
    """Whether more wants to run than there are cores, the cases before this one included."""
    return os.getloadavg()[0] > (os.cpu_count() or 1) + 0.5


def main(name: str) -> None:
    case = CASES[name]
    line: Line = {
        "case": name,
        "at": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "busy": is_busy(),
    }
    try:
        line |= case.job(**case.settings)
    except AbsentError as reason:
        line["not_run"] = str(reason)
    print(json.dumps(line))


if __name__ == "__main__":
    main(sys.argv[1])
