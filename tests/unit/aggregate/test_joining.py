"""Records of small strata join the nearest group: the one that a search through all groups finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import microagg
from microagg.aggregate.joining import join_nearest
from microagg.errors import SettingsError
from microagg.methods.solving import solve_all
from microagg.model import Microdata, Origin, Partition
from microagg.plan.protection import Protection
from microagg.prepare.prepared import Prepared, prepare
from microagg.prepare.strata import UNPLACED
from microagg.wording import message_of


def people(seed: int, n: int = 80) -> pa.Table:
    random = np.random.default_rng(seed)
    region = random.choice(list("ABCDEF"), n, p=[0.5, 0.4, 0.025, 0.025, 0.025, 0.025])
    return pa.table(
        {
            "x": random.normal(size=n).round(1),
            "y": random.normal(size=n).round(1),
            "job": random.choice(["baker", "cook", "smith"], n),
            "region": pa.array(region),
            "sex": pa.array(random.choice(["f", "m"], n)),
        }
    )


def grouped(
    table: pa.Table, **words: Any
) -> tuple[Prepared, list[Partition], Prepared, list[Partition], Protection]:
    """Before and after the records have joined."""
    words = {"k": 3, "keys": ["x", "y"], "strata": ["region"], "method": "mdav", "rest": "pass", **words}
    protection = Protection.of({**words, "small_strata": "nearest"})
    prepared = prepare(Microdata(table, Origin("frame", "data")), protection)
    partitions = solve_all([task.problem for task in prepared.tasks.tasks], protection.method, None)
    return prepared, partitions, *join_nearest(prepared, partitions, protection), protection


def in_order(table: pa.Table, names: list[str]) -> np.ndarray[Any, Any]:
    return np.stack([np.unique(table[name].to_numpy(), return_inverse=True)[1] for name in names], axis=1)


@pytest.mark.parametrize("strata", [["region"], ["region", "sex"]])
@pytest.mark.parametrize("keys", [["x", "y"], ["x", "job"]])
def test_the_nearest_group_of_the_nearest_stratum(strata: list[str], keys: list[str]) -> None:
    for seed in range(10):
        table = people(seed)
        before, found, after, joined, _ = grouped(table, strata=strata, keys=keys)
        codes = in_order(table, strata)
        coordinates = before.tasks.coordinates[0]
        points = np.concatenate([each.points for each in coordinates.attributes], axis=1)
        groups = [
            (task.stratum, at, label, points[task.rows[partition.labels == label]].mean(axis=0))
            for at, (task, partition) in enumerate(zip(before.tasks.tasks, found, strict=True))
            for label in range(partition.groups)
        ]
        of_stratum = {
            stratum: codes[np.flatnonzero(before.strata.of == stratum)[0]]
            for stratum in range(before.strata.count)
        }
        waiting = np.flatnonzero(before.strata.of == UNPLACED).tolist()
        assert waiting
        for row in waiting:
            best = min(
                (
                    int((of_stratum[stratum] != codes[row]).sum()),
                    round(float(((points[row] - centre) ** 2).sum()), 9),
                    at,
                    label,
                )
                for stratum, at, label, centre in groups
            )
            task = after.tasks.tasks[best[2]]
            assert after.strata.of[row] == task.stratum
            assert joined[best[2]].labels[task.rows == row] == best[3], (seed, row)


def test_all_records_are_in_one_group_of_each_subset() -> None:
    table = people(3)
    before, found, after, joined, protection = grouped(
        table, keys=[["x"], ["y", "job"]], accept=["partial"], strata=["region", "sex"]
    )
    for number in range(len(protection.subsets)):
        own = [
            (task, partition)
            for task, partition in zip(after.tasks.tasks, joined, strict=True)
            if task.subset == number
        ]
        rows = np.concatenate([task.rows for task, _ in own])
        assert sorted(rows.tolist()) == list(range(table.num_rows))
        for task, partition in own:
            assert (after.strata.of[task.rows] == task.stratum).all()
            assert np.bincount(partition.labels).min() >= 3
            assert len(task.problem.points) == len(task.rows)
    assert after.tasks.sst > before.tasks.sst
    assert sum(each.groups for each in joined) == sum(each.groups for each in found)
    assert all(
        each.bound == 0.0 or len(each.labels) == len(old.labels)
        for each, old in zip(joined, found, strict=True)
    )


def test_changed_codes_count_as_a_category() -> None:
    table = people(1)
    release: Any = microagg.protect(
        table,
        3,
        keys=["x", "y"],
        strata=["region"],
        small_strata="nearest",
        drop=["job", "sex"],
        method="mdav",
    )
    codes = np.unique(table["region"].to_numpy(), return_counts=True)[1]
    moved = int(codes[codes < 3].sum())
    loss = release.losses.columns["region"]
    assert (loss.changed, loss.cells) == (moved, 80)
    assert loss.percent == pytest.approx(100.0 * moved / (80 - codes.max()))
    parts = [each.percent for each in release.losses.columns.values()]
    assert release.information_loss == pytest.approx(sum(parts) / 3)


def test_a_record_joins_only_groups_whose_keys_it_has() -> None:
    x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 4.1]
    y = [1.0, 1.0, 2.0, None, None, None, None]
    region = [*"AAABBB", "C"]
    table = pa.table({"x": x, "y": y, "region": region})
    _, _, after, _, _ = grouped(table, missing="by-pattern")
    assert after.strata.of[-1] == 1
    nearer = pa.table({"x": [*x[:-1], 1.0], "y": [*y[:-1], 1.0], "region": region})
    _, _, after, _, _ = grouped(nearer, missing="by-pattern")
    assert (after.strata.of[-1], after.tasks.lost) == (0, {})
    whole = pa.table({"x": x, "y": [1.0] * 6 + [None], "region": region})
    with pytest.raises(SettingsError) as refusal:
        grouped(whole, missing="by-pattern")
    assert message_of(refusal.value).kind == "no_group_with_these_keys"


def test_zeros_that_are_mixed_are_counted() -> None:
    table = pa.table({"x": [0.0] * 3 + [5.0] * 3 + [0.1], "region": [*"AAABBB", "C"]})
    *_, after, _, _ = grouped(table, keys=["x"], zeros="apart")
    assert after.tasks.mixed_zeros == 1
