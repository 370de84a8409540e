"""How long verification takes: `python -m benchmarks.verifying [--records 1000000]`.

A CSV file of 15 columns is protected (k = 5, five keys, a stratum, quick groups), and the parts of its
verification are timed apart: the rules counted in memory; the second reading of the source; the comparison
of the written bytes with a second serialisation. The shortest of two or three times is shown.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa
from pyarrow import csv

from microagg.engines import local
from microagg.plan.protection import Protection
from microagg.read import microdata_from_file
from microagg.verify import WrittenFile, check_source, file_findings, unchecked_source, verify_protected

_Result = TypeVar("_Result")


def table(records: int) -> pa.Table:
    random = np.random.default_rng(1)
    columns = {f"amount{at}": random.normal(100.0, 30.0, records).round(2) for at in range(8)}
    columns |= {f"count{at}": random.integers(0, 1000, records) for at in range(4)}
    codes = np.array(["north", "east", "south", "west é"])
    columns |= {f"code{at}": codes[random.integers(0, 4, records)] for at in range(3)}
    return pa.table(columns)


def timed(what: str, work: Callable[[], _Result], times: int = 1) -> _Result:
    """The result, and the shortest of several times."""
    taken = []
    for _ in range(times):
        wall, cpu = time.perf_counter(), time.process_time()
        found = work()
        taken.append((time.perf_counter() - wall, time.process_time() - cpu))
    wall, cpu = min(taken)
    print(f"{what:<44} {wall:6.1f} s   CPU {cpu:6.1f} s")
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=1_000_000)
    records = parser.parse_args().records
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "source.csv"
        csv.write_csv(table(records), path, csv.WriteOptions(quoting_style="needed"))
        print(f"{records:,} records, 15 columns, {path.stat().st_size / 1e6:.0f} MB")
        source = timed("reading", lambda: microdata_from_file(path))
        words = {
            "k": 5,
            "keys": [[f"amount{at}" for at in range(5)]],
            "strata": ["code0"],
            "method": "ufs-fpc",  # quick: the groups are not what is measured
            "rest": "pass",
        }
        protection = Protection.of(words)
        release = timed("protecting, verified once", lambda: local.protect(source, protection))
        released = release.verified.microdata.table
        checked = unchecked_source(source)
        timed(
            "rules counted in memory",
            lambda: verify_protected(checked, released, release.rows, release.protection),
            times=3,
        )
        found = timed("second reading of the source", lambda: check_source(source), times=2)
        assert (found.reading, found.findings) == ("other code", ())
        written = Path(folder) / "release.csv"
        timed("saving", lambda: release.save(written))
        changed = frozenset(protection.changed)
        file = WrittenFile(written, "release.csv", "CSV", released, source.table, source.origin, changed)
        findings = timed("comparison of the written bytes", lambda: file_findings(file), times=2)
        assert findings == []


if __name__ == "__main__":
    main()
