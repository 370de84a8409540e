"""What `auto` of an earlier commit loses where its search for large k was another one, beside today's.

    python -m benchmarks.quality.earlier FOLDER [--only census:25 …]

FOLDER is a checkout of that commit with its core built into `src/microagg`. Every cell is run there and
here by the recipe that `auto` chooses, without the clock, with the same seeds: more of them where a run
takes a second, since medians of five differ by chance. The losses go to `earlier.json`, from which
`python -m benchmarks.quality --page` writes the comparison.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import microagg
from benchmarks.quality.campaign import planned_recipe
from benchmarks.quality.data import load

COMMIT = "eb912a6"
SEEDS_BY_BUDGET = {1.0: 30, 10.0: 5}
CELLS = (
    ("census", 25, 1.0), ("census", 40, 1.0), ("sim-c", 20, 1.0), ("tarragona", 30, 10.0),
    ("eia-10", 20, 10.0), ("eia-10", 30, 10.0),
)  # fmt: skip
STORED = Path(__file__).with_name("earlier.json")

_RUN = """
import json, sys
folder, data, k, seconds, seeds = sys.argv[1:]
# An editable installation would be found before the folder.
sys.meta_path = [each for each in sys.meta_path if "ScikitBuild" not in type(each).__name__]
sys.path[:0] = [folder + "/src", folder]
import numpy as np
import microagg
from benchmarks.quality.data import load
from microagg.methods.auto import choose
from microagg.methods.run import Run
from microagg.model import Problem
table, k = load(data), int(k)
problem = Problem(np.zeros(table.values.shape), k)
recipe = choose(problem, Run(effort="best", seconds=float(seconds), threads=1)).recipe
losses = [
    microagg.partition(table, k, recipe, seed=seed, threads=1).information_loss
    for seed in range(int(seeds))
]
print(json.dumps({"recipe": recipe, "losses": losses}))
"""


def stored() -> list[dict[str, Any]]:
    """The cells that were run: recipe and loss of each seed then, and under "today" now."""
    return json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else []


def there(folder: Path, data: str, k: int, budget: float) -> dict[str, Any]:
    """Recipe and losses of the earlier commit."""
    given = map(str, (folder, data, k, budget, SEEDS_BY_BUDGET[budget]))
    command = [sys.executable, "-c", _RUN, *given]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def here(data: str, k: int, budget: float) -> dict[str, Any]:
    """Recipe and losses of today."""
    table = load(data)
    recipe = planned_recipe(*table.values.shape, k, budget, threads=1)
    seeds = range(SEEDS_BY_BUDGET[budget])
    losses = [microagg.partition(table, k, recipe, seed=seed, threads=1).information_loss for seed in seeds]
    return {"recipe": recipe, "losses": losses}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help=f"a built checkout of {COMMIT}")
    names = [f"{data}:{k}" for data, k, _ in CELLS]
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="these cells")
    given = parser.parse_args()
    found = {(cell["data"], cell["k"]): cell for cell in stored()}
    for data, k, budget in CELLS:
        if f"{data}:{k}" in given.only:
            then = there(given.folder.resolve(), data, k, budget)
            now = here(data, k, budget)
            found[data, k] = {"data": data, "k": k, "budget": budget, **then, "today": now}
            print(json.dumps(found[data, k]), flush=True)
            STORED.write_text(json.dumps(list(found.values()), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
