"""Releases made by plain Python: a small one with every role, to be broken, and random ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from microagg.model import Claims
from microagg.verdict import Verdict
from microagg.verify import verify


@dataclass(frozen=True)
class Made:
    source: pa.Table
    released: pa.Table
    rows: np.ndarray
    claims: Claims

    def verdict(self) -> Verdict:
        return verify(self.source, self.released, self.rows, self.claims)

    def claiming(self, **claims: Any) -> Made:
        return replace(self, claims=replace(self.claims, **claims))

    def with_released(self, name: str, values: Any) -> Made:
        return replace(self, released=put(self.released, name, values))

    def with_source(self, name: str, values: Any) -> Made:
        return replace(self, source=put(self.source, name, values))

    def column(self, name: str) -> list[Any]:
        return self.released.column(name).to_pylist()


def put(table: pa.Table, name: str, values: Any) -> pa.Table:
    """The table with other values in a column, of the same type unless they are an Arrow array."""
    if not isinstance(values, pa.Array | pa.ChunkedArray):
        values = pa.array(values, table.schema.field(name).type)
    return table.set_column(table.column_names.index(name), name, values)


def masked(
    values: Sequence[Any], groups: Sequence[Any], weights: Sequence[float] | None = None
) -> list[Any]:
    """Every value replaced by its group's mean; null stays null."""
    members = defaultdict(list)
    for at, group in enumerate(groups):
        if values[at] is not None:
            members[group].append(at)
    means = {}
    for group, those in members.items():
        weight = [1.0 if weights is None else weights[at] for at in those]
        means[group] = sum(w * values[at] for w, at in zip(weight, those, strict=True)) / sum(weight)
    return [None if value is None else means[group] for value, group in zip(values, groups, strict=True)]


GROUPS = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
REGION = ["N"] * 6 + ["S"] * 6
SURFACE = [790.0, 710.0, 730.0, 810.0, 950.0, 510.0, 400.0, 330.0, 510.0, 760.0, 50.0, 45.0]
EMPLOYEES = [55.0, 44.0, 32.0, 17.0, 3.0, 25.0, 45.0, 50.0, 5.0, 52.0, 12.0, 6.0]


def small_release() -> Made:
    """Twelve firms, k = 3: one stratum, two keys, a confidential column, a name to drop, others."""
    source = pa.table(
        {
            "name": [f"firm {at}" for at in range(12)],
            "region": REGION,
            "surface": SURFACE,
            "note": pa.array(
                [None, "", "a", "b", "c", "d", "e", "f", "g", "h", "i", "i"], pa.large_string()
            ),
            "employees": EMPLOYEES,
            "turnover": [float(at) for at in range(100, 112)],
            "open": [at % 2 == 0 for at in range(12)],
        }
    )
    released = source.drop_columns(["name"])
    for name in ("surface", "employees"):
        released = put(released, name, masked(source.column(name).to_pylist(), GROUPS))
    claims = Claims(
        k=3,
        subsets=(("surface", "employees"),),
        strata=("region",),
        confidential=("turnover",),
        dropped=("name",),
        mean_tolerance={"surface": 0.0, "employees": 0.0},
    )
    return Made(source, released, np.arange(12), claims)


def two_subsets(joint: bool) -> Made:
    """Surface and employees masked apart: by the same groups, or by groups that cross."""
    made = small_release()
    order = np.argsort(np.array(EMPLOYEES[:6])).tolist() + (6 + np.argsort(EMPLOYEES[6:])).tolist()
    other = [0] * 12
    for place, at in enumerate(order):
        other[at] = place // 3
    groups = GROUPS if joint else other
    return made.with_released("employees", masked(EMPLOYEES, groups)).claiming(
        subsets=(("surface",), ("employees",))
    )
