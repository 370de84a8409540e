"""What is lost by what groups really publish, whatever that is."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from microagg.aggregate.grouped import Grouped
from microagg.aggregate.losses import in_coordinates, losses_of
from microagg.methods.solving import solve_all
from microagg.model import Doubles, Microdata, Origin, Partition
from microagg.plan.protection import Protection
from microagg.prepare.prepared import Prepared, prepare

KEYS = ["income", "born", "health", "trade", "town"]
TOWNS = {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "A": "", "B": ""}


def grouped(scale: str) -> tuple[Prepared, list[Partition], dict[str, Doubles]]:
    random = np.random.default_rng(4)
    n = 90
    days = np.datetime64("1960-01-01") + random.integers(0, 9000, n)
    table = pa.table(
        {
            "income": random.lognormal(size=n).round(3),
            "born": pa.array(days, pa.date32()),
            "health": random.choice(["bad", "fair", "good"], n),
            "trade": random.choice(["x", "y", "z"], n),
            "town": random.choice(["a1", "a2", "b1", "b2"], n),
        }
    )
    protection = Protection.of(
        {"k": 4, "keys": KEYS, "scale": scale, "ordinal": {"health": ["bad", "fair", "good"]}}
        | {"taxonomy": {"town": TOWNS}, "method": "mdav", "importance": {"income": 3.0}}
    )
    prepared = prepare(Microdata(table, Origin("frame", "frame")), protection)
    partitions = solve_all([task.problem for task in prepared.tasks.tasks], protection.method, None)
    own = list(zip(prepared.tasks.tasks, partitions, strict=True))
    records = Grouped.of(KEYS, prepared.kept, prepared.kinds, None, own)
    middles = records.middles("mean")[records.group]
    return prepared, partitions, dict(zip(KEYS, middles.T, strict=True))


@pytest.mark.parametrize("scale", ["zscore", "range", "none"])
def test_middles_as_representatives_cost_what_middles_cost(scale: str) -> None:
    prepared, partitions, middles = grouped(scale)
    plain = losses_of(prepared.tasks, partitions)
    told = losses_of(prepared.tasks, partitions, middles, prepared.kept)
    assert told.information_loss == pytest.approx(plain.information_loss, rel=1e-9)
    for name in KEYS:
        assert told.columns[name].as_dict() == pytest.approx(plain.columns[name].as_dict())
        assert told.columns[name].cells == plain.columns[name].cells


def test_each_kind_by_its_own_change() -> None:
    prepared, partitions, new = grouped("zscore")
    new["income"] = new["income"] * 1.5
    for name in ("health", "trade", "town"):
        new[name] = np.zeros_like(new[name])
    found = losses_of(prepared.tasks, partitions, new, prepared.kept).columns
    kept = prepared.kept
    assert found["trade"].changed == (kept["trade"] != 0).sum()
    assert found["health"].level_changes == pytest.approx(kept["health"].sum())
    assert found["town"].distance == pytest.approx(
        0.5 * (kept["town"] == 1).sum() + (kept["town"] > 1).sum()
    )
    off = (kept["income"] - new["income"]) ** 2
    total = (kept["income"] - kept["income"].mean()) ** 2
    assert found["income"].percent == pytest.approx(100 * off.sum() / total.sum())


def test_ranks_are_met_and_lines_between_and_beyond_them() -> None:
    prepared, _, _ = grouped("rank")
    tasks, income = prepared.tasks.tasks, prepared.kept["income"]
    placed = in_coordinates({"income": income}, prepared.kept, tasks)["income"]
    ranks = tasks[0].problem.points[np.argsort(tasks[0].rows), 0]
    np.testing.assert_allclose(placed, ranks, atol=1e-12)
    ordered = np.sort(income)
    asked = np.array(
        [
            ordered[3] / 2 + ordered[4] / 2,
            ordered[-1] + (ordered[-1] - ordered[-2]),
            ordered[0] - (ordered[1] - ordered[0]),
        ]
    )
    found = in_coordinates({"income": asked}, prepared.kept, tasks)["income"]
    steps = np.sort(ranks)
    expected = [steps[3:5].mean(), 2 * steps[-1] - steps[-2], 2 * steps[0] - steps[1]]
    np.testing.assert_allclose(found, expected, atol=1e-9)
