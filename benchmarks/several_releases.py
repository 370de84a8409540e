"""How much several releases of one file give away: `python -m benchmarks.several_releases`.

Generated whole numbers are released with several k in the order of the source, as an intruder would get
them. Of whole numbers each mean gives its group's exact sum; all sums together are linear equations for the
originals. What these determine is solved for and compared with the originals.
"""

from __future__ import annotations

import argparse

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import microagg
from microagg import datasets

Values = NDArray[np.float64]
Codes = NDArray[np.int64]


def source(n: int, keys: int) -> Values:
    """Whole numbers, (n, keys)."""
    return np.asarray(np.round(1000.0 * datasets.census_like(n).values[:, :keys]))


def release(values: Values, k: int) -> Values:
    """What is published of each record, record by record."""
    names = [f"key {at}" for at in range(values.shape[1])]
    table = pa.table(dict(zip(names, values.T, strict=True)))
    found = microagg.protect(table, k=k, keys=names, keep_order=True).data
    return np.stack([found[name].to_numpy() for name in names], axis=1)


def classes(published: Values) -> Codes:
    """Records that show the same values have the same number."""
    return np.unique(published, axis=0, return_inverse=True)[1].reshape(-1)


def solved(releases: list[Values]) -> tuple[NDArray[np.bool_], Values]:
    """Which records' values follow from the releases, and which values; linear algebra alone.

    A value is determined where nothing that leaves all sums as they are can change it.
    """
    sums, members = [], []
    for published in releases:
        group = classes(published)
        member = (group == np.arange(group.max() + 1)[:, None]).astype(float)
        members.append(member)
        mean = published[member.argmax(axis=1)]
        sums.append(np.round(mean * member.sum(axis=1)[:, None]))
    matrix, right = np.concatenate(members), np.concatenate(sums)
    _, singular, directions = np.linalg.svd(matrix)
    free = directions[int((singular > 1e-9 * singular[0]).sum()) :]
    known = np.asarray(np.abs(free).max(axis=0, initial=0.0) < 1e-9)
    found = np.linalg.lstsq(matrix, right, rcond=None)[0]
    return known, np.round(found)


def main() -> None:
    words = argparse.ArgumentParser(description="What several releases of one file give away.")
    words.add_argument("--records", type=int, default=500)
    words.add_argument("--keys", type=int, default=2)
    words.add_argument("-k", type=int, nargs="+", default=[3, 4, 5, 6])
    asked = words.parse_args()
    values = source(asked.records, asked.keys)
    releases: list[Values] = []
    print(f"{asked.records} records, {asked.keys} keys, records in the order of the source")
    for k in asked.k:
        releases.append(release(values, k))
        known, found = solved(releases)
        right = bool((found[known] == values[known]).all())
        joint = classes(np.concatenate(releases, axis=1))
        alone = np.bincount(joint)[joint] < min(asked.k)
        print(
            f"k = {', '.join(map(str, asked.k[: len(releases)]))}: "
            f"{100 * known.mean():.1f} % of the values solved{'' if right else ' WRONGLY'}, "
            f"{100 * alone.mean():.1f} % of the records in joint combinations of fewer than {min(asked.k)}"
        )


if __name__ == "__main__":
    main()
