"""Cases run one after the other, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from time import perf_counter

from benchmarks.speed.cases import Case
from benchmarks.speed.store import Line, Results

# Threads of the linear algebra library go on spinning after their work; their CPU time would count.
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
UNITS = {"cpu": "CPU s", "wall": "s", "above": "MiB above the data", "il": "% loss"}


def carry_out(cases: list[Case], results: Results) -> bool:
    """Run the cases and keep their lines; False if one failed."""
    started, failed = perf_counter(), []
    for place, case in enumerate(cases, start=1):
        line = run(case)
        if line is None:
            failed.append(case.name)
        else:
            results.add(line)
        print(
            f"[{place}/{len(cases)}, {perf_counter() - started:.0f} s] {case.name}: {told(line)}",
            flush=True,
        )
    if failed:
        print(f"FAILED: {', '.join(failed)}")
    return not failed


def run(case: Case) -> Line | None:
    """The case's line, or None if its process failed; what it said is on the screen then."""
    command = [sys.executable, "-m", "benchmarks.speed.one", case.name]
    done = subprocess.run(command, stdout=subprocess.PIPE, env=ENVIRONMENT, check=False)
    if done.returncode:
        return None
    line: Line = json.loads(done.stdout.splitlines()[-1])
    return line


def told(line: Line | None) -> str:
    """A line for people."""
    if line is None:
        return "FAILED"
    if "not_run" in line:
        return f"SKIPPED, {line['not_run']}"
    if "pieces" in line:
        return ", ".join(f"{name} {seconds:.3g} CPU s" for name, seconds in line["pieces"].items())
    told = ", ".join(ratios(line)) or ", ".join(
        f"{line[what]:.4g} {unit}" for what, unit in UNITS.items() if line.get(what) is not None
    )
    return told or ", ".join(
        f"{what} {value:.3g}" for what, value in line.items() if isinstance(value, float)
    )


def ratios(line: Line) -> list[str]:
    """Times against a peer, with how many times they are faster, or against another way."""
    if "brute" in line:
        return [f"{line['cpu']:.4g} CPU s, {line['cpu'] / line['brute']:.2f} × brute force"]
    if "theirs" not in line and "kernel" in line:
        return [f"{line['cpu']:.4g} CPU s, {line['cpu'] / line['kernel']:.2f} × the kernel"]
    if "theirs" not in line:
        return []
    others = ("kernel", "cpu", "exact", "mdav", "descent", "auto")
    return [f"theirs {line['theirs']:.4g} CPU s"] + [
        f"{what} {line[what]:.4g} ({line['theirs'] / line[what]:.1f}×)" for what in others if what in line
    ]
