"""src/microagg/_core.pyi, from the compiled core: python -m benchmarks.core_stub."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

from microagg import _core

ROOT = Path(__file__).parents[1]
STUB = ROOT / "src" / "microagg" / "_core.pyi"


def stub() -> str:
    """What nanobind writes, with arrays as plain `NDArray` and in the house's format. `ImportError`
    without nanobind, which builds the core and is not needed afterwards.
    """
    # nanobind has no type hints.
    generator = importlib.import_module("nanobind.stubgen").StubGen(_core)
    generator.put(_core)
    text = re.sub(r"Annotated\[(NDArray\[[\w.]+\]), dict\([^\[\]]*\)\]", r"\1", generator.get())
    text = text.replace("import Annotated, ", "import ")
    for command in (("check", "--select", "I", "--fix"), ("format",)):
        tidying = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(STUB), "-"]
        text = subprocess.run(
            tidying, input=text, capture_output=True, check=True, text=True, cwd=ROOT
        ).stdout
    return text


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
