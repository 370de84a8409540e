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
from microagg import _core


def machine() -> str:
    """Processor, cores and instruction set."""
    model = platform.processor() or platform.machine()
    facts = Path("/proc/cpuinfo")
    if facts.exists():
        models = [line for line in facts.read_text().splitlines() if line.startswith("model name")]
        model = models[0].partition(":")[2].strip() if models else model
    return f"{model}, {os.cpu_count()} cores, {_core.simd_level()}"


def main(name: str) -> None:
    case = CASES[name]
    line = {"case": name, "at": datetime.now(UTC).date().isoformat(), "machine": machine()}
    try:
        line |= case.job(**case.settings)
    except AbsentError as reason:
        line["not_run"] = str(reason)
    print(json.dumps(line))


if __name__ == "__main__":
    main(sys.argv[1])
