"""The work of one task: the records of a packet, each of whose cells is a problem of its own, masked.

Everything here follows from the records and the plan alone: records are put into an order of their own
content first, and seeds derive from it. Whoever does the work again gets the same.
"""

from __future__ import annotations

import hashlib
import pickle
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from microagg import errors
from microagg.engines.masking import masked_subset, odd_groups
from microagg.engines.solving import run_of
from microagg.engines.spark.cells import Cells
from microagg.methods.run import derived_seed
from microagg.methods.stage import one_group, solve
from microagg.model import Partition, Points, Problem, Table
from microagg.plan.method import MethodPlan
from microagg.scale.tasks import Task, tasks_of_stratum
from microagg.scale.units import Units

if TYPE_CHECKING:
    import pyarrow as pa

Doubles = NDArray[np.float64]
Whole = NDArray[np.int64]

STRATUM, MIXED, MIXED_TOO, WEIGHT, NOTE = "stratum", "mixed", "mixed_too", "weight", "note"
"""Columns of the frame at work beside those of the source; the mixed ones are hashes of its content."""


_STEPS = re.compile(r":steps=\d+")


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """What a task is told about one subset of keys."""

    subset: tuple[str, ...]
    """The columns, as the frame at work calls them."""
    names: tuple[str, ...]
    """As the user does."""
    masked: tuple[str, ...]
    """What the masked ones are to be called."""
    note: str
    """The column that takes what the task has found."""
    cells: Cells
    units: Units
    method: MethodPlan
    k: int
    zeros_apart: bool
    weighted: bool
    aggregate: str
    accept_real_values: bool
    decimals: Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class Found:
    """What a task tells beside the masked records; `refusal`: why there are none."""

    packet: int
    records: int = 0
    groups: int = 0
    sse: float = 0.0
    odd: int = 0
    """Groups of an odd number of records."""
    mixed_zeros: int = 0
    kept: tuple[int, ...] = ()
    """By column: values that are released."""
    had: tuple[int, ...] = ()
    """By column: values that there were."""
    sums: tuple[float, ...] = ()
    """By column, of the released values' points, and of their squares."""
    squares: tuple[float, ...] = ()
    largest: tuple[float, ...] = ()
    """By column: the largest share of a group."""
    shares: tuple[float, ...] = ()
    """By column: those of all groups."""
    recipes: frozenset[str] = field(default_factory=frozenset)
    truncated: bool = False
    refusal: Exception | None = None


def work(job: Job, packet: int, records: pa.Table) -> pa.Table:
    """The records with masked columns and, in the first row, what was found; one row if it is a refusal."""
    import pyarrow as pa

    try:
        _raise_refusals(records)
        values = numbers_in(records, job.subset)
        order = _canonical(records, values)
        records, values = records.take(order), values[order]
        weights = numbers_in(records, [WEIGHT])[:, 0] if job.weighted else None
        columns, found = _masked(job, packet, values, records.column(STRATUM).to_numpy(), weights)
    except (errors.DataError, errors.SettingsError, errors.UnsafeRelease, errors.ContractError) as refusal:
        return _refused(job, records, Found(packet, refusal=refusal))
    for name in job.subset:
        masked = columns[name]
        array = pa.array(masked, mask=np.isnan(masked))
        records = records.append_column(job.masked[job.subset.index(name)], array)
    note = [pickle.dumps(found), *[None] * (len(records) - 1)]
    return records.append_column(job.note, pa.array(note, pa.binary()))


def _raise_refusals(records: pa.Table) -> None:
    """What was refused for an earlier subset is refused here too, or its row might be lost."""
    for name in records.column_names:
        if name.startswith(NOTE):
            notes: list[Any] = records.column(name).drop_null().to_pylist()
            for found in map(pickle.loads, notes):
                if found.refusal is not None:
                    raise found.refusal


def numbers_in(records: Any, columns: Any) -> Points:
    """Columns of doubles as an array, NaN where null."""
    return np.stack([records.column(name).to_numpy(zero_copy_only=False) for name in columns], axis=1)


def _canonical(records: pa.Table, values: Points) -> Whole:
    """The records by their content: keys first, then all else by its hashes."""
    hashes = [records.column(name).to_numpy() for name in (MIXED_TOO, MIXED)]
    return np.lexsort([*hashes, *values.T[::-1]])


def _refused(job: Job, records: pa.Table, found: Found) -> pa.Table:
    import pyarrow as pa

    one = records.slice(0, 1)
    for name in job.masked:
        one = one.append_column(name, pa.array([None], pa.float64()))
    return one.append_column(job.note, pa.array([pickle.dumps(found)], pa.binary()))


def _masked(
    job: Job, packet: int, values: Points, stratum: Whole, weights: Doubles | None
) -> tuple[dict[str, Doubles], Found]:
    cells = job.cells.cell[job.cells.places(stratum.astype(np.int64), values)]
    points = job.units.points(values)
    table = Table(job.subset, values)
    own: list[tuple[Task, Partition]] = []
    mixed = 0
    order = np.argsort(cells, kind="stable")
    numbers, starts = np.unique(cells[order], return_index=True)
    for cell, rows in zip(numbers.tolist(), np.split(order, starts[1:]), strict=True):
        if cell in job.cells.spread:
            if _are_the_same(values[rows]):
                own.append(_the_same(job, rows, values, points))
                continue
        elif len(rows) != job.cells.sizes[cell]:
            raise errors.source_changed()
        apart = job.zeros_apart and bool(job.cells.of_stratum[stratum[rows[0]]] >= 0)
        tasks, rare = tasks_of_stratum(points, table, rows, job.k, apart, 0, int(stratum[rows[0]]))
        mixed += rare
        own += [(task, _solved(task.problem, job.method)) for task in tasks]
    numbers_by_column = {name: values[:, at] for at, name in enumerate(job.subset)}
    published = masked_subset(job.subset, numbers_by_column, weights, own, job.aggregate, job.decimals)
    columns = {name: new for name, (new, _) in published.items()}
    kept = ~np.isnan(np.stack([columns[name] for name in job.subset], axis=1))
    cleared = np.where(kept, points, 0.0)
    shares = [published[name][1] for name in job.subset]
    return columns, Found(
        packet,
        len(values),
        sum(int(found.labels.max()) + 1 for _, found in own),
        sum(found.sse for _, found in own),
        odd_groups(own),
        mixed,
        tuple(kept.sum(axis=0).tolist()),
        tuple((~np.isnan(values)).sum(axis=0).tolist()),
        tuple(cleared.sum(axis=0).tolist()),
        tuple((cleared**2).sum(axis=0).tolist()),
        tuple(float(each.max(initial=0.0)) for each in shares),
        tuple(float(each.sum()) for each in shares),
        # The number of steps follows from a cell's size: there would be a recipe for each.
        frozenset(_STEPS.sub("", found.recipe or job.method.recipe) for task, found in own if task.columns),
        any(found.truncated for _, found in own),
    )


def _are_the_same(values: Points) -> bool:
    return bool(((values == values[0]) | (np.isnan(values) & np.isnan(values[0]))).all())


def _the_same(job: Job, rows: Whole, values: Points, points: Points) -> tuple[Task, Partition]:
    """Records with the same keys, so many that they are in several packets: their mean is what they are."""
    columns = tuple(name for at, name in enumerate(job.subset) if not np.isnan(values[rows[0], at]))
    task = Task(0, 0, rows, columns, Problem(points[rows], job.k))
    return task, Partition(np.zeros(len(rows), dtype=np.int32), 0.0)


def _solved(problem: Problem, plan: MethodPlan) -> Partition:
    """By the plan's method, with a seed that follows from the points; without columns, one group."""
    if not problem.points.shape[1]:
        return Partition(np.zeros(len(problem.points), dtype=np.int32), 0.0)
    digest = hashlib.blake2b(problem.points.tobytes(), digest_size=6).digest()
    own = replace(plan, seed=derived_seed(plan.seed, int.from_bytes(digest, "little")))
    start = one_group(problem)
    return solve(plan.stage, problem, start, run_of(own, None, None, start.sse))
