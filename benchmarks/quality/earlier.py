"""What `auto` of an earlier commit loses where its search for large k was another one.

    python -m benchmarks.quality.earlier FOLDER

FOLDER is a checkout of that commit with its core built into `src/microagg`. Every cell is run there by the
recipe that its `auto` chooses, without the clock, with the seeds of the page; the losses go to
`earlier.json`, from which `python -m benchmarks.quality --page` writes the comparison.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

COMMIT = "eb912a6"
CELLS = (
    ("census", 25, 1.0), ("census", 40, 1.0), ("sim-c", 20, 1.0), ("tarragona", 30, 10.0),
    ("eia-10", 20, 10.0), ("eia-10", 30, 10.0),
)  # fmt: skip
SEEDS = 5
STORED = Path(__file__).with_name("earlier.json")

_RUN = """
import json, sys
import numpy as np
import microagg
from benchmarks.quality.data import load
from microagg.methods.auto import choose
from microagg.methods.run import Run
from microagg.model import Problem
data, k, seconds, seeds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
table = load(data)
problem = Problem(np.zeros(table.values.shape), k)
recipe = choose(problem, Run(effort="best", seconds=seconds, threads=1)).recipe
losses = [
    microagg.partition(table, k, recipe, seed=seed, threads=1).information_loss for seed in range(seeds)
]
print(json.dumps({"data": data, "k": k, "budget": seconds, "recipe": recipe, "losses": losses}))
"""


def stored() -> list[dict[str, Any]]:
    """The cells that were run, with the recipe and the loss of each seed."""
    return json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help=f"a built checkout of {COMMIT}")
    folder = parser.parse_args().folder.resolve()
    environment = os.environ | {"PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder}"}
    found = []
    for cell in CELLS:
        command = [sys.executable, "-c", _RUN, *map(str, cell), str(SEEDS)]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=True
        )
        found.append(json.loads(done.stdout))
        print(done.stdout, end="", flush=True)
        STORED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
